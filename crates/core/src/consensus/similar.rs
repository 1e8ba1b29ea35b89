//! Grouping by wording and place together: would one fix resolve both?
//!
//! Reviewers word the same defect differently, so findings are compared by the rare terms and
//! identifiers they share, weighted by how rare they are in this review. Place adds to that or
//! takes away; a place that was checked counts for more. Groups are joined by the average over all
//! pairs, so that none grows by chaining.
//!
//! No finding is compared with more than a few dozen others, so the work grows with their number
//! and not with its square, whatever they say.

mod causes;
mod forest;
mod postings;
mod rarity;
mod words;

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::company::{Company, gap, repeats};
use super::normalize::Claim;
use super::policy::{Matching, TextMatching};
use crate::finding::{Finding, Grounding, Source};
use forest::Forest;
use postings::Postings;
use words::{Words, words_of};

pub(super) use causes::same_cause;
pub(super) use rarity::log2_thousandths;

/// The score of two claims that cannot be the same.
const APART: i32 = -100_000;

/// At most so many members of a group are compared with another one.
const SAMPLE: usize = 8;

/// So many of those that are alike enough are remembered, the first to be joined.
const NEIGHBOURS: usize = 8;

/// So many of those that a finding is compared with are remembered as its nearest.
const NEAREST: usize = 4;

/// With so many of those that follow on near lines a finding is compared.
const FOLLOWERS: usize = 8;

/// All claims with their terms and the weights of these.
pub(super) struct Wording<'a> {
    claims: &'a [Claim<'a>],
    rules: &'a Matching,
    text: &'a TextMatching,
    /// The words of each claim.
    words: Vec<Words>,
    /// How often two claims were compared.
    #[cfg(test)]
    comparisons: std::cell::Cell<u64>,
}

/// How alike the wordings are of those in a group, and of those beside it, in thousandths.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Closeness {
    /// Those of different families in the group, on average.
    pub(super) within: i32,
    /// A member, and the nearest finding of somebody else that is about the same file and not in the
    /// group.
    pub(super) beyond: i32,
}

/// The pairs that may be joined, and what each claim is nearest to.
struct Edges {
    /// The rank and both ends, those to be joined first at the front.
    list: Vec<(i32, u32, u32)>,
    /// The likeness and index of those that each claim is most alike.
    nearest: Vec<[(i32, u32); NEAREST]>,
}

/// Returns the groups as lists of indices, in order of their first members, and how close the wordings
/// of each are.
pub(super) fn by_wording(wording: &Wording<'_>) -> (Vec<Vec<u32>>, Vec<Closeness>) {
    let text = wording.text;
    let threshold = text.threshold;
    let mut forest = Forest::new(wording.claims.len());
    let companies = (0..).zip(wording.claims);
    let mut companies: Vec<Company<'_>> = companies
        .map(|(index, claim)| Company::of(index, claim))
        .collect();
    // Groups that were found to be apart, with the sizes they had: only a larger sample could tell
    // otherwise.
    let mut apart: BTreeMap<(u32, u32), (usize, usize)> = BTreeMap::new();
    let edges = wording.edges();
    for (_, a, b) in edges.list {
        let (a, b) = (forest.root(a), forest.root(b));
        let (a, b) = (a.min(b), a.max(b));
        let size = |root: u32| forest.members[root as usize].len().min(SAMPLE);
        let sizes = (size(a), size(b));
        if a == b || apart.get(&(a, b)) == Some(&sizes) {
            continue;
        }
        let (left, right) = (&forest.members[a as usize], &forest.members[b as usize]);
        let admitted = companies[a as usize].admits(&companies[b as usize], wording.claims);
        if admitted && wording.average(left, right) >= threshold - text.slack {
            let kept = forest.join(a, b);
            let gone = std::mem::take(&mut companies[(a ^ b ^ kept) as usize]);
            companies[kept as usize].join(gone);
        } else {
            apart.insert((a, b), sizes);
        }
    }
    let mut groups: Vec<Vec<u32>> = forest.members;
    groups.retain(|members| !members.is_empty());
    for members in &mut groups {
        members.sort_unstable();
    }
    groups.sort_unstable_by_key(|members| members.first().copied());
    let closeness = groups.iter().map(|members| Closeness {
        within: wording.closeness(members),
        beyond: beyond(members, &edges.nearest),
    });
    let closeness = closeness.collect();
    (groups, closeness)
}

