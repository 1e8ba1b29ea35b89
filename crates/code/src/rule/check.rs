//! Checks one file: one parse, one walk, every rule.

use ast_grep_core::matcher::MatcherExt;
use ast_grep_core::tree_sitter::StrDoc;
use ast_grep_core::{AstGrep, NodeMatch};
use serde::Serialize;
use tree_sitter::{Node, Tree};
use tribunal_core::finding::{Category, Label};
use tribunal_core::review::rule_level::{RuleLevel, RuleLevels};
use tribunal_core::scale::Confidence;
use tribunal_core::text::truncate_chars;

use super::builtin;
use super::load::{LanguageRules, Rule, RuleSet};
use super::meta::{Domain, RuleInfo, Scope};
use super::suppress::marker;
use super::text::{self, TextSource};
use crate::computing_time::ComputingTime;
use crate::language::{Grammar, Language, Limits, ParseError};
use crate::lines::LineSet;
use crate::outline::{Outline, last_line, line_number};
use crate::place;

/// The longest quote of a hit, in characters.
const MAX_QUOTE: usize = 300;
/// The longest text that a meta variable puts into a message, in characters.
const MAX_CAPTURE: usize = 60;
/// How many hits one file may have; more say nothing new.
const MAX_HITS: usize = 1_000;
/// How many hits a file may have that is only compared with how it was.
const MAX_SURVEYED: usize = 20_000;

/// The rule about letters that are no ASCII.
const DISGUISED_NAME: &str = "python-disguised-name";

/// A file to check.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// Path from the root of the repository.
    pub path: &'a str,
    /// Its language.
    pub language: Language,
    /// Its text.
    pub text: &'a str,
    /// The lines of interest; all when none are given.
    pub changed: Option<&'a LineSet>,
}

/// One place where a rule matched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Hit {
    /// Name of the rule.
    pub rule: String,
    /// The domain that the rule belongs to.
    pub domain: Domain,
    /// First line, counted from 1.
    pub line: u32,
    /// Last line.
    pub end_line: u32,
    /// Column of the first character, counted from 1.
    pub column: u32,
    /// The finding in one line.
    pub message: String,
    /// Why it matters.
    pub reason: String,
    /// What to do instead.
    pub suggestion: String,
    /// The tag.
    pub label: Label,
    /// What kind of problem it is.
    pub category: Category,
    /// How far it is to be trusted.
    pub confidence: Confidence,
    /// The code, shortened.
    pub quote: String,
    /// Name of the function or method around it.
    pub function: Option<String>,
}

/// Why a check ended before the end of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CutOff {
    /// The time was used up.
    Time,
    /// There were too many hits.
    Hits,
}

/// A hit that a comment in the source silences.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Silenced {
    /// The hit.
    pub hit: Hit,
    /// Why, in the words of the comment.
    pub reason: String,
    /// The line of the comment.
    pub marker: u32,
}

/// A comment that would silence a hit but does not count.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Refused {
    /// The rule that it names.
    pub rule: String,
    /// The line of the hit.
    pub line: u32,
    /// Why it does not count.
    pub why: Refusal,
}

/// Why a comment that would silence a hit does not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Refusal {
    /// It gives no reason.
    NoReason,
    /// The change under review wrote it, or the code that it is about.
    OfTheChange,
}

/// What checking a file gave.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Report {
    /// The hits, in the order of the source.
    pub hits: Vec<Hit>,
    /// Hits that a comment in the source silences.
    pub silenced: Vec<Silenced>,
    /// Comments that would silence a hit but do not count.
    pub refused: Vec<Refused>,
    /// Why the check is incomplete; nothing when it is complete.
    pub cut_off: Option<CutOff>,
    /// The first lines of interest that do not parse, so that rules may have missed something there.
    pub unparsed: Option<(u32, u32)>,
}

/// Checks files with the built-in rules of some domains and a project's own.
#[derive(Debug, Default)]
pub struct Reviewer {
    domains: Vec<Domain>,
    project: RuleSet,
    levels: RuleLevels,
    limits: Limits,
}

impl Reviewer {
    /// Returns a reviewer with the built-in rules of `domains`.
    pub fn new(domains: impl IntoIterator<Item = Domain>) -> Self {
        Self {
            domains: domains.into_iter().collect(),
            ..Self::default()
        }
    }

    /// Adds a project's own rules; they apply whatever the domains are.
    #[must_use]
    pub fn with_rules(mut self, rules: RuleSet) -> Self {
        self.project = rules;
        self
    }

