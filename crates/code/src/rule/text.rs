//! Rules on the text of files: configuration, scripts, and what must not stand in any file.
//!
//! They look at lines rather than at a syntax tree, each within the formats it knows. A rule is a
//! row of a table with its reason and its examples, which are its tests.

mod any_file;
mod coding;
mod container;
mod shell;
mod syntax;
mod workflow;
mod yaml;

pub use coding::foreign_coding;

use std::sync::OnceLock;

use tribunal_core::finding::{Category, Label};
use tribunal_core::text::truncate_chars;

use super::catalog::{CatalogRule, RuleExample};
use super::check::{CutOff, Hit, Report};
use super::meta::{Domain, RuleInfo, Scope, earned};
use crate::lines::LineSet;
use crate::nature::Nature;
use crate::outline::line_number;
use crate::place;

/// The longest quote of a hit, in characters.
const MAX_QUOTE: usize = 300;
/// How many hits one file may have; more say nothing new.
const MAX_HITS: usize = 200;
/// The longest line that rules look at, in bytes. What nobody typed is looked at in part.
const MAX_LINE: usize = 20_000;

/// The rules that also read what nobody reviews: lock files, generated and vendored ones.
const SEARCHED: [&str; 3] = [
    "text-conflict-marker",
    "text-hidden-direction",
    "text-secret",
];

/// A text file to check.
#[derive(Debug, Clone, Copy)]
pub struct TextSource<'a> {
    /// Path from the root of the repository.
    pub path: &'a str,
    /// Its text.
    pub text: &'a str,
    /// The lines of interest; all when none are given.
    pub changed: Option<&'a LineSet>,
}

/// A file as the rules see it.
pub(super) struct TextFile<'a> {
    pub(super) path: &'a str,
    pub(super) nature: Nature,
    pub(super) text: &'a str,
    /// Its lines, the longest ones cut.
    pub(super) lines: Vec<&'a str>,
}

/// One place where a rule matched.
pub(super) struct Found {
    /// Index of the first line.
    pub(super) row: usize,
    /// Index of the last line.
    pub(super) end: usize,
    /// Index of the first character in its line.
    pub(super) column: usize,
    /// Other lines that make it one: it is reported if one of them changed.
    pub(super) with: Vec<usize>,
    /// What is there, where it can be named; fills the `{}` of the message.
    pub(super) what: String,
}

impl Found {
    pub(super) fn at(row: usize, column: usize) -> Self {
        Self {
            row,
            end: row,
            column,
            with: Vec::new(),
            what: String::new(),
        }
    }

    pub(super) fn named(mut self, what: &str) -> Self {
        what.clone_into(&mut self.what);
        self
    }
}

/// A rule: what it says, how it finds, and the examples that it is tested with.
pub(super) struct TextRule {
    pub(super) id: &'static str,
    pub(super) domain: Domain,
    pub(super) label: Label,
    pub(super) scope: Scope,
    /// The finding in one line; `{}` stands for what was found.
    pub(super) message: &'static str,
    pub(super) reason: &'static str,
    pub(super) suggestion: &'static str,
    pub(super) find: fn(&TextFile<'_>) -> Vec<Found>,
    /// Path, text and the lines that are hit.
    pub(super) bad: &'static [(&'static str, &'static str, &'static [u32])],
    /// Path and text that are not hit.
    pub(super) good: &'static [(&'static str, &'static str)],
}

/// The rules, each table with the files that its rules read.
const TABLES: [(&str, &[TextRule]); 6] = [
    ("any text", any_file::RULES),
    ("Python", coding::RULES),
    ("GitHub workflows", workflow::RULES),
    ("shell, Dockerfile, Makefile, CI", shell::RULES),
    ("YAML, shell, Dockerfile, Makefile", container::RULES),
    ("JSON, TOML, SQL", syntax::RULES),
];

fn tables() -> impl Iterator<Item = &'static TextRule> {
    TABLES.into_iter().flat_map(|(_, rules)| rules)
}

/// Returns the rules as people read about them.
pub(super) fn catalog() -> impl Iterator<Item = CatalogRule> {
    let files = TABLES
        .into_iter()
        .flat_map(|(files, rules)| rules.iter().map(move |_| files));
    tables()
        .zip(infos())
        .zip(files)
        .map(|((rule, info), files)| {
            let example = |path: &str, text: &str, lines: &[u32]| RuleExample {
                path: path.to_owned(),
                text: text.to_owned(),
                lines: lines.to_owned(),
            };
            let bad = rule.bad.iter();
            let good = rule.good.iter();
            CatalogRule {
                info: info.clone(),
                languages: Vec::new(),
                files: files_of(rule.id).unwrap_or(files).to_owned(),
                bad: bad
                    .map(|(path, text, lines)| example(path, text, lines))
                    .collect(),
                good: good.map(|(path, text)| example(path, text, &[])).collect(),
            }
        })
}

