//! The verdict: judges' scores become a ranking, a winner, and how sure that is.
//!
//! A pure function of the scores. It counts only judges who scored every contestant, says who was
//! left out and why, and gives its doubt together with its result: standard errors, the margin
//! with its interval, the agreement between judges, who stands alone, who followed the order.
//! Judges of one model family are one voice in all that says how sure it is.

mod agreement;
mod batch;
mod doubt;
mod method;
mod points;
mod spread;
mod weights;

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

pub use agreement::Agreement;
pub use batch::{BatchVerdict, NoLine, verdict_line};
pub use doubt::{Doubt, Flip, Lone};
pub use method::Method;
pub use points::Points;

use crate::consensus::Record;
use method::Table;
use points::{PART, divide};
use spread::{differences, interval};
use weights::Weights;

/// More contestants than this are not compared: everybody would be weighed against everybody.
pub const MOST_CONTESTANTS: usize = 100;

/// More judges than this are not heard.
pub const MOST_JUDGES: usize = 1_000;

/// What a verdict is made of.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sitting {
    /// Whose answers were judged.
    pub contestants: BTreeSet<String>,
    /// What the judges gave.
    pub ballots: Vec<Ballot>,
    /// Judges who gave nothing that could be read.
    pub absent: Vec<Excluded>,
    /// Contestants whose answers the judges did not see whole, with the percentage that they saw.
    pub shortened: BTreeMap<String, u8>,
}

/// What one judge gave.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Ballot {
    /// Who.
    pub judge: String,
    /// The family of its model; a judge of whom that is not known is taken for one of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub family: Option<String>,
    /// The score of each contestant by its id.
    pub scores: BTreeMap<String, Points>,
    /// The scores that the judge gave when it saw the answers in reverse order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub swapped: Option<BTreeMap<String, Points>>,
}

/// What judges came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Verdict {
    /// The id of the winner; nothing when the first places are tied.
    pub winner: Option<String>,
    /// How the scores were made.
    pub method: Method,
    /// Whether judges were weighted by their record.
    pub weighted: bool,
    /// How sure it is that the winner is better than the second, 0 to 100: the share of the judges
    /// who prefer it, drawn towards one half, and the more so the fewer families they are of. A
    /// judge who sat and does not count is half a voice for either.
    /// Nothing when there is nobody to compare it with.
    pub confidence: Option<u8>,
    /// All contestants, the best first; those with the same score share a rank.
    pub ranking: Vec<Ranked>,
    /// By how much the first leads the second; nothing when there is no second.
    pub margin: Option<Margin>,
    /// How far the judges agree; nothing when there is nothing to compare.
    pub agreement: Option<Agreement>,
    /// The judges who count.
    pub judges: Vec<Seated>,
    /// The judges who do not, with the reason.
    pub excluded: Vec<Excluded>,
    /// What speaks against trusting the result.
    pub doubts: Vec<Doubt>,
}

/// One contestant's place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Ranked {
    /// Its id.
    pub contestant: String,
    /// Its place, from 1.
    pub rank: u32,
    /// What the method makes of its scores.
    pub score: Points,
    /// The plain average of its scores, whatever the method.
    pub average: Points,
    /// Standard error of the weighted average, by family; nothing of fewer than four of them.
    pub error: Option<Points>,
    /// Where the average lies with 95 % certainty, if judges like these were asked again.
    pub interval: Option<(Points, Points)>,
    /// The lowest score.
    pub lowest: Points,
    /// The highest score.
    pub highest: Points,
}

/// By how much the first leads the second.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Margin {
    /// The second.
    pub over: String,
    /// Average difference in points, judge by judge. Below zero when the method sees it differently.
    pub points: Points,
    /// Where the difference lies with 95 % certainty; nothing of fewer than four families.
    pub interval: Option<(Points, Points)>,
    /// Whether the interval lies above zero.
    pub clear: bool,
}

/// A judge who counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Seated {
    /// Who.
    pub judge: String,
    /// The family of its model, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub family: Option<String>,
    /// Its share of all weight, in percent.
    pub weight: Points,
    /// By how many points it scores above the others on average: a generous or a stern judge.
    pub lean: Points,
    /// Whom it puts first; several when it gives them the same.
    pub prefers: Vec<String>,
    /// Pairs that it ranked the other way round when the order of the answers was reversed.
    pub flips: Vec<Flip>,
}

/// A judge who does not count.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Excluded {
    /// Who.
    pub judge: String,
    /// Why.
    pub why: String,
}

/// Why there is no verdict.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NoVerdict {
    /// Nobody was judged.
    #[error("there is no contestant")]
    NoContestant,
    /// No judge scored every contestant.
    #[error("{}", no_judge(excluded))]
    NoJudge {
        /// Those who tried.
        excluded: Vec<Excluded>,
    },
    /// There are too many of them.
    #[error("{count} {what} are more than the {most} that are compared")]
    TooMany {
        /// Contestants or judges.
        what: &'static str,
        /// How many there are.
        count: usize,
        /// How many there may be.
        most: usize,
    },
}

