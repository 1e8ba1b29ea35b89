//! Disputes of an arbitrated review without a terminal.

use serde_json::json;

use super::super::signed;
use super::court::{Court, MENDED, answer, says, told};
use crate::common::resolve_args;

/// Returns the objection of a coder with evidence.
fn objection(reason: &str) -> String {
    says(
        "objected",
        &format!(
            r#", "reason": "{reason}", "justification": "The caller escapes it.",
               "evidence": [{{"kind": "code", "reference": "src/pay.py:4", "text": "def total(rows, user):"}},
                            {{"kind": "code", "reference": "src/pay.py:99", "text": "x"}},
                            {{"kind": "requirement", "reference": "README.md", "text": "A project."}},
                            {{"kind": "test_output", "reference": "make test", "text": "ok"}}]"#
        ),
    )
}

fn objecting(default: &str) -> Court {
    let mut court = Court::with_ann();
    court.coder(&objection("factual_error"), &json!({}));
    court.setting(&format!("on_dispute: {{default: {default}}}"));
    court
}

#[test]
fn an_objection_waits_for_a_person_and_the_gate_does_not_pass() {
    let court = objecting("human");
    let ran = court.arbitrate(&["--json"]);
    assert_eq!(
        told(&ran),
        "inconclusive; SQL from user input: awaiting_ruling, objection open; awaiting_ruling; \
         offered nothing"
    );
    let report = ran.json();
    let response = &report["arbitration"]["findings"][0]["responses"][0]["response"];
    let checks: Vec<&str> = response["evidence"]
        .as_array()
        .unwrap()
        .iter()
        .map(|piece| piece["check"]["result"].as_str().unwrap())
        .collect();
    assert_eq!(checks, ["confirmed", "refuted", "confirmed", "unchecked"]);
}

#[test]
fn the_page_says_why_a_person_has_to_rule() {
    for (default, expected) in [
        ("human", "Why: the config leaves it to a person"),
        ("judge", "Why: no judge is configured"),
    ] {
        let court = objecting(default);
        court.arbitrate(&["--json"]);
        let page = std::fs::read_to_string(court.env.project().join("dispute.md")).unwrap();
        assert!(page.contains(expected), "{default}: {page}");
    }
}

#[test]
fn a_later_ruling_is_taken_up_when_the_review_goes_on() {
    for (decision, expected) in [
        (
            "coder",
            "pass; SQL from user input: dismissed, objection dismiss; settled; offered nothing",
        ),
        (
            "reviewer",
            "fail; SQL from user input: fixed, objection enforce; settled; offered branch (pass with it)",
        ),
    ] {
        let mut court = Court::with_ann();
        let replies = json!([
            {"when": "\"ruling\":\"ENFORCE\"", "text": answer("responses", &says("implemented", "")),
             "write": {"src/pay.py": MENDED}},
            {"text": answer("responses", &objection("factual_error"))},
        ]);
        court.agent("cody", "coder", &replies);
        court.setting("on_dispute: {default: human}");
        let report = court.arbitrate(&["--json"]).json();
        let finding = &report["arbitration"]["findings"][0];
        let dispute = finding["disputes"][0]["id"].as_str().unwrap();
        let ruling = resolve_args(dispute, decision, "I looked at it.");
        court.env.run(ruling).assert_code(0);
        let case = report["case"].as_str().unwrap();
        let resumed = court.env.run(["resume", case, "--json"]);
        assert_eq!(told(&resumed), expected);
        court.env.assert_healthy();
    }
}

#[test]
fn a_judge_rules_and_what_it_enforces_is_carried_out() {
    for (word, expected) in [
        (
            "ENFORCE",
            "fail; SQL from user input: fixed, objection enforce; settled; offered branch (pass with it)",
        ),
        (
            "DISMISS",
            "pass; SQL from user input: dismissed, objection dismiss; settled; offered nothing",
        ),
        (
            "ESCALATE",
            "inconclusive; SQL from user input: awaiting_ruling, objection open; \
             awaiting_ruling; offered nothing",
        ),
        (
            "SURE",
            "inconclusive; SQL from user input: awaiting_ruling, objection open; \
             awaiting_ruling; offered nothing",
        ),
    ] {
        let mut court = Court::with_ann();
        let replies = json!([
            {"when": "\"ruling\":\"ENFORCE\"", "text": answer("responses", &says("implemented", "")),
             "write": {"src/pay.py": MENDED}},
            {"text": answer("responses", &objection("taste"))},
        ]);
        court.agent("cody", "coder", &replies);
        court.judge(word);
        let ran = court.arbitrate(&["--json"]);
        assert_eq!(told(&ran), expected, "{}", ran.stderr);
        let case = ran.json()["case"].as_str().unwrap().to_owned();
        // Going on asks the judge nothing a second time.
        let again = court.env.run(["resume", &case, "--json"]);
        if word == "ESCALATE" {
            assert_eq!(told(&again), expected);
        }
        let replayed = court.env.run(["replay", &case]);
        assert_eq!(
            replayed.code,
            Some(0),
            "{word}: {}{}",
            replayed.stdout,
            replayed.stderr
        );
    }
}

