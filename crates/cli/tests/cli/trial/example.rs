//! Mid-epoch liquidations, three contestants: from the challenge to the decree.

use serde_json::Value;

use crate::common::TestEnv;
use crate::common::cast::{CHALLENGE, liquidations, liquidations_judges, panel, scoring};

/// Returns what was asked in a step.
fn prompt_of(case: &Value, step: &str) -> String {
    let runs = case["runs"].as_array().unwrap();
    let found = runs.iter().find(|run| run["step"] == step);
    found.unwrap_or_else(|| panic!("no run of {step}"))["prompt"]
        .as_str()
        .unwrap()
        .to_owned()
}

#[test]
fn the_example_ends_in_a_verdict_with_its_doubt() {
    let cast = liquidations(TestEnv::new());
    let ran = cast
        .trial(&[CHALLENGE, "--contestants", "3"])
        .assert_code(0);
    insta::assert_snapshot!(cast.env.tidy(&ran.stdout), @"
    Trial [CASE]: How should we handle mid-epoch liquidations?

    Contestants (designed by art)
      C1 Safety First, ann: 50 characters
      C2 Gas Optimizer, ann: 40 characters
      C3 Protocol Purist, ann: 49 characters

    Judges (designed by art)
      They differ in when they act.
      Pragmatist Judge, jim: Safety First 82, Gas Optimizer 74, Protocol Purist 61
        because: C1 and C2 both collect before they act: which is more practical?
      Safety Judge, jim: Safety First 88, Gas Optimizer 60, Protocol Purist 79
        because: C1, C2 and C3 all put something at risk.
      Innovation Judge, jim: Safety First 64, Gas Optimizer 90, Protocol Purist 70
        because: Gas Optimizer took a way of its own.

    Verdict
      Safety First won with an average score of 78.0/100.

        1. Safety First      78.0
        2. Gas Optimizer     74.7
        3. Protocol Purist   70.0

      Margin: 3.3 points over Gas Optimizer, too few judges for an interval
      Confidence: 58 %
      Agreement: Krippendorff's α -0.21 over 9 scores
      Judges:
        Innovation Judge: prefers Gas Optimizer; scores 1 point higher than others on average
        Pragmatist Judge: prefers Safety First; scores 3 points lower than others on average
        Safety Judge: prefers Safety First; scores 2 points higher than others on average
      Doubts:
        - all 3 judges are of one family: they count as one voice
        - the judges hardly agree (α -0.21)

    Safety First answered:
      | Queue them: liquidations wait for the epoch's end.

    Reasons:
      - Pragmatist Judge: As the Pragmatist Judge sees it.
      - Safety Judge: As the Safety Judge sees it.
      - Innovation Judge: As the Innovation Judge sees it.

    Dissent: Innovation Judge prefers Gas Optimizer. As the Innovation Judge sees it.

    8 runs, 0 tokens, cost: $0.00
    ");
}

#[test]
fn the_arbiter_receives_all_answers_and_its_reasons_refer_to_them() {
    let cast = liquidations(TestEnv::new());
    cast.trial(&[CHALLENGE]).assert_code(0);
    let case = cast.newest();
    let asked = prompt_of(&case, "design judges");
    for text in [
        CHALLENGE,
        "Queue them",
        "Batch them",
        "Invariants first",
        "C1",
        "C2",
        "C3",
    ] {
        assert!(asked.contains(text), "{text} is missing in {asked}");
    }
    let report = cast
        .env
        .run(["trial", "show", &cast.newest_id(), "--json"])
        .json();
    let judges = report["panel"]["judges"].as_array().unwrap();
    assert_eq!(judges.len(), 3);
    assert_eq!(report["panel"]["by"], "arbiter");
    assert!(
        judges[2]["reasoning"]
            .as_str()
            .unwrap()
            .contains("Gas Optimizer")
    );
}

#[test]
fn a_panel_of_six_or_one_that_names_no_answer_is_not_accepted() {
    let six: Vec<(String, String)> = (1..=6)
        .map(|n| (format!("Judge {n}"), "C1".to_owned()))
        .collect();
    let six: Vec<(&str, &str)> = six.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
    for (bad, why) in [
        (panel(&six), "between 1 and 5 were asked for"),
        (
            panel(&[("Risk", "All approaches have risks.")]),
            "it names none of the answers",
        ),
    ] {
        let mut cast = liquidations(TestEnv::new());
        cast.agent(
            "art",
            "google",
            "arbiter",
            &[crate::common::cast::contestants(), bad],
        );
        let defaults = ["Correctness", "Risk", "Practicality"]
            .map(|name| scoring(name, &[("Queue", 80), ("Batch", 70), ("Invariants", 60)]));
        cast.agent("jim", "openai", "judge", &defaults.concat());
        let ran = cast
            .trial(&[CHALLENGE, "--judges", "5", "--json"])
            .assert_code(0);
        let report = ran.json();
        assert_eq!(report["panel"]["by"], "rules", "{why}");
        let notes = report["notes"].to_string();
        assert!(
            notes.contains("the default panel sits: art designed no judges"),
            "{notes}"
        );
        assert!(notes.contains(why), "{notes}");
        let again = prompt_of(&cast.newest(), "design judges again");
        assert!(again.contains(why), "the arbiter is told what was wrong");
    }
}

#[test]
fn judges_run_in_parallel() {
    let mut cast = liquidations(TestEnv::new());
    let slow = ["Pragmatist Judge", "Safety Judge", "Innovation Judge"].map(|name| {
        let mut replies = scoring(name, &[("Queue", 80), ("Batch", 70), ("Invariants", 60)]);
        replies
            .iter_mut()
            .for_each(|reply| reply["delay_ms"] = 400.into());
        replies
    });
    cast.agent("jim", "openai", "judge", &slow.concat());
    cast.trial(&[CHALLENGE]).assert_code(0);
    let case = cast.newest();
    let events = case["events"].as_array().unwrap();
    let places = |what: &str| -> Vec<usize> {
        let is_judge = |event: &Value| event["role"] == "judge" || event["judge"].is_string();
        let all = events.iter().enumerate();
        let found = all.filter(|(_, event)| event["type"] == what && is_judge(event));
        found.map(|(place, _)| place).collect()
    };
    let (started, finished) = (places("run_started"), places("judge_finished"));
    assert_eq!((started.len(), finished.len()), (3, 3));
    assert!(
        started.iter().max() < finished.iter().min(),
        "one judge waited for another"
    );
}

#[test]
fn every_judge_scores_every_answer_and_the_scores_are_stored() {
    let cast = liquidations(TestEnv::new());
    cast.trial(&[CHALLENGE]).assert_code(0);
    let report = cast
        .env
        .run(["trial", "show", &cast.newest_id(), "--json"])
        .json();
    for judge in report["panel"]["judges"].as_array().unwrap() {
        let cards = judge["evaluation"]["cards"].as_array().unwrap();
        let ids: Vec<&str> = cards
            .iter()
            .map(|card| card["contestant"].as_str().unwrap())
            .collect();
        assert_eq!(ids, ["safety-first", "gas-optimizer", "protocol-purist"]);
        assert!(
            cards
                .iter()
                .all(|card| !card["reasoning"].as_str().unwrap().is_empty())
        );
    }
    let stored = cast.newest();
    let finished = stored["events"].as_array().unwrap();
    let finished = finished
        .iter()
        .filter(|event| event["type"] == "judge_finished");
    assert_eq!(finished.count(), 3);
}

#[test]
fn the_winner_is_the_one_with_the_best_average() {
    let cast = liquidations(TestEnv::new());
    let report = cast.trial(&[CHALLENGE, "--json"]).assert_code(0).json();
    let ranking: Vec<(String, String)> = report["verdict"]["ranking"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["contestant"].to_string(), one["average"].to_string()))
        .collect();
    let expected = [
        ("safety-first", "78"),
        ("gas-optimizer", "74.666667"),
        ("protocol-purist", "70"),
    ];
    for ((id, average), (name, points)) in ranking.iter().zip(expected) {
        assert_eq!((id.trim_matches('"'), average.as_str()), (name, points));
    }
    assert_eq!(
        report["summary"],
        "Safety First won with an average score of 78.0/100."
    );
}

