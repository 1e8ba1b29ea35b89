//! Answers in the words of the Gemini `generateContent` API.

use serde_json::{Value, json};

use super::call::Call;
use super::reply::{Frame, FrameKind, Part, Reply, Stop, USAGE, pieces};

/// Returns the body of an answer that is not streamed.
pub(crate) fn body(call: &Call, reply: &Reply) -> Value {
    if reply.stop == Stop::Filtered {
        return blocked(call);
    }
    let parts: Vec<Value> = reply.parts.iter().filter_map(part_value).collect();
    response(call, &parts, Some(finish_reason(reply.stop)))
}

/// Returns the pieces of a streamed answer; there is no terminator, the last piece has the reason.
pub(crate) fn frames(call: &Call, reply: &Reply) -> Vec<Frame> {
    if reply.stop == Stop::Filtered {
        return vec![Frame::bare(FrameKind::Finish, &blocked(call))];
    }
    let mut frames = Vec::new();
    for part in &reply.parts {
        for piece in split(part) {
            frames.push(Frame::bare(
                FrameKind::Delta,
                &response(call, &[piece], None),
            ));
        }
    }
    let last = response(
        call,
        &[json!({"text": ""})],
        Some(finish_reason(reply.stop)),
    );
    frames.push(Frame::bare(FrameKind::Finish, &last));
    frames
}

/// Returns the event that reports an error inside a stream.
pub(crate) fn error_frame(error: &Value) -> Frame {
    Frame::bare(FrameKind::Finish, error)
}

fn response(call: &Call, parts: &[Value], finish: Option<&str>) -> Value {
    let mut candidate = json!({"content": {"parts": parts, "role": "model"}, "index": 0});
    if let Some(reason) = finish {
        candidate["finishReason"] = json!(reason);
        if reason == "SAFETY" {
            candidate["safetyRatings"] = json!([{
                "category": "HARM_CATEGORY_DANGEROUS_CONTENT", "probability": "HIGH", "blocked": true,
            }]);
        }
    }
    json!({
        "candidates": [candidate],
        "usageMetadata": usage(finish.is_some()),
        "modelVersion": call.model,
        "responseId": format!("fake-{}", call.n),
    })
}

fn blocked(call: &Call) -> Value {
    json!({
        "promptFeedback": {"blockReason": "PROHIBITED_CONTENT"},
        "usageMetadata": {"promptTokenCount": USAGE.prompt(), "totalTokenCount": USAGE.prompt()},
        "modelVersion": call.model,
        "responseId": format!("fake-{}", call.n),
    })
}

/// Returns the counts so far; every piece of a stream repeats them.
fn usage(complete: bool) -> Value {
    let output = if complete { USAGE.output } else { 1 };
    json!({
        "promptTokenCount": USAGE.prompt(),
        "cachedContentTokenCount": USAGE.cache_read,
        "candidatesTokenCount": output,
        "totalTokenCount": USAGE.prompt() + output,
        "promptTokensDetails": [{"modality": "TEXT", "tokenCount": USAGE.prompt()}],
    })
}

fn finish_reason(stop: Stop) -> &'static str {
    match stop {
        Stop::End | Stop::ToolUse => "STOP",
        Stop::MaxTokens => "MAX_TOKENS",
        Stop::Refusal | Stop::Filtered => "SAFETY",
    }
}

fn part_value(part: &Part) -> Option<Value> {
    match part {
        Part::Thinking(text) => Some(json!({"text": text, "thought": true})),
        Part::Text(text) => Some(json!({"text": text})),
        Part::Tool(call) => {
            Some(json!({"functionCall": {"id": call.id, "name": call.name, "args": call.input}}))
        }
        Part::Refusal(_) => None,
    }
}

fn split(part: &Part) -> Vec<Value> {
    match part {
        Part::Thinking(text) => pieces(text)
            .into_iter()
            .map(|piece| json!({"text": piece, "thought": true}))
            .collect(),
        Part::Text(text) => pieces(text)
            .into_iter()
            .map(|piece| json!({"text": piece}))
            .collect(),
        Part::Tool(_) | Part::Refusal(_) => part_value(part).into_iter().collect(),
    }
}
