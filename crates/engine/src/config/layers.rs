//! The shape that all layers share before they are merged, and the merging itself.
//!
//! Keys are in `snake_case`, the seeds' long form is unwrapped, and `agents` is a mapping by name.

use tribunal_core::ids::AgentName;

use super::error::ConfigError;
use super::node::{Entry, Kind, Map, Mark, Node};

/// Brings a parsed file into the common shape.
pub(super) fn normalize(root: Node) -> Result<Node, ConfigError> {
    let mut root = match root.kind {
        Kind::Null => Node::map(root.mark, Map::new()),
        Kind::Map(_) => root,
        _ => {
            let message = "the config must be a mapping of settings such as `review:`";
            return Err(root.mark.error(message, None));
        }
    };
    rename_keys(&mut root, Keys::Settings)?;
    if let Kind::Map(entries) = &mut root.kind {
        for entry in entries {
            if entry.key == "agents" {
                index_agents(&mut entry.value)?;
            }
        }
    }
    Ok(root)
}

/// Whose keys a mapping has.
#[derive(Clone, Copy)]
enum Keys {
    /// Ours, under any spelling we accept.
    Settings,
    /// Those of `review`, which are ours.
    Review,
    /// The user's, with our settings below each of them.
    NamesOfSettings,
    /// The user's, and so is all below.
    Free,
}

impl Keys {
    fn below(self, key: &str) -> Self {
        match self {
            Self::Settings if key == "env" => Self::Free,
            Self::Settings if key == "providers" => Self::NamesOfSettings,
            Self::Settings if key == "review" => Self::Review,
            Self::Review if key == "rules" => Self::NamesOfSettings,
            Self::Settings | Self::Review | Self::NamesOfSettings => Self::Settings,
            Self::Free => Self::Free,
        }
    }
}

