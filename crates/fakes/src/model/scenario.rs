//! The behaviours a URL can select, and what each of them does with a call.

use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use super::call::{Call, Dialect};
use super::failure::Failure;
use super::reply::{OK_TEXT, Part, Reply, Stop, unfit_object};
use super::tools;
use crate::{directive, schema};

/// What the server does with a call.
#[derive(Debug, Clone)]
pub(crate) enum Action {
    /// Answers, with a fault in the delivery if there is one.
    Answer(Reply, Delivery),
    /// Fails in the vendor's words.
    Fail(Failure, Option<RetryAfter>),
    /// Sends what a script dictates.
    Raw {
        status: u16,
        headers: Vec<(String, String)>,
        body: Vec<u8>,
    },
    /// Resets the connection before any answer.
    Reset,
    /// Closes the connection before any answer.
    Close,
    /// Never answers.
    Hang,
}

/// How an answer travels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Delivery {
    Whole,
    /// A piece every 300 ms.
    Slow,
    /// The socket is closed half-way.
    Cut,
    /// Nothing comes after the first half.
    Stall,
    /// The body ends cleanly before the event with the reason of the end.
    CleanEof,
    /// Only the terminator is missing.
    NoDone,
    /// An empty body.
    Empty,
    /// A body that is no answer at all.
    Garbage,
    /// One event in the middle is not JSON.
    BrokenEvent,
    /// An error event comes half-way.
    ErrorEvent,
    /// Every byte is a write of its own.
    Bytewise,
}

/// The `Retry-After` header of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RetryAfter {
    Seconds(u64),
    /// A date this many seconds ahead.
    Date(u64),
}

impl RetryAfter {
    /// Returns the value of the header.
    pub(crate) fn header(self) -> String {
        match self {
            Self::Seconds(seconds) => seconds.to_string(),
            Self::Date(ahead) => {
                httpdate::fmt_http_date(SystemTime::now() + Duration::from_secs(ahead))
            }
        }
    }

    /// Returns the wait in seconds.
    pub(crate) fn seconds(self) -> u64 {
        match self {
            Self::Seconds(seconds) | Self::Date(seconds) => seconds,
        }
    }
}

/// Returns what scenario `name` does with its call number `turn`; `None` if there is none such.
pub(crate) fn plan(name: &str, call: &Call, turn: usize) -> Option<Action> {
    if let Some(action) = failure(name) {
        return Some(action);
    }
    if let Some(faults) = flaky_faults(name) {
        return Some(if turn < faults {
            limited(1)
        } else {
            answer(say(call, OK_TEXT))
        });
    }
    let action = match name {
        "ok" => answer(say(call, OK_TEXT)),
        "echo" => answer(say(call, &call.last_user_text())),
        "json" => answer(structured(call)),
        "badjson" => answer(unfit(call)),
        "thinking" => answer(thinking(call)),
        "notext" => answer(Reply::text("")),
        "truncated" => answer(Reply {
            stop: Stop::MaxTokens,
            ..say(call, OK_TEXT)
        }),
        "refusal" => answer(refusal(Stop::Refusal)),
        "filtered" => answer(refusal(Stop::Filtered)),
        "write_tool" => answer(after_tool(call, |call| {
            tools::write(call, &tool_content(call))
        })),
        "shell_tool" => answer(after_tool(call, |call| {
            tools::shell(
                call,
                &command(call, "sh -c 'setsid sleep 1000 & sleep 1000'"),
            )
        })),
        "shell_quick" => answer(after_tool(call, |call| {
            tools::shell(
                call,
                &command(call, "setsid nohup sleep 600 >/dev/null 2>&1 &"),
            )
        })),
        "echo_tool" => answer(after_tool(call, |call| tools::echo(call, "ping-4711"))),
        "cut_once" if turn > 0 => answer(say(call, OK_TEXT)),
        "reset" => Action::Reset,
        "close" => Action::Close,
        "hang" => Action::Hang,
        _ => Action::Answer(say(call, OK_TEXT), delivery(name)?),
    };
    Some(action)
}

/// Returns what one entry of a script dictates, and how long to wait before it.
pub(crate) fn scripted(entry: &Value, call: &Call) -> (Duration, Action) {
    let delay = Duration::from_millis(entry["delay_ms"].as_u64().unwrap_or(0));
    let action = if let Some(name) = entry["scenario"].as_str() {
        plan(name, call, usize::MAX).unwrap_or_else(|| unusable("names an unknown scenario"))
    } else if let Some(command) = entry["shell"].as_str() {
        match tools::shell(call, command) {
            Some(tool) => answer(Reply::tool(tool)),
            None => unusable("wants a shell, and the client offers none"),
        }
    } else if let Some(status) = entry["status"].as_u64() {
        raw(u16::try_from(status).unwrap_or(500), entry)
    } else if let Some(text) = entry.as_str().or(entry["text"].as_str()) {
        answer(Reply::text(directive::fill(text, &call.last_user_text())))
    } else if let Some(value) = entry.get("json") {
        let text = value.to_string();
        answer(Reply::text(directive::fill(&text, &call.last_user_text())))
    } else {
        unusable("has neither text, json, shell, status nor scenario")
    };
    (delay, action)
}

/// Returns the answer for a fault of the test itself: a status no vendor sends.
pub(crate) fn unusable(what: &str) -> Action {
    let body =
        json!({"error": {"message": format!("fake-model: the script {what}"), "type": "fake"}});
    Action::Raw {
        status: 501,
        headers: Vec::new(),
        body: body.to_string().into_bytes(),
    }
}

