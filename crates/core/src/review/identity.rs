//! Which finding of an earlier review is this: an identity by place and claim.
//!
//! The place alone does not make a finding: two claims about one line are two findings, and a ruling
//! covers the claims that were shown to whoever ruled and nothing else. So every finding carries what
//! each of its members claims, and is found again by that.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::consensus::ClaimText;
use crate::finding::Category;
use crate::ids::DisputeId;
use crate::review::history::TrackedFinding;
use crate::review::report::Standing;
use crate::time::Timestamp;

/// The score of a claim that is found again as it was.
const AS_IT_WAS: u32 = 1_000;

/// The score of a claim that is found again in other words.
const RESTATED: u32 = 900;

/// What one member of a finding claims, and about which place.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Claimed {
    /// The name of the place: file, category, enclosing code, line and its number among equal ones.
    pub place: String,
    /// What kind of problem it is.
    pub category: Category,
    /// The id of the rule that was broken; empty unless a rule or a linter says so.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub rule: String,
    /// What it says.
    pub text: ClaimText,
    /// The names of the code around the place, joined by dots. Version 0.1.0 did not record it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub scope: String,
    /// What tells that code apart from other code with these names, such as parameters.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub signature: String,
}

/// A claim of the review at hand. Its place has a name for each category that it could be of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SightedClaim {
    /// The claim.
    pub claimed: Claimed,
    /// The file that it is about; empty for none.
    pub file: String,
    /// The name of its place in each category, in the order of [`Category::ALL`].
    pub places: Vec<String>,
    /// The same as version 0.1.0 named it, where that is another name and means one place.
    pub earlier_places: Vec<String>,
    /// Whether no other code of the file has the names around the place.
    pub is_only: bool,
    /// Whether the place is a line of code that exists.
    pub has_code: bool,
}

/// A finding of the review at hand: all that its members claim, the lead first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sighting {
    /// The claims, the lead first; at least one.
    pub claims: Vec<SightedClaim>,
}

/// A ruling that dismissed a finding, and still holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dismissal {
    /// The finding as it was when the dispute began.
    pub finding: TrackedFinding,
    /// The dispute.
    pub dispute: DisputeId,
    /// When it was ruled.
    pub at: Timestamp,
}

/// A dismissed finding that a new one resembles. The ruling does not cover the new one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SimilarDismissal {
    /// The short name of the dismissed finding.
    pub finding: String,
    /// Its title.
    pub title: String,
    /// The dispute.
    pub dispute: DisputeId,
    /// When it was ruled.
    pub at: Timestamp,
}

impl SimilarDismissal {
    /// Returns it as part of a sentence: `similar to one dismissed on 2026-01-15 (dispute d-1a2b)`.
    #[must_use]
    pub fn phrase(&self) -> String {
        let (date, dispute) = (self.at.date(), &self.dispute);
        format!("similar to one dismissed on {date} (dispute {dispute})")
    }
}

/// A finding of an earlier review, with what it claimed.
struct Known<'a> {
    finding: &'a TrackedFinding,
    claims: Cow<'a, [Claimed]>,
    standing: Standing,
}

impl<'a> Known<'a> {
    fn of(finding: &'a TrackedFinding) -> Self {
        Self {
            claims: finding.claims(),
            standing: finding.standing,
            finding,
        }
    }
}

/// What is known about a finding of the review at hand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recognized {
    /// Its identity.
    pub fingerprint: String,
    /// Whether a ruling dismissed all that it claims.
    pub dismissed: bool,
    /// A dismissed finding that it resembles, where the ruling does not cover it.
    pub similar: Option<SimilarDismissal>,
}

