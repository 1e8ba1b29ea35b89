//! The JSON form of the events of disputes.

use serde_json::{Value, json};
use tribunal_core::dispute::{
    Answer, Chooser, Decision, Gravity, Grounds, Hearing, JudgeNamed, Opening, Origin, Party,
    Position, Recourse, Referral, Ruler, Subject, Terms,
};
use tribunal_core::event::DisputeEvent;
use tribunal_core::ids::DisputeId;

/// One of each kind, with the JSON that it must have.
pub(super) fn examples() -> Vec<(DisputeEvent, Value)> {
    let judge = JudgeNamed {
        agent: "judy".into(),
        model: Some("m-1".into()),
        family: "m".into(),
        kin: true,
    };
    let judge_json = json!({"agent": "judy", "model": "m-1", "family": "m", "kin": true});
    vec![
        opened(),
        (
            DisputeEvent::PositionStated {
                party: Party::Reviewer,
                position: position("x"),
                files: Vec::new(),
                material: None,
            },
            json!({"type": "position_stated", "party": "reviewer",
                "position": {"author": "ann", "text": "x"}}),
        ),
        (
            DisputeEvent::RecourseChosen {
                recourse: Recourse::Judge,
                by: Chooser::Config,
            },
            json!({"type": "recourse_chosen", "recourse": "judge", "by": "config"}),
        ),
        (
            DisputeEvent::JudgeHeard {
                hearing: Box::new(Hearing {
                    judge: judge.clone(),
                    answer: Some(Answer::Enforce),
                    reason: "a.rs:3".into(),
                    reversal: "a test".into(),
                }),
            },
            json!({"type": "judge_heard", "hearing": {"judge": judge_json, "answer": "enforce",
                "reason": "a.rs:3", "reversal": "a test"}}),
        ),
        (
            DisputeEvent::DisputeEscalated {
                question: "unclear".into(),
            },
            json!({"type": "dispute_escalated", "question": "unclear"}),
        ),
        (
            DisputeEvent::DisputeRuled {
                decision: Decision::Amend {
                    instructions: "use both".into(),
                },
                reason: "why".into(),
                reversal: String::new(),
                ruler: Ruler::Judge { judge },
                terms: Terms::default(),
                overrules: false,
            },
            json!({"type": "dispute_ruled", "decision": "amend", "instructions": "use both",
                "reason": "why", "reversal": "", "by": "judge", "judge": judge_json,
                "overrules": false}),
        ),
        (
            DisputeEvent::DisputeReferred {
                referral: Box::new(Referral {
                    task: "c-1".into(),
                    title: "Fix login".into(),
                    next: vec![DisputeId::new("d-0000000002").expect("a dispute id")],
                    rest: "mend a.rs:3".into(),
                }),
            },
            json!({"type": "dispute_referred", "referral": {"task": "c-1", "title": "Fix login",
                "next": ["d-0000000002"], "rest": "mend a.rs:3"}}),
        ),
        (
            DisputeEvent::AlertAttempted {
                delivery: "d-1 1".into(),
                attempt: 1,
                days_open: 8,
                delivered: false,
                answer: "503".into(),
            },
            json!({"type": "alert_attempted", "delivery": "d-1 1", "attempt": 1, "days_open": 8,
                "delivered": false, "answer": "503"}),
        ),
        (
            DisputeEvent::PrecedentDropped { why: "old".into() },
            json!({"type": "precedent_dropped", "why": "old"}),
        ),
    ]
}

fn opened() -> (DisputeEvent, Value) {
    let event = DisputeEvent::DisputeOpened {
        dispute: DisputeId::new("d-0000000001").expect("a dispute id"),
        opening: Box::new(Opening {
            key: "k".into(),
            subject: Subject::Task {
                task: "t-1".into(),
                title: "Fix login".into(),
            },
            origin: Origin::Rejection,
            gravity: Gravity::Major,
            grounds: Grounds::SecurityConcern,
            objection: None,
            coder: None,
            reviewer: Some(position("y")),
            rule: String::new(),
            evidence: Vec::new(),
            files: vec!["a.rs".into()],
            material: None,
            notes: String::new(),
            created_by: None,
        }),
    };
    let json = json!({"type": "dispute_opened", "dispute": "d-0000000001", "opening": {
        "key": "k", "subject": {"about": "task", "task": "t-1", "title": "Fix login"},
        "origin": "rejection", "gravity": "major", "grounds": "security_concern",
        "reviewer": {"author": "ann", "text": "y"}, "files": ["a.rs"]}});
    (event, json)
}

fn position(text: &str) -> Position {
    Position {
        author: "ann".into(),
        model: None,
        family: None,
        text: text.into(),
    }
}
