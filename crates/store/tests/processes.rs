//! Many processes on one ledger, and processes that die at the worst moment.
//!
//! What is promised: an event whose append returned is on disk. Killing processes loses nothing of
//! it. Cutting the write-ahead log, which no crash does after a sync, loses only what lay behind
//! the cut: the rest is a prefix of what was acknowledged, and everything that had reached the
//! main file.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use common::*;
use tribunal_core::ids::CaseId;
use tribunal_store::{Holder, Lease, Location, Options, Store, StoreError, open, open_with};
use uuid::Uuid;

const LEDGER: &str = "TRIBUNAL_TEST_LEDGER";
const WRITES: &str = "TRIBUNAL_TEST_WRITES";
const PAUSE_MS: &str = "TRIBUNAL_TEST_PAUSE_MS";

/// Short, so that a stopped process loses its case while a test waits.
const TTL: Duration = Duration::from_secs(1);

/// A process that opens two cases and appends to both at once, telling of each acknowledgement.
///
/// It ends after as many appends as it was told, or with the first error, which it tells too.
#[tokio::test]
async fn child() {
    let Ok(path) = std::env::var(LEDGER) else {
        return;
    };
    let writes: u64 = std::env::var(WRITES).unwrap().parse().unwrap();
    let path = PathBuf::from(path);
    let store = store_at(&path).await;
    let holder = Holder::for_this_process(path.parent().unwrap()).unwrap();
    let mut tasks = Vec::new();
    for _ in 0..2 {
        let (store, holder) = (Arc::clone(&store), holder.clone());
        tasks.push(tokio::spawn(async move {
            if let Err(error) = write_case(&store, &holder, writes).await {
                tell(&format!("error {error:?}"));
            }
        }));
    }
    for task in tasks {
        task.await.unwrap();
    }
    tell("end");
    std::process::exit(0);
}

async fn write_case(
    store: &Arc<dyn Store>,
    holder: &Holder,
    writes: u64,
) -> Result<(), StoreError> {
    let id = case(random());
    let (lease, _) = store.open_case(&id, holder, vec![opened("x")]).await?;
    tell(&format!("ack {id} 1"));
    let pause = std::env::var(PAUSE_MS).map_or(0, |text| text.parse().unwrap());
    for number in 1..=writes {
        tokio::time::sleep(Duration::from_millis(pause)).await;
        // Two events at a time: they must come and go together.
        let events = vec![noted(&format!("{number}")), run_started(random(), "s")];
        let stored = store.append(&lease, events).await?;
        tell(&format!("ack {id} {}", stored.last().unwrap().seq));
        if number % 16 == 0 {
            store.renew(&lease).await?;
        }
    }
    Ok(())
}

fn tell(line: &str) {
    // One call, so that a killed process does not leave half a line that reads like a whole one.
    let _ = std::io::stdout().write_all(format!("\n{line}\n").as_bytes());
}

fn random() -> u64 {
    Uuid::new_v4().as_u64_pair().0
}

async fn store_at(path: &Path) -> Arc<dyn Store> {
    let options = Options {
        lease_ttl: TTL,
        ..Options::default()
    };
    open_with(&Location::File(path.to_owned()), options)
        .await
        .unwrap()
}

fn start(path: &Path, writes: u64) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "child", "--nocapture"])
        .env(LEDGER, path)
        .env(WRITES, writes.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit());
    command
}

/// What the processes told: the last number acknowledged for each case.
#[derive(Debug, Default)]
struct Told {
    acknowledged: BTreeMap<CaseId, u64>,
    errors: Vec<String>,
    ended: usize,
}

impl Told {
    fn read(&mut self, child: &mut Child) {
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        for line in lines.map_while(Result::ok) {
            let words: Vec<&str> = line.split(' ').collect();
            match words[..] {
                ["ack", id, seq] => {
                    let last = self.acknowledged.entry(id.parse().unwrap()).or_default();
                    *last = seq.parse::<u64>().unwrap().max(*last);
                }
                ["error", ..] => self.errors.push(line),
                ["end"] => self.ended += 1,
                _ => {}
            }
        }
    }

    /// Proves that everything told is there, in a ledger that is sound.
    async fn verify(&self, store: &Arc<dyn Store>) {
        assert_eq!(self.errors, [""; 0]);
        assert_eq!(store.check().await.unwrap(), []);
        for (id, seq) in &self.acknowledged {
            let record = store.find_case(id.as_str()).await.unwrap();
            assert!(
                record.last_seq >= *seq,
                "{id} lost events after {}",
                record.last_seq
            );
            assert_eq!(record.last_seq % 2, 1, "{id} holds half of an append");
        }
    }
}

