//! The record of judges: what a person takes in the end says who was right.

use serde_json::{Value, json};

use crate::common::TestEnv;
use crate::common::cast::{CHALLENGE, Cast, scoring};

const TWO: [&str; 6] = [
    CHALLENGE,
    "--contestant",
    "ann,bob",
    "--judges",
    "2",
    "--json",
];

/// Jim prefers to queue, Kim to batch, and Kim says so louder.
fn two_judges() -> Cast {
    let mut cast = Cast::new(TestEnv::new());
    let queue = [json!({"text": "Queue them."})];
    let batch = [json!({"text": "Batch them."})];
    cast.agent("ann", "anthropic", "contestant", &queue);
    cast.agent("bob", "mistral", "contestant", &batch);
    let jim = scoring("Correctness", &[("Queue", 70), ("Batch", 40)]);
    let kim = scoring("Risk", &[("Queue", 20), ("Batch", 95)]);
    cast.agent("jim", "openai", "judge", &jim);
    cast.agent("kim", "google", "judge", &kim);
    cast
}

fn winner(cast: &Cast) -> (Value, Value) {
    let report = cast.trial(&TWO).assert_code(0).json();
    let verdict = &report["verdict"];
    (verdict["winner"].clone(), verdict["weighted"].clone())
}

#[test]
fn decrees_make_a_record_that_weighs_the_judges_of_later_trials() {
    let mut cast = two_judges();
    cast.set("trial: {weights: equal}\n");
    for _ in 0..2 {
        assert_eq!(winner(&cast), (json!("bob"), json!(false)));
        let id = cast.newest_id();
        cast.trial(&["decree", &id, "adopt", "--contestant", "ann"])
            .assert_code(0);
        let report = cast.env.run(["trial", "show", &id, "--json"]).json();
        assert_eq!(report["decree"]["text"], "Queue them.");
        assert_eq!(report["decree"]["contestant"], "ann");
    }
    let record = cast.env.run(["stats", "--record"]).assert_code(0);
    let judges = json!({"jim": {"upheld": 2, "dismissed": 0, "even": 0},
        "kim": {"upheld": 0, "dismissed": 2, "even": 0}});
    assert_eq!(record.json()["judges"], judges);

    // The record is exported in the form that `verdict` and `trial` read.
    let file = cast.env.root().join("record.json");
    std::fs::write(&file, &record.stdout).unwrap();
    let file = file.display().to_string();
    let ran = cast.trial(&[&TWO[..], &["--record", &file]].concat());
    assert_eq!(ran.json()["verdict"]["winner"], "ann");
    let scores = cast.env.root().join("scores.json");
    let given = json!({"item_id": 1, "judges": {"jim": {"scores": {"a": 70, "b": 40}},
        "kim": {"scores": {"a": 20, "b": 95}}}});
    std::fs::write(&scores, given.to_string()).unwrap();
    let scores = scores.display().to_string();
    for (record, expected) in [(None, "b"), (Some(&file), "a")] {
        let mut args = vec!["verdict", &scores, "--json"];
        args.extend(record.iter().flat_map(|file| ["--record", file.as_str()]));
        let found = cast.env.run(args).assert_code(0).json();
        assert_eq!(found["winner"], expected, "{found:#}");
    }

    // Trials use what this ledger knows where the policy says so.
    cast.unset();
    cast.set("trial: {weights: record}\n");
    cast.agent(
        "jim",
        "openai",
        "judge",
        &scoring("Correctness", &[("Queue", 70), ("Batch", 40)]),
    );
    assert_eq!(winner(&cast), (json!("ann"), json!(true)));
    let shown = cast.env.run(["stats"]).assert_code(0).stdout;
    assert!(shown.contains("PREFERRED WHAT WAS TAKEN"), "{shown}");
}

