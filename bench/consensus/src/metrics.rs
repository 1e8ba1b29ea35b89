//! What a consensus is worth against the golden comments.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use tribunal_core::consensus::{BatchFinding, Verdict};

use crate::data::Review;

/// The measures of one panel over all reviews.
#[derive(Debug, Clone, Copy, Default)]
pub struct Measures {
    /// Findings of one golden comment are in one group.
    pub pair_f1: f64,
    /// Findings of one golden comment are in one group or in two that are linked.
    pub linked_f1: f64,
    pub average_precision: f64,
    pub precision: f64,
    pub recall: f64,
    pub f1: f64,
    pub tier_precision: f64,
    pub tier_recall: f64,
}

impl Measures {
    pub const NAMES: [&str; 8] = [
        "pair F1",
        "linked F1",
        "AP",
        "P",
        "R",
        "F1",
        "agreed P",
        "agreed R",
    ];

    pub fn list(&self) -> [f64; 8] {
        [
            self.pair_f1,
            self.linked_f1,
            self.average_precision,
            self.precision,
            self.recall,
            self.f1,
            self.tier_precision,
            self.tier_recall,
        ]
    }
}

/// A consensus finding, and the golden comment that it would earn.
struct Ranked<'a> {
    confidence: u8,
    accepted: bool,
    agreed: bool,
    review: usize,
    finding: &'a BatchFinding,
}

/// Measures the settled reviews of one panel.
pub fn measure(settled: &[(&Review, Vec<BatchFinding>)]) -> Measures {
    let golden: usize = settled.iter().map(|(review, _)| review.golden.len()).sum();
    let mut ranked = Vec::new();
    for (index, (_, findings)) in settled.iter().enumerate() {
        for finding in findings {
            let tools: BTreeSet<_> = finding.ids.iter().map(|id| tool(text(id))).collect();
            ranked.push(Ranked {
                confidence: finding.confidence,
                accepted: finding.verdict == Verdict::Accepted,
                agreed: tools.len() >= 2,
                review: index,
                finding,
            });
        }
    }
    ranked.sort_by_key(|one| std::cmp::Reverse(one.confidence));
    let all = walk(&ranked, settled, |_| true);
    let accepted = walk(&ranked, settled, |one| one.accepted);
    let agreed = walk(&ranked, settled, |one| one.agreed && one.accepted);
    let (precision, recall) = accepted.rates(golden);
    let (tier_precision, tier_recall) = agreed.rates(golden);
    Measures {
        pair_f1: pair_f1(settled, false),
        linked_f1: pair_f1(settled, true),
        average_precision: all.precisions / golden.max(1) as f64,
        precision,
        recall,
        f1: harmonic(precision, recall),
        tier_precision,
        tier_recall,
    }
}

struct Walk {
    seen: usize,
    earned: usize,
    precisions: f64,
}

impl Walk {
    fn rates(&self, golden: usize) -> (f64, f64) {
        let earned = self.earned as f64;
        (
            earned / self.seen.max(1) as f64,
            earned / golden.max(1) as f64,
        )
    }
}

/// Walks down the ranking; each golden comment is earned once.
fn walk(
    ranked: &[Ranked<'_>],
    settled: &[(&Review, Vec<BatchFinding>)],
    counts: impl Fn(&Ranked<'_>) -> bool,
) -> Walk {
    let mut taken: BTreeSet<String> = BTreeSet::new();
    let mut walk = Walk {
        seen: 0,
        earned: 0,
        precisions: 0.0,
    };
    for one in ranked.iter().filter(|one| counts(one)) {
        walk.seen += 1;
        let earns = earned(one.finding, settled[one.review].0);
        if let Some(golden) = earns.into_iter().find(|golden| !taken.contains(golden)) {
            taken.insert(golden);
            walk.earned += 1;
            walk.precisions += walk.earned as f64 / walk.seen as f64;
        }
    }
    walk
}

/// Returns the golden comments of more than half of the members, or of half with the lead.
fn earned(finding: &BatchFinding, review: &Review) -> Vec<String> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for golden in finding.ids.iter().flat_map(|id| &review.truth[text(id)]) {
        *counts.entry(golden).or_default() += 1;
    }
    let lead = &review.truth[text(&finding.ids[0])];
    let size = finding.ids.len();
    let mut found: Vec<(usize, &str)> = counts
        .into_iter()
        .filter(|(golden, count)| {
            2 * count > size || 2 * count == size && lead.iter().any(|one| one == golden)
        })
        .map(|(golden, count)| (count, golden))
        .collect();
    found.sort_by_key(|(count, golden)| (std::cmp::Reverse(*count), *golden));
    found
        .into_iter()
        .map(|(_, golden)| golden.to_owned())
        .collect()
}

/// Scores the grouping over pairs of findings that both match some golden comment. With `links` a pair
/// counts as found when its groups are linked, too.
fn pair_f1(settled: &[(&Review, Vec<BatchFinding>)], links: bool) -> f64 {
    let (mut hits, mut wrong, mut missed) = (0, 0, 0);
    for (review, findings) in settled {
        let mut members: Vec<(usize, &Vec<String>)> = Vec::new();
        for (group, finding) in findings.iter().enumerate() {
            for truth in finding.ids.iter().map(|id| &review.truth[text(id)]) {
                if !truth.is_empty() {
                    members.push((group, truth));
                }
            }
        }
        let together = |one: usize, other: usize| {
            let lead = &findings[other].ids[0];
            one == other || links && findings[one].linked.contains(lead)
        };
        for (at, (group, truth)) in members.iter().enumerate() {
            for (other_group, other) in &members[..at] {
                let same = truth.iter().any(|golden| other.contains(golden));
                match (same, together(*group, *other_group)) {
                    (true, true) => hits += 1,
                    (true, false) => missed += 1,
                    (false, true) => wrong += 1,
                    (false, false) => {}
                }
            }
        }
    }
    2.0 * f64::from(hits) / f64::from(2 * hits + wrong + missed).max(1.0)
}

fn harmonic(a: f64, b: f64) -> f64 {
    if a + b == 0.0 {
        0.0
    } else {
        2.0 * a * b / (a + b)
    }
}

/// Returns an id of the data, which are all texts.
fn text(id: &Value) -> &str {
    id.as_str().expect("ids of the data are texts")
}

/// Returns the tool in a finding id: `review:tool:number`.
fn tool(id: &str) -> &str {
    id.split(':').nth(1).unwrap_or_default()
}

/// Returns the median of each measure.
pub fn medians(all: &[Measures]) -> [f64; 8] {
    std::array::from_fn(|index| {
        let mut values: Vec<f64> = all.iter().map(|one| one.list()[index]).collect();
        values.sort_by(f64::total_cmp);
        match values.len() {
            0 => 0.0,
            n if n % 2 == 1 => values[n / 2],
            n => f64::midpoint(values[n / 2 - 1], values[n / 2]),
        }
    })
}
