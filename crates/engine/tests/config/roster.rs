//! Agents by name, role and domain, and what they are built from.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use tribunal_agents::spec::{Api, Backend, Cli, Login};
use tribunal_core::agent::{Access, Role};
use tribunal_core::money::MicroUsd;
use tribunal_engine::config::{Roster, SpecContext, SpecError};

use super::World;

const CAST: &str = "
agents:
- {name: ann, command: claude, role: [coder, contestant], domain: frontend}
- {name: bob, provider: anthropic, role: coder, domain: [backend, sql]}
- {name: cyd, command: codex, role: reviewer, enabled: false}
- {name: dan, command: [./my agent, --x], role: judge, access: write, login: user}
- {name: eve, provider: openai_chat, role: judge, base_url: http://localhost:1/v1}
- {name: fay, provider: gemini_api, role: arbiter, api_key_env: MY_KEY,
   price: {input: 1, output: 2.5}, limits: {wall: 1m}}
- {name: gus, command: [/opt/claude-next], provider: claude, role: coder}
";

fn names<'a>(
    agents: impl Iterator<Item = &'a tribunal_engine::config::AgentSettings>,
) -> Vec<&'a str> {
    agents.map(|agent| agent.name.as_str()).collect()
}

#[test]
fn agents_are_found_by_role_and_domain() {
    let roster = Roster::new(&World::new().project(CAST).loaded().settings);
    assert_eq!(names(roster.with_role(Role::Coder)), ["ann", "bob", "gus"]);
    assert_eq!(names(roster.with_role(Role::Reviewer)), [] as [&str; 0]);
    assert_eq!(names(roster.in_domain(Role::Coder, "SQL")), ["bob"]);
    let coder = |domain| roster.coder_for(domain).map(|agent| agent.name.as_str());
    assert_eq!(coder(Some("backend")), Some("bob"));
    assert_eq!(coder(Some("kernel")), Some("ann"));
    assert_eq!(coder(None), Some("ann"));
}

#[test]
fn the_arbiter_is_the_one_named_else_the_one_described_else_the_first_in_that_role() {
    let arbiter = |more: &str| {
        let settings = World::new()
            .project(format!("{CAST}{more}"))
            .loaded()
            .settings;
        let found = Roster::new(&settings).arbiter(&settings);
        found.map(|name| name.to_string())
    };
    let described = "arbiter: {provider: anthropic, model: m}\n";
    let named = "- {name: gil, command: codex, role: arbiter}\narbiter: {agent: gil}\n";
    assert_eq!(arbiter(named).as_deref(), Some("gil"));
    assert_eq!(arbiter(described).as_deref(), Some("arbiter"));
    assert_eq!(arbiter("").as_deref(), Some("fay"));
    let nobody = World::new().loaded().settings;
    assert_eq!(Roster::new(&nobody).arbiter(&nobody), None);
}

#[test]
fn the_scripted_agent_is_there_unless_defined() {
    let implicit = Roster::new(&World::new().loaded().settings);
    assert!(implicit.get("scripted").is_some() && implicit.is_implicit("scripted"));
    assert_eq!(names(implicit.with_role(Role::Coder)), [] as [&str; 0]);
    let defined = "agents: [{name: scripted, provider: anthropic, role: judge}]\n";
    let defined = Roster::new(&World::new().project(defined).loaded().settings);
    assert!(!defined.is_implicit("scripted"));
    assert_eq!(
        defined
            .get("scripted")
            .and_then(|agent| agent.provider())
            .map(|p| p.as_str()),
        Some("anthropic")
    );
}

#[test]
fn settings_become_what_agents_are_built_from() {
    let settings = World::new().project(CAST).loaded().settings;
    let env = [("ANTHROPIC_API_KEY", "sk-a"), ("OPENAI_API_KEY", "sk-o")];
    let context = SpecContext {
        homes: PathBuf::from("/homes"),
        supervisor: PathBuf::from("/bin/tribunal"),
        env: env
            .into_iter()
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .collect(),
        ..SpecContext::default()
    };
    let agent = |name: &str| {
        settings
            .agents
            .iter()
            .find(|agent| agent.name.as_str() == name)
            .unwrap()
    };
    let spec = |name: &str| agent(name).to_spec(&context);

    let Backend::Command(ann) = spec("ann").unwrap().backend else {
        panic!("ann")
    };
    assert_eq!(
        (ann.cli, ann.argv.as_slice()),
        (Cli::Claude, ["claude".to_owned()].as_slice())
    );
    assert_eq!(ann.home, PathBuf::from("/homes/ann"));
    assert_eq!(ann.login, Login::Isolated);
    assert_eq!(ann.api_key.as_ref().map(|key| key.expose()), Some("sk-a"));

    let Backend::Http(bob) = spec("bob").unwrap().backend else {
        panic!("bob")
    };
    assert_eq!(bob.api, Api::Anthropic);
    assert_eq!(bob.api_key.as_ref().map(|key| key.expose()), Some("sk-a"));

    let Backend::Command(dan) = spec("dan").unwrap().backend else {
        panic!("dan")
    };
    assert_eq!((dan.cli, dan.login), (Cli::Custom, Login::User));
    assert_eq!(dan.argv, ["./my agent", "--x"]);

    let Backend::Http(eve) = spec("eve").unwrap().backend else {
        panic!("eve")
    };
    assert!(
        eve.api_key.is_none(),
        "the vendor's key must not go to another host"
    );

    let Backend::Command(gus) = spec("gus").unwrap().backend else {
        panic!("gus")
    };
    assert_eq!(
        (gus.cli, gus.argv.as_slice()),
        (Cli::Claude, ["/opt/claude-next".to_owned()].as_slice())
    );

    assert_eq!(
        spec("fay").err(),
        Some(SpecError::NoKey {
            agent: agent("fay").name.clone(),
            variable: "MY_KEY".to_owned()
        })
    );
    assert_eq!(
        settings.limits_for(agent("fay")).wall,
        Duration::from_secs(60)
    );
    assert_eq!(
        settings.limits_for(agent("fay")).idle,
        Duration::from_secs(300)
    );
    let price = agent("fay").price().unwrap();
    assert_eq!(
        (price.cache_read, price.output),
        (MicroUsd(1_000_000), MicroUsd(2_500_000))
    );
    assert_eq!(agent("ann").access_as(Role::Coder), Access::Write);
    assert_eq!(agent("eve").access_as(Role::Judge), Access::ReadOnly);
    assert_eq!(agent("dan").access_as(Role::Judge), Access::Write);
}

