//! What was said about a finding after the first round, counted or not.

use tribunal_core::consensus::{AdvisoryOutcome, Group, Note};
use tribunal_core::review::report::{Action, Statement, Weighed};
use tribunal_core::review::{Defense, Examination};

use super::Parts;

impl Parts<'_> {
    /// Returns the statements of rounds 2 and 3 about a group, what was not counted included.
    pub(super) fn rounds(&self, group: &Group) -> Vec<Statement> {
        let settlement = self.settlement;
        let members = || {
            let members = group.members.iter();
            members.map(|&member| &settlement.findings[member as usize])
        };
        let counted = group.examinations.iter();
        let counted = counted.map(|&index| (&settlement.examinations[index as usize], None));
        let aside = self.aside.examinations.iter();
        let aside = aside
            .filter(|(one, _)| {
                members().any(|finding| {
                    let by = one.original_model.as_ref();
                    finding.id == one.finding_id && by == Some(&finding.reviewer)
                })
            })
            .map(|(one, why)| (one, Some(why)));
        let mut rounds: Vec<Statement> = counted
            .chain(aside)
            .map(|(one, why)| examined(one, why.cloned()))
            .collect();
        let counted = group.defenses.iter();
        let counted = counted.map(|&index| (&settlement.defenses[index as usize], None));
        let aside = self.aside.defenses.iter();
        let aside = aside
            .filter(|(one, _)| {
                members()
                    .any(|finding| finding.id == one.finding_id && finding.reviewer == one.reviewer)
            })
            .map(|(one, why)| (one, Some(why)));
        let defended = counted.chain(aside);
        rounds.extend(defended.map(|(one, why)| self.pleaded(one, why.cloned())));
        rounds
    }

    /// Returns what advisories say about the members of a group.
    pub(super) fn advised(&self, group: &Group) -> Vec<AdvisoryOutcome> {
        let members = group.members.iter();
        let members = members.map(|&member| &self.settlement.findings[member as usize]);
        let said = members.flat_map(|finding| {
            self.advisories.iter().filter(|one| {
                one.finding_id == finding.id && one.reviewer.as_ref() == Some(&finding.reviewer)
            })
        });
        let mut outcomes: Vec<AdvisoryOutcome> = said.map(|one| one.outcome.clone()).collect();
        outcomes.sort_unstable();
        outcomes.dedup();
        outcomes
    }

    fn pleaded(&self, one: &Defense, not_counted: Option<String>) -> Statement {
        let mut panel = self.heard.iter();
        let author = panel.find(|heard| heard.name == one.reviewer);
        Statement {
            round: 3,
            reviewer: one.reviewer.clone(),
            family: author.map_or_else(String::new, |heard| heard.family.clone()),
            action: Action::Pleaded(one.plea),
            adjustment: one.adjustment,
            reasoning: one.reasoning.clone(),
            revised_severity: one.revised_severity,
            revised_description: one.revised_description.clone(),
            not_counted,
        }
    }
}

fn examined(one: &Examination, not_counted: Option<String>) -> Statement {
    Statement {
        round: 2,
        reviewer: one.reviewer.clone(),
        family: one.family.clone(),
        action: Action::Examined(one.stance),
        adjustment: one.adjustment,
        reasoning: one.reasoning.clone(),
        revised_severity: None,
        revised_description: None,
        not_counted,
    }
}

/// Returns what a judge made of a group.
pub(super) fn weighed(group: &Group) -> Option<Weighed> {
    group.notes.iter().find_map(|note| match note {
        Note::Judged {
            judge,
            side,
            severity,
            reason,
        } => Some(Weighed {
            judge: judge.clone(),
            side: *side,
            severity: *severity,
            reason: reason.clone(),
        }),
        _ => None,
    })
}
