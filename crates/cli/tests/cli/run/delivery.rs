//! Approved work on its way: onto one branch, and to the remote.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;

use super::{add, git, markers, project};
use crate::common::{TestEnv, resolve_args};

#[test]
fn tasks_that_run_side_by_side_end_in_one_line_of_commits() {
    let env = project("");
    for index in 0..4 {
        add(&env, &[&format!("task {index}")]);
    }
    let ran = env.run(["run", "--parallel", "4"]).assert_code(0);
    // While several are worked on, lines say which one they are about.
    let named = |line: &str| line.starts_with("task ") && line.contains(": [ ]→[-] started");
    assert!(ran.stderr.lines().any(named), "{}", ran.stderr);
    let log = git(&env.project(), &["log", "--format=%s", "tribunal/work"]);
    let mut lines: Vec<&str> = log.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, ["begin", "task 0", "task 1", "task 2", "task 3"]);
    env.assert_healthy();
}

#[test]
fn tasks_are_done_where_repository_ledger_and_places_are_on_two_file_systems() {
    for part in ["project", "ledger", "home"] {
        let env = project("");
        let Some(_other) = env.move_elsewhere(part) else {
            return;
        };
        add(&env, &["easy"]);
        env.run(["run"]).assert_code(0);
        assert_eq!(markers(&env), "[x] easy", "{part}");
        let log = ["log", "--format=%s", "tribunal/work"];
        assert_eq!(git(&env.project(), &log), "easy\nbegin", "{part}");
        assert_eq!(git(&env.root().join("remote.git"), &log), "easy\nbegin");
        env.assert_healthy();
    }
}

/// Returns a project whose only task ends in a dispute, and the dispute's id.
pub(super) fn disputed() -> (TestEnv, String) {
    let env = project("run: {max_iterations: 2, max_rejections: 1, coordinate_at: []}\n");
    add(&env, &["never passes"]);
    env.run(["run"]).assert_code(0);
    let disputes = env.run(["dispute", "list", "--json"]).json();
    let id = disputes["disputes"][0]["id"].as_str().unwrap().to_owned();
    (env, id)
}

#[test]
fn a_ruling_killed_between_commit_and_push_gives_one_commit_and_one_push() {
    for point in [
        "run.integrate.before",
        "run.integrate.after",
        "run.push.before",
    ] {
        let (env, dispute) = disputed();
        let line = resolve_args(&dispute, "coder", "good enough");
        env.crash_at(&line, point, 1);
        // The next command about disputes does what is left.
        env.run(["dispute", "list"]).assert_code(0);
        assert_eq!(markers(&env), "[x] never passes", "{point}");
        let log = ["log", "--format=%s", "tribunal/work"];
        let here = git(&env.project(), &log);
        assert_eq!(here, "never passes\nbegin", "{point}");
        assert_eq!(git(&env.root().join("remote.git"), &log), here, "{point}");
        env.run(line).assert_code(6);
        env.assert_healthy();
    }
}

#[test]
fn a_rejected_push_is_tried_again_and_told() {
    let env = project("git: {push_attempts: 2}\n");
    hook(
        &env,
        "pre-receive",
        "#!/bin/sh\necho x >> $PWD/refused\nexit 1\n",
    );
    add(&env, &["easy"]);
    let ran = env.run(["run"]).assert_code(5);
    assert_eq!(markers(&env), "[x] easy");
    assert!(
        ran.stderr
            .contains("could not be pushed to origin in 2 attempts"),
        "{}",
        ran.stderr
    );
    let refused = std::fs::read_to_string(env.root().join("remote.git/refused")).unwrap();
    assert_eq!(refused.lines().count(), 2);
    env.assert_healthy();
}

#[test]
fn a_commit_that_went_along_with_a_newer_one_is_pushed() {
    let env = project("git: {push_attempts: 1}\n");
    // While the remote takes the commit, somebody pushes another on top of it: git refuses the
    // older one, and it is there all the same.
    let newer = format!(
        "#!/bin/sh\n\
         [ -e overtaken ] && exit 0\n\
         touch overtaken\n\
         remote=$PWD\n\
         unset $(git rev-parse --local-env-vars) GIT_QUARANTINE_PATH\n\
         cd {} || exit 1\n\
         commit=$(git -c user.name=t -c user.email=t@t.invalid commit-tree -p $3 -m newer $3^{{tree}})\n\
         git push -q $remote $commit:$1\n",
        env.project().display()
    );
    hook(&env, "update", &newer);
    let task = add(&env, &["easy"]);
    let ran = env.run(["run"]).assert_code(0);
    assert!(
        !ran.stderr.contains("could not be pushed"),
        "{}",
        ran.stderr
    );
    assert_eq!(markers(&env), "[x] easy");
    let log = ["log", "--format=%s", "tribunal/work"];
    assert_eq!(
        git(&env.root().join("remote.git"), &log),
        "newer\neasy\nbegin"
    );
    assert_eq!(git(&env.project(), &log), "easy\nbegin");
    // The push is done, and nobody tries it again.
    let story = env.run(["show", &task, "--format", "jsonl"]).assert_code(0);
    let done = |line: &&str| line.contains("effect_done") && line.contains("push ");
    assert_eq!(story.stdout.lines().filter(done).count(), 1);
    env.assert_healthy();
}

/// Puts a hook into the remote.
fn hook(env: &TestEnv, name: &str, script: &str) {
    let hook = env.root().join("remote.git/hooks").join(name);
    std::fs::write(&hook, script).unwrap();
    std::fs::set_permissions(&hook, Permissions::from_mode(0o755)).unwrap();
}