impl Verdict {
    /// Returns the judges who put somebody else first, with whom they prefer.
    pub fn minority(&self) -> impl Iterator<Item = &Seated> {
        let first = self.leaders();
        self.judges.iter().filter(move |judge| {
            let mut prefers = judge.prefers.iter();
            !prefers.any(|one| first.contains(&one.as_str()))
        })
    }

    /// Returns those with the best plain average, whatever the method made of the scores.
    #[must_use]
    pub fn best_average(&self) -> Vec<&Ranked> {
        let best = self.ranking.iter().map(|one| one.average).max();
        let first = self.ranking.iter().filter(|one| Some(one.average) == best);
        first.collect()
    }

    /// Tells whether something else than the plain average decided.
    #[must_use]
    pub fn is_by_other_means(&self) -> bool {
        self.weighted || self.method != Method::Mean
    }

    /// Returns the ids in the first place: one, or those who tie.
    #[must_use]
    pub(crate) fn leaders(&self) -> Vec<&str> {
        let first = self.ranking.iter().filter(|one| one.rank == 1);
        first.map(|one| one.contestant.as_str()).collect()
    }
}

/// Returns the JSON schema of a verdict.
#[must_use]
pub fn verdict_schema() -> schemars::Schema {
    schemars::schema_for!(Verdict)
}

/// Decides who won. The order of the ballots and of the ids changes nothing.
pub fn decide(
    sitting: &Sitting,
    method: Method,
    record: Option<&Record>,
) -> Result<Verdict, NoVerdict> {
    let contestants = &sitting.contestants;
    let heard = sitting.ballots.len().saturating_add(sitting.absent.len());
    check_size("contestants", contestants.len(), MOST_CONTESTANTS)?;
    check_size("judges", heard, MOST_JUDGES)?;
    if contestants.is_empty() {
        return Err(NoVerdict::NoContestant);
    }
    let (counted, excluded) = sort_out(sitting);
    if counted.is_empty() {
        return Err(NoVerdict::NoJudge { excluded });
    }
    let weights = Weights::of(&counted, record);
    let ids: Vec<&String> = contestants.iter().collect();
    let table = Table {
        columns: ids.len(),
        rows: counted.iter().map(|one| combined(one, &ids)).collect(),
    };
    let scores = table.scores(method, &weights);
    let mut order: Vec<usize> = (0..ids.len()).collect();
    order.sort_by(|a, b| scores[*b].cmp(&scores[*a]).then(ids[*a].cmp(ids[*b])));
    let ranking = rank(&table, &ids, &scores, &order, &weights);
    let seated = doubt::seated(&counted, &table, &ids, &weights);
    let winner = match ranking.get(1) {
        Some(second) if second.rank == 1 => None,
        _ => Some(ranking[0].contestant.clone()),
    };
    let columns: Vec<Vec<i128>> = (0..ids.len()).map(|one| table.column(one)).collect();
    let mut verdict = Verdict {
        winner,
        method,
        weighted: weights.by_record,
        confidence: order
            .get(1)
            .map(|&second| confidence(&table, order[0], second, &weights, excluded.len())),
        margin: order
            .get(1)
            .map(|&second| Margin::of(&table, &ids, order[0], second, &weights)),
        ranking,
        agreement: agreement::agreement(&columns).filter(|_| ids.len() > 1),
        judges: seated,
        excluded,
        doubts: Vec::new(),
    };
    verdict.doubts = doubt::doubts(&verdict, &table, &ids, &weights);
    if !sitting.shortened.is_empty() {
        verdict.doubts.push(Doubt::Shortened {
            contestants: sitting.shortened.keys().cloned().collect(),
            shown: sitting.shortened.values().copied().collect(),
        });
    }
    Ok(verdict)
}

fn check_size(what: &'static str, count: usize, most: usize) -> Result<(), NoVerdict> {
    match count > most {
        true => Err(NoVerdict::TooMany { what, count, most }),
        false => Ok(()),
    }
}

/// Returns the ballots that count, by name, and the others with the reason.
fn sort_out(sitting: &Sitting) -> (Vec<&Ballot>, Vec<Excluded>) {
    let contestants = &sitting.contestants;
    let mut by_name: BTreeMap<&str, Vec<&Ballot>> = BTreeMap::new();
    for ballot in &sitting.ballots {
        by_name.entry(&ballot.judge).or_default().push(ballot);
    }
    let (mut counted, mut excluded) = (Vec::new(), sitting.absent.clone());
    for (judge, ballots) in by_name {
        let refused = match ballots[..] {
            [one] => {
                let passes = std::iter::once(&one.scores).chain(&one.swapped);
                let mut problems = passes.filter_map(|scores| unusable(contestants, scores));
                problems.next()
            }
            _ => Some("it judged more than once".to_owned()),
        };
        match refused {
            None => counted.push(ballots[0]),
            Some(why) => excluded.push(Excluded {
                judge: judge.to_owned(),
                why,
            }),
        }
    }
    excluded.sort_by(|one, other| one.judge.cmp(&other.judge));
    (counted, excluded)
}

