//! The JSON form of the events of a trial.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use tribunal_core::agent::ErrorClass;
use tribunal_core::event::TrialEvent;
use tribunal_core::ids::{AgentName, CaseId};
use tribunal_core::money::{Cost, MicroUsd};
use tribunal_core::trial::{Contestant, Decree, DesignedBy, Judge, Mode, Panel, Phase};
use tribunal_core::verdict::{Ballot, Method, Points, Sitting, decide};

fn agent() -> AgentName {
    AgentName::new("ann").expect("a name")
}

/// One of each kind, with the JSON that it must have.
pub(super) fn examples() -> Vec<(TrialEvent, Value)> {
    let case = CaseId::from_bits(0xab);
    let contestant = Contestant {
        id: "safety-first".into(),
        name: "Safety First".into(),
        persona: "You are careful.".into(),
        focus: "safety".into(),
        agent: agent(),
        family: "claude".into(),
        temperature_milli: Some(300),
    };
    let judge = Judge {
        id: "risk".into(),
        name: "Risk".into(),
        focus: "risk".into(),
        criteria: vec!["Is it safe?".into()],
        reasoning: "C1 queues".into(),
        agent: agent(),
        family: "claude".into(),
        related: true,
    };
    let scores = BTreeMap::from([("safety-first".to_owned(), Points::whole(80))]);
    let ballot = Ballot {
        judge: "risk".into(),
        family: Some("claude".into()),
        scores: scores.clone(),
        swapped: None,
    };
    let sitting = Sitting {
        contestants: ["safety-first".to_owned()].into(),
        ballots: vec![ballot],
        ..Sitting::default()
    };
    let verdict = decide(&sitting, Method::Mean, None).expect("a verdict");
    let cost = Cost::Known(MicroUsd(5));
    vec![
        (
            TrialEvent::TrialOpened {
                challenge: "How?".into(),
                mode: Mode::Code,
                method: Method::ZMean,
                from: Some(case.clone()),
            },
            json!({"type": "trial_opened", "challenge": "How?", "mode": "code", "method": "z-mean",
                "from": "c-00000000ab"}),
        ),
        (
            TrialEvent::ContestantsDesigned {
                contestants: vec![contestant],
                by: DesignedBy::Arbiter { agent: agent() },
                cost: Some(cost),
            },
            json!({"type": "contestants_designed", "by": "arbiter", "agent": "ann", "cost": {"known": 5},
                "contestants": [{"id": "safety-first", "name": "Safety First",
                    "persona": "You are careful.", "focus": "safety", "agent": "ann",
                    "family": "claude", "temperature_milli": 300}]}),
        ),
        (
            TrialEvent::ContestantStarted {
                contestant: "a".into(),
                agent: agent(),
            },
            json!({"type": "contestant_started", "contestant": "a", "agent": "ann"}),
        ),
        (
            TrialEvent::ContestantFinished {
                contestant: "a".into(),
                output: "h".into(),
                chars: 9,
                files: Some(2),
                tests_passed: Some(true),
                cost: Cost::Unknown,
            },
            json!({"type": "contestant_finished", "contestant": "a", "output": "h", "chars": 9,
                "files": 2, "tests_passed": true, "cost": "unknown"}),
        ),
        (
            TrialEvent::ContestantFailed {
                contestant: "a".into(),
                why: "it hung".into(),
                class: Some(ErrorClass::Hung),
                cost: Cost::Unknown,
            },
            json!({"type": "contestant_failed", "contestant": "a", "why": "it hung", "class": "hung",
                "cost": "unknown"}),
        ),
        (
            TrialEvent::ArbiterStarted {
                agent: Some(agent()),
                outputs: 3,
                message: "m".into(),
            },
            json!({"type": "arbiter_started", "agent": "ann", "outputs": 3, "message": "m"}),
        ),
        (
            TrialEvent::PanelDesigned {
                panel: Panel {
                    reasoning: "r".into(),
                    judges: vec![judge],
                    by: DesignedBy::Rules {
                        why: "there is no arbiter".into(),
                    },
                },
                cost: None,
            },
            json!({"type": "panel_designed", "cost": null, "panel": {"reasoning": "r", "by": "rules",
                "why": "there is no arbiter", "judges": [{"id": "risk", "name": "Risk",
                    "focus": "risk", "criteria": ["Is it safe?"], "reasoning": "C1 queues",
                    "agent": "ann", "family": "claude", "related": true}]}}),
        ),
        (
            TrialEvent::JudgingStarted {
                judges: BTreeMap::from([("risk".to_owned(), "Risk".to_owned())]),
                swap: true,
            },
            json!({"type": "judging_started", "judges": {"risk": "Risk"}, "swap": true}),
        ),
        (
            TrialEvent::JudgeStarted {
                judge: "risk".into(),
                agent: agent(),
            },
            json!({"type": "judge_started", "judge": "risk", "agent": "ann"}),
        ),
        (
            TrialEvent::JudgeFinished {
                judge: "risk".into(),
                scores,
                evaluation: "h".into(),
                swapped: None,
                cost,
            },
            json!({"type": "judge_finished", "judge": "risk", "scores": {"safety-first": 80},
                "evaluation": "h", "cost": {"known": 5}}),
        ),
        (
            TrialEvent::JudgeFailed {
                judge: "risk".into(),
                why: "it gave `a` 101".into(),
                class: None,
                cost,
            },
            json!({"type": "judge_failed", "judge": "risk", "why": "it gave `a` 101", "class": null,
                "cost": {"known": 5}}),
        ),
        (
            TrialEvent::VerdictReached {
                summary: "s".into(),
                verdict,
            },
            json!({"type": "verdict_reached", "summary": "s", "verdict": {
                "winner": "safety-first", "method": "mean", "weighted": false, "confidence": null,
                "ranking": [{"contestant": "safety-first", "rank": 1, "score": 80, "average": 80,
                    "error": null, "interval": null, "lowest": 80, "highest": 80}],
                "margin": null, "agreement": null,
                "judges": [{"judge": "risk", "family": "claude", "weight": 100, "lean": 0,
                    "prefers": ["safety-first"], "flips": []}],
                "excluded": [], "doubts": [{"doubt": "unopposed"}, {"doubt": "one_judge"}]}}),
        ),
        (
            TrialEvent::TrialFailed {
                phase: Phase::Judging,
                cause: "all judges failed".into(),
            },
            json!({"type": "trial_failed", "phase": "judging", "cause": "all judges failed"}),
        ),
        (
            TrialEvent::DecreeIssued {
                decree: Decree::Iterate { trial: case },
                note: Some("again".into()),
            },
            json!({"type": "decree_issued", "decree": "iterate", "trial": "c-00000000ab",
                "note": "again"}),
        ),
        (
            TrialEvent::HindsightStated {
                contestant: Some("ann".into()),
                note: None,
            },
            json!({"type": "hindsight_stated", "contestant": "ann"}),
        ),
    ]
}
