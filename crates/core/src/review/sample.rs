//! A finding of a review for tests, of which each changes what it is about.

use super::gate::Obligation;
use super::report::{ReviewedFinding, Standing};
use crate::consensus::{Agreement, Verdict};
use crate::finding::{Category, Label, Location};
use crate::scale::{Confidence, Severity};

/// Returns a new finding of one voice that binds.
pub(crate) fn finding(id: &str) -> ReviewedFinding {
    ReviewedFinding {
        id: id.to_owned(),
        fingerprint: id.to_owned(),
        verdict: Verdict::Accepted,
        standing: Standing::New,
        counts: true,
        contradicted: false,
        escalate: false,
        obligation: Obligation::Mandatory,
        label: Label::High,
        severity: Severity::High,
        category: Category::Bug,
        rule: String::new(),
        confidence: Confidence::clamped(80),
        agreement: Agreement::SingleSource,
        location: Location::default(),
        in_diff: true,
        title: id.to_owned(),
        description: String::new(),
        suggestion: String::new(),
        trigger: String::new(),
        frame: Vec::new(),
        voices: Vec::new(),
        dissent: Vec::new(),
        rounds: Vec::new(),
        judgement: None,
        advisories: Vec::new(),
        precedents: Vec::new(),
        similar: None,
        linked: Vec::new(),
        team_ruling: None,
        trace: Vec::new(),
        score: None,
        question: String::new(),
        reasons: Vec::new(),
        reversal: String::new(),
    }
}
