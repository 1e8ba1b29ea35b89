//! Phase 1: findings in canonical order, each once, with everything filled in.

use std::collections::{BTreeMap, BTreeSet};

use super::appraise::Signals;
use super::evidence::Evidence;
use super::order::{Numbers, rearrange, repeated, sort_by_stretches};
use super::outcome::Reviewer;
use super::policy::Policy;
use super::record::Record;
use super::terms::{hash_of_parts, title_hash};
use super::{Input, appraise};
use crate::agent::family_of;
use crate::finding::{Category, Finding, Location, Source};
use crate::review::Examination;
use crate::scale::Severity;

/// A finding with its blanks filled in.
#[derive(Debug, Clone)]
pub(super) struct Claim<'a> {
    /// What the reviewer reported.
    pub(super) finding: &'a Finding,
    /// Its category, or that of the policy.
    pub(super) category: Category,
    /// Its severity, or that of the policy.
    pub(super) severity: Severity,
    /// Its confidence, or that of the policy, less what is taken off a late observation.
    pub(super) stated: i32,
    /// What it counts before anybody else is heard: stated, then appraised.
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
    pub(super) title: (u64, bool),
    /// What moved its standing, when the policy appraises.
    pub(super) signals: Signals,
}

impl<'a> Claim<'a> {
    /// Returns the function that it is about.
    pub(super) fn function(&self) -> Option<&'a str> {
        // A look at the finding itself is a look far away.
        let location = self.in_function.then_some(&self.finding.location)?;
        location.function.as_deref()
    }
}

/// What is read from a finding, once and in the order of arrival: findings and their texts lie in
/// memory as they came, and a walk along them is several times faster than jumps in sorted order.
#[derive(Debug, Clone, Copy)]
struct Reading {
    /// Its file, reviewer and family by number.
    file: u32,
    reviewer: u32,
    family: u32,
    /// The hash of its reviewer and id.
    name: u64,
    title: (u64, bool),
    evidence: Evidence,
    category: Category,
    severity: Severity,
    stated: u8,
    source: Source,
    lines: Option<(u32, u32)>,
    in_function: bool,
    described: u32,
    suggested: u32,
}

/// All findings as they were read, and the names behind the numbers.
#[derive(Debug, Default)]
pub(super) struct Readings {
    list: Vec<Reading>,
    /// Which of them belongs to each finding in canonical order.
    order: Vec<u32>,
    reviewers: Vec<String>,
    families: Vec<String>,
}

impl Readings {
    /// Returns the readings in the order of the findings that they belong to.
    fn in_order(&self) -> impl Iterator<Item = &Reading> {
        self.order.iter().map(|&index| &self.list[index as usize])
    }
}

/// All findings in canonical order, each once, and the panel that made them.
#[derive(Debug, Default)]
pub(super) struct Normalized {
    pub(super) findings: Vec<Finding>,
    pub(super) readings: Readings,
    pub(super) families: Vec<String>,
    pub(super) panel: Vec<Reviewer>,
    pub(super) silent: Vec<String>,
    pub(super) new_observations: u32,
    pub(super) problems: Vec<String>,
}

