//! OpenAI Responses.

use serde_json::{Value, json};
use tribunal_core::money::Usage;

use super::draft::{Draft, Stop, number};
use super::{dialect, failure, schema};
use crate::spec::Api;
use crate::{AgentError, Call, Progress};

/// Returns the body of the request.
pub(super) fn request(model: &str, call: &Call) -> Value {
    let mut body = json!({
        "model": model,
        "input": [{
            "role": "user",
            "content": [{"type": "input_text", "text": call.prompt}],
        }],
        "stream": true,
        // Nothing is left behind at the vendor's that we would not know of.
        "store": false,
    });
    if let Some(system) = &call.system {
        body["instructions"] = json!(system);
    }
    if let Some(most) = call.max_output_tokens {
        body["max_output_tokens"] = json!(most);
    }
    if let Some(temperature) = dialect::temperature(call) {
        body["temperature"] = json!(temperature);
    }
    if let Some(schema) = &call.schema {
        let (schema, strict) = schema::for_openai(schema);
        body["text"] = json!({"format": {
            "type": "json_schema", "name": "answer", "schema": schema, "strict": strict,
        }});
    }
    body
}

/// Takes one event of the response.
pub(super) fn take(
    event: &Value,
    draft: &mut Draft,
    progress: &Progress,
) -> Result<(), AgentError> {
    let response = &event["response"];
    match event["type"].as_str().unwrap_or("") {
        "response.created" | "response.in_progress" => {
            draft.start(response, "/id", "/model", progress);
        }
        "response.output_text.delta" => {
            draft.write(event["delta"].as_str().unwrap_or(""), progress);
        }
        "response.refusal.delta" => {
            draft
                .refusal
                .push_str(event["delta"].as_str().unwrap_or(""));
        }
        "response.completed" | "response.incomplete" => {
            draft.start(response, "/id", "/model", progress);
            finish(response, draft, progress);
        }
        "response.failed" => {
            count(&response["usage"], draft, progress);
            return Err(failure::from_event(Api::OpenaiResponses, response));
        }
        // Reasoning, parts and whatever a later version adds are no part of the answer.
        _ => {}
    }
    Ok(())
}

fn finish(response: &Value, draft: &mut Draft, progress: &Progress) {
    count(&response["usage"], draft, progress);
    let (text, refusal) = output(response);
    // The finished response is the record; the pieces were for watching.
    if !text.is_empty() {
        draft.text = text;
    }
    if !refusal.is_empty() {
        draft.refusal = refusal;
    }
    let reason = response.pointer("/incomplete_details/reason");
    draft.stop = Some(
        match (response["status"].as_str(), reason.and_then(Value::as_str)) {
            (_, Some("max_output_tokens")) => Stop::OutputLimit,
            (_, Some("content_filter")) => Stop::Refused("a content filter stepped in".to_owned()),
            (_, Some(other)) => Stop::Other(other.to_owned()),
            (Some("incomplete"), None) => Stop::OutputLimit,
            (Some("completed") | None, None) => Stop::Finished,
            (Some(other), None) => Stop::Other(other.to_owned()),
        },
    );
    draft.ended = true;
}

/// Returns the text and the refusals among the messages of `response`.
fn output(response: &Value) -> (String, String) {
    let items = response["output"].as_array().into_iter().flatten();
    let parts = items
        .filter(|item| item["type"] == "message")
        .flat_map(|item| item["content"].as_array().into_iter().flatten());
    let (mut text, mut refusal) = (String::new(), String::new());
    for part in parts {
        match part["type"].as_str() {
            Some("output_text") => text.push_str(part["text"].as_str().unwrap_or("")),
            Some("refusal") => refusal.push_str(part["refusal"].as_str().unwrap_or("")),
            _ => {}
        }
    }
    (text, refusal)
}

/// Takes the usage. Cached tokens are told within the input: they are taken out of it.
fn count(usage: &Value, draft: &mut Draft, progress: &Progress) {
    if !usage.is_object() {
        return;
    }
    let cache_read = number(usage, "/input_tokens_details/cached_tokens");
    let cache_write = number(usage, "/input_tokens_details/cache_write_tokens");
    let input = number(usage, "/input_tokens");
    let usage = Usage {
        input: input.saturating_sub(cache_read).saturating_sub(cache_write),
        cache_read,
        cache_write,
        output: number(usage, "/output_tokens"),
    };
    draft.count(usage, progress);
}
