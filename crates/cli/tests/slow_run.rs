//! The loop over twenty tasks, with one and with four runners that are killed every few seconds.

#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot set its scene has failed"
)]

mod common;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use common::TestEnv;
use serde_json::{Value, json};

/// A coder that does what the title of its task says.
const CODER: &str = r##"#!/bin/sh
prompt=$(cat)
title=$(printf '%s' "$prompt" | sed -n 's/^Task: //p' | head -1)
nonce=$(printf '%s' "$prompt" | sed -n 's/^Nonce: //p' | head -1)
name=$(printf '%s' "$title" | tr -c 'a-zA-Z0-9' '_')
sleep 0.2
case "$title" in
  *never*) printf 'def f(x):\n    return eval(x)\n# %s\n' "$nonce" > "$name.py" ;;
  *dies*) kill -9 $$ ;;
  *nothing*) ;;
  *) printf 'def f_%s(x):\n    return x + 1\n' "$name" > "$name.py" ;;
esac
printf '{"nonce": "%s", "summary": "did it", "done": ["1"], "end": "%s"}\n' "$nonce" "$nonce"
"##;

const EASY: usize = 15;

fn git(directory: &Path, args: &[&str]) -> String {
    let output = Command::new("git")
        .args(["-c", "user.name=t", "-c", "user.email=t@t.invalid"])
        .args(args)
        .current_dir(directory)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .unwrap();
    assert!(output.status.success(), "{args:?}: {output:?}");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// A project of twenty tasks: fifteen are easy, all need a plan, one never passes, one is disputed
/// before it begins, of one the agent dies, in one nothing is done, and one depends on others.
fn scene() -> TestEnv {
    let env = TestEnv::new();
    let root = env.root().to_owned();
    let coder = root.join("coder.sh");
    std::fs::write(&coder, CODER).unwrap();
    let plan = json!({ "replies": [{ "json": {
        "nonce": "{{line:Nonce: }}", "end": "{{line:Nonce: }}",
        "steps": [{ "id": "1", "title": "write it", "acceptance": ["it runs"] }],
    }}]});
    let planner = root.join("plan.json");
    std::fs::write(&planner, plan.to_string()).unwrap();
    let project = env.project();
    std::fs::remove_dir_all(project.join(".git")).unwrap();
    git(&project, &["init", "-q", "-b", "main", "."]);
    env.write("notes.txt", "one\n");
    git(&project, &["add", "."]);
    git(&project, &["commit", "-qm", "begin"]);
    let remote = root.join("remote.git");
    git(&root, &["init", "-q", "--bare", remote.to_str().unwrap()]);
    git(
        &project,
        &["remote", "add", "origin", remote.to_str().unwrap()],
    );
    git(&project, &["push", "-q", "-u", "origin", "main"]);
    env.write_user_config(&format!(
        "agents:\n  - {{name: ann, command: [sh, {}], role: coder}}\n  \
         - {{name: planner, provider: scripted, role: coder, script: {}}}\n\
         retry: {{attempts: 1, base: 10ms}}\n\
         run: {{max_iterations: 3, max_rejections: 2}}\n",
        coder.display(),
        planner.display()
    ));
    for number in 1..=EASY {
        add(&env, &[&format!("easy {number}")]);
    }
    for title in ["never passes", "agent dies", "does nothing"] {
        add(&env, &[title]);
    }
    let contested = add(&env, &["contested"]);
    let args = ["--reason", "other", "--position", "no", "--as", "coder"];
    let create = ["dispute", "create", &contested];
    env.run(create.iter().chain(&args)).assert_code(0);
    let first = list(&env)[0]["id"].as_str().unwrap().to_owned();
    add(&env, &["last", "--depends", &first]);
    // The user has work of their own.
    env.write("notes.txt", "stashed\n");
    git(&project, &["stash"]);
    env.write("notes.txt", "staged\n");
    git(&project, &["add", "notes.txt"]);
    env.write("notes.txt", "dirty\n");
    env
}

fn add(env: &TestEnv, args: &[&str]) -> String {
    let args = ["task", "add"].iter().chain(args).chain(&["--json"]);
    let ran = env.run(args).assert_code(0);
    ran.json()["task"]["id"].as_str().unwrap().to_owned()
}

fn list(env: &TestEnv) -> Vec<Value> {
    let list = env.run(["task", "list", "--json"]).assert_code(0).json();
    list["tasks"].as_array().unwrap().clone()
}

fn markers(env: &TestEnv) -> BTreeMap<String, String> {
    let text = |task: &Value, key: &str| task[key].as_str().unwrap_or_default().to_owned();
    let tasks = list(env);
    tasks
        .iter()
        .map(|task| (text(task, "title"), text(task, "marker")))
        .collect()
}

fn expected() -> BTreeMap<String, String> {
    let mut markers: BTreeMap<String, String> = (1..=EASY)
        .map(|number| (format!("easy {number}"), "x".to_owned()))
        .collect();
    for (title, marker) in [
        ("never passes", "!"),
        ("agent dies", "F"),
        ("does nothing", "F"),
        ("contested", "!"),
        ("last", "x"),
    ] {
        markers.insert(title.to_owned(), marker.to_owned());
    }
    markers
}

/// All that must not change in the user's repository while the loop works.
fn untouched(project: &Path) -> Vec<String> {
    let index = std::fs::read(project.join(".git/index")).unwrap();
    vec![
        git(
            project,
            &["status", "--porcelain=v2", "--untracked-files=no"],
        ),
        git(project, &["rev-parse", "HEAD"]),
        git(project, &["symbolic-ref", "HEAD"]),
        git(project, &["rev-parse", "stash@{0}"]),
        git(project, &["diff"]),
        tribunal_engine::files::hash_of(&index),
    ]
}

fn start(env: &TestEnv) -> Child {
    let mut command = env.command(["run", "--quiet"]);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().unwrap()
}

/// Lets `runners` work on the list, kills one every `pause`, and returns how many were killed.
fn work_under_fire(env: &TestEnv, runners: usize, pause: Duration) -> u32 {
    let mut workers: Vec<Child> = (0..runners).map(|_| start(env)).collect();
    let began = Instant::now();
    let (mut last, mut killed) = (Instant::now(), 0);
    while began.elapsed() < Duration::from_secs(600) {
        std::thread::sleep(Duration::from_millis(200));
        if last.elapsed() >= pause {
            let victim = killed as usize % workers.len();
            // Those that are killed get no chance to clean up, and another takes their place.
            let _ = workers[victim].kill();
            let _ = workers[victim].wait();
            workers[victim] = start(env);
            (last, killed) = (Instant::now(), killed + 1);
        }
        if workers
            .iter_mut()
            .all(|worker| worker.try_wait().unwrap().is_some())
        {
            return killed;
        }
    }
    panic!("the list was not done in time: {:?}", markers(env));
}

fn check(env: &TestEnv, before: &[String], what: &str) {
    assert_eq!(markers(env), expected(), "{what}");
    assert_eq!(untouched(&env.project()), before, "{what}");
    let audit = env.run(["task", "audit", "--json"]).assert_code(0).json();
    assert_eq!(audit["whole"], true, "{what}");
    // One commit for each completed task, in the project and in the remote.
    let log = git(&env.project(), &["log", "--format=%s", "tribunal/work"]);
    let mut subjects: Vec<&str> = log.lines().collect();
    subjects.sort_unstable();
    let mut wanted: Vec<String> = (1..=EASY).map(|number| format!("easy {number}")).collect();
    wanted.extend(["begin".to_owned(), "last".to_owned()]);
    wanted.sort_unstable();
    assert_eq!(subjects, wanted, "{what}");
    let remote = env.root().join("remote.git");
    assert_eq!(
        git(&remote, &["rev-parse", "tribunal/work"]),
        git(&env.project(), &["rev-parse", "tribunal/work"]),
        "{what}"
    );
    let disputes = std::fs::read_to_string(env.project().join("dispute.md")).unwrap();
    assert_eq!(disputes.matches("(OPEN)").count(), 2, "{what}: {disputes}");
    env.assert_healthy();
    env.assert_no_survivor(what);
}

#[test]
fn one_runner_drives_the_list_to_its_end() {
    let env = scene();
    let before = untouched(&env.project());
    env.run(["run", "--quiet"]).assert_code(1);
    check(&env, &before, "one runner");
}

#[test]
fn a_runner_that_is_killed_again_and_again_comes_to_the_same_end() {
    let env = scene();
    let before = untouched(&env.project());
    let killed = work_under_fire(&env, 1, Duration::from_secs(4));
    assert!(killed > 0, "nobody was killed");
    check(&env, &before, "one runner, killed");
}

#[test]
fn four_runners_that_are_killed_again_and_again_come_to_the_same_end() {
    let env = scene();
    let before = untouched(&env.project());
    let killed = work_under_fire(&env, 4, Duration::from_secs(2));
    assert!(killed > 0, "nobody was killed");
    check(&env, &before, "four runners, killed");
}
