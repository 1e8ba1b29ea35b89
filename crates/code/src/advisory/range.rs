//! Whether a version lies within the ranges of an advisory, as the OSV schema defines it.

use super::osv::{Affected, Event, Range, RangeKind};
use super::package::Ecosystem;
use super::version::Version;

/// How a version stands to an advisory about its package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Standing {
    /// It has the problem; the next version without it, if there is one.
    Affected { fixed_in: Option<String> },
    /// It comes after the problem; the version that ended it, if that is told.
    Patched { fixed_in: Option<String> },
    /// It never had the problem.
    Unaffected,
    /// The versions cannot be compared.
    Unknown,
}

/// Returns how `version` stands to all that an advisory says about its package.
pub(super) fn standing<'a>(
    ecosystem: Ecosystem,
    version: &str,
    affected: impl Iterator<Item = &'a Affected> + Clone,
) -> Standing {
    let parsed = Version::parse(ecosystem, version);
    let is_listed = affected.clone().any(|entry| {
        let mut versions = entry.versions.iter();
        versions.any(|listed| is_same(ecosystem, version, parsed.as_ref(), listed))
    });
    let Some(version) = parsed else {
        return if is_listed {
            Standing::Affected { fixed_in: None }
        } else {
            Standing::Unknown
        };
    };

    let mut fixes: Vec<(Version, String)> = Vec::new();
    let mut places = Vec::new();
    for entry in affected {
        let ranges = entry.ranges.iter();
        let mut ranges = ranges
            .filter(|range| range.kind != RangeKind::Other)
            .peekable();
        if ranges.peek().is_none() && !entry.versions.is_empty() {
            // A bare list tells the affected versions, and thereby the others too.
            places.push(Place::Outside);
        }
        for range in ranges {
            let Some(path) = Path::read(ecosystem, range, entry) else {
                places.push(Place::Unclear);
                continue;
            };
            places.push(path.place(&version));
            fixes.extend(path.fixes());
        }
    }
    fixes.sort();

    if is_listed || places.contains(&Place::Inside) {
        let next = fixes.into_iter().find(|(fix, _)| *fix > version);
        let fixed_in = next.map(|(_, text)| text);
        Standing::Affected { fixed_in }
    } else if places.is_empty() || places.contains(&Place::Unclear) {
        Standing::Unknown
    } else if places.contains(&Place::Behind) {
        let last = fixes.into_iter().rfind(|(fix, _)| *fix <= version);
        let fixed_in = last.map(|(_, text)| text);
        Standing::Patched { fixed_in }
    } else {
        Standing::Unaffected
    }
}

fn is_same(ecosystem: Ecosystem, text: &str, parsed: Option<&Version>, listed: &str) -> bool {
    text == listed || (parsed.is_some() && Version::parse(ecosystem, listed).as_ref() == parsed)
}

/// Where a version lies with respect to one range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Inside,
    /// After a part of the range that has ended.
    Behind,
    /// Before it, or beyond what it speaks of.
    Outside,
    Unclear,
}

/// The events of a range in the order of their versions.
struct Path {
    steps: Vec<Step>,
    limits: Vec<Version>,
    is_unlimited: bool,
}

/// The derived order is that of the versions. At one version the end of a range comes last, so
/// that a fixed version is never affected.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Step {
    /// `None` is the version before all others.
    at: Option<Version>,
    what: What,
    text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    Introduced,
    LastAffected,
    Fixed,
}

impl Path {
    /// Reads the events; `None` when one of them cannot be compared.
    fn read(ecosystem: Ecosystem, range: &Range, entry: &Affected) -> Option<Self> {
        let mut path = Self {
            steps: Vec::new(),
            limits: Vec::new(),
            is_unlimited: false,
        };
        for event in &range.events {
            path.push(ecosystem, event)?;
        }
        if path.steps.iter().all(|step| step.what == What::Introduced) {
            let noted = &entry.database_specific.last_known_affected_version_range;
            if let Some(bound) = noted.as_deref().and_then(noted_bound) {
                path.push(ecosystem, &bound)?;
            }
        }
        path.steps.sort();
        Some(path)
    }

    fn push(&mut self, ecosystem: Ecosystem, event: &Event) -> Option<()> {
        for (what, text) in [
            (What::Introduced, &event.introduced),
            (What::LastAffected, &event.last_affected),
            (What::Fixed, &event.fixed),
        ] {
            let Some(text) = text else { continue };
            let at = match (what, text.as_str()) {
                (What::Introduced, "0") => None,
                (_, version) => Some(Version::parse(ecosystem, version)?),
            };
            let text = text.clone();
            self.steps.push(Step { at, what, text });
        }
        match event.limit.as_deref() {
            None => {}
            Some("*") => self.is_unlimited = true,
            Some(limit) => self.limits.push(Version::parse(ecosystem, limit)?),
        }
        Some(())
    }

    fn place(&self, version: &Version) -> Place {
        let is_limited = !self.is_unlimited && !self.limits.is_empty();
        if is_limited && self.limits.iter().all(|limit| version >= limit) {
            return Place::Outside;
        }
        let mut place = Place::Outside;
        for step in &self.steps {
            let reached = step.at.as_ref().is_none_or(|at| version >= at);
            let passed = step.at.as_ref().is_none_or(|at| version > at);
            match step.what {
                What::Introduced if reached => place = Place::Inside,
                What::Fixed if reached => place = Place::Behind,
                What::LastAffected if passed => place = Place::Behind,
                _ => {}
            }
        }
        place
    }

    fn fixes(self) -> impl Iterator<Item = (Version, String)> {
        let fixes = self
            .steps
            .into_iter()
            .filter(|step| step.what == What::Fixed);
        fixes.filter_map(|step| Some((step.at?, step.text)))
    }
}

fn noted_bound(note: &str) -> Option<Event> {
    let note = note.trim();
    if let Some(version) = note.strip_prefix("<=") {
        let last_affected = Some(version.trim().to_owned());
        return Some(Event {
            last_affected,
            ..Event::default()
        });
    }
    let version = note.strip_prefix('<')?;
    // Nobody says that this version has a fix, only that the range ends before it.
    let fixed = Some(version.trim().to_owned());
    Some(Event {
        fixed,
        ..Event::default()
    })
}