#[test]
fn after_the_verdict_the_trial_waits_for_its_decree() {
    let cast = liquidations(TestEnv::new());
    let report = cast.trial(&[CHALLENGE, "--json"]).json();
    assert_eq!(
        (&report["state"], &report["phase"]),
        (&"in".into(), &"decree".into())
    );
    let id = cast.newest_id();
    let again = cast.trial(&["resume", &id]).assert_code(0);
    assert!(again.stdout.contains("Safety First won"), "{again:?}");
    cast.trial(&[
        "decree",
        &id,
        "adopt",
        "Queue them.",
        "--note",
        "as Safety First says",
    ])
    .assert_code(0);
    let report = cast.env.run(["trial", "show", &id, "--json"]).json();
    assert_eq!(report["phase"], "complete");
    assert_eq!(report["decree"]["decree"], "adopt");
    assert_eq!(report["decree"]["note"], "as Safety First says");
    let twice = cast.trial(&["decree", &id, "close"]);
    assert!(
        twice.stderr.contains("has its decree already: adopt"),
        "{}",
        twice.stderr
    );
    assert_ne!(twice.code, Some(0));
}

#[test]
fn a_trial_goes_on_in_another_one() {
    let cast = liquidations(TestEnv::new());
    cast.trial(&[CHALLENGE]).assert_code(0);
    let first = cast.newest_id();
    let ran = cast.trial(&[
        "decree",
        &first,
        "iterate",
        "--note",
        "half the cost",
        "--json",
    ]);
    let report = ran.assert_code(0).json();
    assert_eq!(report["from"], first.as_str());
    let challenge = report["challenge"].as_str().unwrap();
    for text in [CHALLENGE, "Queue them", "half the cost"] {
        assert!(challenge.contains(text), "{challenge}");
    }
    let old = cast.env.run(["trial", "show", &first, "--json"]).json();
    assert_eq!(old["decree"]["trial"], report["case"]);
}

