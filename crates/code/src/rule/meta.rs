//! What a rule says about itself: domain, label, reason, and the examples that test it.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use tribunal_core::finding::{Category, Label};
use tribunal_core::scale::Confidence;

use crate::language::Language;

/// The narrow field that a built-in reviewer looks after.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Domain {
    /// Ways in for an attacker.
    Security,
    /// Code that does something else than it seems to.
    Correctness,
    /// Tests that prove less than they seem to.
    Tests,
    /// Rules that the project brought along.
    Project,
}

impl Domain {
    /// The domains that have built-in rules.
    pub const BUILTIN: [Self; 3] = [Self::Security, Self::Correctness, Self::Tests];

    /// Returns the word used in config and reports.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Security => "security",
            Self::Correctness => "correctness",
            Self::Tests => "tests",
            Self::Project => "project",
        }
    }
}

impl fmt::Display for Domain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Domain {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        match text {
            "security" => Ok(Self::Security),
            "correctness" => Ok(Self::Correctness),
            "tests" => Ok(Self::Tests),
            "project" => Ok(Self::Project),
            _ => Err(()),
        }
    }
}

/// Where a rule applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// Everywhere.
    Anywhere,
    /// In product code. In tests, security rules report at level LOW and others are silent.
    Product,
    /// In test code only.
    Tests,
}

impl Scope {
    /// Returns the label of a hit in a test or elsewhere; nothing where the rule is silent.
    ///
    /// A test is known by its path, and the author of a change chooses paths: no path silences a
    /// security rule.
    pub(super) fn label_at(self, domain: Domain, label: Label, is_test: bool) -> Option<Label> {
        match self {
            Self::Anywhere => Some(label),
            Self::Tests => is_test.then_some(label),
            Self::Product if !is_test => Some(label),
            Self::Product => (domain == Domain::Security).then_some(Label::Low),
        }
    }
}

/// What is known of a rule besides how it matches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RuleInfo {
    /// Its name, unique within a language.
    pub id: String,
    /// The reviewer that it belongs to.
    pub domain: Domain,
    /// The language that it reads; nothing for rules on the text of any file.
    pub language: Option<Language>,
    /// The finding in one line; may name meta variables.
    pub message: String,
    /// Why it matters.
    pub reason: String,
    /// What to do instead.
    pub suggestion: String,
    /// The tag that its findings carry.
    pub label: Label,
    /// What kind of problem it finds.
    pub category: Category,
    /// How far its findings are to be trusted.
    pub confidence: Confidence,
    /// What it cannot see, where that lowered the confidence.
    pub doubt: Option<String>,
    /// Where it applies.
    pub scope: Scope,
}

/// Source text that a rule must, or must not, hit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Example {
    /// The rule that brought it.
    pub rule: String,
    /// The language it is written in.
    pub language: Language,
    /// The path it pretends to have.
    pub path: &'static str,
    /// The text.
    pub source: String,
    /// The lines that must be hit; none for a good example.
    pub lines: Vec<u32>,
}

/// The `metadata` of a rule file. Users may leave out all of it.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Metadata {
    /// Further languages for which the same rule is compiled.
    pub(crate) also: Vec<Language>,
    pub(crate) category: Option<String>,
    pub(crate) label: Option<String>,
    pub(crate) scope: Option<Scope>,
    pub(crate) suggestion: Option<String>,
    /// Points taken off the confidence, and why.
    pub(crate) doubt: Option<Doubt>,
    /// Code that the rule must hit. Lines ending in `HIT` are hit; without any, the first is.
    pub(crate) bad: Vec<String>,
    /// Code that the rule must leave alone.
    pub(crate) good: Vec<String>,
}

/// What a rule cannot see, and what that costs.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Doubt {
    pub(crate) points: u8,
    pub(crate) because: String,
}

