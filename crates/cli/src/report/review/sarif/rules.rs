//! The rules under which results stand: one for each rule that found something, and one for each
//! category of what people and models say.

use serde_json::{Value, json};
use tribunal_core::finding::Category;
use tribunal_core::review::report::ReviewedFinding;
use tribunal_core::scale::Severity;
use tribunal_engine::rules::builtin_rule;

use super::super::facts;
use super::super::shown::{NAME, PROSE, one_line};

/// The family of the reviewers whose rules are known here.
const BUILTIN: &str = "builtin";

/// The rules of a log, in the order of their indexes.
pub(super) struct RuleTable {
    /// Id, and whether the rule is one of ours: a linter may use the same id.
    keys: Vec<(String, bool)>,
    pub(super) descriptors: Vec<Value>,
}

impl RuleTable {
    /// Returns the categories and the rules of `findings`.
    pub(super) fn of<'f>(findings: impl Iterator<Item = &'f ReviewedFinding>) -> Self {
        let categories = Category::ALL.into_iter();
        let mut table = Self {
            keys: categories
                .clone()
                .map(|one| (category_id(one), false))
                .collect(),
            descriptors: categories.map(of_category).collect(),
        };
        for finding in findings {
            let key = key(finding);
            if !table.keys.contains(&key) {
                table.descriptors.push(of_rule(finding, &key));
                table.keys.push(key);
            }
        }
        table
    }

    /// Returns id and index of the rule under which a finding stands.
    pub(super) fn place_of(&self, finding: &ReviewedFinding) -> (String, Option<usize>) {
        let key = key(finding);
        let index = self.keys.iter().position(|one| *one == key);
        (key.0, index)
    }
}

fn key(finding: &ReviewedFinding) -> (String, bool) {
    match facts::rule_of(finding) {
        "" => (category_id(finding.category), false),
        rule => {
            let mut voices = finding.voices.iter();
            let is_builtin = voices.any(|one| one.family == BUILTIN && one.rule == rule);
            (one_line(rule, NAME), is_builtin)
        }
    }
}

/// Returns the rule for findings of a category that no rule made. Labels would not do: the same
/// finding may get another one tomorrow, and a scanner would take it for a new alert.
fn category_id(category: Category) -> String {
    format!("tribunal/{category}")
}

fn of_category(category: Category) -> Value {
    let (name, about) = words(category);
    json!({
        "id": category_id(category),
        "name": name,
        "shortDescription": { "text": about },
        "defaultConfiguration": { "level": "warning" },
        "properties": { "tags": [category.as_str()] },
    })
}

fn words(category: Category) -> (&'static str, &'static str) {
    match category {
        Category::Security => ("Security", "Somebody can be harmed through it."),
        Category::Bug => ("Bug", "It does the wrong thing."),
        Category::Architecture => ("Architecture", "It is built in the wrong way."),
        Category::Performance => ("Performance", "It is too slow or too big."),
        Category::TestCoverage => ("TestCoverage", "It is not tested enough."),
        Category::Other => ("Other", "Anything else worth a look."),
    }
}

/// Returns what is known of the rule that made a finding: of a built-in one all that it says, of
/// others what the finding says.
fn of_rule(finding: &ReviewedFinding, (id, is_builtin): &(String, bool)) -> Value {
    let known = is_builtin.then(|| builtin_rule(id)).flatten();
    let (short, reason, fix, severity) = match &known {
        Some(rule) => (
            rule.info.message.clone(),
            rule.info.reason.clone(),
            rule.info.suggestion.clone(),
            rule.info.label.severity(),
        ),
        None => (
            id.clone(),
            one_line(&finding.description, PROSE),
            one_line(&finding.suggestion, PROSE),
            finding.severity,
        ),
    };
    let mut help: Vec<String> = Vec::new();
    if !reason.is_empty() {
        help.push(reason.clone());
    }
    if !fix.is_empty() {
        help.push(format!("Fix: {fix}"));
    }
    if known.is_some() {
        help.push(format!(
            "`tribunal rules show {id}` has examples; `tribunal config set review.rules.{id} LEVEL` \
             changes the level."
        ));
    }
    let mut descriptor = json!({
        "id": id,
        "shortDescription": { "text": plain(&short) },
        "defaultConfiguration": { "level": level(severity) },
        "properties": { "tags": [finding.category.as_str()] },
    });
    if !reason.is_empty() {
        descriptor["fullDescription"] = json!({ "text": plain(&reason) });
    }
    if !help.is_empty() {
        descriptor["help"] = json!({ "text": plain(&help.join("\n\n")) });
    }
    descriptor
}

/// Returns the level of SARIF for a severity.
pub(super) fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Critical | Severity::High => "error",
        Severity::Medium => "warning",
        Severity::Low => "note",
    }
}

/// A bracket before a parenthesis would make a link of it.
fn plain(text: &str) -> String {
    text.replace("](", "] (")
}
