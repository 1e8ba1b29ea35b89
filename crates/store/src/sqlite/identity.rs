//! Whether a database, its write-ahead log and the files beside them belong together.
//!
//! SQLite believes any log that has the right name. The first event of a ledger never changes and no
//! other ledger has it, so its hash is kept in a small file beside the database. Whoever opens the
//! ledger compares.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use sqlx::{Row as _, SqliteConnection};

use super::site::Site;
use super::soon::log_of;
use crate::{StoreError, private};

/// How many digits the hash of an event has.
const DIGITS: usize = 64;

/// The ends of the ledger: its first event, and whether its last one follows from the one before it.
const ENDS: &str = "
    SELECT (SELECT lower(hex(hash)) FROM events ORDER BY position LIMIT 1) AS first,
           (SELECT COUNT(*) FROM (SELECT * FROM events ORDER BY position DESC LIMIT 1) AS last
            WHERE last.seq > 1 AND NOT EXISTS (
                SELECT 1 FROM events
                WHERE case_id = last.case_id AND seq = last.seq - 1 AND hash = last.prev_hash
            )) AS loose";

/// What is known about a ledger before it is opened.
pub(super) struct KnownIdentity {
    path: PathBuf,
    first: Option<String>,
}

impl KnownIdentity {
    /// Reads what was kept beside the database at `path`.
    pub(super) fn of(path: &Path) -> Self {
        let kept = fs::read_to_string(file_of(path)).unwrap_or_default();
        // A power loss may have left an empty file.
        let is_hash = kept.len() == DIGITS && kept.bytes().all(|byte| byte.is_ascii_hexdigit());
        Self {
            path: path.to_owned(),
            first: is_hash.then_some(kept),
        }
    }

    /// Tells whether the identity is kept already.
    pub(super) fn is_kept(&self) -> bool {
        self.first.is_some()
    }

    /// Refuses an empty database beside the files of a ledger that was used.
    pub(super) fn check_unused(&self) -> Result<(), StoreError> {
        let directory = crate::location::directory_of(&self.path);
        let has_files = ["runs", "packs"].iter().any(|name| {
            let entries = fs::read_dir(directory.join(name));
            entries.is_ok_and(|mut entries| entries.next().is_some())
        });
        match self.first.is_some() || has_files {
            true => {
                Err(self.lost("its database is missing or empty, but its other files are there"))
            }
            false => Ok(()),
        }
    }

    /// Refuses a missing database beside the files of a ledger that was used.
    pub(super) fn check_present(&self) -> Result<(), StoreError> {
        match self.check_unused() {
            // Whoever makes a ledger makes the database before all other files.
            Err(lost) if !self.path.exists() => Err(lost),
            _ => Ok(()),
        }
    }

    /// Compares what is kept with what `conn` shows, and keeps it if it is not kept yet.
    pub(super) async fn check(&self, conn: &mut SqliteConnection) -> Result<(), StoreError> {
        let row = sqlx::query(ENDS).fetch_one(conn).await?;
        let first: Option<String> = row.try_get("first")?;
        let loose: i64 = row.try_get("loose")?;
        match (&self.first, &first) {
            (Some(_), None) => Err(self.lost("it has no events, but it had some")),
            (Some(known), Some(first)) if known != first => Err(self.foreign()),
            _ if loose > 0 && has_log(&self.path) => Err(self.foreign()),
            _ => Ok(()),
        }
    }

    /// Keeps the identity of a ledger that has none and can be written. That it is missing is no harm.
    pub(super) async fn keep(&self, conn: &mut SqliteConnection) {
        if self.is_kept() {
            return;
        }
        let row = sqlx::query(ENDS).fetch_one(conn).await;
        let first = row.and_then(|row| row.try_get::<Option<String>, _>("first"));
        if let Ok(Some(first)) = first
            && let Err(error) = write(&file_of(&self.path), &first)
        {
            tracing::debug!(%error, "the identity of the ledger is not kept");
        }
    }

    fn lost(&self, what: &str) -> StoreError {
        StoreError::Incomplete {
            path: self.path.clone(),
            what: what.to_owned(),
        }
    }

    fn foreign(&self) -> StoreError {
        StoreError::Foreign {
            path: self.path.clone(),
        }
    }
}

/// Looks at a ledger that has a write-ahead log without folding the log in, which closing an
/// ordinary connection does.
pub(super) async fn check_log(site: &Site, known: &KnownIdentity) -> Result<(), StoreError> {
    if !has_log(&known.path) {
        return Ok(());
    }
    let Ok(mut conn) = site.connect_reading().await else {
        // Whoever opens it next learns why.
        return Ok(());
    };
    let version = sqlx::query("PRAGMA user_version")
        .fetch_one(&mut conn)
        .await;
    let version: i64 = match version {
        Ok(row) => row.try_get(0)?,
        Err(error) => return foreign_if_malformed(error, known),
    };
    if version < 1 {
        return Ok(());
    }
    match known.check(&mut conn).await {
        Err(StoreError::Database(error)) => foreign_if_malformed(error, known),
        checked => checked,
    }
}

/// A log of another ledger makes a sound database look malformed.
fn foreign_if_malformed(error: sqlx::Error, known: &KnownIdentity) -> Result<(), StoreError> {
    match super::site::code(&error) {
        Some(11) => Err(known.foreign()),
        _ => Ok(()),
    }
}

fn has_log(path: &Path) -> bool {
    log_of(path).metadata().is_ok_and(|log| log.len() > 0)
}

fn file_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push("-first");
    PathBuf::from(name)
}

fn write(path: &Path, text: &str) -> std::io::Result<()> {
    let mut unfinished = path.as_os_str().to_owned();
    unfinished.push(format!(".{}", uuid::Uuid::new_v4().simple()));
    let unfinished = PathBuf::from(unfinished);
    let written = private::create_file(&unfinished)
        .and_then(|mut file| file.write_all(text.as_bytes()))
        .and_then(|()| fs::rename(&unfinished, path));
    if written.is_err() {
        // The error that matters is the one we return.
        let _ = fs::remove_file(&unfinished);
    }
    written
}