#[test]
fn a_trial_that_cannot_go_on_keeps_its_decree() {
    let mut cast = liquidations(TestEnv::new());
    cast.trial(&[CHALLENGE]).assert_code(0);
    let first = cast.newest_id();
    cast.remove("jim");
    let ran = cast.trial(&["decree", &first, "iterate"]).assert_code(4);
    assert!(
        ran.stderr.contains("No agent is called `jim`"),
        "{}",
        ran.stderr
    );
    let report = cast.env.run(["trial", "show", &first, "--json"]).json();
    assert_eq!(report["phase"], "decree", "nothing was decreed");
    assert_eq!(cast.newest_id(), first, "nothing was opened");
    cast.agent("jim", "openai", "judge", &liquidations_judges());
    cast.trial(&["decree", &first, "iterate"]).assert_code(0);
}

#[test]
fn a_trial_replays_to_the_same_verdict_and_tells_its_events() {
    let cast = liquidations(TestEnv::new());
    let ran = cast
        .trial(&[CHALLENGE, "--swap", "--format", "jsonl"])
        .assert_code(0);
    let types: Vec<String> = ran
        .stdout
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["type"].to_string())
        .collect();
    for wanted in [
        "trial_opened",
        "contestants_designed",
        "contestant_started",
        "contestant_finished",
        "arbiter_started",
        "panel_designed",
        "judging_started",
        "judge_started",
        "judge_finished",
        "verdict_reached",
    ] {
        assert!(
            types.contains(&format!("\"{wanted}\"")),
            "{wanted} is missing in {types:?}"
        );
    }
    let id = cast.newest_id();
    let ran = cast.env.run(["replay", &id]).assert_code(0);
    assert!(
        ran.stderr.contains("replays to the same result"),
        "{}",
        ran.stderr
    );
}
