//! Any other program: the prompt on stdin, the answer on stdout.
//!
//! There is no protocol, so whether an answer is whole cannot be known here: output that was cut
//! but ends with exit code 0 passes. Askers who need to know demand a mark at the answer's end.

use serde_json::Value;
use tribunal_core::agent::ErrorClass;
use tribunal_core::money::{Cost, Usage};

use super::exit::Ended;
use super::plan::{self, Context, Plan};
use super::reader::{Ending, LONGEST_LINE, Reader, ran_out_of_time, text_at};
use super::{classify, endings};
use crate::{AgentError, AgentEvent, Reply};

const NAME: &str = "The program";

/// Returns how to ask any program. What we know about its model it finds in variables.
pub(super) fn plan(context: &Context<'_>) -> Plan {
    let Context { spec, call, model } = context;
    let mut plan = Plan {
        stdin: plan::system_and_prompt(call),
        ..Plan::default()
    };
    if let Some(key) = &spec.api_key {
        plan.env([("TRIBUNAL_API_KEY", key.expose())]);
    }
    if let Some(url) = &spec.base_url {
        plan.env([("TRIBUNAL_BASE_URL", url.as_str())]);
    }
    if let Some(model) = model {
        plan.env([("TRIBUNAL_MODEL", *model)]);
    }
    plan
}

/// Keeps the whole output, up to a bound.
#[derive(Default)]
pub(super) struct Raw {
    bytes: Vec<u8>,
    overlong: bool,
}

impl Reader for Raw {
    fn feed(&mut self, bytes: &[u8]) -> Vec<AgentEvent> {
        let room = LONGEST_LINE - self.bytes.len();
        self.overlong |= bytes.len() > room;
        self.bytes
            .extend_from_slice(&bytes[..bytes.len().min(room)]);
        Vec::new()
    }

    fn overhear(&mut self, _stderr: &str) {}

    fn result_seen(&self) -> bool {
        false
    }

    fn runaway(&self) -> Option<AgentError> {
        None
    }

    fn finish(&mut self, end: &Ending<'_>) -> Result<Reply, AgentError> {
        if let Some(error) = endings::forced_end(NAME, end) {
            return Err(error);
        }
        if ran_out_of_time(&end.exit.ended) || end.exit.ended == Ended::ParentGone {
            let late = endings::time_out(NAME, end);
            return Err(late.unwrap_or_else(|| endings::broken_run(NAME, end, None)));
        }
        if end.exit.code != Some(0) {
            // Its exit codes and words are its own: a guess at a class would be noise.
            let broken = endings::broken_run(NAME, end, None);
            return Err(AgentError::new(ErrorClass::Crash, broken.message));
        }
        if self.overlong {
            let message = format!("The answer has more than {LONGEST_LINE} bytes.");
            return Err(AgentError::new(ErrorClass::Limit, message));
        }
        let text = readable(&self.bytes)?;
        if text.is_empty() {
            let message = "The program exited normally but printed nothing.";
            return Err(AgentError::new(ErrorClass::Empty, message));
        }
        if let Some(said) = flagged_error(text) {
            return Err(classify::reported(NAME, None, &said, ErrorClass::Crash));
        }
        Ok(Reply {
            text: text.to_owned(),
            structured: None,
            usage: Usage::default(),
            cost: Cost::Unknown,
            session: None,
            model: None,
            version: None,
        })
    }
}

/// Returns the output as trimmed text.
fn readable(bytes: &[u8]) -> Result<&str, AgentError> {
    let garbled = |what: &str| {
        let message = format!("The output of the program {what}.");
        AgentError::new(ErrorClass::Garbled, message)
    };
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        return Err(garbled("is UTF-16, not UTF-8"));
    }
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    if bytes.contains(&0) {
        return Err(garbled("holds NUL bytes"));
    }
    let text = std::str::from_utf8(bytes).map_err(|_| garbled("is not valid UTF-8"))?;
    Ok(text.trim())
}

/// Returns what an output says that is a single result object with an error flag, as several
/// agents print it.
fn flagged_error(text: &str) -> Option<String> {
    if !text.starts_with('{') {
        return None;
    }
    let object: Value = serde_json::from_str(text).ok()?;
    let is_result = text_at(&object, &["type"]) == Some("result");
    let is_error = object.get("is_error").and_then(Value::as_bool) == Some(true);
    let said = text_at(&object, &["result"]).unwrap_or("it flags an error");
    (is_result && is_error).then(|| said.to_owned())
}
