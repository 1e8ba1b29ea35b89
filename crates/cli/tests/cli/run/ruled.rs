//! Rulings about the work on a task: what cannot be delivered, what nobody began, what is pushed.

use serde_json::{Value, json};

use super::limits::{EASY, project_of};
use super::{add, connect_only, git, markers};
use crate::common::{Ran, TestEnv, resolve_args};

/// Two coders who write the same file differently, side by side, so that nobody can review it.
const CONTRADICTING: &str = "touch \"$DIR/began-$title\"\n\
    while [ ! -e \"$DIR/began-one\" ] || [ ! -e \"$DIR/began-two\" ]; do sleep 0.05; done\n\
    printf \"$title\\000\" > shared.bin";

/// Contests a task as its coder and returns the dispute's id.
fn contest(env: &TestEnv, task: &str) -> String {
    let ran = env.run([
        "dispute",
        "create",
        task,
        "--reason",
        "other",
        "--position",
        "It is right",
        "--model",
        "claude-opus-4",
        "--as",
        "coder",
        "--json",
    ]);
    let json = ran.assert_code(0).json();
    json["dispute"]["id"].as_str().unwrap().to_owned()
}

/// A project in which the work on `two` contradicts what was approved, and the dispute about it.
fn contradicted() -> (TestEnv, String, String) {
    let env = project_of(CONTRADICTING, "");
    let one = add(&env, &["one"]);
    let two = add(&env, &["two"]);
    env.run(["run", "--parallel", "2"]).assert_code(5);
    env.run(["task", "approve", &one]).assert_code(0);
    let dispute = contest(&env, &two);
    (env, two, dispute)
}

fn approved(env: &TestEnv) -> String {
    git(&env.project(), &["log", "--format=%s", "tribunal/work"])
}

#[test]
fn a_ruling_for_the_coder_whose_work_cannot_be_delivered_is_refused_and_changes_nothing() {
    let (env, task, dispute) = contradicted();
    let events = |env: &TestEnv| {
        let shown = env.run(["dispute", "show", &dispute, "--json"]).json();
        let events = shown["dispute"]["events"].as_array().unwrap().clone();
        events
            .iter()
            .filter(|event| event["type"] == "dispute_ruled")
            .count()
    };
    let resolve = resolve_args(&dispute, "coder", "accept")
        .map(str::to_owned)
        .to_vec();
    let discard = ["dispute", "discard", &dispute].map(str::to_owned).to_vec();
    for line in [resolve, discard] {
        let ran = env.run(&line).assert_code(1);
        assert_eq!(
            env.tidy(&ran.stderr.replace(&task, "TASK")),
            "Error: Dispute [DISPUTE] cannot be ruled for the coder of task TASK (two): what was approved meanwhile contradicts the work in shared.bin\n\
             Hint: Let it be done again: `tribunal dispute resolve [DISPUTE] --decision custom --notes …`\n\
             Hint: Or merge `tribunal/task/TASK` into the branch of approved work yourself, and rule again\n"
        );
        assert_eq!(markers(&env), "[x] one\n[!] two");
        assert_eq!(approved(&env), "one\nbegin");
        assert_eq!(events(&env), 0);
        env.assert_healthy();
    }
    // The other ways out are open.
    env.run(resolve_args(&dispute, "custom", "merge it with one"))
        .assert_code(0);
    assert_eq!(markers(&env), "[x] one\n[-] two");
    env.assert_healthy();
}

/// Merges the work of a task into the approved work by hand, and leaves that branch checked out.
fn merge_by_hand(env: &TestEnv, work: &str) {
    let project = env.project();
    git(&project, &["checkout", "-q", "-f", "tribunal/work"]);
    git(
        &project,
        &["merge", "-q", "-s", "ours", "-m", "by hand", work],
    );
    env.write("shared.bin", "both\0");
    git(
        &project,
        &["commit", "-q", "--amend", "-a", "-m", "by hand"],
    );
}

