//! Phase 1: findings in canonical order, each once, with everything filled in.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::Input;
use super::evidence::Evidence;
use super::order::{repeated, sort_by_stretches};
use super::outcome::Reviewer;
use super::policy::Policy;
use super::reading::{AT_ONCE, Place, Reading, Readings, read};
use crate::agent::{family_named, family_of};
use crate::finding::{Category, Finding, Grounding, Source, canonical_path};
use crate::review::Examination;
use crate::scale::Severity;

/// A finding with its blanks filled in. It fits into one line of a cache: claims are looked up all
/// the time, and there may be a million of them.
#[derive(Debug, Clone)]
#[repr(align(64))]
pub(super) struct Claim<'a> {
    /// What the reviewer reported.
    pub(super) finding: &'a Finding,
    /// Its category, or that of the policy.
    pub(super) category: Category,
    /// Its severity, or that of the policy.
    pub(super) severity: Severity,
    /// Its confidence, or that of the policy.
    pub(super) stated: u8,
    /// What it counts before anybody else is heard: stated, less what is taken off a late
    /// observation, then appraised.
    pub(super) standing: i32,
    /// How it came to be reported.
    pub(super) source: Source,
    /// Its first and last line.
    pub(super) lines: Option<(u32, u32)>,
    /// Whether it names a function.
    in_function: bool,
    /// The length of its description and of its suggestion.
    pub(super) described: u32,
    pub(super) suggested: u32,
    /// The number of its file, in the order of the files.
    pub(super) file: u32,
    /// The number of its reviewer.
    pub(super) reviewer: u32,
    /// The index of its family.
    pub(super) family: u16,
    /// What it brings along to be believed.
    pub(super) evidence: Evidence,
    /// The hash of its title, and whether that has two words.
    pub(super) title: u64,
    pub(super) several_words: bool,
}

const _: () = assert!(size_of::<Claim<'_>>() <= 64);

impl<'a> Claim<'a> {
    /// Returns the function that it is about.
    pub(super) fn function(&self) -> Option<&'a str> {
        // A look at the finding itself is a look far away.
        let location = self.in_function.then_some(&self.finding.location)?;
        location.function.as_deref()
    }
}

/// All findings, what was read from them with their canonical order, and the panel that made them.
#[derive(Debug, Default)]
pub(super) struct Normalized {
    pub(super) findings: Vec<Finding>,
    pub(super) readings: Readings,
    pub(super) families: Vec<String>,
    pub(super) panel: Vec<Reviewer>,
    pub(super) silent: Vec<String>,
    pub(super) problems: Vec<String>,
}

/// Gives each family one spelling, so that two spellings are not two voices.
fn spell_families(input: &mut Input) {
    let panel = input.panel.iter_mut().map(|one| &mut one.family);
    let findings = input.findings.iter_mut().map(|one| &mut one.family);
    let examinations = input.examinations.iter_mut();
    for examination in examinations {
        let seen = examination.new_observations.iter_mut();
        let seen = seen.map(|one| &mut one.family);
        seen.chain([&mut examination.family]).for_each(spell);
    }
    panel.chain(findings).for_each(spell);
}

fn spell(family: &mut String) {
    let is_plain = |byte: u8| byte.is_ascii() && !byte.is_ascii_uppercase() && byte != b' ';
    if !family.bytes().all(is_plain) {
        *family = family_named(family);
    }
}

/// Returns the findings of `input` in canonical order. What was delivered twice counts once.
pub(super) fn normalize(input: &mut Input, policy: &Policy) -> Normalized {
    let mut problems = Vec::new();
    spell_families(input);
    let mut findings = std::mem::take(&mut input.findings);
    let late = late_observations(&mut input.examinations);
    findings.extend(late);
    spell_paths(&mut findings);
    let (mut readings, places) = read(&mut findings, policy);
    let (order, repeated) = sort_once(&findings, places, &readings.ranks);
    readings.forget(&repeated);
    readings.order = order;
    tell_apart(&mut findings, &readings, &mut problems);
    let (panel, silent) = panel_of(input, &findings, &readings);
    let mut families: Vec<String> = panel.iter().map(|one| one.family.clone()).collect();
    families.extend(input.examinations.iter().map(|one| one.family.clone()));
    families.sort_unstable();
    families.dedup();
    Normalized {
        findings,
        readings,
        families,
        panel,
        silent,
        problems,
    }
}

