//! `run` and `arbiter`.

mod approved;
mod arbiter;
mod arbitrated;
mod chaotic;
mod delivery;
mod elsewhere;
mod guided;
mod limits;
mod plans;
mod recovery;
mod remotes;
mod replayed;
mod ruled;
mod seats;
mod stalled;

use std::path::Path;
use std::process::Command;

use insta::assert_snapshot;
use serde_json::Value;

use crate::common::{TestEnv, resolve_args};

/// A coder that does what the title of its task says.
const CODER: &str = r##"#!/bin/sh
prompt=$(cat)
title=$(printf '%s' "$prompt" | sed -n 's/^Task: //p' | head -1)
nonce=$(printf '%s' "$prompt" | sed -n 's/^Nonce: //p' | head -1)
name=$(printf '%s' "$title" | tr -c 'a-zA-Z0-9' '_')
printf '%s' "$prompt" > "$PROMPTS/$name"
case "$title" in
  *never*) printf 'def f(x):\n    return eval(x)\n# %s\n' "$nonce" > "$name.py" ;;
  *dies*) kill -9 $$ ;;
  *nothing*) ;;
  *) printf 'def f_%s(x):\n    return x + 1\n' "$name" > "$name.py" ;;
esac
printf 'Done. {"nonce": "%s", "summary": "did it", "done": ["1"], "end": "%s"}\n' "$nonce" "$nonce"
"##;

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

/// A repository with a bare remote, a coder, and built-in reviewers.
fn project(more: &str) -> TestEnv {
    let mut env = TestEnv::new();
    let root = env.root().to_owned();
    let prompts = root.join("prompts");
    std::fs::create_dir_all(&prompts).unwrap();
    env.set_env("PROMPTS", prompts.display().to_string());
    let coder = root.join("coder.sh");
    std::fs::write(&coder, CODER).unwrap();
    let project = env.project();
    std::fs::remove_dir_all(project.join(".git")).unwrap();
    git(&project, &["init", "-q", "-b", "main", "."]);
    env.write(
        "docs/SPEC.md",
        "# Spec\n## Login\nUsers log in.\n## Shop\nNo.\n",
    );
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
        "agents:\n  - name: ann\n    command: [sh, {}]\n    role: coder\n    \
         pass_env: PROMPTS\nretry: {{attempts: 1, base: 10ms}}\n{more}",
        coder.display()
    ));
    env
}

fn add(env: &TestEnv, args: &[&str]) -> String {
    let args = ["task", "add"].iter().chain(args).chain(&["--json"]);
    let ran = env.run(args).assert_code(0);
    ran.json()["task"]["id"].as_str().unwrap().to_owned()
}