#[test]
fn a_decree_that_takes_nobodys_answer_says_nothing_about_judges() {
    let cast = two_judges();
    cast.trial(&TWO).assert_code(0);
    cast.trial(&["decree", &cast.newest_id(), "adopt", "Neither."])
        .assert_code(0);
    let record = cast.env.run(["stats", "--record"]).json();
    assert_eq!(record, json!({"reviewers": {}}));
    cast.trial(&TWO).assert_code(0);
    let ran = cast.trial(&["decree", &cast.newest_id(), "adopt", "--contestant", "zoe"]);
    assert!(
        ran.stderr
            .contains("There is no contestant `zoe`; there are ann, bob"),
        "{}",
        ran.stderr
    );
}

#[test]
fn what_turned_out_later_makes_the_record_in_place_of_the_decree() {
    let cast = two_judges();
    cast.trial(&TWO).assert_code(0);
    let id = cast.newest_id();
    let early = cast.trial(&["hindsight", &id, "bob"]).assert_code(2);
    assert!(
        early.stderr.contains("has no decree yet"),
        "{}",
        early.stderr
    );
    cast.trial(&["decree", &id, "adopt", "--contestant", "ann"])
        .assert_code(0);
    let judges = || {
        let record = cast.env.run(["stats", "--record"]).assert_code(0).json();
        record["judges"].clone()
    };
    let right = json!({"upheld": 1, "dismissed": 0, "even": 0});
    let wrong = json!({"upheld": 0, "dismissed": 1, "even": 0});
    assert_eq!(judges(), json!({"jim": right, "kim": wrong}));
    let unknown = cast.trial(&["hindsight", &id, "zoe"]).assert_code(2);
    assert!(
        unknown.stderr.contains("there are ann, bob"),
        "{}",
        unknown.stderr
    );

    let line = ["hindsight", &id, "bob", "--note", "the queue lost orders"];
    let told = cast.trial(&line).assert_code(0);
    let sentence = "in hindsight: bob was best (the queue lost orders)\n";
    assert!(told.stderr.contains(sentence), "{}", told.stderr);
    assert_eq!(judges(), json!({"jim": wrong, "kim": right}));
    let shown = cast.env.run(["trial", "show", &id]).assert_code(0).stdout;
    assert!(
        shown.contains(
            "Decree: adopted: Queue them.\nIn hindsight: bob was best (the queue lost orders)\n"
        ),
        "{shown}"
    );
    for format in ["markdown", "html"] {
        let page = cast.env.run(["trial", "show", &id, "--format", format]);
        let page = page.assert_code(0).stdout;
        assert!(page.contains("In hindsight"), "{page}");
    }

    // The latest word holds, and a trial that nobody won says nothing about judges.
    let json = cast.trial(&["hindsight", &id, "--nobody", "--json"]);
    let hindsight = json.assert_code(0).json()["hindsight"].clone();
    assert_eq!(hindsight, json!({"contestant": null, "note": null}));
    assert_eq!(judges(), Value::Null);
    cast.env.run(["replay", &id]).assert_code(0);
    cast.env.assert_healthy();
}

#[test]
fn show_tells_a_trial_with_its_report() {
    let cast = two_judges();
    cast.trial(&TWO).assert_code(0);
    let id = cast.newest_id();
    let shown = cast.env.run(["show", &id]).assert_code(0).stdout;
    let report = cast.env.run(["trial", "show", &id]).assert_code(0).stdout;
    assert!(
        shown.ends_with(&report) && shown.len() > report.len(),
        "{shown}"
    );
    for format in ["markdown", "html"] {
        let by_show = cast.env.run(["show", &id, "--format", format]);
        let by_trial = cast.env.run(["trial", "show", &id, "--format", format]);
        assert_eq!(by_show.assert_code(0).stdout, by_trial.stdout);
    }
    let json = cast.env.run(["show", &id, "--json"]).json();
    assert_eq!(json["trial"]["verdict"]["winner"], "bob");
    assert!(json["events"].is_array(), "{json:#}");
    let ran = cast
        .env
        .run(["show", &id, "--format", "sarif"])
        .assert_code(2);
    assert!(
        ran.stderr.contains("has no report of a review"),
        "{}",
        ran.stderr
    );
}
