//! Which published advisories concern the packages that a project uses.
//!
//! Lock files become [`Package`]s, OSV records become an [`Index`], and [`consult`] holds a
//! security finding against both. Bytes come in and facts go out: fetching records and walking
//! directories is the caller's business. What cannot be read is reported as a [`Problem`], and
//! every input has a bound, since lock files and records are written by strangers.

mod builder;
mod consult;
mod index;
mod lock;
mod mention;
mod osv;
mod package;
mod range;
mod version;

pub use builder::IndexBuilder;
pub use consult::{Answer, Claim, Subjects, consult, subjects};
pub use index::{Advisory, Index, Status};
pub use lock::{LockKind, Packages, read_packages};
pub use osv::{
    Affected, AffectedPackage, DatabaseNotes, Event, Range, RangeKind, Record, RecordError, Score,
    read_records,
};
pub use package::{Ecosystem, Package};
pub use version::Version;

/// Something that could not be used, and where it stands.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// The lock file, export or record, as the caller named it.
    pub file: String,
    /// The line, counted from 1, where there is one.
    pub line: Option<u32>,
    /// What is wrong.
    pub what: String,
}
