//! What becomes of approved work, whoever approved it, and what is never touched on the way.

use super::limits::{EASY, project_of};
use super::{add, git, markers, project};
use crate::common::{TestEnv, resolve_args};

/// A coder whose work no reviewer can read, so that its review settles nothing.
pub(super) const UNREADABLE: &str = "printf 'a\\000b\\001' > \"$title.bin\"";

fn subjects(env: &TestEnv) -> String {
    git(&env.project(), &["log", "--format=%s", "tribunal/work"])
}

fn pushed(env: &TestEnv) -> String {
    let remote = env.root().join("remote.git");
    git(&remote, &["log", "--format=%s", "tribunal/work"])
}

#[test]
fn work_that_a_person_approves_goes_where_approved_work_goes() {
    let env = project_of(UNREADABLE, "");
    let task = add(&env, &["one"]);
    env.run(["run"]).assert_code(5);
    assert_eq!(markers(&env), "[o] one");
    let ran = env.run(["task", "approve", &task, "--notes", "looked at it."]);
    let ran = ran.assert_code(0);
    assert!(
        ran.stderr.contains("Its work is on tribunal/work as "),
        "{}",
        ran.stderr
    );
    assert_eq!(subjects(&env), "one\nbegin");
    assert_eq!(pushed(&env), "one\nbegin");
    let audit = env.run(["task", "audit", &task]).assert_code(0).stdout;
    assert!(
        audit.contains("approved by human: looked at it; on tribunal/work as "),
        "{audit}"
    );
    env.assert_healthy();
}

/// Returns a project whose list approves work that waits for somebody to look at it.
pub(super) fn approving_list() -> TestEnv {
    let env = project_of(UNREADABLE, "");
    env.write("TASKS.md", "- [ ] one\n");
    env.run(["task", "import", "TASKS.md"]).assert_code(0);
    env.run(["run"]).assert_code(5);
    env.run(["task", "export", "TASKS.md"]).assert_code(0);
    env.write("TASKS.md", "- [x] one\n");
    env
}

#[test]
fn an_approval_in_a_list_delivers_the_work_as_well() {
    let env = approving_list();
    env.run(["task", "import", "TASKS.md"]).assert_code(0);
    assert_eq!(markers(&env), "[x] one");
    assert_eq!(pushed(&env), "one\nbegin");
    env.assert_healthy();
}

#[test]
fn an_approval_that_was_killed_on_the_way_delivers_once() {
    for point in [
        "run.integrate.before",
        "run.integrate.after",
        "run.push.before",
        "task.move.before",
    ] {
        let env = project_of(UNREADABLE, "");
        let task = add(&env, &["one"]);
        env.run(["run"]).assert_code(5);
        env.crash_at(&["task", "approve", &task], point, 1);
        env.run(["task", "approve", &task]).assert_code(0);
        assert_eq!(subjects(&env), "one\nbegin", "{point}");
        assert_eq!(pushed(&env), "one\nbegin", "{point}");
        env.assert_healthy();
    }
}

#[test]
fn work_that_contradicts_what_was_approved_meanwhile_is_not_approved_by_hand() {
    let script = "touch \"$DIR/began-$title\"\n\
        while [ ! -e \"$DIR/began-one\" ] || [ ! -e \"$DIR/began-two\" ]; do sleep 0.05; done\n\
        printf \"$title\\000\" > shared.bin";
    let env = project_of(script, "");
    let one = add(&env, &["one"]);
    let two = add(&env, &["two"]);
    env.run(["run", "--parallel", "2"]).assert_code(5);
    env.run(["task", "approve", &one]).assert_code(0);
    let ran = env.run(["task", "approve", &two]).assert_code(1);
    assert_eq!(
        env.tidy(&ran.stderr),
        "Error: Task [CASE] (two) cannot be approved: what was approved meanwhile contradicts its work in shared.bin\n\
         Hint: Let it be done again with `tribunal task reject [CASE]`\n\
         Hint: Or merge the two yourself; the work stays in the ledger\n"
    );
    assert_eq!(markers(&env), "[x] one\n[o] two");
    assert_eq!(subjects(&env), "one\nbegin");
    env.assert_healthy();
}

