//! `tribunal rules`, the levels of rules in a review, and the id of a rule in all formats.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::common::TestEnv;

/// Returns a repository with a change in which `python-eval` finds something that blocks.
fn desk() -> TestEnv {
    let env = TestEnv::with_repository();
    env.write("src/a.py", "eval(input())\n");
    env
}

fn rule_in(list: &Value, id: &str) -> Value {
    let rules = list["rules"].as_array().unwrap();
    rules
        .iter()
        .find(|rule| rule["id"] == id)
        .cloned()
        .unwrap_or_default()
}

#[test]
fn every_rule_is_listed_with_its_level_files_and_reason() {
    let env = TestEnv::new();
    let list = env.run(["rules", "--json"]).assert_code(0).json();
    assert_eq!(list["schema"], "tribunal.rules.v1");
    assert_eq!(list, env.run(["rules", "list", "--json"]).json());
    for rule in list["rules"].as_array().unwrap() {
        for field in [
            "id",
            "level",
            "default_level",
            "files",
            "reason",
            "suggestion",
        ] {
            assert!(!rule[field].as_str().unwrap().is_empty(), "{field}: {rule}");
        }
    }
    assert_eq!(
        rule_in(&list, "python-eval")["languages"],
        json!(["python"])
    );
    assert_eq!(rule_in(&list, "shell-world-writable")["level"], "medium");
    let text = env.run(["rules"]).assert_code(0).stdout;
    let lines = text.lines().count() - 1;
    assert_eq!(lines, list["rules"].as_array().unwrap().len());
    let line = |id: &str| {
        let line = text.lines().find(|line| line.trim_start().starts_with(id));
        let words: Vec<&str> = line.unwrap().split_whitespace().collect();
        words.join(" ")
    };
    assert_snapshot!(format!("{}\n{}", line("python-eval"), line("workflow-unpinned")), @"
    python-eval high security python Whoever can influence the text runs code of their own in this process.
    workflow-unpinned-action low security GitHub workflows A tag or a branch of somebody else's repository can be moved to other code, which then runs with the token and the secrets of this workflow.
    ");
    assert!(!env.project().join(".tribunal").exists(), "it only reads");
}

#[test]
fn a_rule_is_shown_with_reason_examples_and_how_to_change_it() {
    let env = TestEnv::new();
    assert_snapshot!(env.run(["rules", "show", "python-eval"]).assert_code(0).stdout, @r#"
    python-eval
      `…` runs text that is not a literal as code

    Level     high
    Reviewer  builtin:security
    Files     python; in tests at level low

    Why
      Whoever can influence the text runs code of their own in this process.

    How to fix it
      Parse the input with `ast.literal_eval` or `json.loads`, or look it up in a table of operations.

    It reports (in src/sample.py)
      > eval(request.args["q"])

    It does not report (in src/sample.py)
        ast.literal_eval(text)

    Change its level, or switch it off
      tribunal config set review.rules.python-eval off
      The levels are off, low, medium and high. By default, high blocks.

    Silence one finding
      tribunal dismiss FINDING --why TEXT
      or a comment on its line or the line above: tribunal-ignore python-eval: the reason
      A comment counts once the default branch has it, not in the change that adds it.
    "#);
    let shown = env.run(["rules", "show", "python-eval", "--json"]).json();
    assert_eq!(shown["schema"], "tribunal.rule.v1");
    let rule = &shown["rule"];
    assert_eq!(rule["setting"], "review.rules.python-eval");
    assert_eq!(rule["bad"][0]["text"], "eval(request.args[\"q\"])");
    assert_eq!(rule["bad"][0]["lines"], json!([1]));
    // What cannot be seen is written out.
    let hidden = env.run(["rules", "show", "text-hidden-direction"]).stdout;
    assert!(hidden.contains("\\u{202e}"), "{hidden}");
}

#[test]
fn an_unknown_rule_gets_the_nearest_ids() {
    let env = TestEnv::new();
    let told = |id: &str| env.run(["rules", "show", id]).assert_code(4).stderr;
    assert_snapshot!(format!("{}{}{}", told("pyton-eval"), told("eval"), told("zzz")), @"
    Error: There is no rule `pyton-eval`
    Hint: Did you mean `python-eval`?
    Hint: `tribunal rules` lists all rules
    Error: There is no rule `eval`
    Hint: Did you mean `python-eval` or `javascript-eval`?
    Hint: `tribunal rules` lists all rules
    Error: There is no rule `zzz`
    Hint: `tribunal rules` lists all rules
    ");
}

#[test]
fn levels_of_the_settings_and_rules_of_the_project_are_listed() {
    let env = TestEnv::with_repository();
    env.write(
        ".tribunal/rules/no-print.yml",
        "id: no-print\nlanguage: python\nseverity: warning\nnote: Use the log.\n\
         rule: {pattern: print($A)}\n",
    );
    env.write(
        ".tribunal/rules/broken.yml",
        "id: x\nlanguage: python\nrule: {kind: nope}\n",
    );
    env.run(["config", "set", "review.rules.python-eval", "off"])
        .assert_code(0);
    env.run(["config", "set", "review.rules.no-print", "high"])
        .assert_code(0);
    let ran = env.run(["rules", "--json"]).assert_code(0);
    assert!(
        ran.stderr.contains("broken.yml cannot be used"),
        "{}",
        ran.stderr
    );
    let list = ran.json();
    let own = rule_in(&list, "no-print");
    assert_eq!(own["level"], "high");
    assert_eq!(own["default_level"], "medium");
    assert_eq!(own["domain"], "project");
    assert_eq!(rule_in(&list, "python-eval")["level"], "off");
    // Whoever mistyped an id looks for the right one here.
    env.write(
        ".tribunal/config.yml",
        "review: {rules: {pyton-eval: off}}\n",
    );
    let ran = env.run(["rules", "--json"]).assert_code(0);
    assert!(
        ran.stderr.contains("did you mean `python-eval`?"),
        "{}",
        ran.stderr
    );
    assert_eq!(rule_in(&ran.json(), "python-eval")["level"], "high");
}

#[test]
fn a_rule_that_is_off_does_not_run_and_the_report_says_so() {
    let env = desk();
    env.run(["review"]).assert_code(1);
    let set = |level: &str| {
        env.run(["config", "set", "review.rules.python-eval", level])
            .assert_code(0);
    };
    set("low");
    let ran = env.run(["review", "--json"]).assert_code(0);
    let report = ran.json();
    assert_eq!(report["findings"][0]["label"], "LOW");
    assert_eq!(report["findings"][0]["rule"], "python-eval");
    assert_eq!(report["rule_levels"], json!({"python-eval": "low"}));
    set("off");
    let ran = env.run(["review", "--json"]).assert_code(0);
    let report = ran.json();
    assert_eq!(report["findings"], json!([]));
    assert_eq!(report["rule_levels"], json!({"python-eval": "off"}));
    for format in ["text", "markdown", "html", "sarif"] {
        let told = env
            .run(["review", "--format", format])
            .assert_code(0)
            .stdout;
        assert!(told.contains("1 rule is off: "), "{format}: {told}");
    }
}

#[test]
fn a_change_cannot_switch_off_the_rule_that_finds_it_and_may_raise_one() {
    let env = desk();
    env.write(
        ".tribunal/config.yml",
        "review: {rules: {python-eval: off}}\n",
    );
    let ran = env.run(["review", "--json"]).assert_code(1);
    let report = ran.json();
    assert_eq!(report["findings"][0]["rule"], "python-eval");
    assert_eq!(report["rule_levels"], Value::Null);
    let notes = report["notes"].to_string();
    assert!(notes.contains("review.rules.python-eval"), "{notes}");

    std::fs::remove_file(env.project().join("src/a.py")).unwrap();
    env.write("run.sh", "chmod 777 a\n");
    env.write(
        ".tribunal/config.yml",
        "review: {rules: {shell-world-writable: low}}\n",
    );
    env.run(["review"]).assert_code(0);
    env.write(
        ".tribunal/config.yml",
        "review: {rules: {shell-world-writable: high}}\n",
    );
    env.run(["review"]).assert_code(1);
}

#[test]
fn every_format_names_the_rule_that_found_it() {
    let env = desk();
    for format in [
        "text", "json", "markdown", "html", "sarif", "junit", "github",
    ] {
        let told = env
            .run(["review", "--format", format])
            .assert_code(1)
            .stdout;
        assert!(told.contains("python-eval"), "{format}: {told}");
    }
    let report = env.run(["review", "--json"]).json();
    let id = report["findings"][0]["id"].as_str().unwrap();
    let shown = env.run(["show", id]).assert_code(0).stdout;
    assert!(shown.contains("found by the rule python-eval"), "{shown}");
    let log = env.run(["review", "--format", "sarif"]).json();
    let run = &log["runs"][0];
    let result = &run["results"][0];
    assert_eq!(result["ruleId"], "python-eval");
    let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
    let rule = &run["tool"]["driver"]["rules"][index];
    assert_snapshot!(format!("{rule:#}"), @r#"
    {
      "id": "python-eval",
      "shortDescription": {
        "text": "`…` runs text that is not a literal as code"
      },
      "defaultConfiguration": {
        "level": "error"
      },
      "properties": {
        "tags": [
          "security"
        ]
      },
      "fullDescription": {
        "text": "Whoever can influence the text runs code of their own in this process."
      },
      "help": {
        "text": "Whoever can influence the text runs code of their own in this process.\n\nFix: Parse the input with `ast.literal_eval` or `json.loads`, or look it up in a table of operations.\n\n`tribunal rules show python-eval` has examples; `tribunal config set review.rules.python-eval LEVEL` changes the level."
      }
    }
    "#);
}
