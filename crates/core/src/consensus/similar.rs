//! Grouping by wording and place together: would one fix resolve both?
//!
//! Reviewers word the same defect differently, so findings are compared by the rare terms and
//! identifiers they share, weighted by how rare they are in this review. Place adds to that or
//! takes away. Groups are joined by the average over all pairs, so that none grows by chaining.

use super::normalize::Claim;
use super::policy::Matching;
use super::terms::{Term, terms};

/// At most so many members of a group are compared with another one.
const SAMPLE: usize = 8;

/// All claims with their terms and the weights of these.
pub(super) struct Wording<'a> {
    claims: &'a [Claim<'a>],
    rules: &'a Matching,
    /// The terms of each claim with their weights, sorted by term.
    terms: Vec<Vec<(u64, i64)>>,
    /// The sum of the weights of each claim.
    norms: Vec<i64>,
}

/// Returns the groups as lists of indices, in order of their first members.
pub(super) fn by_wording(wording: &Wording<'_>, threshold: i32, most_common: u32) -> Vec<Vec<u32>> {
    let mut forest = Forest::new(wording.claims.len());
    for (_, a, b) in wording.edges(threshold, most_common) {
        let (a, b) = (forest.root(a), forest.root(b));
        if a != b
            && wording.average(&forest.members[a as usize], &forest.members[b as usize])
                >= threshold
        {
            forest.join(a, b);
        }
    }
    let mut groups: Vec<Vec<u32>> = forest.members;
    groups.retain(|members| !members.is_empty());
    for members in &mut groups {
        members.sort_unstable();
    }
    groups.sort_unstable_by_key(|members| members.first().copied());
    groups
}

impl<'a> Wording<'a> {
    /// Reads the terms of all claims and weighs them by their rarity in this review.
    pub(super) fn of(claims: &'a [Claim<'a>], rules: &'a Matching, identifier: i32) -> Self {
        let plain: Vec<Vec<Term>> = claims
            .iter()
            .map(|claim| terms_of(claim, identifier))
            .collect();
        let mut all: Vec<u64> = plain.iter().flatten().map(|term| term.hash).collect();
        all.sort_unstable();
        let known: Vec<(u64, usize)> = all
            .chunk_by(|a, b| a == b)
            .map(|same| (same[0], same.len()))
            .collect();
        let weigh = |term: &Term| {
            let found = known.binary_search_by_key(&term.hash, |(hash, _)| *hash);
            let times = found.map_or(1, |at| known[at].1);
            (
                term.hash,
                i64::from(term.units) * rarity(claims.len(), times) / 1000,
            )
        };
        let terms: Vec<Vec<(u64, i64)>> = plain
            .iter()
            .map(|terms| terms.iter().map(weigh).collect())
            .collect();
        let norm = |terms: &Vec<(u64, i64)>| terms.iter().map(|(_, weight)| weight).sum();
        Self {
            norms: terms.iter().map(norm).collect(),
            claims,
            rules,
            terms,
        }
    }

    /// Returns how alike two claims are, in thousandths.
    pub(super) fn likeness(&self, a: u32, b: u32) -> i32 {
        let (left, right) = (&self.terms[a as usize], &self.terms[b as usize]);
        let (mut at, mut shared) = (0, 0);
        for (hash, weight) in left {
            while right.get(at).is_some_and(|(other, _)| other < hash) {
                at += 1;
            }
            if let Some((_, other)) = right.get(at).filter(|(other, _)| other == hash) {
                shared += weight.min(other);
            }
        }
        let norms = self.norms[a as usize].saturating_mul(self.norms[b as usize]);
        let norm = norms.max(1).isqrt().max(1);
        i32::try_from((shared * 1000 / norm).min(1000)).unwrap_or(1000)
    }

    /// Returns how likely two claims are the same, in thousandths: wording, place, author.
    fn score(&self, a: u32, b: u32, likeness: i32) -> i32 {
        let Some(rules) = &self.rules.text else {
            return 0;
        };
        let (left, right) = (&self.claims[a as usize], &self.claims[b as usize]);
        let (here, there) = (&left.finding.location, &right.finding.location);
        let mut score = likeness;
        if left.finding.reviewer == right.finding.reviewer {
            score += rules.same_reviewer;
        }
        if here.file.is_empty() || there.file.is_empty() {
            return score;
        }
        if here.file != there.file {
            return score + rules.other_file;
        }
        if here.function.is_some() && here.function == there.function {
            score += rules.same_function;
        }
        score
            + match (here.lines(), there.lines()) {
                (Some((first, last)), Some((other_first, other_last))) => {
                    let gap = first
                        .saturating_sub(other_last)
                        .max(other_first.saturating_sub(last));
                    match gap {
                        0 => rules.same_line,
                        gap if gap <= self.rules.proximity => rules.near_line,
                        _ => rules.same_file,
                    }
                }
                _ => rules.same_file,
            }
    }

    /// Returns how alike the findings of different families in a group are, on average.
    pub(super) fn closeness(&self, members: &[u32]) -> i32 {
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

    /// Returns the pairs that are alike enough, the most alike first.
    fn edges(&self, threshold: i32, most_common: u32) -> Vec<(i32, u32, u32)> {
        let Some(rules) = &self.rules.text else {
            return Vec::new();
        };
        let mut postings: Vec<(u64, u32, i64)> = Vec::new();
        for (index, terms) in (0..).zip(&self.terms) {
            postings.extend(terms.iter().map(|&(hash, weight)| (hash, index, weight)));
            let whole = terms
                .iter()
                .fold(0, |sum: u64, (hash, _)| sum.rotate_left(5) ^ hash);
            postings.push((whole, index, 0));
        }
        postings.sort_unstable();
        let most = usize::try_from(most_common).unwrap_or(usize::MAX);
        let mut pairs: Vec<(u32, u32)> = Vec::new();
        for same in postings.chunk_by(|a, b| a.0 == b.0) {
            // A common term tells nothing; a whole text that is common compares neighbours.
            let reach = match same[0].2 {
                _ if same.len() <= most => same.len(),
                0 => 1,
                _ => continue,
            };
            for (at, &(_, b, _)) in same.iter().enumerate() {
                let others = same[at.saturating_sub(reach)..at].iter();
                pairs.extend(others.map(|&(_, a, _)| (a, b)));
            }
        }
        drop(postings);
        pairs.sort_unstable();
        pairs.dedup();
        let mut edges = Vec::new();
        for (a, b) in pairs {
            let likeness = self.likeness(a, b);
            let score = self.score(a, b, likeness);
            if likeness >= rules.least_text && score >= threshold {
                edges.push((score, a, b));
            }
        }
        edges.sort_unstable_by_key(|&(score, a, b)| (std::cmp::Reverse(score), a, b));
        edges
    }
}

