//! opencode: how it is called, and how the events of `opencode run --format json` are read.
//!
//! Its client retries cannot be turned off, and its output does not show them; its log does, either
//! by the failure or, when a stream broke off in the middle of an answer, only by a second request
//! for the same step. Both are ours to retry, so the run is ended. There is no final event either:
//! the end of the output after a step that ended with `stop` is the end.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tribunal_core::agent::{Access, ErrorClass};
use tribunal_core::money::{Cost, MicroUsd, Usage};

use super::plan::{self, Context, Plan};
use super::reader::{self, Ending, Outcome, at, count_at, text_at};
use super::{classify, endings, wait};
use crate::{AgentError, AgentEvent, Reply};

/// The name under which we describe a model API to opencode.
const PROVIDER: &str = "tribunal";

/// Steps without text or tool after which the program is taken to go in circles: it does not stop
/// at an empty answer by itself.
const EMPTY_STEPS: u32 = 3;

/// Time in which a failure in the log must show in the output, or else is being retried. The client
/// waits two seconds before its first retry.
const SILENT_RETRY: Duration = Duration::from_millis(1200);

/// Returns how to ask opencode.
pub(super) fn plan(context: &Context<'_>) -> Result<Plan, AgentError> {
    let mut plan = Plan {
        // Not in the config, where `{env:…}` and `{file:…}` in a text are filled in.
        stdin: plan::system_and_prompt(context.call),
        ..Plan::default()
    };
    // A title of our own saves a request for one.
    plan.args(["run", "--format", "json", "--title", "tribunal"]);
    plan.args(["--print-logs", "--log-level", "INFO"]);
    if context.call.access == Access::ReadOnly {
        plan.args(["--agent", "judge"]);
    }
    let config = config(context)?.to_string();
    plan.env([
        ("OPENCODE_CONFIG_CONTENT", config.as_str()),
        ("OPENCODE_DISABLE_AUTOUPDATE", "1"),
        ("OPENCODE_DISABLE_MODELS_FETCH", "1"),
    ]);
    Ok(plan)
}

fn config(context: &Context<'_>) -> Result<Value, AgentError> {
    let Context {
        spec, call, model, ..
    } = context;
    let permission = match call.access {
        Access::ReadOnly => "deny",
        Access::Write => "allow",
    };
    let mut judge = json!({
        "mode": "primary",
        "prompt": "Answer the request. You have no tools.",
        "tools": {"*": false},
    });
    if let Some(milli) = call.temperature_milli {
        judge["temperature"] = json!(f64::from(milli) / 1000.0);
    }
    let mut config = json!({
        "autoupdate": false,
        "share": "disabled",
        // A prompt that is too long shall fail, not be summarised by another request.
        "compaction": {"auto": false, "prune": false},
        "permission": {"edit": permission, "bash": permission, "webfetch": permission},
        "agent": {"judge": judge, "title": {"disable": true}},
    });
    let key = spec.api_key.as_ref().map(|key| key.expose());
    let qualified = match (&spec.base_url, model) {
        (Some(url), Some(model)) => {
            let provider = described(context, url, model, key);
            config["provider"] = json!({PROVIDER: provider});
            Some(format!("{PROVIDER}/{model}"))
        }
        (Some(_), None) => {
            let message = "opencode needs a model when it has a base URL.";
            return Err(AgentError::new(ErrorClass::Setup, message));
        }
        (None, Some(model)) => {
            if let (Some(key), Some((provider, _))) = (key, model.split_once('/')) {
                config["provider"] = json!({provider: {"options": {"apiKey": key}}});
            }
            Some((*model).to_owned())
        }
        (None, None) => None,
    };
    if let Some(model) = qualified {
        config["small_model"] = json!(model);
        config["model"] = json!(model);
    }
    Ok(config)
}

/// Describes an API that is compatible with OpenAI's.
fn described(context: &Context<'_>, url: &str, model: &str, key: Option<&str>) -> Value {
    let output = context.call.max_output_tokens.unwrap_or(32_000);
    let idle = context.call.limits.idle.as_millis();
    let mut options = json!({
        "baseURL": plan::versioned_url(url),
        "timeout": u64::try_from(idle).unwrap_or(u64::MAX),
    });
    if let Some(key) = key {
        options["apiKey"] = json!(key);
    }
    json!({
        "npm": "@ai-sdk/openai-compatible",
        "name": PROVIDER,
        "options": options,
        "models": {model: {"name": model, "limit": {"context": 200_000, "output": output}}},
    })
}

/// What the events of opencode add up to.
#[derive(Default)]
pub(super) struct Protocol {
    session: Option<String>,
    /// Text after the last tool.
    text: String,
    error: Option<Value>,
    /// Why the last step ended; nothing while one is under way.
    reason: Option<String>,
    usage: Usage,
    dollars: f64,
    /// Steps without text or tool in a row, and whether the present one had any.
    empty_steps: u32,
    stirred: bool,
    /// The failure in the log that has not shown in the output, and since when it is known.
    logged: Option<(String, Instant)>,
    /// The log shows that a step was asked for a second time.
    repeats: bool,
}

