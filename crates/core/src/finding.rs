//! Findings: what a reviewer reports, where, and how it was worded.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::scale::{Confidence, Severity, UnknownWord};
use crate::text::shown_name;
use crate::word::shown_as_word;

/// One thing a reviewer reports about a change.
///
/// What the reviewer left out stays out: the policy of the consensus supplies the defaults, so
/// that a stated number and an assumed one can be told apart.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize, JsonSchema,
)]
#[serde(default, deny_unknown_fields)]
pub struct Finding {
    /// Where it is.
    pub location: Location,
    /// What kind of problem it is.
    pub category: Option<Category>,
    /// The name of the reviewer.
    pub reviewer: String,
    /// The reviewer's name for this finding; unique among the findings of one reviewer.
    pub id: String,
    /// The model family of the reviewer; empty when nobody said.
    pub family: String,
    /// The id of the rule that was broken, for findings of rules and linters; empty for others.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub rule: String,
    /// How bad it is.
    pub severity: Option<Severity>,
    /// How sure the reviewer is.
    pub confidence: Option<Confidence>,
    /// The tag as the reviewer wrote it.
    pub label: Option<Label>,
    /// The finding in one line.
    pub title: String,
    /// The finding in full.
    pub description: String,
    /// What to do about it; empty when the reviewer did not say.
    pub suggestion: String,
    /// Code that the reviewer quotes; empty when it quotes none.
    pub quote: String,
    /// Input or situation that makes the problem happen; empty when the reviewer names none.
    pub trigger: String,
    /// Whether the code that it points at was found to exist.
    pub grounding: Grounding,
    /// How it came to be reported.
    pub source: Source,
}

impl Finding {
    /// Returns the name by which messages of later rounds may call it: file, line and title.
    #[must_use]
    pub fn spoken_name(&self) -> String {
        match self.location.line {
            Some(line) => format!("{}:{line}:{}", self.location.file, self.title),
            None => format!("{}:{}", self.location.file, self.title),
        }
    }
}

/// A place in the code. An unknown file is the empty text.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize, JsonSchema,
)]
#[serde(default, deny_unknown_fields)]
pub struct Location {
    /// Path from the root of the repository.
    pub file: String,
    /// First line, counted from 1.
    pub line: Option<u32>,
    /// Last line; the first one when left out.
    pub end_line: Option<u32>,
    /// Name of the function or method around it, where a syntax tree told.
    pub function: Option<String>,
}

impl Location {
    /// Returns first and last line, in order.
    #[must_use]
    pub fn lines(&self) -> Option<(u32, u32)> {
        let first = self.line?;
        Some((first, self.end_line.unwrap_or(first).max(first)))
    }
}

/// Returns the one spelling of a path: from the root of the repository, with slashes, without `./`
/// and what else a reviewer puts around it. Most paths need no copy for that.
#[must_use]
pub fn canonical_path(path: &str) -> Cow<'_, str> {
    let odd = |byte: u8| matches!(byte, b'\\' | b'`' | b'"') || byte.is_ascii_whitespace();
    let plain = !path.starts_with(['.', '/'])
        && !path.contains("//")
        && !path.contains("/./")
        && !path.bytes().any(odd);
    if plain {
        return Cow::Borrowed(path);
    }
    let marks = |c: char| c.is_whitespace() || matches!(c, '`' | '"' | '\'');
    let slashes = path.trim_matches(marks).replace('\\', "/");
    let parts = slashes.split('/');
    let parts: Vec<&str> = parts.filter(|part| !matches!(*part, "" | ".")).collect();
    Cow::Owned(parts.join("/"))
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.file.as_str() {
            "" => f.write_str("(no file)")?,
            file => f.write_str(&shown_name(file))?,
        }
        match self.lines() {
            Some((first, last)) if last > first => write!(f, ":{first}-{last}"),
            Some((first, _)) => write!(f, ":{first}"),
            None => Ok(()),
        }
    }
}

/// What kind of problem a finding is about.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Category {
    /// Somebody can be harmed through it.
    Security,
    /// It does the wrong thing.
    Bug,
    /// It is built in the wrong way.
    Architecture,
    /// It is too slow or too big.
    Performance,
    /// It is not tested enough.
    TestCoverage,
    /// Anything else.
    Other,
}

impl Category {
    /// All categories, in the order in which they are listed.
    pub const ALL: [Self; 6] = [
        Self::Security,
        Self::Bug,
        Self::Architecture,
        Self::Performance,
        Self::TestCoverage,
        Self::Other,
    ];

    /// Returns the word used in reports and the ledger.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Security => "security",
            Self::Bug => "bug",
            Self::Architecture => "architecture",
            Self::Performance => "performance",
            Self::TestCoverage => "test-coverage",
            Self::Other => "other",
        }
    }
}

shown_as_word!(Category);

impl FromStr for Category {
    type Err = UnknownWord;

