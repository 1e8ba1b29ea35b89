//! What speaks against trusting a verdict, and what is known about each judge.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::agreement::middle;
use super::method::Table;
use super::points::{PART, divide};
use super::spread::FEWEST_VOICES;
use super::weights::Weights;
use super::{Ballot, Points, Seated, Verdict};

/// A judge who stands at least this far from all others about one contestant is reported.
const ALONE: i128 = 30 * PART;

/// Agreement below this is too little to build on (Krippendorff's own bound).
const LITTLE: i128 = 667_000;

/// Two contestants whose order a judge reversed when it saw them in reverse order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Flip {
    /// Preferred at first.
    pub first: String,
    /// Preferred in reverse order.
    pub then: String,
}

/// A judge who sees one contestant quite differently from everybody else.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Lone {
    /// Who.
    pub judge: String,
    /// About whom.
    pub contestant: String,
    /// How many points above the middle of the others, after its lean is taken away.
    pub points: Points,
    /// Whether the winner would be another without this judge.
    pub decisive: bool,
}

/// A reason not to trust a verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "doubt", rename_all = "snake_case")]
pub enum Doubt {
    /// The first places are tied.
    Tie,
    /// Only one contestant was left: it was compared with nobody.
    Unopposed,
    /// Only one judge counts.
    OneJudge,
    /// The margin may well be chance.
    Unclear,
    /// Fewer than four voices count, which is too few to say how far the result would move.
    FewVoices {
        /// How many count.
        voices: u32,
    },
    /// By the plain average somebody else leads.
    PlainAverage {
        /// Who does.
        contestants: Vec<String>,
        /// With which average.
        average: Points,
    },
    /// The judges of one family count as one voice, and these are fewer voices than judges.
    SharedFamily {
        /// How many judges weigh something.
        judges: u32,
        /// Of how many families they are.
        families: u32,
    },
    /// More judges prefer the second than the first; of weighted ones, judges of more weight.
    Outvoted {
        /// Whether they are weighted by their record.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        weighted: bool,
    },
    /// The judges hardly agree.
    LittleAgreement {
        /// Krippendorff's α.
        alpha: Points,
    },
    /// Judges changed their mind about the first two with the order of the answers.
    OrderMatters {
        /// How many.
        judges: u32,
        /// Of how many who were asked in both orders.
        of: u32,
    },
    /// One judge stands alone.
    LoneJudge(Lone),
    /// Judges were left out.
    Excluded {
        /// How many.
        judges: u32,
    },
    /// Judges did not see these contestants' answers whole.
    Shortened {
        /// Their ids.
        contestants: Vec<String>,
        /// The percentage of each that they saw; nothing in old records.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        shown: Vec<u8>,
    },
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence(ToOwned::to_owned))
    }
}

impl Doubt {
    /// Returns the reason as a sentence; `name` tells how a contestant is called.
    #[must_use]
    pub fn sentence(&self, name: impl Fn(&str) -> String) -> String {
        match self {
            Self::Tie => "the first places are tied".to_owned(),
            Self::Unopposed => "only one contestant was left to judge".to_owned(),
            Self::OneJudge => "only one judge counts".to_owned(),
            Self::Unclear => "the margin may be chance: its interval includes zero".to_owned(),
            Self::FewVoices { voices } => {
                format!("{voices} voices are too few for an interval: it takes four")
            }
            Self::PlainAverage {
                contestants,
                average,
            } => {
                let names: Vec<String> = contestants.iter().map(|id| name(id)).collect();
                let leads = if names.len() == 1 { "leads" } else { "lead" };
                format!(
                    "by plain average {} {leads} with {}",
                    names.join(" and "),
                    average.tenths()
                )
            }
            Self::SharedFamily {
                judges,
                families: 1,
            } => format!("all {judges} judges are of one family: they count as one voice"),
            Self::SharedFamily { judges, families } => format!(
                "the {judges} judges are of {families} families: those of one family count as one voice"
            ),
            Self::Outvoted { weighted: false } => {
                "more judges prefer the second than the first".to_owned()
            }
            Self::Outvoted { weighted: true } => {
                "judges of more weight prefer the second to the first".to_owned()
            }
            Self::LittleAgreement { alpha } => {
                format!("the judges hardly agree (α {})", alpha.hundredths())
            }
            Self::OrderMatters { judges, of } => format!(
                "{judges} of {of} judges ranked the first two otherwise when their order was reversed"
            ),
            Self::LoneJudge(lone) => {
                let side = if lone.points < Points::ZERO {
                    "below"
                } else {
                    "above"
                };
                let points = lone.points.rounded().abs();
                let (judge, contestant) = (&lone.judge, name(&lone.contestant));
                let decisive = match lone.decisive {
                    true => "; without this judge another would have won",
                    false => "",
                };
                format!(
                    "{judge} stands alone: {contestant} {points} points {side} the others{decisive}"
                )
            }
            Self::Excluded { judges: 1 } => "1 judge was left out".to_owned(),
            Self::Excluded { judges } => format!("{judges} judges were left out"),
            Self::Shortened { contestants, shown } => {
                let shares = shown.iter().map(|percent| format!("{percent} %"));
                let shares = shares.chain(std::iter::repeat("a part".to_owned()));
                let parts = contestants.iter().zip(shares);
                let parts: Vec<String> = parts
                    .map(|(id, share)| format!("{share} of what {} handed in", name(id)))
                    .collect();
                format!("judges saw only {}", parts.join(" and "))
            }
        }
    }
}

