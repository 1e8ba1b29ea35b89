//! Gemini `streamGenerateContent`.

use serde_json::{Value, json};
use tribunal_core::money::Usage;

use super::draft::{Draft, Stop, number};
use super::{dialect, schema};
use crate::{Call, Progress};

/// Returns the body of the request; the model stands in the URL.
pub(super) fn request(call: &Call) -> Value {
    let mut body = json!({
        "contents": [{"role": "user", "parts": [{"text": call.prompt}]}],
    });
    if let Some(system) = &call.system {
        body["systemInstruction"] = json!({"parts": [{"text": system}]});
    }
    let mut config = json!({});
    if let Some(most) = call.max_output_tokens {
        config["maxOutputTokens"] = json!(most);
    }
    if let Some(temperature) = dialect::temperature(call) {
        config["temperature"] = json!(temperature);
    }
    if let Some(schema) = &call.schema {
        config["responseMimeType"] = json!("application/json");
        config["responseJsonSchema"] = schema::for_gemini(schema);
    }
    if config.as_object().is_some_and(|config| !config.is_empty()) {
        body["generationConfig"] = config;
    }
    body
}

/// Takes one event of the response.
pub(super) fn take(event: &Value, draft: &mut Draft, progress: &Progress) {
    draft.start(event, "/responseId", "/modelVersion", progress);
    let candidate = &event["candidates"][0];
    let parts = candidate["content"]["parts"]
        .as_array()
        .into_iter()
        .flatten();
    for part in parts.filter(|part| part["thought"] != true) {
        draft.write(part["text"].as_str().unwrap_or(""), progress);
    }
    if let Some(reason) = candidate["finishReason"].as_str() {
        draft.stop = Some(stop(reason));
        draft.ended = true;
    }
    if let Some(reason) = event["promptFeedback"]["blockReason"].as_str() {
        draft.stop = Some(Stop::Refused(format!("the prompt was blocked ({reason})")));
        draft.ended = true;
    }
    count(&event["usageMetadata"], draft, progress);
}

fn stop(reason: &str) -> Stop {
    match reason {
        "STOP" => Stop::Finished,
        "MAX_TOKENS" => Stop::OutputLimit,
        "SAFETY" | "RECITATION" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII" | "LANGUAGE"
        | "IMAGE_SAFETY" => Stop::Refused(format!("a filter stepped in ({reason})")),
        other => Stop::Other(other.to_owned()),
    }
}

/// Takes the usage. Cached tokens are told within the prompt, thoughts apart from the answer.
fn count(usage: &Value, draft: &mut Draft, progress: &Progress) {
    if !usage.is_object() {
        return;
    }
    let cache_read = number(usage, "/cachedContentTokenCount");
    let prompt = number(usage, "/promptTokenCount")
        .saturating_add(number(usage, "/toolUsePromptTokenCount"));
    let answer = number(usage, "/candidatesTokenCount");
    let usage = Usage {
        input: prompt.saturating_sub(cache_read),
        cache_read,
        cache_write: 0,
        output: answer.saturating_add(number(usage, "/thoughtsTokenCount")),
    };
    draft.count(usage, progress);
}
