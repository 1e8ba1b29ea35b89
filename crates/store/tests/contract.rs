//! The same story on any store: what every method promises.
//!
//! Each part takes a fresh store from a [`Bench`]; a second kind of database is one more of those.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;
#[path = "contract/together.rs"]
mod together;

use std::future::Future;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use common::*;
use serde_json::json;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, Executor as _};
use tribunal_core::agent::ErrorClass;
use tribunal_core::case::{CaseKind, CaseState, Outcome, Pause};
use tribunal_core::event::{EventKind, RunResult};
use tribunal_core::ids::CaseId;
use tribunal_core::money::{Cost, MicroUsd, Spend};
use tribunal_core::time::Timestamp;
use tribunal_store::{
    EffectState, Holder, Lease, Location, Options, ParkedProvider, Store, StoreError, open_with,
};

/// A place where one test keeps its ledger.
struct Bench {
    directory: tempfile::TempDir,
}

impl Bench {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        Self { directory }
    }

    fn path(&self) -> PathBuf {
        self.directory.path().join("ledger.db")
    }

    async fn store(&self) -> Arc<dyn Store> {
        let options = Options {
            lease_ttl: Duration::from_millis(300),
            ..Options::default()
        };
        let location = Location::File(self.path());
        open_with(&location, options).await.unwrap()
    }

    fn holder(&self) -> Holder {
        Holder::for_this_process(self.directory.path()).unwrap()
    }
}

/// Runs one part of the story, and ends it as every test ends: with a ledger that is sound.
async fn story<F>(part: impl FnOnce(Arc<dyn Store>, Holder) -> F)
where
    F: Future<Output = ()>,
{
    let bench = Bench::new();
    let store = bench.store().await;
    part(Arc::clone(&store), bench.holder()).await;
    assert_eq!(store.check().await.unwrap(), []);
    store.rebuild().await.unwrap();
    assert_eq!(store.check().await.unwrap(), []);
    store.close().await;
}

async fn begin(store: &Arc<dyn Store>, bits: u64, holder: &Holder) -> Lease {
    let events = vec![opened("one")];
    let (lease, _) = store.open_case(&case(bits), holder, events).await.unwrap();
    lease
}

#[tokio::test]
async fn events_are_numbered_and_come_back_in_pages() {
    story(|store, holder| async move {
        let (lease, first) = store
            .open_case(&case(1), &holder, vec![opened("one"), noted("a")])
            .await
            .unwrap();
        let second = store
            .append(&lease, vec![noted("b"), noted("c")])
            .await
            .unwrap();
        let all = [first, second].concat();
        let seqs: Vec<u64> = all.iter().map(|event| event.seq).collect();
        assert_eq!(seqs, [1, 2, 3, 4]);
        assert!(all.is_sorted_by_key(|event| event.at));

        assert_eq!(store.events(&case(1), 0, 100).await.unwrap(), all);
        assert_eq!(store.events(&case(1), 1, 2).await.unwrap(), all[1..3]);
        assert_eq!(store.events(&case(1), 4, 9).await.unwrap(), []);
        assert_eq!(store.events(&case(9), 0, 9).await.unwrap(), []);
    })
    .await;
}

