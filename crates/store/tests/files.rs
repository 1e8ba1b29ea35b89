//! What the ledger does with files it cannot use, must not touch, or finds tampered with.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(clippy::print_stderr, reason = "a skipped test says so")]

mod common;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use common::*;
use serde_json::json;
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _, Executor as _};
use tribunal_store::{Holder, LedgerAccess, Location, Options, StoreError, open, open_with};

/// Names the ledger that a process started by these tests opens and writes to.
const CHILD: &str = "TRIBUNAL_TEST_LEDGER";

/// Opens the ledger and stores one case, in a process of its own.
#[tokio::test]
async fn child() {
    let Ok(path) = std::env::var(CHILD) else {
        return;
    };
    let path = PathBuf::from(path);
    let opened_store = open(&Location::File(path.clone())).await;
    let store = match opened_store {
        Ok(store) => store,
        Err(error) => panic!("refused: {error}"),
    };
    let holder = Holder::for_this_process(path.parent().unwrap()).unwrap();
    let bits = u64::from(std::process::id());
    let (lease, _) = store
        .open_case(&case(bits), &holder, vec![opened("x")])
        .await
        .unwrap();
    // Never closed: the files beside the ledger stay to be looked at.
    let mut error = None;
    while std::env::var("TRIBUNAL_TEST_FILL").is_ok() && error.is_none() {
        error = store
            .append(&lease, vec![noted(&"x".repeat(10_000))])
            .await
            .err();
    }
    if let Some(error) = error {
        let again = store.append(&lease, vec![noted("y")]).await;
        panic!("filled: {error}; then: {again:?}");
    }
    std::process::exit(0);
}

/// Runs [`child`] by way of a shell that ends with `setup`, such as `umask 000; exec`.
fn run_child(path: &Path, setup: &str) -> Output {
    let this = std::env::current_exe().unwrap();
    Command::new("sh")
        .args(["-c", &format!("{setup} \"$@\""), "sh"])
        .arg(this)
        .args(["--exact", "child", "--nocapture"])
        .env(CHILD, path)
        .output()
        .unwrap()
}

fn said(output: &Output) -> String {
    let text = [output.stdout.clone(), output.stderr.clone()].concat();
    String::from_utf8_lossy(&text).into_owned()
}

/// Runs statements on the file behind the store's back.
async fn tamper(path: &Path, sql: &str) {
    let options = sqlx::sqlite::SqliteConnectOptions::new()
        .filename(path)
        .foreign_keys(false);
    let mut conn = options.connect().await.unwrap();
    conn.execute(AssertSqlSafe(sql.to_owned())).await.unwrap();
    conn.close().await.unwrap();
}

async fn ledger_in(directory: &Path) -> PathBuf {
    let path = directory.join("ledger.db");
    let store = open(&Location::File(path.clone())).await.unwrap();
    let holder = Holder::for_this_process(directory).unwrap();
    let events = vec![
        opened("one"),
        step_started("s"),
        run_started(1, "s"),
        run_finished(1, answered(), usage(1, 2), Some(30)),
        step_finished("s", json!(1)),
        intended("e"),
        done("e"),
        provider_parked("acme", None, None),
    ];
    store.open_case(&case(1), &holder, events).await.unwrap();
    assert_eq!(store.check().await.unwrap(), []);
    store.close().await;
    path
}

#[tokio::test]
async fn a_newer_schema_is_refused_and_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    let path = ledger_in(directory.path()).await;
    tamper(&path, "PRAGMA user_version = 99").await;
    let before = std::fs::read(&path).unwrap();
    let result = open(&Location::File(path.clone())).await;
    assert!(matches!(
        result,
        Err(StoreError::NewerSchema { found: 99, .. })
    ));
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

#[tokio::test]
async fn files_that_are_no_ledger_are_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    let garbage = directory.path().join("garbage");
    std::fs::write(&garbage, "dear diary, ".repeat(1000)).unwrap();
    let foreign = directory.path().join("foreign");
    std::fs::write(&foreign, "").unwrap();
    tamper(&foreign, "CREATE TABLE diary (page TEXT)").await;
    let folder = directory.path().join("folder");
    std::fs::create_dir(&folder).unwrap();
    for (path, reason) in [
        (garbage.clone(), "not a database"),
        (foreign, "another program"),
        (folder, "directory"),
        (garbage.join("below"), "directory"),
    ] {
        let before = std::fs::read(&path).ok();
        let Err(StoreError::Unusable { reason: given, .. }) =
            open(&Location::File(path.clone())).await
        else {
            panic!("{path:?} was opened");
        };
        assert!(given.to_lowercase().contains(reason), "{path:?}: {given}");
        assert_eq!(std::fs::read(&path).ok(), before);
    }
}

