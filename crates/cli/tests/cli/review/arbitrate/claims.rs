//! Two claims are two findings, and a ruling covers the claim that was shown.

use serde_json::{Value, json};

use super::super::{NONCE, signed};
use super::court::{Court, answer};

const RATE: &str = r#"{"id": "1", "file": "src/pay.py", "line": 5, "label": "MUST", "category": "bug", "confidence": 94, "title": "Rate of an unknown user is used", "description": "A user without a row gets no rate, and the sum is lost with an exception.", "quote": "rate = db.execute", "trigger": "a user who has no rate", "suggestion": "Fall back to the default rate."}"#;
const ROUNDING: &str = r#"{"id": "2", "file": "src/pay.py", "line": 5, "label": "MUST", "category": "bug", "confidence": 94, "title": "Money is rounded as a float", "description": "Amounts are cents; a float loses some, so that shares do not add up.", "quote": "rate = db.execute", "trigger": "a rate of 0.1 three times", "suggestion": "Use Decimal."}"#;

fn court(findings: &[&str]) -> Court {
    let mut court = Court::empty();
    reviewer(&mut court, "ann", findings);
    court
}

fn reviewer(court: &mut Court, name: &str, findings: &[&str]) {
    let replies = json!([{ "text": signed(&findings.join(",")) }]);
    court.agent(name, "reviewer", &replies);
}

/// Adds a coder who objects to so many findings.
fn objecting(court: &mut Court, number: usize) {
    let objection = |number: usize| {
        format!(
            r#"{{"finding_id": "F{number}", "answer": "objected", "reason": "factual_error", "justification": "The caller makes sure.", "evidence": []}}"#
        )
    };
    let all: Vec<String> = (1..=number).map(objection).collect();
    court.coder(&all.join(","), &json!({}));
}

fn ids(report: &Value) -> Vec<String> {
    let findings = report["findings"].as_array().unwrap().iter();
    let mut ids: Vec<String> = findings
        .map(|one| one["id"].as_str().unwrap().to_owned())
        .collect();
    ids.sort();
    ids.dedup();
    ids
}

fn disputes(court: &Court) -> usize {
    let listed = court.env.run(["dispute", "list", "--json"]).assert_code(0);
    listed.json()["disputes"].as_array().unwrap().len()
}

#[test]
fn two_claims_about_one_line_have_two_ids_and_two_disputes() {
    let mut court = court(&[RATE, ROUNDING]);
    objecting(&mut court, 2);
    court.setting("on_dispute: {default: human}");
    let ran = court.arbitrate(&["--json"]).assert_code(5);
    assert_eq!(ids(&ran.json()).len(), 2);
    assert_eq!(disputes(&court), 2);
}

#[test]
fn a_dismissal_does_not_silence_another_claim_about_the_same_line() {
    let mut court = court(&[RATE]);
    objecting(&mut court, 1);
    court.judge("DISMISS");
    court.setting("on_dispute: {default: judge}");
    court.arbitrate(&["--json"]).assert_code(0);
    // What was dismissed stays so.
    let again = court.env.run(["review", "--json"]).assert_code(0).json();
    assert_eq!(again["findings"][0]["standing"], "dismissed");
    // Another claim, and one that merely resembles it, count.
    let similar = RATE.replace(
        "of an unknown user is used",
        "`rate` of an unknown user is cached",
    );
    for (other, marked) in [(ROUNDING, false), (similar.as_str(), true)] {
        let script = json!({ "replies": [{ "text": signed(other) }] });
        std::fs::write(court.env.root().join("ann.json"), script.to_string()).unwrap();
        let report = court.env.run(["review", "--json"]).assert_code(1).json();
        let finding = &report["findings"][0];
        assert_ne!(finding["standing"], "dismissed");
        assert_eq!(finding["similar"].is_object(), marked, "{finding}");
    }
    let text = court.env.run(["review"]).stdout;
    assert!(text.contains("similar to one dismissed on"), "{text}");
}

#[test]
fn claims_without_a_file_are_told_apart_by_their_text() {
    let lines = |texts: &[&str]| {
        let lines: Vec<String> = texts.iter().map(|one| format!("[MUST] {one}\n")).collect();
        format!("REVIEW {NONCE}\n{}END {NONCE}\n", lines.concat())
    };
    let leak = "Memory leak in the connection pool: objects are never closed after a request";
    let clear = "Passwords are stored in clear text and anybody with the backup reads them";
    let mut court = Court::empty();
    court.agent("ann", "reviewer", &json!([{ "text": lines(&[leak]) }]));
    objecting(&mut court, 1);
    court.judge("DISMISS");
    court.setting("on_dispute: {default: judge}");
    court.arbitrate(&["--json"]).assert_code(0);
    let script = json!({ "replies": [{ "text": lines(&[leak, clear]) }] });
    std::fs::write(court.env.root().join("ann.json"), script.to_string()).unwrap();
    let ran = court.env.run(["review", "--json"]);
    assert_ne!(ran.code, Some(0), "{}", ran.stdout);
    assert_eq!(ids(&ran.json()).len(), 2);
}

