//! Phase 4: one voice alone must bring evidence.

use super::draft::Draft;
use super::outcome::{Agreement, Kind, Note, Score, Verdict};
use super::trace::Step;
use crate::scale::Severity;

/// Scores the finding; points decide whether it is accepted, and at what price.
///
/// `contested` is the deduction of a conflict about it, which then stands in for the smaller one.
pub(super) fn apply(draft: &mut Draft<'_>, contested: Option<i32>) {
    let rules = &draft.docket.policy.unique;
    let claim = draft.lead();
    let confidence = claim.standing;
    let parts = points(draft);
    let score = parts.total();
    draft.kind = Kind::Unique;
    draft.agreement = Agreement::SingleSource;
    draft.score = Some(parts);
    draft.open_trace(Step::Original, draft.voices[0].speaker);
    if draft.severity == Severity::Critical && confidence < i32::from(rules.critical_below) {
        draft.note(Note::ExtraordinaryClaim);
    }
    let (step, contested) = match contested {
        Some(amount) => (Step::Conflict, amount),
        None => (Step::SingleSource, 0),
    };
    if score >= rules.accept {
        draft.trace.push(step, rules.accepted.min(contested));
    } else if score >= rules.accept_noted {
        draft.trace.push(step, rules.noted.min(contested));
        draft.note(Note::ThinSingleSource);
    } else {
        draft.trace.push_nonzero(step, rules.noted.min(contested));
        draft.verdict = Verdict::Rejected;
        draft.note(Note::TooFewPoints);
    }
}

fn points(draft: &Draft<'_>) -> Score {
    let rules = &draft.docket.policy.unique;
    let claim = draft.lead();
    let confidence = claim.standing;
    let at_least = |bound: u8| confidence >= i32::from(bound);
    let doubtful = !at_least(rules.critical_below);
    let sure = confidence > i32::from(rules.low_above);
    Score {
        confidence: if at_least(rules.strong) {
            3
        } else if at_least(rules.moderate) {
            2
        } else {
            i8::from(at_least(rules.weak))
        },
        evidence: claim.evidence.points(),
        severity: match draft.severity {
            Severity::Critical if doubtful => -2,
            Severity::Low if sure => 1,
            _ => 0,
        },
        practice: claim.evidence.practice_points(),
    }
}
