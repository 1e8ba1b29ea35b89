//! The ways to make one score per contestant out of many judges' scores.

use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::points::{PART, divide, root};
use super::weights::Weights;

use crate::word::shown_as_word;

/// A way to make one score per contestant.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// The average.
    #[default]
    Mean,
    /// The middle one; between two middle ones their average.
    Median,
    /// The average without the highest and the lowest fifth, at least one each, of four or more.
    Trimmed,
    /// The average after every judge's scores were put on one scale, 50 its mean and 10 its spread.
    ZMean,
    /// Strength by Bradley and Terry from who preferred whom, as a share of a hundred.
    Pairwise,
}

impl Method {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Mean,
        Self::Median,
        Self::Trimmed,
        Self::ZMean,
        Self::Pairwise,
    ];

    /// Returns the word used in config, on the command line and in reports.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Mean => "mean",
            Self::Median => "median",
            Self::Trimmed => "trimmed",
            Self::ZMean => "z-mean",
            Self::Pairwise => "pairwise",
        }
    }
}

shown_as_word!(Method);

impl FromStr for Method {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = Self::ALL.map(Self::as_str).join(", ");
        let found = Self::ALL.into_iter().find(|one| one.as_str() == text);
        found.ok_or_else(|| format!("there is no method `{text}`; there are {known}"))
    }
}

/// All scores in millionths: a row per judge, a column per contestant.
pub(super) struct Table {
    pub(super) rows: Vec<Vec<i128>>,
    pub(super) columns: usize,
}

impl Table {
    pub(super) fn column(&self, contestant: usize) -> Vec<i128> {
        self.rows.iter().map(|row| row[contestant]).collect()
    }

    /// Returns one score per contestant, in millionths.
    pub(super) fn scores(&self, method: Method, weights: &Weights) -> Vec<i128> {
        let columns = (0..self.columns).map(|contestant| self.column(contestant));
        match method {
            Method::Mean => columns.map(|column| weights.mean(&column)).collect(),
            Method::Median => columns.map(|column| median(&column, weights)).collect(),
            Method::Trimmed => columns.map(|column| trimmed(&column, weights)).collect(),
            Method::ZMean => {
                let rows = self.rows.iter().map(|row| standardized(row)).collect();
                let table = Self { rows, ..*self };
                table.scores(Method::Mean, weights)
            }
            Method::Pairwise => strengths(&self.preferences(weights)),
        }
    }

    /// Returns by how much weight each contestant is preferred to each other, a tie by halves.
    ///
    /// One more voice of a tenth of a judge finds everybody alike: without it whoever wins against
    /// all would be infinitely strong.
    fn preferences(&self, weights: &Weights) -> Vec<Vec<i128>> {
        let judges = i128::try_from(self.rows.len()).unwrap_or(i128::MAX);
        let alike = (weights.total() / (judges.max(1) * 20)).max(1);
        let mut wins = vec![vec![alike; self.columns]; self.columns];
        for (row, weight) in self.rows.iter().zip(&weights.each) {
            for one in 0..self.columns {
                for other in 0..self.columns {
                    wins[one][other] += match row[one].cmp(&row[other]) {
                        std::cmp::Ordering::Greater => *weight,
                        std::cmp::Ordering::Equal => weight / 2,
                        std::cmp::Ordering::Less => 0,
                    };
                }
            }
        }
        wins
    }
}

/// Returns the value that has half of the weight on either side.
fn median(column: &[i128], weights: &Weights) -> i128 {
    let mut ordered: Vec<(i128, i128)> = column.iter().copied().zip(weights.each.clone()).collect();
    ordered.sort_unstable();
    let total = weights.total();
    let mut below = 0;
    for (place, &(value, weight)) in ordered.iter().enumerate() {
        below += weight;
        if 2 * below > total {
            return value;
        }
        if 2 * below == total {
            let above = ordered[place + 1..].iter().find(|(_, weight)| *weight > 0);
            return divide(value + above.map_or(value, |(next, _)| *next), 2);
        }
    }
    0
}

/// Returns the mean without the extremes.
fn trimmed(column: &[i128], weights: &Weights) -> i128 {
    let cut = match column.len() {
        0..=3 => return weights.mean(column),
        judges => (judges / 5).max(1),
    };
    let mut ordered: Vec<(i128, i128)> = column.iter().copied().zip(weights.each.clone()).collect();
    ordered.sort_unstable();
    let kept = &ordered[cut..ordered.len() - cut];
    let total: i128 = kept.iter().map(|(_, weight)| weight).sum();
    if total == 0 {
        return weights.mean(column);
    }
    let sum: i128 = kept.iter().map(|(value, weight)| value * weight).sum();
    divide(sum, total)
}

/// Returns a judge's scores with mean 50 and standard deviation 10; all 50 where they are equal.
fn standardized(row: &[i128]) -> Vec<i128> {
    let count = i128::try_from(row.len()).unwrap_or(1).max(1);
    let mean = divide(row.iter().sum(), count);
    let squares: i128 = row
        .iter()
        .map(|score| (score - mean) * (score - mean))
        .sum();
    let spread = root(divide(squares, count));
    let place = |score: &i128| match spread {
        0 => 50 * PART,
        _ => 50 * PART + divide(10 * PART * (score - mean), spread),
    };
    row.iter().map(place).collect()
}

