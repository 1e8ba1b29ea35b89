//! Codex: how it is called, and how the events of `codex exec --json` are read.

use serde_json::Value;
use tribunal_core::agent::{Access, ErrorClass};
use tribunal_core::money::{Cost, Usage};

use super::classify;
use super::plan::{self, Context, OwnSandbox, Plan};
use super::reader::{self, Ending, Outcome, at, count_at, text_at};
use crate::{AgentError, AgentEvent, Reply};

/// The name under which we describe the model API to Codex.
const PROVIDER: &str = "tribunal";

/// The variable in which Codex finds the key of that API.
const KEY: &str = "OPENAI_API_KEY";

/// Where the API is when the config names no other place.
const DEFAULT_URL: &str = "https://api.openai.com/v1";

/// Returns how to ask Codex.
pub(super) fn plan(context: &Context<'_>) -> Result<Plan, AgentError> {
    let Context {
        spec, call, model, ..
    } = context;
    let mut plan = Plan {
        stdin: plan::system_and_prompt(call),
        ..Plan::default()
    };
    plan.args(["exec", "--json", "--ephemeral", "--skip-git-repo-check"]);
    plan.args(["--ignore-user-config", "--ignore-rules", "--color", "never"]);
    // Without these it syncs plugins at start and waits for ever for an unreachable server.
    plan.args([
        "--disable",
        "plugins",
        "--disable",
        "unbounded_connection_retries",
    ]);
    plan.args(["-c", "analytics.enabled=false"]);
    plan.args(["-c", "check_for_update_on_startup=false"]);
    // Commands that the model runs shall not see keys.
    plan.args([
        "-c",
        "shell_environment_policy.ignore_default_excludes=false",
    ]);
    let sandbox = match call.access {
        _ if context.own_sandbox == OwnSandbox::Impossible => "danger-full-access",
        Access::ReadOnly => "read-only",
        Access::Write => "workspace-write",
    };
    plan.args(["-s", sandbox]);
    if context.own_sandbox == OwnSandbox::Landlock {
        // Its newer sandbox is made of namespaces.
        plan.args(["-c", "features.use_legacy_landlock=true"]);
    }
    if call.access == Access::ReadOnly {
        // Whoever only judges takes no instructions from the directory.
        plan.args(["-c", "project_doc_max_bytes=0"]);
    }
    if let Some(model) = model {
        plan.args(["-c", &format!("model={}", toml_text(model))]);
    }
    if spec.base_url.is_some() || spec.api_key.is_some() {
        let provider = provider(context);
        plan.args(["-c", &format!("model_provider={}", toml_text(PROVIDER))]);
        plan.args(["-c", &format!("model_providers.{PROVIDER}={provider}")]);
    }
    if let Some(key) = &spec.api_key {
        plan.env([(KEY, key.expose())]);
    }
    if let Some(schema) = &call.schema {
        let path = plan.file(context, "schema.json", schema.to_string());
        plan.args(["--output-schema", &path]);
    }
    // It puts the helper of its sandbox into its home, and refuses to do so where that lies in the
    // directory for temporary files: every command of the model then fails.
    let temporary = plan.temporary_directory(context);
    plan.env([("TMPDIR", &temporary)]);
    plan.args(["-"]);
    Ok(plan)
}

/// Describes the model API. Only a described one can be told not to retry.
fn provider(context: &Context<'_>) -> String {
    let spec = context.spec;
    let url = spec.base_url.as_deref().unwrap_or(DEFAULT_URL);
    let url = toml_text(&plan::versioned_url(url));
    let key = match spec.api_key {
        Some(_) => format!(",env_key={}", toml_text(KEY)),
        None => String::new(),
    };
    let idle = plan::millis(context.call.limits.idle);
    format!(
        "{{name={name},base_url={url}{key},wire_api=\"responses\",request_max_retries=0,\
         stream_max_retries=0,stream_idle_timeout_ms={idle}}}",
        name = toml_text(PROVIDER)
    )
}

/// Returns `text` as a TOML string; what JSON escapes, TOML understands.
fn toml_text(text: &str) -> String {
    Value::from(text).to_string()
}

