//! Connections for reading, opened when they are needed.

use std::sync::Arc;

use sqlx::SqliteConnection;
use tokio::sync::{Semaphore, SemaphorePermit};

use super::site::{Patience, Purpose, Site, is_busy};
use crate::StoreError;

/// How many reads run at once; more would only wait for the same disk.
const READERS: usize = 4;

/// The connections for reading.
pub(super) struct Readers {
    site: Arc<Site>,
    permits: Semaphore,
}

impl Readers {
    pub(super) fn new(site: Arc<Site>) -> Self {
        Self {
            site,
            permits: Semaphore::new(READERS),
        }
    }

    /// Returns a connection that cannot write.
    pub(super) async fn reader(&self) -> Result<Reader<'_>, StoreError> {
        let closed = |_| StoreError::Unusable {
            doing: "read",
            path: self.site.path.clone(),
            reason: "it was closed".to_owned(),
        };
        let permit = self.permits.acquire().await.map_err(closed)?;
        Ok(Reader {
            readers: self,
            conn: self.site.take_or_connect(Purpose::Reading).await?,
            patience: Patience::new(self.site.options.patience),
            _permit: permit,
        })
    }

    /// Waits for reads under way and lets no more begin.
    pub(super) async fn close(&self) {
        // All permits together mean that nobody reads.
        let all = u32::try_from(READERS).unwrap_or(u32::MAX);
        let permits = self.permits.acquire_many(all).await;
        self.permits.close();
        drop(permits);
    }
}

/// A connection lent to one caller.
///
/// A caller that goes away in the middle takes it along: nobody else ever sees a half-read
/// statement.
pub(super) struct Reader<'r> {
    readers: &'r Readers,
    pub(super) conn: SqliteConnection,
    patience: Patience,
    _permit: SemaphorePermit<'r>,
}

impl Reader<'_> {
    /// Waits and returns true when another process was only in the way, as when it recovers or
    /// cuts the write-ahead log.
    pub(super) async fn may_retry(&mut self, error: &StoreError) -> bool {
        matches!(error, StoreError::Database(error) if is_busy(error)) && self.patience.wait().await
    }

    /// Gives the connection back, and the result with its error explained.
    pub(super) fn finish<T>(self, result: Result<T, StoreError>) -> Result<T, StoreError> {
        self.readers.site.leave(self.conn, Purpose::Reading);
        result.map_err(|error| self.readers.site.explain("read", error))
    }
}
