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
    let boost = boost(draft);
    draft.trace.push(Step::Agreement, boost);
    let rules = &draft.docket.policy.agreement;
    let closeness = rules.closeness * draft.closeness.within / 1000;
    let rivals = rules.rivals * draft.closeness.beyond / 1000;
    let others = others(draft).max(-boost.max(0));
    draft.trace.push_nonzero(Step::Closeness, closeness);
    draft.trace.push_nonzero(Step::OtherVoices, others);
    draft.trace.push_nonzero(Step::Rivals, rivals);
}

/// Returns what is taken off because the other voices stand on weaker evidence than the strongest, on
/// average.
fn others(draft: &Draft<'_>) -> i32 {
    let standing = |member: u32| draft.docket.claim(member).standing;
    let Some((first, others)) = draft.voices.split_first() else {
        return 0;
    };
    let number = i32::try_from(others.len()).unwrap_or(i32::MAX).max(1);
    let sum: i32 = others.iter().map(|voice| standing(voice.speaker)).sum();
    let behind = sum / number - standing(first.speaker);
    draft.docket.policy.agreement.others * behind.min(0) / 100
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