/// Returns what is known about each judge who counts.
pub(super) fn seated(
    counted: &[&Ballot],
    table: &Table,
    ids: &[&String],
    weights: &Weights,
) -> Vec<Seated> {
    let leans = leans(table);
    let judges = counted
        .iter()
        .zip(&table.rows)
        .zip(&weights.each)
        .zip(leans);
    let judges = judges.map(|(((ballot, row), weight), lean)| {
        let best = row.iter().max();
        let first = ids
            .iter()
            .zip(row)
            .filter(|(_, score)| Some(*score) == best);
        Seated {
            judge: ballot.judge.clone(),
            family: ballot.family.clone(),
            weight: Points::of(divide(weight * 100 * PART, weights.total())),
            lean: Points::of(lean),
            prefers: first.map(|(id, _)| (*id).clone()).collect(),
            flips: flips(ballot, ids),
        }
    });
    judges.collect()
}

/// Returns by how much each judge's mean lies above the mean of the others; zero of a single one.
fn leans(table: &Table) -> Vec<i128> {
    let columns = i128::try_from(table.columns).unwrap_or(1).max(1);
    let sums: Vec<i128> = table.rows.iter().map(|row| row.iter().sum()).collect();
    let all: i128 = sums.iter().sum();
    let others = i128::try_from(sums.len()).unwrap_or(1) - 1;
    let lean = |sum: &i128| match others {
        0 => 0,
        _ => divide(sum * others - (all - sum), others * columns),
    };
    sums.iter().map(lean).collect()
}

fn flips(ballot: &Ballot, ids: &[&String]) -> Vec<Flip> {
    let Some(swapped) = &ballot.swapped else {
        return Vec::new();
    };
    let mut flips = Vec::new();
    for first in ids {
        for then in ids {
            let before = ballot.scores[*first] > ballot.scores[*then];
            if before && swapped[*first] < swapped[*then] {
                flips.push(Flip {
                    first: (*first).clone(),
                    then: (*then).clone(),
                });
            }
        }
    }
    flips
}

/// Returns all that speaks against the verdict.
pub(super) fn doubts(
    verdict: &Verdict,
    table: &Table,
    ids: &[&String],
    weights: &Weights,
) -> Vec<Doubt> {
    let mut doubts = Vec::new();
    match &verdict.margin {
        None => doubts.push(Doubt::Unopposed),
        Some(_) if verdict.winner.is_none() => doubts.push(Doubt::Tie),
        Some(margin) if !margin.clear && margin.interval.is_some() => doubts.push(Doubt::Unclear),
        Some(_) => {}
    }
    doubts.extend(few_voices(verdict, weights));
    doubts.extend(plain_average(verdict));
    if verdict.winner.is_some() && verdict.confidence.is_some_and(|sure| sure < 50) {
        let weighted = verdict.weighted;
        doubts.push(Doubt::Outvoted { weighted });
    }
    if let Some(agreement) = verdict.agreement {
        let alpha = agreement.alpha;
        if alpha.millionths() < LITTLE && verdict.judges.len() > 1 {
            doubts.push(Doubt::LittleAgreement { alpha });
        }
    }
    doubts.extend(order_matters(verdict, table));
    doubts.extend(
        lone_judges(verdict, table, ids, weights)
            .into_iter()
            .map(Doubt::LoneJudge),
    );
    match u32::try_from(verdict.excluded.len()).unwrap_or(u32::MAX) {
        0 => {}
        judges => doubts.push(Doubt::Excluded { judges }),
    }
    doubts
}

