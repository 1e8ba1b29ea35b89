//! OpenAI Chat Completions, and the many servers compatible with it.

use serde_json::{Value, json};
use tribunal_core::money::{Cost, MicroUsd, Usage};

use super::dialect::Server;
use super::draft::{Draft, Stop, number};
use super::{dialect, schema};
use crate::{Call, Progress};

/// Returns the body of the request.
pub(super) fn request(server: Server, model: &str, call: &Call) -> Value {
    let system = call.system.as_ref();
    let system = system.map(|system| json!({"role": "system", "content": system}));
    let user = json!({"role": "user", "content": call.prompt});
    let messages: Vec<Value> = system.into_iter().chain([user]).collect();
    let mut body = json!({
        "model": model,
        "messages": messages,
        "stream": true,
        "stream_options": {"include_usage": true},
    });
    if let Some(most) = call.max_output_tokens {
        // OpenAI's newer models refuse the old name, and most other servers ignore the new one.
        let field = match server {
            Server::Vendor => "max_completion_tokens",
            Server::Compatible => "max_tokens",
        };
        body[field] = json!(most);
    }
    if let Some(temperature) = dialect::temperature(call) {
        body["temperature"] = json!(temperature);
    }
    if let Some(schema) = &call.schema {
        let (schema, strict) = schema::for_openai(schema);
        body["response_format"] = json!({"type": "json_schema", "json_schema": {
            "name": "answer", "schema": schema, "strict": strict,
        }});
    }
    body
}

/// Takes one event of the response, except its end mark.
pub(super) fn take(event: &Value, draft: &mut Draft, progress: &Progress) {
    draft.start(event, "/id", "/model", progress);
    let choice = &event["choices"][0];
    draft.write(choice["delta"]["content"].as_str().unwrap_or(""), progress);
    draft
        .refusal
        .push_str(choice["delta"]["refusal"].as_str().unwrap_or(""));
    if let Some(reason) = choice["finish_reason"].as_str() {
        draft.stop = Some(match reason {
            "stop" | "eos" => Stop::Finished,
            "length" => Stop::OutputLimit,
            "content_filter" => Stop::Refused("a content filter stepped in".to_owned()),
            other => Stop::Other(other.to_owned()),
        });
    }
    count(&event["usage"], draft, progress);
}

/// Takes the usage. Cached tokens are told within the prompt: they are taken out of it.
fn count(usage: &Value, draft: &mut Draft, progress: &Progress) {
    if !usage.is_object() {
        return;
    }
    // DeepSeek has a name of its own for the tokens read from its cache.
    let cache_read = number(usage, "/prompt_tokens_details/cached_tokens")
        .max(number(usage, "/prompt_cache_hit_tokens"));
    let cache_write = number(usage, "/prompt_tokens_details/cache_write_tokens");
    let prompt = number(usage, "/prompt_tokens");
    // OpenRouter tells the price of the call.
    let cost = usage.get("cost").and_then(Value::as_f64);
    if let Some(cost) = cost.and_then(MicroUsd::from_dollars) {
        draft.cost = Cost::Known(cost);
    }
    let usage = Usage {
        input: prompt
            .saturating_sub(cache_read)
            .saturating_sub(cache_write),
        cache_read,
        cache_write,
        output: number(usage, "/completion_tokens"),
    };
    draft.count(usage, progress);
}