#[test]
fn a_branch_that_is_checked_out_anywhere_is_never_moved() {
    for linked in [false, true] {
        let env = project_of(EASY, "");
        add(&env, &["one"]);
        let project = env.project();
        let place = match linked {
            true => {
                git(
                    &project,
                    &["worktree", "add", "-q", "../linked", "-b", "tribunal/work"],
                );
                env.root().join("linked")
            }
            false => {
                git(&project, &["checkout", "-qb", "tribunal/work"]);
                project.clone()
            }
        };
        let ran = env.run(["run"]).assert_code(2);
        let shown = place.display();
        assert_eq!(
            ran.stderr,
            format!(
                "Error: The branch `tribunal/work` is checked out in `{shown}`, where moving it would change your files\n\
                 Hint: Check out another branch there: `git -C {shown} switch main`\n\
                 Hint: Or collect approved work elsewhere: `--set run.branch=NAME` or in the config\n"
            )
        );
        // Nobody has worked, and nothing was moved.
        assert_eq!(markers(&env), "[ ] one");
        assert_eq!(
            git(&place, &["status", "--porcelain", "--untracked-files=no"]),
            ""
        );
        assert_eq!(subjects(&env), "begin");
        env.run(["run", "--set", "run.branch=other"]).assert_code(0);
        env.assert_healthy();
    }
}

#[test]
fn a_branch_that_is_checked_out_during_a_run_leaves_the_work_approved() {
    let script = format!(
        "git -C \"$DIR/project\" worktree add -q \"$DIR/linked\" tribunal/work 2>/dev/null; {EASY}"
    );
    let env = project_of(&script, "");
    git(&env.project(), &["branch", "tribunal/work"]);
    add(&env, &["one"]);
    let ran = env.run(["run"]).assert_code(5);
    assert_eq!(markers(&env), "[o] one");
    assert!(
        ran.stderr.contains("its work is approved, but"),
        "{}",
        ran.stderr
    );
    assert!(!ran.stderr.contains("branch -D"), "{}", ran.stderr);
    let linked = env.root().join("linked");
    assert_eq!(git(&linked, &["status", "--porcelain"]), "");
    // Once the branch is free, the work goes there without being done or reviewed again.
    git(&linked, &["switch", "-q", "--detach"]);
    let calls = |env: &TestEnv| {
        let log = env.run(["task", "list", "--json"]).json();
        log["tasks"][0]["spend"]["runs"].as_u64().unwrap()
    };
    let before = calls(&env);
    env.run(["run"]).assert_code(0);
    assert_eq!(calls(&env), before);
    assert_eq!(subjects(&env), "one\nbegin");
    env.assert_healthy();
}

#[test]
fn disputed_work_leaves_a_branch_alone_that_is_checked_out() {
    let env = project("run: {max_iterations: 2, max_rejections: 1, coordinate_at: []}\n");
    let task = add(&env, &["never passes"]);
    env.run(["run"]).assert_code(0);
    let branch = format!("tribunal/task/{task}");
    git(
        &env.project(),
        &["worktree", "add", "-q", "../linked", &branch],
    );
    let linked = env.root().join("linked");
    let kept = git(&linked, &["rev-parse", "HEAD"]);
    let disputes = env.run(["dispute", "list", "--json"]).json();
    let dispute = disputes["disputes"][0]["id"].as_str().unwrap();
    env.run(resolve_args(dispute, "reviewer", "use a parser"))
        .assert_code(0);
    let ran = env.run(["run"]).assert_code(0);
    assert_eq!(markers(&env), "[!] never passes");
    let warned = "is checked out in";
    assert!(ran.stderr.contains(warned), "{}", ran.stderr);
    assert_eq!(git(&linked, &["rev-parse", "HEAD"]), kept);
    assert_eq!(git(&linked, &["status", "--porcelain"]), "");
    env.assert_healthy();
}

