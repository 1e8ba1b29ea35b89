//! The layers that are not files: `TRIBUNAL_*` variables and `--set key=value`.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Number;

use super::error::{ConfigError, Layer};
use super::key::Key;
use super::layers::{merge, normalize};
use super::node::{self, Kind, Mark, Node, Source};
use super::problem::did_you_mean;
use super::{Settings, schema};

/// Variables with a meaning of their own; every other `TRIBUNAL_SECTION…` is a setting.
const RESERVED: [&str; 7] = [
    "CONFIG",
    "LEDGER",
    "LOG",
    "CRASH_AT",
    "CRASH_LIST",
    "RUN",
    "TRUST",
];

/// Lays the settings in `env` on `tree`. An empty variable says nothing.
pub(super) fn environment(
    tree: &mut Node,
    env: &BTreeMap<String, String>,
) -> Result<(), ConfigError> {
    if let Some(path) = env.get("TRIBUNAL_LEDGER").filter(|path| !path.is_empty()) {
        let mark = mark(Layer::Environment, "TRIBUNAL_LEDGER".to_owned());
        let value = Node::text(mark.clone(), path);
        let key = Key::of_variable("LEDGER__PATH", &[]);
        merge(tree, key.tree(value, &mark));
    }
    let ours = env
        .range("TRIBUNAL_".to_owned()..)
        .map_while(|(name, value)| {
            let setting = name.strip_prefix("TRIBUNAL_")?;
            Some((name, setting, value))
        });
    for (variable, name, value) in ours {
        if name == "TRUST" && !matches!(value.as_str(), "" | "base") {
            let mark = mark(Layer::Environment, variable.clone());
            let message = format!("`{value}` is not a way to trust");
            let hint = "`base` trusts the project's file of the commit before the change";
            return Err(mark.error(message, Some(hint.to_owned())));
        }
        if value.is_empty() || RESERVED.contains(&name) {
            continue;
        }
        let mark = mark(Layer::Environment, variable.clone());
        if let Some(key) = key_of(name, tree, &mark)? {
            let value = read_value(value, &mark);
            merge(tree, normalized(&key, value, &mark)?);
        }
    }
    Ok(())
}

/// Returns the key that the variable names, or nothing when it is not meant as a setting.
fn key_of(name: &str, tree: &Node, mark: &Mark) -> Result<Option<Key>, ConfigError> {
    let agents = agent_names(tree);
    let key = Key::of_variable(name, &agents);
    let parts = key.parts();
    let section = parts.first().copied().unwrap_or_default();
    if let ["agents", agent, ..] = parts.as_slice()
        && !agents.contains(agent)
    {
        let message = format!("there is no agent `{agent}`");
        return Err(mark.error(message, did_you_mean(agent, agents)));
    }
    if parts.len() > 1 || Settings::KEYS.contains(&section) {
        return Ok(Some(key));
    }
    let meant = |known: &&str| {
        section
            .strip_prefix(*known)
            .is_some_and(|rest| rest.starts_with('_'))
    };
    if Settings::KEYS.iter().any(meant) {
        let known: Vec<_> = schema::known_keys()
            .iter()
            .map(|key| variable_of(key))
            .collect();
        let hint = did_you_mean(
            &format!("TRIBUNAL_{name}"),
            known.iter().map(String::as_str),
        );
        let message = "this variable looks like a setting but names none";
        let hint = hint.unwrap_or_else(|| "two underscores separate the levels".to_owned());
        return Err(mark.error(message, Some(hint)));
    }
    Ok(None)
}

fn variable_of(key: &str) -> String {
    format!("TRIBUNAL_{}", key.replace('.', "__").to_ascii_uppercase())
}

/// Lays `key=value` from flags on `tree`.
pub(super) fn overrides(tree: &mut Node, overrides: &[String]) -> Result<(), ConfigError> {
    for given in overrides {
        let Some((key, value)) = given.split_once('=') else {
            let mark = mark(Layer::Flag, format!("--set {given}"));
            let hint = "write `--set key=value`".to_owned();
            return Err(mark.error("a value is missing", Some(hint)));
        };
        let mark = mark(Layer::Flag, format!("--set {key}"));
        let key = Key::parse(key.trim(), agent_names(tree))?;
        merge(tree, normalized(&key, read_value(value, &mark), &mark)?);
    }
    Ok(())
}

/// Returns the tree for `key`; whole sections and lists are brought into the common shape.
fn normalized(key: &Key, value: Node, mark: &Mark) -> Result<Node, ConfigError> {
    if key.parts() == ["agents"] {
        let is_empty = match &value.kind {
            Kind::List(items) => items.is_empty(),
            Kind::Map(entries) => entries.is_empty(),
            _ => false,
        };
        if is_empty {
            let message =
                "an empty list of agents changes nothing, because agents are merged by name";
            let hint = "leave one out with `agents.NAME.enabled=false`";
            return Err(mark.error(message, Some(hint.to_owned())));
        }
        return normalize(key.tree(value, mark));
    }
    Ok(key.tree(value, mark))
}

/// Returns the names of the agents in `tree`.
pub(super) fn agent_names(tree: &Node) -> Vec<&str> {
    let agents = tree.get("agents").map(Node::entries).unwrap_or_default();
    agents.iter().map(|agent| agent.key.as_str()).collect()
}

fn mark(layer: Layer, name: String) -> Mark {
    let source = Source {
        layer,
        file: None,
        name: Some(name),
    };
    Mark {
        source: Arc::new(source),
        line: 0,
        column: 0,
    }
}

/// Reads a value as YAML would, without troubling the parser for plain words. The text itself is
/// kept for keys that want a text.
pub(super) fn read_value(text: &str, mark: &Mark) -> Node {
    let kind = match text.trim() {
        "" => Kind::Text(text.to_owned()),
        "null" | "~" => Kind::Null,
        "true" => Kind::Bool(true),
        "false" => Kind::Bool(false),
        collection if collection.starts_with(['[', '{', '"', '\'']) => {
            let parsed = node::parse(collection, &mark.source);
            parsed.map_or_else(|_| Kind::Text(text.to_owned()), |node| node.kind)
        }
        word => number(word).map_or_else(|| Kind::Text(text.to_owned()), Kind::Number),
    };
    // A quoted text has been read, and its quotes are not part of it; a list or a mapping is
    // no more a text here than in a file.
    let is_word = matches!(kind, Kind::Null | Kind::Bool(_) | Kind::Number(_));
    let written = is_word.then(|| text.to_owned());
    Node {
        mark: mark.clone(),
        kind,
        written,
    }
}

fn number(word: &str) -> Option<Number> {
    if !word.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.')) {
        return None;
    }
    let whole = word.parse::<u64>().map(Number::from);
    let negative = || word.parse::<i64>().map(Number::from);
    let float = || Number::from_f64(word.parse::<f64>().ok()?);
    whole.or_else(|_| negative()).ok().or_else(float)
}
