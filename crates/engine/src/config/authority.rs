//! What each setting of an untrusted project file may do: the one table for all keys.

use serde_json::{Value, json};
use tribunal_core::dispute::Recourse;
use tribunal_core::finding::Label;
use tribunal_core::review::gate::Obligation;
use tribunal_core::review::rule_level::RuleLevel;

use super::settings::Settings;
use super::values::Usd;
use super::work::PushChoice;
use crate::rules::builtin_rule;

/// Values for keys, by which an untrusted file makes the gate stricter.
pub(super) type Tightened = Vec<(&'static str, Value)>;

/// What a setting may do when it comes from a file that nobody has trusted.
#[derive(Clone, Copy)]
pub(super) enum Authority {
    /// It changes how things look, and nothing else.
    Harmless,
    /// It counts as far as it is stricter than what is in force.
    Tightens(fn(now: &Settings, theirs: &Settings) -> Option<Tightened>),
    /// It is an entry of a mapping, and counts if it is stricter than what is in force for this
    /// entry.
    EntryTightens(fn(now: &Settings, theirs: &Settings, entry: &str) -> bool),
    /// It takes part in a decision, so it does not count.
    Decides,
}

/// Keys that change how things look, and nothing else.
const HARMLESS: [&str; 1] = ["disputes.shown_resolved"];

/// One key that can make the gate stricter, and how.
type Row = (&'static str, fn(&Settings, &Settings) -> Option<Tightened>);

/// Keys whose values can be compared, so that the stricter one can be taken. Only what can never
/// help a change through the gate belongs here; one more reviewer can, for it may outvote others.
const TIGHTENING: [Row; 9] = [
    ("review.issues.mandatory", |now, theirs| {
        let (now, theirs) = (&now.review.issues, &theirs.review.issues);
        more_labels(
            ["review.issues.mandatory", "review.issues.optional"],
            (&now.mandatory, &now.optional),
            &theirs.mandatory,
        )
    }),
    ("review.opinions.mandatory", |now, theirs| {
        let (now, theirs) = (&now.review.opinions, &theirs.review.opinions);
        more_labels(
            ["review.opinions.mandatory", "review.opinions.optional"],
            (&now.mandatory, &now.optional),
            &theirs.mandatory,
        )
    }),
    ("review.may_skip", |now, theirs| {
        let now = &now.review.may_skip;
        let kept: Vec<_> = now
            .iter()
            .filter(|why| theirs.review.may_skip.contains(why))
            .collect();
        (kept.len() < now.len()).then(|| vec![("review.may_skip", json!(kept))])
    }),
    ("review.on_dispute.default", |now, theirs| {
        let is_human =
            |settings: &Settings| settings.review.on_dispute.default_recourse == Recourse::Human;
        (is_human(theirs) && !is_human(now))
            .then(|| vec![("review.on_dispute.default", json!(Recourse::Human))])
    }),
    ("git.push", |now, theirs| {
        let is_never = |settings: &Settings| settings.git.push == PushChoice::Never;
        (is_never(theirs) && !is_never(now)).then(|| vec![("git.push", json!(PushChoice::Never))])
    }),
    ("budget.per_case", |now, theirs| {
        let (now, theirs) = (now.budget.per_case, theirs.budget.per_case);
        lower("budget.per_case", now, theirs)
    }),
    ("budget.per_day", |now, theirs| {
        let (now, theirs) = (now.budget.per_day, theirs.budget.per_day);
        lower("budget.per_day", now, theirs)
    }),
    ("budget.max_tokens_per_case", |now, theirs| {
        let key = "budget.max_tokens_per_case";
        fewer(
            key,
            now.budget.max_tokens_per_case,
            theirs.budget.max_tokens_per_case,
        )
    }),
    ("budget.max_runs_per_case", |now, theirs| {
        let key = "budget.max_runs_per_case";
        fewer(
            key,
            now.budget.max_runs_per_case,
            theirs.budget.max_runs_per_case,
        )
    }),
];

/// Returns what the key at `path` may do; what the table does not name decides.
pub(super) fn of(path: &[&str]) -> Authority {
    if let ["review", "rules", _] = path {
        return Authority::EntryTightens(raises_rule);
    }
    let key = path.join(".");
    if HARMLESS.contains(&key.as_str()) {
        return Authority::Harmless;
    }
    let row = TIGHTENING.iter().find(|(known, _)| *known == key);
    row.map_or(Authority::Decides, |(_, tighten)| {
        Authority::Tightens(*tighten)
    })
}

/// Tells whether `theirs` raises the level of a rule that runs.
///
/// A rule that is off stays off: one more voice can bring down the median of three families. The
/// level that a project's own rule comes with is not known here, so only a level that is set can be
/// raised.
fn raises_rule(now: &Settings, theirs: &Settings, id: &str) -> bool {
    let before = match now.review.rules.get(id) {
        Some(level) => level.label(),
        None => builtin_rule(id).map(|rule| rule.info.label),
    };
    let after = theirs.review.rules.get(id).copied();
    let (Some(before), Some(after)) = (before, after.and_then(RuleLevel::label)) else {
        return false;
    };
    let is_let_go = now.review.obligation(before) == Obligation::Mandatory
        && now.review.obligation(after) == Obligation::Optional;
    after.severity() > before.severity() && !is_let_go
}

/// Adds labels to the mandatory ones and takes them from the optional ones.
fn more_labels(
    [mandatory_key, optional_key]: [&'static str; 2],
    (mandatory, optional): (&[Label], &[Label]),
    theirs: &[Label],
) -> Option<Tightened> {
    let new: Vec<Label> = theirs
        .iter()
        .copied()
        .filter(|label| !mandatory.contains(label))
        .collect();
    if new.is_empty() {
        return None;
    }
    let all = [mandatory, &new].concat();
    let left: Vec<Label> = optional
        .iter()
        .copied()
        .filter(|label| !all.contains(label))
        .collect();
    Some(vec![
        (mandatory_key, json!(all)),
        (optional_key, json!(left)),
    ])
}

fn lower(key: &'static str, now: Option<Usd>, theirs: Option<Usd>) -> Option<Tightened> {
    let theirs = theirs.filter(|theirs| now.is_none_or(|now| theirs.0 < now.0))?;
    Some(vec![(key, json!(theirs))])
}

fn fewer(key: &'static str, now: Option<u64>, theirs: Option<u64>) -> Option<Tightened> {
    let theirs = theirs.filter(|theirs| now.is_none_or(|now| *theirs < now))?;
    Some(vec![(key, json!(theirs))])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::schema::known_keys;

    #[test]
    fn the_table_names_only_settings_that_exist() {
        let known = known_keys();
        let named = TIGHTENING.iter().map(|(key, _)| *key).chain(HARMLESS);
        for key in named {
            assert!(known.iter().any(|one| one == key), "{key}");
        }
    }
}
