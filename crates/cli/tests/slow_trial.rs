//! Trials that are killed at any moment: they end the same, and nothing is paid for twice.

#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot set its scene has failed"
)]

mod common;

use std::collections::BTreeSet;

use common::TestEnv;
use common::cast::{CHALLENGE, Cast, liquidations, scoring};
use serde_json::{Value, json};

/// A trial of texts with everything that can be asked: contestants, judges, both orders.
fn texts() -> (Cast, Vec<&'static str>) {
    let cast = liquidations(TestEnv::new());
    (cast, vec!["trial", CHALLENGE, "--swap", "--json"])
}

/// A trial of code in a repository with tests.
fn code() -> (Cast, Vec<&'static str>) {
    let env = TestEnv::with_repository();
    env.write("sum.sh", "echo 1\n");
    env.commit_all("second");
    let mut cast = Cast::new(env);
    cast.set("project: {test_command: \"sh sum.sh\"}\n");
    for (name, family, text, written) in [
        ("ann", "anthropic", "Queue: three", "echo 3\n"),
        ("bob", "mistral", "Batch: two", "echo 2\n"),
    ] {
        let reply =
            json!({"when": "# A challenge in code", "text": text, "write": {"sum.sh": written}});
        cast.agent(name, family, "contestant", &[reply]);
    }
    let judges = ["Correctness", "Risk", "Practicality"].map(|name| {
        scoring(
            name,
            &[("## Summary\n\nQueue", 80), ("## Summary\n\nBatch", 40)],
        )
    });
    cast.agent("jim", "openai", "judge", &judges.concat());
    let args = vec![
        "trial",
        CHALLENGE,
        "--code",
        "--contestant",
        "ann,bob",
        "--json",
    ];
    (cast, args)
}

/// Resumes until there is a verdict and checks that nothing finished was done again.
fn finish_and_check(cast: &Cast, args: &[&str], winner: &str, what: &str) {
    let mut ran = cast.env.run(["trial", "resume", "--json"]);
    let listed = cast.env.run(["trial", "list", "--json"]).json();
    if ran.code == Some(4) && listed["trials"] == json!([]) {
        ran = cast.env.run(args);
    }
    // A trial that was killed behind its verdict has nothing left to go on with.
    assert!(matches!(ran.code, Some(0 | 4)), "{what}: {ran:?}");
    cast.env.assert_healthy();
    let id = cast.newest_id();
    let report = cast.env.run(["trial", "show", &id, "--json"]).json();
    assert_eq!(report["verdict"]["winner"], winner, "{what}: {report:#}");
    assert_eq!(report["phase"], "decree", "{what}");
    let case = cast.newest();
    let events = case["events"].as_array().unwrap();
    assert!(common::assert_nothing_repeated(events, what) >= 5, "{what}");
    for kind in ["verdict_reached", "panel_designed", "contestants_designed"] {
        let told = events.iter().filter(|event| event["type"] == kind);
        assert_eq!(told.count(), 1, "{what}: {kind}");
    }
    let names = |kind: &str, key: &str| -> Vec<Value> {
        let told = events.iter().filter(|event| event["type"] == kind);
        told.map(|event| event[key].clone()).collect()
    };
    for (kind, key) in [
        ("contestant_finished", "contestant"),
        ("judge_finished", "judge"),
    ] {
        let all = names(kind, key);
        let once: BTreeSet<String> = all.iter().map(ToString::to_string).collect();
        assert_eq!(all.len(), once.len(), "{what}: {kind} twice: {all:?}");
    }
    let mut left = cast.env.places_left();
    left.retain(|place| place.ends_with(&id));
    assert!(left.is_empty(), "{what}: left behind: {left:?}");
}

