//! Whatever is written, in whatever order: the derived tables follow from the events alone.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::sync::Arc;

use common::*;
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::json;
use tribunal_core::event::{EventKind, RunResult};
use tribunal_store::{Holder, Lease, Location, Store, StoreError, open};

/// Few cases, steps, runs and effects, so that events meet.
const CASES: u64 = 3;

#[derive(Debug, Clone)]
enum Move {
    Append(u64, Vec<EventKind>),
    Release(u64),
    Claim(u64, usize),
    Free(String),
}

fn any_move() -> impl Strategy<Value = Move> {
    prop_oneof![
        12 => (0..CASES, vec(any_event(), 1..4)).prop_map(|(case, events)| Move::Append(case, events)),
        1 => (0..CASES).prop_map(Move::Release),
        2 => (0..CASES, 0..2_usize).prop_map(|(case, holder)| Move::Claim(case, holder)),
        1 => provider().prop_map(Move::Free),
    ]
}

fn any_event() -> impl Strategy<Value = EventKind> {
    let step = || prop_oneof![Just("s"), Just("t")];
    let result = prop_oneof![Just(answered()), Just(RunResult::Abandoned)];
    prop_oneof![
        1 => Just(opened("again")),
        1 => Just(resumed(1)),
        1 => Just(parked(Some(1))),
        1 => Just(closed()),
        2 => step().prop_map(step_started),
        1 => step().prop_map(|key| step_finished(key, json!({ "by": key }))),
        4 => (0..6_u64, step()).prop_map(|(id, key)| run_started(id, key)),
        2 => (0..6_u64, any::<u64>()).prop_map(|(id, tokens)| run_progressed(id, usage(tokens, 1))),
        4 => (0..6_u64, result, any::<u64>(), any::<Option<u64>>())
            .prop_map(|(id, result, tokens, cost)| run_finished(id, result, usage(1, tokens), cost)),
        2 => step().prop_map(intended),
        2 => step().prop_map(done),
        2 => provider().prop_map(|name| provider_parked(&name, None, None)),
        1 => provider().prop_map(|name| provider_freed(&name, None)),
        1 => ".{0,20}".prop_map(|text| noted(&text)),
    ]
}

fn provider() -> impl Strategy<Value = String> {
    prop_oneof![Just("acme".to_owned()), Just("umbra".to_owned())]
}

/// Plays the moves; refusals are part of the game, failures are not.
async fn play(store: &Arc<dyn Store>, holders: &[Holder], moves: Vec<Move>) {
    let mut leases: Vec<Lease> = Vec::new();
    for bits in 0..CASES {
        let events = vec![opened("one")];
        let (lease, _) = store
            .open_case(&case(bits), &holders[0], events)
            .await
            .unwrap();
        leases.push(lease);
    }
    for step in moves {
        let result = match step {
            Move::Append(case, events) => {
                let lease = &leases[usize::try_from(case).unwrap()];
                store.append(lease, events).await.map(drop)
            }
            Move::Release(case) => store.release(&leases[usize::try_from(case).unwrap()]).await,
            Move::Claim(bits, holder) => {
                let claimed = store.claim_case(&case(bits), &holders[holder]).await;
                claimed.map(|lease| leases[usize::try_from(bits).unwrap()] = lease)
            }
            Move::Free(provider) => store.free_provider(&provider, None).await.map(drop),
        };
        match result {
            Ok(())
            | Err(
                StoreError::Repeated { .. }
                | StoreError::Refused { .. }
                | StoreError::LeaseLost { .. }
                | StoreError::Busy { .. },
            ) => {}
            Err(error) => panic!("{error:?}"),
        }
    }
}

/// Returns all that can be asked of the derived tables.
async fn answers(store: &Arc<dyn Store>) -> String {
    let mut text = format!(
        "{:?}\n{:?}\n",
        store.recent_cases(99).await.unwrap(),
        store.parked_providers().await.unwrap()
    );
    for bits in 0..CASES {
        let id = case(bits);
        text += &format!("{:?}\n", store.runs(&id).await.unwrap());
        for key in ["s", "t"] {
            text += &format!("{:?}\n", store.step(&id, &step(key)).await.unwrap());
            text += &format!("{:?}\n", store.effect(&id, &effect(key)).await.unwrap());
        }
    }
    text
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, rng_seed: proptest::test_runner::RngSeed::Fixed(3), ..ProptestConfig::default() })]

    #[test]
    fn rebuilding_changes_nothing(moves in vec(any_move(), 1..40)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let directory = tempfile::tempdir().unwrap();
            let location = Location::File(directory.path().join("ledger.db"));
            let store = open(&location).await.unwrap();
            let holder = || Holder::for_this_process(directory.path()).unwrap();
            play(&store, &[holder(), holder()], moves).await;
            assert_eq!(store.check().await.unwrap(), []);
            let before = answers(&store).await;
            store.rebuild().await.unwrap();
            assert_eq!(answers(&store).await, before);
            assert_eq!(store.check().await.unwrap(), []);
            store.close().await;
        });
    }
}