/// Returns the one format that a rule of a table with several formats reads.
fn files_of(id: &str) -> Option<&'static str> {
    let formats = [
        ("json-", "JSON"),
        ("toml-", "TOML"),
        ("sql-", "SQL"),
        ("shell-delete-below-variable", "shell"),
    ];
    let format = formats.iter().find(|(prefix, _)| id.starts_with(prefix));
    format.map(|(_, name)| *name)
}

/// Returns what is known of each rule on texts.
pub fn text_rules() -> impl Iterator<Item = &'static RuleInfo> {
    infos().iter()
}

/// An example of a rule on texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextExample {
    /// The rule that brought it.
    pub rule: &'static str,
    /// The path it pretends to have.
    pub path: &'static str,
    /// The text.
    pub text: &'static str,
    /// The lines that must be hit; none for a good example.
    pub lines: &'static [u32],
}

/// Returns the examples of all rules on texts, which are their tests.
pub fn text_examples() -> impl Iterator<Item = TextExample> {
    tables().flat_map(|rule| {
        let example = |path, text, lines| TextExample {
            rule: rule.id,
            path,
            text,
            lines,
        };
        let bad = rule
            .bad
            .iter()
            .map(move |(path, text, lines)| example(*path, *text, *lines));
        let good = rule
            .good
            .iter()
            .map(move |(path, text)| example(*path, *text, &[]));
        bad.chain(good)
    })
}

fn infos() -> &'static [RuleInfo] {
    static INFOS: OnceLock<Vec<RuleInfo>> = OnceLock::new();
    INFOS.get_or_init(|| tables().map(info).collect())
}

fn info(rule: &TextRule) -> RuleInfo {
    RuleInfo {
        id: rule.id.to_owned(),
        domain: rule.domain,
        language: None,
        message: rule.message.replace("{}", "…"),
        reason: rule.reason.to_owned(),
        suggestion: rule.suggestion.to_owned(),
        label: rule.label,
        category: match rule.domain {
            Domain::Security => Category::Security,
            Domain::Correctness => Category::Bug,
            Domain::Tests => Category::TestCoverage,
            Domain::Project => Category::Other,
        },
        confidence: earned(rule.bad.len() + rule.good.len(), 0),
        doubt: None,
        scope: rule.scope,
    }
}

/// Checks a text with the rules of `domains` that are on.
pub(super) fn check(
    source: &TextSource<'_>,
    domains: &[Domain],
    is_on: &dyn Fn(&str) -> bool,
) -> Report {
    survey(source, domains, is_on, MAX_HITS)
}

/// Checks a text with the rules of `domains` that are on, for up to `most` hits.
pub(super) fn survey(
    source: &TextSource<'_>,
    domains: &[Domain],
    is_on: &dyn Fn(&str) -> bool,
    most: usize,
) -> Report {
    check_with(tables().zip(infos()), source, domains, is_on, most)
}

/// Checks a text with those of the rules that are about any file.
pub(super) fn search(
    source: &TextSource<'_>,
    domains: &[Domain],
    is_on: &dyn Fn(&str) -> bool,
) -> Report {
    let rules = tables().zip(infos());
    let rules = rules.filter(|(rule, _)| SEARCHED.contains(&rule.id));
    check_with(rules, source, domains, is_on, MAX_HITS)
}

fn check_with(
    rules: impl Iterator<Item = (&'static TextRule, &'static RuleInfo)>,
    source: &TextSource<'_>,
    domains: &[Domain],
    is_on: &dyn Fn(&str) -> bool,
    most: usize,
) -> Report {
    let file = TextFile {
        path: source.path,
        nature: Nature::of(source.path, source.text),
        text: source.text,
        lines: source.text.lines().map(cut).collect(),
    };
    let is_test = place::is_test_path(source.path);
    let mut report = Report::default();
    for (rule, info) in rules {
        let label = rule.scope.label_at(rule.domain, rule.label, is_test);
        let is_wanted = domains.contains(&rule.domain) && is_on(rule.id);
        let (Some(label), true) = (label, is_wanted) else {
            continue;
        };
        for found in (rule.find)(&file) {
            if !is_changed(source.changed, &found) {
                continue;
            }
            if report.hits.len() + report.silenced.len() >= most {
                report.cut_off = Some(CutOff::Hits);
                return report;
            }
            let hit = Hit {
                label,
                ..hit(&file, rule, info, &found)
            };
            report.take(hit, &file.lines);
        }
    }
    report
        .hits
        .sort_by(|a, b| (a.line, &a.rule).cmp(&(b.line, &b.rule)));
    report
        .hits
        .dedup_by(|later, earlier| later.rule == earlier.rule && later.line == earlier.line);
    report
}