#[test]
fn a_commit_that_a_person_submits_is_reviewed_and_delivered_like_any_other_work() {
    let env = project_of(EASY, "");
    let project = env.project();
    let task = add(&env, &["by hand"]);
    env.run(["task", "start", &task]).assert_code(0);
    git(&project, &["checkout", "-qb", "empty"]);
    git(&project, &["commit", "-q", "--allow-empty", "-m", "empty"]);
    git(&project, &["checkout", "-q", "main"]);
    for (revision, code, expected) in [
        ("nowhere", 4, "Error: No commit is called `nowhere`"),
        ("empty", 2, "Error: `empty` changes no file since "),
    ] {
        let ran = env.run(["task", "submit", &task, "--commit", revision]);
        let ran = ran.assert_code(code);
        assert!(ran.stderr.starts_with(expected), "{}", ran.stderr);
    }
    assert_eq!(markers(&env), "[-] by hand");
    git(&project, &["checkout", "-qb", "feature"]);
    env.write("own.py", "def f(x):\n    return x\n");
    git(&project, &["add", "own.py"]);
    git(&project, &["commit", "-qm", "mine"]);
    git(&project, &["checkout", "-q", "main"]);
    env.run(["task", "submit", &task, "--commit", "feature"])
        .assert_code(0);
    assert_eq!(markers(&env), "[o] by hand");
    env.run(["run"]).assert_code(0);
    assert_eq!(markers(&env), "[x] by hand");
    assert_eq!(subjects(&env), "by hand\nbegin");
    assert_eq!(pushed(&env), "by hand\nbegin");
    let audit = env.run(["task", "audit", &task]).stdout;
    assert!(audit.contains("submitted by human"), "{audit}");
    env.assert_healthy();
    // Without a commit there is nothing that could be reviewed, which is said.
    let other = add(&env, &["unseen"]);
    env.run(["task", "start", &other]).assert_code(0);
    env.run(["task", "submit", &other]).assert_code(0);
    let ran = env.run(["run"]).assert_code(5);
    assert!(
        ran.stderr.contains("its work was submitted by hand"),
        "{}",
        ran.stderr
    );
}

/// Removes a branch and all that only it led to.
fn prune(env: &TestEnv, branch: &str) {
    let project = env.project();
    git(&project, &["branch", "-qD", branch]);
    git(&project, &["reflog", "expire", "--expire=now", "--all"]);
    git(&project, &["gc", "-q", "--prune=now"]);
}

#[test]
fn a_submitted_commit_is_kept_and_one_that_is_gone_stops_nothing_else() {
    let env = project_of(EASY, "");
    let project = env.project();
    let commit = |name: &str| {
        env.write(&format!("{name}.py"), "def f(x):\n    return x\n");
        git(&project, &["add", "."]);
        git(&project, &["commit", "-qm", name]);
    };
    git(&project, &["checkout", "-qb", "feature"]);
    commit("mine");
    git(&project, &["checkout", "-q", "main"]);
    submitted(&env, "kept", "feature");
    prune(&env, "feature");
    // What it was compared with is gone too: its branch started from a commit that was taken back.
    commit("taken-back");
    git(&project, &["checkout", "-qb", "other"]);
    commit("theirs");
    git(&project, &["checkout", "-q", "main"]);
    let lost = submitted(&env, "lost", "other");
    git(&project, &["reset", "-q", "--hard", "HEAD~1"]);
    prune(&env, "other");
    add(&env, &["easy"]);

    let ran = env.run(["run"]).assert_code(5);
    assert_eq!(markers(&env), "[x] kept\n[o] lost\n[x] easy");
    let why = "of its work is gone from the repository, so nobody can review it";
    assert!(ran.stderr.contains(why), "{}", ran.stderr);
    // What the message says to type helps.
    env.run(["task", "reject", &lost, "--notes", "it is gone"])
        .assert_code(0);
    env.run(["run"]).assert_code(0);
    assert_eq!(markers(&env), "[x] kept\n[x] lost\n[x] easy");
    env.assert_healthy();
}

#[test]
fn a_reopened_task_starts_from_what_was_approved_and_hears_why() {
    let script = format!("printf '%s' \"$prompt\" > \"$DIR/prompt\"; {EASY}");
    let env = project_of(&script, "run: {max_iterations: 2}\n");
    let task = add(&env, &["one"]);
    env.run(["run"]).assert_code(0);
    let audit = env.run(["task", "audit", &task]).stdout;
    assert!(audit.contains("submitted by ann"), "{audit}");
    env.run(["task", "reopen", &task, "--notes", "do it with a class"])
        .assert_code(0);
    // The coder writes what is there already, so nothing changes; a person is asked, and it is no success.
    let ran = env.run(["run"]).assert_code(0);
    assert_eq!(markers(&env), "[!] one");
    let prompt = std::fs::read_to_string(env.root().join("prompt")).unwrap();
    assert!(prompt.contains("do it with a class"), "{prompt}");
    assert!(
        ran.stderr.contains("tribunal dispute show"),
        "{}",
        ran.stderr
    );
    env.assert_healthy();
}

