//! The lock files of what is under review. Nobody reviews them, but they say what is in use.

use std::io::Read as _;

use tribunal_code::advisory::LockKind;

use super::listing::{self, Kind};
use super::repository::Repository;
use super::{ChangeError, Pinned, blobs};

/// So many lock files are read; the rest of a larger tree is passed over.
const MOST_FILES: usize = 500;

/// Larger ones are not read.
const LARGEST: u64 = 64 << 20;

/// A lock file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockFile {
    /// Path from the root.
    pub path: String,
    /// What it holds.
    pub bytes: Vec<u8>,
}

/// Returns the lock files of the tree after the change, whether they changed or not.
///
/// # Errors
///
/// Git fails, or an object was pruned.
pub(crate) fn lock_files(repo: &Repository, pinned: &Pinned) -> Result<Vec<LockFile>, ChangeError> {
    let Some(head) = &pinned.head else {
        return Ok(Vec::new());
    };
    let entries = listing::all_files(repo, head)?;
    let mut found: Vec<(String, String)> = entries
        .into_iter()
        .filter(|entry| entry.new.kind() == Kind::File)
        .filter_map(|entry| {
            let path = String::from_utf8(entry.path).ok()?;
            LockKind::of(&path).map(|_| (path, entry.new.id))
        })
        .collect();
    found.truncate(MOST_FILES);
    let ids: Vec<&str> = found.iter().map(|(_, id)| id.as_str()).collect();
    let mut files = Vec::new();
    blobs::each(repo, &ids, |index, content| {
        let mut bytes = Vec::new();
        content.take(LARGEST).read_to_end(&mut bytes)?;
        files.push(LockFile {
            path: found[index].0.clone(),
            bytes,
        });
        Ok(())
    })?;
    Ok(files)
}