/// Returns how alike the members of a group are to others at most. One alone agrees with nobody, so
/// there is nothing that others could put in doubt.
fn beyond(members: &[u32], nearest: &[[(i32, u32); NEAREST]]) -> i32 {
    if members.len() < 2 {
        return 0;
    }
    let others = members.iter().flat_map(|&one| &nearest[one as usize]);
    let others = others.filter(|(_, other)| members.binary_search(other).is_err());
    others.map(|&(likeness, _)| likeness).max().unwrap_or(0)
}

impl<'a> Wording<'a> {
    /// Reads the terms of all claims and weighs them by their rarity in this review.
    pub(super) fn of(claims: &'a [Claim<'a>], rules: &'a Matching, text: &'a TextMatching) -> Self {
        Self {
            words: words_of(claims, text),
            claims,
            rules,
            text,
            #[cfg(test)]
            comparisons: std::cell::Cell::default(),
        }
    }

    /// Returns how alike two claims are, in thousandths.
    pub(super) fn likeness(&self, a: u32, b: u32) -> i32 {
        #[cfg(test)]
        self.comparisons.set(self.comparisons.get() + 1);
        self.words[a as usize].likeness(&self.words[b as usize], self.text)
    }

    /// Returns how likely two claims are the same, in thousandths: wording, place, author.
    fn score(&self, a: u32, b: u32, likeness: i32) -> i32 {
        let rules = self.text;
        let (left, right) = (&self.claims[a as usize], &self.claims[b as usize]);
        if self.are_apart(left, right) {
            return APART;
        }
        let (here, there) = (&left.finding.location, &right.finding.location);
        let mut score = likeness;
        if here.file.is_empty() || there.file.is_empty() {
            return score + rules.unplaced;
        }
        if here.function.is_some() && here.function == there.function {
            score += rules.same_function;
        }
        if are_two_kinds(left, right) {
            score += rules.other_category;
        }
        let sure = self.knows_place(left, right);
        score
            + match gap(left.finding, right.finding) {
                Some(0) => rules.same_line + if sure { rules.sure_line } else { 0 },
                Some(gap) if gap <= self.rules.proximity => {
                    let touching = if gap == 1 {
                        rules.sure_line
                    } else {
                        rules.sure_near
                    };
                    rules.near_line + if sure { touching } else { 0 }
                }
                Some(_) => rules.far_line,
                None => rules.same_file,
            }
    }

    /// Tells whether two claims speak of two places, or are two items of one reviewer: a group is
    /// about one place, and whoever lists two things means two.
    ///
    /// A program knows where it looks, and uses the same words for each place on purpose.
    fn are_apart(&self, left: &Claim<'_>, right: &Claim<'_>) -> bool {
        let has_file = |claim: &Claim<'_>| !claim.finding.location.file.is_empty();
        if left.file != right.file && has_file(left) && has_file(right) {
            return true;
        }
        if left.reviewer == right.reviewer && !repeats(left, right) {
            return true;
        }
        let is_tool = |claim: &Claim<'_>| claim.source == Source::Tool;
        let reach = match (is_tool(left), is_tool(right)) {
            (true, true) => 0,
            _ => self.rules.proximity,
        };
        let far = |gap: Option<u32>| gap.is_none_or(|gap| gap > reach);
        let gap = gap(left.finding, right.finding);
        if is_tool(left) || is_tool(right) {
            return left.file != right.file || far(gap);
        }
        gap.is_some_and(|gap| gap > 0) && are_two_kinds(left, right)
    }

    /// Tells whether both claims are of one stated kind and know where they are: the code that they
    /// point at was found there, or they quote it and nobody checked.
    fn knows_place(&self, left: &Claim<'_>, right: &Claim<'_>) -> bool {
        let knows = |finding: &Finding| match finding.grounding {
            Grounding::Confirmed => true,
            Grounding::Unchecked => !finding.quote.is_empty(),
            Grounding::Doubtful | Grounding::Refuted => false,
        };
        let kind = left.finding.category;
        kind.is_some()
            && kind == right.finding.category
            && knows(left.finding)
            && knows(right.finding)
    }

    /// Returns how alike the wordings of two claims must be at least: not at all in a function that
    /// both name, by any word at all where both know their place.
    fn least_text(&self, a: u32, b: u32) -> i32 {
        let (left, right) = (&self.claims[a as usize], &self.claims[b as usize]);
        let least = self.text.least_text;
        let (here, there) = (&left.finding.location, &right.finding.location);
        let near =
            left.file == right.file && gap(left.finding, right.finding).is_some_and(|gap| gap <= 1);
        if !near || !self.knows_place(left, right) {
            return least;
        }
        let same_function = here.function.is_some() && here.function == there.function;
        i32::from(!same_function).min(least)
    }

    /// Returns how alike the findings of different families in a group are, on average.
    fn closeness(&self, members: &[u32]) -> i32 {
        let members = &members[..members.len().min(SAMPLE)];
        let family = |one: u32| self.claims[one as usize].family;
        let (mut sum, mut pairs) = (0, 0);
        for (at, &one) in members.iter().enumerate() {
            for &other in members[..at]
                .iter()
                .filter(|&&other| family(other) != family(one))
            {
                sum += self.likeness(one, other);
                pairs += 1;
            }
        }
        sum / pairs.max(1)
    }

    fn average(&self, a: &[u32], b: &[u32]) -> i32 {
        let (a, b) = (&a[..a.len().min(SAMPLE)], &b[..b.len().min(SAMPLE)]);
        let pairs = a
            .iter()
            .flat_map(|&one| b.iter().map(move |&other| (one, other)));
        let sum: i32 = pairs
            .map(|(one, other)| self.score(one, other, self.likeness(one, other)))
            .sum();
        sum / i32::try_from((a.len() * b.len()).max(1)).unwrap_or(1)
    }

    /// Returns in which order a pair is joined, the greatest first: the more alike, and the more both say.
    ///
    /// A reviewer with two items about one matter has one of them in a group. Of two that are about
    /// as alike, the one that says more is worth more there.
    fn rank(&self, a: u32, b: u32, score: i32) -> i32 {
        let detail = self.words[a as usize].detail() + self.words[b as usize].detail();
        score + self.text.detail * detail / 1000
    }

    /// Returns the pairs that are alike enough.
    fn edges(&self) -> Edges {
        let threshold = self.text.threshold;
        let postings = Postings::of(&self.words, self.text.most_common);
        let mut edges = Vec::new();
        let mut nearest = Vec::with_capacity(self.claims.len());
        let mut others: Vec<u32> = Vec::new();
        let mut alike: Vec<(Reverse<i32>, u32)> = Vec::new();
        for index in 0..u32::try_from(self.claims.len()).unwrap_or(u32::MAX) {
            others.clear();
            postings.sharing_terms(index, &mut others);
            self.following(index, &mut others);
            others.sort_unstable();
            others.dedup();
            alike.clear();
            let mut closest = [(0, u32::MAX); NEAREST];
            for &other in &others {
                let likeness = self.likeness(index, other);
                let score = self.score(index, other, likeness);
                if score > APART && likeness > closest[NEAREST - 1].0 {
                    closest[NEAREST - 1] = (likeness, other);
                    closest.sort_unstable_by_key(|&(likeness, other)| (Reverse(likeness), other));
                }
                if score >= threshold && likeness >= self.least_text(index, other) {
                    alike.push((Reverse(self.rank(index, other, score)), other));
                }
            }
            alike.sort_unstable();
            alike.truncate(NEIGHBOURS);
            let ends = |&(Reverse(rank), other): &(Reverse<i32>, u32)| {
                (rank, index.min(other), index.max(other))
            };
            edges.extend(alike.iter().map(ends));
            nearest.push(closest);
        }
        edges.sort_unstable_by_key(|&(rank, a, b)| (Reverse(rank), a, b));
        edges.dedup();
        Edges {
            list: edges,
            nearest,
        }
    }

    /// Adds those that follow on near lines; claims are sorted by place.
    fn following(&self, index: u32, others: &mut Vec<u32>) {
        let claim = &self.claims[index as usize];
        let next = (index + 1..).zip(&self.claims[index as usize + 1..]);
        let near = next.take(FOLLOWERS).take_while(|(_, other)| {
            let gap = gap(claim.finding, other.finding);
            other.file == claim.file && gap.is_some_and(|gap| gap <= self.rules.proximity)
        });
        let known = near.filter(|(_, other)| self.knows_place(claim, other));
        others.extend(known.map(|(other, _)| other));
    }
}