    fn from_str(text: &str) -> Result<Self, UnknownWord> {
        let word = text.trim().to_ascii_lowercase().replace(['_', ' '], "-");
        match word.as_str() {
            "security" | "vulnerability" => Ok(Self::Security),
            "bug" | "bugs" | "correctness" | "logic" | "error-handling" => Ok(Self::Bug),
            "architecture" | "design" | "maintainability" => Ok(Self::Architecture),
            "performance" => Ok(Self::Performance),
            "test-coverage" | "test" | "tests" | "testing" => Ok(Self::TestCoverage),
            "other" | "style" | "documentation" => Ok(Self::Other),
            _ => Err(UnknownWord::new(
                "category",
                text,
                "security, bug, architecture, performance, test-coverage, other",
            )),
        }
    }
}

/// The tag as a reviewer wrote it.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "UPPERCASE")]
pub enum Label {
    /// To be done; an opinion of weight.
    Must,
    /// Should be done.
    Should,
    /// Severity critical.
    Critical,
    /// Severity high.
    High,
    /// Severity medium.
    Medium,
    /// Severity low.
    Low,
}

impl Label {
    /// All labels, in the order in which they are listed.
    pub const ALL: [Self; 6] = [
        Self::Must,
        Self::Should,
        Self::Critical,
        Self::High,
        Self::Medium,
        Self::Low,
    ];

    /// Returns the word as it stands in a tag.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Must => "MUST",
            Self::Should => "SHOULD",
            Self::Critical => "CRITICAL",
            Self::High => "HIGH",
            Self::Medium => "MEDIUM",
            Self::Low => "LOW",
        }
    }

    /// Returns both, such as `MUST (high)`; one word where they say the same.
    #[must_use]
    pub fn with_severity(self, severity: Severity) -> String {
        match self.as_str().eq_ignore_ascii_case(severity.as_str()) {
            true => severity.as_str().to_owned(),
            false => format!("{self} ({severity})"),
        }
    }

    /// Returns the severity that the label stands for.
    #[must_use]
    pub fn severity(self) -> Severity {
        match self {
            Self::Critical => Severity::Critical,
            Self::Must | Self::High => Severity::High,
            Self::Should | Self::Medium => Severity::Medium,
            Self::Low => Severity::Low,
        }
    }
}

shown_as_word!(Label);

impl FromStr for Label {
    type Err = UnknownWord;

    fn from_str(text: &str) -> Result<Self, UnknownWord> {
        let word = text.trim();
        Self::ALL
            .into_iter()
            .find(|label| word.eq_ignore_ascii_case(label.as_str()))
            .ok_or_else(|| {
                UnknownWord::new("label", text, "MUST, SHOULD, CRITICAL, HIGH, MEDIUM, LOW")
            })
    }
}

/// Whether the code that a finding points at exists, as checked outside of the core.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Default,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Grounding {
    /// Nobody looked.
    #[default]
    Unchecked,
    /// File, line, quoted code and names are there.
    Confirmed,
    /// Some of it is there, or the line lies far from the change.
    Doubtful,
    /// The file, the line or the quoted code does not exist.
    Refuted,
}

/// How a finding came to be reported.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Default,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// By a reviewer working alone.
    #[default]
    Round1,
    /// By a program, whose confidence was earned by tests and not said by a model.
    Tool,
    /// While examining the findings of others.
    #[serde(rename = "round2_observation")]
    Round2Observation,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_has_one_spelling() {
        for (given, expected) in [
            ("src/db.rs", "src/db.rs"),
            ("./src/db.rs", "src/db.rs"),
            ("/src/db.rs", "src/db.rs"),
            ("src\\db.rs", "src/db.rs"),
            (".\\src\\db.rs", "src/db.rs"),
            ("src//./db.rs", "src/db.rs"),
            (" `src/db.rs` ", "src/db.rs"),
            (".github/ci.yml", ".github/ci.yml"),
            ("docs/my page.md", "docs/my page.md"),
            ("../up.rs", "../up.rs"),
            ("", ""),
            ("./", ""),
        ] {
            assert_eq!(canonical_path(given), expected, "{given:?}");
        }
    }

    #[test]
    fn labels_map_to_severities() {
        let severities = Label::ALL.map(|label| format!("{label} {}", label.severity()));
        assert_eq!(
            severities,
            [
                "MUST high",
                "SHOULD medium",
                "CRITICAL critical",
                "HIGH high",
                "MEDIUM medium",
                "LOW low"
            ]
        );
    }

    #[test]
    fn category_words_are_those_of_serde_and_unknown_ones_are_refused() {
        for category in Category::ALL {
            let json = serde_json::to_string(&category).expect("a unit variant serializes");
            assert_eq!(json, format!("\"{category}\""));
            assert_eq!(category.as_str().parse(), Ok(category));
        }
        assert!("bugfix".parse::<Category>().is_err());
    }

    #[test]
    fn a_range_that_ends_before_it_starts_is_one_line() {
        let location = Location {
            file: "a.rs".to_owned(),
            line: Some(9),
            end_line: Some(3),
            function: None,
        };
        assert_eq!(location.lines(), Some((9, 9)));
        assert_eq!(location.to_string(), "a.rs:9");
    }
}
