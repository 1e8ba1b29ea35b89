//! Phase 1: findings in canonical order, each once, with everything filled in.

use std::collections::BTreeMap;

use super::appraise::Signals;
use super::outcome::Reviewer;
use super::policy::Policy;
use super::terms::hash;
use super::{Input, appraise};
use crate::agent::family_of;
use crate::finding::{Category, Finding, Source};
use crate::review::Examination;
use crate::scale::Severity;

/// A finding with its blanks filled in.
#[derive(Debug, Clone)]
pub(super) struct Claim {
    /// What the reviewer reported.
    pub(super) finding: Finding,
    /// Its category, or that of the policy.
    pub(super) category: Category,
    /// Its severity, or that of the policy.
    pub(super) severity: Severity,
    /// Its confidence, or that of the policy, less what is taken off a late observation.
    pub(super) stated: i32,
    /// What it counts before anybody else is heard: stated, then appraised.
    pub(super) standing: i32,
    /// The number of its file, in the order of the files.
    pub(super) file: u32,
    /// The index of its family.
    pub(super) family: u16,
    /// What moved its standing, when the policy appraises.
    pub(super) signals: Signals,
}

/// All claims, sorted, and the panel that made them.
#[derive(Debug, Default)]
pub(super) struct Claims {
    pub(super) list: Vec<Claim>,
    pub(super) families: Vec<String>,
    pub(super) panel: Vec<Reviewer>,
    pub(super) silent: Vec<String>,
    pub(super) new_observations: u32,
    pub(super) problems: Vec<String>,
}

/// Returns the findings of `input` in canonical order. What was delivered twice counts once.
pub(super) fn normalize(input: &mut Input, policy: &Policy) -> Claims {
    let mut problems = Vec::new();
    let mut findings = std::mem::take(&mut input.findings);
    let late = late_observations(&mut input.examinations);
    findings.extend(late);
    for finding in &mut findings {
        fill_in(finding);
    }
    let mut findings = sorted_once(findings);
    tell_apart(&mut findings, &mut problems);
    let new_observations = findings
        .iter()
        .filter(|finding| finding.source == Source::Round2Observation)
        .count();
    let (panel, silent) = panel_of(input, &findings);
    let mut families: Vec<String> = panel.iter().map(|one| one.family.clone()).collect();
    families.extend(input.examinations.iter().map(|one| one.family.clone()));
    families.sort_unstable();
    families.dedup();
    let mut list = claims(findings, &families, policy);
    if policy.appraisal.is_some() || input.record.is_some() {
        appraise::appraise(&mut list, policy, input.record.as_ref());
    }
    Claims {
        list,
        families,
        panel,
        silent,
        new_observations: u32::try_from(new_observations).unwrap_or(u32::MAX),
        problems,
    }
}

/// Takes the new observations out of the examinations; they are findings from here on.
fn late_observations(examinations: &mut [Examination]) -> Vec<Finding> {
    let mut found = Vec::new();
    for examination in examinations {
        if examination.family.is_empty() {
            examination.family = family_of(&examination.reviewer, None);
        }
        for mut finding in std::mem::take(&mut examination.new_observations) {
            finding.source = Source::Round2Observation;
            finding.reviewer.clone_from(&examination.reviewer);
            finding.family.clone_from(&examination.family);
            found.push(finding);
        }
    }
    found
}

fn fill_in(finding: &mut Finding) {
    if finding.family.is_empty() {
        finding.family = family_of(&finding.reviewer, None);
    }
    if finding.severity.is_none() {
        finding.severity = finding.label.map(|label| label.severity());
    }
    if finding.id.is_empty() {
        finding.id = finding.spoken_name();
    }
}

