//! What an agent wrote, as a commit of our own.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use serde::{Deserialize, Serialize};
use tribunal_core::review::coverage::{FileStatus, LeftOut, Omission};

use super::{Signature, TIME_LIMIT, Worktree, commit};
use crate::change::agent_names::speaks_to_agents;
use crate::change::checkout::leads_inside;
use crate::change::listing::{self, Entry, Kind};
use crate::change::names::{is_own, may_hold_credentials, starts_as_key};
use crate::change::{AgentFiles, ChangeError, tree_of};

/// The largest file that is taken.
const MAX_FILE_BYTES: u64 = 10 << 20;
/// The most files that are taken.
const MAX_FILES: usize = 5_000;
/// How much of a file is looked at to tell a key.
const OPENING: usize = 4 << 10;

/// What an agent wrote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Collected {
    /// The commit that it started from.
    pub start: String,
    /// The commit with its work; the start itself when nothing changed.
    pub commit: String,
    /// The files that differ, by path.
    pub files: Vec<TouchedFile>,
    /// What it wrote and we did not take.
    #[serde(default)]
    pub left_out: Vec<LeftOut>,
    /// Build output that the project ignores, which stays where it is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub products: Vec<String>,
}

/// A file that an agent changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TouchedFile {
    /// Path from the root.
    pub path: String,
    /// What happened to it.
    pub status: FileStatus,
}

/// What is decided about one path.
enum Look {
    Take,
    Gone,
    LeaveOut(LeftOut),
}

impl Worktree {
    /// Stores what the agent wrote. Doing it again gives the same.
    ///
    /// Of what the project's `.gitignore` names, build output is passed over and the rest is told, as
    /// it may be a part of the work. Passed over are also the repositories that the agent
    /// made: their files are taken, their metadata is not. Files that were withheld stay as they
    /// were, whatever was written in their place.
    ///
    /// # Errors
    ///
    /// A file cannot be read, or our repository cannot be written.
    pub fn collect(&self, signature: Signature<'_>) -> Result<Collected, ChangeError> {
        let root = self.path();
        let doing = ChangeError::file(format!("read `{}`", root.display()));
        remove_nested_metadata(&root).map_err(doing)?;
        let index = self.place.join("keep/index.work");
        let kept = self.place.join("keep/index");
        copy_with_time(&kept, &index).map_err(ChangeError::file("copy an index of ours"))?;

        let mut taken = BTreeSet::new();
        let mut gone = Vec::new();
        let mut left_out = Vec::new();
        let withheld = self.read_withheld()?;
        for path in self.candidates(&index)? {
            match self.look(&root, &path, &withheld, taken.len()) {
                Look::Take => {
                    taken.insert(path);
                }
                Look::Gone => gone.push(path),
                Look::LeaveOut(left) => left_out.push(left),
            }
        }
        let ignored = self.ignored(&index)?;
        let is_own = !taken.iter().chain(&gone).any(|path| is_ignore_file(path));
        let (products, hidden): (Vec<String>, Vec<String>) = ignored
            .into_iter()
            .partition(|path| is_product(path, is_own));
        let hidden = hidden.into_iter().map(|path| LeftOut {
            path,
            why: Omission::Ignored,
            detail: "git ignores it".to_owned(),
            claimed: true,
        });
        left_out.extend(hidden);
        left_out.sort_by(|a, b| a.path.cmp(&b.path));
        let tree = self.store(&index, &taken, &gone)?;
        let commit = match tree_of(&self.repo, &self.start)? == tree {
            true => self.start.clone(),
            false => commit(&self.repo, &tree, Some(&self.start), signature)?,
        };
        let entries = listing::compare(&self.repo, &self.start, &commit, &[])?;
        Ok(Collected {
            start: self.start.clone(),
            commit,
            files: entries.iter().map(touched).collect(),
            left_out,
            products,
        })
    }

    /// Returns what the agent wrote and git ignores; a directory stands for all that is in it.
    fn ignored(&self, index: &Path) -> Result<Vec<String>, ChangeError> {
        let call = self.call(&self.place).index(index).limit(TIME_LIMIT);
        let call = call.args([
            "ls-files",
            "-z",
            "--others",
            "--ignored",
            "--exclude-standard",
        ]);
        let call = call.args(["--directory", "--no-empty-directory"]);
        let paths = split(&call.output()?);
        let shown = paths
            .iter()
            .map(|path| String::from_utf8_lossy(path).into_owned());
        Ok(shown.collect())
    }

    /// Returns the paths that differ from what was handed over, or seem to.
    fn candidates(&self, index: &Path) -> Result<BTreeSet<Vec<u8>>, ChangeError> {
        let call = self.call(&self.place).index(index).limit(TIME_LIMIT);
        // What is gone counts as modified too.
        let call = call.args(["ls-files", "-z", "--modified", "--others"]);
        Ok(split(&call.args(["--exclude-standard"]).output()?))
    }

