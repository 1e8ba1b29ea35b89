//! A person's word about a finding: `dismiss`, `accept-risk`, and taking it back.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::common::{Ran, TestEnv};

/// Returns a repository with a change in which the built-in rules find something that blocks.
fn desk() -> TestEnv {
    let mut env = TestEnv::with_repository();
    env.set_env("USER", "Ann");
    env.write("src/a.py", "eval(input())\n");
    env
}

fn review(env: &TestEnv) -> (Option<i32>, Value) {
    let ran = env.run(["review", "--json"]);
    (ran.code, ran.json())
}

/// Returns the ids of the findings of a report, in their order.
fn ids(report: &Value) -> Vec<String> {
    let findings = report["findings"].as_array().unwrap();
    let ids = findings.iter().map(|one| one["id"].as_str().unwrap());
    ids.map(str::to_owned).collect()
}

/// Reviews a change that fails, and returns the id of its only finding.
fn failing(env: &TestEnv) -> String {
    let (code, report) = review(env);
    assert_eq!(code, Some(1), "{report}");
    let ids = ids(&report);
    assert_eq!(ids.len(), 1, "{report}");
    ids[0].clone()
}

fn dismiss(env: &TestEnv, more: &[&str]) -> Ran {
    let mut args = vec!["dismiss"];
    args.extend(more);
    env.run(args)
}

/// Returns the line of a report that tells how its finding stands, whole.
fn standing(env: &TestEnv) -> String {
    let text = env.run(["review"]).stdout;
    let lines: Vec<&str> = text
        .lines()
        .map(str::trim)
        .skip_while(|line| !line.starts_with("Standing"))
        .take_while(|line| !line.is_empty())
        .collect();
    env.tidy(&lines.join(" "))
}

