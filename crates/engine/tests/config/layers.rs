//! Layers are merged, and every value knows where it came from.

use tribunal_agents::spec::Cli;
use tribunal_core::agent::Role;
use tribunal_core::finding::Label;
use tribunal_core::review::gate::Obligation;
use tribunal_engine::config::{Layer, Provider, Reach, Recourse, Settings, Size, Span, StaleAlert};

use super::World;

#[test]
fn without_any_source_the_defaults_hold() {
    let loaded = World::new().loaded();
    assert_eq!(loaded.settings, Settings::default());
    assert!(loaded.origins.is_empty());
    assert!(loaded.files.is_empty());
}

#[test]
fn empty_and_commented_files_say_nothing() {
    for text in [
        "",
        "\n\n",
        "# nothing yet\n",
        "---\n",
        "review:\nagents:\n",
        "\u{feff}# bom\n",
    ] {
        let loaded = World::new().project(text).loaded();
        assert_eq!(loaded.settings, Settings::default(), "{text:?}");
    }
}

#[test]
fn later_layers_win_key_by_key() {
    let world = World::new()
        .user("retry: {attempts: 5, base: 1s, patience: 1m}\ndisputes: {timeout_days: 1}\n")
        .project("retry:\n  attempts: 6\n  base: 7s\n")
        .env("TRIBUNAL_RETRY__ATTEMPTS", "8")
        .set("retry.attempts=9");
    let loaded = world.loaded();
    let retry = &loaded.settings.retry;
    assert_eq!(retry.attempts, 9);
    assert_eq!(retry.base, Span::from_secs(7));
    assert_eq!(retry.patience, Span::from_secs(60));
    let origin = |key: &str| world.plain(&loaded.origin(key).to_string());
    assert_eq!(origin("retry.attempts"), "--set retry.attempts");
    assert_eq!(origin("retry.base"), ".tribunal/config.yml:3:9");
    assert_eq!(
        origin("retry.patience"),
        "/scene/home/.config/tribunal/config.yml:1:42"
    );
    assert_eq!(origin("ledger.synchronous"), "default");
    assert_eq!(loaded.origin("retry.base").layer, Layer::Project);
    assert_eq!(loaded.files.len(), 2);
}

#[test]
fn agents_are_merged_by_name_and_lists_are_replaced() {
    let world = World::new()
        .user(
            "agents:\n- {name: ann, command: claude, role: coder, domain: [a, b]}\n\
             - {name: bob, provider: openai, role: judge}\n",
        )
        .project("agents:\n- name: bob\n  model: gpt-5\n- name: ann\n  domain: c\n")
        .env("TRIBUNAL_AGENTS__ANN__MODEL", "opus");
    let loaded = world.loaded();
    let [ann, bob] = loaded.settings.agents.as_slice() else {
        panic!("{:?}", loaded.settings.agents);
    };
    assert_eq!(ann.domain, ["c"]);
    assert_eq!(ann.model.as_deref(), Some("opus"));
    assert_eq!(
        ann.provider().map(Provider::reach),
        Some(Reach::Command(Cli::Claude))
    );
    assert_eq!(bob.model.as_deref(), Some("gpt-5"));
    assert_eq!(bob.provider, Some(Provider::OpenaiResponses));
    assert_eq!(
        loaded.origin("agents.bob.model").to_string(),
        ".tribunal/config.yml:3:10"
    );
}

#[test]
fn null_removes_an_optional_value_and_nothing_else() {
    let world = World::new()
        .user("budget: {per_day: 3}\nretry: {attempts: 5}\n")
        .project("budget:\n  per_day: null\nretry:\n");
    let settings = world.loaded().settings;
    assert_eq!(settings.budget.per_day, None);
    assert_eq!(settings.retry.attempts, 5);
}

