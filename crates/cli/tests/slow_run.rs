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
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

/// A coder that does what the title of its task says.
const CODER: &str = r##"#!/bin/sh
prompt=$(cat)
title=$(printf '%s' "$prompt" | sed -n 's/^Task: //p' | head -1)
nonce=$(printf '%s' "$prompt" | sed -n 's/^Nonce: //p' | head -1)
name=$(printf '%s' "$title" | tr -c 'a-zA-Z0-9' '_')
sleep 0.2
case "$prompt" in
  *"# Review feedback on your code"*contested.py*)
    printf '{"nonce": "%s", "responses": [{"finding_id": "F1", "answer": "objected", "reason": "misunderstood_context", "justification": "Only constants come in.", "evidence": [{"kind": "code", "reference": "contested.py:1", "text": "def f(x):"}]}], "end": "%s"}\n' "$nonce" "$nonce"
    exit ;;
  *"# Review feedback on your code"*)
    printf '{"nonce": "%s", "responses": [], "end": "%s"}\n' "$nonce" "$nonce"
    exit ;;
esac
case "$title" in
  contested) printf 'def f(x):\n    return eval(x)\n' > "$name.py" ;;
  *never*) printf 'def f(x):\n    return eval(x)\n# %s\n' "$nonce" > "$name.py" ;;
  *dies*) kill -9 $$ ;;
  *nothing*) ;;
  *) printf 'def f_%s(x):\n    return x + 1\n' "$name" > "$name.py" ;;
esac
printf '{"nonce": "%s", "summary": "did it", "done": ["1"], "end": "%s"}\n' "$nonce" "$nonce"
"##;

const EASY: usize = 15;

/// How long a runner that does not move keeps its task.
const LEASE: Duration = Duration::from_secs(30);

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

/// A project of twenty tasks: fifteen are easy, all need a plan, one never passes, about one the
/// coder contests what is found, of one the agent dies, in one nothing is done, and one depends on
/// others.
fn scene() -> TestEnv {
    let env = project();
    for number in 1..=EASY {
        add(&env, &[&format!("easy {number}")]);
    }
    for title in ["never passes", "agent dies", "does nothing", "contested"] {
        add(&env, &[title]);
    }
    let first = list(&env)[0]["id"].as_str().unwrap().to_owned();
    add(&env, &["last", "--depends", &first]);
    // The user has work of their own.
    let project = env.project();
    env.write("notes.txt", "stashed\n");
    git(&project, &["stash"]);
    env.write("notes.txt", "staged\n");
    git(&project, &["add", "notes.txt"]);
    env.write("notes.txt", "dirty\n");
    env
}

