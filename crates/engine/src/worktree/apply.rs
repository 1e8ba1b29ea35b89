//! Puts an agent's work into the user's files, all of it or nothing.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use crate::change::checkout::place;
use crate::change::listing::{self, Kind, Side};
use crate::change::{ChangeError, Repository, blobs};

/// One file to write or to remove.
struct Edit {
    target: PathBuf,
    shown: String,
    /// What may be there: what we found there or left there.
    before: Vec<Content>,
    after: Content,
}

/// What is at a path.
#[derive(PartialEq, Eq)]
enum Content {
    Nothing,
    File {
        bytes: Vec<u8>,
        executable: bool,
    },
    Link(PathBuf),
    /// Something that is never replaced.
    Other,
}

/// Tells whether all files that differ between two commits are as in the second.
///
/// # Errors
///
/// An object is missing, or the repository has no files.
pub fn is_applied(repo: &Repository, start: &str, commit: &str) -> Result<bool, ChangeError> {
    let edits = edits(repo, &[start], commit)?;
    Ok(edits.iter().all(|edit| is_at(&edit.target) == edit.after))
}

/// Returns the files of the user that are neither as in one of the commits `starts` nor as in `commit`.
///
/// # Errors
///
/// An object is missing, or the repository has no files.
pub fn in_the_way(
    repo: &Repository,
    starts: &[&str],
    commit: &str,
) -> Result<Vec<String>, ChangeError> {
    let root = repo.work_tree()?;
    let unfit = |edit: &Edit| {
        let now = is_at(&edit.target);
        let is_known = now == edit.after || edit.before.contains(&now);
        !is_known || leads_through_link(root, &edit.target)
    };
    let edits = edits(repo, starts, commit)?;
    let unfit = edits.into_iter().filter(unfit);
    Ok(unfit.map(|edit| edit.shown).collect())
}

/// Brings the user's files to a commit, touching only those that differ from one of `starts`.
///
/// `starts` are the commit that was reviewed and those to which the files were brought before.
/// Each file must be, byte for byte, as it was in one of them, or already as in the last; else
/// nothing is done. If writing fails halfway, what was written is taken back. The index is left
/// alone.
///
/// # Errors
///
/// Files differ, or cannot be written.
pub fn apply(repo: &Repository, starts: &[&str], commit: &str) -> Result<(), ChangeError> {
    let paths = in_the_way(repo, starts, commit)?;
    if !paths.is_empty() {
        return Err(ChangeError::FilesDiffer { paths });
    }
    let mut done: Vec<(Edit, Content)> = Vec::new();
    for edit in edits(repo, starts, commit)? {
        let found = is_at(&edit.target);
        if found == edit.after {
            continue;
        }
        tribunal_store::crashpoint!("worktree.apply.file");
        if let Err(source) = put(&edit.target, &edit.after) {
            for (edit, found) in done.iter().rev() {
                // Best effort: the error that matters is the one we return.
                let _ = put(&edit.target, found);
            }
            return Err(ChangeError::File {
                doing: format!("write `{}`", edit.shown),
                source,
            });
        }
        done.push((edit, found));
    }
    Ok(())
}

/// Returns every file that differs between one of `starts` and `commit`, once.
fn edits(repo: &Repository, starts: &[&str], commit: &str) -> Result<Vec<Edit>, ChangeError> {
    let root = repo.work_tree()?;
    let mut edits: Vec<Edit> = Vec::new();
    for start in starts {
        for (path, old, new) in sides(repo, start, commit)? {
            let shown = String::from_utf8_lossy(&path).into_owned();
            let outside = || ChangeError::PathOutside {
                path: shown.clone(),
                root: root.to_owned(),
            };
            let relative = place(&path).ok_or_else(outside)?;
            let target = root.join(relative);
            let before = content(repo, &old)?;
            match edits.iter_mut().find(|edit| edit.target == target) {
                Some(edit) => edit.before.push(before),
                None => edits.push(Edit {
                    target,
                    before: vec![before],
                    after: content(repo, &new)?,
                    shown,
                }),
            }
        }
    }
    // What is removed goes first: a directory may take the place of a file.
    edits.sort_by_key(|edit| edit.after != Content::Nothing);
    Ok(edits)
}

/// Returns the paths that differ between two commits, each with both sides.
fn sides(
    repo: &Repository,
    start: &str,
    commit: &str,
) -> Result<Vec<(Vec<u8>, Side, Side)>, ChangeError> {
    let mut sides = Vec::new();
    for entry in listing::compare(repo, start, commit, &[])? {
        let nothing = Side {
            mode: 0,
            id: String::new(),
        };
        match entry.old_path {
            Some(old_path) => {
                sides.push((old_path, entry.old, nothing.clone()));
                sides.push((entry.path, nothing, entry.new));
            }
            None => sides.push((entry.path, entry.old, entry.new)),
        }
    }
    Ok(sides)
}

fn content(repo: &Repository, side: &Side) -> Result<Content, ChangeError> {
    Ok(match side.kind() {
        Kind::Missing => Content::Nothing,
        Kind::File => Content::File {
            bytes: blobs::content(repo, &side.id)?,
            executable: side.mode & 0o100 != 0,
        },
        Kind::Link => {
            let bytes = blobs::content(repo, &side.id)?;
            Content::Link(PathBuf::from(OsStr::from_bytes(&bytes)))
        }
        Kind::Submodule => Content::Other,
    })
}

fn is_at(path: &Path) -> Content {
    let read = || -> io::Result<Content> {
        let metadata = match fs::symlink_metadata(path) {
            Ok(metadata) => metadata,
            Err(error) if is_absence(&error) => return Ok(Content::Nothing),
            Err(error) => return Err(error),
        };
        Ok(if metadata.is_symlink() {
            Content::Link(fs::read_link(path)?)
        } else if metadata.is_file() {
            Content::File {
                bytes: fs::read(path)?,
                executable: metadata.permissions().mode() & 0o100 != 0,
            }
        } else {
            Content::Other
        })
    };
    read().unwrap_or(Content::Other)
}

fn is_absence(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

/// Replaces what is at `path` in one move.
fn put(path: &Path, content: &Content) -> io::Result<()> {
    let parent = path.parent().unwrap_or(Path::new("."));
    match content {
        Content::Nothing => {
            match fs::remove_file(path) {
                Err(error) if !is_absence(&error) => return Err(error),
                _ => {}
            }
            // As git does: a directory that holds nothing any more goes too, if it will.
            let _ = fs::remove_dir(parent);
            Ok(())
        }
        Content::File { bytes, executable } => {
            fs::create_dir_all(parent)?;
            let mode = fs::symlink_metadata(path).ok().filter(|old| old.is_file());
            crate::files::write_shared(path, bytes)?;
            let mut mode = match mode {
                Some(old) => old.permissions().mode(),
                None => fs::metadata(path)?.permissions().mode(),
            };
            mode = match executable {
                true => mode | (mode & 0o444) >> 2,
                false => mode & !0o111,
            };
            fs::set_permissions(path, fs::Permissions::from_mode(mode))
        }
        Content::Link(to) => {
            fs::create_dir_all(parent)?;
            match fs::remove_file(path) {
                Err(error) if !is_absence(&error) => Err(error),
                _ => symlink(to, path),
            }
        }
        Content::Other => Err(io::Error::other("it is no file")),
    }
}

/// Tells whether a directory on the way to `target` is a link.
fn leads_through_link(root: &Path, target: &Path) -> bool {
    let folders = target.ancestors().skip(1);
    folders
        .take_while(|folder| *folder != root)
        .any(Path::is_symlink)
}
