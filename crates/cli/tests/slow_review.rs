//! Reviews that are killed at any moment, and reviews of very large changes.

#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot set its scene has failed"
)]

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use common::{Ran, TestEnv};
use serde_json::json;

const NONCE: &str = "{{line:Nonce: }}";

fn git(env: &TestEnv, args: &[&str]) {
    let ran = Command::new("git")
        .args(["-c", "user.name=Ann", "-c", "user.email=ann@example.org"])
        .args(args)
        .current_dir(env.project())
        .status();
    assert!(ran.unwrap().success(), "git {args:?}");
}

fn repository() -> TestEnv {
    let env = TestEnv::new();
    std::fs::remove_dir(env.project().join(".git")).unwrap();
    git(&env, &["init", "-q", "-b", "main"]);
    env.write("README.md", "A project.\n");
    git(&env, &["add", "."]);
    git(&env, &["commit", "-q", "-m", "first"]);
    env
}

/// A change of six files in several parts, before two reviewers and the built-in ones. One of the
/// answers must be asked for twice.
fn scene() -> TestEnv {
    let env = repository();
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
    let mut finished: BTreeMap<String, u32> = BTreeMap::new();
    for event in shown["events"].as_array().unwrap() {
        let step = event["step"].as_str().unwrap_or_default().to_owned();
        match event["type"].as_str().unwrap() {
            "step_finished" => *finished.entry(step).or_default() += 1,
            "run_started" => assert!(
                !finished.contains_key(&step),
                "{what}: {step} was paid twice"
            ),
            _ => {}
        }
    }
    assert!(
        finished.len() >= 8 && finished.values().all(|&times| times == 1),
        "{what}: {finished:?}"
    );
    let work = env.ledger().join("work");
    let left = work.is_dir() && std::fs::read_dir(&work).unwrap().next().is_some();
    assert!(!left, "{what}: a checkout was left behind");
}

#[test]
fn a_review_ends_the_same_wherever_it_is_killed() {
    let mut reference = scene();
    let list = reference.root().join("points");
    reference.set_env("TRIBUNAL_CRASH_LIST", list.display().to_string());
    reference.run(["review", "--json"]).assert_code(1);
    let points = std::fs::read_to_string(&list).unwrap();
    let names: BTreeSet<_> = points
        .lines()
        .filter_map(|point| Some(point.split_once('#')?.0))
        .collect();
    assert!(names.len() >= 6, "few crash points: {names:?}");
    for name in names {
        let hits = points
            .lines()
            .filter(|point| point.split_once('#').is_some_and(|p| p.0 == name))
            .count();
        for hit in BTreeSet::from([1, hits / 2, hits])
            .into_iter()
            .filter(|&hit| hit >= 1)
        {
            let point = format!("{name}#{hit}");
            let env = scene();
            let output = env
                .command(["review"])
                .env("TRIBUNAL_CRASH_AT", &point)
                .output()
                .unwrap();
            assert_eq!(output.status.signal(), Some(9), "{point}: {output:?}");
            finish_and_check(&env, &point);
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
        let status =
            std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let line = status.lines().find(|line| line.starts_with("VmHWM:"));
        let now = line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok());
        peak = peak.max(now.unwrap_or(0));
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
    let env = repository();
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
    let env = repository();
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