/// A repository with a remote, a coder, a planner and no tasks.
fn project() -> TestEnv {
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
        // The agent is broken, not the task; and a person has to say whether nothing was to be done.
        ("agent dies", "-"),
        ("does nothing", "!"),
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
    let mut started: Vec<Child> = (0..runners).map(|_| start(env)).collect();
    let began = Instant::now();
    let (mut last, mut killed) = (Instant::now(), 0);
    while began.elapsed() < Duration::from_secs(600) {
        std::thread::sleep(Duration::from_millis(200));
        if last.elapsed() >= pause {
            let victim = killed as usize % started.len();
            // Those that are killed get no chance to clean up, and another takes their place.
            let _ = started[victim].kill();
            let _ = started[victim].wait();
            started[victim] = start(env);
            (last, killed) = (Instant::now(), killed + 1);
        }
        if started
            .iter_mut()
            .all(|runner| runner.try_wait().unwrap().is_some())
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
    check_disputes(env, 3, what);
    env.assert_healthy();
    env.assert_no_survivor(what);
}

/// These disputes are open, two of them about work: each is told once and in full, and that work is kept.
fn check_disputes(env: &TestEnv, open: usize, what: &str) {
    let page = std::fs::read_to_string(env.project().join("dispute.md")).unwrap();
    assert_eq!(page.matches("(OPEN)").count(), open, "{what}: {page}");
    for line in [
        "**Task:** never passes (",
        "**Task:** contested (",
        "Only constants come in.",
    ] {
        assert_eq!(page.matches(line).count(), 1, "{what}: {line}: {page}");
    }
    let remote = env.root().join("remote.git");
    let kept = ["branch", "--list", "tribunal/task/*"];
    let (here, there) = (git(&env.project(), &kept), git(&remote, &kept));
    assert_eq!(here.lines().count(), 2, "{what}: {here}");
    assert_eq!(here, there, "{what}");
}

/// A small list that passes every crash point of the loop.
fn small_scene() -> TestEnv {
    let env = project();
    for title in ["easy 1", "never passes", "contested"] {
        add(&env, &[title]);
    }
    env
}

#[test]
fn a_run_killed_at_each_point_of_the_loop_comes_to_the_same_end() {
    let points = small_scene().crash_points(&["run", "--quiet"]);
    let points: Vec<(String, usize)> = points
        .into_iter()
        .filter(|(name, _)| name.starts_with("run."))
        .collect();
    let names: Vec<&str> = points.iter().map(|(name, _)| name.as_str()).collect();
    for wanted in [
        "run.dispute.opened",
        "run.integrate.after",
        "run.integrate.before",
        "run.move.after",
        "run.move.before",
        "run.push.before",
        "run.review.noted",
        "run.task.taken",
        "run.work.answered",
    ] {
        assert!(names.contains(&wanted), "{wanted} is not passed: {names:?}");
    }
    for (name, hits) in points {
        // The first and the last time that it is passed.
        for hit in [1, hits].into_iter().take(hits) {
            let env = small_scene();
            let what = format!("{name}#{hit}");
            env.crash_at(&["run", "--quiet"], &name, hit);
            env.run(["run", "--quiet"]).assert_code(0);
            let markers: Vec<String> = markers(&env).into_values().collect();
            assert_eq!(markers, ["!", "x", "!"], "{what}");
            let log = git(&env.project(), &["log", "--format=%s", "tribunal/work"]);
            assert_eq!(log, "easy 1\nbegin", "{what}");
            check_disputes(&env, 2, &what);
            let audit = env.run(["task", "audit", "--json"]).assert_code(0).json();
            assert_eq!(audit["whole"], true, "{what}");
            env.assert_healthy();
            env.assert_no_survivor(&what);
        }
    }
}

#[test]
fn what_a_stopped_runner_brings_after_its_lease_counts_for_nothing() {
    let env = project();
    let coder = env.root().join("coder.sh");
    let flag = env.root().join("started");
    // The first one to be asked takes its time.
    let slow = format!(
        "#!/bin/sh\nif mkdir '{}' 2>/dev/null; then sleep 3; fi\n",
        flag.display()
    );
    let quick = CODER.strip_prefix("#!/bin/sh\n").unwrap();
    std::fs::write(&coder, slow + quick).unwrap();
    let task = add(&env, &["easy 1"]);
    let mut command = env.command(["run", "--json"]);
    let first = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let began = Instant::now();
    while !flag.exists() {
        assert!(began.elapsed() < Duration::from_secs(60), "nobody works");
        std::thread::sleep(Duration::from_millis(20));
    }
    let process = Pid::from_raw(i32::try_from(first.id()).unwrap());
    kill(process, Signal::SIGSTOP).unwrap();
    // Its lease is in force: nobody takes the task from it.
    env.run(["run", "--once"]).assert_code(0);
    assert_eq!(list(&env)[0]["marker"], "-");
    std::thread::sleep(LEASE + Duration::from_secs(2));
    env.run(["run"]).assert_code(0);
    assert_eq!(list(&env)[0]["marker"], "x");
    let landed = git(&env.project(), &["rev-parse", "tribunal/work"]);
    kill(process, Signal::SIGCONT).unwrap();
    let late = first.wait_with_output().unwrap();
    let told: Value =
        serde_json::from_slice(&late.stdout).unwrap_or_else(|error| panic!("{error}: {late:?}"));
    let why = told["tasks"][0]["why"].as_str().unwrap();
    assert!(why.contains("what came late was not counted"), "{told}");
    // It stands in the story of that run, and nothing else has changed.
    let case = told["case"].as_str().unwrap();
    let story = env.run(["show", case, "--format", "jsonl"]).stdout;
    assert!(story.contains("what came late was not counted"), "{story}");
    check_late(&env, &story, &task);
    assert_eq!(git(&env.project(), &["rev-parse", "tribunal/work"]), landed);
    let events = env.run(["show", &task, "--format", "jsonl"]).stdout;
    let approved = events.matches(r#""done":"approve""#).count();
    assert_eq!(approved, 1, "{events}");
    env.assert_healthy();
    env.assert_no_survivor("a late runner");
}

/// What came late is on the record of the run that it came to: whose it was, and where it lies.
fn check_late(env: &TestEnv, story: &str, task: &str) {
    let events = story
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    let late: Vec<Value> = events
        .filter(|event: &Value| event["type"] == "came_late")
        .collect();
    assert_eq!(late.len(), 1, "{story}");
    assert_eq!(late[0]["task"], task);
    let run = late[0]["run"].as_str().unwrap();
    let reply = std::fs::read(env.ledger().join("runs").join(run).join("reply.json")).unwrap();
    let hash = tribunal_engine::files::hash_of(&reply);
    assert_eq!(late[0]["reply_hash"], hash.as_str());
    // What it wrote went with the place that the other runner tidied up: there is no commit.
    assert_eq!(late[0].get("commit"), None, "{late:?}");
}

#[test]
fn eight_runners_on_forty_tasks_take_each_task_once() {
    let env = project();
    let config = env.home().join(".config/tribunal/config.yml");
    let text = std::fs::read_to_string(&config).unwrap();
    let (agents, rest) = text.split_once("  - {name: planner").unwrap();
    let (_, rest) = rest.split_once('\n').unwrap();
    std::fs::write(&config, format!("{agents}{rest}")).unwrap();
    let calls = env.root().join("calls");
    let quick = CODER.replace(
        "sleep 0.2",
        &format!("printf '%s\\n' \"$title\" >> '{}'", calls.display()),
    );
    std::fs::write(env.root().join("coder.sh"), quick).unwrap();
    let titles: Vec<String> = (0..40).map(|number| format!("task {number:02}")).collect();
    for title in &titles {
        add(&env, &[title]);
    }
    let mut runners: Vec<Child> = (0..8).map(|_| start(&env)).collect();
    for runner in &mut runners {
        assert_eq!(runner.wait().unwrap().code(), Some(0));
    }
    let sorted = |text: &str| {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort_unstable();
        lines
    };
    // Each coder was called once, each task claimed once, and each piece of work is there once.
    assert_eq!(sorted(&std::fs::read_to_string(&calls).unwrap()), titles);
    let log = env.run(["log", "--json", "--recent", "1000"]).json();
    let cases = log["cases"].as_array().unwrap();
    let runs = cases.iter().filter(|case| case["kind"] == "run");
    let mut taken = String::new();
    for run in runs {
        let id = run["case"].as_str().unwrap();
        let story = env.run(["show", id, "--format", "jsonl"]).stdout;
        for line in story.lines() {
            let event: Value = serde_json::from_str(line).unwrap();
            if event["type"] == "task_taken" {
                taken += &format!("{}\n", event["title"].as_str().unwrap());
            }
        }
    }
    assert_eq!(sorted(&taken), titles);
    for place in [env.project(), env.root().join("remote.git")] {
        let subjects = git(&place, &["log", "--format=%s", "main..tribunal/work"]);
        assert_eq!(sorted(&subjects), titles);
        let trailer = "--format=%(trailers:key=Tribunal-Task,valueonly,separator=)";
        let tasks = sorted(&git(&place, &["log", trailer, "main..tribunal/work"]));
        let mut ids: Vec<String> = list(&env)
            .iter()
            .map(|task| task["id"].as_str().unwrap().to_owned())
            .collect();
        ids.sort_unstable();
        assert_eq!(tasks, ids);
    }
    env.assert_healthy();
    env.assert_no_survivor("eight runners");
}

#[test]
fn one_runner_drives_the_list_to_its_end() {
    let env = scene();
    let before = untouched(&env.project());
    // Disputes wait for a person, and the task whose agent is broken waits for the next run.
    env.run(["run", "--quiet"]).assert_code(5);
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
