//! Anthropic Messages.

use serde_json::{Value, json};
use tribunal_core::money::Usage;

use super::draft::{Draft, Stop, number};
use super::{dialect, schema};
use crate::{Call, Progress};

/// The API insists on a longest answer; this is asked for when the call names none.
const DEFAULT_MAX_TOKENS: u32 = 16_384;

/// Returns the body of the request.
pub(super) fn request(model: &str, call: &Call) -> Value {
    let mut body = json!({
        "model": model,
        "max_tokens": call.max_output_tokens.unwrap_or(DEFAULT_MAX_TOKENS),
        "stream": true,
        "messages": [{"role": "user", "content": call.prompt}],
    });
    if let Some(system) = &call.system {
        body["system"] = json!(system);
    }
    if let Some(temperature) = dialect::temperature(call) {
        body["temperature"] = json!(temperature);
    }
    if let Some(schema) = call.schema.as_ref().and_then(schema::for_anthropic) {
        body["output_config"] = json!({"format": {"type": "json_schema", "schema": schema}});
    }
    body
}

/// Takes one event of the response.
pub(super) fn take(event: &Value, draft: &mut Draft, progress: &Progress) {
    match event["type"].as_str().unwrap_or("") {
        "message_start" => {
            draft.start(event, "/message/id", "/message/model", progress);
            count(&event["message"]["usage"], draft, progress);
        }
        "content_block_start" => {
            let text = event.pointer("/content_block/text").and_then(Value::as_str);
            draft.write(text.unwrap_or(""), progress);
        }
        "content_block_delta" if event["delta"]["type"] == "text_delta" => {
            draft.write(event["delta"]["text"].as_str().unwrap_or(""), progress);
        }
        "message_delta" => {
            count(&event["usage"], draft, progress);
            if let Some(reason) = event["delta"]["stop_reason"].as_str() {
                draft.stop = Some(stop(reason));
            }
        }
        "message_stop" => draft.ended = true,
        // Pings, thoughts and whatever a later version adds are no part of the answer.
        _ => {}
    }
}

fn stop(reason: &str) -> Stop {
    match reason {
        "end_turn" | "stop_sequence" => Stop::Finished,
        "max_tokens" => Stop::OutputLimit,
        "model_context_window_exceeded" => Stop::ContextFull,
        "refusal" => Stop::Refused("it gave no reason".to_owned()),
        other => Stop::Other(other.to_owned()),
    }
}

/// Takes the usage of an event. Its numbers are totals; those left out have not changed.
fn count(usage: &Value, draft: &mut Draft, progress: &Progress) {
    let before = draft.usage;
    let total = |field: &str, before: u64| match usage.get(field) {
        Some(Value::Number(_)) => number(usage, &format!("/{field}")),
        _ => before,
    };
    let usage = Usage {
        input: total("input_tokens", before.input),
        cache_read: total("cache_read_input_tokens", before.cache_read),
        cache_write: total("cache_creation_input_tokens", before.cache_write),
        output: total("output_tokens", before.output),
    };
    draft.count(usage, progress);
}
