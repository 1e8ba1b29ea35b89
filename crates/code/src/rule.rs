//! The rule engine behind the built-in reviewers: syntax-tree rules over one parse of a file.
//!
//! Rules are written in the YAML of ast-grep, so a project's own rules work as they are. All
//! rules of a language share one walk: each node is shown only to the rules that can match its
//! kind, and of a diff only the changed parts are visited.

mod builtin;
mod catalog;
mod check;
mod load;
mod markup;
mod meta;
mod suppress;
mod text;

pub use builtin::{builtin_ids, builtin_rules, examples};
pub use catalog::{CatalogRule, RuleExample, builtin_catalog, builtin_rule, project_catalog};
pub use check::{CutOff, Hit, Refusal, Refused, Report, Reviewer, Silenced, Source};
pub use load::{RuleError, RuleSet, load_user_rules};
pub use meta::{Domain, Example, RuleInfo, Scope};
pub use text::{TextExample, TextSource, foreign_coding, is_read_alike, text_examples, text_rules};

#[cfg(test)]
mod tests;
