//! Phase 5: would a senior engineer act on this? The extra look at weakly supported findings.

use super::draft::Draft;
use super::outcome::{Note, Verdict};
use crate::scale::Severity;

/// Lowers the severity of a weak finding, or disputes it when there is nothing to hold on to.
pub(super) fn apply(draft: &mut Draft<'_>) {
    let rules = &draft.docket.policy.scrutiny;
    let unsure = draft.trace.sum() < i32::from(rules.below_confidence);
    let thin = draft.score.is_some_and(|score| score < rules.below_score);
    if draft.verdict != Verdict::Accepted || !(unsure || thin) {
        return;
    }
    let met = criteria_met(draft);
    if met <= rules.dispute_at {
        draft.dispute(Note::FailedScrutiny);
    } else if met <= rules.lower_at && draft.severity > Severity::Low {
        draft.severity = draft.severity.lowered();
        draft.note(Note::Lowered(met));
    }
}

/// Returns how many of the four hold: specific, reproducible, of consequence, actionable.
fn criteria_met(draft: &Draft<'_>) -> u8 {
    let evidence = draft.lead().evidence;
    u8::from(evidence.cites_code && evidence.names_problem)
        + u8::from(evidence.concrete_trigger)
        + u8::from(draft.severity >= Severity::Medium)
        + u8::from(evidence.meets_cause)
}
