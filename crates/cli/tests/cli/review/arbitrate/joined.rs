//! One open dispute per finding, and what an objection and a ruling need to count.

use serde_json::{Value, json};

use super::super::NONCE;
use super::court::{Court, MENDED, answer, says, told};
use crate::common::resolve_args;

fn objection(evidence: &str) -> String {
    says(
        "objected",
        &format!(
            r#", "reason": "factual_error", "justification": "The caller escapes it.", "evidence": [{evidence}]"#
        ),
    )
}

/// Returns a court whose coder objects, and mends what is enforced.
fn objecting(evidence: &str) -> Court {
    let mut court = Court::with_ann();
    let replies = json!([
        {"when": "\"ruling\":\"ENFORCE\"", "text": answer("responses", &says("implemented", "")),
         "write": {"src/pay.py": MENDED}},
        {"text": answer("responses", &objection(evidence))},
    ]);
    court.agent("cody", "coder", &replies);
    court
}

fn disputes(court: &Court) -> Vec<Value> {
    let list = court.env.run(["dispute", "list", "--json"]).json();
    list["disputes"].as_array().unwrap().clone()
}

#[test]
fn a_later_review_joins_the_open_dispute_and_one_ruling_settles_all() {
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
        let mut court = objecting("");
        court.setting("on_dispute: {default: human}");
        let reports: Vec<Value> = (0..3)
            .map(|_| court.arbitrate(&["--json"]).json())
            .collect();
        let ids: Vec<&Value> = reports
            .iter()
            .map(|report| &report["arbitration"]["findings"][0]["disputes"][0]["id"])
            .collect();
        assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
        assert_eq!(disputes(&court).len(), 1);
        let ruling = resolve_args(ids[0].as_str().unwrap(), decision, "I looked at it.");
        court.env.run(ruling).assert_code(0);
        for report in &reports {
            let case = report["case"].as_str().unwrap();
            let resumed = court.env.run(["resume", case, "--json"]);
            assert_eq!(told(&resumed), expected, "{}", resumed.stderr);
        }
        assert_eq!(disputes(&court).len(), 1, "nothing was opened again");
        court.env.assert_healthy();
    }
}

#[test]
fn reviews_at_once_open_one_dispute() {
    let mut court = objecting("");
    court.setting("on_dispute: {default: human}");
    court.write_config();
    std::thread::scope(|scope| {
        let review = || court.env.run(["review", "--arbitrate", "--json"]).code;
        let all: Vec<_> = (0..4).map(|_| scope.spawn(review)).collect();
        for one in all {
            assert_eq!(one.join().unwrap(), Some(5));
        }
    });
    assert_eq!(disputes(&court).len(), 1);
    court.env.assert_healthy();
}

#[test]
fn an_open_dispute_ends_with_the_commands_that_settle_it() {
    let mut court = objecting("");
    court.setting("on_dispute: {default: human}");
    let ran = court.arbitrate(&[]).assert_code(5);
    let text = court.tidy(&ran.stdout);
    let next = text.split("\nWhat next\n").nth(1).unwrap();
    let end = format!("{}\n{next}", text.lines().next().unwrap());
    insta::assert_snapshot!(end, @"
    INCONCLUSIVE: a blocking finding is disputed (f-f3bd4499)
      - Dispute [DISPUTE] about f-f3bd4499 is open; rule on it:
          tribunal dispute resolve [DISPUTE] --decision coder|reviewer|custom --notes TEXT
      - Then go on:
          tribunal resume [CASE]
    ");
}

#[test]
fn an_objection_without_evidence_that_holds_is_marked() {
    let refuted = r#"{"kind": "code", "reference": "src/pay.py:99", "text": "x"}"#;
    let confirmed =
        r#"{"kind": "code", "reference": "src/pay.py:4", "text": "def total(rows, user):"}"#;
    for (evidence, expected) in [
        ("", Some("the objection brings no evidence")),
        (
            refuted,
            Some("the program refuted all evidence of the objection"),
        ),
        (confirmed, None),
    ] {
        let mut court = objecting(evidence);
        court.judge("ESCALATE");
        let ran = court.arbitrate(&[]).assert_code(5);
        let flat: Vec<&str> = ran.stdout.split_whitespace().collect();
        let flat = flat.join(" ");
        match expected {
            Some(words) => assert!(flat.contains(words), "{}", ran.stdout),
            None => assert!(!flat.contains("the objection"), "{}", ran.stdout),
        }
    }
}

#[test]
fn one_judge_does_not_dismiss_what_a_rule_found_without_evidence() {
    let confirmed =
        r#"{"kind": "code", "reference": "src/pay.py:4", "text": "def total(rows, user):"}"#;
    for (evidence, expected) in [("", "inconclusive"), (confirmed, "pass")] {
        let mut court = Court::empty();
        court.agent(
            "cody",
            "coder",
            &json!([{"text": answer("responses", &objection(evidence))}]),
        );
        court.judge("DISMISS");
        let ran = court.arbitrate(&["--json", "--reviewer", "builtin:security"]);
        let report = ran.json();
        assert_eq!(report["gate"], expected, "{}", ran.stderr);
        let why = report["arbitration"]["findings"][0]["disputes"][0]["reason"].to_string();
        assert_eq!(
            why.contains("the objection brings no evidence"),
            evidence.is_empty(),
            "{why}"
        );
    }
}

#[test]
fn a_ruling_whose_reason_contradicts_it_is_asked_about_again_and_then_escalated() {
    let ruling = |reason: &str| {
        let text = format!(
            r#"{{"nonce": "{NONCE}", "ruling": "DISMISS", "reason": "{reason}", "reversal": "A caller that escapes.", "end": "{NONCE}"}}"#
        );
        json!({ "text": text })
    };
    let good = ruling("src/pay.py:5 gets escaped text.");
    for (first, second, expected) in [
        (ruling("I ENFORCE it, src/pay.py:5."), good.clone(), "pass"),
        (ruling("B"), good.clone(), "pass"),
        (
            ruling("The reviewer is right about src/pay.py:5."),
            ruling("B"),
            "inconclusive",
        ),
    ] {
        let mut court = objecting("");
        let mut again = second;
        again["when"] = json!("which of them is meant");
        let mut sentence = again.clone();
        sentence["when"] = json!("write a sentence");
        court.agent("jude", "judge", &json!([again, sentence, first]));
        let ran = court.arbitrate(&["--json"]);
        let report = ran.json();
        assert_eq!(report["gate"], expected, "{}", ran.stderr);
        let dispute = &report["arbitration"]["findings"][0]["disputes"][0]["id"];
        let case = dispute.as_str().unwrap().replacen("d-", "c-", 1);
        court.env.run(["replay", &case]).assert_code(0);
    }
}
