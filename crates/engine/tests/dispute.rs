//! Disputes about tasks that somebody works on.

#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

use std::collections::BTreeMap;
use std::path::Path;

use tribunal_core::dispute::{Gravity, Grounds, Origin, Position, Subject};
use tribunal_core::task::{Actor, Brief, TaskState};
use tribunal_engine::case::CaseError;
use tribunal_engine::config::Settings;
use tribunal_engine::dispute::NewDispute;
use tribunal_engine::files::LedgerDir;
use tribunal_engine::task::NewTask;
use tribunal_engine::{Engine, Surroundings};
use tribunal_store::{Holder, StoreError};

/// Several runners may come upon the same dispute. One that could not mark the task, because another
/// had taken it meanwhile, lives on and must not keep the rest of the dispute to itself.
#[tokio::test]
async fn what_a_held_task_kept_from_being_done_is_left_to_whoever_comes_next() {
    let temp = tempfile::tempdir().unwrap();
    let engine = runner(temp.path()).await;
    let brief = Brief {
        title: "contested".to_owned(),
        ..Brief::default()
    };
    let new = NewTask {
        brief,
        state: TaskState::Pending,
        actor: Actor::Human { name: None },
    };
    let task = engine.add_task(new).await.unwrap().id;

    let store = engine.ledger().store();
    let other = Holder::named("elsewhere", 1, "another runner");
    let lease = store.claim_case(&task, &other).await.unwrap();
    let dispute = NewDispute {
        key: "the task".to_owned(),
        subject: Subject::Task {
            task: task.to_string(),
            title: "contested".to_owned(),
        },
        origin: Origin::Objection,
        gravity: Gravity::Major,
        grounds: Grounds::SecurityConcern,
        objection: None,
        coder: Some(Position {
            author: "coder".to_owned(),
            model: None,
            family: None,
            text: "It is safe.".to_owned(),
        }),
        reviewer: None,
        rule: String::new(),
        evidence: Vec::new(),
        files: Vec::new(),
        material: None,
        notes: String::new(),
        created_by: None,
    };
    let refused = engine.open_dispute(dispute).await.unwrap_err();
    assert!(
        matches!(refused, CaseError::Store(StoreError::Busy { .. })),
        "{refused}"
    );

    let next = runner(temp.path()).await;
    let as_long_as_it_is_held = next.settle_disputes().await.unwrap();
    assert_eq!(as_long_as_it_is_held, 0);
    store.release(&lease).await.unwrap();
    assert_eq!(next.settle_disputes().await.unwrap(), 1);
    let record = next.task(task.as_str()).await.unwrap();
    assert_eq!(record.task.state, TaskState::Disputed);
    assert_eq!(next.settle_disputes().await.unwrap(), 0);
}

/// Returns somebody who works with the ledger in `directory`, on behalf of nobody else.
async fn runner(directory: &Path) -> Engine {
    let dir = LedgerDir::create(directory.join("ledger")).unwrap();
    let surroundings = Surroundings {
        env: BTreeMap::new(),
        executable: "tribunal".into(),
        project: None,
        access: tribunal_store::LedgerAccess::Writing,
    };
    let settings = Settings::default();
    let opening = Engine::open(&settings, dir, surroundings);
    opening.await.unwrap()
}
