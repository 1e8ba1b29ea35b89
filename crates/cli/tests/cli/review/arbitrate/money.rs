//! An arbitration whose money runs out on the way.

use serde_json::{Value, json};

use super::super::NONCE;
use super::court::{Court, MENDED, ann, answer, says, told};

/// Returns the replies with what each of them costs.
fn at(cost: f64, mut replies: Value) -> Value {
    for reply in replies.as_array_mut().unwrap() {
        reply["cost_usd"] = json!(cost);
    }
    replies
}

/// Returns a review in which a reviewer reports ($0.20), the coder objects ($0.20), the judge
/// enforces ($0.30), the coder mends it ($0.20), and the reviewer checks that and looks at the
/// coder's work ($0.20 each).
fn court() -> Court {
    let mut court = Court::empty();
    court.agent("ann", "reviewer", &at(0.2, ann(&[], true)));
    let objects = says(
        "objected",
        r#", "reason": "factual_error", "justification": "The caller escapes it.",
           "evidence": [{"kind": "code", "reference": "src/pay.py:4", "text": "def total(rows, user):"}]"#,
    );
    let replies = json!([
        {"when": "\"ruling\":\"ENFORCE\"", "write": {"src/pay.py": MENDED},
            "text": answer("responses", &says("implemented", ""))},
        {"text": answer("responses", &objects)},
    ]);
    court.agent("cody", "coder", &at(0.2, replies));
    let ruling = json!({"nonce": NONCE, "ruling": "ENFORCE", "reason": "src/pay.py:5 shows it.",
        "reversal": "A caller that escapes.", "end": NONCE});
    let replies = json!([{ "text": ruling.to_string() }]);
    court.agent("jude", "judge", &at(0.3, replies));
    court
}

#[test]
fn an_arbitration_stops_before_the_call_that_its_money_does_not_cover() {
    let whole = "fail; SQL from user input: fixed, objection enforce; settled; offered branch (pass with it)";
    let ran = court().arbitrate(&["--json"]);
    assert_eq!(told(&ran), whole);
    let cost = ran.json()["cost"].clone();
    for (most, by_then) in [
        ("0.20", "ann"),
        ("0.40", "ann cody"),
        ("0.70", "ann cody jude"),
        ("0.90", "ann cody cody jude"),
    ] {
        let court = court();
        court.write_config();
        let files = court.files();
        let line = ["review", "--arbitrate", "--json", "--max-cost", most];
        let ran = court.env.run(line);
        assert_eq!(ran.code, Some(7), "{most}: {}", ran.stderr);
        assert_eq!(court.files(), files, "{most}");
        let spent = format!("${most} of ${most} spent");
        assert!(ran.stderr.contains(&spent), "{most}: {}", ran.stderr);
        assert_eq!(asked(&court), by_then, "{most}");
        // With more money it goes on from there, and nothing is paid for twice.
        let hint = ran.stderr.split("`tribunal resume ").nth(1).unwrap();
        let case = hint.split('`').next().unwrap();
        let more = ["resume", case, "--json", "--set", "budget.per_case=5"];
        let resumed = court.env.run(more);
        assert_eq!(told(&resumed), whole, "{most}");
        assert_eq!(resumed.json()["cost"], cost, "{most}");
        court.env.assert_healthy();
        court.assert_tidy();
    }
}

/// Returns who was asked, in the review and in the dispute, by name.
fn asked(court: &Court) -> String {
    let cases = court.env.run(["log", "--json"]).assert_code(0).json();
    let mut asked = Vec::new();
    for case in cases["cases"].as_array().unwrap() {
        let id = case["case"].as_str().unwrap();
        let events = court.env.run(["show", id, "--format", "jsonl"]);
        let events = events.assert_code(0).stdout;
        let events = events.lines().map(|line| {
            let event: Value = serde_json::from_str(line).unwrap();
            event
        });
        let started = events.filter(|event| event["type"] == "run_started");
        asked.extend(started.map(|event| event["agent"].as_str().unwrap().to_owned()));
    }
    asked.sort_unstable();
    asked.join(" ")
}
