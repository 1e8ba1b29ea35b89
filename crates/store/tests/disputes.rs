//! The table of disputes tells the same as the events, and keeps what must be unique.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::sync::Arc;

use common::*;
use serde_json::json;
use tribunal_core::case::{CaseKind, Outcome, Pause};
use tribunal_core::dispute::{
    Answer, Chooser, Decision, Dispute, Gravity, Grounds, Hearing, JudgeNamed, Opening, Origin,
    Party, Position, Recourse, Ruler, Status, Subject, Terms,
};
use tribunal_core::event::{DisputeEvent, EventKind};
use tribunal_core::ids::{CaseId, DisputeId};
use tribunal_store::{DisputeFilter, Holder, Lease, Location, Store, StoreError, open};

async fn ledger() -> (tempfile::TempDir, Arc<dyn Store>, Holder) {
    let directory = tempfile::tempdir().unwrap();
    let location = Location::File(directory.path().join("ledger.db"));
    let holder = Holder::for_this_process(directory.path()).unwrap();
    let store = open(&location).await.unwrap();
    (directory, store, holder)
}

fn position(text: &str) -> Position {
    Position {
        author: "ann".to_owned(),
        model: None,
        family: None,
        text: text.to_owned(),
    }
}

fn opening(key: &str, task: &str) -> Opening {
    Opening {
        key: key.to_owned(),
        subject: Subject::Task {
            task: task.to_owned(),
            title: "Fix it".to_owned(),
        },
        origin: Origin::Objection,
        gravity: Gravity::Major,
        grounds: Grounds::Other,
        objection: None,
        coder: Some(position("x")),
        reviewer: None,
        rule: String::new(),
        evidence: Vec::new(),
        files: vec!["a.rs".to_owned()],
        material: None,
        notes: String::new(),
        created_by: None,
    }
}

fn opened_with(case: &CaseId, opening: Opening) -> Vec<EventKind> {
    let dispute = DisputeId::of_case(case);
    let opening = Box::new(opening);
    vec![
        EventKind::CaseOpened {
            kind: CaseKind::Dispute,
            title: "x".to_owned(),
            request: json!({}),
        },
        EventKind::Dispute(DisputeEvent::DisputeOpened { dispute, opening }),
    ]
}

async fn begin(store: &Arc<dyn Store>, holder: &Holder, bits: u64, opening: Opening) -> Lease {
    let events = opened_with(&case(bits), opening);
    let (lease, _) = store.open_case(&case(bits), holder, events).await.unwrap();
    lease
}

fn chosen(recourse: Recourse) -> DisputeEvent {
    DisputeEvent::RecourseChosen {
        recourse,
        by: Chooser::Human,
    }
}

fn heard(answer: Answer) -> DisputeEvent {
    DisputeEvent::JudgeHeard {
        hearing: Box::new(Hearing {
            judge: judge(),
            answer: Some(answer),
            reason: "why".to_owned(),
            reversal: "what".to_owned(),
        }),
    }
}

fn judge() -> JudgeNamed {
    JudgeNamed {
        agent: "jim".to_owned(),
        model: None,
        family: "j".to_owned(),
        kin: false,
    }
}

fn ruled(decision: Decision, ruler: Ruler, overrules: bool) -> DisputeEvent {
    DisputeEvent::DisputeRuled {
        decision,
        reason: "because".to_owned(),
        reversal: String::new(),
        ruler,
        terms: Terms::default(),
        overrules,
    }
}

fn alerted(attempt: u32, delivered: bool) -> DisputeEvent {
    DisputeEvent::AlertAttempted {
        delivery: "d".to_owned(),
        attempt,
        days_open: 8,
        delivered,
        answer: "HTTP 200".to_owned(),
    }
}

#[tokio::test]
async fn the_table_tells_the_same_as_the_events() {
    let answered = DisputeEvent::PositionStated {
        party: Party::Reviewer,
        position: position("y"),
        files: Vec::new(),
        material: None,
    };
    let escalated = DisputeEvent::DisputeEscalated {
        question: "unclear".to_owned(),
    };
    let dropped = DisputeEvent::PrecedentDropped {
        why: "old".to_owned(),
    };
    let by_judge = Ruler::Judge { judge: judge() };
    let (directory, store, holder) = ledger().await;
    for (number, story) in (1..).zip([
        vec![],
        vec![answered.clone()],
        vec![chosen(Recourse::Human), answered.clone()],
        vec![
            answered.clone(),
            chosen(Recourse::Judge),
            heard(Answer::Escalate),
            escalated,
        ],
        vec![
            answered,
            alerted(1, false),
            alerted(2, true),
            chosen(Recourse::Judge),
            heard(Answer::Enforce),
            ruled(Decision::Enforce, by_judge, false),
            ruled(Decision::Dismiss, Ruler::Human, true),
            dropped,
        ],
        vec![
            chosen(Recourse::Discard),
            ruled(Decision::Dismiss, Ruler::Discard, false),
        ],
    ]) {
        let key = format!("key {number}");
        let lease = begin(&store, &holder, number, opening(&key, &key)).await;
        for event in story {
            store.append(&lease, vec![event.into()]).await.unwrap();
        }
        let told = fold(&store, &case(number)).await;
        let id = DisputeId::of_case(&case(number));
        assert_eq!(store.find_dispute(id.as_str()).await.unwrap(), told);
        assert_eq!(store.dispute_by_key(&key).await.unwrap(), Some(told));
    }
    assert_eq!(store.check().await.unwrap(), []);
    store.rebuild().await.unwrap();
    assert_eq!(store.check().await.unwrap(), []);
    store.close().await;
    drop(directory);
}

