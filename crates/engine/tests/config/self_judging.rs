//! A change cannot judge itself: no setting of an untrusted file makes the gate milder.

use std::fs;

use tribunal_core::dispute::Recourse;
use tribunal_engine::config::{
    AgentSettings, BaseFile, Loaded, PushChoice, Settings, Sources, Trust, load,
};
use tribunal_engine::rules::builtin_rule;

use super::World;

/// Values that some setting or other takes, mild ones first of all.
pub(super) const VALUES: [&str; 53] = [
    "landlock",
    "true",
    "false",
    "0",
    "1",
    "2",
    "5",
    "300",
    "99999",
    "0.5",
    "1000.0",
    "null",
    "[]",
    "{}",
    "[LOW]",
    "[CRITICAL, HIGH, MEDIUM, LOW, MUST, SHOULD]",
    "[security]",
    "['*']",
    "[too_large, binary, vendored, generated, ignored, unanswered, unreadable]",
    "judge",
    "human",
    "discard",
    "none",
    "never",
    "always",
    "halt",
    "arena",
    "equal",
    "record",
    "contested",
    "median",
    "off",
    "normal",
    "directory",
    "1s",
    "10h",
    "1KiB",
    "1GiB",
    "text",
    "claude",
    "anthropic",
    "[echo, '[]']",
    "'https://example.org'",
    "[{on: evaluate_progress, then: complete}]",
    "{x: y}",
    "{python-eval: off}",
    "{python-eval: low}",
    "{python-eval: high}",
    "{any-secret-in-source: medium, go-sleep: off}",
    "{go-sleep: high, workflow-unpinned-action: medium}",
    "{shell-world-writable: high, no-such-rule: high}",
    "{no-such-rule: off}",
    "{python-shell-command: high}",
];

pub(super) const STRICT_BASE: &str = "\
review:
  issues: {mandatory: [CRITICAL, HIGH, MEDIUM], optional: [LOW]}
  may_skip: [lock_file]
  rules: {python-eval: medium, go-sleep: medium, python-shell-command: off}
  allow_new_suppressions: true
  on_dispute: {default: human}
budget: {per_case: 1.0, per_day: 2.0, max_runs_per_case: 20}
git: {push: never}
agents:
- {name: ann, provider: scripted, script: ann.yml, role: reviewer}
";

pub(super) fn with_base(world: &World, base: Option<&str>, committed: Option<&str>) -> Sources {
    let bytes = |text: &str| text.as_bytes().to_vec();
    let mut sources = world.sources();
    sources.trust = Trust::Withheld;
    sources.base = Some(BaseFile {
        revision: "0123456789".to_owned(),
        path: world.project_file(),
        content: base.map(bytes),
        committed: committed.map(bytes),
    });
    sources
}

pub(super) fn resolved(
    world: &World,
    base: Option<&str>,
    theirs: &str,
    is_committed: bool,
) -> Loaded {
    fs::write(world.project_file(), theirs).unwrap();
    let committed = is_committed.then_some(theirs).or(base);
    load(&with_base(world, base, committed)).unwrap_or_else(|error| panic!("{theirs}: {error}"))
}

/// Returns `after` without what makes it stricter than `before`.
fn without_tightening(before: &Settings, mut after: Settings) -> Settings {
    let (was, is) = (&before.review, &mut after.review);
    if was
        .issues
        .mandatory
        .iter()
        .all(|label| is.issues.mandatory.contains(label))
    {
        is.issues = was.issues.clone();
    }
    if was
        .opinions
        .mandatory
        .iter()
        .all(|label| is.opinions.mandatory.contains(label))
    {
        is.opinions = was.opinions.clone();
    }
    if is.may_skip.iter().all(|why| was.may_skip.contains(why)) {
        is.may_skip = was.may_skip.clone();
    }
    for (id, level) in is.rules.clone() {
        let severity_before = match was.rules.get(&id) {
            Some(level) => level.severity(),
            None => builtin_rule(&id).map(|rule| rule.info.label.severity()),
        };
        // A rule that is off stays off, because one more voice may outvote others.
        if severity_before.is_some() && level.severity() > severity_before {
            match was.rules.get(&id) {
                Some(level) => is.rules.insert(id, *level),
                None => is.rules.remove(&id),
            };
        }
    }
    if !is.allow_new_suppressions {
        is.allow_new_suppressions = was.allow_new_suppressions;
    }
    if is.on_dispute.default_recourse == Recourse::Human {
        is.on_dispute.default_recourse = was.on_dispute.default_recourse;
    }
    if after.git.push == PushChoice::Never {
        after.git.push = before.git.push;
    }
    let lower =
        |was: Option<u64>, is: Option<u64>| is.is_some() && was.is_none_or(|was| is < Some(was));
    let (was, is) = (&before.budget, &mut after.budget);
    for (was, is) in [
        (was.per_case, &mut is.per_case),
        (was.per_day, &mut is.per_day),
    ] {
        if lower(was.map(|usd| usd.0.0), is.map(|usd| usd.0.0)) {
            *is = was;
        }
    }
    if lower(was.max_tokens_per_case, is.max_tokens_per_case) {
        is.max_tokens_per_case = was.max_tokens_per_case;
    }
    if lower(was.max_runs_per_case, is.max_runs_per_case) {
        is.max_runs_per_case = was.max_runs_per_case;
    }
    after.disputes.shown_resolved = before.disputes.shown_resolved;
    after
}