/// Starts a task, submits `revision` for it, and returns it.
fn submitted(env: &TestEnv, title: &str, revision: &str) -> String {
    let task = add(env, &[title]);
    env.run(["task", "start", &task]).assert_code(0);
    env.run(["task", "submit", &task, "--commit", revision])
        .assert_code(0);
    task
}

#[test]
fn head_is_submitted_wherever_the_user_stands() {
    let commit = |env: &TestEnv, name: &str| {
        env.write(&format!("{name}.py"), "def f(x):\n    return x\n");
        git(&env.project(), &["add", "."]);
        git(&env.project(), &["commit", "-qm", name]);
    };
    let files = |env: &TestEnv, task: &str| {
        let events = env.run(["show", task, "--json"]).assert_code(0).json();
        let events = events["events"].as_array().unwrap().clone();
        let kept = events
            .iter()
            .rev()
            .find(|event| event["type"] == "work_kept");
        kept.unwrap()["files"].to_string()
    };
    // On the default branch, a commit is work by itself.
    let env = project_of(EASY, "");
    commit(&env, "earlier");
    commit(&env, "mine");
    let task = submitted(&env, "on main", "HEAD");
    assert_eq!(files(&env, &task), r#"["mine.py"]"#);
    env.run(["run"]).assert_code(0);
    assert_eq!(markers(&env), "[x] on main");
    let ran = {
        let next = add(&env, &["nothing new"]);
        env.run(["task", "start", &next]).assert_code(0);
        env.run(["task", "submit", &next, "--commit", "HEAD"])
            .assert_code(2)
    };
    assert!(
        ran.stderr
            .contains("`HEAD` is part of `tribunal/work` already, so it is approved"),
        "{}",
        ran.stderr
    );
    env.assert_healthy();
    // On a branch, all that it adds to the default branch is.
    let env = project_of(EASY, "");
    git(&env.project(), &["checkout", "-qb", "feature"]);
    commit(&env, "one");
    commit(&env, "two");
    let task = submitted(&env, "on a branch", "HEAD");
    assert_eq!(files(&env, &task), r#"["one.py","two.py"]"#);
    env.run(["run"]).assert_code(0);
    assert_eq!(markers(&env), "[x] on a branch");
    env.assert_healthy();
    // The first commit of a project starts from nothing.
    let env = project_of(EASY, "");
    git(&env.project(), &["checkout", "-q", "--orphan", "fresh"]);
    git(&env.project(), &["branch", "-qD", "main"]);
    git(&env.project(), &["branch", "-qm", "main"]);
    git(&env.project(), &["rm", "-rqf", "."]);
    git(
        &env.project(),
        &["update-ref", "-d", "refs/remotes/origin/main"],
    );
    commit(&env, "first");
    let task = submitted(&env, "from nothing", "HEAD");
    assert_eq!(files(&env, &task), r#"["first.py"]"#);
    env.run(["task", "approve", &task]).assert_code(0);
    env.assert_healthy();
}

#[test]
fn a_submitted_commit_outlives_its_branch_and_lost_work_holds_up_its_task_alone() {
    let env = project_of(EASY, "");
    let project = env.project();
    git(&project, &["checkout", "-qb", "feature"]);
    env.write("own.py", "def f(x):\n    return x\n");
    git(&project, &["add", "own.py"]);
    git(&project, &["commit", "-qm", "mine"]);
    git(&project, &["checkout", "-q", "main"]);
    submitted(&env, "by hand", "feature");
    git(&project, &["branch", "-qD", "feature"]);
    git(&project, &["reflog", "expire", "--expire=now", "--all"]);
    git(&project, &["gc", "-q", "--prune=now"]);
    env.run(["run"]).assert_code(0);
    assert_eq!(markers(&env), "[x] by hand");
    env.assert_healthy();
}
