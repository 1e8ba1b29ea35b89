//! The output formats of the agent CLIs that the fake stands in for.

use serde_json::{Value, json};

use super::options::Options;
use crate::model::USAGE;
use crate::schema;

/// Whose output the agent imitates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    Plain,
    Claude,
    Codex,
    Gemini,
    Opencode,
}

impl Dialect {
    /// Returns the dialect of this name.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "plain" => Self::Plain,
            "claude" => Self::Claude,
            "codex" => Self::Codex,
            "gemini" => Self::Gemini,
            "opencode" => Self::Opencode,
            _ => return None,
        })
    }

    /// Returns what the CLI answers to `--version`.
    pub(crate) fn version(self) -> &'static str {
        match self {
            Self::Plain => concat!("fake-agent ", env!("CARGO_PKG_VERSION")),
            Self::Claude => "2.1.325 (Claude Code)",
            Self::Codex => "codex-cli 0.166.0",
            Self::Gemini => "0.61.0",
            Self::Opencode => "1.18.33",
        }
    }

    /// Returns an instance of the schema that the caller asked the answer to fit.
    pub(crate) fn wanted_instance(self, options: &Options) -> Option<String> {
        let schema = match self {
            Self::Claude => options.foreign(&["--json-schema"])?.to_owned(),
            Self::Codex => std::fs::read_to_string(options.foreign(&["--output-schema"])?).ok()?,
            Self::Plain | Self::Gemini | Self::Opencode => return None,
        };
        let schema: Value = serde_json::from_str(&schema).ok()?;
        Some(schema::instance(&schema).to_string())
    }

    /// Returns the lines of a good answer.
    pub(crate) fn success(self, options: &Options, prompt: &str, text: &str) -> Vec<String> {
        let asked_for = options
            .foreign(&["--output-format"])
            .unwrap_or("stream-json");
        let lines = match (self, asked_for) {
            (Self::Plain, _) | (Self::Claude | Self::Gemini, "text") => {
                return vec![text.to_owned()];
            }
            (Self::Claude, "json") => vec![claude_result(options, text)],
            (Self::Claude, _) => {
                vec![
                    claude_init(options),
                    claude_message(options, text),
                    claude_result(options, text),
                ]
            }
            (Self::Codex, _) => codex_success(options, text),
            (Self::Gemini, "json") => vec![gemini_single(options, text)],
            (Self::Gemini, _) => gemini_success(options, prompt, text),
            (Self::Opencode, _) => opencode_success(options, text),
        };
        lines.iter().map(Value::to_string).collect()
    }

    /// Returns the lines of an answer that is flagged as an error.
    pub(crate) fn failure(self, options: &Options, prompt: &str) -> Vec<String> {
        let message = options
            .message
            .clone()
            .unwrap_or_else(|| self.error_text(options.status));
        let lines = match self {
            Self::Plain => {
                vec![
                    json!({"type": "result", "subtype": "error", "is_error": true, "result": message}),
                ]
            }
            Self::Claude => vec![claude_init(options), claude_error(options, &message)],
            Self::Codex => vec![
                json!({"type": "thread.started", "thread_id": session(options)}),
                json!({"type": "turn.started"}),
                json!({"type": "error", "message": message}),
                json!({"type": "turn.failed", "error": {"message": message}}),
            ],
            Self::Gemini => vec![
                gemini_init(options),
                json!({"type": "message", "timestamp": TIME, "role": "user", "content": prompt}),
                json!({
                    "type": "result", "timestamp": TIME, "status": "error",
                    "error": {"type": "unknown", "message": message}, "stats": {},
                }),
            ],
            Self::Opencode => {
                let retryable = options.status == 429 || options.status >= 500;
                let error = json!({"name": "APIError", "data": {
                    "message": message, "statusCode": options.status, "isRetryable": retryable,
                }});
                vec![json!({
                    "type": "error", "timestamp": crate::now_ms(), "sessionID": session(options),
                    "error": error,
                })]
            }
        };
        lines.iter().map(Value::to_string).collect()
    }

    /// Returns the words in which the CLI reports an HTTP status.
    fn error_text(self, status: u16) -> String {
        match (self, status) {
            (Self::Claude, 401) => "Invalid API key · Fix external API key".to_owned(),
            (Self::Claude, 413) => "Prompt is too long".to_owned(),
            (Self::Claude, 429) => {
                "API Error: Request rejected (429) · rate limited (fake)".to_owned()
            }
            (Self::Claude, 529) => "API Error: Repeated 529 Overloaded errors".to_owned(),
            (Self::Claude, _) => format!("API Error: {status} fake failure"),
            (Self::Codex, 429) => {
                "exceeded retry limit, last status: 429 Too Many Requests".to_owned()
            }
            (Self::Codex, 500) => {
                "We\u{2019}re currently experiencing high demand, which may cause temporary errors."
                    .to_owned()
            }
            (Self::Codex, _) => format!("unexpected status {status}: fake failure"),
            (Self::Gemini, _) => format!("[API Error: got status {status}, fake failure]"),
            (Self::Opencode | Self::Plain, _) => format!("fake failure {status}"),
        }
    }
}

