//! Reads rule files and arranges the rules by language and node kind.

use std::collections::BTreeMap;
use std::error::Error;

use ast_grep_config::{GlobalRules, RuleConfig, SerializableRuleConfig, Severity};
use ast_grep_core::Matcher;
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use serde::Serialize;
use thiserror::Error;
use tribunal_core::finding::{Category, Label};
use tribunal_core::scale::Confidence;
use tribunal_core::text::truncate_chars;

use super::meta::{Domain, Metadata, RuleInfo, Scope};
use crate::language::{Grammar, Language};

/// How far a project's own rule is trusted at least.
const STATED: i32 = 90;

/// The largest rule file that is read, in bytes.
const MAX_FILE: usize = 1 << 20;

/// Why a rule file was refused.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("line {line}: {problem}")]
pub struct RuleError {
    /// The line that the problem is on, or the one its rule starts on; counted from 1.
    pub line: u32,
    /// What is wrong.
    pub problem: String,
}

/// Compiled rules, ready to check files.
#[derive(Default)]
pub struct RuleSet {
    languages: BTreeMap<Language, LanguageRules>,
}

impl RuleSet {
    /// Returns what is known of each rule, by language and in the order of the file.
    pub(crate) fn infos(&self) -> impl Iterator<Item = &RuleInfo> {
        self.languages
            .values()
            .flat_map(|rules| rules.rules.iter().map(|rule| &rule.info))
    }

    /// Returns the names of all rules, once each.
    #[must_use]
    pub fn ids(&self) -> Vec<String> {
        let mut ids: Vec<String> = self.infos().map(|info| info.id.clone()).collect();
        ids.sort();
        ids.dedup();
        ids
    }

    pub(super) fn of(&self, language: Language) -> Option<&LanguageRules> {
        self.languages.get(&language)
    }

    fn add(&mut self, rule: Rule) {
        let rules = self
            .languages
            .entry(rule.config.language.language())
            .or_default();
        rules.add(rule);
    }
}

impl std::fmt::Debug for RuleSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list()
            .entries(self.infos().map(|info| &info.id))
            .finish()
    }
}

/// The rules of one language, by the node kinds they can match.
#[derive(Default)]
pub(super) struct LanguageRules {
    pub(super) rules: Vec<Rule>,
    kinds: Vec<Vec<usize>>,
}

impl LanguageRules {
    pub(super) fn add(&mut self, rule: Rule) {
        let index = self.rules.len();
        for kind in &rule.config.matcher.potential_kinds().unwrap_or_default() {
            if self.kinds.len() <= kind {
                self.kinds.resize(kind + 1, Vec::new());
            }
            self.kinds[kind].push(index);
        }
        self.rules.push(rule);
    }

    /// Returns the rules that can match a node of this kind.
    pub(super) fn for_kind(&self, kind: u16) -> &[usize] {
        self.kinds.get(usize::from(kind)).map_or(&[], Vec::as_slice)
    }
}

/// One compiled rule.
pub(super) struct Rule {
    pub(super) info: RuleInfo,
    pub(super) config: RuleConfig<Grammar>,
    pub(super) files: Option<GlobSet>,
    pub(super) ignores: Option<GlobSet>,
}

/// A rule as read, before it is compiled for its languages.
pub(super) struct ReadRule {
    pub(super) config: SerializableRuleConfig<Grammar>,
    pub(super) metadata: Metadata,
    line: u32,
}

/// Reads a project's own rules, written in ast-grep's YAML, one or several per text.
///
/// # Errors
///
/// The YAML, a pattern, a node kind or a language is not valid; the first problem is returned.
pub fn load_user_rules(yaml: &str) -> Result<RuleSet, RuleError> {
    let mut set = RuleSet::default();
    for read in read_rules(yaml, Foreign::Refuse)? {
        if matches!(read.config.severity, Severity::Off) {
            continue;
        }
        for rule in read.compile(Domain::Project)? {
            set.add(rule);
        }
    }
    Ok(set)
}

