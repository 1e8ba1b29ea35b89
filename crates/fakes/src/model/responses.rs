//! Answers in the words of the OpenAI Responses API.

use serde_json::{Value, json};

use super::call::Call;
use super::reply::{Frame, FrameKind, Part, Reply, Stop, ToolCall, ToolKind, USAGE, pieces};

/// Returns the body of an answer that is not streamed.
pub(crate) fn body(call: &Call, reply: &Reply) -> Value {
    let output: Vec<Value> = reply
        .parts
        .iter()
        .enumerate()
        .map(|(at, part)| item(call, at, part))
        .collect();
    response(call, Status::of(reply.stop), output)
}

/// Returns the events of a streamed answer.
pub(crate) fn frames(call: &Call, reply: &Reply) -> Vec<Frame> {
    let mut stream = Stream {
        call,
        frames: Vec::new(),
    };
    let opening = response(call, Status::InProgress, Vec::new());
    stream.push(
        FrameKind::Start,
        json!({"type": "response.created", "response": opening}),
    );
    stream.push(
        FrameKind::Start,
        json!({"type": "response.in_progress", "response": opening}),
    );
    for (at, part) in reply.parts.iter().enumerate() {
        stream.push_part(at, part);
    }
    let whole = body(call, reply);
    let name = format!(
        "response.{}",
        whole["status"].as_str().unwrap_or("completed")
    );
    stream.push(FrameKind::Finish, json!({"type": name, "response": whole}));
    stream.frames
}

/// Returns the event that reports an error inside a stream.
pub(crate) fn error_frame(call: &Call, error: &Value) -> Frame {
    let mut failed = response(call, Status::Failed, Vec::new());
    failed["error"] = json!({"code": error["error"]["code"], "message": error["error"]["message"]});
    Frame::typed(
        FrameKind::Finish,
        &json!({"type": "response.failed", "response": failed}),
    )
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Status {
    InProgress,
    Completed,
    OutOfTokens,
    Filtered,
    Failed,
}

impl Status {
    fn of(stop: Stop) -> Self {
        match stop {
            Stop::End | Stop::ToolUse | Stop::Refusal => Self::Completed,
            Stop::MaxTokens => Self::OutOfTokens,
            Stop::Filtered => Self::Filtered,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::InProgress => "in_progress",
            Self::Completed => "completed",
            Self::OutOfTokens | Self::Filtered => "incomplete",
            Self::Failed => "failed",
        }
    }

    fn incomplete_details(self) -> Value {
        match self {
            Self::OutOfTokens => json!({"reason": "max_output_tokens"}),
            Self::Filtered => json!({"reason": "content_filter"}),
            Self::InProgress | Self::Completed | Self::Failed => Value::Null,
        }
    }

    fn usage(self) -> Value {
        match self {
            Self::InProgress | Self::Failed => Value::Null,
            Self::Completed | Self::OutOfTokens | Self::Filtered => json!({
                "input_tokens": USAGE.prompt(),
                "input_tokens_details": {"cached_tokens": USAGE.cache_read},
                "output_tokens": USAGE.output,
                "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": USAGE.total(),
            }),
        }
    }
}

struct Stream<'a> {
    call: &'a Call,
    frames: Vec<Frame>,
}

