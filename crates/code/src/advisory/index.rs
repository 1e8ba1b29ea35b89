//! Advisories by package and by id.

use std::cmp::Reverse;
use std::collections::HashMap;

use tribunal_core::scale::Severity;

use super::builder::IndexBuilder;
use super::osv::Record;
use super::package::{Ecosystem, Package};
use super::range::{Standing, standing};

/// Records that can be asked about packages; withdrawn ones are not among them.
#[derive(Debug, Clone, Default)]
pub struct Index {
    records: Vec<Record>,
    by_package: HashMap<(Ecosystem, String), Vec<usize>>,
    by_id: HashMap<String, Vec<usize>>,
}

/// What an advisory says about a package in use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Advisory {
    /// The id in its database.
    pub id: String,
    /// Ids of the same vulnerability elsewhere.
    pub aliases: Vec<String>,
    /// Whether the version in use has the problem.
    pub status: Status,
    /// One line about it.
    pub summary: String,
    /// How bad it is, where the record says so in a way we can read.
    pub severity: Option<Severity>,
}

/// Whether a version in use has the problem of an advisory.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// It has.
    Affected {
        /// The next version without it, if one is told.
        fixed_in: Option<String>,
    },
    /// It comes after the problem.
    Patched {
        /// The version that ended it, if one is told.
        fixed_in: Option<String>,
    },
    /// It never had the problem: it is older than it, or lies between two ranges.
    Unaffected,
}

impl Index {
    /// Builds an index of `records`; of two with the same id the newer one counts.
    #[must_use]
    pub fn from_records(records: impl IntoIterator<Item = Record>) -> Self {
        let mut builder = IndexBuilder::new();
        for record in records {
            builder.add_record(record);
        }
        builder.finish().0
    }

    /// Builds an index of records with different ids, none of them withdrawn.
    pub(super) fn of_distinct(records: Vec<Record>) -> Self {
        let mut index = Self::default();
        for (at, record) in records.iter().enumerate() {
            for id in std::iter::once(&record.id).chain(&record.aliases) {
                push_once(index.by_id.entry(id.to_ascii_uppercase()).or_default(), at);
            }
            for key in record.affected.iter().filter_map(|entry| entry.key()) {
                push_once(index.by_package.entry(key).or_default(), at);
            }
        }
        index.records = records;
        index
    }

    /// Returns how many records there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Tells whether there are no records.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Returns what the advisories about `package` say of its version: the affecting ones first,
    /// the worst of them first. An advisory whose versions cannot be compared is left out.
    #[must_use]
    pub fn matches(&self, package: &Package) -> Vec<Advisory> {
        let key = (
            package.ecosystem,
            package.ecosystem.normalize(&package.name),
        );
        let places = self.by_package.get(&key).map_or(&[][..], Vec::as_slice);
        let found = places.iter().map(|place| &self.records[*place]);
        let mut found: Vec<Advisory> = found
            .filter_map(|record| advisory(record, package, &key.1))
            .collect();
        found.sort_by_cached_key(|advisory| {
            let rank = match advisory.status {
                Status::Affected { .. } => 0,
                Status::Patched { .. } => 1,
                Status::Unaffected => 2,
            };
            (rank, Reverse(advisory.severity), advisory.id.clone())
        });
        found
    }

    /// Returns the records that have `id` as their id or alias, in any case.
    pub fn cited(&self, id: &str) -> impl Iterator<Item = &Record> {
        let places = self.by_id.get(&id.to_ascii_uppercase());
        let places = places.map_or(&[][..], Vec::as_slice);
        places.iter().map(|place| &self.records[*place])
    }
}

/// Returns what `record` says about a package whose normalized name is `name`.
pub(super) fn advisory(record: &Record, package: &Package, name: &str) -> Option<Advisory> {
    let about = record.affected.iter().filter(|entry| {
        let key = entry.key();
        key.is_some_and(|(ecosystem, other)| ecosystem == package.ecosystem && other == name)
    });
    about.clone().next()?;
    let status = match standing(package.ecosystem, &package.version, about) {
        Standing::Affected { fixed_in } => Status::Affected { fixed_in },
        Standing::Patched { fixed_in } => Status::Patched { fixed_in },
        Standing::Unaffected => Status::Unaffected,
        Standing::Unknown => return None,
    };
    Some(Advisory {
        id: record.id.clone(),
        aliases: record.aliases.clone(),
        status,
        summary: record.summary.clone(),
        severity: record.level(),
    })
}

fn push_once(places: &mut Vec<usize>, at: usize) {
    if places.last() != Some(&at) {
        places.push(at);
    }
}