const TIME: &str = "2026-01-01T00:00:00.000Z";
const COST: f64 = 0.00706;

/// Returns the session that the caller asked for, or else one of its own.
fn session(options: &Options) -> String {
    let asked_for = options.foreign(&["--session-id", "--resume", "--session", "resume"]);
    let own = || format!("0fa4e000-0000-4000-8000-{:012x}", std::process::id());
    asked_for.map_or_else(own, str::to_owned)
}

fn model(options: &Options, usual: &str) -> String {
    options
        .foreign(&["--model", "-m"])
        .unwrap_or(usual)
        .to_owned()
}

fn claude_init(options: &Options) -> Value {
    let cwd = std::env::current_dir().unwrap_or_default();
    json!({
        "type": "system", "subtype": "init", "cwd": cwd, "session_id": session(options), "tools": [],
        "mcp_servers": [], "model": model(options, "claude-sonnet-4-5"), "permissionMode": "default",
        "slash_commands": [], "apiKeySource": "ANTHROPIC_API_KEY", "claude_code_version": "2.1.325",
        "output_style": "default", "agents": [], "uuid": "0fa4e000-0000-4000-8000-000000000001",
    })
}

fn claude_message(options: &Options, text: &str) -> Value {
    json!({
        "type": "assistant",
        "message": {
            "id": "msg_fake", "type": "message", "role": "assistant",
            "model": model(options, "claude-sonnet-4-5"),
            "content": [{"type": "text", "text": text}], "stop_reason": null, "stop_sequence": null,
            "usage": claude_usage(),
        },
        "parent_tool_use_id": null, "session_id": session(options),
        "uuid": "0fa4e000-0000-4000-8000-000000000002",
    })
}

/// Returns the closing object; as with the real CLI, its `type` is not the first member.
fn claude_result(options: &Options, text: &str) -> Value {
    let model = model(options, "claude-sonnet-4-5");
    let mut result = json!({
        "duration_api_ms": 12, "stop_reason": "end_turn", "session_id": session(options),
        "total_cost_usd": COST, "usage": claude_usage(),
        "modelUsage": {model: {
            "inputTokens": USAGE.fresh_input, "outputTokens": USAGE.output,
            "cacheReadInputTokens": USAGE.cache_read, "cacheCreationInputTokens": USAGE.cache_write,
            "costUSD": COST, "contextWindow": 200_000,
        }},
        "permission_denials": [], "terminal_reason": "completed", "is_error": false, "num_turns": 1,
        "subtype": "success", "api_error_status": null, "result": text, "ttft_ms": 10, "type": "result",
        "duration_ms": 20, "uuid": "0fa4e000-0000-4000-8000-000000000003",
    });
    if options.foreign(&["--json-schema"]).is_some()
        && let Ok(structured) = serde_json::from_str::<Value>(text)
    {
        result["structured_output"] = structured;
    }
    result
}

fn claude_error(options: &Options, message: &str) -> Value {
    json!({
        "duration_api_ms": 0, "stop_reason": "stop_sequence", "session_id": session(options),
        "total_cost_usd": 0, "usage": {
            "input_tokens": 0, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0,
            "output_tokens": 0,
        },
        "modelUsage": {}, "permission_denials": [], "terminal_reason": "api_error", "is_error": true,
        "num_turns": 1, "subtype": "success", "api_error_status": options.status, "result": message,
        "type": "result", "duration_ms": 20, "uuid": "0fa4e000-0000-4000-8000-000000000003",
    })
}

