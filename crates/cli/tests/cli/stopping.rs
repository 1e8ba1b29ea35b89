//! Ctrl-C: the first lets running agents finish and starts no new ones, the second ends them.

use std::io::Read as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use crate::common::TestEnv;

/// How long a test waits for something that must happen; nothing is measured by it.
const PATIENCE: Duration = Duration::from_secs(120);

/// An agent that writes down that it was asked, waits until it may answer, and answers everything.
const AGENT: &str = r##"prompt=$(cat)
nonce=$(printf '%s' "$prompt" | sed -n 's/^Nonce: //p' | head -1)
echo "$1" >> "$DIR/calls"
while [ ! -e "$DIR/go" ]; do sleep 0.05; done
case "$1" in
  rex|zoe) printf '{"nonce": "%s", "findings": [], "end": "%s"}\n' "$nonce" "$nonce"; exit ;;
esac
title=$(printf '%s' "$prompt" | sed -n 's/^Task: //p' | head -1)
if [ -n "$title" ]; then printf 'def f(x):\n    return x\n' > "$title.py"; fi
printf '{"nonce": "%s", "summary": "did it", "done": [], "end": "%s"}\n' "$nonce" "$nonce"
"##;

fn place(agents: &[(&str, &str)]) -> TestEnv {
    let mut env = TestEnv::with_repository();
    let dir = env.root().display().to_string();
    env.set_env("DIR", dir);
    let program = env.write("../agent.sh", AGENT);
    let mut config =
        "review: {builtin: []}\nretry: {attempts: 1, base: 10ms}\nagents:\n".to_owned();
    for (name, role) in agents {
        config += &format!(
            "  - {{name: {name}, command: [sh, {}, {name}], role: {role}, pass_env: DIR}}\n",
            program.display()
        );
    }
    env.write_user_config(&config);
    env
}

/// A command that has started its first agents, as the leader of a process group, as in a terminal.
fn started(env: &TestEnv, args: &[&str], agents: usize) -> Child {
    let mut command = env.command(args);
    command.process_group(0);
    command.stdout(Stdio::null()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    wait_for("the agents", || calls(env).len() >= agents);
    child
}

fn wait_for(what: &str, mut look: impl FnMut() -> bool) {
    let start = Instant::now();
    while !look() {
        assert!(start.elapsed() < PATIENCE, "no sign of {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn calls(env: &TestEnv) -> Vec<String> {
    let text = std::fs::read_to_string(env.root().join("calls")).unwrap_or_default();
    let mut calls: Vec<String> = text.lines().map(str::to_owned).collect();
    calls.sort_unstable();
    calls
}

fn signal(child: &Child, signal: Signal) {
    killpg(Pid::from_raw(i32::try_from(child.id()).unwrap()), signal).unwrap();
}

/// Waits until the command has said how it stops.
fn first_words(child: &mut Child) -> String {
    let mut stderr = child.stderr.take().unwrap();
    let (mut said, mut byte) = (Vec::new(), [0]);
    while !String::from_utf8_lossy(&said).contains("Press Ctrl-C again") {
        assert_eq!(
            stderr.read(&mut byte).unwrap(),
            1,
            "{}",
            String::from_utf8_lossy(&said)
        );
        said.extend(byte);
    }
    std::thread::spawn(move || std::io::copy(&mut stderr, &mut std::io::sink()));
    String::from_utf8_lossy(&said).into_owned()
}

/// Presses Ctrl-C once, lets the agents answer, and returns the exit code.
fn stopped_orderly(env: &TestEnv, args: &[&str], agents: usize) -> Option<i32> {
    let mut child = started(env, args, agents);
    signal(&child, Signal::SIGINT);
    let said = first_words(&mut child);
    assert!(said.contains("Running agents may finish"), "{said}");
    env.write("../go", "");
    let code = child.wait().unwrap().code();
    env.assert_no_survivor("a stopped command");
    code
}

#[test]
fn the_first_ctrl_c_lets_the_coders_of_a_run_finish_and_starts_nobody_else() {
    let env = place(&[("cody", "coder"), ("rex", "reviewer")]);
    for title in ["one", "two", "three"] {
        env.run(["task", "add", title]).assert_code(0);
    }
    let code = stopped_orderly(&env, &["run", "--parallel", "2"], 2);
    assert_eq!(code, Some(130));
    assert_eq!(
        calls(&env),
        ["cody", "cody"],
        "two were at work, and nobody came after them"
    );
    env.run(["run"]).assert_code(0);
    assert_eq!(
        calls(&env),
        ["cody", "cody", "cody", "rex", "rex", "rex"],
        "what was answered is not paid for again"
    );
    env.assert_healthy();
}

#[test]
fn the_first_ctrl_c_lets_all_reviewers_answer() {
    let env = place(&[("rex", "reviewer"), ("zoe", "reviewer")]);
    env.write("a.py", "def f(x):\n    return x\n");
    let code = stopped_orderly(&env, &["review"], 2);
    // Both have answered, so the review is whole.
    assert_eq!(code, Some(0));
    assert_eq!(calls(&env), ["rex", "zoe"]);
    env.assert_healthy();
}

#[test]
fn the_first_ctrl_c_lets_contestants_answer_and_asks_no_judge() {
    let env = place(&[
        ("ann", "contestant"),
        ("bob", "contestant"),
        ("jim", "judge"),
    ]);
    let trial = [
        "trial",
        "What now?",
        "--contestant",
        "ann,bob",
        "--judges",
        "1",
    ];
    assert_eq!(stopped_orderly(&env, &trial, 2), Some(130));
    assert_eq!(calls(&env), ["ann", "bob"]);
    // The judge's answers cannot be used here; what counts is that no contestant answers twice.
    env.run(["trial", "resume"]).assert_code(5);
    assert_eq!(calls(&env), ["ann", "bob", "jim", "jim"]);
    env.assert_healthy();
}

#[test]
fn the_first_ctrl_c_lets_one_prompt_be_answered_and_puts_no_other() {
    let env = place(&[("ann", "coder")]);
    env.write(
        "../prompts.jsonl",
        "{\"id\": \"a\", \"prompt\": \"A?\"}\n{\"id\": \"b\", \"prompt\": \"B?\"}\n",
    );
    let file = env.root().join("prompts.jsonl").display().to_string();
    let ask = ["ask", "ann", "--batch", &file, "--parallel", "1"];
    assert_eq!(stopped_orderly(&env, &ask, 1), Some(130));
    assert_eq!(calls(&env), ["ann"]);
    env.run(["resume"]).assert_code(0);
    assert_eq!(calls(&env), ["ann", "ann"]);
    env.assert_healthy();
}

#[test]
fn a_second_ctrl_c_and_a_request_to_terminate_end_the_agents() {
    for signals in [&[Signal::SIGINT, Signal::SIGINT][..], &[Signal::SIGTERM]] {
        let env = place(&[("cody", "coder"), ("rex", "reviewer")]);
        env.run(["task", "add", "one"]).assert_code(0);
        let mut child = started(&env, &["run"], 1);
        for (number, which) in signals.iter().enumerate() {
            signal(&child, *which);
            if number + 1 < signals.len() {
                first_words(&mut child);
            }
        }
        assert_eq!(child.wait().unwrap().code(), Some(130), "{signals:?}");
        wait_for("the end of the coder", || env.survivors().is_empty());
        env.write("../go", "");
        env.run(["run"]).assert_code(0);
        assert_eq!(calls(&env), ["cody", "cody", "rex"]);
        env.assert_healthy();
    }
}
