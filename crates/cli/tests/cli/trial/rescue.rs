//! A trial that failed goes on: whoever gave nothing usable is asked again, and what was paid stays.

use serde_json::json;

use crate::common::TestEnv;
use crate::common::cast::{CHALLENGE, Cast, liquidations, liquidations_judges, scoring};

fn steps(cast: &Cast, word: &str) -> usize {
    let runs = cast.newest()["runs"].as_array().unwrap().clone();
    let named = runs.iter().filter(|run| run.to_string().contains(word));
    named.count()
}

fn garbled() -> Vec<serde_json::Value> {
    vec![json!({"when": "the judge", "text": "R1 wins.", "cost_usd": 0.01})]
}

#[test]
fn judges_whose_answers_were_unusable_are_asked_again_by_trial_resume() {
    let mut cast = liquidations(TestEnv::new());
    cast.agent("jim", "openai", "judge", &garbled());
    let failed = cast.trial(&[CHALLENGE]).assert_code(5);
    let id = cast.newest_id();
    let hint = format!("tribunal trial resume {id}");
    assert!(failed.stderr.contains(&hint), "{}", failed.stderr);
    let paid = cast.newest()["runs"].as_array().unwrap().len();

    // Still garbled: asked again, and it fails again.
    cast.trial(&["resume", "--json"]).assert_code(5);
    let twice = cast.newest()["runs"].as_array().unwrap().len();
    assert_eq!(twice, paid + 6, "three judges, each twice");

    cast.agent("jim", "openai", "judge", &liquidations_judges());
    let ran = cast.env.run(["resume", &id, "--json"]).assert_code(0);
    assert_eq!(ran.json()["verdict"]["winner"], "safety-first");
    let all = cast.newest()["runs"].as_array().unwrap().len();
    assert_eq!(all, twice + 3, "what was paid stays on record");
    cast.env.run(["replay", &id]).assert_code(0);
    cast.env.run(["doctor"]).assert_code(0);
}

#[test]
fn the_usable_half_of_a_swapped_judgement_is_not_paid_for_again() {
    let mut cast = Cast::new(TestEnv::new());
    for (name, text) in [("ann", "Queue them."), ("bob", "Batch them.")] {
        cast.agent(name, name, "contestant", &[json!({"text": text})]);
    }
    let whole = scoring("Correctness", &[("Queue", 80), ("Batch", 40)]);
    let half = [whole[0].clone(), json!({"when": "the judge", "text": "no"})];
    cast.agent("jim", "openai", "judge", &half);
    let contestants = ["--contestant", "ann,bob", "--judges", "1"];
    let args = [&[CHALLENGE, "--swap", "--json"][..], &contestants].concat();
    cast.trial(&args).assert_code(5);
    assert_eq!(
        steps(&cast, "judge correctness"),
        3,
        "one order is read, the other asked twice"
    );
    cast.agent("jim", "openai", "judge", &whole);
    let ran = cast.trial(&["resume", "--json"]).assert_code(0);
    assert_eq!(ran.json()["verdict"]["winner"], "ann");
    assert_eq!(steps(&cast, "judge correctness"), 4);
}

#[test]
fn contestants_who_changed_no_file_are_asked_again() {
    let env = TestEnv::with_repository();
    env.write("sum.sh", "echo 1\n");
    env.commit_all("second");
    let mut cast = Cast::new(env);
    for name in ["ann", "bob"] {
        cast.agent(
            name,
            name,
            "contestant",
            &[json!({"text": "Nothing to do."})],
        );
    }
    let judges = ["Correctness", "Risk", "Practicality"].map(|name| {
        scoring(
            name,
            &[("## Summary\n\nQueue", 80), ("## Summary\n\nBatch", 40)],
        )
    });
    cast.agent("jim", "openai", "judge", &judges.concat());
    cast.trial(&[CHALLENGE, "--code", "--contestant", "ann,bob", "--json"])
        .assert_code(5);
    for (name, text, sum) in [
        ("ann", "Queue it.", "echo 3\n"),
        ("bob", "Batch it.", "echo 2\n"),
    ] {
        let reply = json!({"text": text, "write": {"sum.sh": sum}});
        cast.agent(name, name, "contestant", &[reply]);
    }
    let ran = cast.trial(&["resume", "--json"]).assert_code(0);
    assert_eq!(ran.json()["verdict"]["winner"], "ann");
    cast.env.run(["replay", &cast.newest_id()]).assert_code(0);
}

