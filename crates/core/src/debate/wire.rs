//! The messages of a debate as JSON lines: one message in, any number out.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Input, Letter};
use crate::text::truncate_chars;

/// A message that the arbitrator sends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Outgoing {
    /// To one participant.
    Message {
        /// Whom it is for.
        recipient: String,
        /// The text; the final consensus is JSON.
        content: String,
        /// The text in a few words.
        summary: String,
    },
    /// The answer to a request to end.
    ShutdownResponse {
        /// The id of the request.
        request_id: String,
        /// Whether the arbitrator has finished.
        approve: bool,
        /// Why it has not.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        content: Option<String>,
    },
}

/// How the lines of a conversation say who speaks. The first message decides it for all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Every message names its sender. A line that does not is nobody's.
    Signed,
    /// What names no sender comes from the lead, who owns the line.
    Bare,
}

/// Reads the lines of a conversation.
///
/// Whether unsigned lines are the lead's is decided by the lead's first message and never by a
/// later one. In a signed conversation a stray line of a reviewer's text is therefore nobody's.
#[derive(Debug, Clone)]
pub struct Reader {
    lead: String,
    form: Option<Form>,
}

impl Reader {
    /// Returns a reader for a conversation led by `lead`.
    #[must_use]
    pub fn new(lead: impl Into<String>) -> Self {
        Self {
            lead: lead.into(),
            form: None,
        }
    }

    /// Reads one line. A blank one says nothing.
    #[must_use]
    pub fn read(&mut self, line: &str) -> Option<Input> {
        let line = line.trim_start_matches('\u{feff}').trim();
        if line.is_empty() {
            return None;
        }
        Some(match serde_json::from_str::<Value>(line) {
            Ok(value) => self.read_value(value),
            Err(_) if self.form == Some(Form::Bare) && !line.starts_with(['{', '[']) => {
                Input::Message(Letter {
                    from: self.lead.clone(),
                    content: Value::String(line.to_owned()),
                })
            }
            Err(error) => Input::Unreadable(format!(
                "a line is no message ({error}): {:?}",
                truncate_chars(line, 60)
            )),
        })
    }

    fn read_value(&mut self, value: Value) -> Input {
        let from = ["from", "sender"]
            .into_iter()
            .find_map(|name| value.get(name)?.as_str());
        let from = from.map(|name| name.trim().to_owned());
        let is_object = value.is_object();
        match (from, self.form) {
            (Some(from), form) => {
                self.form = form.or(Some(Form::Signed));
                match content_of(value) {
                    Some(content) => Input::Message(Letter { from, content }),
                    None => Input::Unreadable(format!(
                        "a message of {} has no content",
                        truncate_chars(&from, 60)
                    )),
                }
            }
            (None, Some(Form::Signed)) => Input::Unreadable("a message names no sender".to_owned()),
            (None, None) if !is_object => {
                Input::Unreadable("a line is no message: an object was expected".to_owned())
            }
            (None, Some(Form::Bare) | None) => {
                self.form = Some(Form::Bare);
                let is_envelope = value.get("type").and_then(Value::as_str) == Some("message");
                let content = if is_envelope {
                    content_of(value)
                } else {
                    Some(value)
                };
                match content {
                    Some(content) => Input::Message(Letter {
                        from: self.lead.clone(),
                        content,
                    }),
                    None => Input::Unreadable("a message has no content".to_owned()),
                }
            }
        }
    }
}

/// Returns what an envelope holds. A request to end is its own content.
fn content_of(mut value: Value) -> Option<Value> {
    let object = value.as_object_mut()?;
    for name in ["content", "text"] {
        if let Some(content) = object.remove(name)
            && !content.is_null()
        {
            return Some(content);
        }
    }
    let is_request = object.get("type").and_then(Value::as_str) == Some("shutdown_request");
    is_request.then_some(value)
}

/// What the lead says about the course of the debate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Control {
    /// All answers of this round were sent.
    RoundComplete(u8),
    /// The arbitrator should end.
    Shutdown {
        /// The id to answer to.
        request_id: String,
    },
}

/// Returns the control signal that a message is, as a whole. A signal that stands inside a longer
/// text is text.
pub(super) fn control(content: &Value) -> Option<Control> {
    match content {
        Value::String(text) => {
            let bare = text.trim().trim_matches('"');
            let round = bare
                .strip_prefix("ROUND ")
                .and_then(|rest| rest.strip_suffix(" COMPLETE"));
            if let Some(round) = round.and_then(|round| round.parse().ok()) {
                return Some(Control::RoundComplete(round));
            }
            let whole: Value = serde_json::from_str(bare).ok()?;
            whole.is_object().then(|| control(&whole)).flatten()
        }
        Value::Object(object) => {
            if object.get("type")?.as_str()? != "shutdown_request" {
                return None;
            }
            let id = ["request_id", "requestId"]
                .into_iter()
                .find_map(|name| object.get(name));
            let request_id = match id {
                Some(Value::String(id)) => id.clone(),
                Some(Value::Number(id)) => id.to_string(),
                _ => String::new(),
            };
            Some(Control::Shutdown { request_id })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sender(input: Option<Input>) -> String {
        match input {
            Some(Input::Message(letter)) => letter.from,
            Some(Input::Unreadable(what)) => format!("unreadable: {what}"),
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn a_signed_conversation_takes_no_unsigned_line() {
        let mut reader = Reader::new("lead");
        assert_eq!(
            sender(reader.read(r#"{"type":"message","from":"ann","content":"hello"}"#)),
            "ann"
        );
        for line in ["ROUND 2 COMPLETE", r#""ROUND 2 COMPLETE""#, r#"{"a": 1}"#] {
            let told = sender(reader.read(line));
            assert!(told.starts_with("unreadable: "), "{told}");
        }
    }

    #[test]
    fn a_bare_conversation_is_the_leads() {
        let mut reader = Reader::new("lead");
        for line in [r#"{"findings": {}}"#, "ROUND 2 COMPLETE"] {
            assert_eq!(sender(reader.read(line)), "lead");
        }
        assert_eq!(reader.read("  "), None);
        assert_eq!(
            sender(reader.read(r#"{"sender":"ann","content":[]}"#)),
            "ann"
        );
    }

    #[test]
    fn a_signal_is_the_whole_message_or_none() {
        let text = |text: &str| control(&Value::String(text.to_owned()));
        assert_eq!(text(" ROUND 2 COMPLETE\n"), Some(Control::RoundComplete(2)));
        for no_signal in [
            "All done. ROUND 2 COMPLETE",
            "ROUND 2 COMPLETE\nROUND 3 COMPLETE",
            "round 2 complete",
            "ROUND TWO COMPLETE",
            "[{\"type\":\"shutdown_request\"}]",
        ] {
            assert_eq!(text(no_signal), None, "{no_signal}");
        }
        assert_eq!(
            text(r#"{"type":"shutdown_request","requestId":"r-1"}"#),
            Some(Control::Shutdown {
                request_id: "r-1".to_owned()
            })
        );
    }
}
