//! Where reviewers work: outside of the user's repository, and gone afterwards.

use std::path::Path;

use super::Desk;

/// A report about `src/pay.py` that finds nothing in it.
const CLEAN: &str = r#"[{"filePath": "src/pay.py", "messages": []}]"#;

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap().trim().to_owned()
}

#[test]
fn a_linter_works_in_a_repository_of_its_own_where_nothing_is_ignored() {
    let mut desk = Desk::with_change();
    // The ledger in the project ignores itself, and with it all that is in it.
    let ledger = desk.env.project().join(".tribunal/ledger");
    let seen = desk.env.root().join("seen");
    let script = format!(
        "exec 3>{}
git rev-parse --show-toplevel >&3; pwd -P >&3
git check-ignore -v src/pay.py >&3 && echo ignored >&3
git ls-files >&3
echo '{CLEAN}'",
        seen.display()
    );
    desk.linter("look", &script);
    let ledger = ledger.display().to_string();
    desk.review(&["--ledger", &ledger]).assert_code(0);
    let seen = read(&seen);
    let mut lines = seen.lines();
    let (top, place) = (lines.next().unwrap(), lines.next().unwrap());
    assert_eq!(top, place);
    let project = desk.env.project().canonicalize().unwrap();
    assert!(!Path::new(place).starts_with(project), "{place}");
    assert_eq!(lines.collect::<Vec<_>>(), ["README.md", "src/pay.py"]);
    assert_eq!(desk.env.places_left(), Vec::<std::path::PathBuf>::new());
}

#[test]
fn a_tracked_file_that_the_project_ignores_is_listed() {
    let mut desk = Desk::new();
    desk.write(".gitignore", "kept.py\n");
    desk.write("kept.py", "x = 1\n");
    desk.git(&["add", "-f", "kept.py", ".gitignore"]);
    desk.git(&["commit", "-q", "-m", "third"]);
    let seen = desk.env.root().join("seen");
    let script = format!("git ls-files >{}; echo '{CLEAN}'", seen.display());
    desk.linter("look", &script);
    desk.review(&["--commit", "HEAD"]);
    assert!(read(&seen).lines().any(|line| line == "kept.py"));
}

#[test]
fn an_agent_that_is_asked_finds_no_repository_above_its_place() {
    let desk = Desk::new();
    let ledger = desk.env.project().join(".tribunal/ledger");
    desk.env.write_user_config(
        "agents:\n  - {name: who, provider: custom, role: reviewer, command: [sh, -c, \"cat >/dev/null; git rev-parse --show-toplevel; pwd -P\"]}\n",
    );
    let ledger = ledger.display().to_string();
    let ran = desk.env.run(["ask", "who", "hello", "--ledger", &ledger]);
    let mut lines = ran.stdout.lines();
    let (top, place) = (lines.next().unwrap(), lines.next().unwrap());
    assert_eq!(top, place, "{}", ran.stdout);
    assert_eq!(desk.env.places_left(), Vec::<std::path::PathBuf>::new());
}

#[test]
fn what_a_killed_review_left_is_used_by_its_resumption_or_swept_by_the_next() {
    let mut desk = Desk::with_change();
    desk.linter("look", &format!("echo '{CLEAN}'"));
    desk.review(&[]).assert_code(0);
    desk.env.crash_at(&["review"], "case.step.finish.before", 1);
    assert_eq!(desk.env.places_left().len(), 1);
    desk.env.run(["resume"]).assert_code(0);
    assert!(desk.env.places_left().is_empty());

    desk.env.crash_at(&["review"], "case.step.finish.before", 1);
    assert_eq!(desk.env.places_left().len(), 1);
    desk.review(&[]).assert_code(0);
    assert!(desk.env.places_left().is_empty());
}