#[test]
fn the_cap_of_a_trial_holds_when_it_is_resumed_until_somebody_allows_more() {
    let mut cast = Cast::new(TestEnv::new());
    for name in ["ann", "bob"] {
        cast.agent(
            name,
            name,
            "contestant",
            &[json!({"text": "x", "cost_usd": 0.3})],
        );
    }
    cast.agent(
        "jim",
        "openai",
        "judge",
        &[json!({"text": "x", "cost_usd": 1})],
    );
    let args = [CHALLENGE, "--contestant", "ann,bob", "--max-cost", "0.5"];
    let parked = cast.trial(&args).assert_code(7);
    let id = cast.newest_id();
    let hint = format!("tribunal trial resume {id} --max-cost USD");
    assert!(parked.stderr.contains(&hint), "{}", parked.stderr);
    let asked = || steps(&cast, "judge correctness");
    for again in [vec!["trial", "resume"], vec!["resume", &id]] {
        cast.env.run(&again).assert_code(7);
        assert_eq!(asked(), 0);
    }
    cast.env
        .run(["trial", "resume", "--max-cost", "0.7"])
        .assert_code(7);
    let after = cast.newest()["runs"].as_array().unwrap().len();
    assert!(after > 2, "it may spend up to the new cap");
    cast.env.run(["resume", &id]).assert_code(7);
    assert_eq!(
        cast.newest()["runs"].as_array().unwrap().len(),
        after,
        "the new cap holds too"
    );
}

#[test]
fn five_judges_that_were_named_sit_and_of_more_it_is_said() {
    let mut cast = Cast::new(TestEnv::new());
    for (name, text) in [("ann", "Queue them."), ("bob", "Batch them.")] {
        cast.agent(name, name, "contestant", &[json!({"text": text})]);
    }
    let seats = [
        "Correctness",
        "Risk",
        "Practicality",
        "Completeness",
        "Clarity",
    ];
    let scores = seats.map(|name| scoring(name, &[("Queue", 80), ("Batch", 40)]));
    for name in ["j1", "j2", "j3", "j4", "j5"] {
        cast.agent(name, name, "judge", &scores.concat());
    }
    let args = [
        CHALLENGE,
        "--contestant",
        "ann,bob",
        "--judge",
        "j1,j2,j3,j4,j5",
    ];
    let report = cast
        .trial(&[&args[..], &["--json"]].concat())
        .assert_code(0)
        .json();
    let judges = report["panel"]["judges"].as_array().unwrap();
    assert_eq!(judges.len(), 5, "{judges:?}");
    let fewer = [&args[..], &["--judges", "4", "--json"]].concat();
    let report = cast.trial(&fewer).assert_code(0).json();
    let note = "j5 was named as a judge and does not sit: the panel has 4 seats";
    assert!(
        report["notes"].as_array().unwrap().contains(&json!(note)),
        "{report:#}"
    );
}

#[test]
fn adopt_without_a_text_takes_the_answer_of_the_winner() {
    let mut cast = liquidations(TestEnv::new());
    cast.agent("jim", "openai", "judge", &liquidations_judges());
    let ran = cast.trial(&[CHALLENGE]).assert_code(0);
    let id = cast.newest_id();
    let likely = format!("`tribunal trial decree {id} adopt`");
    assert!(ran.stderr.contains(&likely), "{}", ran.stderr);
    assert!(!ran.stderr.contains("merge"), "{}", ran.stderr);
    let decreed = cast
        .trial(&["decree", &id, "adopt", "--json"])
        .assert_code(0)
        .json();
    assert_eq!(decreed["decree"]["contestant"], "safety-first");
    assert_eq!(
        decreed["decree"]["text"],
        "Queue them: liquidations wait for the epoch's end."
    );
}
