//! Cuts into YAML text: one value changes, everything around it stays as it was written.

use std::str::FromStr as _;

use serde_json::Value;
use yaml_edit::path::YamlPath as _;
use yaml_edit::{Document, YamlFile};

use super::key::Key;
use super::layers::{self, snake_case};
use super::node::{Kind, Node};

/// A text about to be changed, and what was read from it.
pub(super) struct Surgery<'t> {
    text: &'t str,
    raw: &'t Node,
}

/// One step on the way to a value, in the spelling of the file.
#[derive(Clone)]
enum Step {
    Key(String),
    Index(usize),
}

impl<'t> Surgery<'t> {
    /// Returns the surgery on `text`, from which `raw` was read; refuses what it cannot handle.
    pub(super) fn new(text: &'t str, raw: &'t Node) -> Result<Self, String> {
        let parsed = YamlFile::from_str(text).map_err(|error| error.to_string())?;
        if parsed.to_string() != text {
            return Err("its form is beyond what can be kept".to_owned());
        }
        Ok(Self { text, raw })
    }

    /// Returns the text with `key` set to `value`.
    pub(super) fn set(&self, key: &Key, value: &Node) -> Result<String, String> {
        let (steps, missing) = self.steps(key);
        // An agent that other layers define gets an entry with what this file adds.
        if let (["agents", name, rest @ ..], true) = (key.parts().as_slice(), missing)
            && self.agent_index(name).is_none()
        {
            let fields = rest.iter().rev().fold(value.to_json(), |value, key| {
                Value::Object([((*key).to_owned(), value)].into_iter().collect())
            });
            let mut block = format!("name: {}\n", flow(&Value::from(*name)));
            for (key, value) in fields.as_object().into_iter().flatten() {
                block += &format!("  {key}: {}\n", flow(value));
            }
            return self.append_agent(&block);
        }
        let file = self.parsed()?;
        let document = file.ensure_document();
        let path = path_of(&steps);
        let done = match &value.kind {
            Kind::Text(text) => document.try_set_path(&path, text.as_str()),
            _ => {
                let text = match (&value.kind, &value.written) {
                    (Kind::Number(_) | Kind::Bool(_), Some(written)) => written.trim().to_owned(),
                    _ => flow(&value.to_json()),
                };
                let part = Document::from_str(&text).map_err(|error| error.to_string())?;
                match (part.as_sequence(), part.as_mapping(), part.as_scalar()) {
                    (Some(list), _, _) => document.try_set_path(&path, &list),
                    (_, Some(map), _) => document.try_set_path(&path, &map),
                    (_, _, Some(scalar)) => document.try_set_path(&path, &scalar),
                    _ => return Err("the value has no written form".to_owned()),
                }
            }
        };
        done.map_err(|error| error.to_string())?;
        self.checked(file.to_string())
    }

    /// Returns the text without `key`, and without sections that this leaves empty.
    pub(super) fn unset(&self, key: &Key) -> Result<String, String> {
        let (mut steps, _) = self.steps(key);
        // A value goes together with the notes on it.
        let outer = steps
            .len()
            .checked_sub(1)
            .and_then(|last| steps.get(..last));
        if outer
            .and_then(|outer| self.at(outer))
            .and_then(layers::noted_value)
            .is_some()
        {
            steps.pop();
        }
        let mut best = self.without(&steps)?;
        let kept = comments(&best);
        for length in (1..steps.len()).rev() {
            let outer = steps.get(..length).unwrap_or_default();
            if self.at(outer).is_none_or(|node| children(node) != 1) {
                break;
            }
            let shorter = self.without(outer)?;
            // A comment in an otherwise empty section is worth more than tidiness.
            if comments(&shorter) != kept {
                break;
            }
            best = shorter;
        }
        Ok(best)
    }

    /// Returns the text with `block` as the last agent.
    pub(super) fn append_agent(&self, block: &str) -> Result<String, String> {
        let list = Document::from_str(&format!("- {}", block.trim_end()))
            .map_err(|error| error.to_string())?;
        let list = list.as_sequence().ok_or("an agent is an item of a list")?;
        let entry = list.get(0).ok_or("an agent is an item of a list")?;
        let entry = entry.as_mapping().ok_or("an agent is a mapping")?.clone();
        let file = self.parsed()?;
        let document = file.ensure_document();
        let agents = self.at(&[Step::Key("agents".to_owned())]);
        match document.get_sequence("agents") {
            Some(sequence) if agents.is_some_and(|agents| children(agents) > 0) => {
                sequence.push(&entry);
            }
            _ => {
                document.set("agents", &list);
            }
        }
        self.checked(file.to_string())
    }

    /// Setting a value loses no comment; if it would, the text is not to be trusted.
    fn checked(&self, text: String) -> Result<String, String> {
        if comments(self.text) == comments(&text) {
            let end = if text.ends_with('\n') { "" } else { "\n" };
            return Ok(text + end);
        }
        Err("a comment would be lost".to_owned())
    }

