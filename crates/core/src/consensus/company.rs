//! Who may be in one group: one file, one finding of each reviewer, one rule of each family.

use std::collections::BTreeMap;

use super::claim_text::ClaimText;
use super::normalize::Claim;
use crate::finding::Finding;

/// What must be known of the members of a group to tell who may join them.
#[derive(Debug, Clone, Default)]
pub(super) struct Company<'a> {
    /// The first finding of each reviewer; what else is here of that reviewer repeats it.
    reviewers: BTreeMap<u32, u32>,
    /// The rule that each family of rules and linters speaks of.
    rules: BTreeMap<u16, &'a str>,
    /// The one file, where any is known.
    file: Option<u32>,
}

impl<'a> Company<'a> {
    /// Returns the company of one claim.
    pub(super) fn of(index: u32, claim: &Claim<'a>) -> Self {
        let rule = claim.finding.rule.as_str();
        let has_file = !claim.finding.location.file.is_empty();
        Self {
            reviewers: BTreeMap::from([(claim.reviewer, index)]),
            rules: (!rule.is_empty())
                .then_some((claim.family, rule))
                .into_iter()
                .collect(),
            file: has_file.then_some(claim.file),
        }
    }

    /// Tells whether two companies may become one.
    pub(super) fn admits(&self, other: &Self, claims: &[Claim<'_>]) -> bool {
        let one_file = match (self.file, other.file) {
            (Some(one), Some(other)) => one == other,
            _ => true,
        };
        let (few, many) = match self.reviewers.len() <= other.reviewers.len() {
            true => (self, other),
            false => (other, self),
        };
        let one_rule = few.rules.iter().all(|(family, rule)| {
            let known = many.rules.get(family);
            known.is_none_or(|known| known == rule)
        });
        let repeated = |(reviewer, &one): (&u32, &u32)| {
            let claim = |index: u32| &claims[index as usize];
            let known = many.reviewers.get(reviewer);
            known.is_none_or(|&known| repeats(claim(one), claim(known)))
        };
        one_file && one_rule && few.reviewers.iter().all(repeated)
    }

    /// Takes the members of another company in.
    pub(super) fn join(&mut self, mut other: Self) {
        if other.reviewers.len() > self.reviewers.len() {
            std::mem::swap(self, &mut other);
        }
        for (reviewer, index) in other.reviewers {
            self.reviewers.entry(reviewer).or_insert(index);
        }
        self.rules.extend(other.rules);
        self.file = self.file.or(other.file);
    }
}

/// Tells whether one claim of a reviewer repeats another one: the same rule, the same place and
/// practically the same text.
pub(super) fn repeats(one: &Claim<'_>, other: &Claim<'_>) -> bool {
    let place = match gap(one.finding, other.finding) {
        Some(gap) => gap == 0,
        None => one.lines == other.lines,
    };
    let text = |claim: &Claim<'_>| ClaimText::new(&claim.finding.title, &claim.finding.description);
    one.finding.rule == other.finding.rule
        && one.file == other.file
        && place
        && text(one).repeats(&text(other))
}

/// Returns how many lines lie between two findings; 0 if they overlap.
pub(super) fn gap(one: &Finding, other: &Finding) -> Option<u32> {
    let (first, last) = one.location.lines()?;
    let (other_first, other_last) = other.location.lines()?;
    let after = first.saturating_sub(other_last);
    Some(after.max(other_first.saturating_sub(last)))
}
