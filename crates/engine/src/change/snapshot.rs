//! The working tree as it is now, stored as a tree of ours.
//!
//! Everything happens with a copy of the user's index, so that files which git knows to be
//! unchanged are not read again, and with plumbing that starts no program: `git add` would ask
//! each submodule for its status, under that submodule's config.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::time::Duration;

use tribunal_core::review::coverage::LeftOut;

use super::ChangeError;
use super::repository::Repository;
use super::revision;
use super::take::{Intake, Taken};
use crate::files::{Durability, write_private};

/// How long storing the changed files may take.
const TIME_LIMIT: Duration = Duration::from_secs(300);

/// How many paths are told to git; beyond this, the whole directory is looked at.
const MAX_ARGUMENTS: usize = 1_000;

/// A stored working tree.
pub(super) struct Snapshot {
    pub(super) tree: String,
    /// Files that were not stored, for their name or their size.
    pub(super) left_out: Vec<LeftOut>,
}

/// Stores the working tree as it is.
///
/// `named` are files that were asked for by name and count even if git ignores them. Of a plain
/// directory, which may be somebody's home, only what lies below `paths` is stored.
pub(super) fn take(
    repo: &Repository,
    intake: &Intake,
    paths: &[String],
    named: &[String],
) -> Result<Snapshot, ChangeError> {
    let root = repo.work_tree()?;
    let temp = repo.temporary()?;
    let index = temp.path().join("index");
    let changed = match copy_index(repo, &index) {
        Ok(true) => {
            reveal_hidden(repo, root, &index).and_then(|()| changed_files(repo, root, &index))
        }
        Ok(false) => start_over(repo, root, &index),
        Err(error) => Err(error),
    };
    // An index that is damaged or of another kind costs time, not the review.
    let changed = changed.or_else(|_| start_over(repo, root, &index))?;
    let mut candidates = changed;
    let mut untracked = untracked_files(repo, root, &index, paths)?;
    // Of a repository that git does not know, files that were asked for are read.
    untracked.retain(|path| {
        let is_around = |named: &String| named.as_bytes().starts_with(path);
        !path.ends_with(b"/") || !named.iter().any(is_around)
    });
    candidates.extend(untracked);
    candidates.extend(named.iter().map(|path| path.as_bytes().to_vec()));
    candidates.sort();
    candidates.dedup();

    let common = repo
        .versioned()
        .ok()
        .map(|found| found.common_dir.as_path());
    let taken = intake.choose(root, (&repo.own, common), candidates);
    store(repo, root, &index, &taken)?;
    Ok(Snapshot {
        tree: write_tree(repo, &index)?,
        left_out: taken.left_out,
    })
}

/// Stores what the user's index holds.
pub(super) fn staged(repo: &Repository) -> Result<String, ChangeError> {
    let temp = repo.temporary()?;
    let index = temp.path().join("index");
    if !copy_index(repo, &index)? {
        return Ok(repo.format.empty_tree().to_owned());
    }
    let unmerged = repo.call().index(&index);
    let unmerged = unmerged.args(["ls-files", "--unmerged", "-z"]).output()?;
    if !unmerged.is_empty() {
        return Err(ChangeError::Unmerged);
    }
    write_tree(repo, &index)
}

/// Copies the user's index; returns false if there is none.
fn copy_index(repo: &Repository, target: &Path) -> Result<bool, ChangeError> {
    let Some(source) = repo.index() else {
        return Ok(false);
    };
    let doing = || ChangeError::file(format!("read `{}`", source.display()));
    let mut file = match File::open(&source) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(doing()(error)),
    };
    let modified = file.metadata().and_then(|metadata| metadata.modified());
    let modified = modified.map_err(doing())?;
    let mut copy = File::create(target).map_err(doing())?;
    io::copy(&mut file, &mut copy).map_err(doing())?;
    // Git compares this time with those of the files: one that changed in the moment the index
    // was written looks unchanged if the index seems younger than it is.
    copy.set_modified(modified).map_err(doing())?;
    copy_shared_parts(repo, &source).map_err(doing())?;
    Ok(true)
}

/// Copies the files that a split index refers to; their names are their contents.
fn copy_shared_parts(repo: &Repository, index: &Path) -> io::Result<()> {
    let Some(directory) = index.parent() else {
        return Ok(());
    };
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let name = entry.file_name();
        let target = repo.own.join(&name);
        if name.as_bytes().starts_with(b"sharedindex.") && !target.exists() {
            write_private(&target, &fs::read(entry.path())?, Durability::Process)?;
        }
    }
    Ok(())
}

