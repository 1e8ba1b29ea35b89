//! `dispute` and `disputes`.

mod judge;
mod printed;
mod refusals;
mod stale;

use insta::assert_snapshot;
use serde_json::Value;

use crate::common::terminal::Terminal;
use crate::common::{Ran, TestEnv, resolve_args};

/// A project with one task in review.
pub(super) struct Court {
    pub(super) env: TestEnv,
    pub(super) task: String,
}

impl Court {
    pub(super) fn new() -> Self {
        let env = TestEnv::new();
        let task = add_task(&env, "Fix login bug");
        env.run(["task", "start", &task]).assert_code(0);
        env.run(["task", "submit", &task]).assert_code(0);
        Self { env, task }
    }

    /// Opens a dispute as the reviewer and returns its id.
    pub(super) fn open(&self) -> String {
        open_dispute(&self.env, &self.task)
    }

    pub(super) fn page(&self) -> String {
        std::fs::read_to_string(self.env.project().join("dispute.md")).unwrap()
    }

    pub(super) fn marker(&self) -> String {
        let shown = self.env.run(["task", "show", &self.task]).assert_code(0);
        shown.stdout.chars().take(3).collect()
    }
}

pub(super) fn add_task(env: &TestEnv, title: &str) -> String {
    let ran = env.run(["task", "add", title, "--json"]).assert_code(0);
    ran.json()["task"]["id"].as_str().unwrap().to_owned()
}

pub(super) fn open_dispute(env: &TestEnv, task: &str) -> String {
    let ran = env.run([
        "dispute",
        "create",
        task,
        "--reason",
        "architecture_disagreement",
        "--position",
        "Session cookies are more secure",
        "--model",
        "claude-opus-4",
        "--as",
        "reviewer",
        "--json",
    ]);
    let json = ran.assert_code(0).json();
    json["dispute"]["id"].as_str().unwrap().to_owned()
}

fn outcome(ran: &Ran) -> String {
    format!("{}{}exit {}\n", ran.stdout, ran.stderr, ran.code.unwrap())
}

/// Leaves out who took a case over, which differs from run to run.
fn without_holders(text: &str) -> String {
    let lines = text.split_inclusive('\n');
    lines.filter(|line| !line.contains("resumed by")).collect()
}