/// Gives every path that nobody has held against the code its one spelling. What a diff puts in front, `a/` or `b/`, goes where somebody
/// else names the same file without it and nobody has looked at the code.
fn spell_paths(findings: &mut [Finding]) {
    let mut prefixed = false;
    for finding in &mut *findings {
        let is_checked = finding.grounding != Grounding::Unchecked;
        let file = &mut finding.location.file;
        // A name that exists may begin with a blank.
        if let (false, Cow::Owned(spelled)) = (is_checked, canonical_path(file)) {
            *file = spelled;
        }
        prefixed |= without_prefix(file).is_some();
    }
    if !prefixed {
        return;
    }
    let files: BTreeSet<String> = findings
        .iter()
        .map(|finding| finding.location.file.clone())
        .collect();
    for finding in findings {
        let bare = without_prefix(&finding.location.file);
        let known = bare.filter(|bare| files.contains(*bare)).map(str::to_owned);
        if let Some(bare) = known.filter(|_| finding.grounding == Grounding::Unchecked) {
            finding.location.file = bare;
        }
    }
}

/// Returns a path without the letter that a diff puts in front of it.
pub(super) fn without_prefix(path: &str) -> Option<&str> {
    path.strip_prefix("a/").or_else(|| path.strip_prefix("b/"))
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

/// Fills in what a finding leaves out and the policy need not know of.
pub(super) fn fill_in(finding: &mut Finding) {
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

/// Sorts by file and line, unknown lines last, then by everything else; of what is equal in every
/// respect the first is kept. Returns where those that are kept lie, in order, and where the others.
fn sort_once(findings: &[Finding], places: Vec<Place>, ranks: &[u32]) -> (Vec<u32>, Vec<u32>) {
    // Places are compared first, so that few pairs need a look at the findings themselves.
    let compare = |a: &Place, b: &Place| {
        a.lines().cmp(&b.lines()).then_with(|| {
            let (one, other) = (a.in_all(findings), b.in_all(findings));
            let function = one.location.function.cmp(&other.location.function);
            function
                .then_with(|| one.category.cmp(&other.category))
                .then_with(|| one.cmp(other))
        })
    };
    let sort = |some: &mut [Place]| some.sort_unstable_by(compare);
    let order = sort_by_stretches(places, |place| ranks[place.file() as usize], sort);
    let mut kept: Vec<u32> = Vec::with_capacity(order.len());
    let mut repeated = Vec::new();
    let mut before: Option<Place> = None;
    for place in order {
        let repeats = before.is_some_and(|last| {
            last.lines() == place.lines() && last.in_all(findings) == place.in_all(findings)
        });
        if repeats {
            repeated.push(place.index);
        } else {
            kept.push(place.index);
            before = Some(place);
        }
    }
    (kept, repeated)
}

/// Gives different findings of one reviewer different ids, and says so.
fn tell_apart(findings: &mut [Finding], readings: &Readings, problems: &mut Vec<String>) {
    // Hashes bring equal names together; the names themselves are compared only then. Mostly there
    // are none, which bare numbers tell soonest.
    let again = repeated(readings.names.iter().copied());
    if again.is_empty() {
        return;
    }
    let order = &readings.order;
    let key = |index: u32| {
        let finding = &findings[order[index as usize] as usize];
        (finding.id.as_str(), finding.reviewer.as_str())
    };
    let names = order.iter().map(|&index| readings.names[index as usize]);
    let hashes = names.zip(0..).filter(|(name, _)| again.contains(name));
    let mut hashes: Vec<(u64, u32)> = hashes.collect();
    hashes.sort_unstable();
    let mut renamed = Vec::new();
    for same in hashes
        .chunk_by(|a, b| a.0 == b.0)
        .filter(|same| same.len() > 1)
    {
        let mut order: Vec<u32> = same.iter().map(|(_, index)| *index).collect();
        order.sort_unstable_by(|&a, &b| key(a).cmp(&key(b)).then(a.cmp(&b)));
        let again = order.windows(2).filter(|pair| key(pair[0]) == key(pair[1]));
        renamed.extend(again.map(|pair| pair[1]));
    }
    if renamed.is_empty() {
        return;
    }
    renamed.sort_unstable();
    // Somebody may use such names already.
    let numbered = findings.iter().filter(|finding| finding.id.contains('#'));
    let mut taken: BTreeSet<(String, String)> = numbered
        .map(|finding| (finding.reviewer.clone(), finding.id.clone()))
        .collect();
    let mut last: BTreeMap<(String, String), u32> = BTreeMap::new();
    for index in renamed {
        let finding = &mut findings[order[index as usize] as usize];
        let id = finding.id.clone();
        let number = last
            .entry((finding.reviewer.clone(), id.clone()))
            .or_insert(1);
        loop {
            *number += 1;
            finding.id = format!("{id}#{number}");
            if taken.insert((finding.reviewer.clone(), finding.id.clone())) {
                break;
            }
        }
        problems.push(format!(
            "{} reports two different findings as {id:?}; the second is called {:?}",
            finding.reviewer, finding.id
        ));
    }
}

/// Returns the panel, and those of its members from whom nothing came.
fn panel_of(
    input: &Input,
    findings: &[Finding],
    readings: &Readings,
) -> (Vec<Reviewer>, Vec<String>) {
    let mut families: BTreeMap<&str, &str> = BTreeMap::new();
    for one in &input.panel {
        families.insert(&one.name, &one.family);
    }
    let mut unheard = readings.reviewers.len();
    let mut seen = vec![false; unheard];
    for (&index, reading) in readings.order.iter().zip(readings.in_order()) {
        if unheard == 0 {
            break;
        }
        // The first finding of a reviewer in the order of places tells its family.
        if std::mem::replace(&mut seen[reading.reviewer as usize], true) {
            continue;
        }
        unheard -= 1;
        let finding = &findings[index as usize];
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

/// Returns the findings in canonical order with their blanks filled in, and that order.
pub(super) fn claims<'a>(
    findings: &'a [Finding],
    readings: Readings,
    families: &[String],
    policy: &Policy,
) -> (Vec<Claim<'a>>, Vec<u32>) {
    let index = |name: &String| {
        let found = families.binary_search(name).unwrap_or_default();
        u16::try_from(found).unwrap_or(u16::MAX)
    };
    let indices: Vec<u16> = readings.families.iter().map(index).collect();
    let mut file = (u32::MAX, 0);
    let mut claim = |(index, reading): (u32, Reading)| {
        if file.0 != reading.file {
            file = (reading.file, file.1 + 1);
        }
        let stated = i32::from(reading.stated);
        let standing = match reading.source {
            Source::Round1 | Source::Tool => stated,
            Source::Round2Observation => stated + policy.rounds.late,
        };
        Claim {
            finding: &findings[index as usize],
            category: reading.category,
            severity: reading.severity,
            stated: reading.stated,
            standing,
            source: reading.source,
            lines: reading.lines,
            in_function: reading.in_function,
            described: reading.described,
            suggested: reading.suggested,
            file: file.1,
            reviewer: reading.reviewer,
            family: indices[reading.family as usize],
            evidence: reading.evidence,
            title: reading.title,
            several_words: reading.several_words,
        }
    };
    let mut claims = Vec::with_capacity(readings.order.len());
    for some in readings.order.chunks(AT_ONCE) {
        readings.fetch(some);
        let read = some
            .iter()
            .map(|&index| (index, readings.list[index as usize]));
        claims.extend(read.map(&mut claim));
    }
    (claims, readings.order)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_family_is_one_voice_however_its_name_is_written() {
        let reviewer = |name: &str, family: &str| Reviewer {
            name: name.to_owned(),
            family: family.to_owned(),
        };
        let finding = |reviewer: &str, family: &str| Finding {
            reviewer: reviewer.to_owned(),
            family: family.to_owned(),
            title: "Division by zero".to_owned(),
            ..Finding::default()
        };
        let mut input = Input {
            panel: vec![reviewer("ann", "fa"), reviewer("bob", " FA ")],
            findings: vec![finding("ann", "Fa"), finding("bob", "FA")],
            ..Input::default()
        };
        let read = normalize(&mut input, &Policy::arena());
        assert_eq!(read.families, ["fa"]);
        assert_eq!(read.readings.families, ["fa"]);
    }
}