impl reader::Protocol for Protocol {
    const NAME: &'static str = "opencode";

    fn knows(kind: &str) -> bool {
        matches!(
            kind,
            "step_start" | "step_finish" | "text" | "tool_use" | "reasoning" | "error"
        )
    }

    fn event(&mut self, event: &Value) -> Vec<AgentEvent> {
        let mut told = Vec::new();
        self.logged = None;
        if self.session.is_none()
            && let Some(session) = text_at(event, &["sessionID"])
        {
            self.session = Some(session.to_owned());
            told.push(AgentEvent::Started {
                session: self.session.clone(),
                model: None,
            });
        }
        match text_at(event, &["type"]) {
            Some("step_start") => {
                self.reason = None;
                self.stirred = false;
            }
            Some("text") => {
                let text = text_at(event, &["part", "text"]).unwrap_or_default();
                self.text.push_str(text);
                self.stirred |= !text.trim().is_empty();
                told.push(AgentEvent::Text(text.to_owned()));
            }
            Some("tool_use") => {
                let name = text_at(event, &["part", "tool"]).unwrap_or_default();
                self.text.clear();
                self.stirred = true;
                told.push(AgentEvent::ToolCall {
                    name: name.to_owned(),
                });
            }
            Some("step_finish") => {
                self.step_finished(event);
                told.push(AgentEvent::Usage(self.usage));
            }
            Some("error") => self.error = at(event, &["error"]).cloned().or(Some(Value::Null)),
            _ => {}
        }
        told
    }

    fn result_seen(&self) -> bool {
        self.error.is_some() || self.reason.as_deref() == Some("stop")
    }

    fn overhear(&mut self, stderr: &str) {
        if self.logged.is_none()
            && let Some(failure) = logged_failure(stderr)
        {
            self.logged = Some((failure, Instant::now()));
        }
        self.repeats |= repeats(stderr);
    }

    fn runaway(&self) -> Option<AgentError> {
        if let Some((failure, since)) = &self.logged
            && since.elapsed() >= SILENT_RETRY
        {
            let error = classify::reported(Self::NAME, None, failure, ErrorClass::Server);
            return Some(error);
        }
        if self.repeats {
            let message = "The connection broke off in the middle of the answer to opencode.";
            return Some(AgentError::new(ErrorClass::Network, message));
        }
        (self.empty_steps >= EMPTY_STEPS).then(|| {
            let message = "opencode asks again and again although the answers are empty.";
            AgentError::new(ErrorClass::Empty, message)
        })
    }

    fn spent(&self) -> (Usage, Cost) {
        // A model without a price costs nothing in its eyes; that tells nothing.
        let known = MicroUsd::from_dollars(self.dollars).filter(|cost| cost.0 > 0);
        (self.usage, known.map_or(Cost::Unknown, Cost::Known))
    }

    fn outcome(&mut self, end: &Ending<'_>) -> Outcome {
        if let Some(error) = &self.error {
            return Outcome::Failed(reported(error));
        }
        match self.reason.as_deref() {
            Some("stop") => self.answer(),
            Some("length") => {
                let message = "opencode was cut off at the model's limit of tokens.";
                Outcome::failed(ErrorClass::Truncated, message)
            }
            Some("content-filter") => {
                Outcome::failed(ErrorClass::Refused, "opencode passes on a refusal.")
            }
            _ if end.stderr.contains("auto-rejecting") => {
                let message = "opencode was denied a permission and gave no answer.";
                Outcome::failed(ErrorClass::PermissionDenied, message)
            }
            _ => Outcome::Unfinished {
                complaint: Some(complaint(end.stderr)),
            },
        }
    }
}

impl Protocol {
    fn step_finished(&mut self, event: &Value) {
        let part = at(event, &["part"]).unwrap_or(&Value::Null);
        self.reason = text_at(part, &["reason"]).map(str::to_owned);
        self.usage += Usage {
            input: count_at(part, &["tokens", "input"]),
            cache_read: count_at(part, &["tokens", "cache", "read"]),
            cache_write: count_at(part, &["tokens", "cache", "write"]),
            output: count_at(part, &["tokens", "output"]),
        };
        self.dollars += at(part, &["cost"]).and_then(Value::as_f64).unwrap_or(0.0);
        self.empty_steps = if self.stirred {
            0
        } else {
            self.empty_steps + 1
        };
    }

    fn answer(&self) -> Outcome {
        use reader::Protocol as _;
        if self.text.trim().is_empty() {
            return Outcome::failed(ErrorClass::Empty, "The answer of opencode is empty.");
        }
        let (usage, cost) = self.spent();
        Outcome::Answer(Reply {
            text: self.text.clone(),
            structured: None,
            usage,
            cost,
            session: self.session.clone(),
            model: None,
            version: None,
        })
    }
}

