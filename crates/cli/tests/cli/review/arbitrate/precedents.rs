//! What a ruling does to later reviews, and what the record says in the end.

use insta::assert_snapshot;
use serde_json::{Value, json};

use super::court::{Court, says};
use crate::common::resolve_args;

/// A review whose finding the coder contests, and the dispute about it.
fn contested() -> (Court, String) {
    let mut court = Court::with_ann();
    let objection = says(
        "objected",
        r#", "reason": "factual_error", "justification": "The caller escapes it.", "evidence": []"#,
    );
    court.coder(&objection, &json!({}));
    court.setting("on_dispute: {default: human}");
    court.arbitrate(&["--json"]).assert_code(5);
    let listed = court.env.run(["dispute", "list", "--json"]).assert_code(0);
    let id = listed.json()["disputes"][0]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    (court, id)
}

fn resolve(court: &Court, id: &str, decision: &str) {
    let notes = "The caller escapes it,\nsee src/web.py:9";
    let args = resolve_args(id, decision, notes);
    court.env.run(args).assert_code(0);
}

fn review(court: &Court) -> (Option<i32>, Value) {
    let ran = court.env.run(["review", "--json"]);
    (ran.code, ran.json()["findings"][0].clone())
}

#[test]
fn a_dismissed_finding_comes_back_marked_and_does_not_count_until_that_ends() {
    let (mut court, id) = contested();
    resolve(&court, &id, "coder");
    let (code, finding) = review(&court);
    assert_eq!((code, &finding["standing"]), (Some(0), &json!("dismissed")));
    assert_eq!(finding["precedents"][0]["dispute"], json!(id));
    let text = court.env.run(["review"]).stdout;
    let told = text
        .lines()
        .find(|line| line.contains("dismissed on"))
        .unwrap();
    assert_snapshot!(court.env.tidy(told).trim(), @"f-f3bd4499 by ann, dismissed on [DATE] (dispute [DISPUTE]): The caller escapes it,");

    let listed = court.env.run(["precedent", "list"]).assert_code(0);
    assert_snapshot!(court.env.tidy(&listed.stdout), @"
    DISPUTE       RULED       DECISION  PLACE         ABOUT               
    [DISPUTE]  [DATE]  DISMISS   src/pay.py:5  SQL from user input
    ");
    let shown = court.env.run(["precedent", "show", &id]).assert_code(0);
    assert_snapshot!(court.env.tidy(&shown.stdout), @"
    [DISPUTE]
      SQL from user input
      src/pay.py:5
      It was dismissed on [DATE] (dispute [DISPUTE]): The caller escapes it, see src/web.py:9, by human; it holds
    ");

    // After a year it is no precedent any more.
    court.env.set_env("TRIBUNAL_CLOCK_AHEAD_DAYS", "366");
    let (code, finding) = review(&court);
    assert_eq!((code, &finding["standing"]), (Some(1), &json!("open")));
    assert_eq!(finding["precedents"], Value::Null);
    court.env.assert_healthy();
}

#[test]
fn a_dropped_precedent_lets_its_finding_count_again() {
    let (court, id) = contested();
    resolve(&court, &id, "coder");
    let why = ["precedent", "drop", &id, "--why", "the caller changed"];
    court.env.run(why).assert_code(0);
    let (code, finding) = review(&court);
    assert_eq!((code, &finding["standing"]), (Some(1), &json!("open")));
    let again = court.env.run(why).assert_code(2);
    assert_snapshot!(court.env.tidy(&again.stderr), @"Error: The precedent of dispute [DISPUTE] was dropped before");
    let gone = court.env.run(["precedent", "show", &id]).assert_code(4);
    assert_snapshot!(court.env.tidy(&gone.stderr), @"Error: Dispute [DISPUTE] was dropped, so it is no precedent");
    court.env.assert_healthy();
}

#[test]
fn an_enforced_finding_is_locked_and_comes_back_as_upheld() {
    let (court, id) = contested();
    resolve(&court, &id, "reviewer");
    let (code, finding) = review(&court);
    assert_eq!((code, &finding["standing"]), (Some(1), &json!("upheld")));
    // The coder objects again, and no second dispute is opened.
    court.arbitrate(&["--json"]);
    let listed = court.env.run(["dispute", "list", "--json"]).assert_code(0);
    assert_eq!(listed.json()["disputes"].as_array().unwrap().len(), 1);
}

#[test]
fn the_record_is_told_in_tables_and_read_by_the_consensus() {
    let (court, id) = contested();
    resolve(&court, &id, "coder");
    let stats = court.env.run(["stats"]).assert_code(0);
    let (tables, _) = stats.stdout.split_once("HALF WITHIN").unwrap();
    assert_snapshot!(tables, @"
    Findings by reviewer and category
     REVIEWER  CATEGORY  FINDINGS  ACCEPTED                CONTESTED               UPHELD              DISMISSED              
     ann       security  1         100% (1 of 1, 20–100%)  100% (1 of 1, 20–100%)  0% (0 of 1, 0–80%)  100% (1 of 1, 20–100%) 

    Upheld of what was ruled on (· is the interval)
     ann security  ················      0% (0 of 1, 0–80%)

    Time to a ruling
     RULED BY  DISPUTES
    ");
    let json = court.env.run(["stats", "--json"]).assert_code(0).json();
    assert_eq!(json["schema"], "tribunal.stats.v1");
    assert_eq!(json["reviewers"][0]["dismissed"]["count"], 1);
    assert_eq!(json["time_to_ruling"][0]["by"], "human");

    let record = court.env.run(["stats", "--record"]).assert_code(0);
    assert_eq!(
        record.json(),
        json!({"reviewers": {"ann": {"security": {"upheld": 0, "dismissed": 1}}}})
    );
    let record = court.env.write("record.json", record.stdout);
    let findings =
        json!({"reviewer": "ann", "findings": [{"title": "x", "file": "a.rs", "line": 1}]});
    let findings = court.env.write("findings.json", findings.to_string());
    let (record, findings) = (record.display().to_string(), findings.display().to_string());
    court
        .env
        .run(["consensus", &findings, "--record", &record])
        .assert_code(0);
}

#[test]
fn an_empty_ledger_has_nothing_to_count() {
    let court = Court::empty();
    let stats = court.env.run(["stats"]).assert_code(0);
    assert_snapshot!(stats.stderr, @"Nothing is recorded yet that could be counted.");
    let record = court.env.run(["stats", "--record"]).assert_code(0);
    assert_eq!(record.json(), json!({"reviewers": {}}));
    let listed = court.env.run(["precedent", "list"]).assert_code(0);
    assert_snapshot!(listed.stderr, @"There are no precedents.");
}
