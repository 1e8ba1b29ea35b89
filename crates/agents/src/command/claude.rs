//! Claude Code: how it is called, and how its `stream-json` output is read.

use serde_json::Value;
use tribunal_core::agent::{Access, ErrorClass};
use tribunal_core::money::{Cost, MicroUsd, Usage};

use super::classify;
use super::plan::{self, Context, Plan};
use super::reader::{self, Ending, Outcome, at, count_at, text_at};
use crate::{AgentError, AgentEvent, Reply};

/// Tools that change something, start something or reach the network.
const CHANGING_TOOLS: &str =
    "Bash,Edit,MultiEdit,NotebookEdit,Write,WebFetch,WebSearch,Task,Agent,KillShell,BashOutput";

/// Returns how to ask Claude Code.
pub(super) fn plan(context: &Context<'_>) -> Result<Plan, AgentError> {
    let Context {
        spec, call, model, ..
    } = context;
    let mut plan = Plan {
        stdin: call.prompt.clone(),
        ..Plan::default()
    };
    plan.args(["-p", "--output-format", "stream-json", "--verbose"]);
    plan.args(["--no-session-persistence", "--strict-mcp-config"]);
    if let Some(model) = model {
        plan.args(["--model", model]);
    }
    // The bare mode ignores logins, so that it works with a key alone.
    let bare = spec.api_key.is_some();
    if bare {
        plan.args(["--bare"]);
    }
    match call.access {
        Access::ReadOnly if bare => plan.args(["--tools", ""]),
        Access::ReadOnly => plan.args(["--disallowedTools", CHANGING_TOOLS]),
        Access::Write => plan.args(["--permission-mode", "acceptEdits", "--allowedTools", "Bash"]),
    }
    if let Some(system) = &call.system {
        let flag = match call.access {
            Access::ReadOnly => "--system-prompt-file",
            // Whoever works with tools needs what the program says about them.
            Access::Write => "--append-system-prompt-file",
        };
        let path = plan.file(context, "system.txt", system.clone());
        plan.args([flag, &path]);
    }
    if let Some(schema) = &call.schema {
        plan.args(["--json-schema", &schema.to_string()]);
    }
    if let Some(MicroUsd(micros)) = call.max_cost {
        let dollars = format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000);
        plan.args(["--max-budget-usd", &dollars]);
    }
    variables(context, &mut plan);
    Ok(plan)
}

fn variables(context: &Context<'_>, plan: &mut Plan) {
    let Context { spec, call, .. } = context;
    plan.env([
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
        ("DISABLE_AUTOUPDATER", "1"),
        ("CLAUDE_CODE_MAX_RETRIES", "0"),
        ("API_TIMEOUT_MS", &plan::millis(call.limits.idle)),
    ]);
    if let Some(key) = &spec.api_key {
        plan.env([("ANTHROPIC_API_KEY", key.expose())]);
    }
    if let Some(url) = &spec.base_url {
        plan.env([("ANTHROPIC_BASE_URL", plan::unversioned_url(url))]);
    }
    if let Some(tokens) = call.max_output_tokens {
        plan.env([("CLAUDE_CODE_MAX_OUTPUT_TOKENS", &tokens.to_string())]);
    }
}

/// What the events of Claude Code add up to.
#[derive(Default)]
pub(super) struct Protocol {
    session: Option<String>,
    model: Option<String>,
    version: Option<String>,
    /// The last `result` event.
    result: Option<Value>,
    /// Usage of the messages so far, and the last message with its own.
    earlier: Usage,
    latest: Option<(String, Usage)>,
}

impl reader::Protocol for Protocol {
    const NAME: &'static str = "Claude Code";

    fn knows(kind: &str) -> bool {
        matches!(kind, "system" | "assistant" | "user" | "result")
    }

