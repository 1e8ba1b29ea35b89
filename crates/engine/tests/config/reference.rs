//! The defaults file and the reference page say what the types say.

use std::path::Path;

use serde_json::Value;
use tribunal_engine::config::{AgentSettings, DEFAULTS, Settings, reference, schema};

use super::World;

#[test]
fn the_defaults_file_holds_exactly_the_defaults() {
    // As the user's own: some keys do not count in a project's file.
    let loaded = World::new().user(DEFAULTS).loaded();
    assert_eq!(loaded.settings, Settings::default());
}

#[test]
fn the_defaults_file_mentions_every_key() {
    // As the user's own: some keys do not count in a project's file.
    let written = World::new().user(DEFAULTS).loaded();
    let built_in = World::new().loaded();
    let keys = |loaded: &tribunal_engine::config::Loaded| -> Vec<String> {
        loaded.show().into_iter().map(|shown| shown.key).collect()
    };
    let from_file: Vec<_> = written.origins.keys().cloned().collect();
    for key in keys(&built_in) {
        // An empty mapping has no leaf to come from.
        let is_mapping = [
            "providers",
            "agents",
            "review.rules",
            "sandbox.roles",
            "sandbox.networks",
        ]
        .contains(&key.as_str());
        assert!(from_file.contains(&key) || is_mapping, "{key}");
    }
    for key in AgentSettings::KEYS {
        assert!(
            DEFAULTS.contains(&format!("#    {key}:")) || key == "name",
            "{key}"
        );
    }
    assert!(DEFAULTS.contains("#  - name:"));
    assert!(DEFAULTS.contains("#    concurrency:"));
}

#[test]
fn the_agent_in_the_comments_of_the_defaults_file_would_load() {
    let start = DEFAULTS.find("#  - name: ann").unwrap();
    let block = DEFAULTS.get(start..).unwrap();
    let lines = block.lines().take_while(|line| line.starts_with("#  "));
    // An agent is reached in one way; the comments show them all.
    let other_ways = ["provider:", "script:", "case:"];
    let lines = lines.filter(|line| {
        let text = line.trim_start_matches(['#', ' ']);
        !other_ways.iter().any(|way| text.starts_with(way))
    });
    let lines: Vec<_> = lines.map(|line| line.trim_start_matches('#')).collect();
    let loaded = World::new()
        .project(format!("agents:\n{}\n", lines.join("\n")))
        .loaded();
    assert_eq!(loaded.settings.agents.len(), 1);
}

#[test]
fn the_lists_of_keys_match_the_schema() {
    let schema = schema();
    let keys = |value: &Value| -> Vec<String> {
        let properties = value["properties"].as_object().unwrap();
        properties.keys().cloned().collect()
    };
    assert_eq!(keys(&schema), Settings::KEYS);
    assert_eq!(keys(&schema["$defs"]["AgentSettings"]), AgentSettings::KEYS);
}

#[test]
fn every_setting_is_described() {
    fn check(name: &str, schema: &Value) {
        for (key, property) in schema["properties"].as_object().into_iter().flatten() {
            let described = property["description"]
                .as_str()
                .is_some_and(|text| !text.is_empty());
            assert!(described, "{name}.{key}");
        }
    }
    let schema = schema();
    check("settings", &schema);
    for (name, definition) in schema["$defs"].as_object().unwrap() {
        check(name, definition);
    }
}

#[test]
fn free_mappings_are_those_we_know() {
    // Keys below these are the user's; everything else accepts other spellings of our keys. Roles are
    // single words, which have one spelling.
    let schema = schema();
    let mut free = Vec::new();
    let definitions = schema["$defs"].as_object().unwrap();
    for object in definitions.values().chain([&schema]) {
        for (key, property) in object["properties"].as_object().into_iter().flatten() {
            if property
                .get("additionalProperties")
                .is_some_and(Value::is_object)
            {
                free.push(key.as_str());
            }
        }
    }
    free.sort_unstable();
    assert_eq!(free, ["env", "networks", "providers", "roles", "rules"]);
}

#[test]
fn the_reference_page_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/config.md");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, reference()).unwrap();
    }
    let page = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        page == reference(),
        "docs/config.md is out of date; run this test again with UPDATE=1"
    );
}