    /// Changes the levels of rules, or switches rules off.
    #[must_use]
    pub fn with_levels(mut self, levels: RuleLevels) -> Self {
        self.levels = levels;
        self
    }

    /// Sets how much work one file may cause.
    #[cfg(test)]
    pub(super) fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Checks one file.
    ///
    /// # Errors
    ///
    /// The file is too large, takes too long to parse, or has no grammar in this build.
    pub fn check(&self, source: &Source<'_>) -> Result<Report, ParseError> {
        self.check_up_to(source, MAX_HITS)
    }

    /// Checks one file with a higher limit, to compare it with how it was before.
    ///
    /// # Errors
    ///
    /// The file is too large, takes too long to parse, or has no grammar in this build.
    pub fn survey(&self, source: &Source<'_>) -> Result<Report, ParseError> {
        self.check_up_to(source, MAX_SURVEYED)
    }

    fn check_up_to(&self, source: &Source<'_>, most: usize) -> Result<Report, ParseError> {
        let grammar = source
            .language
            .grammar()
            .ok_or(ParseError::NoGrammar(source.language))?;
        let tree = grammar.parse(source.text, self.limits)?;
        let root = AstGrep::doc(StrDoc {
            src: source.text.to_owned(),
            lang: grammar,
            tree: tree.clone(),
        });
        let built_in = builtin::rules_of(source.language);
        let mut walk = Walk {
            reviewer: self,
            source,
            root: &root,
            limit: ComputingTime::lasting(self.limits.time),
            until_look: 0,
            most,
            found: Vec::new(),
            cut_off: None,
        };
        let sets = [Some(built_in), self.project.of(source.language)];
        walk.run(&sets);
        let Walk { found, cut_off, .. } = walk;
        let unparsed = first_unparsed(source, &tree);
        if found.is_empty() {
            return Ok(Report {
                cut_off,
                unparsed,
                ..Report::default()
            });
        }
        let outline = Outline::new(source.language, &tree, source.text);
        let report = Report {
            unparsed,
            ..report(source, &outline, found, cut_off)
        };
        Ok(self.leveled(report))
    }

    /// Checks the text of a file, whatever it is: configuration, scripts, prose, code.
    #[must_use]
    pub fn check_text(&self, source: &TextSource<'_>) -> Report {
        let is_on = |id: &str| self.is_on(id);
        self.leveled(text::check(source, &self.domains, &is_on))
    }

    /// Checks the text of a file with a higher limit, to compare it with how it was before.
    #[must_use]
    pub fn survey_text(&self, source: &TextSource<'_>) -> Report {
        let is_on = |id: &str| self.is_on(id);
        self.leveled(text::survey(source, &self.domains, &is_on, MAX_SURVEYED))
    }

    /// Searches the text of a file that nobody reviews for what must not be in any file.
    #[must_use]
    pub fn search_text(&self, source: &TextSource<'_>) -> Report {
        let is_on = |id: &str| self.is_on(id);
        self.leveled(text::search(source, &self.domains, &is_on))
    }

    /// Tells whether the settings leave a rule on.
    fn is_on(&self, id: &str) -> bool {
        self.levels.get(id) != Some(&RuleLevel::Off)
    }

    /// Returns the report with the labels that the settings ask for.
    fn leveled(&self, mut report: Report) -> Report {
        let silenced = report.silenced.iter_mut().map(|one| &mut one.hit);
        for hit in report.hits.iter_mut().chain(silenced) {
            let level = self.levels.get(&hit.rule);
            if let Some(label) = level.and_then(|level| level.label()) {
                hit.label = label;
            }
        }
        report
    }

    fn wants(&self, rule: &Rule, path: &str) -> bool {
        let info = &rule.info;
        let in_domain = info.domain == Domain::Project || self.domains.contains(&info.domain);
        in_domain
            && self.is_on(&info.id)
            && rule.files.as_ref().is_none_or(|globs| globs.is_match(path))
            && rule
                .ignores
                .as_ref()
                .is_none_or(|globs| !globs.is_match(path))
            && match info.scope {
                // Rust keeps tests beside the code; the place of each hit decides there.
                Scope::Tests => place::is_test_path(path) || info.language == Some(Language::Rust),
                scope => {
                    let is_test = place::is_test_path(path);
                    scope.label_at(info.domain, info.label, is_test).is_some()
                }
            }
    }
}

type Matched<'t> = NodeMatch<'t, StrDoc<Grammar>>;