#[test]
fn short_tag_lines_of_one_reviewer_reach_the_coder() {
    let tags = "[MUST] src/pay.py:5 - Fix SQL injection vulnerability in query builder
[SHOULD] src/pay.py:6 - Consider using a constant
[HIGH] Memory leak in connection pool
[LOW] Typo in comment
";
    for policy in ["tribunal", "arena"] {
        let mut court = Court::empty();
        let text = format!("REVIEW {NONCE}\n{tags}END {NONCE}\n");
        court.agent("ann", "reviewer", &json!([{ "text": text }]));
        objecting(&mut court, 4);
        court.setting("on_dispute: {default: human}");
        court.setting(&format!("policy: {policy}"));
        let report = court.arbitrate(&["--json"]).assert_code(5).json();
        let asked = report["arbitration"]["findings"].as_array().unwrap();
        let answered = asked
            .iter()
            .filter(|one| one["responses"][0]["response"].is_object());
        assert_eq!(answered.count(), asked.len(), "{policy}: {asked:?}");
        let mandatory = asked.iter().filter(|one| one["obligation"] == "mandatory");
        assert_eq!(mandatory.count(), 2, "{policy}: {asked:?}");
    }
}

#[test]
fn what_other_reviewers_say_reaches_coder_and_judge() {
    let mut court = court(&[RATE]);
    let other = RATE
        .replace("MUST", "SHOULD")
        .replace(
            "Rate of an unknown user is used",
            "Rate of an unknown user is not checked",
        )
        .replace(
            "and the sum is lost with an exception",
            "so that the invoice is empty",
        );
    reviewer(&mut court, "bob", &[other.as_str()]);
    let objection = answer(
        "responses",
        r#"{"finding_id": "F1", "answer": "objected", "reason": "factual_error", "justification": "The caller makes sure.", "evidence": []}"#,
    );
    let replies = json!([{ "when": "so that the invoice is empty", "text": objection }]);
    court.agent("cody", "coder", &replies);
    let ruling = format!(
        r#"{{"nonce": "{NONCE}", "ruling": "ENFORCE", "reason": "src/pay.py:5 shows it.", "reversal": "A check.", "end": "{NONCE}"}}"#
    );
    let replies = json!([{ "when": "so that the invoice is empty", "text": ruling }]);
    court.agent("jude", "judge", &replies);
    court.setting("on_dispute: {default: judge}");
    let report = court.arbitrate(&["--json"]).json();
    let finding = &report["arbitration"]["findings"][0];
    assert_eq!(
        report["arbitration"]["findings"].as_array().unwrap().len(),
        1
    );
    assert_eq!(
        finding["disputes"][0]["decision"]["decision"], "enforce",
        "{finding}"
    );
    // It blocks as the graver of the two does, and its texts are those of that one.
    assert_eq!(report["findings"][0]["label"], "MUST");
    assert_eq!(
        report["findings"][0]["title"],
        "Rate of an unknown user is used"
    );
}

#[test]
fn a_place_that_does_not_exist_is_rejected_and_a_file_outside_of_the_change_is_not() {
    // Its quote is in the change, so only the path is in doubt.
    let misplaced = RATE.replace("src/pay.py", "src/ghost.py");
    let ghost = misplaced.replace("rate = db.execute", "shutil.rmtree(home)");
    let far = RATE
        .replace("\"line\": 5", "\"line\": 99")
        .replace("rate = db.execute", "shutil.rmtree(home)");
    for (finding, verdict, code) in [
        (ghost.as_str(), "rejected", 0),
        (far.as_str(), "rejected", 0),
        (misplaced.as_str(), "accepted", 1),
        (RATE, "accepted", 1),
    ] {
        let court = court(&[finding]);
        court.write_config();
        let ran = court.env.run(["review", "--json"]).assert_code(code);
        assert_eq!(ran.json()["findings"][0]["verdict"], verdict, "{finding}");
    }
    let elsewhere = RATE
        .replace("src/pay.py", "src/web.py")
        .replace("rate = db.execute", "");
    let court = court(&[elsewhere.as_str()]);
    court.env.write("src/web.py", "import pay\n\n\n\n\nx = 1\n");
    court.env.git(&["add", "src/web.py"]);
    court
        .env
        .git(&["commit", "-q", "-m", "third", "src/web.py"]);
    court.write_config();
    let report = court.env.run(["review", "--json"]).json();
    assert_ne!(report["findings"][0]["verdict"], "rejected", "{report}");
}

#[test]
fn a_finding_on_one_branch_is_not_fixed_by_another() {
    let court = court(&[RATE]);
    court.write_config();
    let standing = |expected: &str| {
        let report = court.env.run(["review", "--base", "main", "--json"]).json();
        assert_eq!(report["findings"][0]["standing"], expected, "{report}");
    };
    court.env.git(&["branch", "-M", "main"]);
    court.env.git(&["checkout", "-q", "-b", "topic"]);
    court.env.commit_all("topic");
    standing("new");
    court.env.git(&["checkout", "-q", "-b", "other", "main"]);
    court.env.write(
        "src/pay.py",
        "import db\n\n\ndef total(rows):\n    return 0\n",
    );
    court.env.commit_all("other");
    let script = court.env.root().join("ann.json");
    let reported = std::fs::read(&script).unwrap();
    let nothing = json!({ "replies": [{ "text": signed("") }] });
    std::fs::write(&script, nothing.to_string()).unwrap();
    let report = court.env.run(["review", "--base", "main", "--json"]).json();
    assert_eq!(report["fixed"], json!([]), "{report}");
    std::fs::write(&script, reported).unwrap();
    court.env.git(&["checkout", "-q", "topic"]);
    standing("open");
}
