//! A tree of values in which each one knows where it stands, and how it is read from YAML.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use serde::de::{self, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Number;
use serde_saphyr::budget::BudgetBreach;
use serde_saphyr::options::{DuplicateKeyPolicy, MergeKeyPolicy};
use serde_saphyr::{Error as YamlError, Location, Spanned};

use super::error::{ConfigError, Layer, Origin};

/// Where the values of one tree come from.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Source {
    pub(super) layer: Layer,
    /// The file as it is shown to people.
    pub(super) file: Option<PathBuf>,
    /// The variable or flag.
    pub(super) name: Option<String>,
}

/// The place of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) source: Arc<Source>,
    pub(super) line: u32,
    pub(super) column: u32,
}

impl Mark {
    pub(super) fn origin(&self) -> Origin {
        Origin {
            layer: self.source.layer,
            file: self.source.file.clone(),
            name: self.source.name.clone(),
            line: self.line,
            column: self.column,
        }
    }

    /// Returns the error that says `message` about this place.
    pub(super) fn error(&self, message: impl Into<String>, hint: Option<String>) -> ConfigError {
        ConfigError::Invalid {
            origin: Box::new(self.origin()),
            message: message.into(),
            hint,
        }
    }
}

/// A value and its place.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) mark: Mark,
    pub(super) kind: Kind,
    /// The text as written, where it says more than the value: `1.0` or `0755`.
    pub(super) written: Option<String>,
}

#[derive(Debug, Clone)]
pub(super) enum Kind {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    List(Vec<Node>),
    Map(Map),
}

/// The entries of a mapping in their order; keys occur once.
pub(super) type Map = Vec<Entry>;

#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) key: String,
    pub(super) mark: Mark,
    pub(super) value: Node,
}

impl Node {
    pub(super) fn map(mark: Mark, entries: Map) -> Self {
        Self {
            mark,
            kind: Kind::Map(entries),
            written: None,
        }
    }

    pub(super) fn text(mark: Mark, text: &str) -> Self {
        Self {
            mark,
            kind: Kind::Text(text.to_owned()),
            written: None,
        }
    }

    pub(super) fn entries(&self) -> &[Entry] {
        match &self.kind {
            Kind::Map(entries) => entries,
            _ => &[],
        }
    }

    /// Returns the value of `key` in a mapping.
    pub(super) fn get(&self, key: &str) -> Option<&Self> {
        let entry = self.entries().iter().find(|entry| entry.key == key)?;
        Some(&entry.value)
    }

    /// Returns the value at the end of `path`.
    pub(super) fn at(&self, path: &[&str]) -> Option<&Self> {
        path.iter().try_fold(self, |node, key| node.get(key))
    }

    /// Returns the value as JSON, for showing and comparing.
    pub(super) fn to_json(&self) -> serde_json::Value {
        use serde_json::Value;
        match &self.kind {
            Kind::Null => Value::Null,
            Kind::Bool(value) => Value::Bool(*value),
            Kind::Number(number) => Value::Number(number.clone()),
            Kind::Text(text) => Value::String(text.clone()),
            Kind::List(items) => items.iter().map(Self::to_json).collect(),
            Kind::Map(entries) => {
                let pair = |entry: &Entry| (entry.key.clone(), entry.value.to_json());
                Value::Object(entries.iter().map(pair).collect())
            }
        }
    }
}

/// Returns the value as a node that was written at `mark`.
pub(super) fn of_json(mark: &Mark, value: &serde_json::Value) -> Node {
    use serde_json::Value;
    let kind = match value {
        Value::Null => Kind::Null,
        Value::Bool(value) => Kind::Bool(*value),
        Value::Number(number) => Kind::Number(number.clone()),
        Value::String(text) => Kind::Text(text.clone()),
        Value::Array(items) => Kind::List(items.iter().map(|item| of_json(mark, item)).collect()),
        Value::Object(entries) => {
            let entry = |(key, value): (&String, &Value)| Entry {
                key: key.clone(),
                mark: mark.clone(),
                value: of_json(mark, value),
            };
            Kind::Map(entries.iter().map(entry).collect())
        }
    };
    Node {
        mark: mark.clone(),
        kind,
        written: None,
    }
}