/// What the events of Codex add up to.
#[derive(Default)]
pub(super) struct Protocol {
    thread: Option<String>,
    /// The last message of the agent.
    message: Option<String>,
    /// The last error outside of a turn's end; most are only warnings.
    complaint: Option<String>,
    completed: bool,
    failed: Option<String>,
    usage: Usage,
}

impl reader::Protocol for Protocol {
    const NAME: &'static str = "Codex";

    fn knows(kind: &str) -> bool {
        matches!(
            kind,
            "thread.started"
                | "turn.started"
                | "turn.completed"
                | "turn.failed"
                | "item.started"
                | "item.updated"
                | "item.completed"
                | "error"
        )
    }

    fn event(&mut self, event: &Value) -> Vec<AgentEvent> {
        match text_at(event, &["type"]) {
            Some("thread.started") => {
                self.thread = text_at(event, &["thread_id"]).map(str::to_owned);
                vec![AgentEvent::Started {
                    session: self.thread.clone(),
                    model: None,
                }]
            }
            Some("item.started") => tool_call(event).into_iter().collect(),
            Some("item.completed") => self.item_completed(event),
            Some("turn.completed") => {
                self.completed = true;
                self.usage = at(event, &["usage"]).map_or_else(Usage::default, usage);
                vec![AgentEvent::Usage(self.usage)]
            }
            Some("turn.failed") => {
                let message = text_at(event, &["error", "message"]).unwrap_or_default();
                self.failed = Some(message.to_owned());
                Vec::new()
            }
            Some("error") => self.error(event),
            _ => Vec::new(),
        }
    }

    fn result_seen(&self) -> bool {
        self.completed || self.failed.is_some()
    }

    fn spent(&self) -> (Usage, Cost) {
        (self.usage, Cost::Unknown)
    }

    fn outcome(&mut self, end: &Ending<'_>) -> Outcome {
        if let Some(message) = &self.failed {
            return Outcome::Failed(classify::reported(
                Self::NAME,
                None,
                message,
                ErrorClass::Server,
            ));
        }
        if !self.completed {
            let complaint = self.complaint.clone();
            return Outcome::Unfinished { complaint };
        }
        let text = self.message.clone().unwrap_or_default();
        if text.trim().is_empty() {
            return Outcome::failed(ErrorClass::Empty, "The answer of Codex is empty.");
        }
        // Codex passes the schema on but does not look at what comes back.
        match reader::structured_text(Self::NAME, end.schema, &text) {
            Err(error) => Outcome::Failed(error),
            Ok(structured) => Outcome::Answer(Reply {
                text,
                structured,
                usage: self.usage,
                cost: Cost::Unknown,
                session: self.thread.clone(),
                model: None,
                version: None,
            }),
        }
    }
}

impl Protocol {
    fn item_completed(&mut self, event: &Value) -> Vec<AgentEvent> {
        if text_at(event, &["item", "type"]) != Some("agent_message") {
            return Vec::new();
        }
        let text = text_at(event, &["item", "text"]).unwrap_or_default();
        self.message = Some(text.to_owned());
        vec![AgentEvent::Text(text.to_owned())]
    }

    fn error(&mut self, event: &Value) -> Vec<AgentEvent> {
        let message = text_at(event, &["message"]).unwrap_or_default();
        self.complaint = Some(message.to_owned());
        if message.starts_with("Reconnecting") {
            let class = classify::class_of(None, message).unwrap_or(ErrorClass::Network);
            return vec![AgentEvent::ClientRetry { class }];
        }
        Vec::new()
    }
}

fn tool_call(event: &Value) -> Option<AgentEvent> {
    let item = at(event, &["item"])?;
    let name = match text_at(item, &["type"])? {
        "mcp_tool_call" => text_at(item, &["tool"])?,
        name @ ("command_execution" | "file_change" | "web_search") => name,
        _ => return None,
    };
    Some(AgentEvent::ToolCall {
        name: name.to_owned(),
    })
}

fn usage(usage: &Value) -> Usage {
    let cached = count_at(usage, &["cached_input_tokens"]);
    Usage {
        input: count_at(usage, &["input_tokens"]).saturating_sub(cached),
        cache_read: cached,
        cache_write: count_at(usage, &["cache_write_input_tokens"]),
        output: count_at(usage, &["output_tokens"]),
    }
}