fn markers(env: &TestEnv) -> String {
    let list = env.run(["task", "list", "--json"]).assert_code(0).json();
    let tasks = list["tasks"].as_array().unwrap();
    let line = |task: &Value| {
        let text = |key: &str| task[key].as_str().unwrap_or_default().to_owned();
        format!("[{}] {}", text("marker"), text("title"))
    };
    tasks.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// All that must not change in the user's repository while the loop works.
fn untouched(project: &Path) -> String {
    let index = std::fs::read(project.join(".git/index")).unwrap();
    let parts = [
        git(
            project,
            &["status", "--porcelain=v2", "--untracked-files=no"],
        ),
        git(project, &["rev-parse", "HEAD"]),
        git(project, &["symbolic-ref", "HEAD"]),
        git(project, &["stash", "list"]),
        git(project, &["diff"]),
        tribunal_engine::files::hash_of(&index),
    ];
    parts.join("\n")
}

#[test]
fn the_loop_drives_a_list_to_its_end() {
    let env = project("run: {max_iterations: 2, max_rejections: 3, coordinate_at: [1, 2]}\n");
    let project = env.project();
    add(&env, &["Fix login", "--source", "docs/SPEC.md#login"]);
    let never = add(&env, &["never passes"]);
    add(&env, &["agent dies"]);
    add(&env, &["does nothing"]);
    add(&env, &["easy"]);
    env.write("notes.txt", "stashed\n");
    git(&project, &["stash"]);
    env.write("notes.txt", "staged\n");
    git(&project, &["add", "notes.txt"]);
    env.write("notes.txt", "dirty\n");
    let before = untouched(&project);

    let ran = env.run(["run", "--json"]).assert_code(5);
    assert_snapshot!(markers(&env), @"
    [x] Fix login
    [!] never passes
    [-] agent dies
    [!] does nothing
    [x] easy
    ");
    assert_eq!(ran.json()["why"], "1 task was left for later");
    assert_eq!(untouched(&project), before);
    // One commit for each approved task, on a branch of its own, pushed; disputed work beside it.
    let log = git(&project, &["log", "--format=%s", "tribunal/work"]);
    assert_snapshot!(log, @"
    easy
    Fix login
    begin
    ");
    let remote = env.root().join("remote.git");
    assert_eq!(git(&remote, &["log", "--format=%s", "tribunal/work"]), log);
    let disputed = git(&remote, &["branch", "--list", "tribunal/task/*"]);
    assert_eq!(disputed.lines().count(), 1, "{disputed}");
    let dispute = std::fs::read_to_string(project.join("dispute.md")).unwrap();
    assert!(dispute.contains("never passes"), "{dispute}");
    // The coder was shown the section that the task names, and nothing else of the file.
    let prompt = std::fs::read_to_string(env.root().join("prompts/Fix_login")).unwrap();
    assert!(prompt.contains("Users log in."), "{prompt}");
    assert!(!prompt.contains("## Shop"), "{prompt}");
    // Both sides were told how to go on, not twice the same.
    let events = env
        .run(["show", &never, "--format", "jsonl"])
        .assert_code(0);
    let guidance: Vec<Value> = events
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .filter(|event: &Value| event["type"] == "guidance_given")
        .collect();
    assert_eq!(guidance.len(), 2);
    assert_ne!(guidance[0]["coder"], guidance[1]["coder"]);
    env.run(["task", "audit"]).assert_code(0);
    env.assert_healthy();
    env.assert_no_survivor("the loop");
    // Only what was left for later is tried again; nothing else is done twice.
    let again = env.run(["run", "--json"]).assert_code(5).json();
    assert_eq!(again["tasks"].as_array().unwrap().len(), 1, "{again}");
    // A ruling for the coder puts the contested work with the rest, and pushes it.
    let shown = env.run(["task", "show", &never, "--json"]).json();
    let dispute = shown["task"]["dispute"].as_str().unwrap();
    let resolve = resolve_args(dispute, "coder", "good enough");
    env.run(resolve).assert_code(0);
    assert!(markers(&env).contains("[x] never passes"));
    let log = git(&project, &["log", "--format=%s", "tribunal/work"]);
    assert!(log.starts_with("never passes\neasy\n"), "{log}");
    assert_eq!(git(&remote, &["log", "--format=%s", "tribunal/work"]), log);
    assert_eq!(untouched(&project), before);
    env.assert_healthy();
}

#[test]
fn a_dry_run_says_what_would_happen_and_does_nothing() {
    let env = project("");
    let first = add(&env, &["one"]);
    add(&env, &["two", "--depends", &first]);
    let ran = env.run(["run", "--dry-run"]).assert_code(0);
    assert_snapshot!(env.tidy(&(ran.stdout + &ran.stderr)), @"
    start [CASE]: one
      SELECT_MODE developer (rule 6, nothing was done yet: developer): nothing was done yet
    [CASE] waits for [CASE], which is pending.
    ");
    assert_eq!(markers(&env), "[ ] one\n[ ] two");
}

#[test]
fn failing_tests_send_the_coder_back_and_a_limit_is_no_success() {
    let env = project(
        "run: {max_iterations: 4}\nproject: {test_command: [sh, -c, 'echo broken; exit 3']}\n",
    );
    add(&env, &["easy"]);
    let ran = env.run(["run"]).assert_code(1);
    assert_eq!(markers(&env), "[F] easy");
    assert!(ran.stderr.contains("the tests failed"), "{}", ran.stderr);
    let prompt = std::fs::read_to_string(env.root().join("prompts/easy")).unwrap();
    assert!(prompt.contains("broken"), "{prompt}");
    env.assert_healthy();
}

#[test]
fn one_task_a_time_limit_and_a_task_by_name() {
    let env = project("");
    add(&env, &["one"]);
    add(&env, &["two"]);
    let three = add(&env, &["three"]);
    env.run(["run", "--once"]).assert_code(0);
    assert_eq!(markers(&env), "[x] one\n[ ] two\n[ ] three");
    env.run(["run", "--task", &three]).assert_code(0);
    assert_eq!(markers(&env), "[x] one\n[ ] two\n[x] three");
    let ran = env.run(["run", "--max-time", "0s"]).assert_code(7);
    let told: Vec<&str> = ran.stderr.lines().rev().take(3).collect();
    assert_snapshot!(env.tidy(&told.join("\n")), @"
    Hint: Go on with `tribunal resume [CASE]`
    Hint: Its time begins anew when it goes on
    Error: Parked, budget of the run's time: the time of this run is over
    ");
    // It can be resumed like any other case, and a limit is the run's own.
    env.assert_healthy();
}

#[test]
fn a_dispute_stops_the_loop_where_that_is_asked_for() {
    let settings = "run: {max_iterations: 2, max_rejections: 1, coordinate_at: []}\n";
    for (on_major, code, expected) in [
        ("halt", 5, "[!] never passes\n[ ] easy"),
        ("park", 0, "[!] never passes\n[x] easy"),
    ] {
        let env = project(&format!("{settings}disputes: {{on_major: {on_major}}}\n"));
        add(&env, &["never passes"]);
        add(&env, &["easy"]);
        let ran = env.run(["run", "--json"]).assert_code(code).json();
        assert_eq!(markers(&env), expected);
        let why = ran["why"].as_str().unwrap();
        assert_eq!(why.contains("is disputed"), on_major == "halt", "{why}");
    }
}

#[test]
fn a_dispute_halts_every_run_until_it_is_resolved() {
    let env = project(
        "run: {max_iterations: 2, max_rejections: 1, coordinate_at: []}
\
         disputes: {on_major: halt}\n",
    );
    add(&env, &["never passes"]);
    add(&env, &["easy"]);
    env.run(["run"]).assert_code(5);
    let disputes = env.run(["dispute", "list", "--json"]).json();
    let dispute = disputes["disputes"][0]["id"].as_str().unwrap().to_owned();
    for args in [
        vec!["run"],
        vec!["run", "--once"],
        vec!["run", "--parallel", "2"],
    ] {
        let ran = env.run(&args).assert_code(5);
        let why = format!("is disputed ({dispute})");
        assert!(ran.stderr.contains(&why), "{}", ran.stderr);
        assert_eq!(markers(&env), "[!] never passes\n[ ] easy");
    }
    // What is next says so, and so does going on with the run.
    for args in [["run", "--dry-run"], ["task", "next"]] {
        let ran = env.run(args).assert_code(0);
        assert_eq!(ran.stdout, "idle\n");
        let why = format!("is disputed ({dispute})");
        assert!(ran.stderr.contains(&why), "{}", ran.stderr);
        let json = env.run([args[0], args[1], "--json"]).assert_code(0).json();
        assert!(json["halted"].as_str().unwrap().contains(&why), "{json}");
    }
    let ran = env.run(["resume"]).assert_code(2);
    assert_snapshot!(env.tidy(&ran.stderr), @"Error: Run [CASE] has ended; `tribunal run` goes on with the list");
    env.run(resolve_args(&dispute, "coder", "good enough"))
        .assert_code(0);
    env.run(["run"]).assert_code(0);
    assert_eq!(markers(&env), "[x] never passes\n[x] easy");
    env.assert_healthy();
}

#[test]
fn a_plan_is_made_first_when_there_is_a_planner() {
    let plan = r#"{"replies": [{"json": {"nonce": "{{line:Nonce: }}", "steps": [{"id": "1",
        "title": "write it", "acceptance": ["it runs"]}], "end": "{{line:Nonce: }}"}}]}"#;
    let env = project("");
    let script = env.write("../plan.json", plan);
    let script = script.display();
    connect(
        &env,
        &format!("  - {{name: planner, provider: scripted, role: coder, script: {script}}}\n"),
    );
    add(&env, &["easy"]);
    let ran = env.run(["run"]).assert_code(0);
    assert!(ran.stderr.contains("plan 1: write it"), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("1 of 1 steps of the plan are done"),
        "{}",
        ran.stderr
    );
    assert_eq!(markers(&env), "[x] easy");
    let prompt = std::fs::read_to_string(env.root().join("prompts/easy")).unwrap();
    assert!(prompt.contains("- [ ] 1: write it"), "{prompt}");
    env.assert_healthy();
}