fn everywhere(scene: fn() -> (Cast, Vec<&'static str>), winner: &str) {
    let (mut cast, args) = scene();
    let points = cast.env.crash_points(&args);
    assert!(
        points.keys().any(|name| name.starts_with("trial.")),
        "{points:?}"
    );
    for (name, hits) in points {
        for hit in BTreeSet::from([1, hits / 2, hits]) {
            if hit > 0 {
                let (cast, args) = scene();
                cast.env.crash_at(&args, &name, hit);
                finish_and_check(&cast, &args, winner, &format!("{name}#{hit}"));
            }
        }
    }
}

#[test]
fn a_trial_of_texts_ends_the_same_wherever_it_is_killed() {
    everywhere(texts, "safety-first");
}

#[test]
fn a_trial_of_code_ends_the_same_wherever_it_is_killed() {
    everywhere(code, "ann");
}

/// Merges the winner after `prepare`, killed at every point, and checks that a second decree ends it.
fn merged_everywhere(prepare: fn(&Cast)) {
    let scene = || {
        let (cast, args) = code();
        cast.env.run(&args).assert_code(0);
        prepare(&cast);
        let id = cast.newest_id();
        (cast, id)
    };
    let (mut cast, id) = scene();
    let points = cast.env.crash_points(&["trial", "decree", &id, "merge"]);
    assert!(points.contains_key("trial.merge.files"), "{points:?}");
    for name in points.keys() {
        let (cast, id) = scene();
        cast.env
            .crash_at(&["trial", "decree", &id, "merge"], name, 1);
        let again = cast.env.run(["trial", "decree", &id, "merge"]);
        let report = cast.env.run(["trial", "show", &id, "--json"]).json();
        assert_eq!(report["decree"]["decree"], "merge", "{name}: {again:?}");
        let sum = std::fs::read_to_string(cast.env.project().join("sum.sh")).unwrap();
        assert_eq!(sum, "echo 3\n", "{name}");
        assert_eq!(
            cast.env.git_output(&["status", "--porcelain"]),
            "",
            "{name}"
        );
        let branch = format!("tribunal/{id}/ann");
        cast.env
            .git(&["merge-base", "--is-ancestor", &branch, "HEAD"]);
        cast.env.assert_healthy();
    }
}

#[test]
fn a_merge_that_is_killed_is_done_once() {
    merged_everywhere(|_| {});
}

#[test]
fn a_merge_of_two_branches_that_is_killed_is_done_once() {
    merged_everywhere(|cast| {
        cast.env.write("other.txt", "other\n");
        cast.env.commit_all("third");
    });
}

#[test]
fn a_trial_that_is_killed_while_it_goes_on_goes_on_once() {
    let scene = || {
        let (cast, args) = texts();
        cast.env.run(&args).assert_code(0);
        let id = cast.newest_id();
        (cast, id)
    };
    let (mut cast, id) = scene();
    let points = cast.env.crash_points(&["trial", "decree", &id, "iterate"]);
    assert!(points.contains_key("trial.decreed"), "{points:?}");
    for name in points.keys() {
        let (cast, id) = scene();
        let args = ["trial", "decree", &id, "iterate"];
        cast.env.crash_at(&args, name, 1);
        let report = cast.env.run(["trial", "show", &id, "--json"]).json();
        // Either the decree is repeated, or the trial that it names is gone on with.
        let again = match report["phase"] == "decree" {
            true => cast.env.run(args),
            false => cast.env.run(["trial", "resume"]),
        };
        assert!(matches!(again.code, Some(0 | 4)), "{name}: {again:?}");
        cast.env.assert_healthy();
        let listed = cast.env.run(["trial", "list", "--json"]).json();
        assert_eq!(listed["trials"].as_array().unwrap().len(), 2, "{name}");
        let old = cast.env.run(["trial", "show", &id, "--json"]).json();
        let next = old["decree"]["trial"].as_str().unwrap();
        let new = cast.env.run(["trial", "show", next, "--json"]).json();
        assert_eq!(new["from"], id.as_str(), "{name}");
        assert_eq!(new["phase"], "decree", "{name}: {new:#}");
        let case = cast.env.run(["export", next]).json();
        common::assert_nothing_repeated(case["events"].as_array().unwrap(), name);
    }
}