/// Sorts by file and line, unknown lines last, then by everything else; what is equal in every
/// respect is kept once.
fn sorted_once(mut findings: Vec<Finding>) -> Vec<Finding> {
    let mut files: BTreeMap<&str, u32> = BTreeMap::new();
    let mut numbers: Vec<u32> = Vec::with_capacity(findings.len());
    for finding in &findings {
        let next = u32::try_from(files.len()).unwrap_or(u32::MAX);
        numbers.push(*files.entry(&finding.location.file).or_insert(next));
    }
    let mut ranks = vec![0_u32; files.len()];
    for (rank, number) in (0..).zip(files.into_values()) {
        ranks[number as usize] = rank;
    }
    // Numbers are compared first, so that few pairs need a look at the findings themselves.
    let mut order: Vec<(u32, u32, u32)> = (0..)
        .zip(&findings)
        .zip(&numbers)
        .map(|((index, finding), number)| {
            let line = finding.location.line.unwrap_or(u32::MAX);
            (ranks[*number as usize], line, index)
        })
        .collect();
    order.sort_unstable_by(|a, b| {
        let places = (a.0, a.1).cmp(&(b.0, b.1));
        places.then_with(|| findings[a.2 as usize].cmp(&findings[b.2 as usize]))
    });
    let mut sorted: Vec<Finding> = order
        .into_iter()
        .map(|(_, _, index)| std::mem::take(&mut findings[index as usize]))
        .collect();
    sorted.dedup();
    sorted
}

/// Gives different findings of one reviewer different ids, and says so.
fn tell_apart(findings: &mut [Finding], problems: &mut Vec<String>) {
    let key = |index: u32| {
        let finding = &findings[index as usize];
        (finding.id.as_str(), finding.reviewer.as_str())
    };
    // Hashes bring equal names together; the names themselves are compared only then.
    let mut hashes: Vec<(u64, u32)> = (0..)
        .zip(findings.iter())
        .map(|(index, finding)| (hash(&finding.reviewer, &finding.id), index))
        .collect();
    hashes.sort_unstable();
    let mut renamed = Vec::new();
    for same in hashes
        .chunk_by(|a, b| a.0 == b.0)
        .filter(|same| same.len() > 1)
    {
        let mut order: Vec<u32> = same.iter().map(|(_, index)| *index).collect();
        order.sort_unstable_by(|&a, &b| key(a).cmp(&key(b)).then(a.cmp(&b)));
        let mut nth = 1;
        for pair in order.windows(2) {
            nth = if key(pair[0]) == key(pair[1]) {
                nth + 1
            } else {
                1
            };
            if nth > 1 {
                renamed.push((pair[1], nth));
            }
        }
    }
    renamed.sort_unstable();
    for (index, nth) in renamed {
        let finding = &mut findings[index as usize];
        let name = format!("{}#{nth}", finding.id);
        let id = std::mem::replace(&mut finding.id, name);
        problems.push(format!(
            "{} reports two different findings as {id:?}; the second is called {:?}",
            finding.reviewer, finding.id
        ));
    }
}

/// Returns the panel, and those of its members from whom nothing came.
fn panel_of(input: &Input, findings: &[Finding]) -> (Vec<Reviewer>, Vec<String>) {
    let mut families: BTreeMap<&str, &str> = BTreeMap::new();
    for one in &input.panel {
        families.insert(&one.name, &one.family);
    }
    for finding in findings {
        let known = families.get(finding.reviewer.as_str());
        if known.is_none_or(|family| family.is_empty()) {
            families.insert(&finding.reviewer, &finding.family);
        }
    }
    let panel = families
        .iter()
        .map(|(&name, &family)| Reviewer {
            name: name.to_owned(),
            family: if family.is_empty() {
                family_of(name, None)
            } else {
                family.to_owned()
            },
        })
        .collect();
    let mut silent = input.silent.clone();
    silent.sort_unstable();
    silent.dedup();
    (panel, silent)
}

fn claims(findings: Vec<Finding>, families: &[String], policy: &Policy) -> Vec<Claim> {
    let defaults = &policy.defaults;
    let mut last_family = (String::new(), 0);
    let mut last_file = (String::new(), 0);
    findings
        .into_iter()
        .map(|finding| {
            if last_file.0 != finding.location.file {
                last_file = (finding.location.file.clone(), last_file.1 + 1);
            }
            if last_family.0 != finding.family {
                let index = families.binary_search(&finding.family).unwrap_or_default();
                let index = u16::try_from(index).unwrap_or(u16::MAX);
                last_family = (finding.family.clone(), index);
            }
            let stated = i32::from(finding.confidence.unwrap_or(defaults.confidence).get());
            let standing = match finding.source {
                Source::Round1 => stated,
                Source::Round2Observation => stated + policy.rounds.late,
            };
            Claim {
                category: finding.category.unwrap_or(defaults.category),
                severity: finding.severity.unwrap_or(defaults.severity),
                stated,
                standing,
                file: last_file.1,
                family: last_family.1,
                signals: Signals::default(),
                finding,
            }
        })
        .collect()
}
