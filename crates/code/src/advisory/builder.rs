//! Builds an index from records, JSON files and zip exports.

use std::collections::{BTreeMap, HashSet};
use std::io::{Read, Seek};

use super::Problem;
use super::index::Index;
use super::osv::{MAX_RECORD_BYTES, Record, read_records};
use super::package::{Ecosystem, Package};

/// No export unpacks to more; the largest public one has less than a tenth.
const MAX_EXPORT_BYTES: u64 = 16 << 30;

/// More problems than this are only counted.
const MAX_PROBLEMS: usize = 100;

/// Collects records and what went wrong with them.
#[derive(Debug, Default)]
pub struct IndexBuilder {
    /// Ordered, so that the index does not depend on the order of arrival.
    records: BTreeMap<String, Record>,
    only: Option<HashSet<(Ecosystem, String)>>,
    problems: Vec<Problem>,
    problems_left_out: usize,
}

impl IndexBuilder {
    /// Starts without records.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Starts an index that keeps only what concerns `packages`.
    ///
    /// It answers all questions about them as the full index would and stays small beside
    /// exports of hundreds of thousands of records.
    #[must_use]
    pub fn for_packages(packages: &[Package]) -> Self {
        let keys = packages.iter().map(|package| {
            (
                package.ecosystem,
                package.ecosystem.normalize(&package.name),
            )
        });
        Self {
            only: Some(keys.collect()),
            ..Self::default()
        }
    }

    /// Adds a record; of two with the same id the newer one counts.
    pub(crate) fn add_record(&mut self, record: Record) {
        let is_wanted = self.only.as_ref().is_none_or(|only| {
            let mut keys = record.affected.iter().filter_map(|entry| entry.key());
            keys.any(|key| only.contains(&key))
        });
        // A withdrawn record is kept until the end: it may replace an older, living one.
        if !is_wanted && !self.records.contains_key(&record.id) {
            return;
        }
        match self.records.get(&record.id) {
            Some(known) if known.modified > record.modified => {}
            _ => {
                self.records.insert(record.id.clone(), record);
            }
        }
    }

    /// Adds the records of a JSON file or of a server's answer.
    pub fn add_json(&mut self, file: &str, bytes: &[u8]) {
        match read_records(bytes) {
            Ok(records) => records
                .into_iter()
                .for_each(|record| self.add_record(record)),
            Err(error) => {
                let source = std::error::Error::source(&error);
                let cause = source.map_or(String::new(), |cause| format!(": {cause}"));
                self.report(file, format!("{error}{cause}"));
            }
        }
    }

    /// Adds the records of a zip export, in which every `.json` entry is one.
    pub fn add_zip(&mut self, file: &str, export: impl Read + Seek) {
        let mut archive = match zip::ZipArchive::new(export) {
            Ok(archive) => archive,
            Err(error) => return self.report(file, format!("not a zip export: {error}")),
        };
        let mut unpacked = 0;
        for at in 0..archive.len() {
            let entry = match archive.by_index(at) {
                Ok(entry) => entry,
                Err(error) => {
                    self.report(file, format!("entry {at} cannot be read: {error}"));
                    continue;
                }
            };
            let name = match entry.name() {
                Ok(name) => format!("{file}:{name}"),
                Err(_) => format!("{file}:{at}"),
            };
            if entry.is_dir() || !name.ends_with(".json") {
                continue;
            }
            // The stated size is a claim; what is read is bounded whatever it says.
            let mut bytes = Vec::new();
            let mut bounded = entry.take(MAX_RECORD_BYTES as u64 + 1);
            match bounded.read_to_end(&mut bytes) {
                Ok(_) => self.add_json(&name, &bytes),
                Err(error) => self.report(&name, format!("cannot be unpacked: {error}")),
            }
            unpacked += bytes.len() as u64;
            if unpacked > MAX_EXPORT_BYTES {
                let what = format!("the export is too large; entries after {at} were not read");
                return self.report(file, what);
            }
        }
    }

    /// Returns the index and what could not be read.
    #[must_use]
    pub fn finish(mut self) -> (Index, Vec<Problem>) {
        if self.problems_left_out > 0 {
            self.problems.push(Problem {
                file: String::new(),
                line: None,
                what: format!("{} more problems", self.problems_left_out),
            });
        }
        let records = self.records.into_values();
        let living = records.filter(|record| record.withdrawn.is_none());
        (Index::of_distinct(living.collect()), self.problems)
    }

    fn report(&mut self, file: &str, what: String) {
        if self.problems.len() >= MAX_PROBLEMS {
            self.problems_left_out += 1;
            return;
        }
        self.problems.push(Problem {
            file: file.to_owned(),
            line: None,
            what,
        });
    }
}
