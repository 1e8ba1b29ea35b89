//! The rules that come with the program, compiled when a language is first met.

use std::sync::OnceLock;

use super::load::{Foreign, LanguageRules, ReadRule, read_rules};
use super::meta::{Domain, Example, RuleInfo};
use super::text::text_rules;
use crate::language::Language;

include!(concat!(env!("OUT_DIR"), "/rules.rs"));

/// Returns what is known of the built-in rules of a language.
pub fn builtin_rules(language: Language) -> impl Iterator<Item = &'static RuleInfo> {
    rules_of(language).rules.iter().map(|rule| &rule.info)
}

/// Returns the ids of all built-in rules, those on the text of files included, in order.
#[must_use]
pub fn builtin_ids() -> Vec<String> {
    // A rule file is named like its rule.
    let of_trees = RULE_FILES.iter().map(|file| file.name.to_owned());
    let of_texts = text_rules().map(|info| info.id.clone());
    let mut ids: Vec<String> = of_trees.chain(of_texts).collect();
    ids.sort();
    ids
}

/// Returns all rules of the rule files, with their domains.
pub(super) fn all_read_rules() -> impl Iterator<Item = (Domain, ReadRule)> {
    RULE_FILES.iter().flat_map(read)
}

/// Returns the rules of the file that has this name, with their domain.
pub(super) fn read_rules_named(id: &str) -> impl Iterator<Item = (Domain, ReadRule)> {
    let files = RULE_FILES.iter().filter(move |file| file.name == id);
    files.flat_map(read)
}

/// Returns the examples of all built-in rules, which are their tests.
#[must_use]
pub fn examples() -> Vec<Example> {
    let mut all = Vec::new();
    for (domain, read) in all_read_rules() {
        for language in read.languages() {
            let scope = read.scope(domain);
            all.extend(read.metadata.examples(&read.config.id, language, scope));
        }
    }
    all
}

/// Returns the compiled rules of a language.
pub(super) fn rules_of(language: Language) -> &'static LanguageRules {
    static COMPILED: [OnceLock<LanguageRules>; Language::ALL.len()] =
        [const { OnceLock::new() }; Language::ALL.len()];
    let slot = Language::ALL.iter().position(|known| *known == language);
    COMPILED[slot.unwrap_or(0)].get_or_init(|| compile(language))
}

fn compile(language: Language) -> LanguageRules {
    let mut rules = LanguageRules::default();
    if !language.is_available() {
        return rules;
    }
    let prefixes = prefixes_of(language);
    for (domain, read) in files_for(&prefixes).flat_map(read) {
        let compiled = read.compile_only(language, domain);
        // The tests compile every rule, so a broken one cannot reach a release.
        debug_assert!(compiled.is_ok(), "{:?}", compiled.err());
        if let Ok(Some(rule)) = compiled {
            rules.add(rule);
        }
    }
    rules
}

/// Returns how the names of files begin that may hold rules for `language`.
fn prefixes_of(language: Language) -> Vec<&'static str> {
    let mut prefixes = vec!["any", language.as_str()];
    match language {
        Language::Cpp => prefixes.push("c"),
        Language::Tsx => prefixes.extend(["javascript", "typescript"]),
        Language::TypeScript => prefixes.push("javascript"),
        _ => {}
    }
    prefixes
}

fn files_for(prefixes: &[&str]) -> impl Iterator<Item = &'static RuleFile> {
    RULE_FILES.iter().filter(move |file| {
        let prefix = file.name.split_once('-').map(|(prefix, _)| prefix);
        prefix.is_some_and(|prefix| prefixes.contains(&prefix))
    })
}

fn read(file: &'static RuleFile) -> Vec<(Domain, ReadRule)> {
    let rules = read_rules(file.text, Foreign::Skip);
    debug_assert!(rules.is_ok(), "{}: {:?}", file.name, rules.as_ref().err());
    let domain = file.domain.parse().unwrap_or(Domain::Correctness);
    rules
        .unwrap_or_default()
        .into_iter()
        .map(|rule| (domain, rule))
        .collect()
}

/// One embedded rule file.
struct RuleFile {
    /// Name of its folder.
    domain: &'static str,
    /// Name of the file without extension: language, dash, name.
    name: &'static str,
    text: &'static str,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::{Reviewer, Source};

    #[test]
    fn every_rule_file_reads_and_compiles_and_is_complete() {
        let problems: Vec<String> = RULE_FILES.iter().flat_map(problems_of).collect();
        assert!(problems.is_empty(), "{}", problems.join("\n"));
    }

    fn problems_of(file: &RuleFile) -> Vec<String> {
        let named = |problem: &str| format!("{}: {problem}", file.name);
        let rules = match read_rules(file.text, Foreign::Skip) {
            Ok(rules) => rules,
            Err(error) => return vec![named(&error.to_string())],
        };
        let mut problems = Vec::new();
        for rule in rules {
            if let Err(error) = rule.compile(Domain::Correctness) {
                problems.push(named(&error.to_string()));
            }
            let metadata = &rule.metadata;
            let demands = [
                (
                    file.domain.parse::<Domain>().is_ok(),
                    "its folder is a domain",
                ),
                (
                    rule.config.id == file.name,
                    "the rule is named like the file",
                ),
                (metadata.bad.len() >= 2, "two bad examples"),
                (metadata.good.len() >= 2, "two good examples"),
                (metadata.label.is_some(), "a label"),
                (metadata.suggestion.is_some(), "a suggestion"),
                (rule.config.note.is_some(), "a reason"),
                (
                    metadata
                        .doubt
                        .as_ref()
                        .is_none_or(|it| !it.because.is_empty()),
                    "why it doubts",
                ),
            ];
            problems.extend(demands.iter().filter(|it| !it.0).map(|it| named(it.1)));
        }
        problems
    }

    #[test]
    fn names_are_unique_and_every_file_is_used() {
        let mut names: Vec<(Language, &str)> = Language::ALL
            .into_iter()
            .flat_map(|language| builtin_rules(language).map(move |rule| (language, &*rule.id)))
            .collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
        let prefixes: Vec<&str> = Language::ALL.into_iter().flat_map(prefixes_of).collect();
        let is_used = |file: &RuleFile| files_for(&prefixes).any(|used| used.name == file.name);
        let unused: Vec<&str> = RULE_FILES
            .iter()
            .filter(|file| !is_used(file))
            .map(|file| file.name)
            .collect();
        assert_eq!(unused, Vec::<&str>::new());
    }

    #[test]
    fn every_example_is_judged_as_its_rule_says() {
        let reviewer = Reviewer::new(Domain::BUILTIN);
        let mut wrong = Vec::new();
        for example in examples() {
            let report = reviewer
                .check(&Source {
                    path: example.path,
                    language: example.language,
                    text: &example.source,
                    changed: None,
                })
                .expect("an example parses");
            let lines: Vec<u32> = report
                .hits
                .iter()
                .filter(|hit| hit.rule == example.rule)
                .map(|hit| hit.line)
                .collect();
            if lines != example.lines {
                wrong.push(format!(
                    "{} ({}): expected {:?}, got {lines:?}\n{}",
                    example.rule, example.language, example.lines, example.source
                ));
            }
        }
        assert!(
            wrong.is_empty(),
            "{} wrong:\n{}",
            wrong.len(),
            wrong.join("\n")
        );
    }
}