/// Adds an agent to the config of the user.
fn connect(env: &TestEnv, agent: &str) {
    let config = env.home().join(".config/tribunal/config.yml");
    let text = std::fs::read_to_string(&config).unwrap();
    let text = text.replace("agents:\n", &format!("agents:\n{agent}"));
    std::fs::write(&config, text).unwrap();
}

/// Makes these the only agents in the config of the user.
fn connect_only(env: &TestEnv, agents: &str) {
    let config = env.home().join(".config/tribunal/config.yml");
    let text = std::fs::read_to_string(&config).unwrap();
    let (_, settings) = text.split_once("retry:").unwrap();
    let text = format!("agents:\n{agents}retry:{settings}");
    std::fs::write(&config, text).unwrap();
}

#[test]
fn without_a_coder_or_a_repository_nothing_is_begun() {
    let env = TestEnv::new();
    add(&env, &["one"]);
    let ran = env.run(["run", "--dry-run"]).assert_code(3);
    assert_snapshot!(ran.stdout + &ran.stderr, @"
    Error: No coder is configured
    Hint: Add one with `tribunal connect <agent> --role coder`
    Hint: `tribunal agents` lists who there is
    ");
    assert_eq!(env.run(["run"]).assert_code(3).stderr, ran.stderr);
    // With a coder, but no repository, the list stays as it is.
    env.write_user_config("agents: [{name: ann, command: ['true'], role: coder}]\n");
    std::fs::remove_dir_all(env.project().join(".git")).unwrap();
    env.run(["run"]).assert_code(2);
    assert_eq!(markers(&env), "[ ] one");
}
