//! How much each judge's word counts: all the same, or by what their past preferences were worth.

use std::collections::BTreeMap;

use super::Ballot;
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
    /// As which voice each judge speaks: judges of one family share one.
    pub(super) voice: Vec<usize>,
}

/// What the judges of one family say together.
struct Voice {
    weight: i128,
    /// The weighted mean of their values.
    value: i128,
}

impl Weights {
    /// Returns the weights of `judges`.
    ///
    /// With a record a judge weighs as the fourth power of its log-odds to be right. The logarithm
    /// alone would be right for judges who err independently; they do not, they share their
    /// mistakes, and the power lets the better ones prevail over many weaker ones. Whoever is not
    /// better than a coin weighs nothing; where nobody is clearly better, the record is of no use.
    pub(super) fn of(judges: &[&Ballot], record: Option<&Record>) -> Self {
        let equal = Self {
            each: vec![PART; judges.len()],
            by_record: false,
            voice: voices(judges),
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
        let log_odds = |judge: &&Ballot| {
            let own = record.judges.get(&judge.judge);
            let own = own.copied().unwrap_or_default();
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
            ..equal
        }
    }

    pub(super) fn total(&self) -> i128 {
        self.each.iter().sum()
    }

    /// Returns how many equal voices would count as much, in thousandths (Kish). Judges of one
    /// family repeat each other's mistakes: however many they are, they are one voice.
    pub(super) fn voices(&self) -> i128 {
        let voices = self.spoken(&self.each);
        let squares: i128 = voices.iter().map(|one| one.weight * one.weight).sum();
        divide(1000 * self.total() * self.total(), squares.max(1))
    }

    /// Returns the variance of `values` between voices, in the square of their unit.
    pub(super) fn variance(&self, values: &[i128]) -> i128 {
        let mean = self.mean(values);
        let voices = self.spoken(values);
        let squares = voices
            .iter()
            .map(|one| one.weight * (one.value - mean) * (one.value - mean));
        divide(squares.sum(), self.total())
    }

    /// Returns how many judges weigh something, and how many voices they are.
    pub(super) fn heard(&self) -> (usize, usize) {
        let judges = self.each.iter().filter(|weight| **weight > 0).count();
        (judges, self.spoken(&self.each).len())
    }

    /// Returns the weights of the others when one judge is not there.
    pub(super) fn without(&self, judge: usize) -> Self {
        let mut others = self.clone();
        others.each.remove(judge);
        others.voice.remove(judge);
        if others.total() == 0 {
            others.each = vec![PART; others.each.len()];
        }
        others
    }

    /// Returns what each voice that weighs something says.
    fn spoken(&self, values: &[i128]) -> Vec<Voice> {
        let mut sums: BTreeMap<usize, (i128, i128)> = BTreeMap::new();
        for ((weight, value), voice) in self.each.iter().zip(values).zip(&self.voice) {
            let (total, sum) = sums.entry(*voice).or_default();
            *total += weight;
            *sum += weight * value;
        }
        let heard = sums.into_values().filter(|(total, _)| *total > 0);
        let voice = |(weight, sum)| Voice {
            weight,
            value: divide(sum, weight),
        };
        heard.map(voice).collect()
    }

    /// Returns the weighted mean of `values`, in their unit.
    pub(super) fn mean(&self, values: &[i128]) -> i128 {
        let sum: i128 = self.each.iter().zip(values).map(|(w, x)| w * x).sum();
        divide(sum, self.total())
    }
}

/// Returns a number for each judge that those of one family share.
fn voices(judges: &[&Ballot]) -> Vec<usize> {
    let family = |judge: &Ballot| judge.family.clone().filter(|family| !family.is_empty());
    let first = |place: usize| {
        let own = family(judges[place]);
        let mut before = judges[..place].iter();
        let known = before.position(|other| own.is_some() && family(other) == own);
        known.unwrap_or(place)
    };
    (0..judges.len()).map(first).collect()
}

fn halves_right(one: Preferences) -> i128 {
    2 * i128::from(one.upheld) + i128::from(one.even)
}

fn halves(one: Preferences) -> i128 {
    2 * (i128::from(one.upheld) + i128::from(one.dismissed) + i128::from(one.even))
}

#[cfg(test)]
mod tests {
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

    /// Returns judges such as `ann` or `ann@openai`, with their family behind the sign.
    fn panel(names: &[&str]) -> Vec<Ballot> {
        let ballot = |name: &&str| {
            let (judge, family) = match name.split_once('@') {
                Some((judge, family)) => (judge, Some(family.to_owned())),
                None => (*name, None),
            };
            Ballot {
                judge: judge.to_owned(),
                family,
                scores: BTreeMap::new(),
                swapped: None,
            }
        };
        names.iter().map(ballot).collect()
    }

    fn weights(names: &[&str], record: Option<&Record>) -> Weights {
        let panel = panel(names);
        Weights::of(&panel.iter().collect::<Vec<_>>(), record)
    }

    #[test]
    fn judges_of_one_family_are_one_voice() {
        for (names, voices) in [
            (&["a", "b", "c"][..], 3000),
            (&["a@x", "b@y", "c@z"], 3000),
            (&["a@x", "b@x", "c@x"], 1000),
            (&["a@x", "b@y", "c@x", "d@y"], 2000),
            (&["a@", "b@"], 2000),
            // A family of three and one of one: nine plus one of four squared.
            (&["a@x", "b@x", "c@x", "d@y"], 1600),
        ] {
            assert_eq!(weights(names, None).voices(), voices, "{names:?}");
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
        let found = weights(&judges, Some(&record));
        let [best, good, coin, even, stranger] = found.each[..] else {
            panic!("five weights")
        };
        assert!(found.by_record);
        assert!(best > 3 * good && good > stranger && stranger > even);
        assert_eq!((coin, stranger > 0), (0, true));
    }

    #[test]
    fn a_record_that_knows_nobody_clearly_better_than_a_coin_changes_nothing() {
        for (ann, bob) in [((10, 90), (40, 60)), ((52, 48), (20, 80))] {
            let record = record(&[("ann", ann.0, ann.1, 0), ("bob", bob.0, bob.1, 0)]);
            let found = weights(&["ann", "bob"], Some(&record));
            assert_eq!(found, weights(&["ann", "bob"], None));
            assert_eq!(found.voices(), 2000);
        }
    }
}