#[test]
fn variables_are_typed_by_their_key() {
    let settings = World::new()
        .project("agents:\n- {name: codex-reviewer, provider: openai, role: reviewer}\n")
        .env("TRIBUNAL_REVIEW__ISSUES__MANDATORY", "[HIGH, MEDIUM]")
        .env("TRIBUNAL_REVIEW__ON_DISPUTE__PROMPT_USER", "false")
        .env("TRIBUNAL_LIMITS__OUTPUT", "1MiB")
        .env("TRIBUNAL_BUDGET", "{per_case: 1.5}")
        .env("TRIBUNAL_AGENTS__CODEX_REVIEWER__MODEL", "5.0")
        .env(
            "TRIBUNAL_AGENTS__CODEX_REVIEWER__INSTRUCTIONS",
            "[MUST] note: be brief",
        )
        .env("TRIBUNAL_RETRY__ATTEMPTS", "")
        .loaded()
        .settings;
    assert_eq!(
        settings.review.issues.mandatory,
        [Label::High, Label::Medium]
    );
    assert!(!settings.review.on_dispute.prompt_user);
    assert_eq!(settings.limits.output, Size(1 << 20));
    assert_eq!(settings.budget.per_case.map(|usd| usd.0.0), Some(1_500_000));
    assert_eq!(settings.agents[0].model.as_deref(), Some("5.0"));
    assert_eq!(
        settings.agents[0].instructions.as_deref(),
        Some("[MUST] note: be brief")
    );
    assert_eq!(settings.retry.attempts, 3);
}

#[test]
fn variables_of_other_meaning_are_left_alone() {
    let mut world = World::new();
    for name in [
        "LOG",
        "CRASH_AT",
        "CRASH_LIST",
        "RUN",
        "SOMETHING",
        "HOME_OF",
    ] {
        world = world.env(&format!("TRIBUNAL_{name}"), "x");
    }
    assert_eq!(world.loaded().settings, Settings::default());
}

#[test]
fn a_named_file_stands_in_for_the_project_file() {
    let world = World::new().project("retry: {attempts: 9}\n");
    std::fs::write(world.root.join("other.yml"), "retry: {attempts: 4}\n").unwrap();
    let world = world.env("TRIBUNAL_CONFIG", "../other.yml");
    assert_eq!(world.loaded().settings.retry.attempts, 4);
    let world = world.env("TRIBUNAL_CONFIG", "missing.yml");
    assert_eq!(
        world.complaint(),
        "cannot find the config file that `TRIBUNAL_CONFIG` names, /scene/project/missing.yml"
    );
}

#[test]
fn other_spellings_of_keys_are_the_same_keys() {
    let settings = World::new()
        .project(
            "disputes:\n  timeoutDays: 3\n  alertOnStale: none\n\
             arbiter: {maxTokens: 7}\n\
             agents:\n- name: ann\n  provider: openai_chat\n  role: judge\n  baseURL: http://x\n  \
             apiKeyEnv: K\n  env: {camelCase: x}\n",
        )
        .loaded()
        .settings;
    assert_eq!(settings.disputes.timeout_days, 3);
    assert_eq!(settings.disputes.alert_on_stale, StaleAlert::None);
    assert_eq!(settings.arbiter.max_tokens, 7);
    assert_eq!(settings.agents[0].base_url.as_deref(), Some("http://x"));
    assert_eq!(
        settings.agents[0].env.keys().collect::<Vec<_>>(),
        ["camelCase"]
    );
}

#[test]
fn values_with_notes_around_them_are_the_values() {
    let settings = World::new()
        .project(
            "disputes:\n  timeoutDays:\n    _description: When to warn\n    _default: 7\n    \
             value: 12\n  alertOnStale:\n    _options: [log, webhook, none]\n    value: none\n",
        )
        .loaded()
        .settings;
    assert_eq!(settings.disputes.timeout_days, 12);
    assert_eq!(settings.disputes.alert_on_stale, StaleAlert::None);
}

#[test]
fn a_config_in_the_form_of_the_first_design_loads() {
    let text = "
agents:
  - name: claude-coder
    command: claude
    role: coder
  - name: codex-reviewer
    command: codex
    role: reviewer
  - name: claude-judge
    command: claude
    role: judge

review:
  opinions:
    mandatory: [MUST]
    optional: [SHOULD]
  issues:
    mandatory: [HIGH]
    optional: [MEDIUM, LOW]
  on_dispute:
    prompt_user: true    # ask
    default: judge       # judge | human | discard
  judge:
    escalate_to: human

arbiter:
  provider: claude
  model: claude-haiku-4
  maxTokens: 1024
  temperature: 0.3
";
    let settings = World::new().project(text).loaded().settings;
    let roles: Vec<_> = settings
        .agents
        .iter()
        .map(|agent| agent.role.clone())
        .collect();
    assert_eq!(roles, [[Role::Coder], [Role::Reviewer], [Role::Judge]]);
    assert_eq!(settings.review.on_dispute.default_recourse, Recourse::Judge);
    assert_eq!(settings.arbiter.provider, Some(Provider::Claude));
    assert_eq!(settings.arbiter.temperature.0, 300);
    // No list names CRITICAL here; what nobody made optional binds.
    let obligation = |label| settings.review.obligation(label);
    assert_eq!(obligation(Label::Critical), Obligation::Mandatory);
    assert_eq!(obligation(Label::Medium), Obligation::Optional);
}

