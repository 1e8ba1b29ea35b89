//! A person dismisses a finding of an arbitrated review by its id, without looking for the dispute.

use serde_json::json;

use super::super::{DEFECT, signed};
use super::court::{Court, says, told};

/// A review that waits for somebody to rule on what its coder contests, and the finding.
fn waiting() -> (Court, String, String) {
    let mut court = Court::with_ann();
    let objection = says(
        "objected",
        r#", "reason": "factual_error", "justification": "The caller escapes it.", "evidence": []"#,
    );
    court.coder(&objection, &json!({}));
    court.setting("on_dispute: {default: human}");
    let report = court.arbitrate(&["--json"]).assert_code(5).json();
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    let (case, finding) = (text(&report["case"]), text(&report["findings"][0]["id"]));
    (court, case, finding)
}

#[test]
fn dismissing_a_finding_rules_the_open_dispute_and_the_review_goes_on() {
    let (court, case, finding) = waiting();
    let args = ["dismiss", &finding, "--why", "The caller escapes it"];
    let ran = court.env.run(args).assert_code(0);
    assert!(
        ran.stderr
            .contains(&format!("go on with `tribunal resume {case}`")),
        "{}",
        ran.stderr
    );
    let listed = court
        .env
        .run(["dispute", "list", "--json"])
        .assert_code(0)
        .json();
    let disputes = listed["disputes"].as_array().unwrap();
    assert_eq!(disputes.len(), 1, "{listed}");
    assert_eq!(disputes[0]["state"], "ruled");
    let resumed = court.env.run(["resume", &case, "--json"]);
    assert_eq!(
        told(&resumed),
        "pass; SQL from user input: dismissed, objection dismiss; settled; offered nothing"
    );
    court.env.assert_healthy();
}

#[test]
fn another_claim_about_the_same_line_still_counts() {
    let mut court = Court::empty();
    let slow = r#"{"id": "2", "file": "src/pay.py", "line": 5, "label": "HIGH", "category": "performance", "confidence": 90, "title": "A query for each call", "description": "The table is read again whenever `total` is called.", "quote": "WHERE user = '%s'"}"#;
    let both = signed(&format!("{DEFECT}, {slow}"));
    court.agent("ann", "reviewer", &json!([{ "text": both }]));
    court.write_config();
    let report = court.env.run(["review", "--json"]).assert_code(1).json();
    let findings = report["findings"].as_array().unwrap();
    assert_eq!(findings.len(), 2, "{report}");
    let security = findings.iter().find(|one| one["category"] == "security");
    let id = security.unwrap()["id"].as_str().unwrap().to_owned();
    let args = ["dismiss", &id, "--why", "The caller escapes it"];
    court.env.run(args).assert_code(0);
    let report = court.env.run(["review", "--json"]).assert_code(1).json();
    let counted: Vec<(&str, bool)> = report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| {
            (
                one["title"].as_str().unwrap(),
                one["counts"].as_bool().unwrap(),
            )
        })
        .collect();
    assert!(
        counted.contains(&("SQL from user input", false)),
        "{counted:?}"
    );
    assert!(
        counted.contains(&("A query for each call", true)),
        "{counted:?}"
    );
    court.env.assert_healthy();
}
