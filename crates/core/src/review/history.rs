//! What becomes of a finding over several reviews: open, fixed, regressed.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::consensus::ClaimText;
use crate::finding::{Category, Label, Location};
use crate::review::identity::Claimed;
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
    /// The tag of the reviewer who is quoted, such as `MUST`. Version 0.1.0 did not record it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<Label>,
    /// The finding in one line, as it was put last.
    pub title: String,
    /// The cited line without its spaces, by which its absence is noticed.
    pub code: String,
    /// How it stands.
    pub standing: Standing,
    /// What each of its members claimed when it was seen last, the lead first. Version 0.1.0 did not
    /// record it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub claimed: Vec<Claimed>,
    /// How it stood on each branch when it was last reviewed there.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub branches: BTreeMap<String, Standing>,
}

impl TrackedFinding {
    /// Returns what its members claimed. Of what version 0.1.0 recorded that is the title, and the
    /// fingerprint names the place.
    #[must_use]
    pub fn claims(&self) -> Cow<'_, [Claimed]> {
        if !self.claimed.is_empty() {
            return Cow::Borrowed(&self.claimed);
        }
        Cow::Owned(vec![Claimed {
            place: self.fingerprint.clone(),
            category: self.category,
            rule: String::new(),
            text: ClaimText::of_title(&self.title),
            scope: String::new(),
            signature: String::new(),
        }])
    }

    /// Returns the tag and the severity, such as `MUST (high)`, or what is known of them.
    #[must_use]
    pub fn weight(&self) -> String {
        match self.label {
            Some(label) => label.with_severity(self.severity),
            None => self.severity.to_string(),
        }
    }

    /// Returns how it stood on a branch before a review there.
    ///
    /// Rulings hold on every branch. What another branch has, or had, is not new on this one.
    fn stood_on(&self, branch: Option<&str>) -> Standing {
        match self.standing {
            Standing::Contested | Standing::Upheld => return self.standing,
            Standing::New
            | Standing::Open
            | Standing::Answered
            | Standing::Dismissed
            | Standing::Fixed
            | Standing::Regressed => {}
        }
        let known = branch.and_then(|branch| self.branches.get(branch));
        match known {
            Some(standing) => *standing,
            None if self.branches.is_empty() => self.standing,
            None => Standing::Open,
        }
    }

    /// Tells whether a review of a branch can find it to be gone there.
    fn was_seen_on(&self, branch: Option<&str>) -> bool {
        let Some(branch) = branch else {
            return false;
        };
        self.branches.is_empty() || self.branches.contains_key(branch)
    }

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

/// A finding of a review, and whether rulings dismissed all that it claims.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// The finding. It carries any standing; the one before decides.
    pub finding: TrackedFinding,
    /// Whether it was dismissed.
    pub dismissed: bool,
}

/// Returns how every finding stands after a review of `branch`: those that were seen, in their order,
/// then those that are gone. What the review says nothing about is not mentioned.
///
/// Without a branch, as for a single commit, nothing is called fixed or back.
pub fn follow(
    known: &BTreeMap<String, TrackedFinding>,
    seen: Vec<Seen>,
    branch: Option<&str>,
    absence: impl Fn(&TrackedFinding) -> Absence,
) -> Vec<TrackedFinding> {
    let mut after: Vec<TrackedFinding> = Vec::with_capacity(seen.len());
    for Seen { finding, dismissed } in seen {
        let before = known.get(&finding.fingerprint);
        let upheld = before.is_some_and(|one| one.standing == Standing::Upheld);
        let standing = match dismissed && !upheld {
            true => Standing::Dismissed,
            false => seen_again(before.map(|one| one.stood_on(branch)), branch),
        };
        let branches = before.map(|one| one.branches.clone()).unwrap_or_default();
        after.push(finding.standing_on(branch, standing, branches));
    }
    let is_seen: BTreeSet<String> = after.iter().map(|one| one.fingerprint.clone()).collect();
    let gone = known
        .values()
        .filter(|one| one.was_seen_on(branch) && can_be_fixed(one.stood_on(branch)))
        .filter(|one| !is_seen.contains(&one.fingerprint) && absence(one) == Absence::Gone)
        .map(|one| {
            let branches = one.branches.clone();
            one.clone().standing_on(branch, Standing::Fixed, branches)
        });
    after.extend(gone);
    after
}

