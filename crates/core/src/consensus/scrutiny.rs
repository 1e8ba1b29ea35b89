//! Phase 5: would a senior engineer act on this? The extra look at weakly supported findings.

use super::draft::Draft;
use super::outcome::{Criteria, Note, Score, Verdict};
use crate::scale::Severity;

/// Lowers the severity of a weak finding, or disputes it when there is nothing to hold on to.
pub(super) fn apply(draft: &mut Draft<'_>) {
    let rules = &draft.docket.policy.scrutiny;
    let unsure = draft.trace.sum() < i32::from(rules.below_confidence);
    let score = draft.score.map(Score::total);
    let thin = score.is_some_and(|score| score < rules.below_score);
    if draft.verdict != Verdict::Accepted || !(unsure || thin) {
        return;
    }
    let criteria = criteria(draft);
    // Thin evidence is a doubt. It must not turn a grave claim into one that nobody has to answer.
    let grave = criteria.met() <= rules.lower_at && draft.severity >= Severity::High;
    if criteria.met() <= rules.dispute_at || grave {
        draft.dispute(Note::FailedScrutiny(criteria));
    } else if criteria.met() <= rules.lower_at && draft.severity > Severity::Low {
        draft.severity = draft.severity.lowered();
        draft.note(Note::Lowered(criteria));
    }
}

/// Returns which of the four hold.
fn criteria(draft: &Draft<'_>) -> Criteria {
    let evidence = draft.lead().evidence;
    Criteria {
        specific: evidence.cites_code && evidence.names_problem,
        reproducible: evidence.concrete_trigger,
        consequential: draft.severity >= Severity::Medium,
        actionable: evidence.meets_cause,
    }
}
