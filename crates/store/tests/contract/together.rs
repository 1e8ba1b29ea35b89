//! Several who write at the same time: one owner for each case, and nobody in the way of others.

use super::*;

#[tokio::test]
async fn one_owner_at_a_time_and_a_late_one_changes_nothing() {
    let bench = Bench::new();
    let store = bench.store().await;
    let (first, second) = (bench.holder(), bench.holder());
    let old = begin(&store, 1, &first).await;
    let own = store.claim_case(&case(1), &first).await.unwrap();
    assert_eq!((own.generation, &own), (1, &old));

    let busy = store.claim_case(&case(1), &second).await;
    assert!(matches!(busy, Err(StoreError::Busy { pid, .. }) if pid == std::process::id()));

    // A paused process keeps its lock but does not renew: the lease's end decides.
    tokio::time::sleep(Duration::from_millis(200)).await;
    store.renew(&old).await.unwrap();
    tokio::time::sleep(Duration::from_millis(200)).await;
    let busy = store.claim_case(&case(1), &second).await;
    assert!(matches!(busy, Err(StoreError::Busy { .. })));
    tokio::time::sleep(Duration::from_millis(150)).await;
    store.append(&old, vec![noted("still mine")]).await.unwrap();
    let new = store.claim_case(&case(1), &second).await.unwrap();
    assert_eq!(new.generation, 2);

    let late = store.append(&old, vec![noted("late")]).await;
    assert!(matches!(late, Err(StoreError::LeaseLost { .. })));
    let late = store.renew(&old).await;
    assert!(matches!(late, Err(StoreError::LeaseLost { .. })));
    store.release(&old).await.unwrap();
    store.append(&new, vec![noted("mine now")]).await.unwrap();

    store.release(&new).await.unwrap();
    let late = store.append(&new, vec![noted("given back")]).await;
    assert!(matches!(late, Err(StoreError::LeaseLost { .. })));
    let back = store.claim_case(&case(1), &first).await.unwrap();
    assert_eq!(back.generation, 3);
    assert_eq!(store.events(&case(1), 0, 99).await.unwrap().len(), 3);

    let nothing = store.claim_case(&case(2), &first).await;
    assert!(matches!(nothing, Err(StoreError::NoSuchCase { .. })));
    assert_eq!(store.check().await.unwrap(), []);
}

#[tokio::test]
async fn a_case_of_a_dead_process_is_free_at_once() {
    let bench = Bench::new();
    let store = bench.store().await;
    let (first, second) = (bench.holder(), bench.holder());
    let lease = begin(&store, 1, &first).await;
    // Dropping the last copies ends the lock, as the end of the process does.
    drop((lease, first));
    assert!(!store.find_case("c-").await.unwrap().owned);
    let lease = store.claim_case(&case(1), &second).await.unwrap();
    assert_eq!(lease.generation, 2);
}

#[tokio::test]
async fn an_owner_on_another_machine_is_waited_for() {
    let bench = Bench::new();
    let store = bench.store().await;
    let remote = Holder::named("moon#1", 7, "0123abcd");
    begin(&store, 1, &remote).await;
    let busy = store.claim_case(&case(1), &bench.holder()).await;
    assert!(matches!(busy, Err(StoreError::Busy { host, pid: 7, .. }) if host == "moon"));
    tokio::time::sleep(Duration::from_millis(350)).await;
    let lease = store.claim_case(&case(1), &bench.holder()).await.unwrap();
    assert_eq!(lease.generation, 2);
}

#[tokio::test]
async fn one_failing_write_leaves_its_neighbours_alone() {
    story(|store, holder| async move {
        let mut leases = Vec::new();
        for bits in 1..=32 {
            leases.push(begin(&store, bits, &holder).await);
        }
        // Sent at once, they share commits; every second one fails after its first event.
        let mut tasks = Vec::new();
        for (number, lease) in leases.into_iter().enumerate() {
            let store = Arc::clone(&store);
            let last = if number % 2 == 0 {
                noted("b")
            } else {
                done("nothing")
            };
            tasks.push(tokio::spawn(async move {
                store.append(&lease, vec![noted("a"), last]).await.is_ok()
            }));
        }
        for (number, task) in tasks.into_iter().enumerate() {
            assert_eq!(task.await.unwrap(), number % 2 == 0);
            let bits = u64::try_from(number).unwrap() + 1;
            let stored = store.events(&case(bits), 0, 99).await.unwrap().len();
            assert_eq!(stored, if number % 2 == 0 { 3 } else { 1 });
        }
    })
    .await;
}

#[tokio::test]
async fn callers_that_go_away_disturb_nobody() {
    story(|store, holder| async move {
        let lease = begin(&store, 1, &holder).await;
        for micros in 0..200 {
            let wait = Duration::from_micros(micros * 5);
            let _ = tokio::time::timeout(wait, store.append(&lease, vec![noted("w")])).await;
            let _ = tokio::time::timeout(wait, store.runs(&case(1))).await;
        }
        let stored = store.append(&lease, vec![noted("last")]).await.unwrap();
        let all = store.events(&case(1), 0, 999).await.unwrap();
        assert_eq!(all.last(), stored.last());
    })
    .await;
}

#[tokio::test]
async fn other_writers_are_waited_for_but_not_for_ever() {
    let bench = Bench::new();
    bench.store().await.close().await;
    let options = Options {
        patience: Duration::from_secs(2),
        ..Options::default()
    };
    let location = Location::File(bench.path());
    let store = open_with(&location, options).await.unwrap();
    let connect = SqliteConnectOptions::new().filename(bench.path());
    let mut other = connect.connect().await.unwrap();

    // Longer than SQLite itself waits, shorter than we do.
    other.execute("BEGIN IMMEDIATE").await.unwrap();
    let free = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        other.execute("ROLLBACK").await.unwrap();
    };
    let holder = bench.holder();
    let (lease, ()) = tokio::join!(begin(&store, 1, &holder), free);

    other.execute("BEGIN IMMEDIATE").await.unwrap();
    let locked = store.append(&lease, vec![noted("a")]).await;
    assert!(matches!(locked, Err(StoreError::Locked { .. })));
    assert_eq!(store.events(&case(1), 0, 9).await.unwrap().len(), 1);
    other.execute("ROLLBACK").await.unwrap();
    store.append(&lease, vec![noted("b")]).await.unwrap();
}
