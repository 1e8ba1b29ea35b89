//! The rules of the built-in reviewers and of the project, for people and for settings.

use std::path::{Path, PathBuf};

use tribunal_code::rule::project_catalog;
pub use tribunal_code::rule::{CatalogRule, Domain, RuleExample, RuleInfo, Scope};
pub use tribunal_code::rule::{builtin_catalog, builtin_ids, builtin_rule};

/// How many ids are offered in place of one that does not exist.
const OFFERED: usize = 3;

/// What is known of a project's own rules.
#[derive(Debug, Clone, Default)]
pub struct ProjectCatalog {
    /// The rules, by file and in the order of each file.
    pub rules: Vec<CatalogRule>,
    /// Files that cannot be used, one sentence each.
    pub problems: Vec<String>,
}

/// Returns the project's own rules: those in `.tribunal/rules` below `root`, as they are now.
#[must_use]
pub fn project_rules(root: &Path) -> ProjectCatalog {
    let mut catalog = ProjectCatalog::default();
    for path in rule_files(root) {
        let shown = path.strip_prefix(root).unwrap_or(&path).display();
        let read = std::fs::read_to_string(&path).map_err(|error| error.to_string());
        match read.and_then(|text| project_catalog(&text).map_err(|error| error.to_string())) {
            Ok(rules) => catalog.rules.extend(rules),
            Err(why) => catalog
                .problems
                .push(format!("{shown} cannot be used: {why}")),
        }
    }
    catalog
}

/// Returns the files that hold the project's own rules.
pub(crate) fn rule_files(root: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(root.join(".tribunal").join("rules")) else {
        return Vec::new();
    };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| is_rule_file(path));
    paths.sort();
    paths
}

/// Tells whether a file in the folder of rules is one.
pub(crate) fn is_rule_file(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str());
    matches!(ending, Some("yml" | "yaml"))
}

/// Returns the ids of `known` that somebody who wrote `id` probably meant, the nearest first.
#[must_use]
pub fn nearest_ids<'k>(id: &str, known: impl IntoIterator<Item = &'k str>) -> Vec<&'k str> {
    let id = id.to_lowercase();
    let scored = known.into_iter().filter_map(|one| {
        let lower = one.to_lowercase();
        let slips = strsim::damerau_levenshtein(&id, &lower);
        let is_part = id.len() >= 3 && lower.contains(&id);
        let is_near = slips <= id.chars().count().max(lower.chars().count()) / 3;
        (is_part || is_near).then_some((!is_part, slips, one))
    });
    let mut scored: Vec<_> = scored.collect();
    scored.sort_unstable();
    scored.dedup();
    scored.truncate(OFFERED);
    scored.into_iter().map(|(_, _, one)| one).collect()
}

/// Returns the question about what somebody probably meant; nothing when nothing is near.
#[must_use]
pub fn did_you_mean(ids: &[&str]) -> Option<String> {
    let quoted: Vec<String> = ids.iter().map(|id| format!("`{id}`")).collect();
    match quoted.as_slice() {
        [] => None,
        [only] => Some(format!("did you mean {only}?")),
        [first @ .., last] => Some(format!("did you mean {} or {last}?", first.join(", "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_or_a_part_of_an_id_is_understood() {
        let known = ["python-eval", "javascript-eval", "python-sql-text"];
        assert_eq!(nearest_ids("pyton-eval", known), ["python-eval"]);
        assert_eq!(
            nearest_ids("eval", known),
            ["python-eval", "javascript-eval"]
        );
        assert_eq!(nearest_ids("Python-Eval", known), ["python-eval"]);
        assert!(nearest_ids("x", known).is_empty());
        assert_eq!(did_you_mean(&[]), None);
        let asked = did_you_mean(&["a", "b", "c"]);
        assert_eq!(asked.as_deref(), Some("did you mean `a`, `b` or `c`?"));
    }
}
