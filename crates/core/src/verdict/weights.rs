//! How much each judge's word counts: all the same, or by what their past preferences were worth.

use super::points::{PART, divide, log_ratio};
use crate::consensus::{Preferences, Record};

/// So many average preferences are added to every judge's, so that a short record says little.
const PRIOR: i128 = 10;

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
    /// With a record a judge weighs as the square of its log-odds to be right. The logarithm alone
    /// would be right for judges who err independently; they do not, they share their mistakes,
    /// and squaring lets the better ones prevail over many weaker ones. Whoever is not better than
    /// a coin weighs nothing, and if that is everybody, the record is of no use.
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
        let weigh = |judge: &&str| {
            let own = record.judges.get(*judge).copied().unwrap_or_default();
            // An unknown judge is an average one.
            let above = halves_right(own) * total + 2 * PRIOR * right;
            let below = (halves(own) + 2 * PRIOR) * total - above;
            let odds = log_ratio(above, below.max(1)).max(0);
            divide(odds * odds, PART)
        };
        let each: Vec<i128> = judges.iter().map(weigh).collect();
        if each.iter().all(|weight| *weight == 0) {
            return equal;
        }
        Self {
            each,
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
    fn a_record_that_knows_nobody_better_than_a_coin_changes_nothing() {
        let record = record(&[("ann", 10, 90, 0), ("bob", 40, 60, 0)]);
        let weights = Weights::of(&["ann", "bob"], Some(&record));
        assert_eq!(weights, Weights::of(&["ann", "bob"], None));
        assert_eq!(weights.voices(), 2000);
    }
}