/// Begins with the last commit instead of an index; every file is read again.
fn start_over(repo: &Repository, root: &Path, index: &Path) -> Result<Vec<Vec<u8>>, ChangeError> {
    let head = match repo.found {
        Some(_) => revision::head(repo)?,
        None => None,
    };
    let _ = fs::remove_file(index);
    let tree = head.unwrap_or_else(|| repo.format.empty_tree().to_owned());
    repo.call()
        .index(index)
        .args(["read-tree", &tree])
        .output()?;
    changed_files(repo, root, index)
}

/// Lets git look at the files that it was told to take for unchanged: by `assume-unchanged`, or by
/// `skip-worktree` although they are there. What a sparse checkout left out is not missing.
fn reveal_hidden(repo: &Repository, root: &Path, index: &Path) -> Result<(), ChangeError> {
    let call = repo.call_on_files(root, index).limit(TIME_LIMIT);
    let listed = call.args(["ls-files", "-v", "-z"]).output()?;
    let (mut assumed, mut skipped) = (Vec::new(), Vec::new());
    for entry in split(&listed) {
        let (Some(tag), Some(path)) = (entry.first(), entry.get(2..)) else {
            continue;
        };
        if tag.is_ascii_lowercase() {
            assumed.push(path.to_vec());
        }
        let is_there = || fs::symlink_metadata(root.join(OsStr::from_bytes(path))).is_ok();
        if tag.eq_ignore_ascii_case(&b'S') && is_there() {
            skipped.push(path.to_vec());
        }
    }
    update_index(repo, root, index, &["--no-assume-unchanged"], &assumed)?;
    update_index(repo, root, index, &["--no-skip-worktree"], &skipped)
}

/// Returns the tracked files that differ from the index, or seem to.
fn changed_files(
    repo: &Repository,
    root: &Path,
    index: &Path,
) -> Result<Vec<Vec<u8>>, ChangeError> {
    let call = repo.call_on_files(root, index);
    // `dirty` compares which commit a submodule is at, and does not look into it.
    let call = call.args([
        "diff-files",
        "-z",
        "--name-only",
        "--ignore-submodules=dirty",
    ]);
    let output = call.args(["--no-ext-diff", "--no-textconv"]).output()?;
    Ok(split(&output))
}

/// Returns the files that git does not know and was not told to ignore.
fn untracked_files(
    repo: &Repository,
    root: &Path,
    index: &Path,
    paths: &[String],
) -> Result<Vec<Vec<u8>>, ChangeError> {
    let mut call = repo.call_on_files(root, index);
    call = call.args(["ls-files", "-z", "--others", "--exclude-standard"]);
    if let Some(found) = &repo.found {
        let exclude = found.common_dir.join("info/exclude");
        if exclude.is_file() {
            call = call.args(["--exclude-from".as_ref(), exclude.as_os_str()]);
        }
    }
    if repo.found.is_none() && paths.len() <= MAX_ARGUMENTS {
        call = call.args(["--"]).args(paths);
    }
    Ok(split(&call.output()?))
}

/// Brings the index up to date with the files that were looked at.
fn store(repo: &Repository, root: &Path, index: &Path, taken: &Taken) -> Result<(), ChangeError> {
    let update =
        |options: &[&str], paths: &[Vec<u8>]| update_index(repo, root, index, options, paths);
    // What is gone goes first: a file may have taken the place of a directory.
    update(&["--force-remove"], &taken.gone)?;
    update(&["--add", "--remove", "--replace"], &taken.paths)
}

/// Changes what our copy of the index says about these files.
fn update_index(
    repo: &Repository,
    root: &Path,
    index: &Path,
    options: &[&str],
    paths: &[Vec<u8>],
) -> Result<(), ChangeError> {
    if paths.is_empty() {
        return Ok(());
    }
    let mut input = paths.join(&0);
    input.push(0);
    let call = repo.call_on_files(root, index).limit(TIME_LIMIT);
    let call = call.args(["update-index"]).args(options);
    call.args(["-z", "--stdin"])
        .input(input)
        .output()
        .map(|_| ())
}

fn write_tree(repo: &Repository, index: &Path) -> Result<String, ChangeError> {
    // A partial clone lacks objects that nobody changed; they are not needed to name the tree.
    let call = repo.call().index(index);
    call.args(["write-tree", "--missing-ok"]).line()
}

fn split(output: &[u8]) -> Vec<Vec<u8>> {
    let paths = output.split(|byte| *byte == 0);
    paths
        .filter(|path| !path.is_empty())
        .map(<[u8]>::to_vec)
        .collect()
}