/// Returns the strengths of a Bradley–Terry model as shares of a hundred, in millionths.
///
/// `wins[i][j]` is how often `i` was preferred to `j`. The maximum of the likelihood is found by
/// Hunter's minorization, in trillionths, until nothing moves by a billionth.
pub(super) fn strengths(wins: &[Vec<i128>]) -> Vec<i128> {
    const UNIT: i128 = 1_000_000_000_000;
    const MOST_ROUNDS: usize = 2_000;
    let count = wins.len();
    let all = 0..count;
    let start = UNIT / i128::try_from(count.max(1)).unwrap_or(1);
    let mut strength = vec![start; count];
    for _ in 0..MOST_ROUNDS {
        let improved = |one: usize| {
            let others = all.clone().filter(|other| *other != one);
            let (mut won, mut expected) = (0, 0);
            for other in others {
                won += wins[one][other];
                let met = wins[one][other] + wins[other][one];
                let both = (strength[one] + strength[other]).max(1);
                expected += met * UNIT * PART / both;
            }
            match expected {
                0 => strength[one],
                _ => won * UNIT * PART / expected,
            }
        };
        let next: Vec<i128> = all.clone().map(improved).collect();
        let total: i128 = next.iter().sum::<i128>().max(1);
        let next: Vec<i128> = next.iter().map(|one| divide(one * UNIT, total)).collect();
        let moved = next.iter().zip(&strength).map(|(a, b)| (a - b).abs());
        let settled = moved.max().unwrap_or(0) < 1_000;
        strength = next;
        if settled {
            break;
        }
    }
    let share = |one: &i128| divide(one * 100 * PART, UNIT);
    strength.iter().map(share).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(rows: &[&[i128]]) -> Table {
        Table {
            columns: rows[0].len(),
            rows: rows
                .iter()
                .map(|row| row.iter().map(|score| score * PART).collect())
                .collect(),
        }
    }

    fn equal(judges: usize) -> Weights {
        Weights {
            each: vec![PART; judges],
            by_record: false,
            voice: (0..judges).collect(),
        }
    }

    fn check(rows: &[&[i128]], method: Method, expected: &[i128]) {
        let found = table(rows).scores(method, &equal(rows.len()));
        assert_eq!(found, expected, "{method}");
    }

    #[test]
    fn every_method_on_one_table() {
        let rows: &[&[i128]] = &[
            &[90, 80, 10],
            &[70, 60, 20],
            &[80, 90, 30],
            &[20, 50, 95],
            &[60, 65, 40],
        ];
        check(rows, Method::Mean, &[64_000_000, 69_000_000, 39_000_000]);
        check(rows, Method::Median, &[70_000_000, 65_000_000, 30_000_000]);
        check(rows, Method::Trimmed, &[70_000_000, 68_333_333, 30_000_000]);
    }

    #[test]
    fn the_median_of_an_even_panel_lies_between_the_middle_ones() {
        check(&[&[10], &[40], &[20], &[90]], Method::Median, &[30_000_000]);
        check(&[&[10], &[40]], Method::Trimmed, &[25_000_000]);
    }

    #[test]
    fn a_judge_who_uses_little_of_the_scale_counts_as_much_as_the_others() {
        // The first judge alone would decide the mean.
        let rows: &[&[i128]] = &[&[0, 100], &[52, 50], &[51, 50]];
        check(rows, Method::Mean, &[34_333_333, 66_666_667]);
        check(rows, Method::ZMean, &[53_333_333, 46_666_667]);
        check(&[&[70, 70]], Method::ZMean, &[50_000_000, 50_000_000]);
    }

    #[test]
    fn strengths_of_consistent_preferences_are_their_ratios() {
        // 2:1, 2:1 and 4:1 are met exactly by strengths of 4, 2 and 1.
        let wins = vec![vec![0, 200, 400], vec![100, 0, 200], vec![100, 100, 0]];
        assert_eq!(strengths(&wins), [57_142_857, 28_571_429, 14_285_714]);
        assert_eq!(
            strengths(&[vec![0, 3], vec![1, 0]]),
            [75_000_000, 25_000_000]
        );
    }

    #[test]
    fn strengths_of_a_published_example_come_out() {
        // Agresti, Categorical Data Analysis: baseball, American League 1987; Milwaukee, Detroit,
        // Toronto, New York, Boston, Cleveland, Baltimore. The log-strengths against Baltimore are
        // 1.58, 1.44, 1.29, 1.25, 1.11, 0.68.
        let wins: Vec<Vec<i128>> = vec![
            vec![0, 7, 9, 7, 7, 9, 11],
            vec![6, 0, 7, 5, 11, 9, 9],
            vec![4, 6, 0, 7, 7, 8, 12],
            vec![6, 8, 6, 0, 6, 7, 10],
            vec![6, 2, 6, 7, 0, 7, 12],
            vec![4, 4, 5, 6, 6, 0, 6],
            vec![2, 4, 1, 3, 1, 7, 0],
        ];
        let wins: Vec<Vec<i128>> = wins
            .iter()
            .map(|row| row.iter().map(|count| count * PART).collect())
            .collect();
        let found = strengths(&wins);
        let logs: Vec<String> = found[..6]
            .iter()
            .map(|one| {
                let log = super::super::points::log_ratio(*one, found[6]);
                super::super::Points::of(divide(log, 10_000) * 10_000).to_string()
            })
            .collect();
        assert_eq!(logs, ["1.58", "1.44", "1.29", "1.25", "1.11", "0.68"]);
    }

    #[test]
    fn whoever_wins_against_all_is_strong_but_not_infinitely() {
        let rows: &[&[i128]] = &[&[90, 80], &[70, 60]];
        check(rows, Method::Pairwise, &[97_619_048, 2_380_952]);
    }

    #[test]
    fn methods_are_read_by_their_words() {
        for method in Method::ALL {
            assert_eq!(method.as_str().parse(), Ok(method));
        }
        assert_eq!(
            "mode".parse::<Method>(),
            Err(
                "there is no method `mode`; there are mean, median, trimmed, z-mean, pairwise"
                    .to_owned()
            )
        );
    }
}