#[test]
fn a_dismissed_finding_does_not_count_until_that_is_taken_back() {
    let env = desk();
    let id = failing(&env);
    let ran = dismiss(&env, &[&id, "--why", "Only I\ntype here."]).assert_code(0);
    assert_snapshot!(env.tidy(&ran.stdout).replace(&id, "[ID]"), @"
    Dismissed [ID]: `eval` runs text that is not a literal as code
      high at src/a.py:1, dispute [DISPUTE]
      Reason: Only I type here.
    ");
    assert_snapshot!(ran.stderr.replace(&id, "[ID]"), @"Take it back with `tribunal dismiss --undo [ID]`.");
    let (code, report) = review(&env);
    let finding = &report["findings"][0];
    assert_eq!(code, Some(0), "{report}");
    assert_eq!(finding["standing"], "dismissed");
    assert_eq!(finding["counts"], false);
    assert_eq!(finding["precedents"][0]["person"], "Ann");
    assert_snapshot!(standing(&env), @"");
    let page = std::fs::read_to_string(env.project().join("dispute.md")).unwrap();
    assert!(page.contains("**By:** human (Ann)"), "{page}");

    let ran = dismiss(&env, &["--undo", &id]).assert_code(0);
    assert_snapshot!(env.tidy(&ran.stdout).replace(&id, "[ID]"), @"
    Finding [ID] counts again: `eval` runs text that is not a literal as code
      src/a.py:1
      Ruling taken back: dispute [DISPUTE]
    ");
    let (code, report) = review(&env);
    assert_eq!(
        (code, &report["findings"][0]["standing"]),
        (Some(1), &json!("open"))
    );
    let again = dismiss(&env, &["--undo", &id]).assert_code(2);
    assert_snapshot!(again.stderr.replace(&id, "[ID]"), @"
    Error: Finding [ID] is not dismissed
    Hint: `tribunal precedent list` shows what is dismissed
    ");
    // It can be dismissed anew.
    dismiss(&env, &[&id, "--why", "It is a toy"]).assert_code(0);
    assert_eq!(review(&env).0, Some(0));
    env.assert_healthy();
}

#[test]
fn an_accepted_risk_says_who_accepts_it_and_blames_no_reviewer() {
    let env = desk();
    let id = failing(&env);
    let args = [
        "accept-risk",
        &id,
        "--why",
        "Internal tool",
        "--expires",
        "30d",
    ];
    let ran = env.run(args).assert_code(0);
    assert_snapshot!(env.tidy(&ran.stdout).replace(&id, "[ID]"), @"
    Risk accepted for [ID]: `eval` runs text that is not a literal as code
      high at src/a.py:1, dispute [DISPUTE]
      Reason: Internal tool
      It holds until [DATE]. Then the finding counts again.
    ");
    assert_eq!(review(&env).0, Some(0));
    assert_snapshot!(standing(&env), @"");
    let listed = env.run(["disputes", "--json"]).assert_code(0).json();
    let dispute = listed["disputes"][0]["id"].as_str().unwrap().to_owned();
    let shown = env.run(["dispute", "show", &dispute]).assert_code(0);
    assert!(shown.stdout.contains("by human (Ann)"), "{}", shown.stdout);
    assert!(
        shown.stdout.contains("Terms: risk accepted until"),
        "{}",
        shown.stdout
    );
    let stats = env.run(["stats", "--json"]).assert_code(0).json();
    assert_eq!(stats["reviewers"][0]["upheld"]["count"], 1, "{stats}");
    assert_eq!(stats["reviewers"][0]["dismissed"]["count"], 0);
    env.assert_healthy();
}

#[test]
fn a_dismissal_ends_after_its_last_day() {
    let mut env = desk();
    let id = failing(&env);
    dismiss(
        &env,
        &[&id, "--why", "Until the release", "--expires", "30d"],
    )
    .assert_code(0);
    env.set_env("TRIBUNAL_CLOCK_AHEAD_DAYS", "29");
    assert_eq!(review(&env).0, Some(0));
    env.set_env("TRIBUNAL_CLOCK_AHEAD_DAYS", "31");
    let (code, report) = review(&env);
    let finding = &report["findings"][0];
    assert_eq!((code, &finding["standing"]), (Some(1), &json!("open")));
    assert_eq!(finding["precedents"], Value::Null);
    let listed = env.run(["precedent", "list"]).assert_code(0);
    assert_snapshot!(listed.stderr, @"There are no precedents.");
    let expired = env.run(["precedent", "list", "--expired", "--json"]);
    let dispute = expired.json()["precedents"][0]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let shown = env.run(["precedent", "show", &dispute]).assert_code(0);
    assert!(shown.stdout.contains("it has expired"), "{}", shown.stdout);
    // What has ended needs no `--overrule`.
    dismiss(&env, &[&id, "--why", "Until the next one"]).assert_code(0);
    assert_eq!(review(&env).0, Some(0));
    env.assert_healthy();
}

#[test]
fn a_ruling_is_replaced_only_on_request() {
    let env = desk();
    let id = failing(&env);
    dismiss(&env, &[&id, "--why", "It is a toy"]).assert_code(0);
    let again = dismiss(&env, &[&id, "--why", "Another reason"]).assert_code(6);
    assert_snapshot!(env.tidy(&again.stderr).replace(&id, "[ID]"), @"
    Error: Finding [ID] has a ruling: dismissed on [DATE] by Ann (dispute [DISPUTE]): It is a toy
    Hint: To replace that ruling by yours, add `--overrule`
    Hint: See `tribunal dispute show [DISPUTE]`
    ");
    dismiss(&env, &[&id, "--why", "Another reason", "--overrule"]).assert_code(0);
    let (_, report) = review(&env);
    assert_eq!(
        report["findings"][0]["precedents"][0]["reason"],
        "Another reason"
    );

    let listed = env.run(["disputes", "--json"]).assert_code(0).json();
    assert_eq!(listed["disputes"].as_array().unwrap().len(), 1, "{listed}");
    let dispute = listed["disputes"][0]["id"].as_str().unwrap().to_owned();
    let mut enforce = crate::common::resolve_args(&dispute, "reviewer", "It must go").to_vec();
    enforce.push("--overrule");
    env.run(enforce).assert_code(0);
    assert_eq!(review(&env).0, Some(1));
    let locked = dismiss(&env, &[&id, "--why", "No"]).assert_code(6);
    assert!(locked.stderr.contains("upheld on"), "{}", locked.stderr);
    let undo = dismiss(&env, &["--undo", &id]).assert_code(2);
    assert!(undo.stderr.contains("is not dismissed"), "{}", undo.stderr);
    assert_eq!(review(&env).0, Some(1));
    dismiss(&env, &[&id, "--why", "I insist", "--overrule"]).assert_code(0);
    assert_eq!(review(&env).0, Some(0));
    env.assert_healthy();
}

#[test]
fn what_makes_no_sense_is_refused_and_changes_nothing() {
    let env = desk();
    let none = dismiss(&env, &["f-12345678", "--why", "x"]).assert_code(4);
    assert!(
        none.stderr.contains("has a finding `f-12345678`"),
        "{}",
        none.stderr
    );
    let id = failing(&env);
    for (args, code, expected) in [
        (
            vec!["f-00000000", "--why", "x"],
            4,
            "No review has a finding `f-00000000`",
        ),
        (
            vec![&id, "--why", "  "],
            2,
            "A reason is needed, and `--why` is empty",
        ),
        (
            vec![&id, "--why", ""],
            2,
            "A reason is needed, and `--why` is empty",
        ),
        (vec![&id], 2, "--why <TEXT>"),
        (
            vec![&id, "--why", "x", "--expires", "2020-01-01"],
            2,
            "2020-01-01 is in the past",
        ),
        (
            vec![&id, "--why", "x", "--expires", "soon"],
            2,
            "`soon` is neither a date",
        ),
        (
            vec![&id, "--undo", "--expires", "1d"],
            2,
            "cannot be used with",
        ),
        (vec!["", "--why", "x"], 4, "No review has a finding ``"),
        (
            vec!["c-0000000000/f-1", "--why", "x"],
            4,
            "No case has the id",
        ),
    ] {
        let ran = dismiss(&env, &args).assert_code(code);
        assert!(ran.stderr.contains(expected), "{args:?}: {}", ran.stderr);
    }
    assert_eq!(review(&env).0, Some(1));
    let listed = env.run(["disputes", "--json"]).assert_code(0).json();
    assert_eq!(listed["disputes"], json!([]));
    env.assert_healthy();
}

#[test]
fn an_id_that_may_mean_two_findings_is_refused() {
    let env = desk();
    // So many different findings that two of their ids begin alike.
    let lines: Vec<String> = (0..17)
        .map(|n| format!("def f{n}():\n    eval(input())\n"))
        .collect();
    env.write("src/a.py", lines.join("\n"));
    let (_, report) = review(&env);
    let ids = ids(&report);
    let twice = ids.iter().find(|one| {
        let alike = ids.iter().filter(|other| other[..3] == one[..3]);
        alike.count() > 1
    });
    let start = &twice.unwrap()[..3];
    let ran = dismiss(&env, &[start, "--why", "x"]).assert_code(2);
    assert!(
        ran.stderr.contains(&format!("`{start}` may mean")),
        "{}",
        ran.stderr
    );
    // Not even when the newest review has but one of them.
    env.write("src/a.py", "def f0():\n    eval(input())\n");
    let (_, report) = review(&env);
    let one = report["findings"][0]["id"].as_str().unwrap().to_owned();
    let alike: Vec<&String> = ids.iter().filter(|other| other[..3] == one[..3]).collect();
    if alike.len() > 1 {
        let ran = dismiss(&env, &[&one[..3], "--why", "x"]).assert_code(2);
        assert!(ran.stderr.contains("may mean"), "{}", ran.stderr);
    }
    let case = report["case"].as_str().unwrap();
    let full = format!("{case}/{}", &one[..6]);
    dismiss(&env, &[&full, "--why", "Meant"]).assert_code(0);
    assert_eq!(review(&env).0, Some(0));
}

#[test]
fn two_people_who_dismiss_at_once_open_one_dispute() {
    let env = desk();
    let id = failing(&env);
    let start = |why: &str| {
        let args = ["dismiss", &id, "--why", why, "--json"];
        let mut command = env.command(args);
        command.stdout(std::process::Stdio::piped());
        command.stderr(std::process::Stdio::piped());
        command.spawn().unwrap()
    };
    let both = [start("one"), start("two")];
    let codes: Vec<i32> = both
        .into_iter()
        .map(|child| child.wait_with_output().unwrap().status.code().unwrap())
        .collect();
    assert!(
        codes.contains(&0) && codes.iter().all(|code| [0, 6].contains(code)),
        "{codes:?}"
    );
    let listed = env.run(["disputes", "--json"]).assert_code(0).json();
    assert_eq!(listed["disputes"].as_array().unwrap().len(), 1, "{listed}");
    assert_eq!(review(&env).0, Some(0));
    env.assert_healthy();
}

#[test]
fn json_has_the_finding_and_the_ruling() {
    let env = desk();
    let id = failing(&env);
    let args = [
        &id,
        "--why",
        "It is a toy",
        "--expires",
        "2099-12-31",
        "--json",
    ];
    let told = dismiss(&env, &args).assert_code(0).json();
    assert_eq!(told["schema"], "tribunal.dismissal.v1");
    assert_eq!(told["finding"]["id"], json!(id));
    let ruling = &told["disputes"][0]["rulings"][0];
    assert_eq!(ruling["decision"], "dismiss");
    assert_eq!(ruling["by"], "human");
    assert_eq!(ruling["person"], "Ann");
    assert_eq!(ruling["expires"], 4_102_444_800_000_u64);
    let undone = dismiss(&env, &["--undo", &id, "--why", "No toy", "--json"]).assert_code(0);
    assert_eq!(undone.json()["disputes"][0]["precedent_dropped"], true);
}
