//! Arbitrations that are killed at every point where something is stored or made.

#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot set its scene has failed"
)]

mod common;

use std::collections::BTreeSet;
use std::process::Command;

use common::TestEnv;
use serde_json::{Value, json};

const NONCE: &str = "{{line:Nonce: }}";
const COMMAND: [&str; 3] = ["review", "--arbitrate", "--json"];

fn signed(list: &str, items: &str) -> String {
    format!(r#"{{"nonce": "{NONCE}", "{list}": [{items}], "end": "{NONCE}"}}"#)
}

fn defect(file: &str, id: u32) -> String {
    format!(
        r#"{{"id": "{id}", "file": "{file}", "line": 1, "label": "HIGH", "category": "security", "confidence": 95, "title": "Input is run in {file}", "description": "`eval` runs what somebody types.", "quote": "eval(input())", "trigger": "any expression", "suggestion": "Parse it."}}"#
    )
}

fn response(id: &str, word: &str) -> String {
    format!(
        r#"{{"finding_id": "{id}", "answer": "{word}", "reason": "factual_error", "justification": "The input is trusted."}}"#
    )
}

fn write_script(env: &TestEnv, name: &str, replies: &Value) -> String {
    let script = env.root().join(format!("{name}.json"));
    std::fs::write(&script, json!({ "replies": replies }).to_string()).unwrap();
    script.display().to_string()
}

/// Two defects: the coder mends one and contests the other, the judge enforces it, the coder mends
/// it too. One of the coder's answers and one of the judge's must be asked for twice.
fn scene() -> TestEnv {
    let env = TestEnv::with_repository();
    env.write("a.py", "x = 1\n");
    env.write("b.py", "x = 1\n");
    env.commit_all("second");
    for file in ["a.py", "b.py"] {
        env.write(file, "eval(input())\n");
    }
    let fixed = |id: u32| {
        format!(
            r#"{{"finding_id": "F{id}", "can_happen": "no", "state": "fixed", "reason": "the problem is gone"}}"#
        )
    };
    let ann = write_script(
        &env,
        "ann",
        &json!([
            {"when": ["Was it fixed?", "There is one finding"], "text": signed("checks", &fixed(1))},
            {"when": "The change: the coder's work", "text": signed("findings", "")},
            {"text": signed("findings", &format!("{}, {}", defect("a.py", 1), defect("b.py", 2)))},
        ]),
    );
    let first = format!(
        "{}, {}",
        response("F1", "implemented"),
        response("F2", "objected")
    );
    let cody = write_script(
        &env,
        "cody",
        &json!([
            {"when": "\"ruling\":\"ENFORCE\"", "text": signed("responses", &response("F1", "implemented")),
             "write": {"a.py": "x = 2\n", "b.py": "x = 2\n"}},
            {"when": "could not be read", "text": signed("responses", &first)},
            {"text": "I will think about it.", "write": {"a.py": "x = 2\n"}},
        ]),
    );
    let ruling = format!(
        r#"{{"nonce": "{NONCE}", "ruling": "ENFORCE", "reason": "b.py:1 runs it.", "reversal": "A parser.", "end": "{NONCE}"}}"#
    );
    let jude = write_script(
        &env,
        "jude",
        &json!([{"when": "could not be read", "text": ruling}, {"text": "ENFORCE"}]),
    );
    let agent = |name: &str, role: &str, script: &str| {
        format!(
            "  - {{name: {name}, provider: scripted, script: {script:?}, role: {role}, family: {name}s}}\n"
        )
    };
    env.write_user_config(&format!(
        "agents:\n{}{}{}review: {{builtin: [], rounds: 1, judge: {{weigh: false}}}}\n",
        agent("ann", "reviewer", &ann),
        agent("cody", "coder", &cody),
        agent("jude", "judge", &jude),
    ));
    env
}

fn git(env: &TestEnv, args: &[&str]) -> String {
    let output = Command::new("git")
        .args(args)
        .current_dir(env.project())
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap()
}

fn cases(env: &TestEnv, kind: &str) -> Vec<String> {
    let log = env.run(["log", "--json"]).json();
    let cases = log["cases"].as_array().unwrap().iter();
    let wanted = cases.filter(|case| case["kind"] == kind);
    wanted
        .map(|case| case["case"].as_str().unwrap().to_owned())
        .collect()
}

/// Goes on until the review has ended, and checks that everything is there once.
fn finish_and_check(env: &TestEnv, what: &str) {
    let ran = match cases(env, "review").first() {
        Some(case) => env.run(["resume", case, "--json"]),
        None => env.run(COMMAND),
    };
    // The fixes are on the offered branch only.
    assert_eq!(ran.code, Some(1), "{what}: {ran:?}");
    env.assert_healthy();
    let reviews = cases(env, "review");
    assert_eq!(reviews.len(), 1, "{what}");
    assert_eq!(cases(env, "dispute").len(), 1, "{what}: one dispute");

    let shown = env.run(["show", &reviews[0], "--json"]).json();
    let arbitration = &shown["review"]["arbitration"];
    let states: Vec<&str> = arbitration["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|finding| finding["state"].as_str().unwrap())
        .collect();
    assert_eq!(states, ["fixed", "fixed"], "{what}: {arbitration:#}");
    assert_eq!(shown["review"]["gate"], "fail", "{what}");
    assert_eq!(shown["review"]["gate_with_offer"], "pass", "{what}");
    assert_eq!(arbitration["rounds"].as_array().unwrap().len(), 2, "{what}");
    let events = shown["events"].as_array().unwrap();
    common::assert_nothing_repeated(events, what);
    let dispute = env
        .run(["show", &cases(env, "dispute")[0], "--json"])
        .json();
    common::assert_nothing_repeated(dispute["events"].as_array().unwrap(), what);

    let branches = git(
        env,
        &[
            "branch",
            "--list",
            "tribunal/*",
            "--format=%(refname:short)",
        ],
    );
    assert_eq!(branches.lines().count(), 1, "{what}: {branches}");
    for file in ["a.py", "b.py"] {
        let offered = git(env, &["show", &format!("{}:{file}", branches.trim())]);
        assert_eq!(offered, "x = 2\n", "{what}");
        let users = std::fs::read_to_string(env.project().join(file)).unwrap();
        assert_eq!(users, "eval(input())\n", "{what}");
    }
    assert_nothing_left(env, what);
}

/// Panics if a place for agents is left.
fn assert_nothing_left(env: &TestEnv, what: &str) {
    let left = env.places_left();
    assert!(left.is_empty(), "{what}: {left:?}");
}

#[test]
fn an_arbitration_ends_the_same_wherever_it_is_killed() {
    let reference = scene();
    finish_and_check(&reference, "without a crash");
    let points = scene().crash_points(&COMMAND);
    for expected in [
        "arbitrate.coder.answered",
        "arbitrate.coder.collected",
        "arbitrate.dispute.opened",
        "arbitrate.ruled",
        "worktree.publish.objects",
        "worktree.rename.before",
        "case.effect.acted",
    ] {
        assert!(points.contains_key(expected), "{expected}: {points:?}");
    }
    for (name, hits) in points {
        for hit in BTreeSet::from([1, hits / 2, hits]) {
            if hit > 0 {
                let env = scene();
                env.crash_at(&COMMAND, &name, hit);
                finish_and_check(&env, &format!("{name}#{hit}"));
            }
        }
    }
}

#[test]
fn files_are_applied_once_wherever_it_is_killed() {
    let command = ["review", "--arbitrate", "--apply", "--json"];
    let points = scene().crash_points(&command);
    let hits = points["worktree.apply.file"];
    assert_eq!(hits, 2);
    for (name, hit) in [
        ("worktree.apply.file", 1),
        ("worktree.apply.file", 2),
        ("case.effect.acted", points["case.effect.acted"]),
    ] {
        let env = scene();
        env.crash_at(&command, name, hit);
        let case = &cases(&env, "review")[0];
        let ran = env.run(["resume", case, "--json"]).assert_code(0);
        let what = format!("{name}#{hit}");
        assert_eq!(
            ran.json()["arbitration"]["offer"]["offered"],
            "applied",
            "{what}"
        );
        for file in ["a.py", "b.py"] {
            let now = std::fs::read_to_string(env.project().join(file)).unwrap();
            assert_eq!(now, "x = 2\n", "{what}");
        }
        env.assert_healthy();
        assert_nothing_left(&env, &what);
    }
}