#[cfg(unix)]
#[tokio::test]
async fn files_are_private_whatever_the_umask() {
    use std::os::unix::fs::PermissionsExt as _;
    for umask in ["000", "777"] {
        let directory = tempfile::tempdir().unwrap();
        let home = directory.path().join("a/b");
        let output = run_child(&home.join("ledger.db"), &format!("umask {umask}; exec"));
        assert!(output.status.success(), "{}", said(&output));
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        for folder in ["", "..", "holders"] {
            assert_eq!(mode(&home.join(folder)), 0o700, "{folder}");
        }
        for file in [
            "ledger.db",
            "ledger.db-wal",
            "ledger.db-shm",
            "migrate.lock",
        ] {
            assert_eq!(mode(&home.join(file)), 0o600, "{file}");
        }
        for entry in home.join("holders").read_dir().unwrap() {
            assert_eq!(mode(&entry.unwrap().path()), 0o600);
        }
    }
}

#[cfg(unix)]
#[tokio::test]
async fn what_may_not_be_written_is_said_at_once() {
    use std::os::unix::fs::PermissionsExt as _;
    let directory = tempfile::tempdir().unwrap();
    let path = ledger_in(directory.path()).await;
    let set = |path: &Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    // The administrator may write anything, so an administrator's test borrows another user.
    let mut setup = "exec".to_owned();
    let owner = Command::new("id").arg("-u").output().unwrap();
    if owner.stdout == b"0\n" {
        if Command::new("setpriv").arg("--version").output().is_err() {
            eprintln!("SKIPPED: needs another user than root, or the program setpriv");
            return;
        }
        setup = "exec setpriv --reuid=65534 --regid=65534 --clear-groups".to_owned();
        set(directory.path(), 0o755);
        for file in ["ledger.db", "migrate.lock"] {
            set(&directory.path().join(file), 0o644);
        }
    }
    set(&path, 0o444);
    let output = run_child(&path, &setup);
    assert!(
        said(&output).contains("refused: cannot open the ledger"),
        "{}",
        said(&output)
    );

    let missing = directory.path().join("below/ledger.db");
    set(directory.path(), 0o555);
    let output = run_child(&missing, &setup);
    assert!(
        said(&output).contains("refused: cannot open the ledger"),
        "{}",
        said(&output)
    );
    set(directory.path(), 0o755);
}

#[cfg(debug_assertions)]
#[tokio::test]
async fn an_interrupted_migration_is_done_by_the_next_process() {
    for point in ["store.migrate.before", "store.migrate.after"] {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("ledger.db");
        let output = run_child(
            &path,
            &format!("TRIBUNAL_CRASH_AT={point}; export TRIBUNAL_CRASH_AT; exec"),
        );
        assert!(!output.status.success());
        let store = open(&Location::File(path)).await.unwrap();
        assert_eq!(store.check().await.unwrap(), []);
        assert_eq!(store.recent_cases(9).await.unwrap(), []);
        store.close().await;
    }
}

#[cfg(unix)]
#[tokio::test]
async fn a_full_disk_ends_writing_and_nothing_else() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("ledger.db");
    // The signal is ignored, so that a write beyond the limit fails as on a full disk.
    let setup =
        "trap '' XFSZ; ulimit -f 2000; TRIBUNAL_TEST_FILL=1; export TRIBUNAL_TEST_FILL; exec";
    let output = run_child(&path, setup);
    let text = said(&output);
    assert!(
        text.contains("filled: the disk failed: cannot write"),
        "{text}"
    );
    // What is on disk after a failed commit is unknown, so nothing more was acknowledged.
    assert!(text.contains("then: Err(DiskFailed"), "{text}");
    let store = open(&Location::File(path)).await.unwrap();
    assert_eq!(store.check().await.unwrap(), []);
    let record = store.find_case("c-").await.unwrap();
    assert!(record.last_seq > 20, "{}", record.last_seq);
    let holder = Holder::for_this_process(directory.path()).unwrap();
    let lease = store.claim_case(&record.id, &holder).await.unwrap();
    store
        .append(&lease, vec![noted("there is room again")])
        .await
        .unwrap();
    assert_eq!(store.check().await.unwrap(), []);
}