/// Tells whether the same rules read a text under both paths.
#[must_use]
pub fn is_read_alike(old_path: &str, new_path: &str, text: &str) -> bool {
    let kind = |path| {
        let file = TextFile {
            path,
            nature: Nature::of(path, text),
            text,
            lines: Vec::new(),
        };
        (
            file.nature,
            place::is_test_path(path),
            workflow::is_workflow(path),
            shell::holds_commands(&file),
            syntax::is_migration(path),
        )
    };
    kind(old_path) == kind(new_path)
}

fn is_changed(changed: Option<&LineSet>, found: &Found) -> bool {
    changed.is_none_or(|lines| {
        lines.touches(line_number(found.row), line_number(found.end))
            || found
                .with
                .iter()
                .any(|row| lines.contains(line_number(*row)))
    })
}

fn hit(file: &TextFile<'_>, rule: &TextRule, info: &RuleInfo, found: &Found) -> Hit {
    let quote = file.lines.get(found.row).copied().unwrap_or_default();
    Hit {
        rule: info.id.clone(),
        domain: info.domain,
        line: line_number(found.row),
        end_line: line_number(found.end.max(found.row)),
        column: line_number(found.column),
        message: rule.message.replace("{}", &truncate_chars(&found.what, 80)),
        reason: info.reason.clone(),
        suggestion: info.suggestion.clone(),
        label: info.label,
        category: info.category,
        confidence: info.confidence,
        quote: truncate_chars(quote.trim(), MAX_QUOTE).into_owned(),
        function: None,
    }
}

fn cut(line: &str) -> &str {
    if line.len() <= MAX_LINE {
        return line;
    }
    let end = (0..=MAX_LINE).rev().find(|end| line.is_char_boundary(*end));
    line.get(..end.unwrap_or(0)).unwrap_or_default()
}

/// A regular expression of a rule, compiled when it is first used.
macro_rules! pattern {
    ($name:ident, $text:expr) => {
        fn $name() -> &'static regex::Regex {
            static COMPILED: std::sync::OnceLock<regex::Regex> = std::sync::OnceLock::new();
            COMPILED.get_or_init(|| {
                #[allow(clippy::expect_used, reason = "every pattern is compiled by the tests")]
                regex::Regex::new($text).expect("a pattern of ours")
            })
        }
    };
}
use pattern;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_example_is_judged_as_its_rule_says() {
        let mut wrong = Vec::new();
        for example in text_examples() {
            let source = TextSource {
                path: example.path,
                text: example.text,
                changed: None,
            };
            let report = check(&source, &Domain::BUILTIN, &|_| true);
            let hits = report.hits.iter().filter(|hit| hit.rule == example.rule);
            let lines: Vec<u32> = hits.map(|hit| hit.line).collect();
            if lines != example.lines {
                let TextExample {
                    rule,
                    path,
                    text,
                    lines: expected,
                } = example;
                wrong.push(format!(
                    "{rule} {path}: {expected:?}, got {lines:?}\n{text}"
                ));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn every_rule_is_complete_and_has_a_name_of_its_own() {
        let mut names: Vec<&str> = tables().map(|rule| rule.id).collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
        for rule in tables() {
            assert!(rule.bad.len() >= 2 && rule.good.len() >= 2, "{}", rule.id);
            assert!(
                !rule.reason.is_empty() && !rule.suggestion.is_empty(),
                "{}",
                rule.id
            );
            assert!(rule.message.ends_with(|c: char| c != '.'), "{}", rule.id);
        }
    }

    #[test]
    fn only_changed_lines_are_reported_and_comments_silence_named_rules() {
        let text = "chmod 777 a\nchmod 777 b\nchmod 777 c # tribunal:ignore shell-world-writable\n";
        let changed: LineSet = [2, 3].into_iter().collect();
        let source = TextSource {
            path: "run.sh",
            text,
            changed: Some(&changed),
        };
        let report = check(&source, &Domain::BUILTIN, &|_| true);
        let lines: Vec<u32> = report.hits.iter().map(|hit| hit.line).collect();
        assert!(lines.starts_with(&[2]) && !lines.contains(&1), "{lines:?}");
        assert!(check(&source, &[Domain::Tests], &|_| true).hits.is_empty());
    }

    #[test]
    fn long_lines_and_many_hits_are_bounded() {
        let text = format!("{}\n{}", "é".repeat(50_000), "chmod 777 a\n".repeat(5_000));
        let source = TextSource {
            path: "run.sh",
            text: &text,
            changed: None,
        };
        let report = check(&source, &Domain::BUILTIN, &|_| true);
        assert_eq!(report.cut_off, Some(CutOff::Hits));
    }
}
