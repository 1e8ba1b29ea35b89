//! Coders who call something fixed that is not, and fixes that only their finder can confirm.

use serde_json::{Value, json};

use super::super::AFTER;
use super::court::{Court, MENDED, ann, says, told};

const EVAL: &str = "def run(cmd):\n    return eval(cmd)\n";

/// The built-in reviewer finds `eval` in `src/run.py`, and the coder answers with these files.
fn found_by_a_rule(write: &Value) -> Court {
    let mut court = Court::empty();
    court.env.write("src/pay.py", MENDED);
    court.env.write("src/run.py", EVAL);
    court.coder(&says("implemented", ""), write);
    court
}

#[test]
fn code_that_the_coder_moves_is_not_fixed() {
    let with_more = format!("# Moved here.\n{EVAL}");
    for (place, text) in [
        ("src/other.py", EVAL),
        ("src/other.py", &with_more),
        ("vendor/run.py", EVAL),
    ] {
        let court = found_by_a_rule(&json!({"src/run.py": null, place: text}));
        let set = ["--json", "--apply", "--set", "review.builtin=[security]"];
        let ran = court.arbitrate(&set);
        let report = ran.json();
        assert_ne!(report["gate"], "pass", "{place}: {report:#}");
        assert_ne!(ran.code, Some(0), "{place}");
    }
    let court = found_by_a_rule(&json!({"src/run.py": "def run(cmd):\n    return int(cmd)\n"}));
    let set = ["--json", "--apply", "--set", "review.builtin=[security]"];
    assert_eq!(court.arbitrate(&set).code, Some(0), "an honest fix passes");
}

#[test]
fn comments_and_prose_fix_no_code_although_the_reviewer_says_so() {
    let commented = AFTER.replace(
        "    rate =",
        "    # The user is checked elsewhere.\n    rate =",
    );
    for (write, expected) in [
        (json!({"src/pay.py": commented}), "fail"),
        (
            json!({"NOTES.md": "The user is checked elsewhere.\n"}),
            "fail",
        ),
        (json!({"src/pay.py": MENDED}), "pass"),
    ] {
        let mut court = Court::with_ann();
        court.coder(&says("implemented", ""), &write);
        let report = court.arbitrate(&["--json", "--apply"]).json();
        assert_eq!(report["gate"], expected, "{report:#}");
    }
}

#[test]
fn a_coder_cannot_write_the_settings_that_judge_its_work() {
    let fix = "def run(cmd):\n    return int(cmd)\n";
    for place in [
        ".tribunal/config.yml",
        ".tribunal/rulings.yml",
        "src/.Tribunal/rules/a.yml",
    ] {
        let court =
            found_by_a_rule(&json!({"src/run.py": fix, place: "review: {ignore: ['*']}\n"}));
        let ran = court.arbitrate(&["--json", "--set", "review.builtin=[security]"]);
        let report = ran.json();
        let branch = report["arbitration"]["offer"]["branch"].as_str().unwrap();
        let files = court.git(&["ls-tree", "-r", "--name-only", branch]);
        assert!(files.contains("src/run.py"), "{files}");
        assert!(!files.to_lowercase().contains(".tribunal"), "{files}");
    }
}

#[test]
fn what_a_linter_found_is_checked_by_the_linter() {
    let script = r#"grep -q 'eval(' src/run.py && result='{"ruleId":"E1","level":"error","message":{"text":"eval runs text"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"src/run.py"},"region":{"startLine":2}}}]}'
printf '{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"evlint"}},"artifacts":[{"location":{"uri":"src/run.py"}},{"location":{"uri":"src/pay.py"}}],"results":[%s]}]}' "$result""#;
    for (mended, expected) in [
        ("def run(cmd):\n    return int(cmd)\n", "pass"),
        (
            "def run(cmd):\n    print(cmd)\n    return eval(cmd)\n",
            "fail",
        ),
    ] {
        let mut court = found_by_a_rule(&json!({"src/run.py": mended}));
        court.raw_agent(&format!(
            "{{name: lint, kind: sarif, role: reviewer, command: [sh, -c, {script:?}]}}"
        ));
        let ran = court.arbitrate(&["--json", "--apply"]);
        let report = ran.json();
        assert_eq!(report["gate"], expected, "{report:#}");
    }
}

#[test]
fn a_fix_that_only_the_branch_has_fails_the_gate_although_a_dispute_is_open() {
    let mut court = Court::empty();
    let second = "{\"id\": \"B\", \"label\": \"HIGH\", \"category\": \"bug\", \"file\": \"src/pay.py\", \
                  \"line\": 6, \"confidence\": 90, \"title\": \"An empty list gives zero\", \
                  \"description\": \"sum of nothing is 0\", \"quote\": \"return sum(row.amount\"}";
    let mut replies = ann(&[], true);
    let last = replies.as_array_mut().unwrap().last_mut().unwrap();
    let text = last["text"].as_str().unwrap().to_owned();
    let (head, tail) = text.rsplit_once(']').unwrap();
    last["text"] = json!(format!("{head}, {second}]{tail}"));
    court.agent("ann", "reviewer", &replies);
    let objection = r#"{"finding_id": "F2", "answer": "objected", "reason": "factual_error", "justification": "An empty list has the total zero", "evidence": [{"kind": "code", "reference": "src/pay.py:6", "text": "return sum"}]}"#;
    let implemented =
        r#"{"finding_id": "F1", "answer": "implemented", "justification": "Bound parameters"}"#;
    court.coder(
        &format!("{implemented}, {objection}"),
        &json!({"src/pay.py": MENDED}),
    );
    let ran = court.arbitrate(&["--json"]);
    assert_eq!(ran.code, Some(1), "{}", told(&ran));
    let report = ran.json();
    assert_eq!(report["gate"], "fail");
    assert_eq!(report["gate_with_offer"], "inconclusive");
    let case = report["case"].as_str().unwrap().to_owned();
    let shown = court.env.run(["show", &case]).stdout;
    assert!(
        shown.contains(&format!("tribunal resume {case}")),
        "{shown}"
    );
    let disputes = court.env.run(["dispute", "list", "--json"]).json();
    let dispute = disputes["disputes"][0]["id"].as_str().unwrap().to_owned();
    let ruling = crate::common::resolve_args(&dispute, "coder", "The total of nothing is zero.");
    court.env.run(ruling).assert_code(0);
    let resumed = court.env.run(["resume", &case, "--json"]);
    let report = resumed.json();
    assert_eq!(report["gate"], "fail", "{report:#}");
    assert_eq!(report["gate_with_offer"], "pass");
}
