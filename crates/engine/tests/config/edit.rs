//! Changes to files keep what they do not concern.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use tribunal_core::agent::Role;
use tribunal_core::finding::Label;
use tribunal_core::ids::AgentName;
use tribunal_engine::config::{AgentSettings, Change, CommandLine, ConfigError, Editor, Target};

use super::World;

const FILE: &str = "\
# Our project.

agents:
  # The one who writes.
  - name: ann   # short for Anna
    command: claude
    role: coder

  # The one who reads.
  - name: bob
    command: codex
    role: reviewer # strict

# How we argue.
review:
  on_dispute:
    default: judge  # for now
disputes:
  timeoutDays: 3
# The end.
";

pub(crate) fn agent(name: &str) -> AgentSettings {
    AgentSettings {
        command: CommandLine::parse("claude"),
        role: vec![Role::Judge],
        ..AgentSettings::new(AgentName::new(name).unwrap())
    }
}

/// Makes a change and returns the file after it.
#[track_caller]
fn edited(before: &str, edit: impl FnOnce(&Editor<'_>) -> Result<Change, ConfigError>) -> String {
    let world = World::new().project(before);
    let sources = world.sources();
    let editor = Editor::new(&sources, Target::Project).unwrap();
    let change = edit(&editor).unwrap_or_else(|error| panic!("{error}"));
    let after = fs::read_to_string(world.project_file()).unwrap();
    assert_eq!(change == Change::None, before == after);
    after
}

/// Checks that a change replaces `old` by `new` and touches nothing else.
#[track_caller]
fn replaces(old: &str, new: &str, edit: impl FnOnce(&Editor<'_>) -> Result<Change, ConfigError>) {
    assert_eq!(FILE.matches(old).count(), 1, "{old:?}");
    assert_eq!(edited(FILE, edit), FILE.replace(old, new));
}

#[test]
fn setting_a_value_changes_that_value_alone() {
    replaces("default: judge ", "default: human ", |editor| {
        editor.set("review.on_dispute.default", "human")
    });
    replaces("timeoutDays: 3", "timeoutDays: 9", |editor| {
        editor.set("disputes.timeout_days", "9")
    });
    replaces("command: codex", "command: opencode", |editor| {
        editor.set("agents.bob.command", "opencode")
    });
}

#[test]
fn new_keys_go_where_they_belong() {
    replaces(
        "  # for now\n",
        "  # for now\n  judge:\n    panel: 3\n",
        |editor| editor.set("review.judge.panel", "3"),
    );
    replaces(
        "role: coder\n",
        "role: coder\n    model: opus\n",
        |editor| editor.set("agents.ann.model", "opus"),
    );
    replaces(
        "# The end.\n",
        "# The end.\nretry:\n  base: 5s\n",
        |editor| editor.set("retry.base", "5s"),
    );
    replaces(
        "  # for now\n",
        "  # for now\n  issues:\n    mandatory: [HIGH, MEDIUM]\n",
        |editor| editor.set("review.issues.mandatory", "[HIGH, MEDIUM]"),
    );
}

#[test]
fn taking_a_key_out_leaves_no_empty_section() {
    replaces(
        "review:\n  on_dispute:\n    default: judge  # for now\n",
        "",
        |editor| editor.unset("review.on_dispute.default"),
    );
    let bob = "    command: codex\n    role: reviewer # strict\n";
    let by_provider = "    role: reviewer # strict\n    provider: codex\n";
    replaces(bob, by_provider, |editor| {
        // An agent must stay reachable, so the new way comes first.
        editor.set("agents.bob.provider", "codex")?;
        editor.unset("agents.bob.command")
    });
}

#[test]
fn comments_in_a_section_outlive_its_last_key() {
    let file = "review:\n  # Think first.\n  judge:\n    panel: 2\n";
    let after = edited(file, |editor| editor.unset("review.judge.panel"));
    assert!(after.contains("# Think first."), "{after}");
    assert!(!after.contains("panel"), "{after}");
}

#[test]
fn setting_what_is_so_already_writes_nothing() {
    assert_eq!(
        edited(FILE, |editor| editor
            .set("review.on_dispute.default", "judge")),
        FILE
    );
    assert_eq!(edited(FILE, |editor| editor.unset("retry.attempts")), FILE);
    let nobody = AgentName::new("nobody").unwrap();
    assert_eq!(edited(FILE, |editor| editor.remove_agent(&nobody)), FILE);
}

#[test]
fn values_with_notes_keep_them() {
    let file = "disputes:\n  timeoutDays:\n    _description: When\n    value: 7 # days\n";
    assert_eq!(
        edited(file, |editor| editor.set("disputes.timeout_days", "9")),
        file.replace("value: 7", "value: 9")
    );
    let file = "disputes:\n  on_major: halt\n  timeoutDays:\n    _default: 7\n    value: 9\n";
    assert_eq!(
        edited(file, |editor| editor.unset("disputes.timeout_days")),
        "disputes:\n  on_major: halt\n"
    );
}

#[test]
fn bad_changes_are_refused_and_leave_the_file_alone() {
    let world = World::new().project(FILE);
    let sources = world.sources();
    let editor = Editor::new(&sources, Target::Project).unwrap();
    let refused =
        |result: Result<Change, ConfigError>| world.plain(&result.unwrap_err().to_string());
    assert_eq!(
        refused(editor.set("review.on_dispute.default", "jugde")),
        "the new value: `review.on_dispute.default` must be one of `judge`, `human`, `discard`, \
         not `jugde`; did you mean `judge`?"
    );
    assert_eq!(
        refused(editor.set("review.on_disput.default", "judge")),
        "the new value: in `review`, there is no key `on_disput`; did you mean `on_dispute`?"
    );
    assert_eq!(
        refused(editor.set("agents.cyd.model", "opus")),
        ".tribunal/config.yml:13:11: the agent `cyd` has no `role`; \
         add `role: reviewer`, or `coder`, `judge`, `arbiter`, `contestant`"
    );
    assert_eq!(
        refused(editor.set("disputes.alert_on_stale", "webhook")),
        ".tribunal/config.yml:20:19: `disputes.alert_on_stale` is `webhook` but there is no \
         address; set `disputes.webhook`"
    );
    assert_eq!(
        refused(editor.unset("retry.atempts")),
        "there is no setting `retry.atempts`; did you mean `retry.attempts`?"
    );
    assert_eq!(
        refused(editor.add_agent(&agent("ann"))),
        "cannot change `agents.ann` in /scene/project/.tribunal/config.yml: \
         there is an agent of that name already"
    );
    assert_eq!(fs::read_to_string(world.project_file()).unwrap(), FILE);
}

#[test]
fn an_agent_is_added_at_the_end_of_the_list() {
    let added = "  - name: cyd\n    command: claude\n    role: judge\n";
    replaces(
        "role: reviewer # strict\n",
        &format!("role: reviewer # strict\n{added}"),
        |editor| editor.add_agent(&agent("cyd")),
    );
    for before in [
        "",
        "# only a comment\n",
        "agents:\n",
        "agents: []\n",
        "agents:\n  # none yet\nretry:\n  base: 1s\n",
        "retry: {base: 1s}",
        "agents: [{name: ann, command: claude, role: coder}] # flow\n",
        "agents:\n- name: ann\n  command: claude\n  role: coder\n  instructions: |\n    a\n\n    b\n",
    ] {
        let world = World::new().project(before);
        let sources = world.sources();
        let editor = Editor::new(&sources, Target::Project).unwrap();
        let change = editor.add_agent(&agent("cyd"));
        assert_eq!(
            change.map_err(|error| error.to_string()),
            Ok(Change::Written),
            "{before:?}"
        );
        let agents = world.loaded().settings.agents;
        assert_eq!(agents.last(), Some(&agent("cyd")), "{before:?}");
        let after = fs::read_to_string(world.project_file()).unwrap();
        assert_eq!(
            after.matches('#').count(),
            before.matches('#').count(),
            "{after}"
        );
    }
}

#[test]
fn every_field_of_an_added_agent_reads_back() {
    let mut full = agent("x.1");
    full.command = CommandLine::new(vec!["/opt/my agent".to_owned(), "--a: b".to_owned()]);
    full.role = vec![Role::Coder, Role::Judge];
    full.model = Some("gpt-5.5:high".to_owned());
    full.domain = vec!["sql # not a comment".to_owned()];
    full.instructions = Some("- one\n- two: \"three\"\n".to_owned());
    full.env.insert("A".to_owned(), "no".to_owned());
    full.limits.wall = tribunal_engine::config::Span::parse("5m");
    full.budget.max_cost = Some(tribunal_engine::config::Usd::from_cents(150));
    full.enabled = false;
    let world = World::new().project(FILE);
    let sources = world.sources();
    Editor::new(&sources, Target::Project)
        .unwrap()
        .add_agent(&full)
        .unwrap();
    assert_eq!(world.loaded().settings.agents.last(), Some(&full));
}

#[test]
fn an_agent_is_taken_out_with_its_lines() {
    let bob = AgentName::new("bob").unwrap();
    let after = edited(FILE, |editor| editor.remove_agent(&bob));
    assert!(
        !after.contains("bob")
            && after.contains("# The end.")
            && after.contains("# short for Anna"),
        "{after}"
    );
    let lone = "agents:\n  - name: bob\n    command: codex\n    role: judge\nretry:\n  base: 1s\n";
    assert_eq!(
        edited(lone, |editor| editor.remove_agent(&bob)),
        "retry:\n  base: 1s\n"
    );
}

#[test]
fn an_agent_of_a_lower_layer_gets_an_entry_of_its_own() {
    let world = World::new().user("agents: [{name: ann, provider: anthropic, role: judge}]\n");
    let sources = world.sources();
    let editor = Editor::new(&sources, Target::Project).unwrap();
    editor.set("agents.ann.limits.wall", "5m").unwrap();
    let text = fs::read_to_string(world.project_file()).unwrap();
    assert_eq!(text, "agents:\n- name: ann\n  limits: {wall: 5m}\n");
    editor.set("agents.ann.model", "opus").unwrap();
    assert_eq!(
        world.loaded().settings.agents[0].model.as_deref(),
        Some("opus")
    );
}

#[test]
fn the_mode_of_the_file_and_links_to_it_are_kept() {
    let world = World::new().project(FILE);
    let real = world.root.join("real.yml");
    fs::rename(world.project_file(), &real).unwrap();
    fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
    std::os::unix::fs::symlink(&real, world.project_file()).unwrap();
    let sources = world.sources();
    let editor = Editor::new(&sources, Target::Project).unwrap();
    editor.set("retry.attempts", "4").unwrap();
    assert!(
        fs::symlink_metadata(world.project_file())
            .unwrap()
            .is_symlink()
    );
    assert_eq!(
        fs::metadata(&real).unwrap().permissions().mode() & 0o777,
        0o640
    );
    assert!(fs::read_to_string(&real).unwrap().contains("attempts: 4"));
}

#[test]
fn the_users_file_is_made_when_missing() {
    let world = World::new();
    fs::remove_dir_all(world.root.join("home/.config")).unwrap();
    let sources = world.sources();
    let editor = Editor::new(&sources, Target::User).unwrap();
    editor.set("review.issues.mandatory", "HIGH").unwrap();
    assert_eq!(
        world.loaded().settings.review.issues.mandatory,
        [Label::High]
    );
    assert_eq!(editor.file(), world.user_file());
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(editor.file()), 0o600);
    assert_eq!(mode(editor.file().parent().unwrap()), 0o700);
}

#[test]
fn a_config_with_windows_line_ends_or_a_mark_is_edited_or_refused_whole() {
    for before in [
        "\u{feff}retry:\n  attempts: 1\n",
        "retry:\r\n  attempts: 1\r\n# x\r\n",
    ] {
        let world = World::new().project(before);
        let sources = world.sources();
        let editor = Editor::new(&sources, Target::Project).unwrap();
        match editor.set("retry.attempts", "2") {
            Ok(_) => assert_eq!(world.loaded().settings.retry.attempts, 2),
            Err(_) => assert_eq!(fs::read_to_string(world.project_file()).unwrap(), before),
        }
    }
}
