//! Files that the ledger refers to and that nobody has waited for yet.
//!
//! They are written beside the work, where a wait for the disk would hold up the next call. Before
//! anybody is told of what refers to them they are on disk: the ledger asks for that before it
//! waits for itself.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tribunal_store::StoreError;

/// Files to be waited for. Names, not open files: there may be more of them than a process may open.
#[derive(Debug, Default)]
pub(crate) struct Unsynced {
    files: Mutex<Vec<PathBuf>>,
    /// Held while files are waited for, so that whoever finds none left does not go ahead of them.
    /// Keeps the failure: what is on disk is then unknown, and stays so.
    turn: tokio::sync::Mutex<Option<Failure>>,
}

#[derive(Debug, Clone)]
struct Failure {
    path: PathBuf,
    reason: String,
    is_full: bool,
}

impl Unsynced {
    /// Adds a file that has been written.
    pub(crate) fn add(&self, path: PathBuf) {
        self.files().push(path);
    }

    /// Waits until every file that was added before is on disk.
    pub(crate) async fn sync(&self) -> Result<(), StoreError> {
        let mut failure = self.turn.lock().await;
        let files = std::mem::take(&mut *self.files());
        if failure.is_none() && !files.is_empty() {
            let waiting = tokio::task::spawn_blocking(move || wait_for(&files));
            *failure = waiting.await.unwrap_or_else(|error| {
                Some(Failure {
                    path: PathBuf::new(),
                    reason: error.to_string(),
                    is_full: false,
                })
            });
        }
        match failure.clone() {
            None => Ok(()),
            Some(Failure {
                path,
                is_full: true,
                ..
            }) => Err(StoreError::DiskFull {
                doing: "write",
                path,
            }),
            Some(Failure { path, reason, .. }) => Err(StoreError::DiskFailed {
                doing: "write",
                path,
                reason,
            }),
        }
    }

    fn files(&self) -> MutexGuard<'_, Vec<PathBuf>> {
        // Pushing and taking cannot leave the list half-changed.
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Waits for each of `files`, until one fails.
fn wait_for(files: &[PathBuf]) -> Option<Failure> {
    files.iter().find_map(|path| {
        let error = wait_for_one(path).err()?;
        Some(Failure {
            path: path.clone(),
            reason: error.to_string(),
            is_full: tribunal_store::is_full(&error),
        })
    })
}

/// Waits for one file. Once is enough: file systems write down a new name with its contents.
fn wait_for_one(path: &Path) -> io::Result<()> {
    match File::open(path) {
        Ok(file) => file.sync_all(),
        // Whoever removed it meanwhile did not want it kept.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_file_that_cannot_be_waited_for_is_never_called_safe() {
        let temp = tempfile::tempdir().unwrap();
        let unsynced = Unsynced::default();
        let file = temp.path().join("file");
        std::fs::write(&file, "x").unwrap();
        unsynced.add(file.clone());
        unsynced.add(temp.path().join("removed"));
        unsynced.sync().await.unwrap();
        unsynced.sync().await.unwrap();

        // A file below a file can be neither opened nor missing.
        unsynced.add(file.join("below"));
        let failed = unsynced.sync().await.unwrap_err().to_string();
        assert!(failed.contains("below"), "{failed}");
        let again = unsynced.sync().await.unwrap_err().to_string();
        assert_eq!(again, failed);
    }
}
