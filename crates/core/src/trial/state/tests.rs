//! Trials told by their events.

use std::collections::BTreeMap;

use super::*;
use crate::ids::AgentName;
use crate::money::Cost;
use crate::trial::{DesignedBy, Judge, Mode};
use crate::verdict::{Ballot, Method, Points, Sitting, decide};

fn agent() -> AgentName {
    AgentName::new("ann").expect("a name")
}

fn contestant(id: &str) -> Contestant {
    Contestant {
        id: id.to_owned(),
        name: id.to_owned(),
        persona: String::new(),
        focus: String::new(),
        agent: agent(),
        family: "f".to_owned(),
        temperature_milli: None,
    }
}

fn judge(id: &str) -> Judge {
    Judge {
        id: id.to_owned(),
        name: id.to_owned(),
        focus: "all".to_owned(),
        criteria: vec!["good".to_owned()],
        reasoning: "C1".to_owned(),
        agent: agent(),
        family: "f".to_owned(),
        related: false,
    }
}

/// Reads `answer a`, `lose a`, `judges x y`, `score x`, `miss x`, `verdict`, `fail`, `decree`,
/// `hindsight`.
fn event(trial: &Trial, text: &str) -> TrialEvent {
    let mut words = text.split_whitespace();
    let what = words.next().expect("a word");
    let names: Vec<&str> = words.collect();
    let first = names.first().map_or(String::new(), ToString::to_string);
    match what {
        "open" => TrialEvent::TrialOpened {
            challenge: "?".to_owned(),
            mode: Mode::Text,
            method: Method::Mean,
            from: None,
        },
        "contestants" => TrialEvent::ContestantsDesigned {
            contestants: names.iter().map(|id| contestant(id)).collect(),
            by: DesignedBy::User,
            cost: None,
        },
        "answer" => TrialEvent::ContestantFinished {
            output: format!("out-{first}"),
            contestant: first,
            chars: 1,
            files: None,
            tests_passed: None,
            cost: Cost::Unknown,
        },
        "lose" => TrialEvent::ContestantFailed {
            contestant: first,
            why: "no answer".to_owned(),
            class: None,
            cost: Cost::Unknown,
        },
        "judges" => TrialEvent::PanelDesigned {
            panel: Panel {
                reasoning: "x".to_owned(),
                judges: names.iter().map(|id| judge(id)).collect(),
                by: DesignedBy::User,
            },
            cost: None,
        },
        "score" => TrialEvent::JudgeFinished {
            judge: first,
            scores: BTreeMap::new(),
            evaluation: "e".to_owned(),
            swapped: None,
            cost: Cost::Unknown,
        },
        "miss" => TrialEvent::JudgeFailed {
            judge: first,
            why: "garbled".to_owned(),
            class: None,
            cost: Cost::Unknown,
        },
        "verdict" => {
            let scores = BTreeMap::from([("a".to_owned(), Points::whole(5))]);
            let ballot = Ballot {
                judge: "x".to_owned(),
                family: None,
                scores,
                swapped: None,
            };
            let sitting = Sitting {
                contestants: ["a".to_owned()].into(),
                ballots: vec![ballot],
                ..Sitting::default()
            };
            TrialEvent::VerdictReached {
                summary: "a won".to_owned(),
                verdict: decide(&sitting, Method::Mean, None).expect("a verdict"),
            }
        }
        "fail" => TrialEvent::TrialFailed {
            phase: trial.phase(),
            cause: "gone".to_owned(),
        },
        "decree" => TrialEvent::DecreeIssued {
            decree: Decree::Close,
            note: None,
        },
        "hindsight" => TrialEvent::HindsightStated {
            contestant: None,
            note: None,
        },
        other => panic!("{other}"),
    }
}

