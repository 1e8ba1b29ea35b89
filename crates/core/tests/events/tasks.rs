//! The JSON form of the events of tasks and sections.

use serde_json::{Value, json};
use tribunal_core::event::TaskEvent;
use tribunal_core::ids::{AgentName, CaseId};
use tribunal_core::task::transition::Move;
use tribunal_core::task::{Actor, Brief, ListLine, Priority, TaskState};

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
            after: Vec::new(),
            written: false,
        }),
        more_lists: vec![ListLine {
            file: "NEW.md".into(),
            shown: TaskState::Completed,
            after: Vec::new(),
            written: true,
        }],
    }
}

fn brief_json() -> Value {
    json!({
        "title": "Fix login bug", "details": "Sessions end too early", "section": "Auth",
        "source": "docs/SPEC.md#login", "priority": "high", "position": 3,
        "depends_on": ["c-0000000002"], "domain": "backend",
        "list": {"file": "TASKS.md", "shown": "pending"},
        "more_lists": [{"file": "NEW.md", "shown": "completed", "written": true}]
    })
}

/// One of each kind, with the JSON that it must have.
pub(super) fn examples() -> Vec<(TaskEvent, Value)> {
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