/// Recognizes the findings of a review among those that are known, each at most once; what is not
/// known gets a name of its own from `mint`, which is called with a number until the name is free.
#[must_use]
pub fn recognize(
    sightings: &[Sighting],
    known: &[TrackedFinding],
    dismissals: &[Dismissal],
    mint: impl Fn(&Sighting, u32) -> String,
) -> Vec<Recognized> {
    let rulings: Vec<(&Dismissal, Known<'_>)> = dismissals
        .iter()
        .map(|one| (one, Known::of(&one.finding)))
        .collect();
    let dismissed: Vec<bool> = sightings
        .iter()
        .map(|sighting| sighting.is_dismissed(&rulings))
        .collect();
    let holds: BTreeSet<&str> = dismissals
        .iter()
        .map(|one| one.finding.fingerprint.as_str())
        .collect();
    let mut all: Vec<Known<'_>> = known.iter().map(Known::of).collect();
    for one in &mut all {
        // A dismissal that was dropped or is too old leaves the finding open.
        let lapsed = !holds.contains(one.finding.fingerprint.as_str());
        if one.standing == Standing::Dismissed && lapsed {
            one.standing = Standing::Open;
        }
    }
    let mut by_place: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (index, one) in all.iter().enumerate() {
        for claim in one.claims.iter() {
            by_place.entry(&claim.place).or_default().push(index);
        }
    }
    let mut matches: Vec<(Reverse<u32>, usize, &str)> = Vec::new();
    for (index, sighting) in sightings.iter().enumerate() {
        let claims = sighting.claims.iter();
        let places = claims.flat_map(|claim| claim.places.iter().chain(&claim.earlier_places));
        let here = places.filter_map(|place| by_place.get(place.as_str()));
        let here: BTreeSet<usize> = here.flatten().copied().collect();
        for one in here.into_iter().map(|index| &all[index]) {
            let score = sighting.score(one, dismissed[index]);
            let name = one.finding.fingerprint.as_str();
            matches.extend(score.map(|score| (Reverse(score), index, name)));
        }
    }
    matches.sort_unstable();
    let mut names: Vec<Option<String>> = vec![None; sightings.len()];
    let mut taken: BTreeSet<String> = BTreeSet::new();
    for (_, index, fingerprint) in matches {
        if names[index].is_none() && !taken.contains(fingerprint) {
            taken.insert(fingerprint.to_owned());
            names[index] = Some(fingerprint.to_owned());
        }
    }
    taken.extend(known.iter().map(|one| one.fingerprint.clone()));
    let ruled = dismissals.iter().map(|one| one.finding.fingerprint.clone());
    taken.extend(ruled);
    let mut recognized = Vec::with_capacity(sightings.len());
    for ((sighting, name), dismissed) in sightings.iter().zip(names).zip(dismissed) {
        let fingerprint = name.unwrap_or_else(|| {
            let mut minted = (0..).map(|number| mint(sighting, number));
            let free = minted.find(|name| !taken.contains(name));
            free.unwrap_or_default()
        });
        taken.insert(fingerprint.clone());
        let similar = match dismissed {
            true => None,
            false => sighting.similar(&rulings),
        };
        recognized.push(Recognized {
            fingerprint,
            dismissed,
            similar,
        });
    }
    recognized
}

impl Sighting {
    /// Tells whether rulings cover all that it claims.
    fn is_dismissed(&self, rulings: &[(&Dismissal, Known<'_>)]) -> bool {
        let covers = |claim: &SightedClaim| {
            let mut rulings = rulings.iter();
            rulings.any(|(_, ruled)| claim.is_covered_by(ruled))
        };
        self.claims.iter().all(covers)
    }

    /// Returns how sure it is that a known finding is this one; nothing when it is another.
    ///
    /// What was dismissed, or waits for a ruling, is found again only as it was shown. What was upheld
    /// is found again in other words, too, because it counts either way.
    fn score(&self, known: &Known<'_>, dismissed: bool) -> Option<u32> {
        let covered = || self.claims.iter().all(|claim| claim.is_covered_by(known));
        let restated = || self.claims.iter().any(|claim| claim.is_restated_by(known));
        let allowed = match known.standing {
            Standing::Dismissed => dismissed && covered(),
            Standing::Contested => covered(),
            Standing::Upheld => restated(),
            Standing::New
            | Standing::Open
            | Standing::Answered
            | Standing::Fixed
            | Standing::Regressed => true,
        };
        if !allowed {
            return None;
        }
        let claims = self.claims.iter();
        claims.filter_map(|claim| claim.score(known)).max()
    }

    /// Returns a dismissed finding that it resembles: one about the same line, else one about another
    /// line of the same code, which is what an edited line is.
    fn similar(&self, rulings: &[(&Dismissal, Known<'_>)]) -> Option<SimilarDismissal> {
        let alike = |(_, ruled): &&(&Dismissal, Known<'_>)| {
            let mut claims = self.claims.iter();
            claims.any(|claim| claim.is_like(ruled))
        };
        let near = |(_, ruled): &&(&Dismissal, Known<'_>)| {
            let mut claims = self.claims.iter();
            claims.any(|claim| claim.is_near(ruled))
        };
        let found = rulings.iter().find(alike);
        let (ruling, _) = found.or_else(|| rulings.iter().find(near))?;
        Some(SimilarDismissal {
            finding: ruling.finding.id(),
            title: ruling.finding.title.clone(),
            dispute: ruling.dispute.clone(),
            at: ruling.at,
        })
    }
}

impl SightedClaim {
    /// Returns the name of its place, as it would be in a category.
    fn place_in(&self, category: Category) -> &str {
        let known = Category::ALL.iter().zip(&self.places);
        let mut found = known.filter(|(one, _)| **one == category);
        found.next().map_or(&self.claimed.place, |(_, place)| place)
    }

    /// Tells whether a known claim is about this place, and not about another in code of the same name:
    /// an overload, or a second definition. What was recorded before those were told apart is found
    /// again only where there is one such piece of code.
    fn is_at(&self, known: &Claimed) -> bool {
        let is_same_code = self.is_only || self.claimed.signature == known.signature;
        if self.place_in(known.category) == known.place {
            return is_same_code;
        }
        let is_old = known.scope.is_empty() && known.signature.is_empty();
        let mut earlier = Category::ALL.iter().zip(&self.earlier_places);
        is_old && earlier.any(|(one, place)| *one == known.category && *place == known.place)
    }

    /// Tells whether a finding claims just this at this place: by the same rule about the same code, or
    /// under the same title and category, with every sentence of it.
    fn is_covered_by(&self, known: &Known<'_>) -> bool {
        known.claims.iter().any(|one| self.is_shown_in(one))
    }

    /// Tells whether a finding claims this at this place, perhaps in other words that name the same
    /// things.
    fn is_restated_by(&self, known: &Known<'_>) -> bool {
        let mut claims = known.claims.iter();
        claims.any(|one| self.is_shown_in(one) || self.is_restated_in(one))
    }

    /// Returns how sure it is that a known finding claims this at this place.
    fn score(&self, known: &Known<'_>) -> Option<u32> {
        let score = |one: &Claimed| {
            if self.is_shown_in(one) {
                Some(AS_IT_WAS)
            } else if self.is_restated_in(one) {
                Some(RESTATED)
            } else {
                self.likeness_if_same(one)
            }
        };
        known.claims.iter().filter_map(score).max()
    }

    fn is_shown_in(&self, known: &Claimed) -> bool {
        let own = &self.claimed;
        if !own.rule.is_empty() && own.rule == known.rule {
            return self.is_at(known) && self.has_code;
        }
        self.may_be_claim_of(known) && own.text.is_as_shown(&known.text)
    }

    fn is_restated_in(&self, known: &Claimed) -> bool {
        let is_of_rule = !self.claimed.rule.is_empty() && self.claimed.rule == known.rule;
        !is_of_rule && self.may_be_claim_of(known) && self.claimed.text.restates(&known.text)
    }

    /// Tells whether place, rule and category are those of a known claim.
    fn may_be_claim_of(&self, known: &Claimed) -> bool {
        let own = &self.claimed;
        // Version 0.1.0 recorded the title of a rule's finding, and not the rule.
        let may_be_old = known.rule.is_empty() && known.text.is_title_only();
        let is_same_rule = own.rule == known.rule || may_be_old;
        self.is_at(known) && is_same_rule && own.category == known.category
    }

    /// Tells whether a known finding claims the like of this about the same code, on whatever line. No
    /// ruling covers that; the reader is only told of it.
    fn is_near(&self, known: &Known<'_>) -> bool {
        let own = &self.claimed;
        let is_same_claim = |one: &Claimed| {
            let is_said_alike = own.text.is_like(&one.text);
            own.rule == one.rule
                && own.scope == one.scope
                && (!own.rule.is_empty() || is_said_alike)
        };
        !self.file.is_empty()
            && self.file == known.finding.location.file
            && known.claims.iter().any(is_same_claim)
    }

    /// Tells whether a known finding claims the like of this about the same line.
    fn is_like(&self, known: &Known<'_>) -> bool {
        let is_alike = |one: &Claimed| {
            let own = &self.claimed;
            let is_said_alike = own.rule == one.rule && own.text.is_like(&one.text);
            self.is_shown_in(one) || self.is_at(one) && is_said_alike
        };
        known.claims.iter().any(is_alike)
    }

    /// Returns how alike this and a known claim are, if they are one finding.
    fn likeness_if_same(&self, known: &Claimed) -> Option<u32> {
        let own = &self.claimed;
        let is_one =
            self.is_at(known) && own.rule == known.rule && own.text.is_same_finding_as(&known.text);
        is_one.then(|| own.text.likeness(&known.text).min(RESTATED - 1))
    }
}

#[cfg(test)]
mod tests;
