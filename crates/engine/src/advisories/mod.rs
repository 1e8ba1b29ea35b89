//! Security findings held against published advisories: which packages are in use, what is known
//! about them, and what that says about a finding.
//!
//! Records come from a local export or from an OSV-compatible server. A server is told only the
//! names of packages that findings speak of, and the ids that they cite.

mod export;
mod server;

use tribunal_code::advisory::{Claim, Index, Package, Subjects, read_packages, subjects};
use tribunal_core::consensus::{Advisory, AdvisoryOutcome};
use tribunal_core::finding::{Category, Finding};

pub use export::from_export;
pub(crate) use server::from_server;

/// More packages than this are not looked at.
const MOST_PACKAGES: usize = 200_000;

/// The packages in use, as lock files tell.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InUse {
    /// Each package and version once.
    pub packages: Vec<Package>,
    /// What could not be read, one sentence each.
    pub problems: Vec<String>,
}

impl InUse {
    /// Reads lock files, each with the name that tells its kind.
    pub fn of<'a>(files: impl IntoIterator<Item = (&'a str, &'a [u8])>) -> Self {
        let mut in_use = Self::default();
        for (name, bytes) in files {
            let found = read_packages(name, bytes);
            in_use.packages.extend(found.packages);
            in_use.problems.extend(found.problems.iter().map(sentence));
        }
        in_use.packages.sort_unstable();
        in_use.packages.dedup();
        in_use.packages.truncate(MOST_PACKAGES);
        in_use
    }
}

/// Returns what the advisories of `index` say about each security finding.
#[must_use]
pub fn consult(findings: &[Finding], index: &Index, packages: &[Package]) -> Vec<Advisory> {
    let security = findings.iter().filter(|one| is_security(one));
    let advisories = security.map(|finding| {
        let text = text_of(finding);
        let answer = tribunal_code::advisory::consult(index, &claim(finding, &text), packages);
        Advisory {
            finding_id: match finding.id.as_str() {
                "" => finding.spoken_name(),
                id => id.to_owned(),
            },
            reviewer: Some(finding.reviewer.clone()),
            outcome: AdvisoryOutcome::from(answer),
        }
    });
    advisories.collect()
}

/// Returns all that security findings speak of.
#[must_use]
pub(crate) fn subjects_of(findings: &[Finding], packages: &[Package]) -> Subjects {
    let mut all = Subjects::default();
    for finding in findings.iter().filter(|one| is_security(one)) {
        let text = text_of(finding);
        let found = subjects(&claim(finding, &text), packages);
        all.packages.extend(found.packages);
        all.ids.extend(found.ids);
    }
    all
}

/// Tells whether advisories have something to say about a finding at all.
pub(crate) fn is_security(finding: &Finding) -> bool {
    finding.category == Some(Category::Security)
}

fn claim<'a>(finding: &'a Finding, text: &'a str) -> Claim<'a> {
    Claim {
        title: &finding.title,
        description: text,
        packages: &[],
    }
}

fn text_of(finding: &Finding) -> String {
    let parts = [
        &finding.description,
        &finding.quote,
        &finding.trigger,
        &finding.suggestion,
    ];
    parts.map(String::as_str).join("\n")
}

fn sentence(problem: &tribunal_code::advisory::Problem) -> String {
    let line = problem
        .line
        .map_or_else(String::new, |line| format!(":{line}"));
    format!("{}{line}: {}", problem.file, problem.what)
}