#[test]
fn what_reviewers_contradict_each_other_about_is_ruled_on_before_anybody_works() {
    for (word, expected) in [
        (
            "ENFORCE",
            "fail; SQL from user input: fixed, split_review enforce; settled; offered branch (pass with it)",
        ),
        (
            "DISMISS",
            "pass; SQL from user input: dismissed, split_review dismiss; settled; offered nothing",
        ),
    ] {
        let mut court = Court::split();
        court.coder(&says("implemented", ""), &json!({"src/pay.py": MENDED}));
        court.judge(word);
        let ran = court.arbitrate(&["--json"]);
        assert_eq!(told(&ran), expected, "{}", ran.stderr);
    }
}

#[test]
fn discarding_by_config_is_a_ruling_on_record() {
    let court = objecting("discard");
    let ran = court.arbitrate(&["--json"]);
    assert_eq!(
        told(&ran),
        "pass; SQL from user input: dismissed, objection dismiss; settled; offered nothing"
    );
    let report = ran.json();
    let dispute = &report["arbitration"]["findings"][0]["disputes"][0];
    assert_eq!(
        dispute["by"],
        "config, `review.on_dispute.default: discard`"
    );
}

#[test]
fn discarding_a_must_is_an_objection() {
    let mut court = Court::with_ann();
    court.coder(&says("discarded", ""), &json!({}));
    court.setting("on_dispute: {default: human}");
    let ran = court.arbitrate(&["--json"]);
    assert_eq!(
        told(&ran),
        "inconclusive; SQL from user input: awaiting_ruling, objection open; awaiting_ruling; \
         offered nothing"
    );
    let report = ran.json();
    let response = &report["arbitration"]["findings"][0]["responses"][0]["response"];
    assert_eq!(response["objection"]["kind"], "invalid");
}

#[test]
fn a_dismissed_finding_does_not_bind_the_next_review() {
    let court = objecting("discard");
    court.arbitrate(&["--json"]).assert_code(0);
    let again = court.env.run(["review", "--json"]).assert_code(0);
    assert_eq!(again.json()["findings"][0]["standing"], "dismissed");
}

#[test]
fn explain_tells_what_became_of_it() {
    let court = objecting("human");
    let report = court.arbitrate(&["--json"]).json();
    let finding = report["findings"][0]["id"].as_str().unwrap();
    let ran = court.env.run(["explain", finding]).assert_code(0);
    assert!(
        ran.stdout.contains("objected, factual error in the review"),
        "{}",
        ran.stdout
    );
    assert!(ran.stdout.contains("Awaits a ruling"), "{}", ran.stdout);
}

#[test]
fn past_rulings_weigh_when_the_config_says_so() {
    let other = r#"{"id": "1", "file": "src/pay.py", "line": 6, "label": "HIGH", "category": "bug", "confidence": 85, "title": "Rate is a cursor", "description": "`execute` returns a cursor, so the product with `rate` throws a type error.", "quote": "* rate", "trigger": "any call of total()", "suggestion": "Fetch the row first."}"#;
    let mut court = Court::with_ann();
    court.agent("bob", "reviewer", &json!([{ "text": signed(other) }]));
    let objections = [1, 2].map(|number| {
        let said = objection("factual_error");
        said.replace("F1", &format!("F{number}"))
    });
    court.coder(&objections.join(","), &json!({}));
    court.setting("on_dispute: {default: human}");
    court.setting("policy: {appraisal: {record: 50, record_prior: 0}}");
    let report = court.arbitrate(&["--json"]).json();
    let disputed = report["arbitration"]["findings"].as_array().unwrap();
    for (title, decision) in [("SQL", "coder"), ("Rate", "reviewer")] {
        let is_meant = |one: &&serde_json::Value| one["title"].as_str().unwrap().starts_with(title);
        let finding = disputed.iter().find(is_meant).unwrap();
        let id = finding["disputes"][0]["id"].as_str().unwrap();
        let resolve = resolve_args(id, decision, "x");
        court.env.run(resolve).assert_code(0);
    }
    let moved = |weights: &str| {
        let set = format!("review.weights={weights}");
        let report = court.env.run(["--set", &set, "review", "--json"]).json();
        let mut moved = Vec::new();
        for finding in report["findings"].as_array().unwrap() {
            let lines = finding["trace"].as_array().unwrap().iter();
            let by_record = lines.filter(|line| line["step"] == "record");
            let amounts: Vec<String> = by_record.map(|line| line["amount"].to_string()).collect();
            let who = finding["voices"][0]["reviewer"].as_str().unwrap();
            moved.push(format!("{who} {}", amounts.join(",")));
        }
        moved.sort_unstable();
        moved.join("; ")
    };
    assert_eq!(moved("equal"), "ann ; bob ");
    assert_eq!(moved("record"), "ann -50; bob 50");
}
