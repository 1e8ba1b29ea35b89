//! Answers that cannot be used: they are asked for again by whoever goes on, never twice in one run.

use std::path::Path;

use serde_json::{Value, json};

use super::plans::{NONCE, scripted};
use super::{add, connect_only, markers, project};
use crate::common::TestEnv;

/// Returns how often an agent was asked in all cases of the ledger.
pub(super) fn calls(env: &TestEnv, agent: &str) -> usize {
    let cases = env.run(["log", "-n", "1000", "--json"]).json();
    let ids = cases["cases"].as_array().unwrap().iter();
    let of_case = |case: &Value| {
        let shown = env.run(["show", case["case"].as_str().unwrap(), "--format", "jsonl"]);
        let events = shown.stdout.lines();
        let events = events.map(|line| serde_json::from_str::<Value>(line).unwrap());
        let asked = |event: &Value| event["type"] == "run_started" && event["agent"] == agent;
        events.filter(asked).count()
    };
    ids.map(of_case).sum()
}

/// A coder that writes one file, and a reviewer that answers with `replies`.
fn reviewed_by(replies: &Value) -> TestEnv {
    let env = project("");
    let work = json!([{"text": "All done.", "write": {"a.py": "def a():\n    return 1\n"}}]);
    let agents =
        scripted(&env, "dev", "coder", &work) + &scripted(&env, "rex", "reviewer", replies);
    connect_only(&env, &agents);
    env
}

fn approves() -> Value {
    json!([{"json": {"nonce": NONCE, "findings": [], "end": NONCE}}])
}

/// Gives the agent another script from now on.
fn mend(env: &TestEnv, name: &str, replies: &Value) {
    let script = Path::new("..").join(format!("{name}.json"));
    env.write(
        script.to_str().unwrap(),
        json!({ "replies": replies }).to_string(),
    );
}

#[test]
fn a_reviewer_who_answered_with_prose_is_asked_again_by_the_next_run() {
    let env = reviewed_by(&json!([{"text": "LGTM"}]));
    add(&env, &["one"]);
    let ran = env.run(["run"]).assert_code(5);
    assert_eq!(markers(&env), "[o] one", "{}", ran.stderr);
    // Asked once, and once more with what was wrong: one run pays no more for nothing.
    assert_eq!(calls(&env, "rex"), 2);
    mend(&env, "rex", &approves());
    let ran = env.run(["run"]).assert_code(0);
    assert_eq!(markers(&env), "[x] one", "{}", ran.stderr);
    assert_eq!(calls(&env, "rex"), 3);
    // What was paid for stays on record, and the story can be played again.
    env.assert_healthy();
}

#[test]
fn a_reviewer_who_never_answers_is_asked_by_each_run_and_approves_nothing() {
    let env = reviewed_by(&json!([{"text": "LGTM"}]));
    add(&env, &["one"]);
    for run in 1..=3 {
        env.run(["run"]).assert_code(5);
        assert_eq!(markers(&env), "[o] one");
        assert_eq!(calls(&env, "rex"), 2 * run);
    }
    env.assert_healthy();
}

#[test]
fn resuming_a_review_asks_for_what_could_not_be_used() {
    for resume in [&["resume"][..], &["review", "--resume"][..]] {
        let env = reviewed_by(&json!([{"text": "LGTM"}]));
        env.write("b.py", "def b():\n    return 2\n");
        env.run(["review", "--reviewer", "rex"]).assert_code(5);
        let cases = env.run(["log", "--json"]).json();
        let review = cases["cases"][0]["case"].as_str().unwrap().to_owned();
        mend(&env, "rex", &approves());
        let args: Vec<&str> = resume.iter().copied().chain([review.as_str()]).collect();
        env.run(&args).assert_code(0);
        assert_eq!(calls(&env, "rex"), 3);
        env.run(["replay", &review]).assert_code(0);
        env.assert_healthy();
    }
}
