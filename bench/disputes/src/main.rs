//! What a long record of disputes costs: listing, showing one, rendering `dispute.md`.
//!
//! Prints the cost at 1,000 and at 10,000 disputes, per dispute where all are read and per call where
//! one is, and the ratio of the two. A ratio near 1 means that the cost is flat.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tribunal_core::case::{CaseKind, Outcome, Pause};
use tribunal_core::dispute::file::Page;
use tribunal_core::dispute::{
    Decision, Gravity, Grounds, Opening, Origin, Position, Ruler, Status, Subject,
};
use tribunal_core::event::{DisputeEvent, EventKind};
use tribunal_core::ids::{CaseId, DisputeId};
use tribunal_store::{DisputeFilter, Durability, Holder, Location, Options, Store, open_with};

/// Each measure is taken so often; the fastest counts, because others only disturb.
const TIMES: usize = 7;

/// So many are stored at once, in one commit where possible.
const TOGETHER: u64 = 200;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let sizes = [1_000_u64, 10_000];
    let mut rows: Vec<Vec<f64>> = Vec::new();
    for size in sizes {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let store = filled(directory.path(), size).await;
        rows.push(measure(&store, size).await);
        store.close().await;
    }
    println!("{:<44} {:>12} {:>12} {:>7}", "", "1,000", "10,000", "ratio");
    for (index, name) in NAMES.iter().enumerate() {
        let (small, large) = (rows[0][index], rows[1][index]);
        println!(
            "{name:<44} {small:>9.2} µs {large:>9.2} µs {:>7.2}",
            large / small
        );
        // A search by the end of an id looks at every id; nobody asks it to be flat.
        let bound = match index {
            3 => "",
            _ => "<= 2",
        };
        println!(
            "figure\tdisputes, {name}, growth from 1,000 to 10,000\t{:.2}\t{bound}",
            large / small
        );
    }
}

const NAMES: [&str; 6] = [
    "list all, per dispute",
    "list the newest 20, per call",
    "show by id, per call",
    "show by the end of its id, per call",
    "dispute.md with half of them open, per dispute",
    "find what was left undone, per call",
];

async fn measure(store: &Arc<dyn Store>, size: u64) -> Vec<f64> {
    let all = DisputeFilter::default();
    let newest = DisputeFilter {
        limit: Some(20),
        ..DisputeFilter::default()
    };
    let middle = id(size / 2);
    let end: String = middle.as_str().chars().skip(6).collect();
    let per = |time: Duration, count: u64| time.as_secs_f64() * 1e6 / count as f64;
    vec![
        per(
            fastest(async || store.disputes(&all).await.map(drop).expect("a list")).await,
            size,
        ),
        per(
            fastest(async || store.disputes(&newest).await.map(drop).expect("a list")).await,
            1,
        ),
        per(
            fastest(async || show(store, middle.as_str()).await).await,
            1,
        ),
        per(fastest(async || show(store, &end).await).await, 1),
        per(fastest(async || render(store).await).await, size),
        per(
            fastest(async || {
                let left = store.unfinished_cases(CaseKind::Dispute).await;
                assert!(left.expect("a list").is_empty());
            })
            .await,
            1,
        ),
    ]
}

async fn fastest(work: impl AsyncFn()) -> Duration {
    let mut best = Duration::MAX;
    for _ in 0..TIMES {
        let start = processor_time();
        work().await;
        best = best.min(processor_time() - start);
    }
    best
}

/// Returns what this process has used of the processor, SQLite's thread included.
fn processor_time() -> Duration {
    let clock = nix::time::ClockId::CLOCK_PROCESS_CPUTIME_ID;
    nix::time::clock_gettime(clock).expect("a clock").into()
}

async fn show(store: &Arc<dyn Store>, text: &str) {
    let dispute = store.find_dispute(text).await.expect("the dispute");
    let events = store.events(&dispute.id.case(), 0, 10_000).await;
    assert!(!events.expect("its story").is_empty());
}

async fn render(store: &Arc<dyn Store>) {
    let open = DisputeFilter {
        status: Some(Status::Open),
        ..DisputeFilter::default()
    };
    let open = store.disputes(&open).await.expect("a list");
    let resolved = store.latest_rulings(50).await.expect("a list");
    let all = store
        .count_disputes(Status::Resolved)
        .await
        .expect("a count");
    let page = Page {
        open: &open,
        resolved: &resolved,
        earlier: all - resolved.len() as u64,
    };
    assert!(page.render().len() > 1_000);
}

/// Returns a ledger with `size` disputes, every other one ruled.
async fn filled(directory: &std::path::Path, size: u64) -> Arc<dyn Store> {
    let options = Options {
        durability: Durability::Crash,
        ..Options::default()
    };
    let location = Location::File(directory.join("ledger.db"));
    let store = open_with(&location, options).await.expect("a ledger");
    let holder = Holder::unannounced();
    for first in (0..size).step_by(TOGETHER as usize) {
        let some = (first..size.min(first + TOGETHER)).map(|number| {
            let (store, holder) = (&store, &holder);
            async move {
                let case = id(number).case();
                let opened = store.open_case(&case, holder, story(number)).await;
                opened.expect("a new case");
            }
        });
        futures_util::future::join_all(some).await;
    }
    store
}

fn id(number: u64) -> DisputeId {
    // Spread as random ids are, so that an end is as telling as a beginning.
    DisputeId::of_case(&CaseId::from_bits(
        number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 24,
    ))
}

fn story(number: u64) -> Vec<EventKind> {
    let position = |author: &str| Position {
        author: author.to_owned(),
        model: Some(format!("{author}-4")),
        family: Some(author.to_owned()),
        text: "Session cookies are more secure for this use case.\nConcerns:\n\
               - XSS vulnerability with a token in local storage\n- Revocation is complex"
            .to_owned(),
    };
    let opening = Opening {
        key: format!("task {number}"),
        subject: Subject::Task {
            task: CaseId::from_bits(number).to_string(),
            title: format!("Task number {number}"),
        },
        origin: Origin::Rejection,
        gravity: Gravity::Major,
        grounds: Grounds::ArchitectureDisagreement,
        objection: None,
        coder: Some(position("sonnet")),
        reviewer: Some(position("opus")),
        evidence: Vec::new(),
        files: vec![format!("src/file{}.rs", number % 100)],
        material: None,
        notes: String::new(),
    };
    let mut events = vec![
        EventKind::CaseOpened {
            kind: CaseKind::Dispute,
            title: format!("Task number {number}"),
            request: json!({}),
        },
        EventKind::Dispute(DisputeEvent::DisputeOpened {
            dispute: id(number),
            opening: Box::new(opening),
        }),
    ];
    if number % 2 == 0 {
        events.push(EventKind::Dispute(DisputeEvent::DisputeRuled {
            decision: Decision::Dismiss,
            reason: "It is acceptable for our threat model.".to_owned(),
            reversal: String::new(),
            ruler: Ruler::Human,
            overrules: false,
        }));
        let outcome = Outcome::Completed;
        events.push(EventKind::CaseClosed { outcome });
    } else {
        let question = "a ruling".to_owned();
        let why = Pause::Human { question };
        events.push(EventKind::CaseParked { why, until: None });
    }
    events
}