/// Returns what is wrong with one judge's scores.
fn unusable(contestants: &BTreeSet<String>, scores: &BTreeMap<String, Points>) -> Option<String> {
    let mut strangers = scores.keys().filter(|id| !contestants.contains(*id));
    if let Some(id) = strangers.next() {
        return Some(format!("it scored `{id}`, who is no contestant"));
    }
    let mut missing = contestants.iter().filter(|id| !scores.contains_key(*id));
    if let Some(id) = missing.next() {
        return Some(format!("it did not score `{id}`"));
    }
    let mut outside = scores.iter().filter(|(_, score)| !score.is_score());
    let (id, score) = outside.next()?;
    Some(format!(
        "it gave `{id}` {score}, which is not from 0 to 100"
    ))
}

/// Returns a judge's scores in the order of `ids`; of two passes their mean.
fn combined(ballot: &Ballot, ids: &[&String]) -> Vec<i128> {
    let score = |id: &&String| {
        let first = ballot.scores[*id].millionths();
        match &ballot.swapped {
            Some(second) => divide(first + second[*id].millionths(), 2),
            None => first,
        }
    };
    ids.iter().map(score).collect()
}

fn rank(
    table: &Table,
    ids: &[&String],
    scores: &[i128],
    order: &[usize],
    weights: &Weights,
) -> Vec<Ranked> {
    let judges = i128::try_from(table.rows.len()).unwrap_or(1).max(1);
    let mut ranking: Vec<Ranked> = Vec::new();
    for (place, &contestant) in (1..).zip(order) {
        let column = table.column(contestant);
        let score = Points::of(scores[contestant]);
        let tied = ranking.last().filter(|last| last.score == score);
        let error = spread::error(&column, weights);
        let mean = weights.mean(&column);
        let within = |(low, high): (i128, i128)| {
            let full = Points::FULL.millionths();
            (Points::of(low.max(0)), Points::of(high.min(full)))
        };
        ranking.push(Ranked {
            contestant: ids[contestant].clone(),
            rank: tied.map_or(place, |last| last.rank),
            score,
            average: Points::of(divide(column.iter().sum(), judges)),
            error: error.map(Points::of),
            interval: interval(mean, error, weights).map(within),
            lowest: Points::of(column.iter().copied().min().unwrap_or(0)),
            highest: Points::of(column.iter().copied().max().unwrap_or(0)),
        });
    }
    ranking
}

/// Says why nobody counts, each judge with its reason.
fn no_judge(excluded: &[Excluded]) -> String {
    let each = excluded
        .iter()
        .map(|one| format!("{}: {}", one.judge, one.why));
    match excluded {
        [] => "there is no judge".to_owned(),
        _ => format!("no judge counts ({})", each.collect::<Vec<_>>().join("; ")),
    }
}

/// Returns how sure it is that `first` is better than `second`: the weighted share of judges who
/// prefer it, with half a judge added to either side. Of `absent` judges, who sat and do not count,
/// nobody knows whom they would have preferred.
fn confidence(table: &Table, first: usize, second: usize, weights: &Weights, absent: usize) -> u8 {
    let preferred = table.rows.iter().zip(&weights.each).map(|(row, weight)| {
        match row[first].cmp(&row[second]) {
            std::cmp::Ordering::Greater => *weight,
            std::cmp::Ordering::Equal => weight / 2,
            std::cmp::Ordering::Less => 0,
        }
    });
    let share = divide(preferred.sum::<i128>() * PART, weights.total());
    let seats = |count: usize| i128::try_from(count).unwrap_or(i128::MAX / PART);
    let (heard, absent) = (seats(table.rows.len()), seats(absent));
    let share = divide(share * heard + PART * absent / 2, heard + absent);
    let voices = weights.voices();
    let drawn = divide(100 * (share * voices + 500 * PART), (voices + 1000) * PART);
    u8::try_from(drawn).unwrap_or(100)
}

impl Margin {
    fn of(table: &Table, ids: &[&String], first: usize, second: usize, weights: &Weights) -> Self {
        let leads = differences(&table.rows, first, second);
        let mean = weights.mean(&leads);
        let bounds = interval(mean, spread::error(&leads, weights), weights);
        let full = Points::FULL.millionths();
        let within = |bound: i128| Points::of(bound.clamp(-full, full));
        Self {
            over: ids[second].clone(),
            points: Points::of(mean),
            interval: bounds.map(|(low, high)| (within(low), within(high))),
            clear: bounds.is_some_and(|(low, _)| low > 0),
        }
    }
}

#[cfg(test)]
mod tests;
