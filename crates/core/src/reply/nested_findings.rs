//! Findings that stand inside another finding, where nobody would read them.
//!
//! Some models put what belongs together under one heading: a finding with a list of further ones in
//! a key of their own choice. Only the heading would be counted. What stands below it is not guessed
//! at: the reviewer is asked to report it in the list.

use serde_json::{Map, Value};

use super::find::Author;
use super::{Problem, tags};

/// Keys of a finding whose values say where it is.
const PLACES: [&str; 3] = ["location", "code_location", "line_range"];

/// Keys that say how bad something is.
const RATINGS: [&str; 7] = [
    "label",
    "severity",
    "priority",
    "level",
    "rating",
    "gravity",
    "impact_level",
];

/// Keys under which something is claimed.
const CLAIMS: [&str; 11] = [
    "title",
    "name",
    "description",
    "body",
    "message",
    "detail",
    "details",
    "issue",
    "problem",
    "finding",
    "claim",
];

/// Keys that name a place in the code.
const SPOTS: [&str; 11] = [
    "file",
    "path",
    "file_path",
    "filename",
    "line",
    "line_start",
    "start_line",
    "line_number",
    "line_range",
    "location",
    "code_location",
];

/// Texts of a finding that are read as they are, and may quote anything.
const OWN_TEXTS: [&str; 16] = [
    "title",
    "name",
    "description",
    "body",
    "message",
    "detail",
    "suggestion",
    "recommendation",
    "fix",
    "quote",
    "code",
    "code_snippet",
    "evidence",
    "trigger",
    "trigger_path",
    "exploit",
];

/// Values below this depth are not looked at; no reader takes them for anything.
const DEEPEST: usize = 16;

/// Returns one problem for each part of a finding in which another one stands.
pub(super) fn nested_findings(finding: &Map<String, Value>, at: &str) -> Vec<Problem> {
    let others = finding
        .iter()
        .filter(|(key, _)| !PLACES.contains(&key.as_str()));
    let holding = others.filter(|(key, value)| match value {
        Value::String(text) => !OWN_TEXTS.contains(&key.as_str()) && is_tagged(text),
        value => holds_finding(value, 0),
    });
    let problem = |(key, _): (&String, &Value)| Problem {
        at: format!("{at}.{}", crate::text::truncate_chars(key, 40)),
        what: "another finding stands inside this one; report each in the list `findings`"
            .to_owned(),
    };
    holding.map(problem).collect()
}

/// Tells whether a finding stands in a value, be it as a line with a label.
pub(super) fn holds_finding(value: &Value, depth: usize) -> bool {
    match value {
        // What is hidden so deep is no part of a known form, whatever it is.
        Value::Array(_) | Value::Object(_) if depth > DEEPEST => true,
        Value::Array(items) => items.iter().any(|item| holds_finding(item, depth + 1)),
        Value::Object(object) => {
            is_finding(object) || object.values().any(|value| holds_finding(value, depth + 1))
        }
        Value::String(text) => is_tagged(text),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Tells whether an object claims something and says how bad it is, or where.
fn is_finding(object: &Map<String, Value>) -> bool {
    let has = |keys: &[&str]| {
        let mut names = object.iter();
        names.any(|(key, value)| {
            !value.is_null() && keys.contains(&key.to_ascii_lowercase().as_str())
        })
    };
    has(&RATINGS) || (has(&CLAIMS) && has(&SPOTS))
}

fn is_tagged(text: &str) -> bool {
    !tags::read(text, &Author::default()).findings.is_empty()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn told(finding: &Value) -> Vec<String> {
        let found = nested_findings(finding.as_object().unwrap(), "findings[0]");
        found.into_iter().map(|problem| problem.at).collect()
    }

    #[test]
    fn a_finding_inside_another_is_noticed_under_any_key_and_at_any_depth() {
        let inner = json!({"label": "HIGH", "title": "Evaluates what a stranger sends"});
        for key in ["findings", "related", "issues", "also", "sub_findings", "x"] {
            let values = [
                json!([inner]),
                inner.clone(),
                json!([[inner]]),
                json!({"more": [inner]}),
                json!([{"severity": "high"}]),
                json!([{"Severity": "high"}]),
                json!([{"message": "Evaluates it", "line": 3}]),
                json!(["[HIGH] app.py:3 - evaluates what a stranger sends"]),
                json!("[HIGH] app.py:3 - evaluates what a stranger sends"),
            ];
            for value in values {
                let finding = json!({"label": "LOW", "title": "A name", key: value});
                assert_eq!(told(&finding), [format!("findings[0].{key}")], "{finding}");
            }
        }
    }

    #[test]
    fn what_belongs_to_the_finding_itself_is_none() {
        let finding = json!({
            "label": "LOW",
            "title": "A name",
            "description": "[HIGH] is what the log says",
            "location": {"file": "app.py", "line": 3, "message": "here"},
            "code_location": {"absolute_file_path": "app.py", "line_range": {"start": 1, "end": 2}},
            "line_range": [1, 2],
            "tags": ["style", "naming"],
            "cwe": ["CWE-95"],
            "references": [{"title": "A guide to names", "url": "https://example.org"}],
            "confidence_reasons": {"why": "it is seen at once"},
            "impact": "Readers stumble.",
            "note": null,
        });
        assert_eq!(told(&finding), Vec::<String>::new());
    }
}