struct Found<'t, 'r> {
    rule: &'r Rule,
    node: Node<'t>,
    label: Label,
    message: String,
}

/// One walk over a syntax tree.
struct Walk<'t, 'r> {
    reviewer: &'r Reviewer,
    source: &'r Source<'r>,
    root: &'t AstGrep<StrDoc<Grammar>>,
    limit: ComputingTime,
    until_look: u32,
    most: usize,
    found: Vec<Found<'t, 'r>>,
    cut_off: Option<CutOff>,
}

impl<'t, 'r> Walk<'t, 'r> {
    fn run(&mut self, sets: &[Option<&'r LanguageRules>]) {
        // Which rules apply depends on the path alone, so it is asked once per file.
        let wanted: Vec<Vec<bool>> = sets
            .iter()
            .map(|set| self.wanted(set.as_ref().copied()))
            .collect();
        let mut cursor = self.root.root().get_inner_node().walk();
        loop {
            let node = cursor.node();
            if self.is_of_interest(node) {
                for (set, wanted) in sets.iter().zip(&wanted) {
                    if let Some(set) = set {
                        self.visit(set, wanted, node);
                    }
                }
                if self.cut_off.is_some() {
                    return;
                }
                if cursor.goto_first_child() {
                    continue;
                }
            }
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    return;
                }
            }
        }
    }

    fn wanted(&self, set: Option<&LanguageRules>) -> Vec<bool> {
        let rules = set.map_or(&[][..], |set| &set.rules);
        // It would look at every name, and in plain text there is nothing to find.
        let is_plain = self.source.text.is_ascii();
        let is_idle = |rule: &Rule| is_plain && rule.info.id == DISGUISED_NAME;
        rules
            .iter()
            .map(|rule| !is_idle(rule) && self.reviewer.wants(rule, self.source.path))
            .collect()
    }

    /// Tells whether a node, and hence anything in it, can be reported.
    fn is_of_interest(&self, node: Node<'_>) -> bool {
        self.source.changed.is_none_or(|lines| {
            lines.touches(line_number(node.start_position().row), last_line(node))
        })
    }

    fn visit(&mut self, set: &'r LanguageRules, wanted: &[bool], node: Node<'t>) {
        for &index in set.for_kind(node.kind_id()) {
            if !wanted[index] {
                continue;
            }
            if self.is_over() {
                return;
            }
            let rule = &set.rules[index];
            let candidate = self.root.adopt(node);
            if let Some(matched) = rule.config.matcher.match_node(candidate)
                && let Some(label) = self.label_of(rule, matched.get_inner_node())
            {
                self.keep(rule, &matched, label);
            }
        }
    }

    /// Looks at the clock now and then; a rule that searches a whole function costs far more.
    fn is_over(&mut self) -> bool {
        if self.until_look > 0 {
            self.until_look -= 1;
            return false;
        }
        self.until_look = 32;
        if self.limit.is_over() {
            self.cut_off = Some(CutOff::Time);
        }
        self.cut_off.is_some()
    }

    /// Returns the label of a hit at this place; nothing where the rule is silent.
    fn label_of(&self, rule: &Rule, node: Node<'_>) -> Option<Label> {
        let Source {
            language,
            text,
            path,
            ..
        } = *self.source;
        let RuleInfo {
            scope,
            domain,
            label,
            ..
        } = rule.info;
        let is_test = scope != Scope::Anywhere
            && (place::is_test_path(path) || place::is_inside_test(language, node, text));
        scope.label_at(domain, label, is_test)
    }

    fn keep(&mut self, rule: &'r Rule, matched: &Matched<'t>, label: Label) {
        if self.found.len() >= self.most {
            self.cut_off = Some(CutOff::Hits);
            return;
        }
        self.found.push(Found {
            rule,
            node: matched.get_inner_node(),
            label,
            message: fill(&rule.info.message, matched),
        });
    }
}

/// Returns the first lines of interest that the grammar does not understand.
///
/// Macros make C and C++ unparsable without their preprocessor, so nothing is said about these.
fn first_unparsed(source: &Source<'_>, tree: &Tree) -> Option<(u32, u32)> {
    if matches!(source.language, Language::C | Language::Cpp) || !tree.root_node().has_error() {
        return None;
    }
    let mut cursor = tree.walk();
    loop {
        let node = cursor.node();
        if node.is_error() || node.is_missing() {
            let start = line_number(node.start_position().row);
            let end = line_number(node.end_position().row).max(start);
            if source.changed.is_none_or(|lines| lines.touches(start, end)) {
                return Some((start, end));
            }
        } else if node.has_error() && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return None;
            }
        }
    }
}