#[tokio::test]
async fn what_does_not_wait_for_the_disk_is_stored_all_the_same() {
    let bench = Bench::new();
    let store = bench.store().await;
    let holder = bench.holder();
    let (lease, first) = store
        .open_case_soon(&case(1), &holder, vec![opened("one")])
        .await
        .unwrap();
    let second = store.append_soon(&lease, vec![noted("a")]).await.unwrap();
    let all = [first, second].concat();
    // Another process sees it at once, and would after our death.
    let other = bench.store().await;
    assert_eq!(other.events(&case(1), 0, 9).await.unwrap(), all);
    store.sync().await.unwrap();

    // It is fenced, refused and mixed with other writes like any other.
    let repeated = store
        .open_case_soon(&case(1), &holder, vec![opened("one")])
        .await;
    assert!(matches!(repeated, Err(StoreError::Repeated { .. })));
    let (soon, lasting, late) = tokio::join!(
        store.append_soon(&lease, vec![noted("b")]),
        store.append(&lease, vec![noted("c")]),
        store.append_soon(&lease, vec![run_finished(9, answered(), usage(1, 1), None)]),
    );
    assert_eq!((soon.unwrap().len(), lasting.unwrap().len()), (1, 1));
    assert!(matches!(late, Err(StoreError::Refused { .. })));
    store.release(&lease).await.unwrap();
    let gone = store.append_soon(&lease, vec![noted("d")]).await;
    assert!(matches!(gone, Err(StoreError::LeaseLost { .. })));
    assert_eq!(store.check().await.unwrap(), []);
    assert_eq!(store.events(&case(1), 0, 9).await.unwrap().len(), 4);
}

#[tokio::test]
async fn a_case_opens_once_and_with_its_opening() {
    story(|store, holder| async move {
        let refused = store.open_case(&case(1), &holder, vec![noted("a")]).await;
        assert!(matches!(refused, Err(StoreError::Refused { .. })));
        let refused = store.open_case(&case(1), &holder, vec![]).await;
        assert!(matches!(refused, Err(StoreError::Refused { .. })));

        let first = store
            .open_case(&case(1), &holder, vec![opened("one")])
            .await;
        let (lease, _) = first.unwrap();
        let again = store
            .open_case(&case(1), &holder, vec![opened("two")])
            .await;
        assert!(matches!(again, Err(StoreError::Repeated { .. })));
        let again = store.append(&lease, vec![opened("two")]).await;
        assert!(matches!(again, Err(StoreError::Repeated { .. })));
        assert_eq!(
            store.find_case(case(1).as_str()).await.unwrap().title,
            "one"
        );
    })
    .await;
}

#[tokio::test]
async fn a_case_tells_where_it_stands() {
    story(|store, holder| async move {
        let before = store.now().await.unwrap();
        let lease = begin(&store, 1, &holder).await;
        let record = store.find_case(case(1).as_str()).await.unwrap();
        assert_eq!(record.state, CaseState::Open);
        assert_eq!(record.request, json!({ "prompts": ["one"] }));
        assert_eq!(record.last_seq, 1);
        assert!(record.opened_at >= before);
        assert!(record.owned);

        store.append(&lease, vec![parked(Some(5))]).await.unwrap();
        let record = store.find_case(case(1).as_str()).await.unwrap();
        let (why, until) = (Pause::Interrupted, Some(Timestamp(5)));
        assert_eq!(record.state, CaseState::Parked { why, until });
        assert!(!record.owned);

        let lease = store.claim_case(&case(1), &holder).await.unwrap();
        store.append(&lease, vec![resumed(2)]).await.unwrap();
        let record = store.find_case(case(1).as_str()).await.unwrap();
        assert_eq!(record.state, CaseState::Open);

        store.append(&lease, vec![closed()]).await.unwrap();
        let record = store.find_case(case(1).as_str()).await.unwrap();
        assert_eq!(record.state, CaseState::Closed(Outcome::Completed));
        assert_eq!(record.last_seq, 4);
        assert!(!record.owned);
        let late = store.append(&lease, vec![noted("late")]).await;
        assert!(matches!(late, Err(StoreError::LeaseLost { .. })));

        let lease = store.claim_case(&case(1), &holder).await.unwrap();
        let again = store.append(&lease, vec![closed()]).await;
        assert!(matches!(again, Err(StoreError::Repeated { .. })));
        let late = store.append(&lease, vec![parked(None)]).await;
        assert!(matches!(late, Err(StoreError::Refused { .. })));
    })
    .await;
}