    fn parsed(&self) -> Result<YamlFile, String> {
        YamlFile::from_str(self.text).map_err(|error| error.to_string())
    }

    fn without(&self, steps: &[Step]) -> Result<String, String> {
        let file = self.parsed()?;
        let document = file.ensure_document();
        let removed = match steps.split_last() {
            Some((Step::Index(index), outer)) => {
                let found = document.try_get_path(&path_of(outer));
                let found = found.map_err(|error| error.to_string())?;
                let list = found.as_sequence();
                list.is_some_and(|list| list.remove(*index).is_some())
            }
            _ => {
                let removed = document.try_remove_path(&path_of(steps));
                removed.map(|_| true).map_err(|error| error.to_string())?
            }
        };
        if removed {
            Ok(file.to_string())
        } else {
            Err("it cannot be taken out".to_owned())
        }
    }

    /// Returns the steps to `key` as the file spells them, and whether some are not there yet.
    fn steps(&self, key: &Key) -> (Vec<Step>, bool) {
        let mut steps = Vec::new();
        let mut here = Some(self.raw);
        let mut missing = false;
        for (depth, part) in key.parts().into_iter().enumerate() {
            if depth == 1 && key.parts().first() == Some(&"agents") {
                let index = self.agent_index(part);
                missing |= index.is_none();
                steps.push(Step::Index(index.unwrap_or(usize::MAX)));
                here = index.and_then(|index| item(here, index));
                continue;
            }
            let same = |spelled: &str| spelled == part || snake_case(spelled) == part;
            let entry = here.and_then(|node| node.entries().iter().find(|entry| same(&entry.key)));
            missing |= entry.is_none();
            steps.push(Step::Key(entry.map_or(part, |entry| &entry.key).to_owned()));
            here = entry.map(|entry| &entry.value);
            // The long form keeps its notes; the value is inside.
            if let Some(value) = here.and_then(layers::noted_value) {
                steps.push(Step::Key("value".to_owned()));
                here = Some(value);
            }
        }
        (steps, missing)
    }

    fn at(&self, steps: &[Step]) -> Option<&'t Node> {
        steps.iter().try_fold(self.raw, |node, step| match step {
            Step::Key(key) => node.get(key),
            Step::Index(index) => item(Some(node), *index),
        })
    }

    fn agent_index(&self, name: &str) -> Option<usize> {
        let Kind::List(agents) = &self.raw.get("agents")?.kind else {
            return None;
        };
        let named = |agent: &Node| match agent.get("name") {
            Some(Node {
                kind: Kind::Text(text),
                ..
            }) => text == name,
            Some(node) => node.written.as_deref() == Some(name),
            None => false,
        };
        agents.iter().position(named)
    }
}

fn item(node: Option<&Node>, index: usize) -> Option<&Node> {
    match &node?.kind {
        Kind::List(items) => items.get(index),
        _ => None,
    }
}

fn children(node: &Node) -> usize {
    match &node.kind {
        Kind::List(items) => items.len(),
        Kind::Map(entries) => entries.len(),
        _ => 0,
    }
}

fn comments(text: &str) -> Vec<String> {
    let file = YamlFile::from_str(text);
    let texts = |file: YamlFile| {
        file.comments()
            .map(|comment| comment.text().to_owned())
            .collect()
    };
    file.map(texts).unwrap_or_default()
}

fn path_of(steps: &[Step]) -> String {
    let mut path = String::new();
    for step in steps {
        match step {
            Step::Index(index) => path += &format!("[{index}]"),
            Step::Key(key) => {
                if !path.is_empty() {
                    path.push('.');
                }
                for (at, c) in key.chars().enumerate() {
                    if matches!(c, '.' | '[' | ']' | '\\') || at == 0 && c.is_ascii_digit() {
                        path.push('\\');
                    }
                    path.push(c);
                }
            }
        }
    }
    path
}

/// Returns `value` on one line; words that mean themselves stay without quotes.
pub(super) fn flow(value: &Value) -> String {
    match value {
        Value::String(text) if is_plain(text) => text.clone(),
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(flow).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(fields) => {
            let pair = |(key, value): (&String, &Value)| {
                format!("{}: {}", flow(&Value::from(key.as_str())), flow(value))
            };
            let fields: Vec<_> = fields.iter().map(pair).collect();
            format!("{{{}}}", fields.join(", "))
        }
        // JSON strings are YAML strings.
        other => other.to_string(),
    }
}

fn is_plain(text: &str) -> bool {
    let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '+');
    let reserved = [
        "true", "false", "null", "yes", "no", "on", "off", "y", "n", "nan", "inf",
    ];
    // `30s` is a text without quotes; `1e5` and `0x1f` are numbers.
    let number = text.parse::<f64>().is_ok() || text.starts_with("0x") || text.starts_with("0o");
    text.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '/')
        && text.chars().any(|c| c.is_ascii_alphabetic())
        && !number
        && text.chars().all(word)
        && !reserved.contains(&text.to_ascii_lowercase().as_str())
}