fn claude_usage() -> Value {
    json!({
        "input_tokens": USAGE.fresh_input, "cache_creation_input_tokens": USAGE.cache_write,
        "cache_read_input_tokens": USAGE.cache_read, "output_tokens": USAGE.output,
    })
}

fn codex_success(options: &Options, text: &str) -> Vec<Value> {
    if let Some(path) = options.foreign(&["-o", "--output-last-message"]) {
        // The caller sees a missing file soon enough; the answer itself is still on stdout.
        let _ = std::fs::write(path, text);
    }
    vec![
        json!({"type": "thread.started", "thread_id": session(options)}),
        json!({"type": "turn.started"}),
        json!({"type": "item.completed", "item": {"id": "item_0", "type": "agent_message", "text": text}}),
        json!({"type": "turn.completed", "usage": {
            "input_tokens": USAGE.prompt(), "cached_input_tokens": USAGE.cache_read,
            "cache_write_input_tokens": 0, "output_tokens": USAGE.output, "reasoning_output_tokens": 0,
        }}),
    ]
}

fn gemini_init(options: &Options) -> Value {
    let model = model(options, "gemini-2.5-pro");
    json!({"type": "init", "timestamp": TIME, "session_id": session(options), "model": model})
}

fn gemini_success(options: &Options, prompt: &str, text: &str) -> Vec<Value> {
    let middle = (text.len() / 2..text.len())
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or(0);
    let (first, second) = text.split_at(middle);
    let said = json!({"type": "message", "timestamp": TIME, "role": "assistant", "delta": true});
    let delta = |text: &str| {
        let mut event = said.clone();
        event["content"] = json!(text);
        event
    };
    vec![
        gemini_init(options),
        json!({"type": "message", "timestamp": TIME, "role": "user", "content": prompt}),
        delta(first),
        delta(second),
        json!({"type": "result", "timestamp": TIME, "status": "success", "stats": {
            "total_tokens": USAGE.total(), "input_tokens": USAGE.prompt(), "output_tokens": USAGE.output,
            "cached": USAGE.cache_read, "input": USAGE.fresh_input, "duration_ms": 20,
            "tool_calls": 0, "models": {},
        }}),
    ]
}

fn gemini_single(options: &Options, text: &str) -> Value {
    let tokens = json!({
        "input": USAGE.fresh_input, "prompt": USAGE.prompt(), "candidates": USAGE.output,
        "total": USAGE.total(), "cached": USAGE.cache_read, "thoughts": 0, "tool": 0,
    });
    let api = json!({"totalRequests": 1, "totalErrors": 0, "totalLatencyMs": 10});
    let models = json!({model(options, "gemini-2.5-pro"): {"api": api, "tokens": tokens}});
    let stats = json!({"models": models, "tools": {}, "files": {}});
    json!({"session_id": session(options), "response": text, "stats": stats})
}

fn opencode_success(options: &Options, text: &str) -> Vec<Value> {
    let tokens = json!({
        "total": USAGE.total(), "input": USAGE.fresh_input, "output": USAGE.output, "reasoning": 0,
        "cache": {"write": 0, "read": USAGE.cache_read},
    });
    let finish =
        json!({"type": "step-finish", "reason": "stop", "tokens": tokens, "cost": 0.00137});
    let mut events = vec![opencode_event(
        options,
        "step_start",
        json!({"type": "step-start"}),
    )];
    // The real CLI leaves the text event out when the model said nothing.
    if !text.is_empty() {
        events.push(opencode_event(
            options,
            "text",
            json!({"type": "text", "text": text}),
        ));
    }
    events.push(opencode_event(options, "step_finish", finish));
    events
}

fn opencode_event(options: &Options, kind: &str, mut part: Value) -> Value {
    let session = session(options);
    part["id"] = json!(format!("prt_fake_{kind}"));
    part["messageID"] = json!("msg_fake");
    part["sessionID"] = json!(session);
    json!({"type": kind, "timestamp": crate::now_ms(), "sessionID": session, "part": part})
}