/// What to do with a rule whose language has no grammar in this build.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Foreign {
    Skip,
    Refuse,
}

/// Reads all rules of a text without compiling them.
pub(super) fn read_rules(yaml: &str, foreign: Foreign) -> Result<Vec<ReadRule>, RuleError> {
    if yaml.len() > MAX_FILE {
        return Err(RuleError {
            line: 1,
            problem: format!("the file has {} bytes, more than {MAX_FILE}", yaml.len()),
        });
    }
    documents(yaml)
        .into_iter()
        .filter(|(_, text)| foreign == Foreign::Refuse || !is_foreign(text))
        .map(|(line, text)| read_rule(line, &text))
        .collect()
}

fn is_foreign(rule: &str) -> bool {
    let name = rule.lines().find_map(|line| line.strip_prefix("language:"));
    let language = name.and_then(|name| name.trim().parse::<Language>().ok());
    language.is_some_and(|language| !language.is_available())
}

impl ReadRule {
    /// Returns the languages that the rule is for.
    pub(super) fn languages(&self) -> Vec<Language> {
        let mut languages = vec![self.config.language.language()];
        languages.extend(self.metadata.also.iter().filter(|also| also.is_available()));
        languages
    }

    /// Returns where the rule applies when it is part of `domain`.
    pub(super) fn scope(&self, domain: Domain) -> Scope {
        self.metadata.scope.unwrap_or(match domain {
            Domain::Security => Scope::Product,
            Domain::Tests => Scope::Tests,
            Domain::Correctness | Domain::Project => Scope::Anywhere,
        })
    }

    /// Compiles the rule for each of its languages.
    pub(super) fn compile(&self, domain: Domain) -> Result<Vec<Rule>, RuleError> {
        self.languages()
            .into_iter()
            .map(|language| self.compile_for(language, domain))
            .collect()
    }

    /// Compiles the rule for one language, if it is for that language at all.
    pub(super) fn compile_only(
        &self,
        language: Language,
        domain: Domain,
    ) -> Result<Option<Rule>, RuleError> {
        if !self.languages().contains(&language) {
            return Ok(None);
        }
        self.compile_for(language, domain).map(Some)
    }

    fn compile_for(&self, language: Language, domain: Domain) -> Result<Rule, RuleError> {
        let mut config = self.config.clone();
        config.language = language
            .grammar()
            .ok_or_else(|| self.error(format!("this build has no grammar for {language}")))?;
        let info = self.info(language, domain)?;
        let files = self.globs(&config.files)?;
        let ignores = self.globs(&config.ignores)?;
        let config = RuleConfig::try_from(config, &GlobalRules::default())
            .map_err(|error| self.error(with_sources(&error)))?;
        Ok(Rule {
            info,
            config,
            files,
            ignores,
        })
    }

    /// Returns what the rule says about itself, for one of its languages.
    pub(super) fn info(&self, language: Language, domain: Domain) -> Result<RuleInfo, RuleError> {
        let config = &self.config;
        let label = match &self.metadata.label {
            Some(word) => word
                .parse()
                .map_err(|error| self.error(format!("{error}")))?,
            None => default_label(&config.severity),
        };
        let category = match &self.metadata.category {
            Some(word) => word
                .parse()
                .map_err(|error| self.error(format!("{error}")))?,
            None => default_category(domain),
        };
        let message = match config.message.as_str() {
            "" => config.id.clone(),
            message => message.to_owned(),
        };
        Ok(RuleInfo {
            id: config.id.clone(),
            domain,
            language: Some(language),
            message,
            reason: config.note.clone().unwrap_or_default().trim().to_owned(),
            suggestion: self.metadata.suggestion.clone().unwrap_or_default(),
            label,
            category,
            confidence: match domain {
                // A project that states a rule means it, with examples or without.
                Domain::Project => self.metadata.confidence().max(Confidence::clamped(STATED)),
                Domain::Security | Domain::Correctness | Domain::Tests => {
                    self.metadata.confidence()
                }
            },
            doubt: self
                .metadata
                .doubt
                .as_ref()
                .map(|doubt| doubt.because.clone()),
            scope: self.scope(domain),
        })
    }