#[tokio::test]
async fn the_newest_cases_of_a_kind_are_found_behind_any_number_of_others() {
    story(|store, holder| async move {
        let of_kind = |bits: u64, kind: CaseKind| {
            let (store, holder) = (Arc::clone(&store), holder.clone());
            async move {
                let opened = EventKind::CaseOpened {
                    kind,
                    title: "a title".to_owned(),
                    request: json!({}),
                };
                let id = CaseId::from_bits(bits);
                let opening = store.open_case(&id, &holder, vec![opened]);
                opening.await.unwrap();
                id
            }
        };
        let trial = of_kind(1, CaseKind::Trial).await;
        for bits in 2..12 {
            of_kind(bits, CaseKind::Ask).await;
        }
        let ids = |found: Vec<tribunal_store::CaseRecord>| -> Vec<CaseId> {
            found.into_iter().map(|record| record.id).collect()
        };
        let trials = store.recent_cases_of(CaseKind::Trial, 5).await.unwrap();
        assert_eq!(ids(trials), [trial]);
        let asked = store.recent_cases_of(CaseKind::Ask, 3).await.unwrap();
        assert_eq!(asked.len(), 3);
    })
    .await;
}

#[tokio::test]
async fn cases_are_found_by_what_happened_in_them() {
    story(|store, holder| async move {
        begin(&store, 1, &holder).await;
        let lease = begin(&store, 2, &holder).await;
        let other = begin(&store, 3, &holder).await;
        store.append(&lease, vec![closed()]).await.unwrap();
        let only_said = noted("case_closed");
        store.append(&other, vec![only_said]).await.unwrap();
        let found = [
            (
                CaseKind::Ask,
                vec!["case_closed", "case_parked"],
                vec![case(2)],
            ),
            (
                CaseKind::Ask,
                vec!["case_opened"],
                vec![case(1), case(2), case(3)],
            ),
            (CaseKind::Ask, vec!["closed"], vec![]),
            (CaseKind::Trial, vec!["case_closed"], vec![]),
        ];
        for (kind, types, expected) in found {
            let cases = store.cases_with(kind, &types).await.unwrap();
            assert_eq!(cases, expected, "{kind:?} {types:?}");
        }
    })
    .await;
}

#[tokio::test]
async fn a_case_is_found_by_either_end_of_its_id() {
    story(|store, holder| async move {
        for bits in [0xaa_aa00_1111, 0xaa_aa00_2222, 0xbb_bb00_2222] {
            begin(&store, bits, &holder).await;
        }
        let ids: Vec<_> = store.recent_cases(10).await.unwrap();
        let ids: Vec<_> = ids.into_iter().map(|record| record.id).collect();
        assert_eq!(ids.len(), 3);
        assert_eq!(store.recent_cases(2).await.unwrap().len(), 2);

        for (text, fits) in [
            ("aaaa001111", 1),
            ("001111", 1),
            ("C-BBBB", 1),
            ("  bbbb ", 1),
            ("2222", 2),
            ("c-", 3),
            ("aaaa00", 2),
            ("", 0),
            ("c-123456", 0),
            ("%", 0),
        ] {
            match store.find_case(text).await {
                Ok(_) => assert_eq!(fits, 1, "{text}"),
                Err(StoreError::AmbiguousCase { count, .. }) => assert_eq!(fits, count, "{text}"),
                Err(StoreError::NoSuchCase { .. }) => assert_eq!(fits, 0, "{text}"),
                Err(error) => panic!("{text}: {error}"),
            }
        }
        for id in ids {
            assert_eq!(store.find_case(id.as_str()).await.unwrap().id, id);
        }
    })
    .await;
}