/// Reports that fewer voices count than judges sit.
fn few_voices(verdict: &Verdict, weights: &Weights) -> Option<Doubt> {
    let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    match weights.heard() {
        (1, _) => Some(Doubt::OneJudge),
        (judges, voices) if voices < judges => Some(Doubt::SharedFamily {
            judges: count(judges),
            families: count(voices),
        }),
        (_, voices) if voices < FEWEST_VOICES && verdict.winner.is_some() => {
            let voices = count(voices);
            verdict.margin.as_ref().map(|_| Doubt::FewVoices { voices })
        }
        _ => None,
    }
}

/// Reports that somebody else leads by the plain average.
fn plain_average(verdict: &Verdict) -> Option<Doubt> {
    let best = verdict.best_average();
    let mut ids: Vec<&str> = best.iter().map(|one| one.contestant.as_str()).collect();
    let mut leaders = verdict.leaders();
    ids.sort_unstable();
    leaders.sort_unstable();
    (ids != leaders).then(|| Doubt::PlainAverage {
        contestants: ids.into_iter().map(str::to_owned).collect(),
        average: best.first().map(|one| one.average).unwrap_or_default(),
    })
}

/// Reports judges whose view of the first two depends on the order in which they saw them.
fn order_matters(verdict: &Verdict, table: &Table) -> Option<Doubt> {
    let [first, second, ..] = &verdict.ranking[..] else {
        return None;
    };
    let pair = [&first.contestant, &second.contestant];
    let flipped = verdict.judges.iter().filter(|judge| {
        let mut flips = judge.flips.iter();
        flips.any(|flip| pair.contains(&&flip.first) && pair.contains(&&flip.then))
    });
    let judges = u32::try_from(flipped.count()).unwrap_or(u32::MAX);
    let of = u32::try_from(table.rows.len()).unwrap_or(u32::MAX);
    (judges > 0).then_some(Doubt::OrderMatters { judges, of })
}

/// Returns judges of three or more who see one contestant far from where all others see it.
fn lone_judges(verdict: &Verdict, table: &Table, ids: &[&String], weights: &Weights) -> Vec<Lone> {
    if table.rows.len() < 3 || table.columns < 2 {
        return Vec::new();
    }
    let mut found = Vec::new();
    for (index, judge) in verdict.judges.iter().enumerate() {
        let lean = judge.lean.millionths();
        let mut widest: Option<(i128, usize)> = None;
        for contestant in 0..table.columns {
            let own = table.rows[index][contestant] - lean;
            let mut others = table.column(contestant);
            others.remove(index);
            let spread = |values: &[i128]| {
                let (low, high) = (values.iter().min(), values.iter().max());
                high.zip(low).map_or(0, |(high, low)| high - low)
            };
            let away = own - middle(&mut others);
            // Where the others disagree as much among themselves nobody stands alone.
            let alone = away.abs() >= ALONE && spread(&others) < away.abs();
            if alone && widest.is_none_or(|(most, _)| away.abs() > most.abs()) {
                widest = Some((away, contestant));
            }
        }
        if let Some((away, contestant)) = widest {
            found.push(Lone {
                judge: judge.judge.clone(),
                contestant: ids[contestant].clone(),
                points: Points::of(away),
                decisive: is_decisive(verdict, table, ids, weights, index),
            });
        }
    }
    found
}

/// Tells whether the same method and weights would name another winner without this judge.
fn is_decisive(
    verdict: &Verdict,
    table: &Table,
    ids: &[&String],
    weights: &Weights,
    judge: usize,
) -> bool {
    let mut rows = table.rows.clone();
    rows.remove(judge);
    let others = Table { rows, ..*table };
    let scores = others.scores(verdict.method, &weights.without(judge));
    let best = scores.iter().max();
    let first = ids
        .iter()
        .zip(&scores)
        .filter(|(_, score)| Some(*score) == best);
    let first: Vec<&str> = first.map(|(id, _)| id.as_str()).collect();
    let mut leaders = verdict.leaders();
    leaders.sort_unstable();
    first != leaders
}
