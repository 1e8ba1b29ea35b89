//! Gemini CLI: how it is called, and how its `stream-json` output is read.
//!
//! An answer that the model ended at its limit of tokens looks like any other here: the program
//! does not pass on why the model stopped. Only the asker can tell, by a mark at the answer's end.

use serde_json::{Value, json};
use tribunal_core::agent::{Access, ErrorClass};
use tribunal_core::money::{Cost, Usage};

use super::classify;
use super::exit::Ended;
use super::plan::{self, Context, Plan};
use super::reader::{self, Ending, Outcome, at, count_at, text_at};
use crate::spec::Login;
use crate::{AgentError, AgentEvent, Reply};

/// Statuses that the program turns into exit codes by taking them modulo 256.
const STATUSES: [u64; 11] = [400, 401, 403, 408, 413, 429, 500, 502, 503, 504, 529];

/// Where the program looks for its settings in its home directory.
const SETTINGS: &str = ".gemini/settings.json";

/// Returns how to ask Gemini CLI.
pub(super) fn plan(context: &Context<'_>) -> Result<Plan, AgentError> {
    let Context {
        spec, call, model, ..
    } = context;
    let mut plan = Plan::default();
    plan.args(["--output-format", "stream-json", "--skip-trust"]);
    if let Some(model) = model {
        plan.args(["-m", model]);
    }
    match call.access {
        Access::ReadOnly => plan.args(["--approval-mode", "default"]),
        Access::Write => plan.args(["--approval-mode", "yolo"]),
    }
    match (&call.system, call.access) {
        (Some(system), Access::ReadOnly) => {
            plan.stdin = call.prompt.clone();
            let path = plan.file(context, "system.md", system.clone());
            plan.env([("GEMINI_SYSTEM_MD", &path)]);
        }
        // Whoever works with tools needs what the program says about them.
        (_, Access::Write) | (None, _) => plan.stdin = plan::system_and_prompt(call),
    }
    // With the user's login the user's settings apply: the program takes settings from nowhere else
    // but files that belong to the system, and the user's file is not ours to change.
    if spec.login == Login::Isolated {
        plan.home_files.push((SETTINGS, settings().to_string()));
    }
    // It writes reports of failures, prompt included, to the directory for temporary files, and a
    // file for each command of the model.
    let temporary = plan.temporary_directory(context);
    plan.env([
        // Otherwise it starts itself once more, and the first process swallows signals.
        ("GEMINI_CLI_NO_RELAUNCH", "true"),
        ("TMPDIR", &temporary),
    ]);
    if let Some(key) = &spec.api_key {
        plan.env([("GEMINI_API_KEY", key.expose())]);
    }
    if let Some(url) = &spec.base_url {
        plan.env([("GOOGLE_GEMINI_BASE_URL", plan::unversioned_url(url))]);
    }
    Ok(plan)
}

/// Returns settings that keep the program to itself. It refuses to start without a way to log in.
fn settings() -> Value {
    json!({
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "general": {
            "enableAutoUpdate": false,
            "enableAutoUpdateNotification": false,
            "maxAttempts": 1,
        },
        "privacy": {"usageStatisticsEnabled": false},
        "telemetry": {"enabled": false},
    })
}

/// What the events of Gemini CLI add up to.
#[derive(Default)]
pub(super) struct Protocol {
    session: Option<String>,
    model: Option<String>,
    text: String,
    /// The last thing it called an error.
    complaint: Option<String>,
    result: Option<Value>,
}

impl reader::Protocol for Protocol {
    const NAME: &'static str = "Gemini CLI";

    fn knows(kind: &str) -> bool {
        matches!(
            kind,
            "init" | "message" | "tool_use" | "tool_result" | "error" | "result"
        )
    }

