//! The ledger's file: creating it, connecting to it, and explaining what it cannot do.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use sqlx::sqlite::{SqliteConnectOptions, SqliteSynchronous};
use sqlx::{ConnectOptions as _, Connection as _, Executor as _, SqliteConnection};
use tempfile::TempDir;
use uuid::Uuid;

use super::identity::{self, KnownIdentity};
use super::lease_clock::LeaseClock;
use super::schema;
use super::soon::log_of;
use crate::disk::has_no_room;
use crate::location::directory_of;
use crate::{Durability, LedgerAccess, Options, StoreError, private};

/// How long SQLite itself waits for a lock before we take over.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// The write-ahead log is cut back to this size after a checkpoint.
const LOG_LIMIT: &str = "16777216";

/// Pages in the write-ahead log after which they are moved to the file.
const CHECKPOINT_PAGES: &str = "200";

/// Pages in the write-ahead log after which whoever opens the ledger moves them to the file before
/// it writes. Whoever comes first reads the whole log, so it should be short; and only a process
/// that both moves the pages and writes begins the log anew, which short ones do not do afterwards.
const LONG_LOG: i64 = 100;

/// One ledger file, and the connection that opening it left over.
pub(super) struct Site {
    pub(super) path: PathBuf,
    pub(super) options: Options,
    connect: SqliteConnectOptions,
    /// Whether the ledger can only be read.
    read_only: bool,
    /// The copy that is read in the place of a ledger that cannot be read where it lies.
    _copy: Option<TempDir>,
    /// Whether the write-ahead log was long when we came.
    long_log: AtomicBool,
    /// Whether waiting for the disk failed: what is on it is then unknown.
    gave_up: AtomicBool,
    /// Connections that nobody uses now, for whoever comes first: most commands need only one.
    idle: Mutex<Vec<Idle>>,
}

/// What a connection is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// It refuses to write.
    Reading,
    /// It may write.
    Writing,
}

/// A connection between two uses.
struct Idle {
    conn: SqliteConnection,
    last: Purpose,
}

impl Site {
    /// Opens the file and makes sure that it is a ledger of the current schema.
    pub(super) async fn open(path: &Path, options: Options) -> Result<Self, StoreError> {
        let refused = match Self::open_for_writing(path, options).await {
            Ok(site) => return Ok(site),
            Err(refused) => refused,
        };
        match (options.access, &refused) {
            (
                LedgerAccess::ReadingIfMust,
                StoreError::Unusable { .. } | StoreError::DiskFull { .. },
            ) if path.is_file() => Self::open_for_reading(path, options, refused).await,
            (LedgerAccess::ReadingIfMust | LedgerAccess::Writing, _) => Err(refused),
        }
    }

    async fn open_for_writing(path: &Path, options: Options) -> Result<Self, StoreError> {
        let mut site = Self::at(path, options);
        let known = KnownIdentity::of(path);
        known.check_present()?;
        identity::check_log(&site, &known).await?;
        prepare_file(path).map_err(|error| StoreError::of_file("open", path, &error))?;
        let mut conn = site.connect().await?;
        let log = schema::bring_up_to_date(&mut conn, &site, &known).await;
        let log = log.map_err(|error| site.explain("open", error))?;
        let checked = known.check(&mut conn).await;
        checked.map_err(|error| site.explain("open", error))?;
        known.keep(&mut conn).await;
        *site.long_log.get_mut() = log >= LONG_LOG;
        site.leave(conn, Purpose::Writing);
        Ok(site)
    }

    /// Opens a ledger that cannot be written, which `refused` tells of, as it is on disk.
    async fn open_for_reading(
        path: &Path,
        options: Options,
        refused: StoreError,
    ) -> Result<Self, StoreError> {
        let reading = |change: fn(SqliteConnectOptions) -> SqliteConnectOptions| {
            let mut site = Self::at(path, options);
            site.read_only = true;
            site.connect = change(site.connect);
            site
        };
        // Its log is part of it, which needs a file beside it to be read in place.
        let mut places = vec![reading(|connect| connect.read_only(true))];
        if !has_log(path) {
            places.push(reading(|connect| connect.read_only(true).immutable(true)));
        }
        for site in places {
            let Ok(mut conn) = site.connect().await else {
                continue;
            };
            match schema::is_current(&mut conn, &site).await {
                Ok(true) => {
                    site.leave(conn, Purpose::Writing);
                    return Ok(site);
                }
                // It can be brought up to date in a copy.
                Ok(false) => break,
                Err(StoreError::Database(_)) => {}
                Err(odd) => return Err(odd),
            }
        }
        Self::open_copy(path, options, refused).await
    }

    /// Opens a copy of a ledger that can be read neither with its log nor without it.
    async fn open_copy(
        path: &Path,
        options: Options,
        refused: StoreError,
    ) -> Result<Self, StoreError> {
        let Ok((directory, copy)) = copy_with_log(path) else {
            return Err(refused);
        };
        let mut site = Self::open_for_writing(&copy, options).await?;
        site.read_only = true;
        site.path = path.to_owned();
        site._copy = Some(directory);
        Ok(site)
    }

