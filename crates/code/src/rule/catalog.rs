//! What people can read about each rule: reason, fix, level and examples.

use serde::Serialize;

use super::builtin;
use super::load::{Foreign, ReadRule, RuleError, load_user_rules, read_rules};
use super::meta::{Domain, Example, RuleInfo};
use super::text;
use crate::language::Language;

/// A rule as `tribunal rules` shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CatalogRule {
    /// What the rule says about itself. Its language is the first of `languages`.
    #[serde(flatten)]
    pub info: RuleInfo,
    /// The languages that it reads; none for a rule on the text of files.
    pub languages: Vec<Language>,
    /// The files that it reads, in words.
    pub files: String,
    /// Code that it reports.
    pub bad: Vec<RuleExample>,
    /// Code that it leaves alone.
    pub good: Vec<RuleExample>,
}

/// An example of a rule, as people see it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RuleExample {
    /// A path that such a file could have.
    pub path: String,
    /// The text.
    pub text: String,
    /// The lines that the rule reports.
    pub lines: Vec<u32>,
}

/// Returns every built-in rule, ordered by id.
#[must_use]
pub fn builtin_catalog() -> Vec<CatalogRule> {
    let of_trees = builtin::all_read_rules();
    let of_trees = of_trees.filter_map(|(domain, read)| catalog_rule(&read, domain).ok());
    let mut rules: Vec<CatalogRule> = of_trees.chain(text::catalog()).collect();
    rules.sort_by(|a, b| a.info.id.cmp(&b.info.id));
    joined(rules)
}

/// Returns one built-in rule; reads no more rule files than it must.
#[must_use]
pub fn builtin_rule(id: &str) -> Option<CatalogRule> {
    let of_trees = builtin::read_rules_named(id);
    let of_trees = of_trees.filter_map(|(domain, read)| catalog_rule(&read, domain).ok());
    let of_texts = text::catalog().filter(|rule| rule.info.id == id);
    joined(of_trees.chain(of_texts).collect()).pop()
}

/// Returns what a project's rule file says about its rules, in the order of the file.
///
/// # Errors
///
/// The file cannot be used as rules; see [`load_user_rules`].
pub fn project_catalog(yaml: &str) -> Result<Vec<CatalogRule>, RuleError> {
    let ids = load_user_rules(yaml)?.ids();
    let read = read_rules(yaml, Foreign::Refuse)?;
    let rules = read.iter().map(|read| catalog_rule(read, Domain::Project));
    let mut rules = joined(rules.collect::<Result<_, _>>()?);
    rules.retain(|rule| ids.contains(&rule.info.id));
    Ok(rules)
}

/// Makes one rule of neighbours with the same id: a rule file may have a document per language.
fn joined(rules: Vec<CatalogRule>) -> Vec<CatalogRule> {
    let mut all: Vec<CatalogRule> = Vec::with_capacity(rules.len());
    for rule in rules {
        match all.last_mut().filter(|last| last.info.id == rule.info.id) {
            Some(last) => {
                last.languages.extend(rule.languages);
                last.languages.sort_unstable();
                last.languages.dedup();
                last.files = named(&last.languages);
                last.bad.extend(rule.bad);
                last.good.extend(rule.good);
            }
            None => all.push(rule),
        }
    }
    all
}

fn catalog_rule(read: &ReadRule, domain: Domain) -> Result<CatalogRule, RuleError> {
    let languages = read.languages();
    let first = read.config.language.language();
    let mut info = read.info(first, domain)?;
    info.message = without_variables(&info.message);
    // Its other languages have the same examples.
    let examples = read.metadata.examples(&info.id, first, info.scope);
    let shown = |example: Example| RuleExample {
        path: example.path.to_owned(),
        text: example.source,
        lines: example.lines,
    };
    let (good, bad) = examples
        .into_iter()
        .map(shown)
        .partition(|example: &RuleExample| example.lines.is_empty());
    Ok(CatalogRule {
        info,
        files: named(&languages),
        languages,
        bad,
        good,
    })
}

/// Returns a message with an ellipsis in the place of its meta variables.
fn without_variables(message: &str) -> String {
    let mut text = String::with_capacity(message.len());
    let mut rest = message;
    while let Some((before, after)) = rest.split_once('$') {
        let is_name =
            |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_' || c == '$';
        let tail = after.trim_start_matches(is_name);
        text.push_str(before);
        text.push(if tail.len() < after.len() { '…' } else { '$' });
        rest = tail;
    }
    text + rest
}

fn named(languages: &[Language]) -> String {
    let names: Vec<&str> = languages.iter().map(|one| one.as_str()).collect();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::{builtin_ids, builtin_rules, text_rules};

    #[test]
    fn the_catalog_has_every_rule_that_reviewers_run_once_and_complete() {
        let catalog = builtin_catalog();
        let listed: Vec<&str> = catalog.iter().map(|rule| rule.info.id.as_str()).collect();
        let of_trees = Language::ALL.into_iter().flat_map(builtin_rules);
        let mut run: Vec<&str> = of_trees
            .chain(text_rules())
            .map(|info| info.id.as_str())
            .collect();
        run.sort_unstable();
        run.dedup();
        assert_eq!(listed, run);
        assert_eq!(listed, builtin_ids());
        for rule in &catalog {
            let id = &rule.info.id;
            assert!(!rule.bad.is_empty() && !rule.good.is_empty(), "{id}");
            assert!(
                !rule.files.is_empty() && !rule.info.reason.is_empty(),
                "{id}"
            );
            assert_eq!(builtin_rule(id).as_ref(), Some(rule));
        }
        assert_eq!(builtin_rule("no-such-rule"), None);
    }

    #[test]
    fn a_rule_for_several_languages_is_one_rule() {
        let rule = builtin_rule("any-secret-in-source").expect("there is such a rule");
        assert!(rule.languages.len() > 3, "{:?}", rule.languages);
        assert!(rule.files.contains("python"), "{}", rule.files);
    }

    #[test]
    fn rules_of_a_project_are_listed_with_what_their_file_says() {
        let yaml = "id: no-print\nlanguage: python\nseverity: warning\nnote: Use the log.\n\
                    rule: {pattern: print($A)}\nmetadata: {bad: ['print(1)'], good: ['log(1)']}\n";
        let rules = project_catalog(yaml).expect("it is a rule");
        assert_eq!(rules.len(), 1);
        assert_eq!(rules[0].info.reason, "Use the log.");
        assert_eq!(rules[0].bad[0].text, "print(1)");
        assert!(project_catalog("id: x\nlanguage: python\nrule: {kind: nope}\n").is_err());
        let off = "id: no-print\nlanguage: python\nseverity: off\nrule: {pattern: print($A)}\n";
        assert_eq!(project_catalog(off), Ok(Vec::new()));
    }
}
