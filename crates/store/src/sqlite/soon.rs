//! Writes that do not wait for the disk.

use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use async_trait::async_trait;
use tribunal_core::event::{Event, EventKind};
use tribunal_core::ids::CaseId;

use super::SqliteStore;
use super::leases::OpenCase;
use super::ledger::Append;
use crate::{Durability, Holder, Lease, Soon, StoreError};

#[async_trait]
impl Soon for SqliteStore {
    async fn open_case_soon(
        &self,
        case: &CaseId,
        holder: &Holder,
        events: Vec<EventKind>,
    ) -> Result<(Lease, Vec<Event>), StoreError> {
        let write = OpenCase::new(case.clone(), holder.clone(), events)?;
        self.writer.submit_for(write, Durability::Crash).await
    }

    async fn append_soon(
        &self,
        lease: &Lease,
        events: Vec<EventKind>,
    ) -> Result<Vec<Event>, StoreError> {
        let write = Append::new(lease.clone(), events)?;
        self.writer.submit_for(write, Durability::Crash).await
    }

    async fn sync(&self) -> Result<(), StoreError> {
        if self.site.options.durability == Durability::Crash {
            return Ok(());
        }
        self.site.refusal()?;
        // SQLite has no lock on this file that closing it could drop.
        let log = log_of(&self.site.path);
        let synced = tokio::task::spawn_blocking(move || match File::open(log) {
            // What was in the log has been moved to the file, which SQLite waited for.
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            opened => opened?.sync_data(),
        });
        let synced = synced.await.map_err(std::io::Error::other);
        synced.flatten().map_err(|error| {
            self.site.give_up();
            StoreError::of_file("write", &self.site.path, &error)
        })
    }
}

/// Returns the write-ahead log of a file.
pub(super) fn log_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push("-wal");
    PathBuf::from(name)
}