fn report(
    source: &Source<'_>,
    outline: &Outline,
    found: Vec<Found<'_, '_>>,
    cut_off: Option<CutOff>,
) -> Report {
    let lines: Vec<&str> = source.text.lines().collect();
    let mut all: Vec<Hit> = found
        .iter()
        .map(|found| hit(source, outline, &lines, found))
        .collect();
    all.sort_by(|a, b| {
        let key = |hit: &Hit| (hit.line, hit.rule.clone(), hit.domain, hit.column);
        key(a).cmp(&key(b))
    });
    // A pattern that matches an expression often matches a part of it too.
    all.dedup_by(|later, earlier| {
        (&later.rule, later.domain, later.line) == (&earlier.rule, earlier.domain, earlier.line)
    });
    let mut report = Report {
        cut_off,
        ..Report::default()
    };
    for hit in all {
        report.take(hit, &lines);
    }
    report
}

impl Report {
    /// Takes a hit, as one that counts or as one that a comment silences.
    pub(super) fn take(&mut self, hit: Hit, lines: &[&str]) {
        match marker(lines, hit.line, &hit.rule, hit.domain) {
            Some(marker) if !marker.reason.is_empty() => self.silenced.push(Silenced {
                hit,
                reason: marker.reason,
                marker: marker.line,
            }),
            Some(_) => self.refuse(hit, Refusal::NoReason),
            None => self.hits.push(hit),
        }
    }

    /// Lets a comment count no more if it, or the code that it is about, is on one of `lines`:
    /// whoever wrote them cannot excuse them.
    pub fn refuse_markers_on(&mut self, lines: &LineSet) {
        let is_there = |one: &Silenced| {
            lines.contains(one.marker) || lines.touches(one.hit.line, one.hit.end_line)
        };
        let silenced = std::mem::take(&mut self.silenced);
        let (refused, kept): (Vec<_>, Vec<_>) = silenced.into_iter().partition(is_there);
        self.silenced = kept;
        for one in refused {
            self.refuse(one.hit, Refusal::OfTheChange);
        }
        self.hits
            .sort_by(|a, b| (a.line, &a.rule).cmp(&(b.line, &b.rule)));
    }

    fn refuse(&mut self, hit: Hit, why: Refusal) {
        self.refused.push(Refused {
            rule: hit.rule.clone(),
            line: hit.line,
            why,
        });
        self.hits.push(hit);
    }
}

fn hit(source: &Source<'_>, outline: &Outline, lines: &[&str], found: &Found<'_, '_>) -> Hit {
    let Found {
        rule,
        node,
        label,
        message,
    } = found;
    let info = &rule.info;
    let start = node.start_position();
    let line = line_number(start.row);
    let before = lines
        .get(start.row)
        .and_then(|text| text.get(..start.column));
    let column = before.map_or(0, |text| text.chars().count());
    let text = source.text.get(node.byte_range()).unwrap_or_default();
    Hit {
        rule: info.id.clone(),
        domain: info.domain,
        line,
        end_line: last_line(*node).max(line),
        column: line_number(column),
        message: message.clone(),
        reason: info.reason.clone(),
        suggestion: info.suggestion.clone(),
        label: *label,
        category: info.category,
        confidence: info.confidence,
        quote: truncate_chars(text, MAX_QUOTE).into_owned(),
        function: outline.function(line).map(|scope| scope.name.clone()),
    }
}

/// Puts the matched code in the place of the meta variables of a message.
fn fill(message: &str, matched: &Matched<'_>) -> String {
    let mut text = String::with_capacity(message.len());
    let mut rest = message;
    while let Some((before, after)) = rest.split_once('$') {
        text.push_str(before);
        let after = after.trim_start_matches('$');
        let is_name = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
        let end = after.find(|c: char| !is_name(c)).unwrap_or(after.len());
        let (name, tail) = after.split_at(end);
        match matched.get_env().get_match(name) {
            Some(node) => {
                let words: Vec<String> =
                    node.text().split_whitespace().map(str::to_owned).collect();
                text.push_str(&truncate_chars(&words.join(" "), MAX_CAPTURE));
            }
            None => {
                text.push('$');
                text.push_str(name);
            }
        }
        rest = tail;
    }
    text.push_str(rest);
    text
}