/// Returns a file that sets `key` to `value`.
pub(super) fn file_with(key: &str, value: &str) -> String {
    if let Some(field) = key.strip_prefix("agents.NAME.") {
        let rest = match field {
            "name" => {
                return format!(
                    "agents: [{{name: {value}, provider: scripted, role: reviewer}}]\n"
                );
            }
            "role" => "provider: scripted",
            "provider" => "role: reviewer",
            _ => "provider: scripted, role: reviewer",
        };
        let value = match field {
            "limits" => format!("{{wall: {value}}}"),
            "price" => format!("{{input: {value}}}"),
            "budget" => format!("{{max_cost: {value}}}"),
            _ => value.to_owned(),
        };
        return format!("agents: [{{name: ann, {rest}, {field}: {value}}}]\n");
    }
    let parts: Vec<&str> = key.split('.').collect();
    let opened: String = parts.iter().map(|part| format!("{{{part}: ")).collect();
    format!("{opened}{value}{}\n", "}".repeat(parts.len()))
}

/// Returns every key that a file can set.
pub(super) fn all_keys(world: &World) -> Vec<String> {
    let shown = world.loaded().show().into_iter();
    let mut keys: Vec<String> = shown.map(|one| one.key).collect();
    keys.extend(AgentSettings::KEYS.map(|key| format!("agents.NAME.{key}")));
    keys.push("providers.anthropic.concurrency".to_owned());
    keys
}

#[test]
fn no_setting_of_an_untrusted_file_makes_the_gate_milder() {
    let world = World::new();
    let keys = all_keys(&world);
    for (base, is_committed) in [(None, false), (Some(STRICT_BASE), true)] {
        let before = load(&with_base(&world, base, base)).unwrap().settings;
        for key in &keys {
            let mut readable = 0;
            for value in VALUES {
                let theirs = file_with(key, value);
                let after = resolved(&world, base, &theirs, is_committed);
                readable += u32::from(after.project_layer.unreadable.is_none());
                let after = without_tightening(&before, after.settings);
                assert_eq!(before, after, "{theirs}");
            }
            assert!(
                readable > 0,
                "no value was taken for `{key}`: add one to VALUES"
            );
        }
        fs::remove_file(world.project_file()).unwrap();
    }
}

#[test]
fn a_file_that_is_taken_away_leaves_the_settings_of_the_base() {
    let world = World::new();
    let loaded = load(&with_base(&world, Some(STRICT_BASE), None)).unwrap();
    assert_eq!(loaded.settings.agents.len(), 1);
    assert_eq!(
        loaded.project_layer.notes_on_file(),
        ["`.tribunal/config.yml` is missing; the review used the settings of 0123456789"]
    );
}

#[test]
fn an_untrusted_file_may_make_the_gate_stricter() {
    let world = World::new();
    let theirs = "review: {issues: {mandatory: [MEDIUM]}, may_skip: [lock_file]}\n\
                  budget: {per_case: 0.5, per_day: 5000}\n";
    let loaded = resolved(&world, None, theirs, true);
    let review = &loaded.settings.review;
    assert_eq!(review.issues.mandatory.len(), 3);
    assert_eq!(review.may_skip.len(), 1);
    assert_eq!(loaded.settings.budget.per_case.unwrap().to_string(), "0.5");
    assert_eq!(
        loaded.project_layer.tightened,
        [
            "review.issues.mandatory",
            "review.may_skip",
            "budget.per_case"
        ]
    );
    let ignored = loaded.project_layer.untrusted.unwrap().sensitive;
    assert_eq!(ignored, [("budget.per_day".to_owned(), "5000".to_owned())]);
}

