//! Connections for reading, opened when they are needed.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sqlx::{Connection as _, Executor as _, SqliteConnection};
use tokio::sync::{Semaphore, SemaphorePermit};

use super::site::{Patience, Site, is_busy};
use crate::StoreError;

/// How many reads run at once; more would only wait for the same disk.
const READERS: usize = 4;

/// The connections for reading.
pub(super) struct Readers {
    site: Arc<Site>,
    idle: Mutex<Vec<SqliteConnection>>,
    permits: Semaphore,
}

impl Readers {
    pub(super) fn new(site: Arc<Site>) -> Self {
        Self {
            site,
            idle: Mutex::new(Vec::new()),
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
            conn: self.connection().await?,
            patience: Patience::new(self.site.options.patience),
            _permit: permit,
        })
    }

    /// Waits for reads under way and closes the connections.
    pub(super) async fn close(&self) {
        // All permits together mean that nobody reads.
        let all = u32::try_from(READERS).unwrap_or(u32::MAX);
        let permits = self.permits.acquire_many(all).await;
        let idle = std::mem::take(&mut *self.idle());
        for conn in idle {
            // Closing can only fail to tidy up, which the next process does.
            let _ = conn.close().await;
        }
        self.permits.close();
        drop(permits);
    }

    async fn connection(&self) -> Result<SqliteConnection, StoreError> {
        if let Some(conn) = self.idle().pop() {
            return Ok(conn);
        }
        let mut conn = self.site.take_or_connect().await?;
        let result = conn.execute("PRAGMA query_only = ON").await;
        result.map_err(|error| self.site.explain("read", error.into()))?;
        Ok(conn)
    }

    fn idle(&self) -> MutexGuard<'_, Vec<SqliteConnection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
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
        self.readers.idle().push(self.conn);
        result.map_err(|error| self.readers.site.explain("read", error))
    }
}
