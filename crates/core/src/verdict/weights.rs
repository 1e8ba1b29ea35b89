//! How much each judge's word counts: all the same, or by what their past preferences were worth.

use super::points::{PART, divide, log_ratio};
use crate::consensus::{Preferences, Record};

/// So many average preferences are added to every judge's, so that a short record says little.
const PRIOR: i128 = 10;

/// Log-odds in millionths that the best judge of a panel must exceed, about 55 right of 100. Below
/// it the differences within the panel are chance, and following its luckiest judge would be worse
/// than hearing them all.
const TELLING: i128 = 200_000;

/// One number per judge; at least one of them is positive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Weights {
    /// In the order of the judges, in millionths.
    pub(super) each: Vec<i128>,
    /// Whether a record decided.
    pub(super) by_record: bool,
}

impl Weights {
    /// Returns the weights of `judges`.
    ///
    /// With a record a judge weighs as the fourth power of its log-odds to be right. The logarithm
    /// alone would be right for judges who err independently; they do not, they share their
    /// mistakes, and the power lets the better ones prevail over many weaker ones. Whoever is not
    /// better than a coin weighs nothing; where nobody is clearly better, the record is of no use.
    pub(super) fn of(judges: &[&str], record: Option<&Record>) -> Self {
        let equal = Self {
            each: vec![PART; judges.len()],
            by_record: false,
        };
        let Some(record) = record.filter(|record| !record.judges.is_empty()) else {
            return equal;
        };
        let all = record.judges.values();
        let (mut right, mut total) = (1, 2);
        for one in all {
            right += halves_right(*one);
            total += halves(*one);
        }
        let log_odds = |judge: &&str| {
            let own = record.judges.get(*judge).copied().unwrap_or_default();
            // An unknown judge is an average one.
            let above = halves_right(own) * total + 2 * PRIOR * right;
            let below = (halves(own) + 2 * PRIOR) * total - above;
            log_ratio(above, below.max(1)).max(0)
        };
        let odds: Vec<i128> = judges.iter().map(log_odds).collect();
        if odds.iter().all(|odds| *odds <= TELLING) {
            return equal;
        }
        let square = |value: i128| divide(value * value, PART);
        Self {
            each: odds.into_iter().map(|odds| square(square(odds))).collect(),
            by_record: true,
        }
    }

    pub(super) fn total(&self) -> i128 {
        self.each.iter().sum()
    }

    /// Returns how many equal judges would count as much, in thousandths (Kish).
    pub(super) fn voices(&self) -> i128 {
        let squares: i128 = self.each.iter().map(|weight| weight * weight).sum();
        divide(1000 * self.total() * self.total(), squares.max(1))
    }

    /// Returns the weighted mean of `values`, in their unit.
    pub(super) fn mean(&self, values: &[i128]) -> i128 {
        let sum: i128 = self.each.iter().zip(values).map(|(w, x)| w * x).sum();
        divide(sum, self.total())
    }
}

fn halves_right(one: Preferences) -> i128 {
    2 * i128::from(one.upheld) + i128::from(one.even)
}

fn halves(one: Preferences) -> i128 {
    2 * (i128::from(one.upheld) + i128::from(one.dismissed) + i128::from(one.even))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn record(judges: &[(&str, u32, u32, u32)]) -> Record {
        let judges = judges.iter().map(|&(name, upheld, dismissed, even)| {
            let counts = Preferences {
                upheld,
                dismissed,
                even,
            };
            (name.to_owned(), counts)
        });
        Record {
            judges: judges.collect::<BTreeMap<_, _>>(),
            ..Record::default()
        }
    }

    #[test]
    fn the_better_judge_weighs_more_and_one_like_a_coin_nothing() {
        let record = record(&[
            ("best", 90, 10, 0),
            ("good", 75, 25, 0),
            ("coin", 40, 60, 0),
            ("even", 0, 0, 100),
        ]);
        let judges = ["best", "good", "coin", "even", "stranger"];
        let weights = Weights::of(&judges, Some(&record));
        let [best, good, coin, even, stranger] = weights.each[..] else {
            panic!("five weights")
        };
        assert!(weights.by_record);
        assert!(best > 3 * good && good > stranger && stranger > even);
        assert_eq!((coin, stranger > 0), (0, true));
    }

    #[test]
    fn a_record_that_knows_nobody_clearly_better_than_a_coin_changes_nothing() {
        for (ann, bob) in [((10, 90), (40, 60)), ((52, 48), (20, 80))] {
            let record = record(&[("ann", ann.0, ann.1, 0), ("bob", bob.0, bob.1, 0)]);
            let weights = Weights::of(&["ann", "bob"], Some(&record));
            assert_eq!(weights, Weights::of(&["ann", "bob"], None));
            assert_eq!(weights.voices(), 2000);
        }
    }
}