impl Stream<'_> {
    fn push(&mut self, kind: FrameKind, mut data: Value) {
        data["sequence_number"] = json!(self.frames.len());
        self.frames.push(Frame::typed(kind, &data));
    }

    fn push_part(&mut self, at: usize, part: &Part) {
        let whole = item(self.call, at, part);
        let mut opening = whole.clone();
        opening["status"] = json!("in_progress");
        for emptied in ["content", "summary"] {
            if opening.get(emptied).is_some() {
                opening[emptied] = json!([]);
            }
        }
        if opening.get("arguments").is_some() {
            opening["arguments"] = json!("");
        }
        self.push(
            FrameKind::Start,
            json!({"type": "response.output_item.added", "output_index": at, "item": opening}),
        );
        match part {
            Part::Text(text) => self.push_content(at, &whole, "output_text", "text", text),
            Part::Refusal(text) => self.push_content(at, &whole, "refusal", "refusal", text),
            Part::Tool(call) => self.push_tool(at, &whole, call),
            Part::Thinking(text) => {
                let id = &whole["id"];
                let name = "response.reasoning_summary_text.delta";
                for piece in pieces(text) {
                    let data = json!({
                        "type": name, "item_id": id, "output_index": at, "summary_index": 0,
                        "delta": piece,
                    });
                    self.push(FrameKind::Delta, data);
                }
            }
        }
        self.push(
            FrameKind::Close,
            json!({"type": "response.output_item.done", "output_index": at, "item": whole}),
        );
    }

    fn push_content(&mut self, at: usize, item: &Value, part: &str, field: &str, text: &str) {
        let id = &item["id"];
        let place = |name: String| json!({"type": name, "item_id": id, "output_index": at, "content_index": 0});
        let mut added = place("response.content_part.added".to_owned());
        added["part"] = item["content"][0].clone();
        added["part"][field] = json!("");
        self.push(FrameKind::Start, added);
        for piece in pieces(text) {
            let mut event = place(format!("response.{part}.delta"));
            event["delta"] = json!(piece);
            self.push(FrameKind::Delta, event);
        }
        let mut done = place(format!("response.{part}.done"));
        done[field] = json!(text);
        self.push(FrameKind::Close, done);
        let mut closed = place("response.content_part.done".to_owned());
        closed["part"] = item["content"][0].clone();
        self.push(FrameKind::Close, closed);
    }

    fn push_tool(&mut self, at: usize, item: &Value, call: &ToolCall) {
        let (event, field) = match call.kind {
            ToolKind::Function => ("function_call_arguments", "arguments"),
            ToolKind::Custom => ("custom_tool_call_input", "input"),
            ToolKind::LocalShell => return,
        };
        let id = &item["id"];
        let input = call.input_text();
        for piece in pieces(&input) {
            let name = format!("response.{event}.delta");
            self.push(
                FrameKind::Delta,
                json!({"type": name, "item_id": id, "output_index": at, "delta": piece}),
            );
        }
        let name = format!("response.{event}.done");
        self.push(
            FrameKind::Close,
            json!({"type": name, "item_id": id, "output_index": at, field: input}),
        );
    }
}

fn response(call: &Call, status: Status, output: Vec<Value>) -> Value {
    json!({
        "id": format!("resp_fake_{}", call.n),
        "object": "response",
        "created_at": crate::now_ms() / 1000,
        "status": status.name(),
        "error": null,
        "incomplete_details": status.incomplete_details(),
        "instructions": null,
        "max_output_tokens": null,
        "model": call.model,
        "output": output,
        "parallel_tool_calls": false,
        "previous_response_id": null,
        "store": false,
        "tool_choice": "auto",
        "tools": [],
        "usage": status.usage(),
        "metadata": {},
    })
}

fn item(call: &Call, at: usize, part: &Part) -> Value {
    let message = |content: Value| {
        let id = format!("msg_fake_{}_{at}", call.n);
        json!({"id": id, "type": "message", "status": "completed", "role": "assistant", "content": [content]})
    };
    match part {
        Part::Text(text) => {
            message(json!({"type": "output_text", "annotations": [], "logprobs": [], "text": text}))
        }
        Part::Refusal(text) => message(json!({"type": "refusal", "refusal": text})),
        Part::Thinking(text) => json!({
            "id": format!("rs_fake_{}_{at}", call.n),
            "type": "reasoning",
            "summary": [{"type": "summary_text", "text": text}],
        }),
        Part::Tool(tool) => tool_item(tool),
    }
}

fn tool_item(tool: &ToolCall) -> Value {
    let id = format!("fc_{}", tool.id);
    match tool.kind {
        ToolKind::Function => {
            let mut item = json!({
                "id": id, "type": "function_call", "status": "completed", "call_id": tool.id,
                "name": tool.name, "arguments": tool.input_text(),
            });
            if let Some(namespace) = &tool.namespace {
                item["namespace"] = json!(namespace);
            }
            item
        }
        ToolKind::Custom => json!({
            "id": id, "type": "custom_tool_call", "status": "completed", "call_id": tool.id,
            "name": tool.name, "input": tool.input_text(),
        }),
        ToolKind::LocalShell => json!({
            "id": id, "type": "local_shell_call", "status": "completed", "call_id": tool.id,
            "action": {"type": "exec", "command": tool.input["command"], "env": {}},
        }),
    }
}