#[test]
fn work_that_was_merged_by_hand_is_delivered() {
    for ruling in ["resolve", "discard"] {
        for checked_out in ["tribunal/work", "main"] {
            let (env, task, dispute) = contradicted();
            merge_by_hand(&env, &format!("tribunal/task/{task}"));
            let merged = git(&env.project(), &["rev-parse", "HEAD"]);
            git(&env.project(), &["checkout", "-q", "-f", checked_out]);
            let line = match ruling {
                "resolve" => resolve_args(&dispute, "coder", "ok").to_vec(),
                _ => vec!["dispute", "discard", &dispute],
            };
            let ran = env.run(line).assert_code(0);
            assert!(ran.stdout.contains("[!] → [x]"), "{}", ran.stdout);
            assert_eq!(markers(&env), "[x] one\n[x] two");
            // Nothing was put on top of what the user did. That is pushed where there is an upstream.
            let tip = ["rev-parse", "tribunal/work"];
            assert_eq!(git(&env.project(), &tip), merged);
            let pushed = git(&env.root().join("remote.git"), &tip) == merged;
            assert_eq!(pushed, checked_out == "main");
            env.assert_healthy();
        }
    }
}

#[test]
fn work_that_stays_here_because_there_is_no_upstream_is_told_in_one_line() {
    let env = project_of(CONTRADICTING, "");
    let one = add(&env, &["one"]);
    let two = add(&env, &["two"]);
    env.run(["run", "--parallel", "2"]).assert_code(5);
    git(&env.project(), &["branch", "--unset-upstream"]);
    let told = |branch: &str| {
        format!(
            "Not pushed, because the current branch has no upstream: {branch}. `git.push: always` \
             pushes all the same.\n"
        )
    };
    let mut create = vec!["dispute", "create", &two, "--reason", "other"];
    create.extend(["--position", "no", "--as", "reviewer"]);
    let ran = env.run(create).assert_code(0);
    let line = told(&format!("tribunal/task/{two}"));
    assert!(ran.stderr.contains(&line), "{}", ran.stderr);
    let ran = env.run(["task", "approve", &one]).assert_code(0);
    assert!(
        ran.stderr.contains(&told("tribunal/work")),
        "{}",
        ran.stderr
    );
    // Where nothing is to be pushed, nothing is said.
    git(&env.project(), &["remote", "remove", "origin"]);
    let dispute = env.run(["dispute", "list", "--json"]).json()["disputes"][0]["id"].clone();
    let resolve = resolve_args(dispute.as_str().unwrap(), "custom", "merge them");
    let ran = env.run(resolve).assert_code(0);
    assert!(!ran.stderr.contains("Not pushed"), "{}", ran.stderr);
}

#[test]
fn a_judge_who_rules_for_work_that_cannot_be_delivered_leaves_it_to_a_human() {
    let (env, _, dispute) = contradicted();
    let nonce = "{{line:Nonce: }}";
    let says = json!({"replies": [{"json": {"nonce": nonce, "ruling": "DISMISS",
        "reason": "It does what the task asks", "reversal": "a failing test", "end": nonce}}]});
    let script = env.write("../judge.json", says.to_string());
    connect_only(
        &env,
        &format!(
            "  - {{name: jud, provider: scripted, role: judge, script: {}}}\n",
            script.display()
        ),
    );
    let args = [
        "dispute",
        "answer",
        &dispute,
        "--position",
        "It lacks a test",
    ];
    env.run(args).assert_code(0);
    let ran = env.run(["dispute", "judge", &dispute]).assert_code(5);
    let why = "the ruling was DISMISS, for the coder, but it cannot be carried out: what was \
        approved meanwhile contradicts the work in shared.bin";
    assert!(ran.stderr.contains(why), "{}", ran.stderr);
    assert_eq!(markers(&env), "[x] one\n[!] two");
    let page = std::fs::read_to_string(env.project().join("dispute.md")).unwrap();
    assert!(page.contains(why), "{page}");
    let case = dispute.replacen("d-", "c-", 1);
    env.run(["replay", &case]).assert_code(0);
    env.assert_healthy();
}

#[test]
fn a_branch_of_approved_work_that_is_checked_out_refuses_a_ruling_for_the_coder() {
    let env = project_of(super::approved::UNREADABLE, "");
    let task = add(&env, &["one"]);
    env.run(["run"]).assert_code(5);
    let dispute = contest(&env, &task);
    git(&env.project(), &["checkout", "-qb", "tribunal/work"]);
    let ran = env
        .run(resolve_args(&dispute, "coder", "fine"))
        .assert_code(2);
    assert!(ran.stderr.contains("is checked out in"), "{}", ran.stderr);
    assert_eq!(markers(&env), "[!] one");
    git(&env.project(), &["checkout", "-q", "main"]);
    env.run(resolve_args(&dispute, "coder", "fine"))
        .assert_code(0);
    assert_eq!(markers(&env), "[x] one");
    assert_eq!(approved(&env), "one\nbegin");
    env.assert_healthy();
}

