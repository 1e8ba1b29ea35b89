//! The JSON form of the events of the loop.

use serde_json::{Value, json};
use tribunal_core::agent::ErrorClass;
use tribunal_core::arbiter::{Decision, Execution, ExecutionResult, QuestionKind, Source};
use tribunal_core::event::WorkEvent;
use tribunal_core::ids::{CaseId, RunId};
use tribunal_core::money::{MicroUsd, Spend};
use tribunal_core::review::gate::Gate;
use tribunal_core::task::TaskState;
use tribunal_core::task::next::Turn;
use tribunal_core::task::plan::{Plan, PlanStep};

fn spend(known: u64) -> Spend {
    Spend {
        known: MicroUsd(known),
        runs: 1,
        ..Spend::default()
    }
}

fn plan() -> Plan {
    Plan {
        version: 1,
        steps: vec![PlanStep {
            id: "1".into(),
            title: "write it".into(),
            depends_on: Vec::new(),
            acceptance: vec!["it runs".into()],
            done: false,
        }],
    }
}

fn plan_json() -> Value {
    json!({"version": 1, "steps": [{"id": "1", "title": "write it",
        "acceptance": ["it runs"], "done": false}]})
}

/// One of each kind, with the JSON that it must have.
pub(super) fn examples() -> Vec<(WorkEvent, Value)> {
    let decided = |decision, source| WorkEvent::ArbiterDecided {
        question: QuestionKind::SelectAgent,
        decision,
        source,
        key: "k".into(),
    };
    vec![
        (
            decided(
                Decision::SelectMode {
                    mode: "planner".into(),
                    reason: "r".into(),
                },
                Source::Rule {
                    rule: 2,
                    says: "there is no plan: planner".into(),
                },
            ),
            json!({"type": "arbiter_decided", "question": "select_agent",
                "decision": "SELECT_MODE", "mode": "planner", "reason": "r", "source": "rule",
                "rule": 2, "says": "there is no plan: planner", "key": "k"}),
        ),
        (
            decided(
                Decision::Complete {
                    summary: "s".into(),
                },
                Source::Cache,
            ),
            json!({"type": "arbiter_decided", "question": "select_agent",
                "decision": "COMPLETE", "summary": "s", "source": "cache", "key": "k"}),
        ),
        (
            decided(
                Decision::Retry { reason: "r".into() },
                Source::Fallback {
                    because: "no arbiter".into(),
                },
            ),
            json!({"type": "arbiter_decided", "question": "select_agent", "decision": "RETRY",
                "reason": "r", "source": "fallback", "because": "no arbiter", "key": "k"}),
        ),
        (
            WorkEvent::WorkBased { base: "c0".into() },
            json!({"type": "work_based", "base": "c0"}),
        ),
        (
            WorkEvent::PlanMade { plan: plan() },
            json!({"type": "plan_made", "plan": plan_json()}),
        ),
        (
            WorkEvent::PlanAdvanced { plan: plan() },
            json!({"type": "plan_advanced", "plan": plan_json()}),
        ),
        (
            WorkEvent::ExecutionDone {
                execution: Execution {
                    iteration: 3,
                    mode: "developer".into(),
                    result: ExecutionResult::Failed {
                        class: ErrorClass::Crash,
                    },
                    summary: "it died".into(),
                },
            },
            json!({"type": "execution_done", "execution": {"iteration": 3, "mode": "developer",
                "result": "failed", "class": "crash", "summary": "it died"}}),
        ),
        (
            WorkEvent::TaskReviewed {
                review: CaseId::from_bits(2),
                commit: "c1".into(),
                gate: Gate::Fail { open: 2 },
            },
            json!({"type": "task_reviewed", "review": "c-0000000002", "commit": "c1",
                "gate": "fail", "open": 2}),
        ),
        (
            WorkEvent::GuidanceGiven {
                rejections: 2,
                coder: "c".into(),
                reviewer: "r".into(),
                source: Source::Model { attempt: 1 },
            },
            json!({"type": "guidance_given", "rejections": 2, "coder": "c", "reviewer": "r",
                "source": "model", "attempt": 1}),
        ),
        (
            WorkEvent::TaskTaken {
                task: CaseId::from_bits(3),
                title: "t".into(),
                turn: Turn::Start,
                lane: 1,
                before: spend(100),
            },
            json!({"type": "task_taken", "task": "c-0000000003", "title": "t", "turn": "start",
                "lane": 1, "before": {"known": 100, "unknown_runs": 0, "runs": 1,
                "usage": {"input": 0, "cache_read": 0, "cache_write": 0, "output": 0}}}),
        ),
        (
            WorkEvent::TaskLeft {
                task: CaseId::from_bits(3),
                title: "t".into(),
                state: TaskState::InReview,
                why: Some("no answer".into()),
                after: spend(300),
            },
            json!({"type": "task_left", "task": "c-0000000003", "title": "t",
                "state": "in_review", "why": "no answer", "after": {"known": 300,
                "unknown_runs": 0, "runs": 1,
                "usage": {"input": 0, "cache_read": 0, "cache_write": 0, "output": 0}}}),
        ),
        (
            WorkEvent::CameLate {
                task: CaseId::from_bits(3),
                run: RunId::from_bits(4),
                reply_hash: "h".into(),
                commit: Some("c2".into()),
            },
            json!({"type": "came_late", "task": "c-0000000003", "run": "r-0000000000000004",
                "reply_hash": "h", "commit": "c2"}),
        ),
        (
            WorkEvent::CapSet {
                max_cost: MicroUsd(5),
            },
            json!({"type": "cap_set", "max_cost": 5}),
        ),
        (
            WorkEvent::LoopEnded {
                why: "nothing is left to do".into(),
                settled: 4,
            },
            json!({"type": "loop_ended", "why": "nothing is left to do", "settled": 4}),
        ),
    ]
}
