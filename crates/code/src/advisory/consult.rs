//! What advisories say about a security finding.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use tribunal_core::consensus::AdvisoryOutcome;

use super::index::{Advisory, Index, Status, advisory};
use super::mention::Mentions;
use super::package::Package;

/// No finding needs more text to name its subject.
const MAX_TEXT_BYTES: usize = 256 << 10;

/// What a security finding says.
#[derive(Debug, Clone, Copy, Default)]
pub struct Claim<'a> {
    /// Its title.
    pub title: &'a str,
    /// Its description, evidence and suggestion.
    pub description: &'a str,
    /// Packages that it names in so many words, where somebody has collected them.
    pub packages: &'a [String],
}

/// What advisories say about a claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// An advisory describes a problem of the version in use.
    Confirmed {
        /// The advisory, as the finding cites it or by its own id.
        id: String,
        /// The package.
        package: String,
        /// The version in use.
        version: String,
    },
    /// An advisory describes the problem, and the version in use does not have it.
    PatchedInUsedVersion {
        /// The advisory, as the finding cites it or by its own id.
        id: String,
        /// The package.
        package: String,
        /// The version in use.
        version: String,
    },
    /// No advisory fits, which says nothing about the finding.
    Nothing,
}

impl From<Answer> for AdvisoryOutcome {
    fn from(answer: Answer) -> Self {
        match answer {
            Answer::Confirmed { id, .. } => Self::Confirmed(id),
            Answer::PatchedInUsedVersion { id, .. } => Self::Patched(id),
            Answer::Nothing => Self::Unknown,
        }
    }
}

/// Returns what the advisories of `index` say about `claim` in a project that uses `used`.
///
/// A cited advisory decides alone. Otherwise a named package is confirmed when an advisory
/// affects it: the one nearest to the words of the finding, then the worst. A package that is
/// only named counts as patched when the finding is about a dependency; nearly every package was
/// patched once, and that is no answer to a finding about the code that calls it.
#[must_use]
pub fn consult(index: &Index, claim: &Claim<'_>, used: &[Package]) -> Answer {
    let (text, mentions) = mentions(claim);
    let cited = cited(index, &mentions, used);
    if let Some(answer) = decide(&cited, &text) {
        return answer;
    }
    let named = used.iter().filter(|package| mentions.names(package));
    let named: Vec<Match<'_>> = named
        .flat_map(|package| {
            let advisories = index.matches(package).into_iter();
            let telling = advisories.filter(|advisory| match advisory.status {
                Status::Affected { .. } => true,
                Status::Patched { .. } => mentions.is_about_dependency,
                Status::Unaffected => false,
            });
            telling.map(move |advisory| Match {
                id: advisory.id.clone(),
                advisory,
                package,
            })
        })
        .collect();
    decide(&named, &text).unwrap_or(Answer::Nothing)
}

/// What a claim speaks of: all that somebody must look up before [`consult`] can answer.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Subjects {
    /// The packages in use that it names.
    pub packages: BTreeSet<Package>,
    /// What may be ids of advisories, in upper case.
    pub ids: BTreeSet<String>,
}

/// Returns what `claim` speaks of in a project that uses `used`.
#[must_use]
pub fn subjects(claim: &Claim<'_>, used: &[Package]) -> Subjects {
    let mentions = mentions(claim).1;
    let named = used.iter().filter(|package| mentions.names(package));
    Subjects {
        packages: named.cloned().collect(),
        ids: mentions.ids().map(str::to_owned).collect(),
    }
}

fn mentions(claim: &Claim<'_>) -> (String, Mentions) {
    let text = format!("{}\n{}", bounded(claim.title), bounded(claim.description));
    let mut mentions = Mentions::of(&text);
    for name in claim.packages {
        mentions.add_name(name);
    }
    (text, mentions)
}

/// An advisory about a package in use.
struct Match<'a> {
    /// How to call the advisory.
    id: String,
    advisory: Advisory,
    package: &'a Package,
}

fn cited<'a>(index: &Index, mentions: &Mentions, used: &'a [Package]) -> Vec<Match<'a>> {
    let mut found = Vec::new();
    for id in mentions.ids() {
        for record in index.cited(id) {
            for package in used {
                let name = package.ecosystem.normalize(&package.name);
                if let Some(advisory) = advisory(record, package, &name) {
                    let mut known = std::iter::once(&record.id).chain(&record.aliases);
                    let spelled = known.find(|known| known.eq_ignore_ascii_case(id));
                    found.push(Match {
                        id: spelled.unwrap_or(&record.id).clone(),
                        advisory,
                        package,
                    });
                }
            }
        }
    }
    found
}

/// Picks the answer: any affected version confirms, since the project uses it.
fn decide(matches: &[Match<'_>], text: &str) -> Option<Answer> {
    let words = significant_words(text);
    let best = matches.iter().min_by_key(|found| {
        let is_affected = matches!(found.advisory.status, Status::Affected { .. });
        let summary = significant_words(&found.advisory.summary);
        let shared = summary.intersection(&words).count();
        (
            Reverse(is_affected),
            Reverse(shared),
            Reverse(found.advisory.severity),
            &found.id,
            found.package,
        )
    })?;
    let id = best.id.clone();
    let package = best.package.name.clone();
    let version = best.package.version.clone();
    Some(match best.advisory.status {
        Status::Affected { .. } => Answer::Confirmed {
            id,
            package,
            version,
        },
        Status::Patched { .. } | Status::Unaffected => Answer::PatchedInUsedVersion {
            id,
            package,
            version,
        },
    })
}

fn significant_words(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_alphanumeric());
    let long = words.filter(|word| word.chars().count() > 3);
    long.map(str::to_lowercase).collect()
}

fn bounded(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_TEXT_BYTES)]
}
