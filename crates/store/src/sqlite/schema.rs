//! The schema's version: checked at every start, brought up to date when it is old.

use std::fs::TryLockError;

use sqlx::{Executor as _, Row as _, SqliteConnection};

use super::identity::KnownIdentity;
use super::site::{Patience, Site, is_busy};
use crate::{StoreError, crashpoint, private};

/// What each version adds; the position is the version before it.
const MIGRATIONS: [&str; 7] = [
    include_str!("../../migrations/sqlite/0001_ledger.sql"),
    include_str!("../../migrations/sqlite/0002_findings.sql"),
    include_str!("../../migrations/sqlite/0003_tasks.sql"),
    include_str!("../../migrations/sqlite/0004_disputes.sql"),
    include_str!("../../migrations/sqlite/0005_arbiter.sql"),
    include_str!("../../migrations/sqlite/0006_referrals.sql"),
    include_str!("../../migrations/sqlite/0007_boot_clock.sql"),
];

/// The schema that this program reads and writes.
const KNOWN: i64 = MIGRATIONS.len() as i64;

/// Marks the file as ours ("Trib"), so that we never write into another program's database.
const APPLICATION: i64 = 1_416_784_226;

/// Below this, a reset of the write-ahead log can corrupt the file.
const OLDEST_SQLITE: (u32, u32, u32) = (3, 51, 3);

/// Checks that the file is a ledger, and migrates it when its schema is old.
///
/// The usual case, a ledger of the current schema, costs one query. Returns how many pages the
/// write-ahead log held.
pub(super) async fn bring_up_to_date(
    conn: &mut SqliteConnection,
    site: &Site,
    known: &KnownIdentity,
) -> Result<i64, StoreError> {
    let (found, log) = probe(conn, site, VERSION_AND_LOG).await?;
    let log = log.unwrap_or_default();
    if found == KNOWN {
        return Ok(log);
    }
    // Turning the write-ahead log on does not wait for other processes, so it needs a lock of ours.
    let _lock = lock(site).await?;
    if probe(conn, site, VERSION).await?.0 == 0 {
        known.check_unused()?;
    }
    conn.execute("PRAGMA journal_mode = WAL").await?;
    while migrate_once(conn, site).await? < KNOWN {}
    Ok(log)
}

/// Tells whether the file is a ledger of the current schema, and changes nothing.
pub(super) async fn is_current(
    conn: &mut SqliteConnection,
    site: &Site,
) -> Result<bool, StoreError> {
    let (found, _) = probe(conn, site, VERSION).await?;
    Ok(found == KNOWN)
}

/// Asks for the version, and for the landmarks: one table, index or column of each migration.
macro_rules! version {
    ($more:literal) => {
        concat!(
            "SELECT sqlite_version() AS library,
                    (SELECT user_version FROM pragma_user_version) AS version,
                    (SELECT application_id FROM pragma_application_id) AS application,
                    (SELECT COUNT(*) FROM sqlite_schema) AS objects,
                    (SELECT COUNT(*) FROM sqlite_schema
                     WHERE name IN ('events', 'findings', 'tasks', 'disputes', 'arbiter_cache',
                                    'cases_by_parent'))
                    + (SELECT COUNT(*) FROM pragma_table_info('leases')
                       WHERE name = 'boot_expires_at_ms') AS landmarks;",
            $more
        )
    };
}

/// Asks for the schema's version.
const VERSION: &str = version!("");

/// Asks for the length of the write-ahead log as well, which is not possible while writing.
const VERSION_AND_LOG: &str = version!("PRAGMA wal_checkpoint(NOOP)");

