//! What becomes of a finding over several reviews: open, fixed, regressed.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::finding::{Category, Location};
use crate::review::report::Standing;
use crate::scale::Severity;

/// A finding that is followed over several reviews.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TrackedFinding {
    /// Its identity, which survives moved lines and other words.
    pub fingerprint: String,
    /// Where it was seen last.
    pub location: Location,
    /// What kind of problem it is.
    pub category: Category,
    /// How bad it was found to be.
    pub severity: Severity,
    /// The finding in one line, as it was put last.
    pub title: String,
    /// The cited line without its spaces, by which its absence is noticed.
    pub code: String,
    /// How it stands.
    pub standing: Standing,
}

impl TrackedFinding {
    /// Returns the short name by which commands call it.
    #[must_use]
    pub fn id(&self) -> String {
        short_id(&self.fingerprint)
    }
}

/// Returns the short name of the finding with this fingerprint.
#[must_use]
pub fn short_id(fingerprint: &str) -> String {
    let head: String = fingerprint.chars().take(8).collect();
    format!("f-{head}")
}

/// What a review can say about a finding that it does not report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Absence {
    /// Its place was not looked at, or nobody who could report it answered.
    Unknown,
    /// Its place was looked at, and the problem is not there any more.
    Gone,
}

/// Returns how every finding stands after a review: those that were seen, in their order, then
/// those that are gone. What the review says nothing about is not mentioned.
///
/// `seen` carries any standing; the one before decides.
pub fn follow(
    known: &BTreeMap<String, TrackedFinding>,
    seen: Vec<TrackedFinding>,
    absence: impl Fn(&TrackedFinding) -> Absence,
) -> Vec<TrackedFinding> {
    let mut after: Vec<TrackedFinding> = Vec::with_capacity(seen.len());
    for finding in seen {
        let before = known.get(&finding.fingerprint).map(|one| one.standing);
        let standing = seen_again(before);
        after.push(TrackedFinding {
            standing,
            ..finding
        });
    }
    let is_seen = |one: &TrackedFinding| {
        let same = |other: &TrackedFinding| other.fingerprint == one.fingerprint;
        after.iter().any(same)
    };
    let gone = known
        .values()
        .filter(|one| can_be_fixed(one.standing) && !is_seen(one))
        .filter(|one| absence(one) == Absence::Gone)
        .map(|one| TrackedFinding {
            standing: Standing::Fixed,
            ..one.clone()
        })
        .collect::<Vec<_>>();
    after.extend(gone);
    after
}

/// Returns how a finding stands that was seen, given how it stood before.
fn seen_again(before: Option<Standing>) -> Standing {
    match before {
        None => Standing::New,
        Some(Standing::Fixed | Standing::Regressed) => Standing::Regressed,
        Some(Standing::New | Standing::Open | Standing::Answered) => Standing::Open,
        Some(ruled @ (Standing::Contested | Standing::Upheld | Standing::Dismissed)) => ruled,
    }
}

fn can_be_fixed(standing: Standing) -> bool {
    match standing {
        Standing::New
        | Standing::Open
        | Standing::Answered
        | Standing::Contested
        | Standing::Upheld
        | Standing::Regressed => true,
        Standing::Dismissed | Standing::Fixed => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(fingerprint: &str, standing: Standing) -> TrackedFinding {
        TrackedFinding {
            fingerprint: fingerprint.to_owned(),
            location: Location::default(),
            category: Category::Bug,
            severity: Severity::High,
            title: "x".to_owned(),
            code: "x".to_owned(),
            standing,
        }
    }

    fn stands(before: Option<Standing>, seen: bool, absence: Absence) -> String {
        let known = before.map(|standing| ("a".to_owned(), finding("a", standing)));
        let seen = seen.then(|| finding("a", Standing::New));
        let after = follow(
            &known.into_iter().collect(),
            seen.into_iter().collect(),
            |_| absence,
        );
        match after.first() {
            None => "not mentioned".to_owned(),
            Some(one) => format!("{:?}", one.standing).to_lowercase(),
        }
    }

    #[test]
    fn a_finding_over_two_reviews() {
        use Absence::{Gone, Unknown};
        for (before, seen, absence, expected) in [
            (None, true, Gone, "new"),
            (Some(Standing::New), true, Gone, "open"),
            (Some(Standing::Open), true, Gone, "open"),
            (Some(Standing::Fixed), true, Gone, "regressed"),
            (Some(Standing::Regressed), true, Gone, "regressed"),
            (Some(Standing::Dismissed), true, Gone, "dismissed"),
            (Some(Standing::Upheld), true, Gone, "upheld"),
            (Some(Standing::Open), false, Gone, "fixed"),
            (Some(Standing::Upheld), false, Gone, "fixed"),
            (Some(Standing::Regressed), false, Gone, "fixed"),
            (Some(Standing::Open), false, Unknown, "not mentioned"),
            (Some(Standing::Fixed), false, Gone, "not mentioned"),
            (Some(Standing::Dismissed), false, Gone, "not mentioned"),
        ] {
            assert_eq!(stands(before, seen, absence), expected, "{before:?} {seen}");
        }
    }

    #[test]
    fn names_are_short() {
        assert_eq!(finding("0123456789ab", Standing::New).id(), "f-01234567");
    }
}