#[tokio::test]
async fn a_finished_step_is_never_begun_or_finished_again() {
    story(|store, holder| async move {
        let lease = begin(&store, 1, &holder).await;
        assert_eq!(store.step(&case(1), &step("s")).await.unwrap(), None);
        let events = vec![step_started("s"), step_started("s")];
        store.append(&lease, events).await.unwrap();
        assert_eq!(store.step(&case(1), &step("s")).await.unwrap(), None);
        let output = json!({ "answer": [1, null, "x"] });
        store
            .append(&lease, vec![step_finished("s", output.clone())])
            .await
            .unwrap();
        for repeat in [step_finished("s", json!(2)), step_started("s")] {
            let result = store.append(&lease, vec![noted("x"), repeat]).await;
            assert!(matches!(result, Err(StoreError::Repeated { .. })));
        }
        let late = store.append(&lease, vec![run_started(1, "s")]).await;
        assert!(matches!(late, Err(StoreError::Refused { .. })));
        assert_eq!(
            store.step(&case(1), &step("s")).await.unwrap(),
            Some(output)
        );
        assert_eq!(store.events(&case(1), 0, 99).await.unwrap().len(), 4);

        // Nothing is a result too.
        let nothing = step_finished("n", json!(null));
        store.append(&lease, vec![nothing]).await.unwrap();
        let output = store.step(&case(1), &step("n")).await.unwrap();
        assert_eq!(output, Some(json!(null)));
    })
    .await;
}