    fn at(path: &Path, options: Options) -> Self {
        let connect = SqliteConnectOptions::new()
            .filename(path)
            .busy_timeout(BUSY_TIMEOUT.min(options.patience / 8))
            .foreign_keys(true)
            .synchronous(match options.durability {
                Durability::PowerLoss => SqliteSynchronous::Full,
                Durability::Crash => SqliteSynchronous::Normal,
            })
            .pragma("journal_size_limit", LOG_LIMIT)
            .pragma("wal_autocheckpoint", CHECKPOINT_PAGES)
            .disable_statement_logging();
        Self {
            path: path.to_owned(),
            options,
            connect,
            read_only: false,
            _copy: None,
            long_log: AtomicBool::new(false),
            gave_up: AtomicBool::new(false),
            idle: Mutex::new(Vec::new()),
        }
    }

    /// Returns the time, and how long leases last.
    pub(super) fn leases(&self) -> LeaseClock {
        LeaseClock::now(&self.options)
    }

    /// Returns why nothing may be written, if that is so.
    pub(super) fn refusal(&self) -> Result<(), StoreError> {
        match self.read_only {
            true if has_no_room(self.directory()) => Err(StoreError::DiskFull {
                doing: "write",
                path: self.path.clone(),
            }),
            true => Err(StoreError::Unusable {
                doing: "write",
                path: self.path.clone(),
                reason: "it can only be read".to_owned(),
            }),
            false => Ok(()),
        }
    }

    /// Returns the directory in which processes announce themselves.
    pub(super) fn directory(&self) -> &Path {
        directory_of(&self.path)
    }

    /// Returns a new connection.
    pub(super) async fn connect(&self) -> Result<SqliteConnection, StoreError> {
        let mut patience = Patience::new(self.options.patience);
        loop {
            match self.connect.connect().await {
                Ok(conn) => return Ok(conn),
                Err(error) if is_busy(&error) && patience.wait().await => {}
                Err(error) => return Err(self.explain("open", error.into())),
            }
        }
    }

    /// Returns a new connection that writes nothing, not even when it is closed.
    pub(super) async fn connect_reading(&self) -> Result<SqliteConnection, sqlx::Error> {
        self.connect.clone().read_only(true).connect().await
    }

    /// Returns a connection for `purpose`: one that is left over, or else a new one.
    pub(super) async fn take_or_connect(
        &self,
        purpose: Purpose,
    ) -> Result<SqliteConnection, StoreError> {
        let idle = self.idle().pop();
        let (mut conn, last) = match idle {
            Some(Idle { conn, last }) => (conn, last),
            None => (self.connect().await?, Purpose::Writing),
        };
        if last != purpose {
            let sql = match purpose {
                Purpose::Reading => "PRAGMA query_only = ON",
                Purpose::Writing => "PRAGMA query_only = OFF",
            };
            let result = conn.execute(sql).await;
            result.map_err(|error| self.explain("open", error.into()))?;
        }
        Ok(conn)
    }

    /// Lets nothing more be written.
    pub(super) fn give_up(&self) {
        self.gave_up.store(true, Ordering::Release);
    }

    /// Tells whether nothing more is written.
    pub(super) fn has_given_up(&self) -> bool {
        self.gave_up.load(Ordering::Acquire)
    }

    /// Shortens the write-ahead log, if it was long when we came. Only a write after it begins the
    /// log anew.
    pub(super) async fn shorten_log(&self, conn: &mut SqliteConnection) -> Result<(), StoreError> {
        if self.long_log.swap(false, Ordering::Relaxed) {
            conn.execute("PRAGMA wal_checkpoint(PASSIVE)").await?;
        }
        Ok(())
    }

    /// Leaves a connection that was used for `purpose` to whoever comes next.
    pub(super) fn leave(&self, conn: SqliteConnection, purpose: Purpose) {
        self.idle().push(Idle {
            conn,
            last: purpose,
        });
    }

    /// Closes the connections that nobody uses.
    pub(super) async fn close(&self) {
        self.keep_identity().await;
        let idle = std::mem::take(&mut *self.idle());
        for Idle { conn, .. } in idle {
            // Closing can only fail to tidy up, which the next process does.
            let _ = conn.close().await;
        }
    }

    /// Keeps the identity of a ledger that had no events when it was opened.
    async fn keep_identity(&self) {
        let known = KnownIdentity::of(&self.path);
        if self.read_only || known.is_kept() {
            return;
        }
        if let Ok(mut conn) = self.take_or_connect(Purpose::Reading).await {
            known.keep(&mut conn).await;
            self.leave(conn, Purpose::Reading);
        }
    }

