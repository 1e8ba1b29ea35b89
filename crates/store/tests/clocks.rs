//! Who owns a case when clocks jump.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::path::Path;

use common::*;
use tribunal_store::{ClockSkew, Holder, Location, Options, Store, StoreError, open_with};

/// Opens the ledger in a process whose clocks are wrong by this much.
async fn with_skew(path: &Path, wall_ms: i64, boot_ms: i64) -> std::sync::Arc<dyn Store> {
    let options = Options {
        skew: ClockSkew { wall_ms, boot_ms },
        ..Options::default()
    };
    let location = Location::File(path.to_owned());
    open_with(&location, options).await.unwrap()
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_jump_of_the_wall_clock_takes_no_case_from_a_living_owner_on_this_machine() {
    const HOUR: i64 = 3_600_000;
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("ledger.db");
    let before = with_skew(&path, 0, 0).await;
    let owner = Holder::for_this_process(directory.path()).unwrap();
    let other = Holder::for_this_process(directory.path()).unwrap();
    let first = case(1);
    let opening = before.open_case(&first, &owner, vec![opened("one")]);
    let (lease, _) = opening.await.unwrap();
    for jump in [-HOUR, -30 * 24 * HOUR, HOUR, 30 * 24 * HOUR] {
        let after = with_skew(&path, jump, 0).await;
        let taken = after.claim_case(&case(1), &other).await;
        assert!(
            matches!(taken, Err(StoreError::Busy { .. })),
            "{jump}: {taken:?}"
        );
        assert!(after.find_case("c-").await.unwrap().owned, "{jump}");
        // The owner goes on with the clock as it is now, and then it is set right again.
        after.renew(&lease).await.unwrap();
        let taken = before.claim_case(&case(1), &other).await;
        assert!(
            matches!(taken, Err(StoreError::Busy { .. })),
            "{jump}: {taken:?}"
        );
    }
    // One that lives and does not answer for longer than its lease loses the case as ever.
    let later = with_skew(&path, 0, 31_000).await;
    let taken = later.claim_case(&case(1), &other).await.unwrap();
    assert_eq!(taken.generation, lease.generation + 1);
    let late = before.append(&lease, vec![noted("late")]).await;
    assert!(matches!(late, Err(StoreError::LeaseLost { .. })));
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_dead_owner_loses_its_case_whatever_the_clocks_say() {
    for jump in [-3_600_000, 0, 30 * 24 * 3_600_000] {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("ledger.db");
        let before = with_skew(&path, 0, 0).await;
        let living = Holder::for_this_process(directory.path()).unwrap();
        let mut child = std::process::Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        let dead = Holder::named(living.host.clone(), child.id(), living.nonce.clone());
        let first = case(1);
        let opening = before.open_case(&first, &dead, vec![opened("one")]);
        opening.await.unwrap();
        let after = with_skew(&path, jump, 0).await;
        let record = after.find_case("c-").await.unwrap();
        assert!(!record.owned, "{jump}");
        let holder = Holder::for_this_process(directory.path()).unwrap();
        let taken = after.claim_case(&record.id, &holder).await.unwrap();
        assert_eq!(taken.generation, 2, "{jump}");
    }
}

#[tokio::test]
async fn an_owner_on_another_machine_is_judged_by_the_wall_clock() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("ledger.db");
    let store = with_skew(&path, 0, 0).await;
    let boot = "11111111-2222-3333-4444-555555555555";
    let owner = Holder::named(format!("moon#{boot}pid:[1]"), 7, "abc");
    let first = case(1);
    let opening = store.open_case(&first, &owner, vec![opened("one")]);
    opening.await.unwrap();
    let other = Holder::for_this_process(directory.path()).unwrap();
    // Its clock since the start is not ours.
    let elsewhere = with_skew(&path, 0, 86_400_000).await;
    let taken = elsewhere.claim_case(&case(1), &other).await;
    assert!(matches!(taken, Err(StoreError::Busy { .. })), "{taken:?}");
    let later = with_skew(&path, 31_000, 0).await;
    later.claim_case(&case(1), &other).await.unwrap();
}
