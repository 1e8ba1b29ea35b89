//! Records of the OSV schema, as much of them as matching needs.
//!
//! Unknown fields are ignored, and what only describes a record never spoils it: a list of
//! aliases or a score in an unexpected shape is empty. The affected packages must be right.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use thiserror::Error;
use tribunal_core::scale::Severity;

use super::package::{Ecosystem, from_purl};

/// No single record or answer is longer; the longest known ones have less than a tenth.
pub(super) const MAX_RECORD_BYTES: usize = 32 << 20;

/// One advisory.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default)]
pub struct Record {
    /// The id in its database, such as `RUSTSEC-2021-0003`.
    #[serde(deserialize_with = "lenient")]
    pub id: String,
    /// Ids of the same vulnerability elsewhere.
    #[serde(deserialize_with = "lenient_list")]
    pub aliases: Vec<String>,
    /// One line about it.
    #[serde(deserialize_with = "lenient")]
    pub summary: String,
    /// How bad it is, by one or more measures.
    #[serde(deserialize_with = "lenient_list")]
    pub severity: Vec<Score>,
    /// Which versions of which packages have it.
    #[serde(deserialize_with = "null_is_default")]
    pub affected: Vec<Affected>,
    /// When it was taken back; such a record says nothing any more.
    #[serde(deserialize_with = "lenient")]
    pub withdrawn: Option<String>,
    /// When it was published.
    #[serde(deserialize_with = "lenient")]
    pub published: Option<String>,
    /// When it was last changed.
    #[serde(deserialize_with = "lenient")]
    pub modified: Option<String>,
    /// What its database adds.
    #[serde(deserialize_with = "lenient")]
    pub database_specific: DatabaseNotes,
}

/// A severity by one measure.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default)]
pub struct Score {
    /// The value: a CVSS vector, or a word.
    #[serde(deserialize_with = "lenient")]
    pub score: String,
}

/// What a database adds to a record or to a package of it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default)]
pub struct DatabaseNotes {
    /// The severity as a word.
    #[serde(deserialize_with = "lenient")]
    pub severity: Option<String>,
    /// An upper bound such as `<= 1.2.3`, from a time when events could not express it.
    #[serde(deserialize_with = "lenient")]
    pub last_known_affected_version_range: Option<String>,
}

/// Versions of one package.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default)]
pub struct Affected {
    /// The package; records about a repository have none.
    #[serde(deserialize_with = "null_is_default")]
    pub package: AffectedPackage,
    /// Ranges of versions; each of them suffices.
    #[serde(deserialize_with = "null_is_default")]
    pub ranges: Vec<Range>,
    /// Single versions; each of them suffices.
    #[serde(deserialize_with = "null_is_default")]
    pub versions: Vec<String>,
    /// What the ecosystem adds, such as functions; kept as it is.
    #[serde(deserialize_with = "lenient")]
    pub ecosystem_specific: Value,
    /// What the database adds.
    #[serde(deserialize_with = "lenient")]
    pub database_specific: DatabaseNotes,
}

impl Affected {
    /// Returns the ecosystem and the normalized name, when it is an ecosystem we know.
    pub(super) fn key(&self) -> Option<(Ecosystem, String)> {
        let package = &self.package;
        match Ecosystem::from_osv(&package.ecosystem) {
            Some(ecosystem) if !package.name.is_empty() => {
                Some((ecosystem, ecosystem.normalize(&package.name)))
            }
            _ => from_purl(&package.purl),
        }
    }
}

/// The package of an [`Affected`].
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default)]
pub struct AffectedPackage {
    /// The ecosystem in the words of OSV.
    #[serde(deserialize_with = "lenient")]
    pub ecosystem: String,
    /// The name in that ecosystem.
    #[serde(deserialize_with = "lenient")]
    pub name: String,
    /// The package URL.
    #[serde(deserialize_with = "lenient")]
    pub purl: String,
}

/// A range of versions, told by what happens along the way.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default)]
pub struct Range {
    /// What its events speak of.
    #[serde(rename = "type")]
    pub kind: RangeKind,
    /// The events, in any order.
    #[serde(deserialize_with = "null_is_default")]
    pub events: Vec<Event>,
}

/// What the events of a range speak of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
pub enum RangeKind {
    /// Semantic versions.
    #[serde(rename = "SEMVER")]
    Semver,
    /// Versions in the order of the ecosystem.
    #[serde(rename = "ECOSYSTEM")]
    Ecosystem,
    /// Commits, of which lock files tell nothing; or something newer than this program.
    #[default]
    #[serde(rename = "GIT", other)]
    Other,
}