#[tokio::test]
async fn an_event_from_the_future_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let path = ledger_in(directory.path()).await;
    let sql = r#"UPDATE events SET body = '{"type":"moon_landed"}' WHERE seq = 2"#;
    tamper(&path, sql).await;
    let store = open(&Location::File(path)).await.unwrap();
    let result = store.events(&case(1), 0, 9).await;
    let Err(StoreError::Damaged { what }) = result else {
        panic!("{result:?}")
    };
    assert!(
        what.contains("moon_landed") && what.contains("event 2"),
        "{what}"
    );
    let result = store.rebuild().await;
    assert!(matches!(result, Err(StoreError::Damaged { .. })));
    let found = store.check().await.unwrap();
    assert!(
        found
            .iter()
            .any(|violation| violation.found.contains("moon_landed"))
    );
}

#[tokio::test]
async fn tampering_is_found() {
    // The last column tells whether making the derived tables again is a cure.
    for (sql, invariant, cured) in [
        (
            "UPDATE events SET body = replace(body, 'one', 'two') WHERE seq = 1",
            "I2",
            false,
        ),
        (
            "UPDATE events SET at_ms = at_ms - 5 WHERE seq = 3",
            "I2",
            false,
        ),
        ("DELETE FROM events WHERE seq = 6", "I2", false),
        ("DELETE FROM events WHERE seq = 6", "I6", false),
        ("UPDATE events SET hash = x'00' WHERE seq = 8", "I2", false),
        (
            "UPDATE events SET generation = 7 WHERE seq = 8",
            "I3",
            false,
        ),
        ("DELETE FROM leases", "I4", false),
        (
            "INSERT INTO leases VALUES ('c-00ff', NULL, NULL, NULL, 1, 0, NULL)",
            "I4",
            false,
        ),
        (
            "INSERT INTO events SELECT position + 10, case_id, seq + 4, at_ms, generation, body, prev_hash, hash FROM events WHERE seq = 5",
            "P3",
            false,
        ),
        (
            "INSERT INTO events SELECT position + 10, case_id, seq + 5, at_ms, generation, body, prev_hash, hash FROM events WHERE seq = 4",
            "I1",
            false,
        ),
        (
            "INSERT INTO events SELECT position + 10, case_id, seq + 2, at_ms, generation, body, prev_hash, hash FROM events WHERE seq = 7",
            "I6",
            false,
        ),
        ("UPDATE runs SET cost_micros = 1", "I10", true),
        ("UPDATE cases SET title = 'two'", "derived", true),
        ("DELETE FROM steps", "derived", true),
        ("DELETE FROM providers", "derived", true),
        ("UPDATE effects SET evidence = NULL", "derived", true),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let path = ledger_in(directory.path()).await;
        tamper(&path, sql).await;
        let store = open(&Location::File(path)).await.unwrap();
        let found = store.check().await.unwrap();
        assert!(
            found.iter().any(|v| v.invariant == invariant),
            "{sql}: {found:?}"
        );
        if cured {
            store.rebuild().await.unwrap();
            assert_eq!(store.check().await.unwrap(), [], "{sql}");
        }
        store.close().await;
    }
}

#[tokio::test]
async fn an_odd_schema_number_is_refused_at_once_in_plain_words() {
    for (version, words) in [
        (-1, "its schema number is -1, which no version"),
        (i32::MIN, "which no version"),
        (
            0,
            "its schema number is 0, but its tables are those of schema 7",
        ),
        (
            1,
            "its schema number is 1, but its tables are those of schema 7",
        ),
        (
            5,
            "its schema number is 5, but its tables are those of schema 7",
        ),
        (8, "has schema 8, this program knows 7"),
        (i32::MAX, "this program knows 7"),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let path = ledger_in(directory.path()).await;
        tamper(&path, &format!("PRAGMA user_version = {version}")).await;
        let before = std::fs::read(&path).unwrap();
        for access in [LedgerAccess::Writing, LedgerAccess::ReadingIfMust] {
            let options = Options {
                access,
                ..Options::default()
            };
            let refused = open_with(&Location::File(path.clone()), options).await;
            let refused = refused.err().unwrap().to_string();
            assert!(refused.contains(words), "{version}: {refused}");
        }
        assert_eq!(std::fs::read(&path).unwrap(), before);
    }
}

