//! Answers in the words of the OpenAI Chat Completions API and its many imitations.

use serde_json::{Value, json};

use super::call::Call;
use super::reply::{Frame, FrameKind, Part, Reply, Stop, USAGE, pieces};

/// Returns the body of an answer that is not streamed.
pub(crate) fn body(call: &Call, reply: &Reply) -> Value {
    let mut message = json!({"role": "assistant", "content": null, "refusal": null});
    let mut tools = Vec::new();
    for part in &reply.parts {
        match part {
            Part::Thinking(text) => message["reasoning_content"] = json!(text),
            Part::Text(text) => message["content"] = json!(text),
            Part::Refusal(text) => message["refusal"] = json!(text),
            Part::Tool(call) => tools.push(json!({
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.input_text()},
            })),
        }
    }
    if !tools.is_empty() {
        message["tool_calls"] = Value::Array(tools);
    }
    let reason = finish_reason(reply.stop);
    let choice = json!({"index": 0, "message": message, "logprobs": null, "finish_reason": reason});
    json!({
        "id": id(call),
        "object": "chat.completion",
        "created": crate::now_ms() / 1000,
        "model": call.model,
        "choices": [choice],
        "usage": usage(),
        "system_fingerprint": "fp_fake",
    })
}

/// Returns the events of a streamed answer; usage comes only when it was asked for.
pub(crate) fn frames(call: &Call, reply: &Reply) -> Vec<Frame> {
    let role = json!({"role": "assistant", "content": ""});
    let mut frames = vec![Frame::bare(FrameKind::Start, &chunk(call, &role, None))];
    for delta in reply.parts.iter().flat_map(deltas) {
        frames.push(Frame::bare(FrameKind::Delta, &chunk(call, &delta, None)));
    }
    let last = chunk(call, &json!({}), Some(finish_reason(reply.stop)));
    frames.push(Frame::bare(FrameKind::Finish, &last));
    if call.body["stream_options"]["include_usage"] == json!(true) {
        let mut counted = chunk(call, &json!({}), None);
        counted["choices"] = json!([]);
        counted["usage"] = usage();
        frames.push(Frame::bare(FrameKind::Finish, &counted));
    }
    frames.push(Frame {
        kind: FrameKind::Done,
        event: None,
        data: "[DONE]".to_owned(),
    });
    frames
}

/// Returns the event that reports an error inside a stream.
pub(crate) fn error_frame(error: &Value) -> Frame {
    Frame::bare(FrameKind::Finish, error)
}

fn chunk(call: &Call, delta: &Value, finish: Option<&str>) -> Value {
    json!({
        "id": id(call),
        "object": "chat.completion.chunk",
        "created": crate::now_ms() / 1000,
        "model": call.model,
        "system_fingerprint": "fp_fake",
        "choices": [{"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish}],
    })
}

/// Returns the pieces of a part; a reply never has more than one tool call, so its index is 0.
fn deltas(part: &Part) -> Vec<Value> {
    let split = |name: &str, text: &str| -> Vec<Value> {
        pieces(text)
            .into_iter()
            .map(|piece| json!({name: piece}))
            .collect()
    };
    match part {
        Part::Thinking(text) => split("reasoning_content", text),
        Part::Text(text) => split("content", text),
        Part::Refusal(text) => split("refusal", text),
        Part::Tool(call) => {
            let head = json!({"tool_calls": [{
                "index": 0,
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": ""},
            }]});
            let input = call.input_text();
            let rest = pieces(&input).into_iter().map(
                |piece| json!({"tool_calls": [{"index": 0, "function": {"arguments": piece}}]}),
            );
            [head].into_iter().chain(rest).collect()
        }
    }
}

fn finish_reason(stop: Stop) -> &'static str {
    match stop {
        Stop::End | Stop::Refusal => "stop",
        Stop::ToolUse => "tool_calls",
        Stop::MaxTokens => "length",
        Stop::Filtered => "content_filter",
    }
}

fn usage() -> Value {
    json!({
        "prompt_tokens": USAGE.prompt(),
        "completion_tokens": USAGE.output,
        "total_tokens": USAGE.total(),
        "prompt_tokens_details": {"cached_tokens": USAGE.cache_read, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 0, "audio_tokens": 0},
    })
}

fn id(call: &Call) -> String {
    format!("chatcmpl-fake-{}", call.n)
}
