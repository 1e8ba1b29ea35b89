//! What a request asks for: which API, streamed or not, and the conversation in it.

use serde_json::Value;

/// The wire formats the fake speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    Anthropic,
    Responses,
    Chat,
    Gemini,
}

/// What an API path stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Endpoint {
    Generate(Dialect),
    CountTokens(Dialect),
    Models(Dialect),
    Root,
    Unknown,
}

/// How the answer is to be framed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Framing {
    /// One JSON body.
    Single,
    /// Server-sent events.
    Events,
    /// One JSON array written piece by piece, as Gemini does without `alt=sse`.
    Array,
}

/// One model call.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) dialect: Dialect,
    pub(crate) framing: Framing,
    pub(crate) model: String,
    pub(crate) body: Value,
    /// Position among the requests of the key; it makes ids unique.
    pub(crate) n: usize,
}

/// One message of the conversation, reduced to what scenarios look at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Turn {
    User(String),
    Assistant,
    ToolResult(String),
}

/// Tells what an API path stands for.
pub(crate) fn endpoint(path: &str) -> Endpoint {
    let path = path
        .split('?')
        .next()
        .unwrap_or_default()
        .trim_end_matches('/');
    let dialect = if path.contains("beta/") {
        Dialect::Gemini
    } else {
        Dialect::Chat
    };
    match path {
        "" => Endpoint::Root,
        _ if path.ends_with("/messages") => Endpoint::Generate(Dialect::Anthropic),
        _ if path.ends_with("/messages/count_tokens") => Endpoint::CountTokens(Dialect::Anthropic),
        _ if path.ends_with("/responses") => Endpoint::Generate(Dialect::Responses),
        _ if path.ends_with("/chat/completions") => Endpoint::Generate(Dialect::Chat),
        _ if path.ends_with("enerateContent") => Endpoint::Generate(Dialect::Gemini),
        _ if path.ends_with(":countTokens") => Endpoint::CountTokens(Dialect::Gemini),
        _ if path.contains("/models") => Endpoint::Models(dialect),
        _ => Endpoint::Unknown,
    }
}

impl Call {
    /// Reads a call from its path and JSON body.
    pub(crate) fn new(dialect: Dialect, path: &str, body: Value, n: usize) -> Self {
        let framing = match dialect {
            Dialect::Gemini if !path.contains(":streamGenerateContent") => Framing::Single,
            Dialect::Gemini if !path.contains("alt=sse") => Framing::Array,
            Dialect::Gemini => Framing::Events,
            _ if body["stream"] == Value::Bool(true) => Framing::Events,
            _ => Framing::Single,
        };
        let named = body["model"]
            .as_str()
            .or_else(|| model_in(path))
            .unwrap_or("fake-model");
        let model = named.to_owned();
        Self {
            dialect,
            framing,
            model,
            body,
            n,
        }
    }

    /// Returns the conversation in order.
    pub(crate) fn turns(&self) -> Vec<Turn> {
        match self.dialect {
            Dialect::Anthropic => messages(&self.body["messages"], anthropic_message),
            Dialect::Chat => messages(&self.body["messages"], chat_message),
            Dialect::Gemini => messages(&self.body["contents"], gemini_content),
            Dialect::Responses => match &self.body["input"] {
                Value::String(text) => vec![Turn::User(text.clone())],
                items => messages(items, responses_item),
            },
        }
    }

    /// Returns the last thing the user said.
    pub(crate) fn last_user_text(&self) -> String {
        let last = self.turns().into_iter().rev().find_map(|turn| match turn {
            Turn::User(text) => Some(text),
            _ => None,
        });
        last.unwrap_or_default()
    }

    /// Returns all the user said, where directives are looked for.
    pub(crate) fn user_text(&self) -> String {
        let said = self.turns().into_iter().filter_map(|turn| match turn {
            Turn::User(text) => Some(text),
            _ => None,
        });
        said.collect::<Vec<_>>().join("\n")
    }

    /// Returns the tool result that waits for an answer, if the last step was a tool call.
    pub(crate) fn pending_tool_result(&self) -> Option<String> {
        let turns = self.turns();
        let since = turns.iter().rposition(|turn| *turn == Turn::Assistant)?;
        turns[since..].iter().rev().find_map(|turn| match turn {
            Turn::ToolResult(text) => Some(text.clone()),
            _ => None,
        })
    }
}

fn model_in(path: &str) -> Option<&str> {
    path.split("/models/").nth(1)?.split([':', '?', '/']).next()
}

fn messages(list: &Value, read: fn(&Value) -> Vec<Turn>) -> Vec<Turn> {
    list.as_array()
        .into_iter()
        .flatten()
        .flat_map(read)
        .collect()
}

fn anthropic_message(message: &Value) -> Vec<Turn> {
    if message["role"] == "assistant" {
        return vec![Turn::Assistant];
    }
    let blocks = message["content"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    let results = blocks.iter().filter(|block| block["type"] == "tool_result");
    let mut turns: Vec<Turn> = results
        .map(|block| Turn::ToolResult(text_of(&block["content"])))
        .collect();
    if let Some(text) = non_empty(text_of(&message["content"])) {
        turns.push(Turn::User(text));
    }
    turns
}

fn chat_message(message: &Value) -> Vec<Turn> {
    let text = text_of(&message["content"]);
    match message["role"].as_str() {
        Some("assistant") => vec![Turn::Assistant],
        Some("tool" | "function") => vec![Turn::ToolResult(text)],
        Some("user") => vec![Turn::User(text)],
        _ => Vec::new(),
    }
}

fn responses_item(item: &Value) -> Vec<Turn> {
    let kind = item["type"].as_str().unwrap_or("message");
    match (kind, item["role"].as_str()) {
        ("message", Some("user")) => vec![Turn::User(text_of(&item["content"]))],
        ("message", Some("assistant")) => vec![Turn::Assistant],
        ("message", _) | ("reasoning", _) => Vec::new(),
        _ if kind.ends_with("_output") => vec![Turn::ToolResult(text_of(&item["output"]))],
        _ => vec![Turn::Assistant],
    }
}

fn gemini_content(content: &Value) -> Vec<Turn> {
    if content["role"] == "model" {
        return vec![Turn::Assistant];
    }
    let parts = content["parts"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    let results = parts.iter().filter_map(|part| part.get("functionResponse"));
    let mut turns: Vec<Turn> = results
        .map(|result| Turn::ToolResult(result["response"].to_string()))
        .collect();
    if let Some(text) = non_empty(text_of(&content["parts"])) {
        turns.push(Turn::User(text));
    }
    turns
}

/// Joins the text of a string or of a list of parts in any of the dialects.
fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts: Vec<&str> = parts
                .iter()
                .filter_map(|part| part["text"].as_str())
                .collect();
            texts.join("\n")
        }
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

fn non_empty(text: String) -> Option<String> {
    (!text.is_empty()).then_some(text)
}