/// Tells whether two claims state two different categories.
fn are_two_kinds(left: &Claim<'_>, right: &Claim<'_>) -> bool {
    let kinds = (left.finding.category, right.finding.category);
    kinds.0.is_some() && kinds.1.is_some() && kinds.0 != kinds.1
}

#[cfg(test)]
mod tests {
    use super::super::{Input, Policy, Step, normalize, settle};
    use super::*;
    use crate::finding::{Category, Location};

    /// Returns how often claims are compared to group these findings.
    fn comparisons(findings: Vec<Finding>) -> u64 {
        let policy = Policy::tribunal();
        let mut input = Input {
            findings,
            ..Input::default()
        };
        let all = normalize::normalize(&mut input, &policy);
        let (claims, _) = normalize::claims(&all.findings, all.readings, &all.families, &policy);
        let rules = policy.matching.text.as_ref().expect("it compares texts");
        let wording = Wording::of(&claims, &policy.matching, rules);
        by_wording(&wording);
        wording.comparisons.get()
    }

    /// The ids in a group, and its calculation.
    type GroupCalculation = (Vec<String>, Vec<(Step, i32)>);

    /// Returns each group with its calculation. Findings are a reviewer, an id and a text.
    fn settled(findings: &[(&str, &str, &str)], policy: &Policy) -> Vec<GroupCalculation> {
        let finding = |&(reviewer, id, description): &(&str, &str, &str)| Finding {
            id: id.to_owned(),
            reviewer: reviewer.to_owned(),
            location: Location {
                file: "a.rs".to_owned(),
                line: Some(7),
                ..Location::default()
            },
            description: description.to_owned(),
            ..Finding::default()
        };
        let input = Input {
            findings: findings.iter().map(finding).collect(),
            ..Input::default()
        };
        let settled = settle(input, policy);
        let id = |member: &u32| settled.findings[*member as usize].id.clone();
        let groups = settled.groups.iter().map(|group| {
            let mut ids: Vec<String> = group.members.iter().map(id).collect();
            ids.sort_unstable();
            let lines = group.trace.lines().iter();
            let lines = lines.map(|line| (line.step.clone(), line.amount));
            (ids, lines.collect())
        });
        groups.collect()
    }