    /// Returns `error` in words for the user, where SQLite's code says what the matter is.
    pub(super) fn explain(&self, doing: &'static str, error: StoreError) -> StoreError {
        let StoreError::Database(error) = error else {
            return error;
        };
        let path = self.path.clone();
        let unusable = |reason: &str| StoreError::Unusable {
            doing,
            path: self.path.clone(),
            reason: reason.to_owned(),
        };
        match code(&error) {
            Some(5 | 6 | 15) => StoreError::Locked { path },
            Some(13) => StoreError::DiskFull { doing, path },
            // A file that it needs beside the ledger found no place.
            Some(10 | 14) if has_no_room(self.directory()) => StoreError::DiskFull { doing, path },
            Some(3 | 8 | 23) => unusable("it may not be written"),
            Some(10) => StoreError::DiskFailed {
                doing,
                path,
                reason: error.to_string(),
            },
            Some(11) => StoreError::Damaged {
                what: format!("the file {} is malformed", path.display()),
            },
            Some(14) => unusable("the file or one beside it cannot be opened"),
            Some(26) => unusable("it is not a database"),
            Some(_) | None => match error {
                sqlx::Error::ColumnDecode { index, source } => StoreError::Damaged {
                    what: format!("column {index}: {source}"),
                },
                error => StoreError::Database(error),
            },
        }
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Idle>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the primary result code of SQLite.
pub(super) fn code(error: &sqlx::Error) -> Option<u32> {
    let code = error.as_database_error()?.code()?;
    let extended: u32 = code.parse().ok()?;
    Some(extended & 0xff)
}

/// Tells whether another process is in the way for the moment: BUSY, or PROTOCOL from a race for
/// the write-ahead log.
pub(super) fn is_busy(error: &sqlx::Error) -> bool {
    matches!(code(error), Some(5 | 15))
}

/// Waits between attempts, with jitter so that waiting processes do not meet again.
pub(super) struct Patience {
    until: Instant,
}

impl Patience {
    pub(super) fn new(limit: Duration) -> Self {
        Self {
            until: Instant::now() + limit,
        }
    }

    /// Waits a little; returns false when patience is at its end.
    pub(super) async fn wait(&mut self) -> bool {
        if Instant::now() >= self.until {
            return false;
        }
        let [random, ..] = Uuid::new_v4().into_bytes();
        tokio::time::sleep(Duration::from_millis(1 + u64::from(random) / 8)).await;
        true
    }
}

/// Creates the file when it is missing, and makes sure that it can be written.
fn prepare_file(path: &Path) -> io::Result<()> {
    // Closing the new file would drop the locks of a connection that another thread has just made.
    static CREATING: Mutex<()> = Mutex::new(());
    let _guard = CREATING.lock().unwrap_or_else(PoisonError::into_inner);
    let directory = directory_of(path);
    private::create_directory(directory)?;
    match private::create_file(path) {
        Ok(file) => {
            file.sync_all()?;
            // The name must survive a power failure just like the contents.
            #[cfg(unix)]
            std::fs::File::open(directory)?.sync_all()?;
            Ok(())
        }
        // SQLite would fall back to reading, and fail at the first write.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => private::check_writable(path),
        Err(error) => Err(error),
    }
}

/// Tells whether some of the ledger may lie in its write-ahead log.
fn has_log(path: &Path) -> bool {
    let found = log_of(path).metadata();
    found.map_or_else(
        |error| error.kind() != io::ErrorKind::NotFound,
        |log| log.len() > 0,
    )
}

/// Copies a ledger that nobody writes, with its write-ahead log, into a new private directory.
fn copy_with_log(path: &Path) -> io::Result<(TempDir, PathBuf)> {
    let log = log_of(path);
    let state = || {
        [path, &log].map(|file| {
            let found = file.metadata().ok();
            found.map(|found| (found.len(), found.modified().ok()))
        })
    };
    let directory = tempfile::tempdir()?;
    let copy = directory.path().join("ledger.db");
    let before = state();
    std::fs::copy(path, &copy)?;
    if has_log(path) {
        std::fs::copy(&log, log_of(&copy))?;
    }
    for file in [copy.clone(), log_of(&copy)] {
        if file.exists() {
            private::make_private(&file)?;
        }
    }
    match state() == before {
        true => Ok((directory, copy)),
        false => Err(io::Error::other("somebody writes to it")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn connections_are_durable_and_wait() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("ledger.db");
        let site = Site::open(&path, Options::default()).await.unwrap();
        let mut conn = site.take_or_connect(Purpose::Writing).await.unwrap();
        const SQL: &str = "
            SELECT (SELECT journal_mode FROM pragma_journal_mode),
                   (SELECT synchronous FROM pragma_synchronous),
                   (SELECT foreign_keys FROM pragma_foreign_keys),
                   (SELECT timeout FROM pragma_busy_timeout)";
        let settings: (String, i64, i64, i64) =
            sqlx::query_as(SQL).fetch_one(&mut conn).await.unwrap();
        assert_eq!(settings, ("wal".to_owned(), 2, 1, 5000));

        let options = Options {
            durability: Durability::Crash,
            ..Options::default()
        };
        let site = Site::open(&path, options).await.unwrap();
        let mut conn = site.take_or_connect(Purpose::Writing).await.unwrap();
        let faster: (String, i64, i64, i64) =
            sqlx::query_as(SQL).fetch_one(&mut conn).await.unwrap();
        assert_eq!(faster, ("wal".to_owned(), 1, 1, 5000));
    }
}