/// A step of a range; each object has one of the four, some old ones have two.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default)]
pub struct Event {
    /// The first affected version; `0` comes before all.
    #[serde(deserialize_with = "text_or_number")]
    pub introduced: Option<String>,
    /// The first version without the problem.
    #[serde(deserialize_with = "text_or_number")]
    pub fixed: Option<String>,
    /// The last version with the problem.
    #[serde(deserialize_with = "text_or_number")]
    pub last_affected: Option<String>,
    /// The version from which on the range says nothing; `*` is none.
    #[serde(deserialize_with = "text_or_number")]
    pub limit: Option<String>,
}

impl Record {
    /// Returns how bad it is: by the highest CVSS score, else by the word of its database.
    #[must_use]
    pub fn level(&self) -> Option<Severity> {
        let scored = self
            .severity
            .iter()
            .filter_map(|score| level_of(&score.score))
            .max();
        scored.or_else(|| level_of(self.database_specific.severity.as_deref()?))
    }
}

/// Why bytes are no records.
#[derive(Debug, Error)]
pub enum RecordError {
    /// More than any record has.
    #[error("{bytes} bytes are too many for a record (at most {MAX_RECORD_BYTES})")]
    TooLarge {
        /// How many there are.
        bytes: usize,
    },
    /// Not JSON, or not in the shape of a record.
    #[error("not an OSV record")]
    Shape(#[from] serde_json::Error),
    /// A record without an id cannot be cited.
    #[error("a record has no id")]
    NoId,
}

/// Reads one record, a list of records, or the answer of an OSV server (`{"vulns": […]}`).
///
/// # Errors
///
/// Fails when the bytes are too many, not JSON, or in another shape, or when an id is missing.
pub fn read_records(bytes: &[u8]) -> Result<Vec<Record>, RecordError> {
    #[derive(Deserialize)]
    struct ServerAnswer {
        vulns: Vec<Record>,
    }
    if bytes.len() > MAX_RECORD_BYTES {
        return Err(RecordError::TooLarge { bytes: bytes.len() });
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    if bytes.trim_ascii_start().starts_with(b"[") {
        return with_ids(serde_json::from_slice(bytes)?);
    }
    let record: Record = serde_json::from_slice(bytes)?;
    if !record.id.is_empty() {
        return Ok(vec![record]);
    }
    let answer: ServerAnswer = serde_json::from_slice(bytes).map_err(|_| RecordError::NoId)?;
    with_ids(answer.vulns)
}

fn with_ids(records: Vec<Record>) -> Result<Vec<Record>, RecordError> {
    if records.iter().any(|record| record.id.is_empty()) {
        return Err(RecordError::NoId);
    }
    Ok(records)
}

fn level_of(score: &str) -> Option<Severity> {
    if let Ok(vector) = score.parse::<cvss::Cvss>() {
        return match vector.severity() {
            cvss::Severity::None => None,
            cvss::Severity::Low => Some(Severity::Low),
            cvss::Severity::Medium => Some(Severity::Medium),
            cvss::Severity::High => Some(Severity::High),
            cvss::Severity::Critical => Some(Severity::Critical),
        };
    }
    match score.to_ascii_lowercase().as_str() {
        "low" => Some(Severity::Low),
        "medium" | "moderate" => Some(Severity::Medium),
        "high" => Some(Severity::High),
        "critical" => Some(Severity::Critical),
        _ => None,
    }
}

fn null_is_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

fn lenient<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned + Default,
{
    let value = Value::deserialize(deserializer)?;
    Ok(serde_json::from_value(value).unwrap_or_default())
}

fn lenient_list<'de, D, T>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned,
{
    let Value::Array(list) = Value::deserialize(deserializer)? else {
        return Ok(Vec::new());
    };
    let readable = list
        .into_iter()
        .filter_map(|item| serde_json::from_value(item).ok());
    Ok(readable.collect())
}

/// Some hand-written records say `introduced: 0` without quotes.
fn text_or_number<'de, D>(deserializer: D) -> Result<Option<String>, D::Error>
where
    D: Deserializer<'de>,
{
    match Value::deserialize(deserializer)? {
        Value::Null => Ok(None),
        Value::String(text) => Ok(Some(text)),
        Value::Number(number) => Ok(Some(number.to_string())),
        _ => Err(serde::de::Error::custom("a version is a text")),
    }
}
