//! Files that do not belong together are refused and left as they are.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::path::Path;
use std::sync::Arc;

use tribunal_store::{Holder, Location, Store, StoreError, open};

use crate::common::{case, noted, opened};

async fn open_in(directory: &Path) -> Result<Arc<dyn Store>, StoreError> {
    open(&Location::File(directory.join("ledger.db"))).await
}

/// Makes a ledger with some events in its main file and returns it open, with more in its log.
async fn ledger_with_log(directory: &Path, title: &str) -> Arc<dyn Store> {
    let holder = Holder::for_this_process(directory).unwrap();
    let store = open_in(directory).await.unwrap();
    let (lease, _) = store
        .open_case(&case(1), &holder, vec![opened(title)])
        .await
        .unwrap();
    for _ in 0..20 {
        store.append(&lease, vec![noted(title)]).await.unwrap();
    }
    store.close().await;
    let store = open_in(directory).await.unwrap();
    for _ in 0..20 {
        store.append(&lease, vec![noted(title)]).await.unwrap();
    }
    store
}

fn copy(from: &Path, to: &Path, name: &str) {
    std::fs::copy(from.join(name), to.join(name)).unwrap();
}

fn contents(directory: &Path) -> Vec<Vec<u8>> {
    ["ledger.db", "ledger.db-wal", "ledger.db-first"]
        .map(|name| std::fs::read(directory.join(name)).unwrap_or_default())
        .to_vec()
}

#[tokio::test]
async fn the_last_to_leave_folds_the_log_in() {
    let directory = tempfile::tempdir().unwrap();
    let store = ledger_with_log(directory.path(), "x").await;
    let log = directory.path().join("ledger.db-wal");
    assert!(log.metadata().unwrap().len() > 0);
    let other = open_in(directory.path()).await.unwrap();
    store.close().await;
    assert!(log.exists(), "somebody else is there");
    other.close().await;
    assert!(!log.exists());
    // What is copied now is all of it.
    let copied = tempfile::tempdir().unwrap();
    copy(directory.path(), copied.path(), "ledger.db");
    let store = open_in(copied.path()).await.unwrap();
    assert_eq!(store.events(&case(1), 0, 99).await.unwrap().len(), 41);
}

#[tokio::test]
async fn a_log_or_database_of_another_ledger_is_refused_and_left_alone() {
    let (ours, theirs) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let our_store = ledger_with_log(ours.path(), "ours").await;
    let their_store = ledger_with_log(theirs.path(), "a title of theirs").await;
    let mixed = tempfile::tempdir().unwrap();
    for name in ["ledger.db", "ledger.db-first"] {
        copy(ours.path(), mixed.path(), name);
    }
    for name in ["ledger.db-wal", "ledger.db"] {
        copy(theirs.path(), mixed.path(), name);
        let before = contents(mixed.path());
        let refused = open_in(mixed.path()).await.err();
        assert!(
            matches!(refused, Some(StoreError::Foreign { .. })),
            "{name}: {refused:?}"
        );
        assert_eq!(contents(mixed.path()), before, "{name}");
    }
    our_store.close().await;
    their_store.close().await;
}

#[tokio::test]
async fn files_of_a_ledger_without_its_database_are_refused() {
    for (name, content) in [
        ("missing", None),
        ("empty", Some(Vec::new())),
        ("without its log", Some(vec![0; 0])),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("ledger.db");
        std::fs::create_dir_all(directory.path().join("runs/r-0000000000000001")).unwrap();
        if let Some(content) = content {
            std::fs::write(&path, content).unwrap();
        }
        let refused = open_in(directory.path()).await.err();
        assert!(
            matches!(refused, Some(StoreError::Incomplete { .. })),
            "{name}: {refused:?}"
        );
    }
}

#[tokio::test]
async fn a_ledger_that_lost_its_events_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    ledger_with_log(directory.path(), "x").await.close().await;
    let empty = tempfile::tempdir().unwrap();
    open_in(empty.path()).await.unwrap().close().await;
    copy(empty.path(), directory.path(), "ledger.db");
    let refused = open_in(directory.path()).await.err();
    assert!(
        matches!(refused, Some(StoreError::Incomplete { .. })),
        "{refused:?}"
    );
    // A new ledger is not one that lost something.
    open_in(empty.path()).await.unwrap().close().await;
}
