//! Kills a case of twenty steps at every named point and at random moments: after `resume` the end
//! is the same, no finished step was repeated, and the ledger is in order.

#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot set its scene has failed"
)]

mod common;

use std::collections::BTreeMap;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use common::{TestEnv, fake};

const STEPS: usize = 20;

/// A project with twenty prompts for a scripted agent, and for a program that logs its calls.
fn scene() -> TestEnv {
    let env = TestEnv::new();
    let prompts: String = (1..=STEPS)
        .map(|n| format!("Question number {n}\n"))
        .collect();
    env.write("prompts.txt", prompts);
    let log = env.root().join("world.log");
    env.write_user_config(&format!(
        "agents:\n  - name: program\n    command: [{:?}, --behave, ok, --reply, fine, --log, {:?}]\n    role: reviewer\n",
        fake("fake-agent").display().to_string(),
        log.display().to_string(),
    ));
    env
}

fn ask(agent: &str) -> [&str; 9] {
    [
        "ask",
        agent,
        "--batch",
        "prompts.txt",
        "--output",
        "answers",
        "--parallel",
        "3",
        "--json",
    ]
}

/// Resumes until the case is completed, and checks the end against the promise.
fn finish_and_check(env: &TestEnv, agent: &str, what: &str) {
    let mut ran = env.run(["resume", "--json"]);
    if ran.code == Some(4) {
        // Killed before the case was stored, or after it was completed.
        let completed = env.run(["log", "--json"]).json();
        if completed["cases"].as_array().is_some_and(Vec::is_empty) {
            ran = env.run(ask(agent));
        }
    }
    assert!(matches!(ran.code, Some(0 | 4)), "{what}: {ran:?}");
    env.assert_healthy();
    let log = env.run(["log", "--json"]).json();
    let cases = log["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 1, "{what}: {log:#}");
    assert_eq!(cases[0]["state"]["outcome"], "completed", "{what}: {log:#}");
    let case = cases[0]["case"].as_str().unwrap();
    check_steps(&env.run(["show", case, "--json"]).json(), what);
    check_answers(&env.project().join("answers"), what);
}

/// Every step is finished once, nothing runs for it afterwards, and each has one answer.
fn check_steps(shown: &serde_json::Value, what: &str) {
    let mut finished: BTreeMap<String, u32> = BTreeMap::new();
    for event in shown["events"].as_array().unwrap() {
        let step = event["step"].as_str().unwrap_or_default().to_owned();
        match event["type"].as_str().unwrap() {
            "step_finished" => *finished.entry(step).or_default() += 1,
            "run_started" => {
                assert!(
                    !finished.contains_key(&step),
                    "{what}: {step} ran again after its end"
                );
            }
            _ => {}
        }
    }
    assert_eq!(finished.len(), STEPS, "{what}: {finished:?}");
    assert!(
        finished.values().all(|&times| times == 1),
        "{what}: {finished:?}"
    );
}

fn check_answers(answers: &Path, what: &str) {
    let names: Vec<_> = std::fs::read_dir(answers)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| !name.starts_with('.'))
        .collect();
    assert_eq!(names.len(), STEPS, "{what}: {names:?}");
    for name in names {
        let text = std::fs::read_to_string(answers.join(&name)).unwrap();
        assert!(!text.trim().is_empty(), "{what}: {name} is empty");
    }
}

#[test]
fn the_end_is_the_same_wherever_the_process_is_killed() {
    let points = scene().crash_points(&ask("scripted"));
    assert!(points.len() >= 8, "few crash points: {points:?}");
    // Every name is met at its first, second, a middle and its last hit.
    for (name, hits) in points {
        for hit in std::collections::BTreeSet::from([1, 2, hits / 2, hits]) {
            if (1..=hits).contains(&hit) {
                let env = scene();
                env.crash_at(&ask("scripted"), &name, hit);
                finish_and_check(&env, "scripted", &format!("{name}#{hit}"));
            }
        }
    }
}

#[test]
fn the_end_is_the_same_when_recovery_is_killed_too() {
    let env = scene();
    let die_at = |args: &[&str], point: &str| {
        let output = env
            .command(args)
            .env("TRIBUNAL_CRASH_AT", point)
            .output()
            .unwrap();
        assert_eq!(output.status.signal(), Some(9), "{point}: {output:?}");
    };
    die_at(&ask("scripted"), "case.step.finish.after#3");
    for depth in [
        "case.claim.after#1",
        "call.run.answered#2",
        "case.effect.acted#1",
    ] {
        die_at(&["resume", "--json"], depth);
    }
    finish_and_check(&env, "scripted", "three deep");
}

/// Kills `agent`'s case at random moments, `times` times.
fn kill_at_random(agent: &str, seed: u64, times: u32) {
    let reference = scene();
    let clock = Instant::now();
    reference.run(ask(agent)).assert_code(0);
    let whole = clock.elapsed();
    let mut random = Random(seed);
    for round in 0..times {
        let what = format!("agent {agent}, seed {seed}, round {round}");
        let env = scene();
        kill_after(&env, &ask(agent), random.below(whole));
        if random.next().is_multiple_of(3) {
            kill_after(&env, &["resume"], random.below(whole));
        }
        finish_and_check(&env, agent, &what);
        if agent == "program" {
            env.assert_no_survivor(&what);
        }
    }
}

fn kill_after(env: &TestEnv, args: &[&str], pause: Duration) {
    let mut child = env
        .command(args)
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    std::thread::sleep(pause);
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn random_kills_of_scripted_steps_1() {
    kill_at_random("scripted", 1, 120);
}

#[test]
fn random_kills_of_scripted_steps_2() {
    kill_at_random("scripted", 2, 120);
}

#[test]
fn random_kills_of_programs() {
    kill_at_random("program", 3, 60);
}

/// A small generator, so that a seed repeats a run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    fn below(&mut self, limit: Duration) -> Duration {
        let micros = u64::try_from(limit.as_micros()).unwrap().max(1);
        Duration::from_micros(self.next() % micros)
    }
}