#[tokio::test]
async fn sixteen_processes_write_at_once_and_nothing_is_lost() {
    let directory = tempfile::tempdir().unwrap();
    // They also race to create it.
    let path = directory.path().join("deep/ledger.db");
    let children: Vec<Child> = (0..16).map(|_| start(&path, 25).spawn().unwrap()).collect();
    let mut told = Told::default();
    for mut child in children {
        told.read(&mut child);
        assert!(child.wait().unwrap().success());
    }
    assert_eq!((told.ended, told.acknowledged.len()), (16, 32));
    let store = store_at(&path).await;
    told.verify(&store).await;
    for id in told.acknowledged.keys() {
        assert_eq!(store.find_case(id.as_str()).await.unwrap().last_seq, 51);
    }
}

#[tokio::test]
async fn killed_processes_lose_nothing_and_their_cases_are_free_at_once() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("ledger.db");
    let rounds: u64 = std::env::var("TRIBUNAL_TEST_KILLS").map_or(12, |text| text.parse().unwrap());
    for round in 0..rounds {
        let mut children: Vec<Child> = (0..4)
            .map(|_| start(&path, u64::MAX).spawn().unwrap())
            .collect();
        let mut told = Told::default();
        for child in &mut children {
            std::thread::sleep(Duration::from_millis(random() % 60));
            child.kill().unwrap();
            told.read(child);
            child.wait().unwrap();
        }
        let store = store_at(&path).await;
        told.verify(&store).await;
        let holder = Holder::for_this_process(directory.path()).unwrap();
        for id in told.acknowledged.keys() {
            let lease = store.claim_case(id, &holder).await.unwrap();
            assert_eq!(lease.generation, 2, "round {round}");
            let events = vec![resumed(2), noted("on")];
            store.append(&lease, events).await.unwrap();
        }
        assert_eq!(store.check().await.unwrap(), []);
        store.close().await;
    }
}

#[cfg(debug_assertions)]
#[tokio::test]
async fn dying_around_a_commit_keeps_all_of_it_or_nothing() {
    for point in ["store.commit.before", "store.commit.after"] {
        for hit in 1..=6 {
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join("ledger.db");
            let mut child = start(&path, 20)
                .env("TRIBUNAL_CRASH_AT", format!("{point}#{hit}"))
                .spawn()
                .unwrap();
            let mut told = Told::default();
            told.read(&mut child);
            assert!(!child.wait().unwrap().success());
            let store = store_at(&path).await;
            told.verify(&store).await;
            let cases = store.recent_cases(9).await.unwrap();
            let stored: u64 = cases.iter().map(|record| record.last_seq).sum();
            let heard: u64 = told.acknowledged.values().sum();
            for record in &cases {
                // After the first event they come by twos.
                assert_eq!(record.last_seq % 2, 1, "{point}#{hit}");
            }
            match point {
                // The commit before may have been done without its two writers saying so yet.
                "store.commit.before" => assert!(stored <= heard + 4, "{point}#{hit}: {stored}"),
                _ => assert!(stored > heard, "{point}#{hit}: {stored}"),
            }
            store.close().await;
        }
    }
}

#[cfg(unix)]
#[tokio::test]
async fn a_stopped_process_loses_its_case_after_a_while_and_its_late_writes() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("ledger.db");
    let mut slow = start(&path, u64::MAX);
    let mut child = slow.env(PAUSE_MS, "20").spawn().unwrap();
    let signal = |name: &str| {
        let pid = child.id().to_string();
        let sent = Command::new("kill").args([name, &pid]).status().unwrap();
        assert!(sent.success());
    };
    let store = store_at(&path).await;
    while store.recent_cases(9).await.unwrap().len() < 2 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let id = store.recent_cases(1).await.unwrap().remove(0).id;
    let holder = Holder::for_this_process(directory.path()).unwrap();
    let busy = store.claim_case(&id, &holder).await;
    assert!(matches!(busy, Err(StoreError::Busy { pid, .. }) if pid == child.id()));

    // A process stopped inside a commit blocks all others, so the moment must be a quiet one.
    let lease = loop {
        signal("-STOP");
        let claim = tokio::time::timeout(TTL * 2, async {
            tokio::time::sleep(TTL).await;
            store.claim_case(&id, &holder).await
        });
        match claim.await {
            Ok(claim) => break claim.unwrap(),
            Err(_) => signal("-CONT"),
        }
    };
    assert_eq!(lease.generation, 2);
    store
        .append(&lease, vec![resumed(2), noted("mine")])
        .await
        .unwrap();
    let before = store.events(&id, 0, u32::MAX).await.unwrap();
    signal("-CONT");
    let error = tokio::task::spawn_blocking(move || {
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut lines = lines.map_while(Result::ok);
        let error = lines.find(|line| line.starts_with("error"));
        child.kill().unwrap();
        child.wait().unwrap();
        error.unwrap()
    });
    assert!(error.await.unwrap().starts_with("error LeaseLost"));
    assert_eq!(store.events(&id, 0, u32::MAX).await.unwrap(), before);
    assert_eq!(store.check().await.unwrap(), []);
}

