//! Many reviews at once: one JSON line in, one JSON line out.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;

use super::outcome::{Reviewer, Settlement, Verdict};
use super::policy::Policy;
use super::record::Record;
use super::{Input, settle_with};
use crate::reply::{Author, Problem, Strict, findings_in_value};
use crate::scale::Severity;

/// A line that is no review.
#[derive(Debug, Error)]
pub enum BatchError {
    /// The line is no JSON, or lacks what a review needs.
    #[error("the line is no review: {0}")]
    Malformed(#[from] serde_json::Error),
    /// It has no name.
    #[error("the line is no review: it has neither `pr_id` nor `id`")]
    Nameless,
}

/// A settled review of a batch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BatchLine {
    /// The name of the review, as given: text or a number.
    pub pr_id: Value,
    /// The name of the panel, if one was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub panel: Option<Value>,
    /// Every group of findings.
    pub findings: Vec<BatchFinding>,
}

/// A settled group of findings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BatchFinding {
    /// The findings in it by id as given, the lead first.
    pub ids: Vec<Value>,
    /// The final confidence.
    pub confidence: u8,
    /// In which list it ends.
    pub verdict: Verdict,
    /// The severity agreed upon.
    pub severity: Severity,
    /// The title of the lead.
    pub title: String,
    /// The leads of other groups that have the same cause at another place. A link is not agreement.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub linked: Vec<Value>,
}

/// What a line holds before its findings are read. Other keys are the caller's business.
#[derive(Deserialize)]
struct Line {
    #[serde(default)]
    pr_id: Option<Value>,
    /// Another name of `pr_id`, which says more when both are there.
    #[serde(default)]
    id: Option<Value>,
    #[serde(default)]
    panel: Option<Value>,
    reviewers: BTreeMap<String, Value>,
}

/// Settles the review on one line. What could not be used of its findings comes as problems.
pub fn settle_line(
    line: &str,
    policy: &Policy,
    record: Option<&Record>,
) -> Result<(BatchLine, Vec<Problem>), BatchError> {
    let strict = Strict::read(line)?;
    let mut problems: Vec<Problem> = strict.problems().collect();
    let line: Line = serde_json::from_value(strict.value)?;
    let pr_id = line.pr_id.or(line.id).ok_or(BatchError::Nameless)?;
    let mut input = Input::default();
    let mut numbers = Numbers::new();
    for (name, list) in line.reviewers {
        note_numbers(&mut numbers, &name, &list);
        let author = Author {
            reviewer: name.clone(),
            family: String::new(),
        };
        let read = findings_in_value(&list, &author);
        problems.extend(read.problems.into_iter().map(|problem| Problem {
            at: format!("{name}{}", problem.at),
            what: problem.what,
        }));
        if read.answered {
            let family = String::new();
            input.panel.push(Reviewer { name, family });
        } else {
            input.silent.push(name);
        }
        input.findings.extend(read.findings);
    }
    let settlement = settle_with(input, policy, record);
    let settled = BatchLine {
        pr_id,
        panel: line.panel,
        findings: findings(&settlement, &numbers),
    };
    problems.extend(settlement.problems.into_iter().map(|what| Problem {
        at: String::new(),
        what,
    }));
    Ok((settled, problems))
}

/// Ids that were given as numbers, by reviewer and how the number is written.
type Numbers = BTreeMap<(String, String), Value>;

fn note_numbers(numbers: &mut Numbers, reviewer: &str, list: &Value) {
    let items = list.as_array().map_or(&[][..], Vec::as_slice);
    for id in items.iter().filter_map(|item| item.get("id")) {
        if id.is_number() {
            numbers.insert((reviewer.to_owned(), id.to_string()), id.clone());
        }
    }
}

fn findings(settlement: &Settlement, numbers: &Numbers) -> Vec<BatchFinding> {
    let finding = |member: u32| &settlement.findings[member as usize];
    let id = |member: u32| {
        let (reviewer, id) = (&finding(member).reviewer, &finding(member).id);
        let as_text = || Value::String(id.clone());
        if numbers.is_empty() {
            return as_text();
        }
        let number = numbers.get(&(reviewer.clone(), id.clone()));
        number.cloned().unwrap_or_else(as_text)
    };
    let groups = settlement.groups.iter();
    groups
        .map(|group| BatchFinding {
            ids: group.members.iter().map(|&one| id(one)).collect(),
            confidence: group.confidence.get(),
            verdict: group.verdict,
            severity: group.severity,
            title: finding(group.lead()).title.clone(),
            linked: group.linked.iter().map(|&one| id(one)).collect(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_goes_in_and_a_line_comes_out() {
        let line = r#"{"id": "p1", "panel": 3, "other": 1, "reviewers": {
            "ann": [{"id": "x1", "file": "a.rs", "line": 3, "title": "wrong sum in total()",
                     "severity": null, "confidence": null, "category": null}],
            "bob": [{"id": "y1", "file": "a.rs", "line": 3, "title": "total() has a wrong sum"}],
            "eve": []}}"#;
        let (settled, problems) = settle_line(line, &Policy::arena(), None).expect("a review");
        assert_eq!(problems, []);
        assert_eq!(
            serde_json::to_string(&settled).expect("it serializes"),
            concat!(
                r#"{"pr_id":"p1","panel":3,"findings":[{"ids":["x1","y1"],"confidence":70,"#,
                r#""verdict":"accepted","severity":"medium","title":"wrong sum in total()"}]}"#
            )
        );
    }

    #[test]
    fn both_names_may_be_there_and_numbers_stay_numbers() {
        let table = [
            (r#""id": 7, "pr_id": 42"#, "42"),
            (r#""id": 7"#, "7"),
            (r#""id": "7", "pr_id": "p1""#, r#""p1""#),
        ];
        for (names, expected) in table {
            let line = format!(
                r#"{{{names}, "reviewers": {{"ann": [{{"id": 3, "title": "wrong sum here"}}],
                "bob": [{{"id": "3", "file": "b.rs", "title": "no test for it"}}]}}}}"#
            );
            let (settled, problems) = settle_line(&line, &Policy::arena(), None).expect("a review");
            assert_eq!(problems, []);
            assert_eq!(settled.pr_id.to_string(), expected);
            let ids: Vec<String> = settled
                .findings
                .iter()
                .map(|one| one.ids[0].to_string())
                .collect();
            assert_eq!(ids, ["3", r#""3""#]);
        }
    }

    #[test]
    fn a_key_with_two_values_is_reported_and_counts_for_neither() {
        let line = r#"{"pr_id": "p1", "reviewers": {"ann": [{"id": "x1", "title": "wrong sum here",
            "severity": "low", "severity": "critical"}], "bob": [], "bob": [{"title": "x y"}]}}"#;
        let (settled, problems) = settle_line(line, &Policy::arena(), None).expect("a review");
        let places: Vec<&str> = problems.iter().map(|one| one.at.as_str()).collect();
        assert_eq!(
            places,
            ["reviewers.ann[0].severity", "reviewers.bob", "bob"]
        );
        assert_eq!(settled.findings.len(), 1);
    }

    #[test]
    fn a_line_that_is_no_review_is_an_error() {
        for line in ["", "[]", "{\"pr_id\": \"p\"}", "{\"reviewers\": {}}"] {
            assert!(settle_line(line, &Policy::arena(), None).is_err(), "{line}");
        }
    }
}