#[test]
fn an_untrusted_file_may_raise_the_level_of_a_rule_and_do_nothing_else_to_it() {
    const BASE: &str = "review: {rules: {python-eval: low, python-mktemp: off, own-rule: low}}\n";
    let world = World::new();
    for (base, theirs, counts) in [
        // The default of `workflow-unpinned-action` is low, that of `go-sleep` is SHOULD.
        (None, "workflow-unpinned-action: high", true),
        (None, "workflow-unpinned-action: low", false),
        (None, "workflow-unpinned-action: off", false),
        (None, "shell-world-writable: high", true),
        (None, "python-eval: high", false),
        (None, "own-rule: high", false),
        (Some(BASE), "python-eval: medium", true),
        (Some(BASE), "python-eval: high", true),
        (Some(BASE), "python-eval: off", false),
        (Some(BASE), "python-mktemp: high", false),
        (Some(BASE), "own-rule: high", true),
        (Some(BASE), "own-rule: off", false),
    ] {
        let before = load(&with_base(&world, base, base)).unwrap().settings;
        let text = format!("review: {{rules: {{{theirs}}}}}\n");
        let after = resolved(&world, base, &text, true);
        let is_changed = after.settings.review.rules != before.review.rules;
        assert_eq!(is_changed, counts, "{base:?} {theirs}");
        let key = format!("review.rules.{}", theirs.split(':').next().unwrap());
        assert_eq!(after.project_layer.tightened.contains(&key), counts);
        let ignored = after.project_layer.untrusted.unwrap().sensitive;
        let is_ignored = ignored.iter().any(|(one, _)| *one == key);
        assert_eq!(is_ignored, !counts, "{base:?} {theirs}");
        fs::remove_file(world.project_file()).unwrap();
    }
}

#[test]
fn raising_a_rule_never_takes_it_from_a_label_that_blocks_to_one_that_does_not() {
    let world = World::new();
    // Here SHOULD blocks and HIGH does not.
    let base = "review:\n  opinions: {mandatory: [MUST, SHOULD]}\n  \
                issues: {mandatory: [CRITICAL], optional: [HIGH, MEDIUM, LOW]}\n";
    let rules = tribunal_engine::rules::builtin_catalog();
    let should = rules
        .iter()
        .find(|rule| rule.info.label.as_str() == "SHOULD")
        .unwrap();
    let id = &should.info.id;
    let theirs = format!("{base}  rules: {{{id}: high}}\n");
    let loaded = resolved(&world, Some(base), &theirs, true);
    assert!(loaded.settings.review.rules.is_empty(), "{id}");
}

#[test]
fn the_base_may_name_a_rule_that_the_change_removes() {
    let world = World::new();
    let base = "review: {rules: {gone-rule: low}}\n";
    let loaded = load(&with_base(&world, Some(base), None)).unwrap();
    assert_eq!(loaded.settings.review.rules.len(), 1);
}

#[test]
fn what_the_base_starts_needs_trust_in_its_content_or_in_the_base() {
    const BASE: &str =
        "agents: [{name: ann, command: ./run, role: reviewer}]\nreview: {rounds: 1}\n";
    let world = World::new();
    let sources = with_base(&world, Some(BASE), Some(BASE));
    let loaded = load(&sources).unwrap();
    assert!(!loaded.settings.agents[0].enabled);
    assert_eq!(
        loaded.project_layer.unasked.len(),
        1,
        "the reviewer is missed"
    );

    let mut trusting = sources.clone();
    trusting.trusts_base = true;
    let loaded = load(&trusting).unwrap();
    assert!(loaded.settings.agents[0].enabled);
    assert!(loaded.project_layer.unasked.is_empty());

    // Whoever trusted this content before has not changed their mind because a branch edits it.
    fs::write(world.project_file(), BASE).unwrap();
    let hash = {
        let mut required = sources.clone();
        required.trust = Trust::Required;
        match load(&required) {
            Err(tribunal_engine::config::ConfigError::Untrusted(wanted)) => wanted.hash,
            other => panic!("{other:?}"),
        }
    };
    world
        .sources()
        .trust_store()
        .trust(&world.project_file(), &hash)
        .unwrap();
    fs::write(world.project_file(), "agents: []\n").unwrap();
    let loaded = load(&sources).unwrap();
    assert!(loaded.settings.agents[0].enabled);
}
