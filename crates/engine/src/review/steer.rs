//! What a change does to the files that steer its own review, and whose word counts instead.

use std::path::{Path, PathBuf};

use tribunal_code::rule::{builtin_ids, load_user_rules};
use tribunal_core::review::rule_level::{RuleLevel, RuleLevels};

use crate::case::CaseError;
use crate::change::listing::{self, Entry, Kind};
use crate::change::{ChangeError, Pinned, Repository, blobs, knows_default_branch};
use crate::config::edited_keys;
use crate::rules::{is_rule_file, rule_files};

/// Where the settings of a review came from, for the report.
#[derive(Debug, Clone, Default)]
pub struct SettingsNote {
    /// Whose settings were used, as the end of a sentence.
    pub used: String,
    /// What is to be said unless the change itself edits the file, which says as much.
    pub unless_edited: Vec<String>,
    /// What is to be said in any case.
    pub always: Vec<String>,
}

/// The project's own rules, and what the reader should know about them.
pub(super) struct ProjectRules {
    pub(super) texts: Vec<String>,
    /// The ids of the rules that are used.
    pub(super) ids: Vec<String>,
    pub(super) notes: Vec<String>,
}

/// Returns the project's own rules: those of the base, and of the working tree those that take
/// nobody's place.
pub(super) fn rules(repo: &Repository, pinned: &Pinned) -> Result<ProjectRules, CaseError> {
    let mut rules = ProjectRules {
        texts: Vec::new(),
        ids: Vec::new(),
        notes: Vec::new(),
    };
    let (at_base, here) = (rules_at_base(repo, pinned)?, rules_here(repo)?);
    if at_base.is_empty() && here.is_empty() {
        return Ok(rules);
    }
    let mut taken: Vec<String> = builtin_ids();
    for (path, text) in at_base {
        let own = ids(&path, &text)?;
        taken.extend(own.iter().cloned());
        rules.ids.extend(own);
        rules.texts.push(text);
    }
    for (path, text) in here {
        if rules.texts.contains(&text) {
            continue;
        }
        let own = ids(&path, &text)?;
        match own.iter().find(|id| taken.contains(id)) {
            Some(id) => rules.notes.push(format!(
                "{path} redefines the rule `{id}`, so the review did not use the file"
            )),
            None => {
                rules.ids.extend(own);
                rules.texts.push(text);
            }
        }
    }
    Ok(rules)
}

/// Keeps the levels of rules that exist, and returns what to say about levels: which rules are off,
/// which have another level, which do not exist.
pub(super) fn settle_levels(levels: &mut RuleLevels, own: &[String]) -> Vec<String> {
    if levels.is_empty() {
        return Vec::new();
    }
    let builtin = builtin_ids();
    let mut notes = Vec::new();
    levels.retain(|id, _| {
        let exists = builtin.contains(id) || own.contains(id);
        if !exists {
            notes.push(format!(
                "`review.rules` names `{id}`, but there is no such rule"
            ));
        }
        exists
    });
    let (off, changed): (Vec<_>, Vec<_>) = levels
        .iter()
        .partition(|(_, level)| **level == RuleLevel::Off);
    let off: Vec<String> = off.iter().map(|(id, _)| format!("`{id}`")).collect();
    if !off.is_empty() {
        let count = match off.len() {
            1 => "1 rule is".to_owned(),
            many => format!("{many} rules are"),
        };
        notes.push(format!("{count} off: {}", off.join(", ")));
    }
    let changed: Vec<String> = changed
        .iter()
        .map(|(id, level)| format!("`{id}` ({level})"))
        .collect();
    if !changed.is_empty() {
        let count = match changed.len() {
            1 => "1 rule has".to_owned(),
            many => format!("{many} rules have"),
        };
        notes.push(format!(
            "{count} another level by `review.rules`: {}",
            changed.join(", ")
        ));
    }
    notes
}

fn ids(path: &str, text: &str) -> Result<Vec<String>, CaseError> {
    let set = load_user_rules(text)
        .map_err(|error| CaseError::Request(format!("the rule {path}: {error}")))?;
    Ok(set.ids())
}