#[tokio::test]
async fn runs_end_once_and_all_of_them_are_counted() {
    story(|store, holder| async move {
        let lease = begin(&store, 1, &holder).await;
        let since = store.now().await.unwrap();
        let events = vec![
            run_started(1, "s"),
            run_finished(1, answered(), usage(100, 10), Some(2500)),
            run_started(2, "s"),
            run_finished(2, RunResult::Abandoned, usage(0, 0), None),
            run_started(3, "t"),
            run_progressed(3, usage(7, 1)),
        ];
        store.append(&lease, events).await.unwrap();

        let runs = store.runs(&case(1)).await.unwrap();
        assert_eq!(runs.len(), 3);
        assert_eq!(runs[0].id, run(1));
        assert_eq!(runs[0].result, Some(answered()));
        assert_eq!(runs[0].cost, Cost::Known(MicroUsd(2500)));
        assert_eq!(runs[0].elapsed_ms, 1200);
        assert_eq!(runs[1].result, Some(RunResult::Abandoned));
        assert_eq!(runs[1].cost, Cost::Unknown);
        assert_eq!((&runs[2].result, runs[2].usage), (&None, usage(7, 1)));

        let spend = Spend {
            known: MicroUsd(2500),
            unknown_runs: 2,
            runs: 3,
            usage: usage(107, 11),
        };
        assert_eq!(store.find_case("c-").await.unwrap().spend, spend);
        assert_eq!(store.family_spend(&case(1)).await.unwrap(), spend);
        assert_eq!(store.spend_since(since).await.unwrap(), spend);
        let later = since.plus_millis(3_600_000);
        assert_eq!(store.spend_since(later).await.unwrap(), Spend::default());

        let repeat = run_finished(1, answered(), usage(1, 1), Some(1));
        for (event, repeated) in [
            (repeat, true),
            (run_started(2, "s"), true),
            (run_finished(9, answered(), usage(1, 1), Some(1)), false),
        ] {
            match store.append(&lease, vec![event]).await {
                Err(StoreError::Repeated { .. }) => assert!(repeated),
                Err(StoreError::Refused { .. }) => assert!(!repeated),
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(store.find_case("c-").await.unwrap().spend, spend);
    })
    .await;
}

#[tokio::test]
async fn absurd_numbers_of_agents_do_not_break_the_sums() {
    story(|store, holder| async move {
        let lease = begin(&store, 1, &holder).await;
        for id in 0..20 {
            let tokens = usage(u64::MAX, u64::MAX);
            let finished = run_finished(id, answered(), tokens, Some(u64::MAX));
            let events = vec![run_started(id, "s"), finished];
            store.append(&lease, events).await.unwrap();
        }
        let spend = store.find_case("c-").await.unwrap().spend;
        assert_eq!(spend.runs, 20);
        assert!(spend.known > MicroUsd(1 << 50));
    })
    .await;
}

#[tokio::test]
async fn effects_are_announced_then_done_once() {
    story(|store, holder| async move {
        let lease = begin(&store, 1, &holder).await;
        let early = store.append(&lease, vec![done("e")]).await;
        assert!(matches!(early, Err(StoreError::Refused { .. })));
        let state = store.effect(&case(1), &effect("e")).await.unwrap();
        assert_eq!(state, EffectState::Unknown);

        let twice = vec![intended("e"), intended("e")];
        store.append(&lease, twice).await.unwrap();
        let state = store.effect(&case(1), &effect("e")).await.unwrap();
        assert_eq!(state, EffectState::Intended);

        store.append(&lease, vec![done("e")]).await.unwrap();
        for repeat in [done("e"), intended("e")] {
            let result = store.append(&lease, vec![repeat]).await;
            assert!(matches!(result, Err(StoreError::Repeated { .. })));
        }
        let evidence = "it is there".to_owned();
        let state = store.effect(&case(1), &effect("e")).await.unwrap();
        assert_eq!(state, EffectState::Done { evidence });
    })
    .await;
}

#[tokio::test]
async fn providers_are_parked_until_their_time_or_until_freed() {
    story(|store, holder| async move {
        let lease = begin(&store, 1, &holder).await;
        let now = store.now().await.unwrap();
        let later = now.plus_millis(3_600_000);
        let events = vec![
            provider_parked("a", None, None),
            provider_parked("b", Some("m"), Some(later.0)),
            provider_parked("c", None, Some(now.0 - 1)),
            provider_parked("d", None, None),
            provider_freed("d", None),
        ];
        store.append(&lease, events).await.unwrap();
        let a = ParkedProvider {
            provider: "a".to_owned(),
            model: None,
            class: ErrorClass::RateLimited,
            until: None,
        };
        let b = ParkedProvider {
            provider: "b".to_owned(),
            model: Some("m".to_owned()),
            until: Some(later),
            ..a.clone()
        };
        assert_eq!(store.parked_providers().await.unwrap(), [a, b.clone()]);

        assert!(!store.free_provider("b", None).await.unwrap());
        assert!(store.free_provider("a", None).await.unwrap());
        assert!(!store.free_provider("a", None).await.unwrap());
        assert_eq!(store.parked_providers().await.unwrap().len(), 1);
        store.rebuild().await.unwrap();
        assert_eq!(store.parked_providers().await.unwrap(), [b]);

        // What happens after the freeing counts again.
        let again = vec![provider_parked("a", None, None)];
        store.append(&lease, again).await.unwrap();
        assert_eq!(store.parked_providers().await.unwrap().len(), 2);
    })
    .await;
}

#[tokio::test]
async fn what_could_not_be_read_again_is_refused() {
    story(|store, holder| async move {
        let lease = begin(&store, 1, &holder).await;
        let mut deep = json!(1);
        for _ in 0..200 {
            deep = json!([deep]);
        }
        let result = store.append(&lease, vec![step_finished("s", deep)]).await;
        assert!(matches!(result, Err(StoreError::Refused { .. })));
    })
    .await;
}

#[tokio::test]
async fn a_closed_store_says_so_and_keeps_everything() {
    let bench = Bench::new();
    let store = bench.store().await;
    let holder = bench.holder();
    let lease = begin(&store, 1, &holder).await;
    store.close().await;
    let late = store.append(&lease, vec![noted("late")]).await;
    assert!(matches!(late, Err(StoreError::Unusable { .. })));
    let late = store.runs(&case(1)).await;
    assert!(matches!(late, Err(StoreError::Unusable { .. })));
    store.close().await;

    let store = bench.store().await;
    assert_eq!(store.find_case("c-").await.unwrap().last_seq, 1);
    store.append(&lease, vec![noted("on time")]).await.unwrap();
}
