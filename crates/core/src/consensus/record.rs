//! What past rulings say about reviewers and judges: how often they were found to be right.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::finding::Category;

/// Counts of past rulings.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// Findings, by the name of the reviewer, then by category.
    #[serde(default)]
    pub reviewers: BTreeMap<String, BTreeMap<Category, Rulings>>,
    /// Preferences between contestants, by the name of the judge.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub judges: BTreeMap<String, Preferences>,
}

/// How often a judge put the better one of two contestants first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Preferences {
    /// It preferred the one that was found to be better.
    pub upheld: u32,
    /// It preferred the other.
    pub dismissed: u32,
    /// It gave both the same.
    #[serde(default)]
    pub even: u32,
}

/// How many findings were upheld and how many were dismissed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rulings {
    /// Found to be right.
    pub upheld: u32,
    /// Found to be wrong.
    pub dismissed: u32,
}

impl Rulings {
    fn add(&mut self, other: Self) {
        self.upheld = self.upheld.saturating_add(other.upheld);
        self.dismissed = self.dismissed.saturating_add(other.dismissed);
    }

    fn total(self) -> i64 {
        i64::from(self.upheld) + i64::from(self.dismissed)
    }

    /// Returns the share upheld in thousandths, drawn towards `mean` as if `prior` more rulings
    /// had come out at it. Few rulings therefore say little.
    fn share(self, mean: i64, prior: i64) -> i64 {
        let total = self.total() + prior;
        if total == 0 {
            return mean;
        }
        (i64::from(self.upheld) * 1000 + mean * prior) / total
    }
}

/// A record made ready for questions.
#[derive(Debug)]
pub(super) struct Reliability<'a> {
    record: &'a Record,
    mean: i64,
    prior: i64,
    whole: BTreeMap<&'a str, Rulings>,
}

impl<'a> Reliability<'a> {
    pub(super) fn of(record: &'a Record, prior: u32) -> Self {
        let mut all = Rulings::default();
        let mut whole: BTreeMap<&str, Rulings> = BTreeMap::new();
        for (name, categories) in &record.reviewers {
            for rulings in categories.values() {
                whole.entry(name).or_default().add(*rulings);
                all.add(*rulings);
            }
        }
        Self {
            record,
            mean: all.share(500, 1),
            prior: i64::from(prior),
            whole,
        }
    }

    /// Returns how far a reviewer stands from the average, in thousandths. A category with few
    /// rulings leans on the reviewer's other ones.
    pub(super) fn lead(&self, reviewer: &str, category: Category) -> i64 {
        let Some(whole) = self.whole.get(reviewer) else {
            return 0;
        };
        let overall = whole.share(self.mean, self.prior);
        let here = self.record.reviewers.get(reviewer);
        let here = here.and_then(|categories| categories.get(&category));
        here.map_or(overall, |rulings| rulings.share(overall, self.prior)) - self.mean
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_record_says_little_and_an_unknown_reviewer_nothing() {
        let counts =
            |upheld, dismissed| BTreeMap::from([(Category::Bug, Rulings { upheld, dismissed })]);
        let record = Record {
            reviewers: BTreeMap::from([
                ("good".to_owned(), counts(80, 20)),
                ("new".to_owned(), counts(1, 0)),
                ("poor".to_owned(), counts(20, 80)),
            ]),
            ..Record::default()
        };
        let reliability = Reliability::of(&record, 10);
        let lead = |name| reliability.lead(name, Category::Bug);
        assert!(lead("good") > 200 && lead("poor") < -200);
        assert!(lead("new") > 0 && lead("new") < 100);
        assert_eq!(lead("stranger"), 0);
        assert_eq!(
            reliability.lead("good", Category::Security),
            reliability.whole["good"].share(reliability.mean, 10) - reliability.mean
        );
    }
}
