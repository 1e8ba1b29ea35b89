//! What the four model APIs have in common, and the choice among them.

use serde_json::Value;
use tribunal_core::agent::ErrorClass;

use super::draft::Draft;
use super::sse::SseEvent;
use super::{anthropic, chat, failure, gemini, responses};
use crate::spec::Api;
use crate::{AgentError, Call, Progress};

/// Whose server it is: some options are understood by the vendor alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Server {
    /// The vendor's own.
    Vendor,
    /// Any other that speaks the dialect.
    Compatible,
}

/// Returns the host that speaks `api` when the config names none.
pub(super) fn default_base(api: Api) -> &'static str {
    match api {
        Api::Anthropic => "https://api.anthropic.com",
        Api::OpenaiResponses | Api::OpenaiChat => "https://api.openai.com",
        Api::Gemini => "https://generativelanguage.googleapis.com",
    }
}

/// Returns the version that the paths of `api` begin with, unless the base URL has one.
pub(super) fn path_version(api: Api) -> &'static str {
    match api {
        Api::Anthropic | Api::OpenaiResponses | Api::OpenaiChat => "v1",
        Api::Gemini => "v1beta",
    }
}

/// Returns the path segments, after the version, that answer prompts.
pub(super) fn path(api: Api, model: &str) -> Vec<String> {
    match api {
        Api::Anthropic => vec!["messages".to_owned()],
        Api::OpenaiResponses => vec!["responses".to_owned()],
        Api::OpenaiChat => vec!["chat".to_owned(), "completions".to_owned()],
        Api::Gemini => {
            let model = model.strip_prefix("models/").unwrap_or(model);
            vec![
                "models".to_owned(),
                format!("{model}:streamGenerateContent"),
            ]
        }
    }
}

/// Returns the query of the URL, if there is one.
pub(super) fn query(api: Api) -> Option<&'static str> {
    match api {
        Api::Anthropic | Api::OpenaiResponses | Api::OpenaiChat => None,
        Api::Gemini => Some("alt=sse"),
    }
}

/// Returns the header that carries the key, and its value for `key`.
pub(super) fn key_header(api: Api, key: &str) -> (&'static str, String) {
    match api {
        Api::Anthropic => ("x-api-key", key.to_owned()),
        Api::OpenaiResponses | Api::OpenaiChat => ("authorization", format!("Bearer {key}")),
        Api::Gemini => ("x-goog-api-key", key.to_owned()),
    }
}

/// Returns the further headers that every request needs.
pub(super) fn headers(api: Api) -> &'static [(&'static str, &'static str)] {
    match api {
        Api::Anthropic => &[("anthropic-version", "2023-06-01")],
        Api::OpenaiResponses | Api::OpenaiChat | Api::Gemini => &[],
    }
}

/// Returns the body of the request that puts `call` to `model`.
pub(super) fn request(api: Api, server: Server, model: &str, call: &Call) -> Value {
    match api {
        Api::Anthropic => anthropic::request(model, call),
        Api::OpenaiResponses => responses::request(model, call),
        Api::OpenaiChat => chat::request(server, model, call),
        Api::Gemini => gemini::request(call),
    }
}

/// Takes the next event of a response into `draft`.
pub(super) fn take(
    api: Api,
    event: &SseEvent,
    draft: &mut Draft,
    progress: &Progress,
) -> Result<(), AgentError> {
    draft.begun = true;
    if api == Api::OpenaiChat && event.data.trim() == "[DONE]" {
        draft.ended = true;
        return Ok(());
    }
    let data: Value = serde_json::from_str(&event.data).map_err(|error| {
        let message = format!("The response has an event that is not JSON: {error}");
        AgentError::new(ErrorClass::Garbled, message)
    })?;
    let failed = data.get("error").is_some_and(|error| !error.is_null())
        || data.get("type").is_some_and(|kind| kind == "error");
    if failed {
        return Err(failure::from_event(api, &data));
    }
    match api {
        Api::Anthropic => anthropic::take(&data, draft, progress),
        Api::OpenaiResponses => return responses::take(&data, draft, progress),
        Api::OpenaiChat => chat::take(&data, draft, progress),
        Api::Gemini => gemini::take(&data, draft, progress),
    }
    Ok(())
}

/// Tells whether more may follow the end mark of `api`, which then is read as long as it comes.
pub(super) fn goes_on_after_its_end(api: Api) -> bool {
    match api {
        Api::Anthropic | Api::OpenaiResponses | Api::OpenaiChat => false,
        // The reason of the end is the only mark; the count of tokens may come after it.
        Api::Gemini => true,
    }
}

/// Returns the sampling temperature of `call` as the APIs take it.
pub(super) fn temperature(call: &Call) -> Option<f64> {
    call.temperature_milli
        .map(|milli| f64::from(milli) / 1_000.0)
}
