//! The JSON form of the events of an arbitration.

use serde_json::{Value, json};
use tribunal_core::dispute::{Decision, Origin};
use tribunal_core::event::ArbitrationEvent;
use tribunal_core::review::arbitration::{End, Offer};

/// One of each kind, with the JSON that it must have.
pub(super) fn examples() -> Vec<(ArbitrationEvent, Value)> {
    vec![
        (
            ArbitrationEvent::CoderAssigned {
                coder: "cody".to_owned(),
                round: 1,
                findings: 3,
                binding: 2,
            },
            json!({"type": "coder_assigned", "coder": "cody", "round": 1, "findings": 3,
                   "binding": 2}),
        ),
        (
            ArbitrationEvent::CoderAnswered {
                coder: "cody".to_owned(),
                round: 1,
                implemented: 1,
                discarded: 1,
                objected: 1,
                unanswered: 0,
                files: 2,
                commit: "abc".to_owned(),
                problems: vec!["odd".to_owned()],
            },
            json!({"type": "coder_answered", "coder": "cody", "round": 1, "implemented": 1,
                   "discarded": 1, "objected": 1, "unanswered": 0, "files": 2, "commit": "abc",
                   "problems": ["odd"]}),
        ),
        (
            ArbitrationEvent::FindingContested {
                finding: "f-1".to_owned(),
                title: "leak".to_owned(),
                dispute: "d-1".to_owned(),
                origin: Origin::Objection,
            },
            json!({"type": "finding_contested", "finding": "f-1", "title": "leak",
                   "dispute": "d-1", "origin": "objection"}),
        ),
        (
            ArbitrationEvent::ContestSettled {
                finding: "f-1".to_owned(),
                dispute: "d-1".to_owned(),
                decision: Some(Decision::Amend {
                    instructions: "rename".to_owned(),
                }),
                reason: "both are partly right".to_owned(),
            },
            json!({"type": "contest_settled", "finding": "f-1", "dispute": "d-1",
                   "decision": {"decision": "amend", "instructions": "rename"},
                   "reason": "both are partly right"}),
        ),
        (
            ArbitrationEvent::FixChecked {
                finding: "f-1".to_owned(),
                by: "ann".to_owned(),
                fixed: Some(false),
                reason: "a.rs:3".to_owned(),
            },
            json!({"type": "fix_checked", "finding": "f-1", "by": "ann", "fixed": false,
                   "reason": "a.rs:3"}),
        ),
        (
            ArbitrationEvent::WorkReviewed {
                round: 2,
                binding: 1,
                logged: 2,
                reopened: 0,
            },
            json!({"type": "work_reviewed", "round": 2, "binding": 1, "logged": 2,
                   "reopened": 0}),
        ),
        (
            ArbitrationEvent::WorkOffered {
                offer: Offer::Branch {
                    branch: "tribunal/c-1".to_owned(),
                    commit: "abc".to_owned(),
                    why: String::new(),
                },
            },
            json!({"type": "work_offered", "offered": "branch", "branch": "tribunal/c-1",
                   "commit": "abc"}),
        ),
        (
            ArbitrationEvent::ArbitrationEnded {
                end: End::RoundsUsedUp { rounds: 3 },
                held: 3,
            },
            json!({"type": "arbitration_ended", "reason": "rounds_used_up", "rounds": 3,
                   "held": 3}),
        ),
    ]
}