async fn fold(store: &Arc<dyn Store>, case: &CaseId) -> Dispute {
    let mut now: Option<Dispute> = None;
    for event in store.events(case, 0, 1000).await.unwrap() {
        let EventKind::Dispute(happened) = &event.kind else {
            continue;
        };
        let next = match (now.take(), happened) {
            (None, DisputeEvent::DisputeOpened { dispute, opening }) => {
                Dispute::open(dispute.clone(), opening.as_ref().clone(), event.at)
            }
            (Some(before), happened) => before.apply(happened, event.at),
            (None, _) => panic!("the story has no beginning"),
        };
        now = Some(next.unwrap().0);
    }
    now.unwrap()
}

#[tokio::test]
async fn a_key_and_an_open_dispute_of_a_task_are_there_once() {
    let (directory, store, holder) = ledger().await;
    let lease = begin(&store, &holder, 1, opening("one", "t-1")).await;
    let again = opened_with(&case(2), opening("one", "t-2"));
    let again = store.open_case(&case(2), &holder, again).await;
    assert!(
        matches!(again, Err(StoreError::Repeated { .. })),
        "{again:?}"
    );
    let second = opened_with(&case(3), opening("two", "t-1"));
    let second = store.open_case(&case(3), &holder, second).await;
    assert!(
        matches!(second, Err(StoreError::OpenDispute { .. })),
        "{second:?}"
    );

    let ruling = ruled(Decision::Dismiss, Ruler::Human, false);
    store
        .append(&lease, vec![ruling.clone().into()])
        .await
        .unwrap();
    let twice = store.append(&lease, vec![ruling.into()]).await;
    assert!(
        matches!(twice, Err(StoreError::Repeated { .. })),
        "{twice:?}"
    );
    begin(&store, &holder, 4, opening("three", "t-1")).await;
    assert_eq!(store.check().await.unwrap(), []);
    store.close().await;
    drop(directory);
}

#[tokio::test]
async fn disputes_are_listed_newest_first_and_found_by_either_end_of_their_id() {
    let (directory, store, holder) = ledger().await;
    for bits in [0x11_1111_1111, 0x11_2222_2222, 0x33_3333_3333] {
        let key = format!("{bits:x}");
        let lease = begin(&store, &holder, bits, opening(&key, &key)).await;
        let parked = EventKind::CaseParked {
            why: Pause::Human {
                question: "x".to_owned(),
            },
            until: None,
        };
        let end = if bits == 0x33_3333_3333 {
            let ruling = ruled(Decision::Enforce, Ruler::Human, false);
            let outcome = Outcome::Completed;
            vec![ruling.into(), EventKind::CaseClosed { outcome }]
        } else {
            vec![parked]
        };
        store.append(&lease, end).await.unwrap();
    }
    let ids = |disputes: Vec<Dispute>| -> Vec<String> {
        disputes.iter().map(|one| one.id.to_string()).collect()
    };
    let all = ids(store.disputes(&DisputeFilter::default()).await.unwrap());
    assert_eq!(all.len(), 3);
    let open = DisputeFilter {
        status: Some(Status::Open),
        limit: Some(1),
        ..DisputeFilter::default()
    };
    assert_eq!(store.disputes(&open).await.unwrap().len(), 1);
    assert_eq!(store.count_disputes(Status::Resolved).await.unwrap(), 1);
    assert_eq!(store.unfinished_cases(CaseKind::Dispute).await.unwrap(), []);
    let find = async |text: &str| match store.find_dispute(text).await {
        Ok(found) => found.id.to_string(),
        Err(error) => error.to_string(),
    };
    for (text, expected) in [
        ("d-1111111111", "d-1111111111"),
        ("112", "d-1122222222"),
        ("222-...", "d-1122222222"),
        ("D-33", "d-3333333333"),
        ("11", "`11` fits 2 disputes"),
        ("", "no dispute has the id ``"),
        ("9", "no dispute has the id `9`"),
    ] {
        assert_eq!(find(text).await, expected, "{text}");
    }
    store.close().await;
    drop(directory);
}
