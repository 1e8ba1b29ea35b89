//! What the model says, before any dialect puts it into words.

use serde_json::{Value, json};

/// Text of a plain good answer.
pub const OK_TEXT: &str = "The fake model has read everything and finds nothing to change.";

/// Tokens that every good answer reports, so that accounting can be checked.
pub const USAGE: Usage = Usage {
    fresh_input: 1200,
    cache_read: 300,
    cache_write: 100,
    output: 85,
};

/// Token counts of one answer, each token counted once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Usage {
    /// Input tokens that came from no cache.
    pub fresh_input: u64,
    /// Input tokens read from a cache.
    pub cache_read: u64,
    /// Input tokens written to a cache; only Anthropic reports them.
    pub cache_write: u64,
    /// Output tokens.
    pub output: u64,
}

impl Usage {
    /// Returns the input as OpenAI and Gemini count it: cached tokens included.
    pub(crate) fn prompt(self) -> u64 {
        self.fresh_input + self.cache_read
    }

    /// Returns input and output as OpenAI and Gemini add them up.
    pub(crate) fn total(self) -> u64 {
        self.prompt() + self.output
    }
}

/// A whole answer.
#[derive(Debug, Clone)]
pub(crate) struct Reply {
    pub(crate) parts: Vec<Part>,
    pub(crate) stop: Stop,
}

/// One piece of an answer.
#[derive(Debug, Clone)]
pub(crate) enum Part {
    Thinking(String),
    Text(String),
    Refusal(String),
    Tool(ToolCall),
}

/// A call of one of the client's tools.
#[derive(Debug, Clone)]
pub(crate) struct ToolCall {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) namespace: Option<String>,
    pub(crate) kind: ToolKind,
    pub(crate) input: Value,
}

/// How a tool takes its input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ToolKind {
    /// A JSON object that fits a schema.
    Function,
    /// Free text, as Codex offers `apply_patch`.
    Custom,
    /// The shell that is built into the Responses API.
    LocalShell,
}

/// Why the answer ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    End,
    ToolUse,
    MaxTokens,
    Refusal,
    Filtered,
}

impl Reply {
    /// Returns an answer of one text.
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self {
            parts: vec![Part::Text(text.into())],
            stop: Stop::End,
        }
    }

    /// Returns an answer that calls a tool.
    pub(crate) fn tool(call: ToolCall) -> Self {
        Self {
            parts: vec![Part::Tool(call)],
            stop: Stop::ToolUse,
        }
    }
}

impl ToolCall {
    /// Returns the input as text: JSON for functions, the bare text for free-form tools.
    pub(crate) fn input_text(&self) -> String {
        match &self.input {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        }
    }
}

/// One event of a stream, not yet framed.
#[derive(Debug, Clone)]
pub(crate) struct Frame {
    pub(crate) kind: FrameKind,
    pub(crate) event: Option<String>,
    pub(crate) data: String,
}

/// Which place an event has in a stream; faults are put at such places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FrameKind {
    /// Before any content.
    Start,
    /// A piece of content.
    Delta,
    /// The end of a piece of content.
    Close,
    /// The event that carries the reason of the end.
    Finish,
    /// The terminator after it.
    Done,
}

impl Frame {
    /// Returns an event named by the `type` member of its data.
    pub(crate) fn typed(kind: FrameKind, data: &Value) -> Self {
        Self {
            kind,
            event: data["type"].as_str().map(str::to_owned),
            data: data.to_string(),
        }
    }

    /// Returns an event without a name.
    pub(crate) fn bare(kind: FrameKind, data: &Value) -> Self {
        Self {
            kind,
            event: None,
            data: data.to_string(),
        }
    }
}

/// Cuts a text into the pieces in which it is streamed; never inside a character.
pub(crate) fn pieces(text: &str) -> Vec<&str> {
    let size = (text.len() / 64).max(12);
    let mut rest = text;
    let mut all = Vec::new();
    while !rest.is_empty() {
        let end = (size..rest.len())
            .find(|at| rest.is_char_boundary(*at))
            .unwrap_or(rest.len());
        let (piece, more) = rest.split_at(end);
        all.push(piece);
        rest = more;
    }
    all
}

/// Returns a JSON object that no schema with required members accepts.
pub(crate) fn unfit_object() -> Value {
    json!({"unexpected_shape": [1, "two", null]})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_join_to_the_text() {
        let text = "äöü€ and so on, long enough for several pieces 🙂🙂🙂🙂🙂🙂";
        assert!(pieces(text).len() > 3);
        assert_eq!(pieces(text).concat(), text);
    }
}
