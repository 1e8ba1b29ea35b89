//! Answers in the words of the Anthropic Messages API.

use serde_json::{Value, json};

use super::call::Call;
use super::reply::{Frame, FrameKind, Part, Reply, Stop, USAGE, pieces};

/// Returns the body of an answer that is not streamed.
pub(crate) fn body(call: &Call, reply: &Reply) -> Value {
    let content: Vec<Value> = reply.parts.iter().filter_map(block).collect();
    message(
        call,
        content,
        Some(stop_reason(reply.stop)),
        usage(USAGE.output),
    )
}

/// Returns the events of a streamed answer.
pub(crate) fn frames(call: &Call, reply: &Reply) -> Vec<Frame> {
    let start =
        json!({"type": "message_start", "message": message(call, Vec::new(), None, usage(1))});
    let mut frames = vec![Frame::typed(FrameKind::Start, &start)];
    for (index, part) in reply
        .parts
        .iter()
        .filter(|part| block(part).is_some())
        .enumerate()
    {
        let block = empty_block(part);
        let opening =
            json!({"type": "content_block_start", "index": index, "content_block": block});
        frames.push(Frame::typed(FrameKind::Start, &opening));
        if index == 0 {
            frames.push(Frame::typed(FrameKind::Start, &json!({"type": "ping"})));
        }
        for delta in deltas(part) {
            let data = json!({"type": "content_block_delta", "index": index, "delta": delta});
            frames.push(Frame::typed(FrameKind::Delta, &data));
        }
        frames.push(Frame::typed(
            FrameKind::Close,
            &json!({"type": "content_block_stop", "index": index}),
        ));
    }
    let delta = json!({"stop_reason": stop_reason(reply.stop), "stop_sequence": null});
    let end = json!({"type": "message_delta", "delta": delta, "usage": usage(USAGE.output)});
    frames.push(Frame::typed(FrameKind::Finish, &end));
    frames.push(Frame::typed(
        FrameKind::Done,
        &json!({"type": "message_stop"}),
    ));
    frames
}

/// Returns the event that reports an error inside a stream.
pub(crate) fn error_frame(error: &Value) -> Frame {
    Frame::typed(FrameKind::Finish, error)
}

fn message(call: &Call, content: Vec<Value>, stop: Option<&str>, usage: Value) -> Value {
    json!({
        "id": format!("msg_fake_{}", call.n),
        "type": "message",
        "role": "assistant",
        "model": call.model,
        "content": content,
        "stop_reason": stop,
        "stop_sequence": null,
        "usage": usage,
    })
}

/// Returns the counts so far; they are cumulative, so the last event repeats the input side.
fn usage(output: u64) -> Value {
    json!({
        "input_tokens": USAGE.fresh_input,
        "cache_creation_input_tokens": USAGE.cache_write,
        "cache_read_input_tokens": USAGE.cache_read,
        "output_tokens": output,
        "service_tier": "standard",
    })
}

fn stop_reason(stop: Stop) -> &'static str {
    match stop {
        Stop::End => "end_turn",
        Stop::ToolUse => "tool_use",
        Stop::MaxTokens => "max_tokens",
        Stop::Refusal | Stop::Filtered => "refusal",
    }
}

fn block(part: &Part) -> Option<Value> {
    match part {
        Part::Thinking(text) => {
            Some(json!({"type": "thinking", "thinking": text, "signature": "ZmFrZQ=="}))
        }
        Part::Text(text) => Some(json!({"type": "text", "text": text})),
        Part::Tool(call) => {
            Some(json!({"type": "tool_use", "id": call.id, "name": call.name, "input": call.input}))
        }
        // A refusal has no block of its own: the stop reason says it all.
        Part::Refusal(_) => None,
    }
}

fn empty_block(part: &Part) -> Value {
    match part {
        Part::Thinking(_) => json!({"type": "thinking", "thinking": "", "signature": ""}),
        Part::Text(_) | Part::Refusal(_) => json!({"type": "text", "text": ""}),
        Part::Tool(call) => {
            json!({"type": "tool_use", "id": call.id, "name": call.name, "input": {}})
        }
    }
}

fn deltas(part: &Part) -> Vec<Value> {
    match part {
        Part::Thinking(text) => {
            let thoughts = pieces(text)
                .into_iter()
                .map(|piece| json!({"type": "thinking_delta", "thinking": piece}));
            thoughts
                .chain([json!({"type": "signature_delta", "signature": "ZmFrZQ=="})])
                .collect()
        }
        Part::Text(text) => pieces(text)
            .into_iter()
            .map(|piece| json!({"type": "text_delta", "text": piece}))
            .collect(),
        Part::Tool(call) => {
            let input = call.input.to_string();
            pieces(&input)
                .into_iter()
                .map(|piece| json!({"type": "input_json_delta", "partial_json": piece}))
                .collect()
        }
        Part::Refusal(_) => Vec::new(),
    }
}