fn rename_keys(node: &mut Node, keys: Keys) -> Result<(), ConfigError> {
    if !matches!(keys, Keys::Free)
        && let Some(value) = noted_value(node)
    {
        *node = value.clone();
    }
    match &mut node.kind {
        Kind::List(items) => items
            .iter_mut()
            .try_for_each(|item| rename_keys(item, keys)),
        Kind::Map(entries) => {
            for index in 0..entries.len() {
                let (before, rest) = entries.split_at_mut(index);
                let Some(entry) = rest.first_mut() else { break };
                if matches!(keys, Keys::Settings | Keys::Review) {
                    entry.key = snake_case(&entry.key);
                }
                // Two spellings of one key are the same key twice.
                if let Some(first) = before.iter().find(|earlier| earlier.key == entry.key) {
                    let (key, line) = (&entry.key, first.mark.line);
                    let message = format!("`{key}` stands here a second time, after line {line}");
                    return Err(entry
                        .mark
                        .error(message, Some("keep one of them".to_owned())));
                }
                let below = keys.below(&entry.key);
                rename_keys(&mut entry.value, below)?;
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

/// Returns the value of the form `{_description: …, _default: …, _options: …, value: X}`.
pub(super) fn noted_value(node: &Node) -> Option<&Node> {
    let notes = ["_description", "_default", "_options", "_type"];
    let is_note = |entry: &&Entry| notes.contains(&entry.key.as_str());
    let entries = node.entries();
    let noted = entries.len() > 1 && entries.iter().filter(is_note).count() + 1 == entries.len();
    node.get("value").filter(|_| noted)
}

/// Returns `timeout_days` for `timeoutDays`, and `base_url` for `baseURL`.
pub(super) fn snake_case(key: &str) -> String {
    let mut snake = String::with_capacity(key.len() + 4);
    let mut after_lowercase = false;
    for c in key.chars() {
        if c.is_ascii_uppercase() && after_lowercase {
            snake.push('_');
        }
        after_lowercase = c.is_ascii_lowercase() || c.is_ascii_digit();
        snake.push(c.to_ascii_lowercase());
    }
    snake
}

/// Turns the list of agents into a mapping by name.
fn index_agents(agents: &mut Node) -> Result<(), ConfigError> {
    let items = match std::mem::replace(&mut agents.kind, Kind::Null) {
        Kind::Null => Vec::new(),
        Kind::List(items) => items,
        _ => {
            let hint = "begin each agent with `- name: …`".to_owned();
            return Err(agents.mark.error("`agents` must be a list", Some(hint)));
        }
    };
    let mut by_name = Map::with_capacity(items.len());
    for mut item in items {
        rename_kind(&mut item)?;
        let (name, mark) = name_of(&item)?;
        if let Some(first) = by_name.iter().find(|entry| entry.key == name) {
            let line = first.mark.line;
            let message = format!("the agent `{name}` is defined twice, here and in line {line}");
            return Err(mark.error(message, Some("rename or remove one of them".to_owned())));
        }
        by_name.push(Entry {
            key: name,
            mark,
            value: item,
        });
    }
    agents.kind = Kind::Map(by_name);
    Ok(())
}

/// Brings `kind` to its proper name, so that all rules about providers hold for it.
fn rename_kind(agent: &mut Node) -> Result<(), ConfigError> {
    let both = agent.get("kind").is_some() && agent.get("provider").is_some();
    if let Kind::Map(entries) = &mut agent.kind {
        for entry in entries.iter_mut().filter(|entry| entry.key == "kind") {
            if both {
                let message = "`kind` and `provider` are two names of one key";
                let hint = "keep one of them".to_owned();
                return Err(entry.mark.error(message, Some(hint)));
            }
            "provider".clone_into(&mut entry.key);
        }
    }
    Ok(())
}

fn name_of(agent: &Node) -> Result<(String, Mark), ConfigError> {
    if !matches!(agent.kind, Kind::Map(_)) {
        let hint = "write `- name: …` with its keys below".to_owned();
        let message = "each entry of `agents` must be a mapping with a name";
        return Err(agent.mark.error(message, Some(hint)));
    }
    let Some(name) = agent.get("name") else {
        let hint = "give it a `name`".to_owned();
        return Err(agent.mark.error("this agent has no `name`", Some(hint)));
    };
    let text = match &name.kind {
        Kind::Text(text) => text.as_str(),
        _ => name.written.as_deref().unwrap_or_default(),
    };
    match AgentName::new(text) {
        Ok(_) => Ok((text.to_owned(), name.mark.clone())),
        Err(problem) => Err(name.mark.error(problem.to_string(), None)),
    }
}

/// Returns the tree with `agents` as the list that the typed settings have.
pub(super) fn with_agents_listed(mut root: Node) -> Node {
    if let Kind::Map(entries) = &mut root.kind {
        for entry in entries {
            if entry.key == "agents"
                && let Kind::Map(agents) = &mut entry.value.kind
            {
                let items = std::mem::take(agents);
                entry.value.kind = Kind::List(items.into_iter().map(with_name).collect());
            }
        }
    }
    root
}

fn with_name(agent: Entry) -> Node {
    let mut node = agent.value;
    if node.get("name").is_none()
        && let Kind::Map(entries) = &mut node.kind
    {
        let value = Node::text(agent.mark.clone(), &agent.key);
        entries.insert(
            0,
            Entry {
                key: "name".to_owned(),
                mark: agent.mark,
                value,
            },
        );
    }
    node
}

/// Lays `over` on `base`: mappings key by key, all else as a whole.
pub(super) fn merge(base: &mut Node, over: Node) {
    match (&mut base.kind, over.kind) {
        (Kind::Map(below), Kind::Map(above)) => {
            for entry in above {
                match below.iter_mut().find(|earlier| earlier.key == entry.key) {
                    Some(earlier) => merge(&mut earlier.value, entry.value),
                    None => below.push(entry),
                }
            }
        }
        // A section that holds nothing but comments takes nothing away.
        (Kind::Map(_), Kind::Null) => {}
        (_, kind) => {
            *base = Node {
                mark: over.mark,
                kind,
                written: over.written,
            };
        }
    }
}

/// Removes what stands at `path`.
pub(super) fn remove(root: &mut Node, path: &[&str]) {
    let Some((last, outer)) = path.split_last() else {
        return;
    };
    let mut node = root;
    for part in outer {
        let Kind::Map(entries) = &mut node.kind else {
            return;
        };
        let Some(entry) = entries.iter_mut().find(|entry| entry.key == *part) else {
            return;
        };
        node = &mut entry.value;
    }
    if let Kind::Map(entries) = &mut node.kind {
        entries.retain(|entry| entry.key != *last);
    }
}

/// Calls `visit` for every value that is not a mapping, with its path.
pub(super) fn for_each_leaf<'n>(root: &'n Node, visit: &mut impl FnMut(&[&'n str], &'n Node)) {
    fn walk<'n>(
        node: &'n Node,
        path: &mut Vec<&'n str>,
        visit: &mut impl FnMut(&[&'n str], &'n Node),
    ) {
        match &node.kind {
            Kind::Map(entries) => {
                for entry in entries {
                    path.push(&entry.key);
                    walk(&entry.value, path, visit);
                    path.pop();
                }
            }
            _ => visit(path, node),
        }
    }
    walk(root, &mut Vec::new(), visit);
}
