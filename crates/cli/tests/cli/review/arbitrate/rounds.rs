//! It always ends.

use serde_json::json;

use super::court::{Court, MENDED, ann, answer, says, told};

/// A finding in the coder's work.
fn late(label: &str, line: u32, quote: &str) -> String {
    format!(
        r#"{{"id": "9", "file": "src/pay.py", "line": {line}, "label": "{label}", "category": "bug", "confidence": 95, "title": "late {label} {line}", "description": "`rate` may be None here, so the product fails.", "quote": {quote:?}, "trigger": "no row", "suggestion": "Check it."}}"#
    )
}

#[test]
fn a_reviewer_who_always_finds_something_new_ends_with_the_rounds() {
    let mut court = Court::empty();
    // Each round of the coder writes another line, and the reviewer dislikes each.
    let fix = |number: u32| MENDED.replace("(user,)", &format!("(user, {number})"));
    let mut replies = vec![json!({"when": "Was it fixed?", "text": answer("checks",
            r#"{"finding_id": "F1", "can_happen": "no", "state": "fixed", "reason": "the problem is gone"}"#)})];
    for number in 1..=3 {
        let quote = format!("(user, {number})");
        replies.push(json!({
            "when": ["The change: the coder's work", quote],
            "text": super::super::signed(&late("HIGH", 5, &quote)),
        }));
    }
    replies.push(json!({"text": super::super::signed(super::super::DEFECT)}));
    court.agent("ann", "reviewer", &json!(replies));
    let coder: Vec<_> = (1..=3)
        .rev()
        .map(|number| {
            let mut reply = json!({
                "text": answer("responses", &says("implemented", "")),
                "write": {"src/pay.py": fix(number)},
            });
            if number > 1 {
                reply["when"] = json!(format!("(user, {})", number - 1));
            }
            reply
        })
        .collect();
    court.agent("cody", "coder", &json!(coder));
    let ran = court.arbitrate(&["--json"]);
    let report = ran.json();
    assert_eq!(
        report["arbitration"]["end"],
        json!({"reason": "rounds_used_up", "rounds": 3})
    );
    assert_eq!(report["arbitration"]["rounds"].as_array().unwrap().len(), 3);
    let last = report["arbitration"]["findings"]
        .as_array()
        .unwrap()
        .last()
        .unwrap();
    assert_eq!(last["disputes"][0]["origin"], "deadlock");
    assert_eq!(ran.code, Some(1));
    let shown: Vec<&str> = report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|finding| finding["counts"] == true)
        .map(|finding| finding["title"].as_str().unwrap())
        .collect();
    assert_eq!(
        shown,
        ["SQL from user input", "late HIGH 5"],
        "what fails the gate is among the findings"
    );
    let page = std::fs::read_to_string(court.env.project().join("dispute.md")).unwrap();
    assert!(page.contains("late HIGH 5"), "{page}");
}

#[test]
fn late_findings_bind_only_where_the_fix_is() {
    // Line 6 is not touched by the fix; line 5 is.
    for (label, line, quote, expected) in [
        (
            "HIGH",
            6,
            "return sum(row.amount",
            "fail; SQL from user input: fixed; late HIGH 6: logged; settled; offered branch (pass with it)",
        ),
        (
            "LOW",
            5,
            "WHERE user = ?",
            "fail; SQL from user input: fixed; late LOW 5: logged; settled; offered branch (pass with it)",
        ),
    ] {
        let mut court = Court::empty();
        court.agent("ann", "reviewer", &ann(&[&late(label, line, quote)], true));
        court.coder(&says("implemented", ""), &json!({"src/pay.py": MENDED}));
        assert_eq!(court.told(&[]), expected);
    }
}

#[test]
fn one_round_is_enough_when_configured() {
    let mut court = Court::empty();
    court.agent("ann", "reviewer", &ann(&[], false));
    court.coder(&says("implemented", ""), &json!({"src/pay.py": MENDED}));
    court.setting("arbitration: {rounds: 1}");
    let ran = court.arbitrate(&["--json"]);
    assert_eq!(
        told(&ran),
        "fail; SQL from user input: open (rounds_used_up), deadlock open; rounds_used_up; \
         offered branch (fail with it)"
    );
}