/// Returns the tree that holds `value` at `path` and nothing else.
pub(super) fn nested<S: AsRef<str>>(path: &[S], value: Node, mark: &Mark) -> Node {
    path.iter().rev().fold(value, |value, key| {
        let entry = Entry {
            key: key.as_ref().to_owned(),
            mark: mark.clone(),
            value,
        };
        Node::map(mark.clone(), vec![entry])
    })
}

/// Reads `text` as one YAML document; an empty one gives a null.
pub(super) fn parse(text: &str, source: &Arc<Source>) -> Result<Node, ConfigError> {
    let place = |location: Option<Location>| Mark {
        source: Arc::clone(source),
        line: location.map_or(0, |at| u32::try_from(at.line()).unwrap_or(0)),
        column: location.map_or(0, |at| u32::try_from(at.column()).unwrap_or(0)),
    };
    match serde_saphyr::from_str_with_options::<Spanned<Tree>>(text, options()) {
        Ok(tree) => Ok(located(tree, text, source)),
        Err(error) => {
            let error = error.without_snippet();
            if matches!(error, YamlError::Eof { .. }) && is_blank(text) {
                let mark = place(None);
                return Ok(Node {
                    mark,
                    kind: Kind::Null,
                    written: None,
                });
            }
            let (message, hint) = explain(error, text);
            Err(place(error.location()).error(message, hint))
        }
    }
}

fn is_blank(text: &str) -> bool {
    let says_nothing = |line: &str| {
        let line = line.trim();
        line.is_empty() || line.starts_with('#')
    };
    text.lines().all(says_nothing)
}

/// Limits far above any real config and far below what could hurt.
fn options() -> serde_saphyr::Options {
    serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_depth: 32,
            max_documents: 2,
            max_nodes: 100_000,
            max_events: 300_000,
            max_aliases: 1_000,
            max_anchors: 1_000,
        },
        alias_limits: serde_saphyr::alias_limits! {
            max_total_replayed_events: 20_000,
        },
        duplicate_keys: DuplicateKeyPolicy::Error,
        merge_keys: MergeKeyPolicy::Merge,
        // `no` and `on` are words; which of them are meant as yes or no, the key decides.
        strict_booleans: true,
        reject_unsupported_tags: true,
        // Comments are the editor's business; buffering them has a limit of its own.
        emit_comments: false,
        with_snippet: false,
    }
}

/// Says in our words what the parser found; `error` carries no snippet.
fn explain(error: &YamlError, text: &str) -> (String, Option<String>) {
    let line = error.location().and_then(|at| {
        text.lines()
            .nth(usize::try_from(at.line()).ok()?.checked_sub(1)?)
    });
    let has_tab = line.is_some_and(|line| line.trim_start_matches(' ').starts_with('\t'));
    match error {
        _ if has_tab => (
            "a line is indented with a tab, which YAML does not allow".to_owned(),
            Some("indent with spaces".to_owned()),
        ),
        YamlError::DuplicateMappingKey { key, .. } => (
            match key {
                Some(key) => format!("the key `{key}` stands here a second time"),
                None => "a key stands here a second time".to_owned(),
            },
            Some("keep one of them".to_owned()),
        ),
        YamlError::MultipleDocuments { .. } => (
            "a second document begins here, but a config is one document".to_owned(),
            Some("remove the `---` line".to_owned()),
        ),
        _ if is_too_deep(error) => (
            "values are nested deeper here than any setting is".to_owned(),
            Some("check the brackets and the indentation".to_owned()),
        ),
        YamlError::UnsupportedTag { .. } => (
            "a tag stands here, but settings are plain values".to_owned(),
            Some("remove the `!…`".to_owned()),
        ),
        YamlError::Budget { .. }
        | YamlError::AliasReplayLimitExceeded { .. }
        | YamlError::AliasExpansionLimitExceeded { .. }
        | YamlError::AliasReplayStackDepthExceeded { .. }
        | YamlError::AliasError { .. } => (
            "aliases or sheer number make the config larger than any sensible one".to_owned(),
            Some("write the values out".to_owned()),
        ),
        YamlError::NonFiniteFloat { .. } => (
            "a number is infinite or not a number".to_owned(),
            Some("quote it if it is a text".to_owned()),
        ),
        other => (
            format!("this is not valid YAML: {}", short_reason(other)),
            Some("check the indentation, quotes and brackets around here".to_owned()),
        ),
    }
}