impl Metadata {
    /// Returns the confidence that the examples have earned.
    ///
    /// Every example of a rule is a test that it passes. By Laplace's rule of succession `n`
    /// passed trials without a failure make `(n + 1) / (n + 2)`; what the rule is known not to
    /// see is taken off in points. A rule without examples starts at 50.
    pub(crate) fn confidence(&self) -> Confidence {
        let doubt = self.doubt.as_ref().map_or(0, |doubt| doubt.points);
        earned(self.bad.len() + self.good.len(), doubt)
    }

    /// Returns the examples of a rule for one of its languages.
    pub(crate) fn examples(&self, rule: &str, language: Language, scope: Scope) -> Vec<Example> {
        let path = pretended_path(language, scope);
        let example = |source: &String, lines| Example {
            rule: rule.to_owned(),
            language,
            path,
            source: without_marks(source),
            lines,
        };
        let bad = self
            .bad
            .iter()
            .map(|source| example(source, marked_lines(source)));
        let good = self.good.iter().map(|source| example(source, Vec::new()));
        bad.chain(good).collect()
    }
}

/// Returns the confidence that `examples`, all passed, have earned, less the points of doubt.
pub(super) fn earned(examples: usize, doubt: u8) -> Confidence {
    let passed = i32::try_from(examples).unwrap_or(i32::MAX - 2);
    let earned = (100 * i64::from(passed + 1)) / i64::from(passed + 2);
    Confidence::clamped(i32::try_from(earned).unwrap_or(100) - i32::from(doubt))
}

fn marked_lines(source: &str) -> Vec<u32> {
    let marked: Vec<u32> = (1..)
        .zip(source.lines())
        .filter(|(_, line)| line.trim_end_matches(" */").ends_with("HIT"))
        .map(|(number, _)| number)
        .collect();
    if marked.is_empty() { vec![1] } else { marked }
}

/// Removes the marks, so that a rule that looks at comments sees none of ours.
fn without_marks(source: &str) -> String {
    let mut text = source.to_owned();
    for mark in [" # HIT", " // HIT", " /* HIT */"] {
        text = text.replace(mark, "");
    }
    text
}

fn pretended_path(language: Language, scope: Scope) -> &'static str {
    let is_test = scope == Scope::Tests;
    match language {
        Language::C if is_test => "tests/sample.c",
        Language::C => "src/sample.c",
        Language::Cpp if is_test => "tests/sample.cpp",
        Language::Cpp => "src/sample.cpp",
        Language::Go if is_test => "sample_test.go",
        Language::Go => "sample.go",
        Language::Java if is_test => "src/test/SampleTest.java",
        Language::Java => "src/main/Sample.java",
        Language::JavaScript if is_test => "src/sample.test.js",
        Language::JavaScript => "src/sample.js",
        Language::Python if is_test => "tests/test_sample.py",
        Language::Python => "src/sample.py",
        Language::Rust if is_test => "tests/sample.rs",
        Language::Rust => "src/sample.rs",
        Language::Tsx if is_test => "src/sample.test.tsx",
        Language::Tsx => "src/sample.tsx",
        Language::TypeScript if is_test => "src/sample.test.ts",
        Language::TypeScript => "src/sample.ts",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn confidence_grows_with_examples_and_shrinks_with_doubt() {
        let mut metadata = Metadata::default();
        assert_eq!(metadata.confidence().get(), 50);
        metadata.bad = vec![String::new(); 3];
        metadata.good = vec![String::new(); 4];
        assert_eq!(metadata.confidence().get(), 88);
        metadata.doubt = Some(Doubt {
            points: 20,
            because: "names are a guess".to_owned(),
        });
        assert_eq!(metadata.confidence().get(), 68);
    }

    #[test]
    fn marks_name_the_lines_and_the_first_line_is_the_default() {
        assert_eq!(marked_lines("a\nb // HIT\nc /* HIT */\n"), [2, 3]);
        assert_eq!(marked_lines("a\nb"), [1]);
    }
}
