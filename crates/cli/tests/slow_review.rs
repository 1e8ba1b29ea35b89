//! Reviews that are killed at any moment, and reviews of very large changes.

#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot set its scene has failed"
)]

mod common;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::process::Stdio;
use std::time::{Duration, Instant};

use common::{Ran, TestEnv};
use serde_json::json;

const NONCE: &str = "{{line:Nonce: }}";

/// A change of six files in several parts, before two reviewers and the built-in ones. One of the
/// answers must be asked for twice.
fn scene() -> TestEnv {
    let env = TestEnv::with_repository();
    for number in 1..=6 {
        let padding = "# nothing to see here\n".repeat(60);
        env.write(
            &format!("src/f{number}.py"),
            format!("{padding}eval(input())\n"),
        );
    }
    let answer = format!(r#"{{"nonce": "{NONCE}", "findings": [], "end": "{NONCE}"}}"#);
    let replies = json!({ "replies": [
        { "when": "could not be read", "text": answer },
        { "when": "This is part 2 of", "text": "not an answer" },
        { "text": answer },
    ]});
    let script = env.root().join("replies.json");
    std::fs::write(&script, replies.to_string()).unwrap();
    let agent = |name: &str, family: &str| {
        format!(
            "  - {{name: {name}, provider: scripted, script: {script:?}, role: reviewer, family: {family}}}\n"
        )
    };
    env.write_user_config(&format!(
        "agents:\n{}{}review: {{part_chars: 3000, rounds: 1}}\n",
        agent("ann", "anthropic"),
        agent("bob", "openai"),
    ));
    env
}

/// Resumes until the review has ended, and checks that nothing finished was asked again.
fn finish_and_check(env: &TestEnv, what: &str) {
    let mut ran = env.run(["resume", "--json"]);
    let cases = |env: &TestEnv| {
        env.run(["log", "--json"]).json()["cases"]
            .as_array()
            .unwrap()
            .clone()
    };
    if ran.code == Some(4) && cases(env).is_empty() {
        ran = env.run(["review", "--json"]);
    }
    assert!(matches!(ran.code, Some(1 | 4)), "{what}: {ran:?}");
    env.assert_healthy();
    let cases = cases(env);
    assert_eq!(cases.len(), 1, "{what}: {cases:?}");
    let case = cases[0]["case"].as_str().unwrap();
    let shown = env.run(["show", case, "--json"]).json();
    assert_eq!(shown["review"]["gate"], "fail", "{what}");
    assert_eq!(
        shown["review"]["findings"].as_array().unwrap().len(),
        6,
        "{what}"
    );
    for reviewer in shown["review"]["reviewers"].as_array().unwrap() {
        assert_eq!(reviewer["state"], "answered", "{what}: {reviewer}");
    }
    let events = shown["events"].as_array().unwrap();
    assert!(common::assert_nothing_repeated(events, what) >= 8, "{what}");
    let work = env.ledger().join("work");
    let left = work.is_dir() && std::fs::read_dir(&work).unwrap().next().is_some();
    assert!(!left, "{what}: a checkout was left behind");
}

#[test]
fn a_review_ends_the_same_wherever_it_is_killed() {
    let points = scene().crash_points(&["review", "--json"]);
    assert!(points.len() >= 6, "few crash points: {points:?}");
    for (name, hits) in points {
        for hit in BTreeSet::from([1, hits / 2, hits]) {
            if hit > 0 {
                let env = scene();
                env.crash_at(&["review"], &name, hit);
                finish_and_check(&env, &format!("{name}#{hit}"));
            }
        }
    }
}

#[test]
fn a_review_ends_the_same_after_random_kills() {
    let reference = scene();
    let clock = Instant::now();
    reference.run(["review"]).assert_code(1);
    let whole = clock.elapsed();
    for round in 0_u32..40 {
        let env = scene();
        // Spread over the whole run, in an order that looks random and is the same every time.
        let pause = whole * (round * 17 % 40) / 40;
        let mut child = env
            .command(["review"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(pause);
        child.kill().unwrap();
        child.wait().unwrap();
        finish_and_check(&env, &format!("round {round}, after {pause:?}"));
    }
}

/// Runs a command and returns what came of it, with the most memory it had, in kB.
fn measured(env: &TestEnv, args: &[&str]) -> (Ran, u64) {
    let out = env.root().join("out");
    let mut child = env
        .command(args)
        .stdout(std::fs::File::create(&out).unwrap())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut peak = 0;
    let status = loop {
        peak = peak.max(common::peak_memory(child.id()).unwrap_or(0));
        match child.try_wait().unwrap() {
            Some(status) => break status,
            None => std::thread::sleep(Duration::from_millis(20)),
        }
    };
    let ran = Ran {
        stdout: std::fs::read_to_string(out).unwrap(),
        stderr: String::new(),
        code: status.code(),
    };
    (ran, peak)
}

#[test]
fn two_thousand_files_are_reviewed() {
    let env = TestEnv::with_repository();
    for number in 0..2_000 {
        let mut text = String::new();
        for line in 0..40 {
            let _ = writeln!(text, "def step_{line}(value):\n    return value + {line}\n");
        }
        text += "eval(input())\n";
        env.write(&format!("src/d{}/f{number}.py", number % 50), text);
    }
    let (ran, peak) = measured(&env, &["review", "--json"]);
    let report = ran.assert_code(1).json();
    assert_eq!(report["findings"].as_array().unwrap().len(), 2_000);
    assert_eq!(
        report["coverage"]["reviewed"].as_array().unwrap().len(),
        2_000
    );
    assert!(peak < 1_000_000, "{peak} kB of memory");
    env.assert_healthy();
}

#[test]
fn a_file_of_fifty_thousand_lines_is_reviewed() {
    let env = TestEnv::with_repository();
    let mut text = String::new();
    for line in 0..50_000 {
        let _ = match line % 100 {
            7 => writeln!(text, "eval(input())  # {line}"),
            _ => writeln!(text, "value_{line} = {line}"),
        };
    }
    env.write("big.py", text);
    let (ran, peak) = measured(&env, &["review", "--json"]);
    let report = ran.assert_code(1).json();
    assert_eq!(report["findings"].as_array().unwrap().len(), 500);
    assert!(peak < 1_000_000, "{peak} kB of memory");
}