#[test]
fn a_dispute_goes_through_its_life() {
    let court = Court::new();
    let env = &court.env;
    let opened = env.run([
        "dispute",
        "create",
        &court.task,
        "--reason",
        "architecture_disagreement",
        "--position",
        "Session cookies are more secure",
        "--model",
        "claude-opus-4",
    ]);
    assert_snapshot!(env.tidy(&outcome(&opened)), @"
    Opened dispute [DISPUTE] about Fix login bug ([CASE])
    Task: [o] → [!]
    Recorded as the position of the reviewer: the task is in review.
    The position of the coder is missing: `tribunal dispute answer [DISPUTE] --position …`
    exit 0
    ");
    assert_eq!(court.marker(), "[!]");
    let list = env.run(["dispute", "list", "--json"]).assert_code(0).json();
    let id = list["disputes"][0]["id"].as_str().unwrap().to_owned();

    let spec = "Spec says 'stateless auth' which implies JWT";
    let answered = env.run(["dispute", "answer", &id[..8], "--position", spec]);
    assert_snapshot!(env.tidy(&outcome(&answered)), @"
    Recorded the position of the coder in dispute [DISPUTE]
    exit 0
    ");
    assert_snapshot!(env.tidy(&court.page()), @"
    # Active Disputes

    <!-- Written by tribunal from its ledger. Changes made here are overwritten. -->

    ## Dispute: [DISPUTE] (OPEN)

    **Task:** Fix login bug ([CASE])
    **Reason:** Architecture disagreement
    **Created:** [DATE] [HOUR] UTC

    ### Coder Position (human)
    Spec says 'stateless auth' which implies JWT

    ### Reviewer Position (claude-opus-4)
    Session cookies are more secure

    ### Status
    AWAITING HUMAN DECISION
    ");

    let notes = "Use JWT but store it in a cookie";
    let resolved = env.run(resolve_args(&id, "custom", notes));
    assert_snapshot!(env.tidy(&outcome(&resolved)), @"
    Resolved dispute [DISPUTE]: AMEND, custom instructions
    Task [CASE]: [!] → [-], the coder follows your notes
    exit 0
    ");
    assert_eq!(court.marker(), "[-]");
    let shown = env.run(["dispute", "show", &id]).assert_code(0);
    assert_snapshot!(env.tidy(&without_holders(&shown.stdout)), @"
    Dispute [DISPUTE] (resolved)
      Task       Fix login bug ([CASE])
      Reason     Architecture disagreement
      Origin     rejection
      Gravity    major
      Opened by  reviewer claude-opus-4
      Created    [DATE] [HOUR] UTC

    Coder Position (human)
      Spec says 'stateless auth' which implies JWT

    Reviewer Position (claude-opus-4)
      Session cookies are more secure

    Ruling: AMEND, custom instructions, [DATE] [HOUR] UTC, by human
      Use JWT but store it in a cookie

    History
      [DATE] [TIME]  opened a case of `dispute`: Fix login bug
      [DATE] [TIME]  dispute [DISPUTE] opened (architecture_disagreement): Fix login bug
      [DATE] [TIME]  done: mark task [CASE] as disputed
      [DATE] [TIME]  done: bring dispute.md up to date
      [DATE] [TIME]  parked: waits for a person: the position of the coder
      [DATE] [TIME]  the coder stated its position (human)
      [DATE] [TIME]  done: bring dispute.md up to date
      [DATE] [TIME]  parked: waits for a person: a ruling
      [DATE] [TIME]  ruled: AMEND by human: Use JWT but store it in a cookie
      [DATE] [TIME]  done: send task [CASE] back to the coder
      [DATE] [TIME]  done: bring dispute.md up to date
      [DATE] [TIME]  completed
    ");
    assert_snapshot!(env.tidy(&court.page()), @"
    # Active Disputes

    <!-- Written by tribunal from its ledger. Changes made here are overwritten. -->

    None are open.

    ---

    ## Dispute: [DISPUTE] (RESOLVED)

    **Task:** Fix login bug ([CASE])
    **Resolution:** CUSTOM ([DATE])
    **By:** human: AMEND, custom instructions
    **Notes:** Use JWT but store it in a cookie
    ");
    env.assert_healthy();
}

#[test]
fn each_decision_moves_the_task_as_it_should() {
    for (decision, marker) in [("coder", "[x]"), ("reviewer", "[-]"), ("custom", "[-]")] {
        let court = Court::new();
        let id = court.open();
        assert_eq!(court.marker(), "[!]");
        let args = resolve_args(&id, decision, "because");
        court.env.run(args).assert_code(0);
        assert_eq!(court.marker(), marker, "{decision}");
        court.env.assert_healthy();
    }
}

#[test]
fn a_minor_dispute_changes_nothing_and_needs_nobody() {
    let court = Court::new();
    let env = &court.env;
    let notes = "Reviewer preferred camelCase";
    let logged = env.run(["dispute", "log", &court.task, "--minor", "--notes", notes]);
    assert_snapshot!(env.tidy(&outcome(&logged)), @"
    Noted [DISPUTE] about Fix login bug ([CASE])
    exit 0
    ");
    assert_eq!(court.marker(), "[o]");
    let shown = env.run(["disputes", "--json"]).assert_code(0).json();
    assert_eq!(shown["disputes"][0]["origin"], "minor");
    assert!(!env.project().join("dispute.md").exists());
    let open = env
        .run(["dispute", "list", "--status", "open"])
        .assert_code(0);
    assert_eq!(open.stdout, "");
    let noted = env.run(["disputes", "--recent", "10"]).assert_code(0);
    assert_snapshot!(env.tidy(&noted.stdout), @"
    ID            OPENED      ABOUT          REASON  RULING  BY 
    [DISPUTE]  [DATE]  Fix login bug  other   noted
    ");
    env.assert_healthy();
}

#[test]
fn a_discard_is_a_ruling_with_its_own_provenance() {
    let court = Court::new();
    let id = court.open();
    court.env.run(["dispute", "discard", &id]).assert_code(0);
    let shown = court.env.run(["dispute", "show", &id, "--json"]);
    let ruling = shown.assert_code(0).json()["dispute"]["ruling"].clone();
    assert_eq!(ruling["decision"], "dismiss");
    assert_eq!(ruling["by"], "discard");
    assert_eq!(court.marker(), "[x]");
    court.env.assert_healthy();
}

#[test]
fn a_file_of_the_users_own_is_left_alone() {
    let court = Court::new();
    court.env.write("dispute.md", "# My own notes\n");
    let id = court.open();
    assert_eq!(court.page(), "# My own notes\n");
    let shown = court.env.run(["dispute", "show", &id]).assert_code(0);
    // Where the line is broken depends on the length of the path.
    let words: Vec<&str> = shown.stdout.split_whitespace().collect();
    let words = words.join(" ");
    assert!(words.contains("was not written by tribunal and is left alone"));
    std::fs::remove_file(court.env.project().join("dispute.md")).unwrap();
    let args = ["dispute", "answer", &id, "--position", "x"];
    court.env.run(args).assert_code(0);
    assert!(court.page().contains(&id));
    court.env.assert_healthy();
}

#[test]
fn the_page_is_not_touched_when_it_is_right() {
    let court = Court::new();
    let id = court.open();
    let path = court.env.project().join("dispute.md");
    let before = std::fs::metadata(&path).unwrap().modified().unwrap();
    court.env.run(["dispute", "list"]).assert_code(0);
    court.env.run(["dispute", "show", &id]).assert_code(0);
    let after = std::fs::metadata(&path).unwrap().modified().unwrap();
    assert_eq!(before, after);
}

#[test]
fn whose_position_it_is_is_asked_at_a_terminal() {
    let env = TestEnv::with_repository();
    let task = add_task(&env, "Fix login bug");
    env.run(["task", "start", &task]).assert_code(0);
    let args = [
        "dispute",
        "create",
        &task,
        "--reason",
        "other",
        "--position",
        "short",
    ];
    let ask = || {
        let terminal = Terminal::start(&env, &args);
        terminal.wait_for("Whose position is this?");
        terminal
    };
    let terminal = ask();
    terminal.keys(&["C-c"]);
    assert_eq!(terminal.exit_code(), 130, "{}", terminal.screen());
    let listed = || env.run(["dispute", "list", "--json"]).json()["disputes"].clone();
    assert_eq!(listed(), serde_json::json!([]));
    let terminal = ask();
    terminal.keys(&["Down", "Enter"]);
    assert_eq!(terminal.exit_code(), 0, "{}", terminal.screen());
    assert_eq!(listed()[0]["reviewer"]["text"], "short");
    assert_eq!(listed()[0]["coder"], Value::Null);
}

#[test]
fn every_record_says_who_opened_and_who_ruled() {
    let court = Court::new();
    let (env, task) = (&court.env, court.task.as_str());
    let notes = ["--minor", "--notes", "snake_case"];
    for author in [
        vec!["--model", "gpt-5"],
        vec!["--by", "ann"],
        vec!["--by", "cod", "--model", "gpt-5"],
        vec![],
    ] {
        let mut line = vec!["dispute", "log", task];
        line.extend(notes.iter().chain(&author));
        env.run(&line).assert_code(0);
    }
    let id = court.open();
    let shown = env.run(["dispute", "show", &id, "--json"]).json();
    assert_eq!(
        shown["dispute"]["created_by"],
        serde_json::json!({"by": "named", "role": "reviewer", "name": "claude-opus-4"})
    );
    env.run(resolve_args(&id, "coder", "fine")).assert_code(0);
    let audit = env.run(["task", "audit", task]).assert_code(0).stdout;
    for expected in [
        "minor dispute noted by model gpt-5:",
        "minor dispute noted by ann:",
        "minor dispute noted by agent cod (gpt-5):",
        "minor dispute noted by human:",
        "[o]→[!] disputed by reviewer claude-opus-4:",
        "[!]→[x] ruled on by human: fine",
    ] {
        assert!(audit.contains(expected), "{expected}: {audit}");
    }
    env.assert_healthy();
}

#[test]
fn every_id_is_taken_where_one_is_asked_for() {
    let court = Court::new();
    let env = &court.env;
    let id = court.open();
    let case = id.replacen("d-", "c-", 1);
    for args in [
        ["show", &id],
        ["watch", &id],
        ["resume", &id],
        ["export", &id],
        ["export", &id[2..]],
        ["show", &court.task],
        ["watch", &court.task],
    ] {
        env.run(args).assert_code(0);
    }
    for named in [id.as_str(), &case, &court.task, &id[2..]] {
        let ran = env.run(["dispute", "show", named]).assert_code(0);
        assert!(
            ran.stdout.starts_with(&format!("Dispute {id} (open)")),
            "{}",
            ran.stdout
        );
    }
    for (args, code, expected) in [
        (["explain", &id], 2, "is a dispute about task"),
        (["explain", &court.task], 2, "is a task, not a finding"),
        (
            ["show", "f-12345678"],
            4,
            "no review has a finding `f-12345678`",
        ),
        (
            ["dispute-show", "f-12345678"],
            4,
            "no dispute is about finding f-12345678",
        ),
    ] {
        let args: Vec<&str> = match args[0] {
            "dispute-show" => vec!["dispute", "show", args[1]],
            _ => args.to_vec(),
        };
        let ran = env.run(&args).assert_code(code);
        let told = ran.stderr.to_lowercase();
        assert!(
            told.contains(&expected.to_lowercase()),
            "{args:?}: {}",
            ran.stderr
        );
    }
    let other = add_task(env, "Undisputed");
    let ran = env.run(["dispute", "show", &other]).assert_code(4);
    assert!(
        ran.stderr.contains("o dispute is about task"),
        "{}",
        ran.stderr
    );
    env.assert_healthy();
}

#[test]
fn tasks_of_the_same_title_are_told_apart_and_a_task_says_what_holds_it_up() {
    let court = Court::new();
    let env = &court.env;
    let first = court.open();
    let other = add_task(env, "Fix login bug");
    env.run(["task", "start", &other]).assert_code(0);
    open_dispute(env, &other);
    let listed = env.run(["dispute", "list"]).assert_code(0).stdout;
    for task in [&court.task, &other] {
        assert!(
            listed.contains(&format!("Fix login bug ({task})")),
            "{listed}"
        );
    }
    let shown = env.run(["task", "show", &court.task]).assert_code(0).stdout;
    assert_snapshot!(shown.replace(&court.task, "TASK").replace(&first, "DISPUTE"), @"
    [!] Fix login bug
      Task          TASK
      State         disputed
      Why           Architecture disagreement, contested by reviewer claude-opus-4; waits for the position of the coder
      Dispute       DISPUTE
      Next          `tribunal dispute show DISPUTE`
      Rejections    0
      Cost          nothing
    ");
    let json = env.run(["task", "show", &court.task, "--json"]).json();
    assert_eq!(json["task"]["dispute"], first.as_str());
    let failed = add_task(env, "Hopeless");
    env.run(["task", "fail", &failed, "--notes", "the API is gone"])
        .assert_code(0);
    let shown = env.run(["task", "show", &failed]).assert_code(0).stdout;
    assert!(shown.contains("Why           the API is gone"), "{shown}");
    let json = env.run(["task", "show", &failed, "--json"]).json();
    assert_eq!(json["task"]["why"], "the API is gone");
    // One rule for what is open or decided already.
    let args = [
        "dispute",
        "create",
        &other,
        "--reason",
        "other",
        "--position",
        "x",
    ];
    env.run(args).assert_code(6);
}

#[test]
fn a_contested_rejection_offers_what_it_said_as_the_reviewers_position() {
    let court = Court::new();
    let env = &court.env;
    env.run(["task", "reject", &court.task, "--notes", "there's no test"])
        .assert_code(0);
    let args = [
        "dispute",
        "create",
        &court.task,
        "--reason",
        "other",
        "--position",
        "There is",
    ];
    let ran = env.run(args).assert_code(0);
    assert_snapshot!(env.tidy(&outcome(&ran)), @r"
    Opened dispute [DISPUTE] about Fix login bug ([CASE])
    Task: [-] → [!]
    Recorded as the position of the coder: a rejection sent the task back.
    The rejection said: there's no test
    Take that as the position of the reviewer with `tribunal dispute answer [DISPUTE] --as reviewer --position 'there'\''s no test'`, or state another
    exit 0
    ");
    env.assert_healthy();
}

#[test]
fn without_arguments_a_ruling_is_asked_for_at_a_terminal_the_oldest_dispute_first() {
    let court = Court::new();
    let env = &court.env;
    let first = court.open();
    let other = add_task(env, "Add OAuth");
    env.run(["task", "start", &other]).assert_code(0);
    open_dispute(env, &other);
    let ran = env.run(["dispute", "resolve"]).assert_code(2);
    assert!(ran.stderr.contains("Say which dispute"), "{}", ran.stderr);
    let terminal = Terminal::start(env, &["dispute", "resolve"]);
    terminal.wait_for("Which dispute?");
    terminal.keys(&["Enter"]);
    terminal.wait_for("Your ruling?");
    terminal.keys(&["Enter"]);
    terminal.wait_for("Why?");
    terminal.keys(&["sessions", "Enter"]);
    assert_eq!(terminal.exit_code(), 0, "{}", terminal.screen());
    let shown = env.run(["dispute", "show", &first, "--json"]).json();
    assert_eq!(shown["dispute"]["ruling"]["decision"], "enforce");
    env.assert_healthy();
}