fn reported(error: &Value) -> AgentError {
    let message = text_at(error, &["data", "message"]).unwrap_or_default();
    let status = at(error, &["data", "statusCode"]).and_then(Value::as_u64);
    let body = text_at(error, &["data", "responseBody"]).unwrap_or_default();
    let fixed = match text_at(error, &["name"]) {
        Some("ContextOverflowError") => Some(ErrorClass::ContextTooLong),
        Some("ProviderAuthError") => Some(ErrorClass::Auth),
        Some("MessageOutputLengthError") => Some(ErrorClass::Truncated),
        // It is the program's own server that failed, which an unknown model makes it do.
        Some("UnknownError") if message.starts_with("Unexpected server error") => {
            Some(ErrorClass::Setup)
        }
        _ => None,
    };
    // The body often holds the telling word, the message the readable one.
    let class = fixed
        .or_else(|| classify::class_of(status, &format!("{message} {body}")))
        .unwrap_or(ErrorClass::Server);
    let reported = classify::reported(<Protocol as reader::Protocol>::NAME, status, message, class);
    let header = text_at(error, &["data", "responseHeaders", "retry-after"]);
    let asked = header.and_then(wait::retry_after_header);
    AgentError {
        class,
        retry_after: asked
            .or(reported.retry_after)
            .filter(|_| classify::may_wait(class)),
        ..reported
    }
}

/// Returns what the last line of the log about a failed answer says.
fn logged_failure(stderr: &str) -> Option<String> {
    let line = stderr
        .lines()
        .rfind(|line| line.contains("message=\"stream error\""))?;
    let (_, failure) = line.split_once("error.error=\"")?;
    let failure = failure.trim_end().trim_end_matches('"');
    // The name of the class in front tells people nothing.
    let said = failure.split_once(": ").map_or(failure, |(_, said)| said);
    Some(said.replace("\\\"", "\""))
}

/// Returns the line on stderr that tells of a failure; what the program logs of its course is none.
fn complaint(stderr: &str) -> String {
    let said: Vec<&str> = stderr
        .lines()
        .filter(|line| !line.contains(" level=INFO "))
        .collect();
    endings::telling_line(&said.join("\n"))
}

/// Tells whether the log shows two requests for one step. Each step of a session begins with
/// `process`, each request with `stream`; where the log is cut off at its top, the first request
/// proves nothing.
fn repeats(stderr: &str) -> bool {
    let mut asked = HashSet::new();
    stderr.lines().any(|line| {
        let Some((_, rest)) = line.split_once(" session.id=") else {
            return false;
        };
        let session = rest.split(' ').next().unwrap_or(rest);
        if line.contains(" message=process ") {
            asked.remove(session);
        }
        line.contains(" message=stream ") && !asked.insert(session)
    })
}

#[cfg(test)]
mod tests {
    use super::reader::Protocol as _;
    use super::*;

    #[test]
    fn a_retry_that_only_the_log_shows_ends_the_run() {
        let log = "level=ERROR message=\"stream error\" agent=judge \
                   error.error=\"AI_APICallError: Rate limit reached. Please try again in 1s.\"\n";
        let mut protocol = Protocol::default();
        protocol.overhear("level=ERROR message=\"other\"\n");
        assert_eq!(protocol.logged, None);
        protocol.overhear(log);
        assert_eq!(protocol.runaway(), None);
        std::thread::sleep(SILENT_RETRY);
        let error = protocol.runaway().unwrap();
        assert_eq!(error.class, ErrorClass::RateLimited);
        assert_eq!(error.retry_after, Some(Duration::from_secs(1)));
        protocol.event(&json!({"type": "step_start", "sessionID": "s", "part": {}}));
        assert_eq!(protocol.runaway(), None);
    }

    #[test]
    fn a_second_request_for_one_step_is_a_retry() {
        const PROCESS: &str = "level=INFO run=r message=process session.id=S messageID=m\n";
        const STREAM: &str =
            "level=INFO run=r message=stream modelID=m1 session.id=S small=false\n";
        let of = |session: &str, line: &str| line.replace("id=S", &format!("id={session}"));
        let (process, stream) = (of("ses_a", PROCESS), of("ses_a", STREAM));
        let other = of("ses_b", STREAM);
        let cases = [
            ("one step", vec![&process, &stream], false),
            (
                "two steps",
                vec![&process, &stream, &process, &stream],
                false,
            ),
            ("a retry", vec![&process, &stream, &stream], true),
            (
                "a log without its top",
                vec![&stream, &process, &stream],
                false,
            ),
            ("two sessions", vec![&process, &stream, &other], false),
        ];
        for (what, lines, expected) in cases {
            let log: String = lines.into_iter().map(String::as_str).collect();
            assert_eq!(repeats(&log), expected, "{what}");
        }
        let mut protocol = Protocol::default();
        protocol.overhear(&[process, stream.clone(), stream].concat());
        assert_eq!(protocol.runaway().unwrap().class, ErrorClass::Network);
    }
}
