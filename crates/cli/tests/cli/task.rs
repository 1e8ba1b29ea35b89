//! `task` and `section`.

use insta::assert_snapshot;
use unicode_width::UnicodeWidthStr as _;

use crate::common::{TestEnv, resolve_args};

/// Adds a task and returns its id.
fn add(env: &TestEnv, args: &[&str]) -> String {
    let args = ["task", "add"].iter().chain(args).chain(&["--json"]);
    let ran = env.run(args).assert_code(0);
    ran.json()["task"]["id"].as_str().unwrap().to_owned()
}

#[test]
fn a_task_goes_through_its_life() {
    let env = TestEnv::new();
    let task = add(&env, &["Fix login bug", "--source", "docs/SPEC.md#login"]);
    let mut told = String::new();
    for args in [
        ["task", "start", &task].as_slice(),
        &["task", "submit", &task],
        &["task", "reject", &task, "--notes", "no test", "--by", "bob"],
        &["task", "submit", &task[..7]],
        &["task", "approve", &task[7..]],
    ] {
        told += &env.run(args).assert_code(0).stdout;
    }
    assert_snapshot!(env.tidy(&told), @"
    Started [CASE]: [-] Fix login bug
    Submitted [CASE]: [o] Fix login bug
    Rejected [CASE]: [-] Fix login bug
    Submitted [CASE]: [o] Fix login bug
    Approved [CASE]: [x] Fix login bug
    ");
    let shown = env.run(["task", "show", &task]).assert_code(0);
    assert_snapshot!(env.tidy(&shown.stdout), @"
    [x] Fix login bug
      Task          [CASE]
      State         completed
      Source        docs/SPEC.md#login
      Rejections    1
      Cost          nothing

    Instructions
      no test
    ");
    let audit = env.run(["task", "audit", &task]).assert_code(0);
    assert_snapshot!(env.tidy(&audit.stdout), @"
    [CASE] Fix login bug
      [DATE] [TIME]      [ ] added by human
      [DATE] [TIME]  [ ]→[-] started by human
      [DATE] [TIME]  [-]→[o] submitted by human
      [DATE] [TIME]  [o]→[-] rejected by bob: no test
      [DATE] [TIME]  [-]→[o] submitted by human
      [DATE] [TIME]  [o]→[x] approved by human
    ");
    assert_snapshot!(audit.stderr, @"The story is whole.");
    env.assert_healthy();
}

#[test]
fn what_is_not_possible_is_refused_with_the_reason() {
    let env = TestEnv::new();
    let task = add(&env, &["Fix login bug"]);
    let mut told = String::new();
    for (code, args) in [
        (2, ["task", "approve", &task].as_slice()),
        (2, &["task", "reopen", &task]),
        (4, &["task", "start", "c-0000000000"]),
        (2, &["task", "add", " "]),
        (2, &["task", "add", "two\nlines"]),
        (4, &["task", "edit", &task, "--section", "Nowhere"]),
        (2, &["task", "edit", &task, "--depends", &task]),
        (2, &["task", "list", "--state", "done"]),
        (2, &["resume", &task]),
        (4, &["section", "remove", "Nowhere"]),
    ] {
        let ran = env.run(args).assert_code(code);
        told += &ran.stderr;
    }
    assert_snapshot!(env.tidy(&told), @r#"
    Error: Task [CASE] (Fix login bug) cannot be approved: it is pending, and no work was submitted
    Hint: `tribunal task show [CASE]` tells where it stands
    Error: Task [CASE] (Fix login bug) cannot be reopened: it is pending, and it is not settled
    Hint: `tribunal task show [CASE]` tells where it stands
    Error: No task has the id `[CASE]`
    Hint: `tribunal task list` shows all tasks
    Error: The title is empty
    Error: The title holds a control character or more than one line
    Error: No section is called `Nowhere`
    Hint: Make one with `tribunal section add NAME`
    Error: Task [CASE] (Fix login bug) would depend on itself
    error: invalid value 'done' for '--state <STATE>': "done" is no state; known are pending, in_progress, in_review, completed, disputed, failed, skipped

    For more information, try '--help'.
    Error: Case [CASE] is a task; the loop works on it with `tribunal run --task [CASE]`
    Error: No section is called `Nowhere`
    Hint: Make one with `tribunal section add NAME`
    "#);
    let audit = env.run(["task", "audit", &task, "--json"]).assert_code(0);
    let entries = &audit.json()["audits"][0]["audit"]["entries"];
    assert_eq!(entries.as_array().unwrap().len(), 1, "{entries}");
    env.assert_healthy();
}

#[test]
fn the_board_stays_within_the_screen_whatever_tasks_are_called() {
    let env = TestEnv::new();
    let titles = [
        "a title that goes on and on and on and on and on and on and on and on and on",
        "短いが幅の広い題名はここで切れて省略記号がその後に続くはずである",
        "short",
    ];
    for title in titles {
        add(&env, &[title, "--section", "Everything about payments"]);
    }
    let board = env.run(["task", "list"]).assert_code(0);
    assert_snapshot!(env.tidy(&board.stdout), @"
         TASK          SECTION            HOLDER  REJECTED  COST  TITLE            
    [ ]  [CASE]  Everything about…  -       -         -     a title that go… 
    [ ]  [CASE]  Everything about…  -       -         -     短いが幅の広い…  
    [ ]  [CASE]  Everything about…  -       -         -     short
    ");
    for line in board.stdout.lines() {
        assert!(line.width() <= 80, "{line}");
    }
    let whole = env.run(["task", "list", "--json"]).assert_code(0).json();
    let whole = whole["tasks"].as_array().unwrap().iter();
    let whole: Vec<_> = whole.map(|task| task["title"].as_str().unwrap()).collect();
    assert_eq!(whole, titles);
}

#[test]
fn without_tasks_nothing_is_exported() {
    let env = TestEnv::new();
    env.write("TASKS.md", "# Plan\n");
    let ran = env.run(["task", "export", "TASKS.md"]).assert_code(0);
    assert_snapshot!(ran.stdout + &ran.stderr, @"There are no tasks, so nothing was exported.");
    assert_eq!(env.run(["task", "export"]).assert_code(0).stdout, "");
}

#[test]
fn the_board_is_in_order_of_sections_priorities_and_places() {
    let env = TestEnv::new();
    add(&env, &["one", "--section", "Auth"]);
    add(&env, &["two", "--section", "Auth"]);
    add(&env, &["three", "--section", "Auth", "--priority", "high"]);
    let four = add(&env, &["four"]);
    let five = add(&env, &["five \u{202e}red", "--section", "Shop"]);
    env.run(["section", "add", "Setup", "--before", "Auth"])
        .assert_code(0);
    env.run(["task", "edit", &four, "--section", "Setup"])
        .assert_code(0);
    env.run(["task", "start", &five]).assert_code(0);
    env.run(["section", "rename", "Auth", "Login"])
        .assert_code(0);
    let board = env.run(["task", "list"]).assert_code(0);
    assert_snapshot!(env.tidy(&board.stdout), @"
         TASK          SECTION  HOLDER  REJECTED  COST  TITLE     
    [ ]  [CASE]  Setup    -       -         -     four      
    [ ]  [CASE]  Login    -       -         -     three     
    [ ]  [CASE]  Login    -       -         -     one       
    [ ]  [CASE]  Login    -       -         -     two       
    [-]  [CASE]  Shop     -       -         -     five �red
    ");
    assert_snapshot!(board.stderr, @"5 tasks: 4 pending, 1 in progress.");
    env.run(["section", "move", "Shop", "--before", "Setup"])
        .assert_code(0);
    let sections = env.run(["section", "list"]).assert_code(0);
    assert_snapshot!(sections.stdout, @"
    SECTION  SETTLED  TASKS 
    Shop     0        1     
    Setup    0        1     
    Login    0        3
    ");
    let refused = env.run(["section", "remove", "Login"]).assert_code(2);
    assert_snapshot!(refused.stderr, @"Error: Section `Login` is not empty: 3 of its tasks stand there");
    env.assert_healthy();
}

#[test]
fn a_task_that_somebody_works_on_is_busy() {
    let env = TestEnv::new();
    let task = add(&env, &["Fix login bug"]);
    let racing: Vec<_> = (0..6)
        .map(|_| env.command(["task", "start", &task]).spawn().unwrap())
        .collect();
    let codes: Vec<_> = racing
        .into_iter()
        .map(|mut child| child.wait().unwrap().code().unwrap())
        .collect();
    // One wins; the others come too late or at the same time.
    assert_eq!(codes.iter().filter(|code| **code == 0).count(), 1);
    assert!(
        codes.iter().all(|code| matches!(code, 0 | 2 | 6)),
        "{codes:?}"
    );
    env.assert_healthy();
}

const LIST: &str = "\
# Work

Words that nobody changes.

## Auth
- [ ] Fix login bug
  source: docs/SPEC.md#login
- [ ] Add OAuth
  after: Fix login bug
- [?] strange

## Shop
1. [x] Cart \u{1F6D2}";

#[test]
fn a_list_is_imported_once_and_exported_with_the_markers_of_today() {
    let env = TestEnv::new();
    env.write("TASKS.md", LIST);
    let first = env.run(["task", "import", "TASKS.md"]).assert_code(0);
    assert_snapshot!(first.stdout + &first.stderr, @"
    3 added, 0 changed, 0 moved, 0 as they were
    Note: line 10: `[?]` is no marker of a task
    ");
    let again = env.run(["task", "import", "TASKS.md"]).assert_code(0);
    assert_snapshot!(again.stdout + &again.stderr, @"
    0 added, 0 changed, 0 moved, 3 as they were
    Note: line 10: `[?]` is no marker of a task
    ");
    // Nothing moved: the file and what is printed are the same bytes.
    env.run(["task", "export", "TASKS.md"]).assert_code(0);
    let file = || std::fs::read_to_string(env.project().join("TASKS.md")).unwrap();
    assert_eq!(file(), LIST);
    assert_eq!(env.run(["task", "export"]).assert_code(0).stdout, LIST);

    let next = env.run(["task", "next"]).assert_code(0);
    assert_snapshot!(env.tidy(&(next.stdout + &next.stderr)), @"
    start [CASE]: Fix login bug
    [CASE] waits for [CASE], which is pending.
    ");
    let id = env.run(["task", "next", "--json"]).json()["next"]["task"].clone();
    env.run(["task", "start", id.as_str().unwrap()])
        .assert_code(0);
    add(
        &env,
        &["Add logout", "--section", "Auth", "--priority", "low"],
    );
    env.run(["task", "export", "TASKS.md"]).assert_code(0);
    let expected = LIST
        .replace("- [ ] Fix", "- [-] Fix")
        .replace("- [?]", "- [ ] Add logout\n  priority: low\n- [?]");
    assert_eq!(file(), expected);
    env.assert_healthy();
}

#[test]
fn a_marker_changed_in_the_file_moves_its_task() {
    let env = TestEnv::new();
    env.write("TASKS.md", LIST);
    env.run(["task", "import", "TASKS.md"]).assert_code(0);
    env.write("TASKS.md", LIST.replace("- [ ] Fix", "- [x] Fix"));
    let done = env.run(["task", "import", "TASKS.md"]).assert_code(0);
    assert_snapshot!(done.stdout, @"0 added, 0 changed, 1 moved, 2 as they were");
    // Written out and marked back again, it is pending once more.
    env.run(["task", "export", "TASKS.md", "--ids"])
        .assert_code(0);
    let written = std::fs::read_to_string(env.project().join("TASKS.md")).unwrap();
    assert_eq!(written.matches("<!-- c-").count(), 3, "{written}");
    let renamed = written.replace("- [x] Fix login bug", "- [ ] Fix the login");
    env.write("TASKS.md", renamed);
    env.run(["task", "import", "TASKS.md"]).assert_code(0);
    let board = env.run(["task", "list"]).assert_code(0);
    assert_snapshot!(env.tidy(&board.stdout), @"
         TASK          SECTION  HOLDER  REJECTED  COST  TITLE         
    [ ]  [CASE]  Auth     -       -         -     Fix the login 
    [ ]  [CASE]  Auth     -       -         -     Add OAuth     
    [x]  [CASE]  Shop     -       -         -     Cart 🛒
    ");
    env.run(["task", "audit"]).assert_code(0);
    for (code, file) in [(4, "none.md"), (2, ".")] {
        env.run(["task", "import", file]).assert_code(code);
    }
    env.assert_healthy();
}

#[test]
fn the_audit_tells_edits_and_minor_disputes() {
    let env = TestEnv::new();
    let task = add(&env, &["one"]);
    env.run(["task", "edit", &task, "--priority", "high", "--by", "bob"])
        .assert_code(0);
    env.run(["dispute", "log", &task, "--minor", "--notes", "naming"])
        .assert_code(0);
    env.run(["task", "start", &task]).assert_code(0);
    let audit = env.run(["task", "audit", &task]).assert_code(0);
    assert_snapshot!(env.tidy(&audit.stdout), @"
    [CASE] one
      [DATE] [TIME]      [ ] added by human
      [DATE] [TIME]      [ ] changed by bob: priority: normal → high
      [DATE] [TIME]      [ ] minor dispute noted by human: [DISPUTE]: naming
      [DATE] [TIME]  [ ]→[-] started by human
    ");
    let json = env
        .run(["task", "audit", &task, "--json"])
        .assert_code(0)
        .json();
    let entries = json["audits"][0]["audit"]["entries"].as_array().unwrap();
    let what: Vec<&str> = entries
        .iter()
        .map(|one| one["what"].as_str().unwrap())
        .collect();
    assert_eq!(what, ["added", "edited", "noted", "moved"]);
}

#[test]
fn a_list_that_cannot_be_taken_over_is_left_alone_as_a_whole() {
    let env = TestEnv::new();
    let long = "x".repeat(301);
    let text = format!("# New\n- [ ] one\n  after: two\n- [ ] {long}\n- [ ] two\n  after: one\n");
    env.write("TASKS.md", text);
    let ran = env.run(["task", "import", "TASKS.md"]).assert_code(2);
    assert_snapshot!(ran.stderr, @"
    Error: The list was not taken over, nothing of it
    Hint: TASKS.md:4: the title is longer than 300 characters
    Hint: TASKS.md:2: `one` (line 2) comes after `two` (line 5) comes after `one` (line 2)
    ");
    let list = env.run(["task", "list", "--json"]).json();
    assert_eq!(list["tasks"], serde_json::json!([]));
    let sections = env.run(["section", "list", "--json"]).json();
    assert_eq!(sections["sections"], serde_json::json!([]));
}

#[test]
fn an_order_that_is_taken_out_of_a_list_holds_no_longer() {
    let env = TestEnv::new();
    let depends = |env: &TestEnv, title: &str| {
        let list = env.run(["task", "list", "--json"]).json();
        let tasks = list["tasks"].as_array().unwrap().clone();
        let mut found = tasks.into_iter().filter(|task| task["title"] == title);
        let depends = found.next().unwrap()["depends_on"].clone();
        depends.as_array().map_or(0, Vec::len)
    };
    env.write(
        "TASKS.md",
        "- [ ] one\n- [ ] two\n  after: one\n- [ ] three\n",
    );
    env.run(["task", "import", "TASKS.md"]).assert_code(0);
    assert_eq!(depends(&env, "two"), 1);
    // What was said elsewhere stays.
    let list = env.run(["task", "list", "--json"]).json();
    let id = |index: usize| list["tasks"][index]["id"].as_str().unwrap().to_owned();
    let both = format!("{},{}", id(0), id(2));
    env.run(["task", "edit", &id(1), "--depends", &both])
        .assert_code(0);
    env.write("TASKS.md", "- [ ] one\n- [ ] two\n- [ ] three\n");
    let ran = env.run(["task", "import", "TASKS.md"]).assert_code(0);
    assert_snapshot!(ran.stdout, @"0 added, 1 changed, 0 moved, 2 as they were");
    assert_eq!(depends(&env, "two"), 1);
    let ran = env.run(["task", "import", "TASKS.md"]).assert_code(0);
    assert_snapshot!(ran.stdout, @"0 added, 0 changed, 0 moved, 3 as they were");
    env.assert_healthy();
}

#[test]
fn a_task_that_is_disputed_in_a_list_has_a_dispute() {
    let env = TestEnv::new();
    env.write("TASKS.md", "- [!] one\n- [ ] two\n");
    let ran = env.run(["task", "import", "TASKS.md"]).assert_code(0);
    assert_snapshot!(env.tidy(&(ran.stdout + &ran.stderr)), @"
    2 added, 0 changed, 0 moved, 0 as they were
    Task [CASE] is disputed ([DISPUTE]).
    ");
    let disputes = env.run(["dispute", "list", "--json"]).json();
    let dispute = disputes["disputes"][0]["id"].as_str().unwrap();
    let again = env.run(["task", "import", "TASKS.md"]).assert_code(0);
    assert_snapshot!(again.stdout, @"0 added, 0 changed, 0 moved, 2 as they were");
    let resolve = resolve_args(dispute, "coder", "fine");
    env.run(resolve).assert_code(0);
    env.run(["task", "export", "TASKS.md"]).assert_code(0);
    let text = std::fs::read_to_string(env.project().join("TASKS.md")).unwrap();
    assert_eq!(text, "- [x] one\n- [ ] two\n");
    env.assert_healthy();
}

#[test]
fn an_export_with_ids_names_every_task_in_a_new_file_as_well() {
    let env = TestEnv::new();
    let add = |title: &str| {
        let ran = env.run(["task", "add", title, "--json"]).assert_code(0);
        ran.json()["task"]["id"].as_str().unwrap().to_owned()
    };
    let (one, two) = (add("one"), add("two"));
    env.run(["task", "export", "NEW.md", "--ids"])
        .assert_code(0);
    let text = std::fs::read_to_string(env.project().join("NEW.md")).unwrap();
    for (title, id) in [("one", &one), ("two", &two)] {
        assert!(
            text.contains(&format!("- [ ] {title} <!-- {id} -->\n")),
            "{text}"
        );
    }
    let again = env.run(["task", "import", "NEW.md"]).assert_code(0);
    assert!(again.stdout.starts_with("0 added"), "{}", again.stdout);
}

/// Returns the text of a file of the project.
fn file_text(env: &TestEnv, name: &str) -> String {
    std::fs::read_to_string(env.project().join(name)).unwrap()
}

#[test]
fn exporting_and_importing_again_copies_no_task() {
    let env = TestEnv::new();
    add(&env, &["one"]);
    add(&env, &["two", "--section", "C#"]);
    add(&env, &["three", "--priority", "high"]);
    let printed = env.run(["task", "export"]).assert_code(0).stdout;
    env.write("TASKS.md", &printed);
    for name in ["L.md", "TASKS.md"] {
        for _ in 0..3 {
            env.run(["task", "export", name]).assert_code(0);
        }
        assert_eq!(file_text(&env, name), printed);
        let ran = env.run(["task", "import", name]).assert_code(0);
        assert_eq!(ran.stdout, "0 added, 0 changed, 0 moved, 3 as they were\n");
    }
    assert_snapshot!(printed, @"
    ## Tasks

    - [ ] three
      priority: high
    - [ ] one

    ## C#

    - [ ] two
    ");
    let board = env.run(["task", "list", "--json"]).assert_code(0).json();
    assert_eq!(board["tasks"].as_array().unwrap().len(), 3);
    env.assert_healthy();
}

#[test]
fn a_file_that_misses_tasks_gets_them_in_their_sections() {
    let env = TestEnv::new();
    env.write("T.md", "## Auth\n- [ ] one\n- [ ] two\n");
    env.run(["task", "import", "T.md"]).assert_code(0);
    for (name, args) in [
        ("NEW.md", vec!["task", "export", "NEW.md"]),
        ("IDS.md", vec!["task", "export", "IDS.md", "--ids"]),
    ] {
        let ran = env.run(&args).assert_code(0);
        assert_eq!(ran.stderr, format!("{name} was written.\n"));
        let text = file_text(&env, name);
        assert!(text.starts_with("## Auth\n\n- [ ] one"), "{text}");
        assert!(text.contains("- [ ] two"), "{text}");
        let ran = env.run(&args).assert_code(0);
        assert_eq!(ran.stderr, format!("{name} is up to date.\n"));
        assert_eq!(file_text(&env, name), text);
    }
    // Each file still means the same tasks, and a marker that was changed in one moves its task.
    for name in ["T.md", "NEW.md", "IDS.md"] {
        let ran = env.run(["task", "import", name]).assert_code(0);
        assert_eq!(ran.stdout, "0 added, 0 changed, 0 moved, 2 as they were\n");
    }
    env.write(
        "NEW.md",
        file_text(&env, "NEW.md").replace("[ ] one", "[S] one"),
    );
    let ran = env.run(["task", "import", "NEW.md"]).assert_code(0);
    assert_eq!(ran.stdout, "0 added, 0 changed, 1 moved, 1 as they were\n");
    env.run(["task", "export", "T.md"]).assert_code(0);
    assert_eq!(file_text(&env, "T.md"), "## Auth\n- [S] one\n- [ ] two\n");
    // Tasks whose lists differ are printed all the same.
    add(&env, &["three"]);
    env.run(["task", "export", "LAST.md"]).assert_code(0);
    let printed = env.run(["task", "export", "--ids"]).assert_code(0).stdout;
    assert_eq!(printed.matches("<!-- c-").count(), 3, "{printed}");
    env.assert_healthy();
}

#[test]
fn a_marker_that_is_not_taken_over_changes_nothing() {
    let env = TestEnv::new();
    env.write("TASKS.md", "- [ ] one\n");
    env.run(["task", "import", "TASKS.md"]).assert_code(0);
    env.write("TASKS.md", "- [!] one\n");
    let import = || {
        let ran = env.run(["task", "import", "TASKS.md"]).assert_code(0);
        ran.stdout + &ran.stderr
    };
    let first = import();
    assert_snapshot!(first, @"
    0 added, 0 changed, 0 moved, 1 as they were
    Note: `[!] one` was not taken over: a dispute is opened with `tribunal dispute create`
    ");
    assert_eq!(import(), first);
}

#[test]
fn the_log_is_narrowed_by_kind_and_state_and_says_when_it_is_cut() {
    let env = TestEnv::new();
    for title in ["one", "two", "three"] {
        env.run(["task", "add", title]).assert_code(0);
    }
    env.run(["section", "add", "Auth"]).assert_code(0);
    let listed = |args: &[&str]| {
        let ran = env.run(args.iter().chain(&["--json"])).assert_code(0);
        let json = ran.json();
        let cases = json["cases"].as_array().unwrap().len();
        (cases, json["cut"].as_bool().unwrap())
    };
    assert_eq!(listed(&["log", "--kind", "task"]), (3, false));
    assert_eq!(listed(&["log", "--kind", "section"]), (1, false));
    assert_eq!(
        listed(&["log", "--kind", "task", "--state", "parked"]),
        (3, false)
    );
    assert_eq!(listed(&["log", "--state", "failed"]), (0, false));
    assert_eq!(
        listed(&["log", "--kind", "task", "--recent", "2"]),
        (2, true)
    );
    let ran = env.run(["log", "--recent", "2"]).assert_code(0);
    assert_eq!(
        ran.stderr,
        "There are older ones: `tribunal log --recent 10`.\n"
    );
    let ran = env.run(["log", "--state", "failed"]).assert_code(0);
    assert_eq!(ran.stderr, "There are no such cases.\n");
}
