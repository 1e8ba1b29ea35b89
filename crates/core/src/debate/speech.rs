//! Whose words a message holds: a reviewer's own, or those that the lead passes on.

use serde_json::Value;

use super::context::author_of;
use super::floor::Floor;
use super::{Letter, name};
use crate::reply::extract_json;

/// What one reviewer says in one message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Speech {
    /// The reviewer.
    pub(super) who: String,
    /// Whether the lead passed it on.
    pub(super) forwarded: bool,
    /// The words.
    pub(super) text: String,
    /// The words as JSON, if they are any.
    value: Option<Value>,
}

impl Speech {
    /// Returns the round that the message says it belongs to, or that its list belongs to.
    pub(super) fn round(&self) -> Option<u8> {
        let value = self.value.as_ref()?;
        let stated = value.get("round").and_then(Value::as_u64);
        let stated = stated.and_then(|round| u8::try_from(round).ok());
        let by_phase = match value.get("phase").and_then(Value::as_str) {
            Some("cross-examine") => Some(2),
            Some("defend") => Some(3),
            _ => None,
        };
        let by_list = || {
            let lists = [("responses", 2), ("defenses", 3)];
            let there = |(name, _): &(&str, u8)| value.get(*name).is_some();
            lists.into_iter().find(there).map(|(_, round)| round)
        };
        stated.or(by_phase).or_else(by_list)
    }

    /// Tells whether it is a list of statements.
    pub(super) fn is_batch(&self) -> bool {
        let value = self.value.as_ref();
        value.is_some_and(|value| {
            value.is_array() && !self.holds_findings()
                || value.get("responses").is_some()
                || value.get("defenses").is_some()
        })
    }

    /// Tells whether it reports findings rather than speaking about those of others.
    pub(super) fn holds_findings(&self) -> bool {
        let lists = ["findings", "issues", "results", "comments", "runs"];
        match &self.value {
            Some(Value::Object(object)) => {
                !object.contains_key("action") && lists.iter().any(|one| object.contains_key(*one))
            }
            Some(Value::Array(items)) => items
                .first()
                .is_some_and(|item| item.get("title").is_some() && item.get("action").is_none()),
            _ => false,
        }
    }

    /// Returns the words as the reader of findings takes them.
    pub(super) fn content(&self) -> Value {
        match &self.value {
            Some(value) => value.clone(),
            None => Value::String(self.text.clone()),
        }
    }
}

impl Floor {
    /// Takes a message apart by speaker, and says of what nobody's words are why.
    pub(super) fn speeches(&self, letter: &Letter, lead: &str) -> Vec<Result<Speech, String>> {
        let text = match &letter.content {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let value = match &letter.content {
            Value::String(text) => extract_json(text),
            other => Ok(other.clone()),
        };
        if letter.from != lead || self.is_seated(lead) && !names_author(value.as_ref().ok()) {
            return vec![self.own_words(&letter.from, text, value.ok())];
        }
        match value {
            Err(error) => vec![Err(format!(
                "a message of {lead} is neither a signal nor an answer of a reviewer: {error}"
            ))],
            Ok(Value::Array(items)) => {
                let forwarded = items.into_iter().map(|item| self.forwarded(item));
                forwarded.collect()
            }
            Ok(value) => vec![self.forwarded(value)],
        }
    }

    /// Takes a message as its sender's own, whatever name it gives itself.
    fn own_words(&self, from: &str, text: String, value: Option<Value>) -> Result<Speech, String> {
        if !self.is_seated(from) {
            return Err(format!(
                "{} takes no part in this debate; its message was ignored",
                name(from)
            ));
        }
        let claimed = value.as_ref().and_then(author_of);
        if let Some(other) = claimed.filter(|other| other != from && self.is_seated(other)) {
            return Err(format!(
                "{from} wrote in the name of {other}; the message was ignored"
            ));
        }
        Ok(Speech {
            who: from.to_owned(),
            forwarded: false,
            text,
            value,
        })
    }

    fn forwarded(&self, value: Value) -> Result<Speech, String> {
        match author_of(&value) {
            None => Err("a forwarded answer does not say whose it is".to_owned()),
            Some(who) if !self.is_seated(&who) => Err(format!(
                "{} takes no part in this debate; its answer was ignored",
                name(&who)
            )),
            Some(who) => Ok(Speech {
                who,
                forwarded: true,
                text: value.to_string(),
                value: Some(value),
            }),
        }
    }
}

fn names_author(value: Option<&Value>) -> bool {
    match value {
        Some(Value::Array(items)) => items.iter().any(|item| author_of(item).is_some()),
        Some(value) => author_of(value).is_some(),
        None => false,
    }
}
