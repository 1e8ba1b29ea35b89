//! Phase 4: one voice alone must bring evidence.

use super::draft::Draft;
use super::outcome::{Agreement, Kind, Note, Verdict};
use super::trace::Step;
use crate::scale::Severity;

/// Scores the finding; points decide whether it is accepted, and at what price.
///
/// `contested` is the deduction of a conflict about it, which then stands in for the smaller one.
pub(super) fn apply(draft: &mut Draft<'_>, contested: Option<i32>) {
    let rules = &draft.docket.policy.unique;
    let claim = draft.lead();
    let confidence = claim.standing;
    let score = points(draft);
    draft.kind = Kind::Unique;
    draft.agreement = Agreement::SingleSource;
    draft.score = Some(score);
    draft.open_trace(Step::Original, draft.voices[0].speaker);
    if draft.severity == Severity::Critical && confidence < i32::from(rules.critical_below) {
        draft.note(Note::ExtraordinaryClaim);
    }
    let (step, contested) = match contested {
        Some(amount) => (Step::ConflictWon, amount),
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

fn points(draft: &Draft<'_>) -> i32 {
    let rules = &draft.docket.policy.unique;
    let claim = draft.lead();
    let confidence = claim.standing;
    let at_least = |bound: u8| confidence >= i32::from(bound);
    let mut points = if at_least(rules.strong) {
        3
    } else if at_least(rules.moderate) {
        2
    } else {
        i32::from(at_least(rules.weak))
    };
    points += claim.evidence.points();
    if draft.severity == Severity::Critical && !at_least(rules.critical_below) {
        points -= 2;
    }
    if draft.severity == Severity::Low && confidence > i32::from(rules.low_above) {
        points += 1;
    }
    points + claim.evidence.practice_points()
}