#[test]
fn scripted_and_replaying_agents_need_their_sources() {
    let roster = Roster::new(&World::new().loaded().settings);
    let scripted = roster.get("scripted").unwrap();
    let mut context = SpecContext {
        env: BTreeMap::new(),
        ..SpecContext::default()
    };
    assert!(matches!(
        scripted.to_spec(&context),
        Err(SpecError::NoScript { .. })
    ));
    context.script = Some(PathBuf::from("/s.yml"));
    assert!(matches!(
        scripted.to_spec(&context).unwrap().backend,
        Backend::Scripted { .. }
    ));

    let replay = "agents: [{name: ann, provider: replay, case: c-12345678, role: judge}]\n";
    let settings = World::new().project(replay).loaded().settings;
    let ann = &settings.agents[0];
    assert!(matches!(
        ann.to_spec(&context),
        Err(SpecError::NoRecordings { .. })
    ));
    context
        .recordings
        .insert(ann.case.clone().unwrap(), Vec::new());
    assert!(ann.to_spec(&context).is_ok());
}

#[test]
fn linters_are_reviewers_with_the_users_login_and_the_family_of_their_tool() {
    let text = "agents:
- {name: clippy, kind: sarif, command: cargo clippy --message-format=json, role: reviewer}
- {name: eslint, provider: linter, command: [npx, eslint, -f, json, .], role: reviewer,
   login: isolated, limits: {wall: 2m, idle: 5s}, family: ours}
- {name: ann, command: claude, role: reviewer}
";
    let settings = World::new().project(text).loaded().settings;
    let [clippy, eslint, ann] = settings.agents.as_slice() else {
        panic!("three agents");
    };
    assert!(clippy.is_tool() && eslint.is_tool() && !ann.is_tool());
    assert_eq!(clippy.provider().unwrap().as_str(), "sarif");
    let families = [clippy, eslint, ann].map(|agent| agent.family());
    assert_eq!(families, ["tool:clippy", "ours", "anthropic"]);
    let command = |agent: &tribunal_engine::config::AgentSettings| {
        let spec = agent.to_spec(&SpecContext::default()).unwrap();
        let Backend::Command(command) = spec.backend else {
            panic!("a command")
        };
        command
    };
    assert_eq!(command(clippy).cli, Cli::Linter);
    assert_eq!(command(clippy).login, Login::User);
    assert_eq!(
        command(clippy).argv,
        ["cargo", "clippy", "--message-format=json"]
    );
    assert_eq!(command(eslint).login, Login::Isolated);
    // Silence means nothing to a linter, unless the config says so.
    let limits = settings.limits_for(clippy);
    assert_eq!((limits.first_byte, limits.idle), (limits.wall, limits.wall));
    let limits = settings.limits_for(eslint);
    assert_eq!(limits.first_byte, Duration::from_secs(120));
    assert_eq!(limits.idle, Duration::from_secs(5));
    assert_eq!(settings.limits_for(ann).idle, Duration::from_secs(300));
}

#[test]
fn the_other_name_of_the_provider_works_in_every_layer() {
    let user = "agents: [{name: lint, provider: custom, command: lint, role: reviewer}]\n";
    let tool = |world: &World| world.loaded().settings.agents[0].is_tool();
    assert!(!tool(&World::new().user(user)));
    assert!(tool(
        &World::new()
            .user(user)
            .project("agents: [{name: lint, kind: sarif}]\n")
    ));
    assert!(tool(
        &World::new()
            .user(user)
            .env("TRIBUNAL_AGENTS__LINT__KIND", "sarif")
    ));
    assert!(tool(&World::new().user(user).set("agents.lint.kind=sarif")));
}