/// A ledger whose last appends lie in the write-ahead log, and the log's size after each.
struct Logged {
    id: CaseId,
    main: Vec<u8>,
    log: Vec<u8>,
    /// Events in the main file.
    safe: u64,
    /// Size of the log, and number of the last event then acknowledged.
    sizes: Vec<(usize, u64)>,
}

async fn logged() -> Logged {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("ledger.db");
    let holder = Holder::for_this_process(directory.path()).unwrap();
    let store = open(&Location::File(path.clone())).await.unwrap();
    let (lease, _) = store
        .open_case(&case(1), &holder, vec![opened("x")])
        .await
        .unwrap();
    let safe = append_some(&store, &lease, 20).await;
    // The last to close moves everything to the main file.
    store.close().await;

    let store = open(&Location::File(path.clone())).await.unwrap();
    let log = directory.path().join("ledger.db-wal");
    let mut sizes = Vec::new();
    // Few enough that none of them is moved to the main file meanwhile.
    for _ in 0..20 {
        let seq = append_some(&store, &lease, 1).await;
        sizes.push((std::fs::read(&log).unwrap().len(), seq));
    }
    Logged {
        id: lease.case.clone(),
        main: std::fs::read(&path).unwrap(),
        log: std::fs::read(&log).unwrap(),
        safe,
        sizes,
    }
}

async fn append_some(store: &Arc<dyn Store>, lease: &Lease, count: usize) -> u64 {
    let mut last = 0;
    for _ in 0..count {
        let events = vec![noted(&"x".repeat(300)), run_started(random(), "s")];
        last = store
            .append(lease, events)
            .await
            .unwrap()
            .last()
            .unwrap()
            .seq;
    }
    last
}

/// Opens a copy with this log and returns the number of its last event.
async fn reopen(logged: &Logged, log: &[u8]) -> u64 {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("ledger.db");
    std::fs::write(&path, &logged.main).unwrap();
    std::fs::write(directory.path().join("ledger.db-wal"), log).unwrap();
    let store = open(&Location::File(path)).await.unwrap();
    assert_eq!(store.check().await.unwrap(), []);
    let record = store.find_case(logged.id.as_str()).await.unwrap();
    store.close().await;
    record.last_seq
}

#[tokio::test]
async fn a_log_cut_anywhere_keeps_all_before_the_cut() {
    let logged = logged().await;
    for _ in 0..300 {
        let cut = usize::try_from(random()).unwrap() % (logged.log.len() + 1);
        let found = reopen(&logged, &logged.log[..cut]).await;
        let kept = logged.sizes.iter().rev().find(|(size, _)| *size <= cut);
        let expected = kept.map_or(logged.safe, |(_, seq)| *seq);
        assert_eq!(found, expected, "cut at {cut}");
    }
}

#[tokio::test]
async fn a_log_with_a_wrong_byte_keeps_all_before_it() {
    let logged = logged().await;
    for _ in 0..60 {
        let at = usize::try_from(random()).unwrap() % logged.log.len();
        let mut log = logged.log.clone();
        log[at] ^= 0x40;
        let found = reopen(&logged, &log).await;
        let kept = logged.sizes.iter().rev().find(|(size, _)| *size <= at);
        let expected = kept.map_or(logged.safe, |(_, seq)| *seq);
        assert!(found >= expected, "byte {at}: {found}");
        assert_eq!(found % 2, 1, "byte {at}");
    }
}