fn rules_at_base(repo: &Repository, pinned: &Pinned) -> Result<Vec<(String, String)>, CaseError> {
    let Some(base) = pinned.settled.clone() else {
        return Ok(Vec::new());
    };
    let folder = ".tribunal/rules".to_owned();
    if blobs::kinds(repo, &[format!("{base}:{folder}")])? != [Some("tree".to_owned())] {
        return Ok(Vec::new());
    }
    let entries = listing::compare(repo, repo.format.empty_tree(), &base, &[folder])?;
    let mut found = Vec::new();
    for entry in entries {
        let path = String::from_utf8_lossy(&entry.path).into_owned();
        let is_direct = path.matches('/').count() == 2;
        if entry.new.kind() == Kind::File && is_direct && is_rule_file(Path::new(&path)) {
            let bytes = blobs::content(repo, &entry.new.id)?;
            found.push((path, String::from_utf8_lossy(&bytes).into_owned()));
        }
    }
    Ok(found)
}

fn rules_here(repo: &Repository) -> Result<Vec<(String, String)>, CaseError> {
    let read = |path: PathBuf| {
        let shown = path.strip_prefix(repo.root()).unwrap_or(&path);
        let shown = shown.display().to_string();
        let doing = format!("read the rule {shown}");
        let text = std::fs::read_to_string(&path).map_err(CaseError::file(doing))?;
        Ok((shown, text))
    };
    rule_files(repo.root()).into_iter().map(read).collect()
}

/// Returns what to say where nothing tells which branch is the default one, so that an earlier commit of
/// the branch under review may speak for it.
pub(super) fn branch_note(
    repo: &Repository,
    pinned: &Pinned,
) -> Result<Option<String>, ChangeError> {
    let Some(base) = pinned.settled.as_deref().filter(|_| repo.is_versioned()) else {
        return Ok(None);
    };
    if knows_default_branch(repo)? {
        return Ok(None);
    }
    let base = base.get(..10).unwrap_or(base);
    Ok(Some(format!(
        "none of several branches is known as the default branch, so settings, rulings and markers \
         of {base} count, which may be a commit of the branch under review; name the base with \
         `--base`, or the default branch with `git config init.defaultBranch NAME`"
    )))
}

/// Returns what to say about the settings of a review and about a change that edits them.
pub(super) fn notes(
    repo: &Repository,
    pinned: &Pinned,
    settings: &SettingsNote,
) -> Result<Vec<String>, ChangeError> {
    let mut notes = Vec::new();
    let mut edits_settings = false;
    for entry in steering_files(repo, pinned)? {
        let path = String::from_utf8_lossy(&entry.path).into_owned();
        if path.ends_with(".tribunal/config.yml") {
            edits_settings = true;
            let keys = keys_of(repo, &entry)?;
            let keys = match keys.is_empty() {
                true => String::new(),
                false => format!(" ({})", keys.join(", ")),
            };
            let used = match settings.used.as_str() {
                "" => String::new(),
                used => format!("; {used}"),
            };
            notes.push(format!("this change edits `{path}`{keys}{used}"));
        } else {
            notes.push(format!(
                "this change edits `{path}`, which steers reviews; the review used what was there before"
            ));
        }
    }
    if !edits_settings {
        notes.extend(settings.unless_edited.iter().cloned());
    }
    notes.extend(settings.always.iter().cloned());
    Ok(notes)
}

fn keys_of(repo: &Repository, entry: &Entry) -> Result<Vec<String>, ChangeError> {
    let content = |side: &listing::Side| match side.kind() {
        Kind::File => blobs::content(repo, &side.id).map(Some),
        Kind::Missing | Kind::Link | Kind::Submodule => Ok(None),
    };
    Ok(edited_keys(
        content(&entry.old)?.as_deref(),
        content(&entry.new)?.as_deref(),
    ))
}

fn steering_files(repo: &Repository, pinned: &Pinned) -> Result<Vec<Entry>, ChangeError> {
    let (Some(head), false) = (&pinned.head, pinned.whole_files) else {
        return Ok(Vec::new());
    };
    let nothing = repo.format.empty_tree();
    let base = pinned.base.as_deref().unwrap_or(nothing);
    let mut entries = listing::compare(repo, base, head, &[])?;
    entries.retain(|entry| {
        let names = [Some(&entry.path), entry.old_path.as_ref()];
        names
            .into_iter()
            .flatten()
            .any(|path| steers(&String::from_utf8_lossy(path)))
    });
    Ok(entries)
}

fn steers(path: &str) -> bool {
    let within = path.rsplit_once(".tribunal/").map(|(_, within)| within);
    let is_ours =
        within.is_some_and(|within| within == "config.yml" || within.starts_with("rules/"));
    is_ours || path == ".gitattributes" || path.ends_with("/.gitattributes")
}