    const FULL: &str = "The session token is compared without a check of its expiry, so an expired \
        token opens the vault until the cache drops it.";
    const SHORT: &str = "The vault opens with an expired token.";

    #[test]
    fn of_two_items_about_one_matter_the_one_that_says_more_joins() {
        let other = "An expired session token opens the vault: its expiry is not looked at.";
        let joined = |detail: i32| {
            let mut policy = Policy::tribunal();
            let text = policy.matching.text.as_mut();
            text.expect("it compares texts").detail = detail;
            let findings = [("ann", "f", FULL), ("ann", "s", SHORT), ("bob", "b", other)];
            let groups = settled(&findings, &policy);
            let joined = groups.into_iter().find(|(ids, _)| ids.len() > 1);
            joined.map(|(ids, _)| ids.concat())
        };
        // The short one is a little more alike.
        assert_eq!(joined(0).as_deref(), Some("bs"));
        assert_eq!(joined(70).as_deref(), Some("bf"));
    }

    #[test]
    fn a_similar_finding_beside_an_agreement_makes_it_less_certain() {
        let rivals = |findings: &[(&str, &str, &str)]| {
            let agreed = settled(findings, &Policy::tribunal());
            let agreed = agreed.iter().find(|(ids, _)| ids.len() > 1);
            let (_, lines) = agreed.expect("two agree");
            let of = lines.iter().find(|(step, _)| *step == Step::Rivals);
            of.map_or(0, |(_, amount)| *amount)
        };
        let two = [("ann", "a", FULL), ("bob", "b", FULL)];
        assert_eq!(rivals(&two), 0);
        assert!(rivals(&[two[0], two[1], ("ann", "c", SHORT)]) < 0);
    }

    #[test]
    fn twice_the_findings_are_twice_the_comparisons_whatever_they_say() {
        type Text = fn(usize) -> String;
        let texts: [(&str, Text); 4] = [
            ("identical", |_| "session token is never checked".to_owned()),
            ("near copies", |n| {
                format!("session token is never checked by caller{n}")
            }),
            ("sharing rare words", |n| {
                format!("cursor of group{} is lost in step{}", n / 20, n / 30)
            }),
            ("sharing many rare words", |n| {
                let words = (2..18).map(|size| format!("w{size}x{} ", n / size));
                words.collect()
            }),
        ];
        for (name, text) in texts {
            let finding = |n: usize| Finding {
                id: format!("f{n}"),
                reviewer: format!("r{}", n % 5),
                location: Location {
                    file: format!("f{}.rs", n / 50),
                    line: Some(1 + (n % 50) as u32),
                    ..Location::default()
                },
                category: Some(Category::Bug),
                grounding: Grounding::Confirmed,
                description: text(n),
                ..Finding::default()
            };
            let counted =
                [1_000, 2_000, 4_000].map(|all| comparisons((0..all).map(finding).collect()));
            for pair in counted.windows(2) {
                assert!(pair[1] <= pair[0] * 9 / 4, "{name}: {counted:?}");
            }
            assert!(counted[2] <= 4_000 * 400, "{name}: {counted:?}");
        }
    }
}