#[test]
fn a_label_is_what_the_later_layer_says() {
    let settings = World::new()
        .project("review:\n  issues:\n    mandatory: [HIGH, MEDIUM]\n")
        .loaded()
        .settings;
    assert_eq!(settings.review.issues.optional, [Label::Low]);
    let settings = World::new()
        .project("review:\n  issues:\n    optional: [HIGH, low]\n")
        .loaded()
        .settings;
    assert_eq!(
        settings.review.obligation(Label::High),
        Obligation::Optional
    );
    assert_eq!(
        settings.review.obligation(Label::Critical),
        Obligation::Mandatory
    );
}

#[test]
fn the_project_is_found_upwards_but_not_beyond_the_repository() {
    let world = World::new().project("retry: {attempts: 9}\n");
    let inside = world.project_dir().join("a/b");
    std::fs::create_dir_all(&inside).unwrap();
    let mut sources = world.sources();
    sources.cwd = inside.clone();
    let attempts = |sources| {
        let loaded = tribunal_engine::config::load(sources).unwrap();
        (loaded.settings.retry.attempts, loaded.project)
    };
    assert_eq!(attempts(&sources), (9, Some(world.project_dir())));
    std::fs::create_dir(inside.join(".git")).unwrap();
    assert_eq!(attempts(&sources), (3, Some(inside)));
}

#[test]
fn paths_are_relative_to_where_they_are_written() {
    let agent = |name: &str| {
        format!("agents:\n- {{name: {name}, provider: scripted, role: judge, script: s.yml}}\n")
    };
    let world = World::new()
        .user(&agent("ann"))
        .project(agent("bob") + "ledger: {path: ~/ledger}\n")
        .env("TRIBUNAL_LEDGER", "");
    let settings = world.loaded().settings;
    let scripts: Vec<_> = settings
        .agents
        .iter()
        .map(|agent| agent.script.clone().unwrap())
        .collect();
    assert_eq!(
        scripts,
        [
            world.root.join("home/.config/tribunal/s.yml"),
            world.root.join("project/s.yml")
        ]
    );
    assert_eq!(settings.ledger.path, Some(world.root.join("home/ledger")));
    let world = world.env("TRIBUNAL_LEDGER", "here");
    assert_eq!(
        world.loaded().settings.ledger.path,
        Some(world.root.join("project/here"))
    );
}

#[test]
fn a_bad_lower_layer_is_not_hidden_by_a_higher_one() {
    let world = World::new()
        .user("retry: 5\n")
        .project("retry: {attempts: 2}\n");
    assert_eq!(
        world.complaint(),
        "/scene/home/.config/tribunal/config.yml:1:8: `retry` must be a mapping, not `5`"
    );
}

#[test]
fn single_settings_and_sections_can_be_asked_for() {
    let world = World::new()
        .project("agents:\n- {name: gpt-5.5, provider: openai, role: judge, env: {API_KEY: x}}\n");
    let loaded = world.loaded();
    let get = |key: &str| {
        loaded
            .get(key)
            .map(|value| value.to_string())
            .map_err(|error| error.to_string())
    };
    assert_eq!(get("retry.attempts"), Ok("3".to_owned()));
    assert_eq!(get("disputes.timeoutDays"), Ok("7".to_owned()));
    assert_eq!(
        get("review.opinions"),
        Ok(r#"{"mandatory":["MUST"],"optional":["SHOULD"]}"#.to_owned())
    );
    assert_eq!(
        get("agents.gpt-5.5.provider"),
        Ok("\"openai_responses\"".to_owned())
    );
    assert_eq!(get("agents.gpt-5.5.model"), Ok("null".to_owned()));
    assert_eq!(
        get("agents.gpt-5.5.env.API_KEY"),
        Ok("\"(hidden)\"".to_owned())
    );
    assert_eq!(
        get("retry.atempts"),
        Err("there is no setting `retry.atempts`; did you mean `retry.attempts`?".to_owned())
    );
}
