//! Which findings need a debate: vote first, debate what is contested.

use crate::consensus::{Group, Kind, Note, Policy, Score, Settlement, Verdict};
use crate::scale::Severity;

/// From this severity on a finding of one voice is worth a second look.
const MANDATORY: Severity = Severity::High;

/// Returns the groups that need a debate, by index: what reviewers contradict each other about,
/// what nobody could settle, and what one voice alone says with thin support although much
/// depends on it.
///
/// What is unanimous, or minor and undisputed, was decided by counting: nobody is asked about it.
#[must_use]
pub fn contested(settlement: &Settlement, policy: &Policy) -> Vec<usize> {
    let groups = settlement.groups.iter().enumerate();
    let needed = groups.filter(|(_, group)| needs_debate(settlement, group, policy));
    needed.map(|(index, _)| index).collect()
}

fn needs_debate(settlement: &Settlement, group: &Group, policy: &Policy) -> bool {
    if group.notes.contains(&Note::Withdrawn) {
        return false;
    }
    match (group.kind, group.verdict) {
        (Kind::Conflicted(_), _) | (_, Verdict::Disputed) => true,
        (Kind::Agreed, Verdict::Accepted | Verdict::Rejected) => false,
        (Kind::Unique, Verdict::Accepted | Verdict::Rejected) => {
            is_grave(settlement, group, policy) && needs_scrutiny(group, policy)
        }
    }
}

/// Tells whether the finding binds as it was reported; scrutiny may have lowered it since.
fn is_grave(settlement: &Settlement, group: &Group, policy: &Policy) -> bool {
    let members = group.members.iter();
    let stated = members.map(|&member| {
        let finding = &settlement.findings[member as usize];
        finding.severity.unwrap_or(policy.defaults.severity)
    });
    group.severity >= MANDATORY || stated.max() >= Some(MANDATORY)
}

fn needs_scrutiny(group: &Group, policy: &Policy) -> bool {
    let rules = &policy.scrutiny;
    let score = group.score.map(Score::total);
    let thin = score.is_some_and(|score| score < rules.below_score);
    thin || group.confidence.get() < rules.below_confidence
}
