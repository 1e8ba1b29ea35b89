//! What ends a run before the list is done, and going on afterwards.

use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

use super::{add, connect_only, git, markers, project};
use crate::common::TestEnv;

/// How long a test waits for something that must happen; nothing is measured by it.
const PATIENCE: Duration = Duration::from_secs(60);

fn wait_for(what: &str, mut look: impl FnMut() -> bool) {
    let start = Instant::now();
    while !look() {
        assert!(start.elapsed() < PATIENCE, "no sign of {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A project whose coder runs this shell script; `$DIR` is a place of the test.
pub(super) fn project_of(script: &str, more: &str) -> TestEnv {
    let env = project(more);
    let text = format!(
        "#!/bin/sh\nDIR='{}'\nprompt=$(cat)\n\
         nonce=$(printf '%s' \"$prompt\" | sed -n 's/^Nonce: //p' | head -1)\n\
         title=$(printf '%s' \"$prompt\" | sed -n 's/^Task: //p' | head -1)\n\
         {script}\n\
         printf '{{\"nonce\": \"%s\", \"summary\": \"did it\", \"done\": [], \"end\": \"%s\"}}\\n' \
         \"$nonce\" \"$nonce\"\n",
        env.root().display()
    );
    let coder = env.write("../own.sh", text);
    let coder = coder.display();
    connect_only(
        &env,
        &format!("  - {{name: ann, command: [sh, {coder}], role: coder}}\n"),
    );
    env
}

pub(super) const EASY: &str = "printf 'def f(x):\\n    return x\\n' > \"$title.py\"";

#[test]
fn a_run_begins_nothing_more_once_it_has_cost_enough() {
    let env = project("");
    let reply = |title: &str| {
        json!({"when": format!("Task: {title}"), "cost_usd": 0.5,
            "write": {format!("{title}.py"): "def f(x):\n    return x\n"},
            "json": {"nonce": "{{line:Nonce: }}", "summary": "s", "done": [],
                "end": "{{line:Nonce: }}"}})
    };
    let script = json!({ "replies": [reply("one"), reply("two"), reply("three")] });
    let script = env.write("../costs.json", script.to_string());
    connect_only(
        &env,
        &format!(
            "  - {{name: ann, provider: scripted, role: coder, script: {}}}\n",
            script.display()
        ),
    );
    for title in ["one", "two", "three"] {
        add(&env, &[title]);
    }
    let ran = env.run(["run", "--max-cost", "0.90"]).assert_code(7);
    assert_eq!(markers(&env), "[x] one\n[-] two\n[ ] three");
    assert!(
        ran.stderr.contains("$1.00 of $0.90 of this run are spent"),
        "{}",
        ran.stderr
    );
    assert!(
        ran.stderr
            .contains("--max-cost USD`; what it has cost counts"),
        "{}",
        ran.stderr
    );
    // Going on resets nothing: it is over at once, however often.
    let runs = env.run(["log", "--json"]).json();
    let runs = runs["cases"].as_array().unwrap().clone();
    let run = runs.iter().find(|case| case["kind"] == "run").unwrap();
    let run = run["case"].as_str().unwrap();
    for _ in 0..2 {
        let again = env.run(["resume", run, "--json"]).assert_code(7);
        let again: Value = serde_json::from_str(&again.stdout).unwrap();
        assert_eq!(again["spend"]["known"], 1_000_000);
        assert_eq!(markers(&env), "[x] one\n[-] two\n[ ] three");
    }
    // A person may allow more, which holds from then on; what was paid for is not paid for again.
    let allowed = env
        .run(["resume", run, "--max-cost", "1.40"])
        .assert_code(7);
    assert_eq!(markers(&env), "[x] one\n[x] two\n[-] three");
    assert!(
        allowed
            .stderr
            .contains("$1.50 of $1.40 of this run are spent"),
        "{}",
        allowed.stderr
    );
    env.run(["resume", run]).assert_code(7);
    env.run(["resume", run, "--max-cost", "2"]).assert_code(0);
    let no_run = env.run(["task", "list", "--json"]).json();
    let no_run = no_run["tasks"][0]["id"].as_str().unwrap();
    env.run(["resume", no_run, "--max-cost", "2"])
        .assert_code(2);
    assert_eq!(markers(&env), "[x] one\n[x] two\n[x] three");
    let board = env.run(["task", "list", "--json"]).json();
    let known = board["tasks"].as_array().unwrap().iter();
    let known: Vec<u64> = known
        .map(|task| task["spend"]["known"].as_u64().unwrap())
        .collect();
    assert_eq!(known, [500_000; 3]);
    env.assert_healthy();
}

#[test]
fn the_most_iterations_can_be_given_for_one_run() {
    let env = project_of(
        "echo x >> \"$DIR/calls\"; echo x >> never.py",
        "project: {test_command: [sh, -c, 'exit 1']}\n",
    );
    add(&env, &["one"]);
    // Each piece of work is followed by a run of the tests, which counts as well.
    env.run(["run", "--max-iterations", "6"]).assert_code(1);
    assert_eq!(markers(&env), "[F] one");
    let calls = std::fs::read_to_string(env.root().join("calls")).unwrap();
    assert_eq!(calls.lines().count(), 3);
    env.run(["run", "--max-iterations", "0"]).assert_code(3);
}

#[test]
fn the_most_iterations_of_a_run_hold_when_it_is_resumed() {
    let env = project_of("echo x >> \"$DIR/calls\"", "");
    add(&env, &["one"]);
    env.crash_at(&["run", "--max-iterations", "1"], "run.task.taken", 1);
    let log = env.run(["log", "--json"]).json();
    let cases = log["cases"].as_array().unwrap();
    let run = cases.iter().find(|case| case["kind"] == "run").unwrap();
    env.run(["resume", run["case"].as_str().unwrap()])
        .assert_code(1);
    assert_eq!(markers(&env), "[F] one");
    let calls = std::fs::read_to_string(env.root().join("calls")).unwrap();
    assert_eq!(calls.lines().count(), 1);
    env.assert_healthy();
}

#[test]
fn one_task_is_one_task_however_many_could_work() {
    let env = project("");
    for title in ["one", "two", "three"] {
        add(&env, &[title]);
    }
    env.run(["run", "--once", "--parallel", "3"]).assert_code(0);
    assert_eq!(markers(&env), "[x] one\n[ ] two\n[ ] three");
}

#[test]
fn a_run_that_could_do_nothing_says_why_and_is_no_success() {
    let env = project("run: {max_iterations: 1}\n");
    let first = add(&env, &["does nothing"]);
    let second = add(&env, &["second", "--depends", &first]);
    let third = add(&env, &["third"]);
    env.run(["run", "--task", &third]).assert_code(0);
    // What failed in this run is what it tells.
    env.run(["run"]).assert_code(1);
    for (args, code, expected) in [
        (
            vec!["run"],
            5,
            "the task that is left waits for another".to_owned(),
        ),
        (
            vec!["run", "--task", &second],
            5,
            format!("task {second} waits for {first}, which is failed"),
        ),
        (
            vec!["run", "--task", &first],
            5,
            format!("task {first} is failed; `tribunal task reopen {first}` puts it back"),
        ),
        (
            vec!["run", "--task", &third],
            0,
            format!("task {third} is completed"),
        ),
    ] {
        let ran = env.run(&args).assert_code(code);
        let told = format!("Ended: {expected}.");
        assert!(ran.stderr.contains(&told), "{args:?}: {}", ran.stderr);
    }
    env.assert_healthy();
}

#[test]
fn a_run_begins_nothing_more_after_its_time_and_can_be_resumed() {
    let env = project_of(&format!("sleep 2; {EASY}"), "");
    add(&env, &["one"]);
    add(&env, &["two"]);
    let ran = env
        .run(["run", "--max-time", "1s", "--json"])
        .assert_code(7);
    let json: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(json["why"], "the time of this run is over");
    assert!(markers(&env).ends_with("[ ] two"), "{}", markers(&env));
    // It goes on where it stopped; its time begins anew.
    let case = json["case"].as_str().unwrap();
    env.run(["resume", case]).assert_code(7);
    env.run(["run"]).assert_code(0);
    assert_eq!(markers(&env), "[x] one\n[x] two");
    env.assert_healthy();
}

fn start(env: &TestEnv, args: &[&str]) -> Child {
    let mut command = env.command(args);
    command.stdout(Stdio::null()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

fn signal(child: &Child, signal: Signal) {
    kill(Pid::from_raw(i32::try_from(child.id()).unwrap()), signal).unwrap();
}

#[test]
fn a_second_ctrl_c_stops_at_once_and_the_run_can_be_resumed() {
    // The coder of the first attempt does not listen to a request to stop.
    let script = format!(
        "if [ ! -e \"$DIR/again\" ]; then trap '' TERM INT; touch \"$DIR/started\"; \
         while :; do sleep 1; done; fi; {EASY}"
    );
    let env = project_of(&script, "");
    add(&env, &["one"]);
    add(&env, &["two"]);
    let mut run = start(&env, &["run"]);
    wait_for("the coder", || env.root().join("started").exists());
    signal(&run, Signal::SIGINT);
    std::thread::sleep(Duration::from_millis(50));
    signal(&run, Signal::SIGINT);
    assert_eq!(run.wait().unwrap().code(), Some(130));
    wait_for("the end of the coder", || env.survivors().is_empty());
    env.write("../again", "");
    // The newest case of a run is gone on with, and nothing is left of the first attempt.
    let log = env.run(["log", "--json"]).json();
    let cases = log["cases"].as_array().unwrap();
    let case = cases.iter().find(|case| case["kind"] == "run").unwrap();
    env.run(["resume", case["case"].as_str().unwrap()])
        .assert_code(0);
    assert_eq!(markers(&env), "[x] one\n[x] two");
    let log = git(&env.project(), &["log", "--format=%s", "tribunal/work"]);
    assert_eq!(log, "two\none\nbegin");
    env.assert_healthy();
}

#[test]
fn a_first_ctrl_c_stops_at_the_next_safe_point() {
    let script = format!("touch \"$DIR/started-$title\"; sleep 1; {EASY}");
    let env = project_of(&script, "");
    add(&env, &["one"]);
    add(&env, &["two"]);
    let mut run = start(&env, &["run"]);
    wait_for("the coder", || env.root().join("started-one").exists());
    signal(&run, Signal::SIGINT);
    assert_eq!(run.wait().unwrap().code(), Some(130));
    assert!(markers(&env).ends_with("[ ] two"));
    env.assert_no_survivor("a stopped run");
    env.run(["run"]).assert_code(0);
    assert_eq!(markers(&env), "[x] one\n[x] two");
    env.assert_healthy();
}

#[test]
fn work_that_contradicts_what_was_approved_meanwhile_is_done_again_from_there() {
    // Both begin from the same base: each waits until the other has begun.
    let script = "touch \"$DIR/began-$title\"\n\
        while [ ! -e \"$DIR/began-one\" ] || [ ! -e \"$DIR/began-two\" ]; do sleep 0.05; done\n\
        echo \"V_$title = 1\" >> shared.py";
    let env = project_of(script, "");
    env.write("shared.py", "V = 0\n");
    git(&env.project(), &["add", "shared.py"]);
    git(&env.project(), &["commit", "-qm", "shared"]);
    add(&env, &["one"]);
    add(&env, &["two"]);
    env.run(["run", "--parallel", "2"]).assert_code(0);
    assert_eq!(markers(&env), "[x] one\n[x] two");
    let shared = git(&env.project(), &["show", "tribunal/work:shared.py"]);
    let mut lines: Vec<&str> = shared.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, ["V = 0", "V_one = 1", "V_two = 1"]);
    let list = env.run(["task", "list", "--json"]).json();
    let rejections: u64 = list["tasks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|task| task["rejections"].as_u64().unwrap())
        .sum();
    // Nobody did anything wrong.
    assert_eq!(rejections, 0);
    let stories: String = list["tasks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|task| {
            env.run(["task", "audit", task["id"].as_str().unwrap()])
                .stdout
        })
        .collect();
    assert!(
        stories.contains("contradicts this work in: shared.py"),
        "{stories}"
    );
    env.assert_healthy();
}

#[test]
fn a_repository_without_commits_is_told_before_anything_moves() {
    let env = project_of(EASY, "");
    let project = env.project();
    std::fs::remove_dir_all(project.join(".git")).unwrap();
    super::git(&project, &["init", "-q", "-b", "main", "."]);
    add(&env, &["easy"]);
    let ran = env.run(["run"]).assert_code(2);
    let why = "The repository has no commits yet, so there is nothing that work could start from";
    assert!(ran.stderr.contains(why), "{}", ran.stderr);
    assert_eq!(markers(&env), "[ ] easy");
    env.assert_healthy();
}