impl TrackedFinding {
    fn standing_on(
        self,
        branch: Option<&str>,
        standing: Standing,
        mut branches: BTreeMap<String, Standing>,
    ) -> Self {
        if let Some(branch) = branch {
            branches.insert(branch.to_owned(), standing);
        }
        Self {
            standing,
            branches,
            ..self
        }
    }
}

/// Returns how a finding stands that was seen, given how it stood before.
fn seen_again(before: Option<Standing>, branch: Option<&str>) -> Standing {
    match before {
        None => Standing::New,
        Some(Standing::Fixed | Standing::Regressed) if branch.is_some() => Standing::Regressed,
        // A dismissal that does not hold any more, or does not cover it, leaves it open.
        Some(
            Standing::New
            | Standing::Open
            | Standing::Answered
            | Standing::Dismissed
            | Standing::Fixed
            | Standing::Regressed,
        ) => Standing::Open,
        Some(ruled @ (Standing::Contested | Standing::Upheld)) => ruled,
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
            label: None,
            title: "x".to_owned(),
            code: "x".to_owned(),
            standing,
            claimed: Vec::new(),
            branches: BTreeMap::new(),
        }
    }

    fn stands(before: Option<Standing>, seen: bool, absence: Absence) -> String {
        let known = before.map(|standing| ("a".to_owned(), finding("a", standing)));
        let seen = seen.then(|| Seen {
            finding: finding("a", Standing::New),
            dismissed: before == Some(Standing::Dismissed),
        });
        let after = follow(
            &known.into_iter().collect(),
            seen.into_iter().collect(),
            Some("main"),
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
    fn every_branch_has_a_standing_of_its_own() {
        let review = |known: Vec<TrackedFinding>, branch: Option<&str>, seen: bool| {
            let known: BTreeMap<String, TrackedFinding> = known
                .into_iter()
                .map(|one| (one.fingerprint.clone(), one))
                .collect();
            let seen = seen.then(|| Seen {
                finding: finding("a", Standing::New),
                dismissed: false,
            });
            let seen = seen.into_iter().collect();
            let mut after = follow(&known, seen, branch, |_| Absence::Gone);
            after.pop().or_else(|| known.into_values().next())
        };
        let mut known = Vec::new();
        for (branch, seen, expected) in [
            (Some("topic"), true, Standing::New),
            // It is not on this branch, and never was: that fixes nothing.
            (Some("other"), false, Standing::New),
            (Some("topic"), true, Standing::Open),
            (Some("other"), true, Standing::Open),
            (Some("other"), false, Standing::Fixed),
            (Some("topic"), true, Standing::Open),
            (Some("other"), true, Standing::Regressed),
            // A commit by itself is no branch.
            (None, false, Standing::Regressed),
            (None, true, Standing::Open),
        ] {
            let one = review(std::mem::take(&mut known), branch, seen).expect("it is known");
            assert_eq!(one.standing, expected, "{branch:?} {seen}");
            known.push(one);
        }
    }

    #[test]
    fn a_ruling_holds_on_every_branch() {
        let mut upheld = finding("a", Standing::Upheld);
        upheld.branches.insert("topic".to_owned(), Standing::Upheld);
        assert_eq!(upheld.stood_on(Some("main")), Standing::Upheld);
    }

    #[test]
    fn names_are_short() {
        assert_eq!(finding("0123456789ab", Standing::New).id(), "f-01234567");
    }
}
