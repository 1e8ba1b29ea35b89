//! What a dispute does not take, and what is said about it.

use insta::assert_snapshot;
use serde_json::Value;

use super::{Court, add_task, outcome};
use crate::common::{TestEnv, resolve_args};

#[test]
fn a_ruling_is_refused_twice_and_replaced_only_by_a_person_who_says_so() {
    let court = Court::new();
    let id = court.open();
    let resolve = |decision: &str, more: &[&str]| {
        let args = resolve_args(&id, decision, "because");
        court.env.run(args.iter().chain(more))
    };
    resolve("coder", &[]).assert_code(0);
    assert_eq!(court.marker(), "[x]");
    let again = resolve("reviewer", &[]);
    assert_snapshot!(court.env.tidy(&outcome(&again)), @"
    Error: Dispute [DISPUTE] was ruled before: DISMISS by human
    Hint: See `tribunal dispute show [DISPUTE]`
    Hint: A person can overrule it: add `--overrule` to `tribunal dispute resolve`
    exit 6
    ");
    assert_eq!(court.marker(), "[x]");
    resolve("reviewer", &["--overrule"]).assert_code(0);
    assert_eq!(court.marker(), "[-]");
    court.env.assert_healthy();
}

#[test]
fn the_side_is_stated_or_told_by_the_task_and_never_guessed() {
    let env = TestEnv::new();
    let create = |task: &str, more: &[&str]| {
        let args = [
            "dispute",
            "create",
            task,
            "--reason",
            "other",
            "--position",
            "x",
        ];
        env.run(args.iter().chain(more))
    };
    let pending = add_task(&env, "Pending");
    assert_snapshot!(env.tidy(&outcome(&create(&pending, &[]))), @"
    Error: Task [CASE] is pending: it does not tell whose position it is
    Hint: Say `--as coder` or `--as reviewer`
    exit 2
    ");
    create(&pending, &["--as", "coder"]).assert_code(0);

    let sent_back = add_task(&env, "Sent back");
    for step in ["start", "submit", "reject"] {
        env.run(["task", step, &sent_back]).assert_code(0);
    }
    // The name of a model says nothing about its role.
    let created = create(&sent_back, &["--model", "the-reviewer-9", "--json"]);
    let dispute = created.assert_code(0).json()["dispute"].clone();
    assert_eq!(dispute["coder"]["model"], "the-reviewer-9");
    assert_eq!(dispute["reviewer"], Value::Null);
    env.assert_healthy();
}

#[test]
fn what_is_not_possible_is_refused_with_the_reason() {
    let court = Court::new();
    let env = &court.env;
    let id = court.open();
    let done = add_task(env, "Done");
    for step in ["start", "submit", "approve"] {
        env.run(["task", step, &done]).assert_code(0);
    }
    let mut told = String::new();
    for args in [
        [
            "dispute",
            "create",
            &court.task,
            "--reason",
            "other",
            "--position",
            "x",
        ]
        .as_slice(),
        &[
            "dispute",
            "create",
            &done,
            "--reason",
            "other",
            "--position",
            "x",
            "--as",
            "coder",
        ],
        &[
            "dispute",
            "create",
            "c-0000000000",
            "--reason",
            "other",
            "--position",
            "x",
        ],
        &[
            "dispute",
            "create",
            &court.task,
            "--reason",
            "taste",
            "--position",
            "x",
        ],
        &["dispute", "answer", &id, "--position", " "],
        &[
            "dispute",
            "answer",
            &id,
            "--position",
            "x",
            "--as",
            "reviewer",
        ],
        &resolve_args(&id, "coder", " "),
        &resolve_args("d-0000000000", "coder", "x"),
        &[
            "dispute",
            "resolve",
            &id,
            "--decision",
            "coder",
            "--notes",
            "x",
            "--overrule",
        ],
        &["dispute", "log", &court.task, "--notes", "x"],
        &["dispute", "show", "d-"],
    ] {
        let ran = env.run(args);
        told += &format!("{}exit {}\n", ran.stderr, ran.code.unwrap());
    }
    assert_snapshot!(env.tidy(&told), @r#"
    Error: Task [CASE] has an open dispute: [DISPUTE]
    Hint: State the other position with `tribunal dispute answer [DISPUTE] --position …`
    exit 6
    Error: Task [CASE] is completed, so there is nothing to dispute
    Hint: Reopen it with `tribunal task reopen [CASE]`
    exit 2
    Error: No task has the id `[CASE]`
    Hint: `tribunal task list` shows all tasks
    exit 4
    error: invalid value 'taste' for '--reason <REASON>': "taste" is no reason; known are architecture_disagreement, specification_ambiguity, guideline_conflict, security_concern, scope_disagreement, other

    For more information, try '--help'.
    exit 2
    Error: The position of the coder is empty
    exit 2
    Error: The reviewer has stated its position in dispute [DISPUTE]
    exit 2
    Error: A ruling needs a reason
    exit 2
    Error: No dispute has the id `[DISPUTE]`
    Hint: `tribunal dispute list` shows all disputes
    exit 4
    Error: Dispute [DISPUTE] has no ruling that could be overruled
    exit 2
    error: the following required arguments were not provided:
      --minor

    Usage: tribunal dispute log --minor --notes <TEXT> --ledger <DIR> <TASK>

    For more information, try '--help'.
    exit 2
    exit 0
    "#);
    assert_eq!(court.marker(), "[!]");
    env.assert_healthy();
}