    fn read_withheld(&self) -> Result<BTreeSet<Vec<u8>>, ChangeError> {
        let path = self.place.join("withheld");
        let bytes = fs::read(path).map_err(ChangeError::file("read what was withheld"))?;
        Ok(split(&bytes))
    }

    fn look(&self, root: &Path, path: &[u8], withheld: &BTreeSet<Vec<u8>>, so_far: usize) -> Look {
        let shown = String::from_utf8_lossy(path);
        let leave = |why, detail: &str| {
            Look::LeaveOut(LeftOut {
                path: shown.clone().into_owned(),
                why,
                detail: detail.to_owned(),
                claimed: true,
            })
        };
        let relative = Path::new(OsStr::from_bytes(path));
        if is_beyond_link(root, relative) {
            return Look::Gone;
        }
        let full = root.join(relative);
        let metadata = match fs::symlink_metadata(&full) {
            Ok(metadata) if !metadata.is_dir() => metadata,
            Err(error) if !is_absence(&error) => {
                return leave(Omission::Unreadable, &error.to_string());
            }
            _ => return Look::Gone,
        };
        if may_hold_credentials(&shown) {
            return leave(Omission::Credentials, "written by the coder");
        }
        if belongs_to_tribunal(&shown) {
            return leave(
                Omission::Ignored,
                "only people change the settings of Tribunal",
            );
        }
        if is_own(&shown.to_lowercase()) {
            return leave(Omission::Ignored, "only Tribunal writes this file");
        }
        if self.agent_files == AgentFiles::LeftOut && speaks_to_agents(&shown) {
            return leave(Omission::Ignored, "it would instruct agents");
        }
        if touches(withheld, path) {
            return leave(Omission::Ignored, "the coder was not given what is there");
        }
        if so_far >= MAX_FILES {
            return leave(Omission::TooMany, &format!("more than {MAX_FILES} files"));
        }
        if metadata.is_symlink() {
            return match fs::read_link(&full) {
                Ok(to) if leads_inside(relative, &to) => Look::Take,
                _ => leave(Omission::Symlink, "it leads out of the tree"),
            };
        }
        if !metadata.is_file() {
            return leave(Omission::Unreadable, "neither a file nor a link");
        }
        if metadata.len() > MAX_FILE_BYTES {
            return leave(Omission::Oversized, &format!("{} bytes", metadata.len()));
        }
        match opening(&full) {
            Ok(bytes) if starts_as_key(&bytes) => leave(Omission::Credentials, "a private key"),
            Ok(_) => Look::Take,
            Err(error) => leave(Omission::Unreadable, &error.to_string()),
        }
    }

    /// Returns the tree of the start with what was taken put in.
    fn store(
        &self,
        index: &Path,
        taken: &BTreeSet<Vec<u8>>,
        gone: &[Vec<u8>],
    ) -> Result<String, ChangeError> {
        let call = |index: &Path| self.call(&self.place).index(index).limit(TIME_LIMIT);
        let zero = "0".repeat(self.start.len());
        let mut changes = Vec::new();
        // What is gone goes first: a directory may have taken the place of a file.
        for path in gone {
            changes.extend_from_slice(format!("0 {zero}\t").as_bytes());
            changes.extend_from_slice(path);
            changes.push(0);
        }
        if !gone.is_empty() {
            let removal = call(index).args(["update-index", "-z", "--index-info"]);
            removal.input(changes.clone()).output()?;
        }
        if !taken.is_empty() {
            let mut input: Vec<u8> = taken.iter().cloned().collect::<Vec<_>>().join(&0);
            input.push(0);
            let update = call(index).args(["update-index", "--add", "--replace", "-z", "--stdin"]);
            update.input(input).output()?;
        }
        if self.is_whole() {
            return call(index).args(["write-tree", "--missing-ok"]).line();
        }
        let listed = call(index).args(["ls-files", "-s", "-z"]).output()?;
        for entry in listed.split(|byte| *byte == 0) {
            let mut halves = entry.splitn(2, |byte| *byte == b'\t');
            let (Some(head), Some(path)) = (halves.next(), halves.next()) else {
                continue;
            };
            if taken.contains(path) {
                changes.extend_from_slice(head);
                changes.push(b'\t');
                changes.extend_from_slice(path);
                changes.push(0);
            }
        }
        let result = self.place.join("keep/index.result");
        let _ = fs::remove_file(&result);
        call(&result).args(["read-tree", &self.start]).output()?;
        let update = call(&result).args(["update-index", "-z", "--index-info"]);
        update.input(changes).output()?;
        call(&result).args(["write-tree", "--missing-ok"]).line()
    }
}

