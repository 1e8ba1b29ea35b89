//! Reports of our own reviews, taken apart again into what each reviewer said.

use serde_json::Value;

use super::find::{Author, Findings};
use crate::consensus::Verdict;
use crate::finding::Finding;
use crate::review::report::{
    REVIEW_SCHEMA, ReviewReport, ReviewedFinding, ReviewerState, Standing, Voice,
};

/// What a report of our own holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnReview {
    /// What each reviewer reported.
    pub voices: Vec<(Author, Findings)>,
    /// What the report holds and is not counted again, one phrase each.
    pub left_out: Vec<String>,
}

/// Reads a report of our own; nothing if the value is none.
#[must_use]
pub fn read_own_review(value: &Value) -> Option<OwnReview> {
    if value.get("schema").and_then(Value::as_str) != Some(REVIEW_SCHEMA) {
        return None;
    }
    let report: ReviewReport = serde_json::from_value(value.clone()).ok()?;
    let (standing, fallen): (Vec<&ReviewedFinding>, Vec<&ReviewedFinding>) =
        report.findings.iter().partition(|finding| stands(finding));
    let mut voices: Vec<(Author, Findings)> = Vec::new();
    for seat in &report.reviewers {
        let own = standing.iter().flat_map(|&finding| {
            let voices = finding.voices.iter();
            let own = voices.filter(|voice| voice.reviewer == seat.name);
            own.map(|voice| as_reported(finding, voice))
        });
        let findings: Vec<Finding> = own.collect();
        if findings.is_empty() && seat.state == ReviewerState::Idle {
            continue;
        }
        let author = Author {
            reviewer: seat.name.clone(),
            family: seat.family.clone(),
        };
        let read = Findings {
            findings,
            answered: !matches!(seat.state, ReviewerState::Missing { .. }),
            ..Findings::default()
        };
        voices.push((author, read));
    }
    let debated = standing.iter().any(|finding| !finding.rounds.is_empty());
    let mut left_out = Vec::new();
    if !fallen.is_empty() {
        let number = fallen.len();
        left_out.push(format!(
            "{number} rejected, dismissed or fixed were left out"
        ));
    }
    if debated {
        left_out.push("what was said in rounds 2 and 3 was left out".to_owned());
    }
    Some(OwnReview { voices, left_out })
}

fn stands(finding: &ReviewedFinding) -> bool {
    let gone = matches!(finding.standing, Standing::Dismissed | Standing::Fixed);
    !gone && finding.verdict != Verdict::Rejected
}

fn as_reported(finding: &ReviewedFinding, voice: &Voice) -> Finding {
    Finding {
        id: voice.id.clone(),
        reviewer: voice.reviewer.clone(),
        family: voice.family.clone(),
        location: voice.location.clone(),
        category: voice.category.or(Some(finding.category)),
        severity: voice.severity,
        confidence: voice.confidence,
        title: voice.title.clone(),
        description: voice.description.clone(),
        suggestion: voice.suggestion.clone(),
        trigger: voice.trigger.clone(),
        quote: voice.quote.clone(),
        grounding: voice.grounding,
        ..Finding::default()
    }
}
