//! Work of the loop, and commands about it that are given outside of its project.

use serde_json::Value;

use super::approved::{UNREADABLE, approving_list};
use super::delivery::disputed;
use super::limits::project_of;
use super::{add, git, markers};
use crate::common::{Ran, TestEnv, resolve_args};

/// The places from which the project's ledger is reached and its repository is not.
const PLACES: [(&str, &str); 2] = [
    (
        "nowhere",
        "lies in its project, and this directory is in none",
    ),
    ("other", "does not lie in `[ROOT]/other`"),
];

/// Makes an empty directory and a repository of somebody else.
fn places(env: &TestEnv) {
    for (name, _) in PLACES {
        std::fs::create_dir_all(env.root().join(name)).unwrap();
    }
    let other = env.root().join("other");
    git(&other, &["init", "-q", "-b", "main", "."]);
    git(&other, &["commit", "-q", "--allow-empty", "-m", "theirs"]);
}

/// Runs a command on the project's ledger from another directory.
fn run_in(env: &TestEnv, place: &str, args: &[&str]) -> Ran {
    let (place, ledger) = (env.root().join(place), env.ledger());
    let mut command = env.command(args);
    Ran::of(command.arg("--ledger").arg(ledger).arg("-C").arg(place))
}

/// All that must not change: the stories of all cases, and the branches of both repositories.
fn everything(env: &TestEnv) -> String {
    let log = env.run(["log", "--json", "-n", "100"]).assert_code(0);
    let cases = log.json();
    let stories = cases["cases"].as_array().unwrap().iter().map(|case| {
        let id = case["case"].as_str().unwrap();
        env.run(["show", id, "--format", "jsonl"]).assert_code(0)
    });
    let mut told: Vec<String> = stories.map(|ran| ran.stdout).collect();
    for repository in ["project", "other"] {
        let refs = ["for-each-ref", "--format=%(objectname) %(refname)"];
        told.push(git(&env.root().join(repository), &refs));
    }
    told.join("\n")
}

/// Gives the command in each of the places, and expects to be told where it belongs.
fn check_refused(env: &TestEnv, args: &[&str]) {
    places(env);
    let before = everything(env);
    for (place, why) in PLACES {
        let ran = run_in(env, place, args).assert_code(2);
        assert_eq!(
            env.tidy(&ran.stderr),
            format!(
                "Error: The work on task [CASE] {why}\n\
                 Hint: Nothing was changed; give the command in the project, or add `-C PROJECT`\n"
            )
        );
        assert_eq!(everything(env), before, "{place}");
    }
}

fn approved(env: &TestEnv) -> String {
    git(&env.project(), &["log", "--format=%s", "tribunal/work"])
}

#[test]
fn work_is_not_approved_where_it_cannot_be_delivered() {
    let env = project_of(UNREADABLE, "");
    let task = add(&env, &["one"]);
    env.run(["run"]).assert_code(5);
    check_refused(&env, &["task", "approve", &task]);
    assert_eq!(markers(&env), "[o] one");
    let project = env.project();
    let back = ["task", "approve", &task, "-C", project.to_str().unwrap()];
    let mut command = env.command(back);
    Ran::of(command.current_dir(env.root().join("nowhere"))).assert_code(0);
    assert_eq!(markers(&env), "[x] one");
    assert_eq!(approved(&env), "one\nbegin");
    env.assert_healthy();
}

#[test]
fn a_list_does_not_approve_work_that_cannot_be_delivered() {
    let env = approving_list();
    places(&env);
    for (place, why) in PLACES {
        env.write(&format!("../{place}/TASKS.md"), "- [x] one\n");
        let ran = run_in(&env, place, &["task", "import", "TASKS.md"]);
        let told = format!("task [CASE] was not moved: the work on task [CASE] {why}");
        assert!(env.tidy(&ran.stderr).contains(&told), "{place}: {ran:?}");
        assert_eq!(markers(&env), "[o] one");
    }
    // Nothing was lost: the same list is taken over where it belongs.
    env.run(["task", "import", "TASKS.md"]).assert_code(0);
    assert_eq!(markers(&env), "[x] one");
    assert_eq!(approved(&env), "one\nbegin");
    env.assert_healthy();
}

#[test]
fn a_ruling_for_the_coder_is_given_where_the_work_lies() {
    let (env, dispute) = disputed();
    let ruling = resolve_args(&dispute, "coder", "good enough");
    check_refused(&env, &ruling);
    check_refused(&env, &["dispute", "discard", &dispute]);
    assert_eq!(markers(&env), "[!] never passes");
    env.run(ruling).assert_code(0);
    assert_eq!(approved(&env), "never passes\nbegin");
    env.assert_healthy();
}

#[test]
fn a_ruling_for_the_reviewer_needs_no_work() {
    let (env, dispute) = disputed();
    places(&env);
    let ruling = resolve_args(&dispute, "reviewer", "use a parser");
    run_in(&env, "nowhere", &ruling).assert_code(0);
    assert_eq!(markers(&env), "[-] never passes");
}

#[test]
fn no_judge_is_asked_about_work_that_lies_elsewhere() {
    let (env, dispute) = disputed();
    let judge = env.root().join("judge.sh");
    std::fs::write(&judge, "echo asked >> \"$0.asked\"\n").unwrap();
    let agents = std::fs::read_to_string(env.home().join(".config/tribunal/config.yml")).unwrap();
    let agents = agents.replacen(
        "agents:\n",
        &format!(
            "agents:\n  - name: jo\n    command: [sh, {}]\n    role: judge\n",
            judge.display()
        ),
        1,
    );
    env.write_user_config(&agents);
    check_refused(&env, &["dispute", "judge", &dispute]);
    assert!(!env.root().join("judge.sh.asked").exists());
    env.assert_healthy();
}

#[test]
fn what_a_killed_ruling_left_undone_waits_for_a_command_in_the_project() {
    let (env, dispute) = disputed();
    let ruling = resolve_args(&dispute, "coder", "good enough");
    env.crash_at(&ruling, "run.integrate.before", 1);
    places(&env);
    let branches = |env: &TestEnv| git(&env.project(), &["branch", "--list", "tribunal/work"]);
    for (place, _) in PLACES {
        let listed = run_in(&env, place, &["dispute", "list", "--json"]).assert_code(0);
        let listed: Value = listed.json();
        assert_eq!(listed["disputes"][0]["id"], dispute.as_str());
        assert_eq!(branches(&env), "");
    }
    let ran = run_in(&env, "nowhere", &["resume"]);
    assert_eq!(branches(&env), "", "{}", ran.stderr);
    env.run(["dispute", "list"]).assert_code(0);
    assert_eq!(approved(&env), "never passes\nbegin");
    env.assert_healthy();
}