fn terms_of(claim: &Claim<'_>, identifier: i32) -> Vec<Term> {
    let finding = &claim.finding;
    // A title is usually the start of the description; its terms count once either way.
    let text = [&finding.title, &finding.description, &finding.quote];
    terms(&text.map(String::as_str).join(" "), identifier)
}

/// Returns the weight of a term that occurs `times` in `all` findings: log2(1 + all / times), in
/// thousandths.
fn rarity(all: usize, times: usize) -> i64 {
    let (all, times) = (all.max(1) as u64, times.max(1) as u64);
    log2_of_parts(((all + times) << 16) / times)
}

/// Returns the binary logarithm of a number, in thousandths; that of 0 counts as that of 1.
pub(super) fn log2_thousandths(number: usize) -> i64 {
    log2_of_parts((number.max(1) as u64) << 16)
}

/// Returns the binary logarithm of a number given in 1/65536 parts, bit by bit.
fn log2_of_parts(parts: u64) -> i64 {
    let whole = parts.max(1).ilog2();
    let mut fraction = parts << (63 - whole) >> 32;
    let mut log = i64::from(whole) * 1000 - 16_000;
    let mut bit = 500;
    while bit > 0 {
        fraction = (fraction * fraction) >> 31;
        if fraction >= 1 << 32 {
            fraction >>= 1;
            log += bit;
        }
        bit /= 2;
    }
    log
}

/// Which claims are joined already.
struct Forest {
    parents: Vec<u32>,
    members: Vec<Vec<u32>>,
}

impl Forest {
    fn new(size: usize) -> Self {
        let all = 0..u32::try_from(size).unwrap_or(u32::MAX);
        Self {
            parents: all.clone().collect(),
            members: all.map(|index| vec![index]).collect(),
        }
    }

    fn root(&mut self, mut index: u32) -> u32 {
        while self.parents[index as usize] != index {
            let parent = self.parents[index as usize];
            self.parents[index as usize] = self.parents[parent as usize];
            index = parent;
        }
        index
    }

    /// Joins two roots; the larger one takes the members of the smaller one.
    fn join(&mut self, a: u32, b: u32) {
        let larger = self.members[a as usize].len() >= self.members[b as usize].len();
        let (keep, gone) = if larger { (a, b) } else { (b, a) };
        let moved = std::mem::take(&mut self.members[gone as usize]);
        self.members[keep as usize].extend(moved);
        self.parents[gone as usize] = keep;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rarity_is_a_logarithm() {
        for (all, times, expected) in [(1, 1, 1000), (3, 1, 2000), (7, 1, 3000), (10, 10, 1000)] {
            let given = rarity(all, times);
            assert!((given - expected).abs() <= 4, "{all}/{times}: {given}");
        }
        assert!((rarity(10, 4) - 1807).abs() <= 4, "{}", rarity(10, 4));
        assert!(rarity(1_000_000, 1) > rarity(1_000_000, 2));
    }
}
