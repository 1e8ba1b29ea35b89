//! What people type wrong: the message says what and what to do, and the exit code which kind.

use crate::common::TestEnv;

/// Runs in a directory that is no repository, without a config.
fn check(args: &[&str], code: i32, told: &[&str]) {
    let env = TestEnv::new();
    std::fs::remove_dir(env.project().join(".git")).unwrap();
    env.write("a.py", "x = 1\n");
    let ran = env.run(args);
    assert_eq!(ran.code, Some(code), "{args:?}: {}", ran.stderr);
    for part in told {
        assert!(ran.stderr.contains(part), "{args:?}: {}", ran.stderr);
    }
}

#[test]
fn a_file_that_is_not_there_is_not_found() {
    for args in [
        &["review", "a.py", "--with", "none.sarif"][..],
        &["review", "--patch", "none.diff"],
        &["consensus", "none.json"],
        &["consensus", "--batch", "none.jsonl"],
        &["verdict", "none.json"],
        &["task", "import", "none.md"],
        &["arbiter", "explain", "--input", "none.json"],
        &["ask", "scripted", "--batch", "none.txt"],
        &["config", "validate", "none.yml"],
    ] {
        check(
            args,
            4,
            &["Error: Cannot read ", "none", "because: No such file"],
        );
    }
}

#[test]
fn what_nobody_is_called_is_not_found() {
    for (args, told) in [
        (
            &["review", "a.py", "--reviewer", "ann"][..],
            "The reviewers are: builtin",
        ),
        (
            &["review", "a.py", "--reviewer", "builtin:x"],
            "builtin:security",
        ),
        (&["ask", "ann", "hi"], "The agents are: scripted"),
        (&["doctor", "ann"], "`tribunal agents` lists them"),
        (&["disconnect", "ann"], "`tribunal agents` lists them"),
        (&["show", "c-1a2b"], "`tribunal log` lists the cases"),
        (
            &["task", "show", "c-1a2b"],
            "`tribunal task list` shows all tasks",
        ),
        (
            &["dispute", "show", "d-1a2b"],
            "`tribunal dispute list` shows all",
        ),
        (&["explain", "f-1a2b"], "Findings are listed by"),
    ] {
        check(args, 4, &["Error: No ", "Hint: ", told]);
    }
}

#[test]
fn values_that_make_no_sense_are_refused_where_they_were_typed() {
    for (args, told) in [
        (
            &["review", "--save", "foo=x"][..],
            "the formats are text, json",
        ),
        (
            &["review", "--max-cost", "lots"],
            "'--max-cost <USD>': write an amount",
        ),
        (
            &["ask", "scripted", "hi", "--max-cost", "x"],
            "'--max-cost <USD>'",
        ),
        (&["trial", "x", "--max-cost", "x"], "'--max-cost <USD>'"),
        (&["run", "--max-time", "5x"], "write a time such as"),
        (&["review", "--rounds", "5"], "`contested`, 1, 2 or 3"),
        (&["connect", "claude", "--role", "king"], "the roles are:"),
    ] {
        check(args, 2, &[told]);
    }
}

#[test]
fn outside_of_a_repository_a_review_says_what_it_can_do() {
    check(
        &["review"],
        2,
        &[
            "is not in a git repository",
            "tribunal review src",
            "git init",
        ],
    );
}