/// Returns the schema's version, after making sure that the file is one that we may use, and the
/// number of pages in the write-ahead log if it was asked for.
async fn probe(
    conn: &mut SqliteConnection,
    site: &Site,
    sql: &'static str,
) -> Result<(i64, Option<i64>), StoreError> {
    let mut patience = Patience::new(site.options.patience);
    let rows = loop {
        match conn.fetch_all(sql).await {
            Ok(rows) => break rows,
            Err(error) if is_busy(&error) && patience.wait().await => {}
            Err(error) => return Err(error.into()),
        }
    };
    let row = rows.first().ok_or(sqlx::Error::RowNotFound)?;
    let log = rows.get(1).map(|row| row.try_get("log")).transpose()?;
    let library: String = row.try_get("library")?;
    let (version, application): (i64, i64) = (row.try_get("version")?, row.try_get("application")?);
    let (objects, landmarks): (i64, i64) = (row.try_get("objects")?, row.try_get("landmarks")?);

    let unusable = |reason: String| StoreError::Unusable {
        doing: "open",
        path: site.path.clone(),
        reason,
    };
    if parse_version(&library) < Some(OLDEST_SQLITE) {
        return Err(unusable(format!("SQLite {library} is too old")));
    }
    if application != APPLICATION && (objects > 0 || version != 0) {
        return Err(unusable("it is the database of another program".to_owned()));
    }
    let odd = |what: String| StoreError::OddSchema {
        path: site.path.clone(),
        what,
    };
    if version < 0 {
        let what =
            format!("its schema number is {version}, which no version of this program writes");
        return Err(odd(what));
    }
    if version > KNOWN {
        return Err(StoreError::NewerSchema {
            path: site.path.clone(),
            found: version,
            known: KNOWN,
        });
    }
    if version != landmarks {
        return Err(odd(format!(
            "its schema number is {version}, but its tables are those of schema {landmarks}"
        )));
    }
    Ok((version, log))
}

fn parse_version(text: &str) -> Option<(u32, u32, u32)> {
    let mut parts = text.split('.').map(|part| part.parse().ok());
    Some((parts.next()??, parts.next()??, parts.next()??))
}

/// Applies the next migration, if there is one, and returns the version that then holds.
///
/// The version is part of the transaction: an interrupted migration has not happened.
async fn migrate_once(conn: &mut SqliteConnection, site: &Site) -> Result<i64, StoreError> {
    let mut patience = Patience::new(site.options.patience);
    while let Err(error) = conn.execute("BEGIN EXCLUSIVE").await {
        if !is_busy(&error) || !patience.wait().await {
            return Err(error.into());
        }
    }
    let result = apply_next(conn, site).await;
    match result {
        Ok(version) => {
            crashpoint!("store.migrate.before");
            conn.execute("COMMIT").await?;
            crashpoint!("store.migrate.after");
            Ok(version)
        }
        Err(error) => {
            // The first error is the one worth telling.
            let _ = conn.execute("ROLLBACK").await;
            Err(error)
        }
    }
}

async fn apply_next(conn: &mut SqliteConnection, site: &Site) -> Result<i64, StoreError> {
    // Another process may have migrated, even beyond us, while we waited for the lock.
    let (version, _) = probe(conn, site, VERSION).await?;
    let Some(sql) = usize::try_from(version)
        .ok()
        .and_then(|v| MIGRATIONS.get(v))
    else {
        return Ok(version);
    };
    conn.execute(*sql).await?;
    let next = version + 1;
    // A pragma takes no parameters, and the number is ours.
    conn.execute(sqlx::AssertSqlSafe(format!("PRAGMA user_version = {next}")))
        .await?;
    Ok(next)
}

/// Waits for the lock under which ledgers are migrated. It ends with the returned file.
async fn lock(site: &Site) -> Result<std::fs::File, StoreError> {
    let path = site.directory().join("migrate.lock");
    let unusable = |error: std::io::Error| StoreError::of_file("migrate", &path, &error);
    let file = private::open_or_create_file(&path).map_err(unusable)?;
    let mut patience = Patience::new(site.options.patience);
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) if patience.wait().await => {}
            Err(TryLockError::WouldBlock) => {
                return Err(StoreError::Locked {
                    path: site.path.clone(),
                });
            }
            Err(TryLockError::Error(error)) => return Err(unusable(error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_as_numbers() {
        let oldest = Some(OLDEST_SQLITE);
        for good in ["3.51.3", "3.51.10", "3.100.0", "4.0.0"] {
            assert!(parse_version(good) >= oldest, "{good}");
        }
        for bad in ["3.51.2", "3.9.20", "2.99.99", "3.52", "new"] {
            assert!(parse_version(bad) < oldest, "{bad}");
        }
    }
}