fn failure(name: &str) -> Option<Action> {
    let plain = |failure| Some(Action::Fail(failure, None));
    match name {
        "s400" => plain(Failure::BadRequest),
        "s401" => plain(Failure::Unauthorized),
        "badkey" => plain(Failure::BadKey),
        "s403" => plain(Failure::Forbidden),
        "s404" => plain(Failure::NotFound),
        "s413" => plain(Failure::TooLarge),
        "toolong" => plain(Failure::ContextTooLong),
        "s429" => Some(limited(1)),
        "s429_long" => Some(limited(3600)),
        "s429_bare" => plain(Failure::RateLimited),
        "s429_date" => Some(Action::Fail(
            Failure::RateLimited,
            Some(RetryAfter::Date(2)),
        )),
        "credit" => plain(Failure::NoCredit),
        "s500" => plain(Failure::Server),
        "s503" => plain(Failure::Unavailable),
        "s529" => plain(Failure::Overloaded),
        "s502html" => Some(Action::Raw {
            status: 502,
            headers: vec![("content-type".to_owned(), "text/html".to_owned())],
            body: b"<html><body><h1>502 Bad Gateway</h1></body></html>\n".to_vec(),
        }),
        _ => None,
    }
}

fn delivery(name: &str) -> Option<Delivery> {
    Some(match name {
        "cut" | "cut_once" => Delivery::Cut,
        "hang_mid" => Delivery::Stall,
        "slow" => Delivery::Slow,
        "empty" => Delivery::Empty,
        "malformed" => Delivery::Garbage,
        "badevent" => Delivery::BrokenEvent,
        "errevent" => Delivery::ErrorEvent,
        "clean_eof" => Delivery::CleanEof,
        "no_done" => Delivery::NoDone,
        "bytewise" => Delivery::Bytewise,
        _ => return None,
    })
}

/// Returns how many calls fail first: one for `flaky429`, N for `flakyN`.
fn flaky_faults(name: &str) -> Option<usize> {
    match name.strip_prefix("flaky")? {
        "429" => Some(1),
        count => count.parse().ok(),
    }
}

fn answer(reply: Reply) -> Action {
    Action::Answer(reply, Delivery::Whole)
}

fn limited(seconds: u64) -> Action {
    Action::Fail(Failure::RateLimited, Some(RetryAfter::Seconds(seconds)))
}

/// Answers with the text the prompt dictates, or else with `usual`.
fn say(call: &Call, usual: &str) -> Reply {
    Reply::text(directive::reply(&call.user_text()).unwrap_or_else(|| usual.to_owned()))
}

fn structured(call: &Call) -> Reply {
    let dictated = directive::reply(&call.user_text());
    if call.pending_tool_result().is_none() {
        let dictated_value = dictated
            .as_deref()
            .and_then(|text| serde_json::from_str(text).ok());
        let input = |schema: &Value| dictated_value.unwrap_or_else(|| schema::instance(schema));
        if let Some(tool) = tools::structured(call, input) {
            return Reply::tool(tool);
        }
    }
    let value = || match requested_schema(call) {
        Some(schema) => schema::instance(schema),
        None => json!({"ok": true, "note": "from the fake model"}),
    };
    Reply::text(dictated.unwrap_or_else(|| value().to_string()))
}

fn unfit(call: &Call) -> Reply {
    match tools::structured(call, |_| unfit_object()) {
        Some(tool) if call.pending_tool_result().is_none() => Reply::tool(tool),
        _ => Reply::text(unfit_object().to_string()),
    }
}

/// Finds the schema of the answer, which each API carries in a place of its own.
fn requested_schema(call: &Call) -> Option<&Value> {
    let places: &[&str] = match call.dialect {
        Dialect::Anthropic => &["/output_config/format/schema", "/output_format/schema"],
        Dialect::Responses => &["/text/format/schema"],
        Dialect::Chat => &["/response_format/json_schema/schema"],
        Dialect::Gemini => &[
            "/generationConfig/responseJsonSchema",
            "/generationConfig/responseSchema",
            "/generation_config/response_schema",
        ],
    };
    places.iter().find_map(|place| call.body.pointer(place))
}

fn thinking(call: &Call) -> Reply {
    let mut reply = say(call, OK_TEXT);
    reply.parts.insert(
        0,
        Part::Thinking("These thoughts are not part of the answer.".to_owned()),
    );
    reply
}

fn refusal(stop: Stop) -> Reply {
    Reply {
        parts: vec![Part::Refusal("I can't help with that.".to_owned())],
        stop,
    }
}

/// Calls a tool first and ends with text once its result has come back, or when none is offered.
fn after_tool(call: &Call, first: impl FnOnce(&Call) -> Option<super::reply::ToolCall>) -> Reply {
    match call.pending_tool_result() {
        Some(result) => say(call, &format!("The tool has answered: {result}")),
        None => first(call).map_or_else(|| say(call, OK_TEXT), Reply::tool),
    }
}

fn tool_content(call: &Call) -> String {
    let dictated = directive::value(&call.user_text(), "FAKE-CONTENT");
    dictated.unwrap_or_else(|| "written by the fake model\n".to_owned())
}

fn command(call: &Call, usual: &str) -> String {
    directive::value(&call.user_text(), "FAKE-COMMAND").unwrap_or_else(|| usual.to_owned())
}

fn raw(status: u16, entry: &Value) -> Action {
    let named = entry["headers"].as_object().into_iter().flatten();
    let text_of = |value: &Value| {
        value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned)
    };
    let headers = named
        .map(|(name, value)| (name.to_ascii_lowercase(), text_of(value)))
        .collect();
    let body = entry
        .get("body")
        .map(text_of)
        .unwrap_or_default()
        .into_bytes();
    Action::Raw {
        status,
        headers,
        body,
    }
}