    fn event(&mut self, event: &Value) -> Vec<AgentEvent> {
        match text_at(event, &["type"]) {
            Some("system") => self.system(event),
            Some("assistant") => self.assistant(event),
            Some("result") => {
                self.result = Some(event.clone());
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    fn result_seen(&self) -> bool {
        self.result.is_some()
    }

    fn spent(&self) -> (Usage, Cost) {
        let Some(result) = &self.result else {
            return (self.so_far(), Cost::Unknown);
        };
        let usage = at(result, &["usage"]).map_or_else(Usage::default, usage);
        let cost = at(result, &["total_cost_usd"])
            .and_then(Value::as_f64)
            .and_then(MicroUsd::from_dollars)
            // Broken answers are counted as tokens but not as money.
            .filter(|cost| cost.0 > 0 || usage.total() == 0);
        (usage, cost.map_or(Cost::Unknown, Cost::Known))
    }

    fn outcome(&mut self, end: &Ending<'_>) -> Outcome {
        let Some(result) = &self.result else {
            return Outcome::Unfinished { complaint: None };
        };
        let text = text_at(result, &["result"]).unwrap_or_default();
        if let Some(failure) = failure(result, text) {
            return Outcome::Failed(failure);
        }
        let structured = match structured(result, end.schema) {
            Ok(structured) => structured,
            Err(error) => return Outcome::Failed(error),
        };
        let text = match &structured {
            // With a schema the answer may come in the tool call alone.
            Some(value) if text.trim().is_empty() => value.to_string(),
            _ => text.to_owned(),
        };
        if text.trim().is_empty() {
            return blank(result);
        }
        let (usage, cost) = self.spent();
        Outcome::Answer(Reply {
            text,
            structured,
            usage,
            cost,
            session: text_at(result, &["session_id"])
                .map(str::to_owned)
                .or_else(|| self.session.clone()),
            model: self.model.clone(),
            version: self.version.clone(),
        })
    }
}

impl Protocol {
    fn system(&mut self, event: &Value) -> Vec<AgentEvent> {
        let text = |key| text_at(event, &[key]).map(str::to_owned);
        match text_at(event, &["subtype"]) {
            Some("init") => {
                self.session = text("session_id");
                self.model = text("model");
                self.version = text("claude_code_version");
                vec![AgentEvent::Started {
                    session: self.session.clone(),
                    model: self.model.clone(),
                }]
            }
            Some("api_retry") => {
                let status = at(event, &["error_status"]).and_then(Value::as_u64);
                let error = text_at(event, &["error"]).unwrap_or_default();
                let class = classify::class_of(status, error).unwrap_or(ErrorClass::Server);
                vec![AgentEvent::ClientRetry { class }]
            }
            _ => Vec::new(),
        }
    }

    fn assistant(&mut self, event: &Value) -> Vec<AgentEvent> {
        // Errors are repeated as messages of a model that does not exist.
        if text_at(event, &["message", "model"]) == Some("<synthetic>") {
            return Vec::new();
        }
        self.count(event);
        let blocks = at(event, &["message", "content"]).and_then(Value::as_array);
        let told = |block: &Value| match text_at(block, &["type"]) {
            Some("text") => {
                let text = text_at(block, &["text"])?.to_owned();
                Some(AgentEvent::Text(text))
            }
            Some("tool_use") => {
                let name = text_at(block, &["name"])?.to_owned();
                Some(AgentEvent::ToolCall { name })
            }
            _ => None,
        };
        let told = blocks.into_iter().flatten().filter_map(told);
        told.chain([AgentEvent::Usage(self.so_far())]).collect()
    }

    fn so_far(&self) -> Usage {
        let latest = self.latest.as_ref();
        self.earlier + latest.map_or_else(Usage::default, |(_, usage)| *usage)
    }

    /// Counts the usage of a message once, although each of its blocks is an event that repeats it.
    fn count(&mut self, event: &Value) {
        let Some(used) = at(event, &["message", "usage"]) else {
            return;
        };
        let id = text_at(event, &["message", "id"]).unwrap_or_default();
        if let Some((latest, usage)) = &self.latest
            && latest != id
        {
            self.earlier += *usage;
        }
        self.latest = Some((id.to_owned(), usage(used)));
    }
}

fn usage(usage: &Value) -> Usage {
    Usage {
        input: count_at(usage, &["input_tokens"]),
        cache_read: count_at(usage, &["cache_read_input_tokens"]),
        cache_write: count_at(usage, &["cache_creation_input_tokens"]),
        output: count_at(usage, &["output_tokens"]),
    }
}

/// Returns the failure that a `result` event tells of. Its subtype stays `success` on errors of
/// the API, and its flag stays unset on a refusal.
fn failure(result: &Value, text: &str) -> Option<AgentError> {
    const NAME: &str = <Protocol as reader::Protocol>::NAME;
    let errors = at(result, &["errors"]).and_then(Value::as_array);
    let errors: Vec<&str> = errors
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let said = if text.is_empty() {
        errors.join("; ")
    } else {
        text.to_owned()
    };
    let status = at(result, &["api_error_status"]).and_then(Value::as_u64);
    let fixed = |class, what: &str| {
        let why = classify::said(&said);
        let sentence = if why.is_empty() {
            format!("{NAME} {what}.")
        } else {
            format!("{NAME} {what}: {why}")
        };
        Some(AgentError::new(class, sentence))
    };
    match text_at(result, &["subtype"]) {
        Some("error_max_turns") => return fixed(ErrorClass::Limit, "used all its turns"),
        Some("error_max_budget_usd") => return fixed(ErrorClass::Limit, "used all its money"),
        Some("error_max_structured_output_retries") => {
            return fixed(ErrorClass::Garbled, "could not keep to the schema");
        }
        Some("success") => {}
        _ => return Some(classify::reported(NAME, status, &said, ErrorClass::Crash)),
    }
    let stop = text_at(result, &["stop_reason"]);
    match at(result, &["is_error"]).and_then(Value::as_bool) {
        _ if stop == Some("refusal") => fixed(ErrorClass::Refused, "passes on a refusal"),
        Some(false) if stop == Some("max_tokens") => {
            let what = format!("{NAME} was cut off at its limit of tokens.");
            Some(AgentError::new(ErrorClass::Truncated, what))
        }
        Some(false) => None,
        Some(true) if stop == Some("max_tokens") => {
            fixed(ErrorClass::Truncated, "was cut off at its limit of tokens")
        }
        Some(true) => Some(classify::reported(NAME, status, &said, ErrorClass::Server)),
        None => {
            let what = format!("The result of {NAME} has an unknown format: it lacks `is_error`.");
            Some(AgentError::new(ErrorClass::Garbled, what))
        }
    }
}

/// Returns the structured answer, which must be there when a schema was given.
fn structured(result: &Value, schema: Option<&Value>) -> Result<Option<Value>, AgentError> {
    let Some(schema) = schema else {
        return Ok(None);
    };
    let why = match at(result, &["structured_output"]) {
        None | Some(Value::Null) => "it has no structured part".to_owned(),
        Some(value) => match reader::breaks(schema, value) {
            None => return Ok(Some(value.clone())),
            Some(why) => why,
        },
    };
    let message = format!("The answer of Claude Code does not follow the schema: {why}.");
    Err(AgentError::new(ErrorClass::Garbled, message))
}

fn blank(result: &Value) -> Outcome {
    let denials = at(result, &["permission_denials"]).and_then(Value::as_array);
    if denials.is_some_and(|denials| !denials.is_empty()) {
        let message = "Claude Code was denied a permission and gave no answer.";
        return Outcome::failed(ErrorClass::PermissionDenied, message);
    }
    Outcome::failed(ErrorClass::Empty, "The answer of Claude Code is empty.")
}
