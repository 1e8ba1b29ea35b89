//! Phase 2: two or more voices say the same.

use super::draft::Draft;
use super::outcome::{Agreement, Kind};
use super::trace::Step;

/// Takes the highest confidence, adds the boost once, and takes the severity that counts.
pub(super) fn apply(draft: &mut Draft<'_>) {
    draft.kind = Kind::Agreed;
    draft.agreement = level(draft);
    draft.severity = draft.gravity();
    draft.open_trace(Step::Highest, draft.voices[0].speaker);
    draft.trace.push(Step::Agreement, boost(draft));
    let closeness = draft.docket.policy.agreement.closeness * draft.closeness / 1000;
    draft.trace.push_nonzero(Step::Closeness, closeness);
}

/// Returns how much agreement two or more voices are.
pub(super) fn level(draft: &Draft<'_>) -> Agreement {
    if draft.voices.len() >= draft.docket.panel_families {
        Agreement::Unanimous
    } else {
        Agreement::Majority
    }
}

fn boost(draft: &Draft<'_>) -> i32 {
    let rules = &draft.docket.policy.agreement;
    let voices = i32::try_from(draft.voices.len()).unwrap_or(i32::MAX);
    rules.per_voice.saturating_mul(voices).min(rules.most)
}