#[test]
fn a_task_that_nobody_began_is_never_completed_by_a_ruling() {
    let env = project_of(EASY, "");
    for (index, decide) in [
        vec!["resolve", "--decision", "coder", "--notes", "right"],
        vec!["discard"],
    ]
    .into_iter()
    .enumerate()
    {
        let task = add(&env, &[&format!("task {index}")]);
        let dispute = contest(&env, &task);
        let mut line = vec!["dispute", decide[0], &dispute];
        line.extend(&decide[1..]);
        let ran = env.run(&line).assert_code(0);
        assert!(
            ran.stdout
                .contains("[!] → [ ], nobody has begun it, so it is to be done"),
            "{}",
            ran.stdout
        );
        assert!(
            markers(&env).ends_with(&format!("[ ] task {index}")),
            "{}",
            markers(&env)
        );
        env.assert_healthy();
    }
    // Begun is what somebody started, however often it was settled and reopened in between.
    let task = add(&env, &["given up"]);
    env.run(["task", "start", &task]).assert_code(0);
    env.run(["task", "fail", &task]).assert_code(0);
    env.run(["task", "reopen", &task]).assert_code(0);
    let dispute = contest(&env, &task);
    env.run(resolve_args(&dispute, "coder", "right"))
        .assert_code(0);
    assert!(markers(&env).ends_with("[ ] given up"), "{}", markers(&env));
    // What was started and submitted by hand is completed, and an overruled ruling as well.
    let task = add(&env, &["by hand"]);
    env.run(["task", "start", &task]).assert_code(0);
    env.run(["task", "submit", &task]).assert_code(0);
    let dispute = contest(&env, &task);
    env.run(resolve_args(&dispute, "coder", "right"))
        .assert_code(0);
    assert!(markers(&env).ends_with("[x] by hand"), "{}", markers(&env));
    for (side, from_to) in [("reviewer", "[x] → [-]"), ("coder", "[-] → [x]")] {
        let mut line = resolve_args(&dispute, side, "on second thoughts").to_vec();
        line.push("--overrule");
        let ran = env.run(line).assert_code(0);
        assert!(ran.stdout.contains(from_to), "{}", ran.stdout);
    }
    env.run(["task", "audit"]).assert_code(0);
    env.assert_healthy();
}

/// A project whose only task waits in review, and whose remote went away.
fn without_remote() -> (TestEnv, String) {
    let env = project_of(super::approved::UNREADABLE, "git: {push_attempts: 1}\n");
    let task = add(&env, &["one"]);
    env.run(["run"]).assert_code(5);
    move_remote(&env, "remote.git", "elsewhere.git");
    (env, task)
}

fn move_remote(env: &TestEnv, from: &str, to: &str) {
    std::fs::rename(env.root().join(from), env.root().join(to)).unwrap();
}

fn create(env: &TestEnv, task: &str) -> Ran {
    env.run([
        "dispute",
        "create",
        task,
        "--reason",
        "other",
        "--position",
        "It is right",
        "--as",
        "coder",
        "--json",
    ])
}

#[test]
fn a_push_that_fails_is_told_and_the_next_command_about_disputes_tries_it_again() {
    let (env, task) = without_remote();
    let ran = create(&env, &task).assert_code(5);
    let branch = format!("tribunal/task/{task}");
    let warning = format!("Warning: {branch} could not be pushed to origin in 1 attempt");
    assert!(ran.stderr.contains(&warning), "{}", ran.stderr);
    let json = ran.json();
    assert_eq!(json["pushes"][0]["branch"], branch);
    assert!(json["pushes"][0]["problem"].is_string(), "{json}");
    assert_eq!(markers(&env), "[!] one");
    // A list only warns.
    let ran = env.run(["dispute", "list"]).assert_code(0);
    assert!(
        ran.stderr.contains("could not be pushed to origin"),
        "{}",
        ran.stderr
    );
    move_remote(&env, "elsewhere.git", "remote.git");
    let ran = env.run(["dispute", "list"]).assert_code(0);
    assert_eq!(ran.stderr, format!("Pushed {branch} to origin.\n"));
    let remote = env.root().join("remote.git");
    let there = git(&remote, &["rev-parse", &branch]);
    assert_eq!(there, git(&env.project(), &["rev-parse", &branch]));
    assert_eq!(env.run(["dispute", "list"]).assert_code(0).stderr, "");
    env.assert_healthy();
}

