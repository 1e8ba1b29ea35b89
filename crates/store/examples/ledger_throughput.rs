//! Measures acknowledged appends per second: one client at a time, and 64 of them sharing commits.
//!
//! `cargo run --release -p tribunal-store --example ledger_throughput -- [directory]`

#![expect(clippy::print_stdout, reason = "printing numbers is its purpose")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use tribunal_core::case::CaseKind;
use tribunal_core::event::EventKind;
use tribunal_core::ids::CaseId;
use tribunal_store::{Holder, Lease, Location, Store, StoreError, open};

/// How long each way of writing is measured.
const ROUND: Duration = Duration::from_secs(2);

/// How many clients write at once.
const CLIENTS: u64 = 64;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let parent = std::env::args().nth(1);
    let parent = parent.map_or_else(std::env::temp_dir, Into::into);
    let directory = tempfile::tempdir_in(parent)?;
    let location = Location::File(directory.path().join("ledger.db"));

    let created = Instant::now();
    open(&location).await?.close().await;
    println!("create: {:?}", created.elapsed());
    let mut times = Vec::new();
    for _ in 0..50 {
        let opened = Instant::now();
        let store = open(&location).await?;
        times.push(opened.elapsed());
        store.close().await;
    }
    times.sort();
    println!("open: median {:?}, slowest {:?}", times[25], times[49]);

    let store = open(&location).await?;
    let holder = Holder::for_this_process(directory.path())?;
    let mut leases = Vec::new();
    for bits in 0..CLIENTS {
        leases.push(begin(&store, bits, &holder).await?);
    }
    let alone = measure(&store, leases.get(..1).unwrap_or_default()).await?;
    println!("1 client: {alone:.0} appends/s");
    let together = measure(&store, &leases).await?;
    println!(
        "{CLIENTS} clients: {together:.0} appends/s, {:.1} times as many",
        together / alone
    );

    let checked = Instant::now();
    let violations = store.check().await?;
    println!(
        "check: {:?}, {} violations",
        checked.elapsed(),
        violations.len()
    );
    let rebuilt = Instant::now();
    store.rebuild().await?;
    println!("rebuild: {:?}", rebuilt.elapsed());
    store.close().await;
    Ok(())
}

async fn begin(store: &Arc<dyn Store>, bits: u64, holder: &Holder) -> Result<Lease, StoreError> {
    let opened = EventKind::CaseOpened {
        kind: CaseKind::Ask,
        title: "throughput".to_owned(),
        request: serde_json::Value::Null,
    };
    let case = CaseId::from_bits(bits);
    Ok(store.open_case(&case, holder, vec![opened]).await?.0)
}

async fn measure(
    store: &Arc<dyn Store>,
    leases: &[Lease],
) -> Result<f64, Box<dyn std::error::Error>> {
    let started = Instant::now();
    let mut clients = Vec::new();
    for lease in leases {
        let (store, lease) = (Arc::clone(store), lease.clone());
        clients.push(tokio::spawn(async move {
            let mut stored = 0_u32;
            while started.elapsed() < ROUND {
                let text = "x".repeat(200);
                store
                    .append(&lease, vec![EventKind::Noted { text }])
                    .await?;
                stored += 1;
            }
            Ok::<_, StoreError>(stored)
        }));
    }
    let mut total = 0.0;
    for client in clients {
        total += f64::from(client.await??);
    }
    Ok(total / started.elapsed().as_secs_f64())
}