/// Tells whether a file says what git ignores.
fn is_ignore_file(path: &[u8]) -> bool {
    path == b".gitignore" || path.ends_with(b"/.gitignore")
}

/// Tells whether an ignored path is what programs make of the sources, so that nobody misses it.
///
/// Caches are that whoever ignores them. Of other output only the project can say so: with a
/// `.gitignore` of its own an agent could hide anything in a directory of that name.
fn is_product(path: &str, ignored_by_project: bool) -> bool {
    const CACHES: [&str; 10] = [
        "__pycache__",
        ".pytest_cache",
        ".mypy_cache",
        ".ruff_cache",
        ".tox",
        ".gradle",
        ".hypothesis",
        ".eslintcache",
        ".ds_store",
        ".coverage",
    ];
    const OUTPUTS: [&str; 11] = [
        "target",
        "node_modules",
        "build",
        "dist",
        "out",
        ".venv",
        "venv",
        ".next",
        ".nuxt",
        "coverage",
        ".cache",
    ];
    const ENDINGS: [&str; 11] = [
        ".pyc",
        ".pyo",
        ".class",
        ".o",
        ".obj",
        ".a",
        ".so",
        ".log",
        ".tmp",
        ".swp",
        ".tsbuildinfo",
    ];
    let lower = path.to_ascii_lowercase();
    let is_among = |names: &[&str]| lower.split('/').any(|part| names.contains(&part));
    let is_info = || lower.split('/').any(|part| part.ends_with(".egg-info"));
    let has_ending = || ENDINGS.iter().any(|ending| lower.ends_with(ending));
    is_among(&CACHES) || has_ending() || (ignored_by_project && (is_among(&OUTPUTS) || is_info()))
}

/// Removes the metadata of repositories that the agent made below its own.
fn remove_nested_metadata(root: &Path) -> io::Result<()> {
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else {
            // What cannot be read is found out, and told, file by file.
            continue;
        };
        for entry in entries.flatten() {
            let kind = entry.file_type()?;
            if entry.file_name() != ".git" {
                if kind.is_dir() {
                    folders.push(entry.path());
                }
            } else if folder == root {
                // The agent's own; git never takes it for a file of the tree.
            } else if kind.is_dir() {
                super::remove_tree(&entry.path())?;
            } else {
                fs::remove_file(entry.path())?;
            }
        }
    }
    Ok(())
}

/// Tells whether `path` is, lies in or holds something that was withheld.
fn touches(withheld: &BTreeSet<Vec<u8>>, path: &[u8]) -> bool {
    let below = |outer: &[u8], inner: &[u8]| {
        inner
            .strip_prefix(outer)
            .is_some_and(|rest| rest.first() == Some(&b'/'))
    };
    withheld
        .iter()
        .any(|one| one == path || below(one, path) || below(path, one))
}

/// Tells whether a directory on the way to a file is now a link, so that the file is elsewhere.
fn is_beyond_link(root: &Path, path: &Path) -> bool {
    let folders = path.ancestors().skip(1);
    folders
        .filter(|folder| !folder.as_os_str().is_empty())
        .any(|folder| root.join(folder).is_symlink())
}

fn is_absence(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

fn opening(path: &Path) -> io::Result<Vec<u8>> {
    use std::io::Read as _;
    let mut bytes = Vec::new();
    fs::File::open(path)?
        .take(OPENING as u64)
        .read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn touched(entry: &Entry) -> TouchedFile {
    let status = match (entry.old.kind(), entry.new.kind()) {
        _ if entry.old_path.is_some() => FileStatus::Renamed,
        (Kind::Missing, _) => FileStatus::Added,
        (_, Kind::Missing) => FileStatus::Deleted,
        _ => FileStatus::Modified,
    };
    TouchedFile {
        path: String::from_utf8_lossy(&entry.path).into_owned(),
        status,
    }
}

/// Copies an index together with its time.
///
/// Git compares contents only of files that are not older than the index. An agent may write a file
/// of the same size in the same tick of the clock in which it was handed over; beside a younger
/// index that would pass for no change.
fn copy_with_time(from: &Path, to: &Path) -> io::Result<()> {
    fs::copy(from, to)?;
    let written = fs::metadata(from)?.modified()?;
    fs::File::options()
        .write(true)
        .open(to)?
        .set_modified(written)
}

fn split(output: &[u8]) -> BTreeSet<Vec<u8>> {
    let paths = output.split(|byte| *byte == 0);
    paths
        .filter(|path| !path.is_empty())
        .map(<[u8]>::to_vec)
        .collect()
}

/// Tells whether a path lies where our settings, rules and rulings are. No review reads these files,
/// so no agent may write them.
fn belongs_to_tribunal(path: &str) -> bool {
    path.split('/')
        .any(|part| part.eq_ignore_ascii_case(".tribunal"))
}