/// Returns what must happen after these events.
fn after(events: &[&str]) -> String {
    let mut trial = Trial::default();
    for text in events {
        if *text == "resume" {
            trial.take_up();
            continue;
        }
        let event = event(&trial, text);
        if let Err(error) = trial.apply(&event) {
            return error.to_string();
        }
    }
    let ids = |all: &[Contestant]| {
        let ids: Vec<&str> = all.iter().map(|one| one.id.as_str()).collect();
        ids.join(" ")
    };
    match trial.next() {
        Next::DesignContestants => "design".to_owned(),
        Next::Contend(all) => format!("hear {}", ids(&all)),
        Next::Empanel(all) => format!("empanel for {}", ids(&all)),
        Next::Judge(all) => {
            let ids: Vec<&str> = all.iter().map(|one| one.id.as_str()).collect();
            format!("judge by {}", ids.join(" "))
        }
        Next::Decide => "decide".to_owned(),
        Next::Fail { cause } => format!("fail: {cause}"),
        Next::AwaitDecree => "await the decree".to_owned(),
        Next::Rest => match trial.state {
            State::Failed { phase, cause } => format!("failed while {phase}: {cause}"),
            State::In { phase } => format!("rest, {phase}"),
        },
    }
}

#[test]
fn a_trial_goes_from_phase_to_phase() {
    let story = [
        ("open", "design"),
        ("contestants a b", "hear a b"),
        ("answer b", "hear a"),
        ("answer a", "empanel for a b"),
        ("judges x y", "judge by x y"),
        ("score y", "judge by x"),
        ("score x", "decide"),
        ("verdict", "await the decree"),
        ("decree", "rest, complete"),
        ("hindsight", "rest, complete"),
        ("hindsight", "rest, complete"),
    ];
    let mut events = Vec::new();
    for (event, expected) in story {
        events.push(event);
        assert_eq!(after(&events), expected, "{event}");
    }
}

#[test]
fn whoever_fails_is_left_out_and_the_others_go_on() {
    let base = ["open", "contestants a b"];
    let with = |more: &[&str]| {
        let events: Vec<&str> = base.iter().chain(more).copied().collect();
        after(&events)
    };
    for (more, expected) in [
        (&["lose a", "answer b"][..], "empanel for b"),
        (
            &["lose a", "lose b"],
            "fail: all contestants failed: no answer",
        ),
        (
            &["lose a", "lose b", "fail"],
            "failed while contending: gone",
        ),
        (&["lose a", "lose b", "fail", "resume"], "hear a b"),
        (
            &["lose a", "lose b", "fail", "resume", "answer b", "lose a"],
            "empanel for b",
        ),
        (
            &["answer a", "answer b", "judges x y", "miss x", "score y"],
            "decide",
        ),
        (
            &["answer a", "answer b", "judges x y", "miss x", "miss y"],
            "fail: all judges failed: garbled",
        ),
        (
            &[
                "answer a",
                "answer b",
                "judges x y",
                "miss x",
                "miss y",
                "fail",
                "resume",
            ],
            "judge by x y",
        ),
        (
            &[
                "answer a",
                "answer b",
                "judges x y",
                "score x",
                "miss y",
                "fail",
                "resume",
            ],
            "judge by y",
        ),
        (&["fail", "resume"], "hear a b"),
    ] {
        assert_eq!(with(more), expected, "{more:?}");
    }
}

#[test]
fn what_does_not_follow_is_refused() {
    for (events, expected) in [
        (
            &["answer a"][..],
            "`contestant_finished` does not follow in a trial that is designing",
        ),
        (
            &["contestants a", "judges x"],
            "`panel_designed` does not follow in a trial that is contending",
        ),
        (
            &["contestants a", "answer a", "judges x", "verdict"],
            "`verdict_reached` does not follow in a trial that is judging",
        ),
        (
            &[
                "contestants a",
                "answer a",
                "judges x",
                "score x",
                "verdict",
                "hindsight",
            ],
            "`hindsight_stated` does not follow in a trial that is decree",
        ),
        (
            &["contestants a", "decree"],
            "`decree_issued` does not follow in a trial that is contending",
        ),
        (
            &[
                "contestants a",
                "answer a",
                "judges x",
                "score x",
                "verdict",
                "decree",
                "decree",
            ],
            "`decree_issued` does not follow in a trial that is complete",
        ),
    ] {
        assert_eq!(after(events), expected);
    }
}
