//! Any other program: the prompt on stdin, the answer on stdout.
//!
//! There is no protocol, so whether an answer is whole cannot be known here: output that was cut
//! but ends with exit code 0 passes. Askers who need to know demand a mark at the answer's end.

use serde_json::Value;
use tribunal_core::agent::ErrorClass;
use tribunal_core::money::Cost;

use super::classify;
use super::plan::{self, Context, Plan};
use super::reader::{Ending, LONGEST_LINE, text_at};
use super::whole::Form;
use crate::AgentError;

/// Returns how to ask any program. What we know about its model it finds in variables.
pub(super) fn plan(context: &Context<'_>) -> Plan {
    let Context {
        spec, call, model, ..
    } = context;
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

/// An answer as plain text.
pub(super) struct Answer;

impl Form for Answer {
    const NAME: &'static str = "The program";
    const OUTPUT: &'static str = "answer";
    const MOST: usize = LONGEST_LINE;
    const COST: Cost = Cost::Unknown;

    fn may_answer(code: Option<i32>) -> bool {
        code == Some(0)
    }

    fn text(bytes: &[u8], _end: &Ending<'_>) -> Result<String, AgentError> {
        let text = readable(bytes)?;
        if text.is_empty() {
            let message = "The program exited normally but printed nothing.";
            return Err(AgentError::new(ErrorClass::Empty, message));
        }
        match flagged_error(text) {
            Some(said) => {
                let class = ErrorClass::Crash;
                Err(classify::reported(Self::NAME, None, &said, class))
            }
            None => Ok(text.to_owned()),
        }
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
