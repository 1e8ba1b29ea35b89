//! What a repository brings along is acted on only when the user trusts it.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use tribunal_engine::config::{ConfigError, Editor, Target, Untrusted};

use super::World;

const SENSITIVE: &str = "agents:\n- {name: ann, command: ./evil, role: judge}\n";

fn untrusted(world: &World) -> Option<Untrusted> {
    match world.load() {
        Err(ConfigError::Untrusted(untrusted)) => Some(untrusted),
        Err(other) => panic!("{other}"),
        Ok(_) => None,
    }
}

#[test]
fn a_project_that_runs_things_needs_trust_for_exactly_its_content() {
    let world = World::new().project(SENSITIVE).trust_required();
    assert_eq!(
        world.complaint(),
        "/scene/project/.tribunal/config.yml sets `agents.ann.name`, `agents.ann.command`, \
         `agents.ann.role` but is not trusted"
    );
    let wanted = untrusted(&world).unwrap();
    let command = ("agents.ann.command".to_owned(), "./evil".to_owned());
    assert!(wanted.sensitive.contains(&command));

    let store = world.sources().trust_store();
    store.trust(&wanted.file, &wanted.hash).unwrap();
    assert!(untrusted(&world).is_none());

    let world = world.project(format!("{SENSITIVE}# changed\n"));
    assert!(untrusted(&world).is_some());
    let again = untrusted(&world).unwrap();
    store.trust(&again.file, &again.hash).unwrap();
    assert!(untrusted(&world).is_none());

    // The earlier content is not trusted any more.
    let world = world.project(SENSITIVE);
    assert!(untrusted(&world).is_some());
    store.trust(&wanted.file, &wanted.hash).unwrap();
    store.distrust(&wanted.file).unwrap();
    assert!(untrusted(&world).is_some());
}

#[test]
fn whatever_decides_needs_trust_and_how_things_look_does_not() {
    let agent = |keys: &str| format!("agents: [{{name: ann, role: judge, {keys}}}]\n");
    for sensitive in [
        agent("command: claude"),
        agent("provider: claude"),
        agent("kind: claude"),
        "agents: [{name: lint, role: reviewer, kind: sarif, command: cargo clippy}]\n".to_owned(),
        agent("provider: anthropic, base_url: http://evil"),
        agent("provider: anthropic, api_key_env: AWS_SECRET"),
        agent("provider: anthropic, env: {LD_PRELOAD: x}"),
        agent("provider: anthropic, pass_env: [SECRET]"),
        agent("provider: anthropic, login: user"),
        agent("provider: scripted, script: ../outside.yml"),
        agent("provider: scripted, script: /etc/passwd"),
        agent("provider: scripted, script: ~/x"),
        "arbiter: {provider: codex}\n".to_owned(),
        "ledger: {path: /tmp/x}\n".to_owned(),
        "disputes: {webhook: 'http://evil'}\n".to_owned(),
    ] {
        let world = World::new().project(&sensitive).trust_required();
        assert!(untrusted(&world).is_some(), "{sensitive}");
    }
    for deciding in [
        agent("provider: anthropic, model: m"),
        agent("provider: scripted, script: inside.yml"),
        "retry: {attempts: 1}\narbiter: {provider: anthropic}\n".to_owned(),
    ] {
        let world = World::new().project(&deciding).trust_required();
        assert!(untrusted(&world).is_some(), "{deciding}");
    }
    for harmless in [
        "# nothing\n".to_owned(),
        "disputes: {shown_resolved: 3}\n".to_owned(),
        "budget: {per_case: 0.5}\n".to_owned(),
    ] {
        let world = World::new().project(&harmless).trust_required();
        assert!(untrusted(&world).is_none(), "{harmless}");
    }
}

#[test]
fn a_link_out_of_the_project_needs_trust() {
    let world = World::new()
        .project("agents: [{name: ann, role: judge, provider: scripted, script: link.yml}]\n")
        .trust_required();
    std::os::unix::fs::symlink("/etc/hostname", world.project_dir().join("link.yml")).unwrap();
    assert!(untrusted(&world).is_some());
}

#[test]
fn the_user_and_the_environment_need_no_trust() {
    let world = World::new()
        .user(SENSITIVE)
        .env("TRIBUNAL_AGENTS__ANN__COMMAND", "./other")
        .trust_required();
    assert_eq!(
        world.loaded().settings.agents[0]
            .command
            .as_ref()
            .unwrap()
            .program(),
        "./other"
    );
}

#[test]
fn the_record_of_trust_is_private_and_bound_to_the_place() {
    let world = World::new().project(SENSITIVE).trust_required();
    let wanted = untrusted(&world).unwrap();
    let store = world.sources().trust_store();
    store.trust(&wanted.file, &wanted.hash).unwrap();
    let path = world.root.join("home/.local/state/tribunal/trust.json");
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&path), 0o600);
    assert_eq!(mode(path.parent().unwrap()), 0o700);
    assert!(!store.is_trusted(&world.root.join("elsewhere.yml"), &wanted.hash));
    fs::write(&path, "garbage").unwrap();
    assert!(
        untrusted(&world).is_some(),
        "a damaged record trusts nothing"
    );
}

#[test]
fn our_own_changes_keep_trust_but_do_not_create_it() {
    let world = World::new().project(SENSITIVE).trust_required();
    let set = || {
        let sources = world.sources();
        let editor = Editor::new(&sources, Target::Project).unwrap();
        editor.set("retry.attempts", &world.attempt()).unwrap();
    };
    set();
    assert!(
        untrusted(&world).is_some(),
        "a change must not bring trust along"
    );
    let wanted = untrusted(&world).unwrap();
    world
        .sources()
        .trust_store()
        .trust(&wanted.file, &wanted.hash)
        .unwrap();
    set();
    assert!(untrusted(&world).is_none(), "a trusted file stays trusted");
}

#[test]
fn an_agent_that_the_user_connects_is_trusted() {
    let world = World::new().trust_required();
    let sources = world.sources();
    let editor = Editor::new(&sources, Target::Project).unwrap();
    editor.add_agent(&super::edit::agent("ann")).unwrap();
    assert!(untrusted(&world).is_none());
    assert_eq!(world.loaded().settings.agents.len(), 1);
}

#[test]
fn a_project_may_not_turn_a_program_of_the_user_into_a_linter() {
    // A linter runs with the user's login, which the project may not choose either.
    for key in ["kind: sarif", "provider: linter"] {
        let world = World::new()
            .user("agents: [{name: ann, role: reviewer, command: my-agent}]\n")
            .project(format!("agents: [{{name: ann, {key}}}]\n"))
            .trust_required();
        let wanted = untrusted(&world).unwrap();
        let keys: Vec<&str> = wanted
            .sensitive
            .iter()
            .map(|(key, _)| key.as_str())
            .collect();
        assert!(keys.contains(&"agents.ann.provider"), "{key}: {keys:?}");
    }
}
