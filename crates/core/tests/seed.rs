//! A whole debate in the messages of the debate format: what goes in, and the JSON that comes out.
//!
//! `snapshots/debate.json` is that JSON. Changing it is a deliberate act: other programs read it.

use serde_json::Value;
use tribunal_core::consensus::{Input, Policy, Report, Reviewer, settle};
use tribunal_core::reply::{Author, Message, read_findings, read_messages};

const CLAUDE: &str = r#"```json
{"model": "claude", "role": "security-reviewer", "file": "src/db.rs", "findings": [
  {"severity": "high", "confidence": 85, "line": 10, "title": "query built by hand", "category": "security",
   "description": "SQL injection when the name is O'Neill: it goes into the query as it is",
   "suggestion": "Use a parameter for the name"},
  {"severity": "medium", "confidence": 70, "line": 80, "title": "error is ignored", "category": "bug",
   "description": "The result of commit() is dropped", "suggestion": "Return the error"}
], "summary": "Two findings"}
```"#;

const CODEX: &str = r#"{"model": "codex", "role": "reviewer", "file": "src/db.rs", "findings": [
  {"severity": "high", "confidence": 80, "line": 12, "title": "unquoted name in query", "category": "security",
   "description": "The name is not quoted", "suggestion": "Quote it"},
  {"severity": "low", "confidence": 35, "line": 200, "title": "long function", "category": "architecture",
   "description": "It has ninety lines", "suggestion": ""}
]}"#;

const GEMINI: &str =
    r#"{"model": "gemini", "role": "reviewer", "file": "src/db.rs", "findings": []}"#;

const ROUND_2: [(&str, &str); 2] = [
    (
        "claude",
        r#"{"finding_id": "src/db.rs:200:long function", "original_model": "codex", "action": "disagree",
            "confidence_adjustment": -10, "reasoning": "It reads well", "new_observations": []}"#,
    ),
    (
        "lead",
        r#"{"model": "gemini", "round": 2, "phase": "cross-examine", "responses": [
            {"finding_id": "src/db.rs:10:query built by hand", "original_model": "claude", "action": "agree",
             "confidence_adjustment": 5, "reasoning": "The same in the log", "new_observations": [
               {"severity": "medium", "confidence": 75, "file": "src/db.rs", "line": 140, "title": "pool is never closed",
                "category": "bug", "description": "Connections stay open when load() fails", "suggestion": "Close it"}]},
            {"finding_id": "src/db.rs:80:error is ignored", "original_model": "claude", "action": "disagree",
             "confidence_adjustment": -15,
             "reasoning": "commit() at src/db.rs:82 already returns the error because of the question mark"}]}"#,
    ),
];

const ROUND_3: [(&str, &str); 2] = [
    (
        "claude",
        r#"{"finding_id": "src/db.rs:80:error is ignored", "action": "concede", "confidence_adjustment": 0,
            "reasoning": "I missed the question mark", "revised_severity": null, "revised_description": null}"#,
    ),
    (
        "lead",
        r#"{"model": "codex", "round": 3, "phase": "defend", "defenses": [
            {"finding_id": "src/db.rs:12:unquoted name in query", "action": "defend", "confidence_adjustment": 0,
             "reasoning": "Nothing checks the name before it gets there", "revised_severity": null,
             "revised_description": null}]}"#,
    ),
];

fn author(name: &str) -> Author {
    Author {
        reviewer: name.to_owned(),
        family: String::new(),
    }
}

fn debate() -> Input {
    let mut input = Input::default();
    for (name, text) in [("claude", CLAUDE), ("codex", CODEX), ("gemini", GEMINI)] {
        let read = read_findings(text, &author(name));
        assert_eq!(read.problems, [], "{name}");
        input.findings.extend(read.findings);
        input.panel.push(Reviewer {
            name: name.to_owned(),
            family: String::new(),
        });
    }
    for (sender, text) in ROUND_2.into_iter().chain(ROUND_3) {
        let read = read_messages(text, &author(sender));
        assert_eq!(read.problems, [], "{text}");
        for message in read.messages {
            match message {
                Message::Examination(one) => input.examinations.push(one),
                Message::Defense(one) => input.defenses.push(one),
                Message::Signal(signal) => panic!("no signal was sent: {signal:?}"),
            }
        }
    }
    input
}

#[test]
fn the_messages_of_a_debate_become_its_consensus() {
    let report = settle(debate(), &Policy::arena()).report();
    let actual = serde_json::to_value(&report).expect("a report serializes");
    let expected: Value =
        serde_json::from_str(include_str!("snapshots/debate.json")).expect("JSON");
    let shown = serde_json::to_string_pretty(&actual).expect("a value serializes");
    assert_eq!(
        actual, expected,
        "snapshots/debate.json should be:\n{shown}"
    );
}

#[test]
fn a_report_survives_the_trip_through_json() {
    let report = settle(debate(), &Policy::tribunal()).report();
    let text = serde_json::to_string(&report).expect("a report serializes");
    assert_eq!(
        serde_json::from_str::<Report>(&text).expect("and back"),
        report
    );
}

#[test]
fn the_schema_names_the_fields_of_the_debate_format() {
    let schema = schemars::schema_for!(Report);
    let text = serde_json::to_string(&schema).expect("a schema serializes");
    for name in [
        "schema_version",
        "model",
        "role",
        "file",
        "findings",
        "severity",
        "confidence",
        "line",
        "title",
        "description",
        "suggestion",
        "cross_examination_trail",
        "round1",
        "original_model",
        "original_severity",
        "original_confidence",
        "round2",
        "claude_reviewers",
        "round3",
        "defender",
        "action",
        "confidence_adjustment",
        "reasoning",
        "final_confidence_calculation",
        "consensus",
        "accepted",
        "finding_index",
        "agreement_level",
        "contributing_models",
        "original_severities",
        "original_confidences",
        "resolution_notes",
        "rejected",
        "original_title",
        "rejection_reason",
        "reversal_criteria",
        "disputed",
        "perspectives",
        "unresolved_questions",
        "recommended_action",
        "debate_statistics",
        "total_findings_received",
        "findings_per_model",
        "agreements",
        "conflicts_resolved",
        "disputes_unresolved",
        "unique_findings_accepted",
        "unique_findings_rejected",
        "security_advisories_checked",
        "round2_cross_examination",
        "responses_received",
        "disagreements",
        "partial_agreements",
        "new_observations_added",
        "round3_defense",
        "defenses_received",
        "defended",
        "conceded",
        "modified",
        "confidence_changes",
        "increased",
        "decreased",
        "unchanged",
        "summary",
        "trace",
    ] {
        assert!(text.contains(&format!("\"{name}\"")), "{name}");
    }
}
