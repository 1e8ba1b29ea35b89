//! The one walk along all findings, in which everything is read that later phases need.
//!
//! Findings and their texts lie in memory as they came, and a walk along them is several times
//! faster than jumps in sorted order.

use super::evidence::Evidence;
use super::normalize::fill_in;
use super::order::Numbers;
use super::policy::Policy;
use super::terms::{hash_of_parts, title_hash};
use crate::finding::{Category, Finding, Location, Source};
use crate::scale::Severity;

/// What is read from a finding. It fits into one line of a cache, as it is looked up out of order.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
pub(super) struct Reading {
    /// The hash of its title.
    pub(super) title: u64,
    /// Whether its title has two words.
    pub(super) several_words: bool,
    pub(super) evidence: Evidence,
    pub(super) category: Category,
    pub(super) severity: Severity,
    pub(super) stated: u8,
    pub(super) source: Source,
    pub(super) lines: Option<(u32, u32)>,
    pub(super) in_function: bool,
    pub(super) described: u32,
    pub(super) suggested: u32,
    /// Its file, reviewer and family by number.
    pub(super) file: u32,
    pub(super) reviewer: u32,
    pub(super) family: u32,
}

const _: () = assert!(size_of::<Reading>() <= 64);

/// All findings as they were read, in the order of arrival, and the names behind the numbers.
#[derive(Debug, Default)]
pub(super) struct Readings {
    pub(super) list: Vec<Reading>,
    /// The hash of the reviewer and id of each.
    pub(super) names: Vec<u64>,
    /// Which of them belongs to each finding in canonical order.
    pub(super) order: Vec<u32>,
    pub(super) reviewers: Vec<String>,
    pub(super) families: Vec<String>,
    /// The rank of each file among all files.
    pub(super) ranks: Vec<u32>,
    /// How many were first reported in round 2.
    pub(super) new_observations: u32,
}

impl Readings {
    /// Returns the readings in canonical order.
    pub(super) fn in_order(&self) -> impl Iterator<Item = &Reading> {
        self.order.iter().map(|&index| &self.list[index as usize])
    }

    /// Looks at some readings that will be needed, all at once.
    pub(super) fn fetch(&self, some: &[u32]) {
        let seen = some.iter().map(|&index| self.list[index as usize].file);
        std::hint::black_box(seen.fold(0, |all, file| all ^ file));
    }

    /// Leaves findings out that were delivered before.
    pub(super) fn forget(&mut self, repeated: &[u32]) {
        for &index in repeated {
            let is_late = self.list[index as usize].source == Source::Round2Observation;
            self.new_observations -= u32::from(is_late);
        }
    }
}

/// Where a finding stands, and which one it is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    /// Its file by number and its line, unknown lines last.
    start: u64,
    /// Its last line.
    end: u32,
    pub(super) index: u32,
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

    pub(super) fn file(self) -> u32 {
        (self.start >> 32) as u32
    }

    /// Returns what places of one file are sorted by.
    pub(super) fn lines(self) -> (u64, u32) {
        (self.start, self.end)
    }

    pub(super) fn in_all(self, findings: &[Finding]) -> &Finding {
        &findings[self.index as usize]
    }
}

/// So many findings are fetched from memory together.
pub(super) const AT_ONCE: usize = 16;

/// Fills in and reads all findings, and returns the place of each.
pub(super) fn read(findings: &mut [Finding], policy: &Policy) -> (Readings, Vec<Place>) {
    let number = findings.len();
    let mut files = Numbers::for_names(number);
    let mut reviewers = Numbers::for_names(64);
    let mut families = Numbers::for_names(64);
    let mut readings = Readings {
        list: Vec::with_capacity(number),
        names: Vec::with_capacity(number),
        ..Readings::default()
    };
    let mut places = Vec::with_capacity(number);
    let mut index = 0;
    for some in findings.chunks_mut(AT_ONCE) {
        fetch(some);
        some.iter_mut().for_each(fill_in);
        let some: &[Finding] = some;
        for finding in some {
            let severity = finding.severity.unwrap_or(policy.defaults.severity);
            let confidence = finding.confidence.unwrap_or(policy.defaults.confidence);
            let (title, several_words) = title_hash(&finding.title);
            let file = files.number(&finding.location.file);
            places.push(Place::of(&finding.location, file, index));
            let reviewer = reviewers.number(&finding.reviewer);
            readings.names.push(hash_of_parts(reviewer, &finding.id));
            readings.new_observations += u32::from(finding.source == Source::Round2Observation);
            readings.list.push(Reading {
                title,
                several_words,
                evidence: Evidence::of(finding, severity),
                category: finding.category.unwrap_or(policy.defaults.category),
                severity,
                stated: confidence.get(),
                source: finding.source,
                lines: finding.location.lines(),
                in_function: finding.location.function.is_some(),
                described: length_of(&finding.description),
                suggested: length_of(&finding.suggestion),
                file,
                reviewer,
                family: families.number(&finding.family),
            });
            index += 1;
        }
    }
    let owned = |names: Vec<&str>| names.into_iter().map(str::to_owned).collect();
    readings.ranks = files.ranks();
    readings.reviewers = owned(reviewers.into_names());
    readings.families = owned(families.into_names());
    (readings, places)
}

fn length_of(text: &str) -> u32 {
    u32::try_from(text.len()).unwrap_or(u32::MAX)
}

/// Looks at both ends of every text, so that memory is asked for all of them at once and not for
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
            if let ([first, ..], [.., last]) = (text.as_bytes(), text.as_bytes()) {
                seen ^= first ^ last;
            }
        }
        seen ^= finding.description.as_bytes().get(64).copied().unwrap_or(0);
    }
    std::hint::black_box(seen);
}
