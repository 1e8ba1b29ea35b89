//! Whether the rules that the settings name exist.

use super::error::ConfigError;
use super::node::{Mark, Node};
use super::project::shown_base;
use super::{Project, Sources};
use crate::rules::{builtin_ids, did_you_mean, nearest_ids, project_rules};

/// Checks the ids in `review.rules`, each where it was written.
///
/// The file of the base is not checked: the change may have removed the project's rule that it
/// names. A level for a rule that does not exist changes nothing, and the review says so.
pub(super) fn check(tree: &Node, sources: &Sources, project: &Project) -> Result<(), ConfigError> {
    let rules = tree.at(&["review", "rules"]);
    let base = sources.base.as_ref().map(shown_base);
    let written = rules.map(Node::entries).unwrap_or_default().iter();
    let of_base = |mark: &Mark| base.is_some() && mark.source.file == base;
    let mut written = written
        .filter(|entry| !of_base(&entry.mark) && !of_base(&entry.value.mark))
        .peekable();
    if written.peek().is_none() {
        return Ok(());
    }
    let builtin = builtin_ids();
    let mut own = None;
    for entry in written {
        let id = &entry.key;
        if builtin.contains(id) {
            continue;
        }
        let own: &Vec<String> = own.get_or_insert_with(|| {
            let rules = project_rules(&project.root).rules;
            rules.into_iter().map(|rule| rule.info.id).collect()
        });
        if own.contains(id) {
            continue;
        }
        let known = builtin.iter().chain(own).map(String::as_str);
        let guess = did_you_mean(&nearest_ids(id, known));
        let hint = guess.unwrap_or_else(|| "`tribunal rules` lists all rules".to_owned());
        let message = format!("in `review.rules`, there is no rule `{id}`");
        return Err(entry.mark.error(message, Some(hint)));
    }
    Ok(())
}