#[test]
fn a_push_that_failed_is_tried_again_by_the_next_run_and_a_push_that_succeeds_is_told() {
    let (env, task) = without_remote();
    let ran = env.run(["task", "approve", &task]).assert_code(5);
    assert!(
        ran.stderr.contains("could not be pushed to origin"),
        "{}",
        ran.stderr
    );
    assert_eq!(markers(&env), "[x] one");
    let ran = env.run(["run", "--json"]).assert_code(5);
    let problem = |json: &Value| json["pushes"][0]["problem"].clone();
    assert!(problem(&ran.json()).is_string(), "{}", ran.stdout);
    move_remote(&env, "elsewhere.git", "remote.git");
    let ran = env.run(["run"]).assert_code(0);
    assert!(
        ran.stderr.contains("Pushed tribunal/work to origin."),
        "{}",
        ran.stderr
    );
    let remote = env.root().join("remote.git");
    assert_eq!(
        git(&remote, &["log", "--format=%s", "tribunal/work"]),
        "one\nbegin"
    );
    let ran = env.run(["run"]).assert_code(0);
    assert!(!ran.stderr.contains("Pushed"), "{}", ran.stderr);
    env.assert_healthy();
}

#[test]
fn a_judge_and_the_page_get_the_code_and_the_files_of_a_tasks_commit() {
    let env = project_of(EASY, "");
    let project = env.project();
    env.write("own.py", "def session_cookie(x):\n    return x\n");
    env.write("docs/AUTH.md", "Sessions expire after an hour.\n");
    git(&project, &["add", "own.py"]);
    git(&project, &["commit", "-qm", "mine"]);
    let task = add(&env, &["by hand"]);
    env.run(["task", "start", &task]).assert_code(0);
    env.run(["task", "submit", &task, "--commit", "HEAD"])
        .assert_code(0);
    let dispute = contest(&env, &task);
    let page = || std::fs::read_to_string(project.join("dispute.md")).unwrap();
    assert!(page().contains("**Files:** own.py\n"), "{}", page());
    env.run([
        "dispute",
        "answer",
        &dispute,
        "--position",
        "It lacks a test",
        "--files",
        "docs/AUTH.md",
    ])
    .assert_code(0);
    assert!(
        page().contains("**Files:** own.py, docs/AUTH.md\n"),
        "{}",
        page()
    );
    let nonce = "{{line:Nonce: }}";
    let says = json!({"replies": [{"json": {"nonce": nonce, "ruling": "ENFORCE",
        "reason": "own.py has no test", "reversal": "a test", "end": nonce}}]});
    let script = env.write("../judge.json", says.to_string());
    connect_only(
        &env,
        &format!(
            "  - {{name: jud, provider: scripted, role: judge, model: gpt-5, script: {}}}\n",
            script.display()
        ),
    );
    env.run(["dispute", "judge", &dispute]).assert_code(0);
    let exported = env.run(["export", &dispute.replacen("d-", "c-", 1)]).json();
    let prompt = exported["runs"][0]["prompt"].to_string();
    for shown in [
        "+def session_cookie(x):",
        "FILE docs/AUTH.md",
        "Sessions expire",
    ] {
        assert!(prompt.contains(shown), "{shown}: {prompt}");
    }
    let audit = env.run(["task", "audit", &task]).assert_code(0).stdout;
    for expected in [
        "[o]→[!] disputed by coder claude-opus-4:",
        "[!]→[-] ruled on by judge jud (gpt-5): own.py has no test",
    ] {
        assert!(audit.contains(expected), "{expected}: {audit}");
    }
    env.assert_healthy();
}

#[test]
fn a_dispute_of_the_loop_is_signed_by_those_who_worked_and_named_by_its_task() {
    let (env, dispute) = super::delivery::disputed();
    let page = std::fs::read_to_string(env.project().join("dispute.md")).unwrap();
    for expected in [
        "### Coder Position (ann)",
        "### Reviewer Position (built-in rules)",
    ] {
        assert!(page.contains(expected), "{expected}: {page}");
    }
    let tasks = env.run(["task", "list", "--json"]).json();
    let task = tasks["tasks"][0]["id"].as_str().unwrap();
    let shown = env.run(["task", "show", task]).assert_code(0).stdout;
    assert!(shown.contains(&dispute), "{shown}");
    assert!(shown.contains("contested by system; waits for"), "{shown}");
    let json = env.run(["task", "show", task, "--json"]).json();
    assert_eq!(json["task"]["dispute"], dispute.as_str());
}