    fn event(&mut self, event: &Value) -> Vec<AgentEvent> {
        match text_at(event, &["type"]) {
            Some("init") => {
                self.session = text_at(event, &["session_id"]).map(str::to_owned);
                self.model = text_at(event, &["model"]).map(str::to_owned);
                vec![AgentEvent::Started {
                    session: self.session.clone(),
                    model: self.model.clone(),
                }]
            }
            Some("message") if text_at(event, &["role"]) == Some("assistant") => {
                let text = text_at(event, &["content"]).unwrap_or_default();
                self.text.push_str(text);
                vec![AgentEvent::Text(text.to_owned())]
            }
            Some("tool_use") => {
                let name = text_at(event, &["tool_name"])
                    .unwrap_or_default()
                    .to_owned();
                vec![AgentEvent::ToolCall { name }]
            }
            Some("error") => {
                if text_at(event, &["severity"]) != Some("warning") {
                    self.complaint = text_at(event, &["message"]).map(str::to_owned);
                }
                Vec::new()
            }
            Some("result") => {
                self.result = Some(event.clone());
                vec![AgentEvent::Usage(self.spent().0)]
            }
            _ => Vec::new(),
        }
    }

    fn result_seen(&self) -> bool {
        self.result.is_some()
    }

    fn spent(&self) -> (Usage, Cost) {
        let stats = self.result.as_ref().and_then(|result| result.get("stats"));
        let usage = stats.map_or_else(Usage::default, |stats| Usage {
            input: count_at(stats, &["input"]),
            cache_read: count_at(stats, &["cached"]),
            cache_write: 0,
            output: count_at(stats, &["output_tokens"]),
        });
        (usage, Cost::Unknown)
    }

    fn outcome(&mut self, end: &Ending<'_>) -> Outcome {
        let Some(result) = &self.result else {
            return match by_exit(end) {
                Some((status, class)) => Outcome::Failed(classify::reported(
                    Self::NAME,
                    status,
                    &stderr_message(end.stderr),
                    class,
                )),
                None => Outcome::Unfinished {
                    complaint: self.complaint.clone(),
                },
            };
        };
        match text_at(result, &["status"]) {
            Some("success") => self.answer(),
            Some("error") => {
                let message = text_at(result, &["error", "message"])
                    .or(self.complaint.as_deref())
                    .unwrap_or_default();
                let (status, class) = by_exit(end).unwrap_or((None, ErrorClass::Server));
                Outcome::Failed(classify::reported(Self::NAME, status, message, class))
            }
            _ => {
                let message = "The result of Gemini CLI has an unknown format: its `status` is \
                               neither `success` nor `error`.";
                Outcome::failed(ErrorClass::Garbled, message)
            }
        }
    }
}

impl Protocol {
    fn answer(&self) -> Outcome {
        use reader::Protocol as _;
        if self.text.trim().is_empty() {
            return Outcome::failed(ErrorClass::Empty, "The answer of Gemini CLI is empty.");
        }
        let (usage, cost) = self.spent();
        Outcome::Answer(Reply {
            text: self.text.clone(),
            structured: None,
            usage,
            cost,
            session: self.session.clone(),
            model: self.model.clone(),
            version: None,
        })
    }
}

/// Returns the HTTP status or the class that the exit code stands for.
fn by_exit(end: &Ending<'_>) -> Option<(Option<u64>, ErrorClass)> {
    if end.exit.ended != Ended::Exited {
        return None;
    }
    let code = u64::try_from(end.exit.code?).ok()?;
    let status = STATUSES.into_iter().find(|status| status % 256 == code);
    match code {
        _ if status.is_some() => Some((status, ErrorClass::Server)),
        41 => Some((None, ErrorClass::Auth)),
        42 | 52 | 55 => Some((None, ErrorClass::Setup)),
        53 => Some((None, ErrorClass::Limit)),
        _ => None,
    }
}

/// Returns the message of the last JSON object on stderr, or the whole of it.
fn stderr_message(stderr: &str) -> String {
    let objects: Vec<usize> = stderr.match_indices("\n{").map(|(at, _)| at + 1).collect();
    let from_json = |start: usize| {
        let mut values = serde_json::Deserializer::from_str(stderr.get(start..)?).into_iter();
        let value: Value = values.next()?.ok()?;
        at(&value, &["error", "message"])?
            .as_str()
            .map(str::to_owned)
    };
    objects
        .into_iter()
        .rev()
        .find_map(from_json)
        .or_else(|| from_json(0))
        .unwrap_or_else(|| stderr.to_owned())
}
