//! Groups that have one cause at different places.

use std::collections::{BTreeMap, BTreeSet};

use super::postings::Postings;
use super::{SAMPLE, Wording, are_two_kinds, gap};
use crate::finding::Source;

/// Returns the pairs of groups that speak of the same thing at different places, by index.
///
/// They are linked and never joined: each stays a finding. Programs are left out, because they use
/// the same words for each place on purpose.
pub(in super::super) fn same_cause(
    wording: &Wording<'_>,
    groups: &[Vec<u32>],
    least: i32,
    most_common: u32,
) -> Vec<(u32, u32)> {
    if least <= 0 {
        return Vec::new();
    }
    let mut group_of: Vec<u32> = vec![0; wording.claims.len()];
    for (index, members) in (0..).zip(groups) {
        for &member in members {
            group_of[member as usize] = index;
        }
    }
    let postings = Postings::of(&wording.words, most_common);
    let mut pairs: BTreeSet<(u32, u32)> = BTreeSet::new();
    let mut others: Vec<u32> = Vec::new();
    for (index, &own) in (0..).zip(&group_of) {
        others.clear();
        postings.sharing_terms(index, &mut others);
        let groups = others.iter().map(|&other| group_of[other as usize]);
        let different = groups.filter(|&other| other != own);
        pairs.extend(different.map(|other| (own.min(other), own.max(other))));
    }
    let mut linked: BTreeMap<u32, usize> = BTreeMap::new();
    let mut found = Vec::new();
    for (a, b) in pairs {
        // A heading with more places than anybody reads helps nobody, and work stays bounded.
        let is_full = |group: u32| {
            linked
                .get(&group)
                .is_some_and(|&number| number >= MOST_LINKS)
        };
        if is_full(a) || is_full(b) {
            continue;
        }
        if wording.have_one_cause(&groups[a as usize], &groups[b as usize], least) {
            *linked.entry(a).or_default() += 1;
            *linked.entry(b).or_default() += 1;
            found.push((a, b));
        }
    }
    found
}

/// So many other groups a group is linked with at most.
const MOST_LINKS: usize = 8;

impl Wording<'_> {
    /// Tells whether two groups say the same about different places.
    fn have_one_cause(&self, one: &[u32], other: &[u32], least: i32) -> bool {
        let sample = |members: &[u32]| members[..members.len().min(SAMPLE)].to_vec();
        let (one, other) = (sample(one), sample(other));
        let (mut sum, mut pairs) = (0, 0);
        for &a in &one {
            for &b in &other {
                let (left, right) = (&self.claims[a as usize], &self.claims[b as usize]);
                let is_tool = left.source == Source::Tool || right.source == Source::Tool;
                let one_place =
                    left.file == right.file && gap(left.finding, right.finding) == Some(0);
                if is_tool || one_place || are_two_kinds(left, right) {
                    return false;
                }
                sum += self.likeness(a, b);
                pairs += 1;
            }
        }
        pairs > 0 && sum / pairs >= least
    }
}
