//! The JSON form of the events of tasks and sections, which is part of the product.

use serde_json::{Value, json};
use tribunal_core::event::{Event, EventKind, TaskEvent};
use tribunal_core::ids::{AgentName, CaseId};
use tribunal_core::task::transition::Move;
use tribunal_core::task::{Actor, Brief, ListLine, Priority, TaskState};
use tribunal_core::time::Timestamp;

fn brief() -> Brief {
    Brief {
        title: "Fix login bug".into(),
        details: "Sessions end too early".into(),
        section: Some("Auth".into()),
        source: Some("docs/SPEC.md#login".into()),
        priority: Priority::High,
        position: 3,
        depends_on: vec![CaseId::from_bits(2)],
        domain: Some("backend".into()),
        list: Some(ListLine {
            file: "TASKS.md".into(),
            shown: TaskState::Pending,
        }),
    }
}

fn brief_json() -> Value {
    json!({
        "title": "Fix login bug", "details": "Sessions end too early", "section": "Auth",
        "source": "docs/SPEC.md#login", "priority": "high", "position": 3,
        "depends_on": ["c-0000000002"], "domain": "backend",
        "list": {"file": "TASKS.md", "shown": "pending"}
    })
}

/// One of each kind, with the JSON that it must have.
fn examples() -> Vec<(TaskEvent, Value)> {
    let human = || Actor::Human { name: None };
    vec![
        (
            TaskEvent::TaskAdded {
                task: brief(),
                state: TaskState::Pending,
                actor: human(),
            },
            json!({"type": "task_added", "task": brief_json(), "state": "pending", "by": "human"}),
        ),
        (
            TaskEvent::TaskEdited {
                task: Brief {
                    title: "Fix it".into(),
                    ..Brief::default()
                },
                actor: Actor::Human {
                    name: Some("ann".into()),
                },
            },
            json!({"type": "task_edited", "by": "human", "name": "ann",
                "task": {"title": "Fix it", "priority": "normal", "position": 0}}),
        ),
        (
            TaskEvent::TaskMoved {
                done: Move::Reject,
                from: TaskState::InReview,
                to: TaskState::InProgress,
                actor: Actor::Agent {
                    agent: AgentName::new("bob").expect("a name"),
                },
                note: Some("no test".into()),
                rejections: 2,
            },
            json!({"type": "task_moved", "done": "reject", "from": "in_review",
                "to": "in_progress", "by": "agent", "agent": "bob", "note": "no test",
                "rejections": 2}),
        ),
        (
            TaskEvent::WorkKept {
                commit: "c0ffee".into(),
                branch: "tribunal/task/1".into(),
                files: vec!["src/lib.rs".into()],
            },
            json!({"type": "work_kept", "commit": "c0ffee", "branch": "tribunal/task/1",
                "files": ["src/lib.rs"]}),
        ),
        (
            TaskEvent::SectionAdded {
                name: "Auth".into(),
                position: 1,
            },
            json!({"type": "section_added", "name": "Auth", "position": 1}),
        ),
        (
            TaskEvent::SectionChanged {
                name: "Login".into(),
                position: 2,
            },
            json!({"type": "section_changed", "name": "Login", "position": 2}),
        ),
        (
            TaskEvent::SectionRemoved {
                name: "Login".into(),
            },
            json!({"type": "section_removed", "name": "Login"}),
        ),
    ]
}

#[test]
fn events_of_tasks_have_their_json_form() {
    for (kind, expected) in examples() {
        let event = Event {
            case: CaseId::from_bits(1),
            seq: 3,
            at: Timestamp(4),
            kind: kind.into(),
        };
        let mut whole = json!({"case": "c-0000000001", "seq": 3, "at": 4});
        whole
            .as_object_mut()
            .expect("an object")
            .extend(expected.as_object().expect("an object").clone());
        let json = serde_json::to_value(&event).expect("an event serializes");
        assert_eq!(json, whole);
        let back: Event = serde_json::from_value(json).expect("an event is read back");
        assert_eq!(back, event);
    }
}

#[test]
fn every_kind_of_event_has_an_example() {
    // Naming all variants here makes the compiler ask for the example of a new one.
    let name = |kind: &TaskEvent| match kind {
        TaskEvent::TaskAdded { .. } => 0,
        TaskEvent::TaskEdited { .. } => 1,
        TaskEvent::TaskMoved { .. } => 2,
        TaskEvent::WorkKept { .. } => 3,
        TaskEvent::SectionAdded { .. } => 4,
        TaskEvent::SectionChanged { .. } => 5,
        TaskEvent::SectionRemoved { .. } => 6,
    };
    let shown: std::collections::BTreeSet<_> =
        examples().iter().map(|(kind, _)| name(kind)).collect();
    assert_eq!(
        shown.into_iter().collect::<Vec<_>>(),
        (0..7).collect::<Vec<_>>()
    );
}

#[test]
fn what_is_no_event_is_named() {
    for (body, why) in [
        (r#"{"type": "task_eaten"}"#, "unknown variant `task_eaten`"),
        (
            r#"{"type": "section_added", "name": "A"}"#,
            "missing field `position`",
        ),
        ("{}", "missing field `type`"),
    ] {
        let told = serde_json::from_str::<EventKind>(body).expect_err("no event");
        let told = told.to_string();
        assert!(told.starts_with(why), "{body}: {told}");
    }
}

#[test]
fn every_word_of_the_family_is_known_to_it() {
    let words: std::collections::BTreeSet<String> = examples()
        .iter()
        .filter_map(|(_, json)| Some(json.get("type")?.as_str()?.to_owned()))
        .collect();
    let known = TaskEvent::TYPES.map(str::to_owned);
    assert_eq!(words, known.into_iter().collect());
}