#[tokio::test]
async fn a_ledger_whose_tables_are_gone_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = ledger_in(directory.path()).await;
    tamper(&path, "DROP TABLE findings").await;
    let refused = open(&Location::File(path)).await.err().unwrap();
    assert!(matches!(refused, StoreError::OddSchema { .. }), "{refused}");
}

/// Shows the titles of a ledger that this process may not write, in a process of its own.
#[tokio::test]
async fn reading_child() {
    let Ok(path) = std::env::var(READING_CHILD) else {
        return;
    };
    let options = Options {
        access: LedgerAccess::ReadingIfMust,
        ..Options::default()
    };
    let store = open_with(&Location::File(PathBuf::from(&path)), options).await;
    let store = store.unwrap_or_else(|error| panic!("refused: {error}"));
    for record in store.recent_cases(9).await.unwrap() {
        eprintln!("found: {} at {}", record.title, record.last_seq);
    }
    eprintln!("check: {:?}", store.check().await);
    let copy = std::env::temp_dir().join(format!("copy-{}.db", std::process::id()));
    eprintln!("copied: {:?}", store.copy_to(&copy).await);
    std::fs::remove_file(&copy).unwrap();
    let holder = Holder::unannounced();
    let written = store.open_case(&case(9), &holder, vec![opened("x")]).await;
    eprintln!("written: {}", written.err().unwrap());
    store.close().await;
}

/// Names the ledger that [`reading_child`] shows.
const READING_CHILD: &str = "TRIBUNAL_TEST_READ";

/// Runs [`reading_child`] where `directory` is mounted so that nobody may write to it; nothing where
/// this machine lets no user mount anything.
#[cfg(target_os = "linux")]
fn read_from_read_only_mount(directory: &Path) -> Option<String> {
    let may_mount = Command::new("unshare").args(["-rm", "true"]).output();
    if !may_mount.is_ok_and(|output| output.status.success()) {
        eprintln!("SKIPPED: `unshare -rm` does not work here");
        return None;
    }
    let script =
        r#"mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" || exit 99; shift; exec "$@""#;
    let output = Command::new("unshare")
        .args(["-rm", "sh", "-c", script, "sh"])
        .arg(directory)
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "reading_child", "--nocapture"])
        .env(READING_CHILD, directory.join("ledger.db"))
        .output()
        .unwrap();
    if output.status.code() == Some(99) {
        eprintln!("SKIPPED: nothing can be mounted here: {}", said(&output));
        return None;
    }
    Some(said(&output))
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_ledger_that_cannot_be_written_is_read_with_its_log_and_without() {
    // What lies beside the ledger, and whether its events are only in the log.
    for (name, with_log, with_index) in [
        ("folded in", false, false),
        ("log and its index", true, true),
        ("log alone", true, false),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("ledger.db");
        let output = run_child(&path, "exec");
        assert!(output.status.success(), "{}", said(&output));
        assert!(
            directory
                .path()
                .join("ledger.db-wal")
                .metadata()
                .unwrap()
                .len()
                > 0
        );
        if !with_log {
            tamper(&path, "PRAGMA wal_checkpoint(TRUNCATE)").await;
            let _ = std::fs::remove_file(directory.path().join("ledger.db-wal"));
        }
        if !with_index {
            let _ = std::fs::remove_file(directory.path().join("ledger.db-shm"));
        }
        let names = || -> Vec<_> {
            let mut names: Vec<_> = (directory.path().read_dir().unwrap())
                .map(|entry| entry.unwrap().file_name())
                .collect();
            names.sort();
            names
        };
        let before = names();
        let Some(text) = read_from_read_only_mount(directory.path()) else {
            return;
        };
        for part in [
            "found: x at 1",
            "check: Ok([])",
            "copied: Ok(())",
            "written: cannot write the ledger",
            "it can only be read",
        ] {
            assert!(text.contains(part), "{name}: {part}: {text}");
        }
        assert_eq!(names(), before, "{name}");
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn an_old_ledger_that_cannot_be_written_is_brought_up_to_date_in_a_copy() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("ledger.db");
    let output = run_child(&path, "exec");
    assert!(output.status.success(), "{}", said(&output));
    let older = "ALTER TABLE leases DROP COLUMN boot_expires_at_ms; PRAGMA user_version = 6";
    tamper(&path, older).await;
    let Some(text) = read_from_read_only_mount(directory.path()) else {
        return;
    };
    assert!(text.contains("found: x at 1"), "{text}");
    assert!(text.contains("it can only be read"), "{text}");
}