    /// Compiles the `files` or `ignores` of a rule; their type has no public name.
    fn globs(&self, patterns: &Option<impl Serialize>) -> Result<Option<GlobSet>, RuleError> {
        let Some(patterns) = patterns else {
            return Ok(None);
        };
        let value = serde_json::to_value(patterns).unwrap_or_default();
        let mut set = GlobSetBuilder::new();
        for pattern in value.as_array().into_iter().flatten() {
            let text = pattern.as_str().or_else(|| pattern["glob"].as_str());
            let ignores_case = pattern["caseInsensitive"].as_bool().unwrap_or(false);
            let text = text.unwrap_or_default();
            let glob = GlobBuilder::new(text.strip_prefix("./").unwrap_or(text))
                .case_insensitive(ignores_case)
                .build()
                .map_err(|error| self.error(error.to_string()))?;
            set.add(glob);
        }
        let set = set.build().map_err(|error| self.error(error.to_string()))?;
        Ok(Some(set))
    }

    fn error(&self, problem: String) -> RuleError {
        RuleError {
            line: self.line,
            problem: format!("rule `{}`: {problem}", truncate_chars(&self.config.id, 80)),
        }
    }
}

fn read_rule(line: u32, text: &str) -> Result<ReadRule, RuleError> {
    let config: SerializableRuleConfig<Grammar> =
        ast_grep_config::from_str(text).map_err(|error| {
            let offset = error
                .location()
                .map_or(1, |location| location.line())
                .max(1);
            RuleError {
                line: line.saturating_add(u32::try_from(offset - 1).unwrap_or(0)),
                problem: headline_of(&error.without_snippet().to_string()),
            }
        })?;
    let metadata = match &config.metadata {
        Some(metadata) => serde_json::to_value(metadata)
            .and_then(serde_json::from_value)
            .map_err(|error| RuleError {
                line,
                problem: format!("rule `{}`: metadata: {error}", config.id),
            })?,
        None => Metadata::default(),
    };
    Ok(ReadRule {
        config,
        metadata,
        line,
    })
}

/// Splits a text into its YAML documents, each with the line it starts on.
fn documents(yaml: &str) -> Vec<(u32, String)> {
    let mut found = Vec::new();
    let mut current = (1, String::new());
    for (number, line) in (1u32..).zip(yaml.trim_start_matches('\u{feff}').lines()) {
        if line.trim_end() == "---" {
            found.push(std::mem::replace(&mut current, (number + 1, String::new())));
            continue;
        }
        current.1.push_str(line);
        current.1.push('\n');
    }
    found.push(current);
    found.retain(|(_, text)| {
        text.lines()
            .any(|line| !line.trim().is_empty() && !line.trim_start().starts_with('#'))
    });
    found
}

fn default_label(severity: &Severity) -> Label {
    match severity {
        Severity::Error => Label::High,
        Severity::Warning => Label::Medium,
        Severity::Info | Severity::Hint | Severity::Off => Label::Low,
    }
}

fn default_category(domain: Domain) -> Category {
    match domain {
        Domain::Security => Category::Security,
        Domain::Correctness => Category::Bug,
        Domain::Tests => Category::TestCoverage,
        Domain::Project => Category::Other,
    }
}

fn with_sources(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(inner) = source {
        text.push_str(": ");
        text.push_str(&inner.to_string());
        source = inner.source();
    }
    headline_of(&text)
}

fn headline_of(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    truncate_chars(&words.join(" "), 400).into_owned()
}