/// Returns the findings of `input` in canonical order. What was delivered twice counts once.
pub(super) fn normalize(input: &mut Input, policy: &Policy) -> Normalized {
    let mut problems = Vec::new();
    let mut findings = std::mem::take(&mut input.findings);
    let late = late_observations(&mut input.examinations);
    findings.extend(late);
    for finding in &mut findings {
        fill_in(finding);
    }
    let (mut readings, places) = read(&findings, policy);
    readings.order = sort_once(&mut findings, places);
    tell_apart(&mut findings, &readings, &mut problems);
    let new_observations = findings
        .iter()
        .filter(|finding| finding.source == Source::Round2Observation)
        .count();
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

/// Where a finding stands, and which one it is.
#[derive(Debug, Clone, Copy)]
struct Place {
    /// Its file by rank and its line, unknown lines last.
    start: u64,
    /// Its last line.
    end: u32,
    index: u32,
}

impl Place {
    fn of(location: &Location, file: u32, index: u32) -> Self {
        let line = location.line.unwrap_or(u32::MAX);
        Self {
            start: u64::from(file) << 32 | u64::from(line),
            end: location.end_line.map_or(0, |end| end.saturating_add(1)),
            index,
        }
    }

    fn file(self) -> u32 {
        (self.start >> 32) as u32
    }

    fn lines(self) -> (u64, u32) {
        (self.start, self.end)
    }

    fn in_all(self, findings: &[Finding]) -> &Finding {
        &findings[self.index as usize]
    }
}

/// Reads all findings, and returns the place of each.
fn read(findings: &[Finding], policy: &Policy) -> (Readings, Vec<Place>) {
    let mut files = Numbers::for_names(findings.len());
    let mut reviewers = Numbers::for_names(64);
    let mut families = Numbers::for_names(64);
    let mut list: Vec<Reading> = Vec::with_capacity(findings.len());
    for some in findings.chunks(16) {
        fetch(some);
        list.extend(some.iter().map(|finding| {
            let severity = finding.severity.unwrap_or(policy.defaults.severity);
            Reading {
                file: files.number(&finding.location.file),
                reviewer: reviewers.number(&finding.reviewer),
                family: families.number(&finding.family),
                name: hash_of_parts(&finding.reviewer, &finding.id),
                title: title_hash(&finding.title),
                evidence: Evidence::of(finding, severity),
                category: finding.category.unwrap_or(policy.defaults.category),
                severity,
                stated: finding
                    .confidence
                    .unwrap_or(policy.defaults.confidence)
                    .get(),
                source: finding.source,
                lines: finding.location.lines(),
                in_function: finding.location.function.is_some(),
                described: length_of(&finding.description),
                suggested: length_of(&finding.suggestion),
            }
        }));
    }
    let ranks = files.ranks();
    let places = findings.iter().zip(&list).zip(0..);
    let places = places.map(|((finding, reading), index)| {
        Place::of(&finding.location, ranks[reading.file as usize], index)
    });
    let places = places.collect();
    let owned = |names: Vec<&str>| names.into_iter().map(str::to_owned).collect();
    let readings = Readings {
        list,
        order: Vec::new(),
        reviewers: owned(reviewers.into_names()),
        families: owned(families.into_names()),
    };
    (readings, places)
}

fn length_of(text: &str) -> u32 {
    u32::try_from(text.len()).unwrap_or(u32::MAX)
}

/// Looks at the start of every text, so that memory is asked for all of them at once and not for
/// one after the other as they are read.
fn fetch(findings: &[Finding]) {
    let mut seen = 0;
    for finding in findings {
        let texts = [
            &finding.location.file,
            &finding.reviewer,
            &finding.family,
            &finding.id,
            &finding.title,
            &finding.description,
            &finding.suggestion,
        ];
        for text in texts {
            seen ^= text.as_bytes().first().copied().unwrap_or(0);
        }
        seen ^= finding.description.as_bytes().get(64).copied().unwrap_or(0);
    }
    std::hint::black_box(seen);
}

/// Sorts by file and line, unknown lines last, then by everything else; what is equal in every
/// respect is kept once. Returns where each came from.
fn sort_once(findings: &mut Vec<Finding>, places: Vec<Place>) -> Vec<u32> {
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
    let order = sort_by_stretches(places, |place| place.file(), sort);
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
    let left = kept.len();
    kept.append(&mut repeated);
    rearrange(findings, kept.clone(), extent);
    findings.truncate(left);
    kept.truncate(left);
    kept
}

/// Looks at a finding from its first field to its last.
fn extent(finding: &Finding) -> usize {
    finding.id.len()
        ^ finding.location.file.len()
        ^ finding.title.len()
        ^ finding.description.len()
        ^ finding.suggestion.len()
        ^ finding.quote.len()
        ^ finding.trigger.len()
        ^ finding.grounding as usize
}

/// Gives different findings of one reviewer different ids, and says so.
fn tell_apart(findings: &mut [Finding], readings: &Readings, problems: &mut Vec<String>) {
    let key = |index: u32| {
        let finding = &findings[index as usize];
        (finding.id.as_str(), finding.reviewer.as_str())
    };
    // Hashes bring equal names together; the names themselves are compared only then. Mostly there
    // are none, which bare numbers tell soonest.
    let names = || readings.in_order().map(|reading| reading.name);
    let again = repeated(names().collect());
    if again.is_empty() {
        return;
    }
    let hashes = names().zip(0..).filter(|(name, _)| again.contains(name));
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
        let finding = &mut findings[index as usize];
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
    let mut seen = vec![false; readings.reviewers.len()];
    for (finding, reading) in findings.iter().zip(readings.in_order()) {
        // The first finding of a reviewer in the order of places tells its family.
        if std::mem::replace(&mut seen[reading.reviewer as usize], true) {
            continue;
        }
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

/// Returns the findings with their blanks filled in, and appraised if the policy says so.
pub(super) fn claims<'a>(
    findings: &'a [Finding],
    readings: &Readings,
    families: &[String],
    policy: &Policy,
    record: Option<&Record>,
) -> Vec<Claim<'a>> {
    let index = |name: &String| {
        let found = families.binary_search(name).unwrap_or_default();
        u16::try_from(found).unwrap_or(u16::MAX)
    };
    let indices: Vec<u16> = readings.families.iter().map(index).collect();
    let mut file = (u32::MAX, 0);
    let claim = |(finding, reading): (&'a Finding, &Reading)| {
        if file.0 != reading.file {
            file = (reading.file, file.1 + 1);
        }
        let stated = i32::from(reading.stated);
        let standing = match reading.source {
            Source::Round1 | Source::Tool => stated,
            Source::Round2Observation => stated + policy.rounds.late,
        };
        Claim {
            finding,
            category: reading.category,
            severity: reading.severity,
            stated,
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
            signals: Signals::default(),
        }
    };
    let read = findings.iter().zip(readings.in_order());
    let mut claims: Vec<Claim<'a>> = read.map(claim).collect();
    if policy.appraisal.is_some() {
        appraise::appraise(&mut claims, policy, record);
    }
    claims
}