fn is_too_deep(error: &YamlError) -> bool {
    match error {
        YamlError::Budget { breach, .. } => matches!(breach, BudgetBreach::Depth { .. }),
        other => short_reason(other).contains("recursion limit"),
    }
}

/// The parser's own words without its place, which stands in front of our sentence already.
fn short_reason(error: &YamlError) -> String {
    let rendered = error.render();
    let first = rendered.lines().next().unwrap_or_default();
    let reason = first.split(" at line ").next().unwrap_or(first);
    reason.trim().trim_end_matches('.').to_owned()
}

/// The untyped shape of a YAML value, as the parser hands it over.
enum Tree {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    List(Vec<Spanned<Self>>),
    Map(Vec<(Spanned<String>, Spanned<Self>)>),
}

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TreeVisitor)
    }
}

struct TreeVisitor;

impl<'de> Visitor<'de> for TreeVisitor {
    type Value = Tree;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Tree, E> {
        Ok(Tree::Null)
    }

    fn visit_none<E>(self) -> Result<Tree, E> {
        Ok(Tree::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Tree, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Tree, E> {
        Ok(Tree::Bool(value))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Tree, E> {
        Ok(Tree::Number(number.into()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Tree, E> {
        Ok(Tree::Number(number.into()))
    }

    fn visit_i128<E>(self, number: i128) -> Result<Tree, E> {
        Ok(Tree::Text(number.to_string()))
    }

    fn visit_u128<E>(self, number: u128) -> Result<Tree, E> {
        Ok(Tree::Text(number.to_string()))
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<Tree, E> {
        let number = Number::from_f64(number);
        number
            .map(Tree::Number)
            .ok_or_else(|| E::custom("a number is not finite"))
    }

    fn visit_str<E>(self, text: &str) -> Result<Tree, E> {
        Ok(Tree::Text(text.to_owned()))
    }

    fn visit_string<E>(self, text: String) -> Result<Tree, E> {
        Ok(Tree::Text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Tree, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element()? {
            items.push(item);
        }
        Ok(Tree::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Tree, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(Tree::Map(entries))
    }
}

fn located(tree: Spanned<Tree>, text: &str, source: &Arc<Source>) -> Node {
    let mark = |location: &Location| Mark {
        source: Arc::clone(source),
        line: u32::try_from(location.line()).unwrap_or(0),
        column: u32::try_from(location.column()).unwrap_or(0),
    };
    let written = match tree.value {
        Tree::Bool(_) | Tree::Number(_) => slice(&tree.defined, text).map(str::to_owned),
        _ => None,
    };
    let kind = match tree.value {
        Tree::Null => Kind::Null,
        Tree::Bool(value) => Kind::Bool(value),
        Tree::Number(number) => Kind::Number(number),
        Tree::Text(text) => Kind::Text(text),
        Tree::List(items) => Kind::List(
            items
                .into_iter()
                .map(|item| located(item, text, source))
                .collect(),
        ),
        Tree::Map(entries) => {
            let entry = |(key, value): (Spanned<String>, Spanned<Tree>)| Entry {
                mark: mark(&key.referenced),
                key: key.value,
                value: located(value, text, source),
            };
            Kind::Map(entries.into_iter().map(entry).collect())
        }
    };
    Node {
        mark: mark(&tree.referenced),
        kind,
        written,
    }
}

fn slice<'t>(location: &Location, text: &'t str) -> Option<&'t str> {
    let start = usize::try_from(location.span().byte_offset()?).ok()?;
    let length = usize::try_from(location.span().byte_len()?).ok()?;
    text.get(start..start.checked_add(length)?)
}
