//! From statuses, messages and exits to error classes.
//!
//! Providers and clients say the same thing in many words. The tables here hold those that were
//! met; a word is looked for only in messages that are known to be about a failure.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tribunal_core::agent::ErrorClass;
use tribunal_core::text::{headline, truncate_chars};

use super::exit::Ended;
use super::reader::{Ending, LONGEST_MESSAGE};
use crate::AgentError;

/// Longer waits are taken for nonsense.
const LONGEST_WAIT: Duration = Duration::from_secs(31 * 24 * 60 * 60);

/// Phrases in lower case and what they mean, the more telling ones first.
const PHRASES: &[(ErrorClass, &[&str])] = &[
    (
        ErrorClass::Credit,
        &[
            "insufficient_quota",
            "credit balance",
            "insufficient credit",
            "insufficient balance",
            "insufficient funds",
            "out of credits",
            "payment required",
            "billing_hard_limit",
            "billing_not_active",
            "quota exceeded. check your plan",
            "credits are depleted",
        ],
    ),
    (
        ErrorClass::ContextTooLong,
        &[
            "prompt is too long",
            "prompt too long",
            "context_length_exceeded",
            "maximum context length",
            "context window",
            "context length",
            "input_too_large",
            "exceeds the maximum number of tokens",
            "input is too long",
            "request_too_large",
            "request too large",
        ],
    ),
    (
        ErrorClass::Auth,
        &[
            "invalid api key",
            "invalid_api_key",
            "invalid x-api-key",
            "incorrect api key",
            "api key not valid",
            "api_key_invalid",
            "authentication_error",
            "authentication required",
            "failed to authenticate",
            "unauthenticated",
            "unauthorized",
            "not logged in",
            "please run /login",
            "token has expired",
            "missing environment variable",
            "invalid auth method",
            "set an auth method",
            "permission_error",
            "does not have permission to use",
        ],
    ),
    (
        ErrorClass::RateLimited,
        &[
            "rate limit",
            "rate_limit",
            "too many requests",
            "usage limit",
            "hit your limit",
            "resource_exhausted",
            "resource has been exhausted",
            "exceeded your current quota",
            "quota exceeded",
        ],
    ),
    (
        ErrorClass::Overloaded,
        &[
            "overloaded",
            "high demand",
            "service unavailable",
            "at capacity",
        ],
    ),
    (
        ErrorClass::Truncated,
        &[
            "max_output_tokens",
            "output token maximum",
            "incomplete response returned",
        ],
    ),
    (
        ErrorClass::Refused,
        &[
            "content_filter",
            "content filter",
            "usage policy",
            "usage policies",
            "prohibited_content",
            "blocked due to safety",
            "cyber_policy",
        ],
    ),
    (
        ErrorClass::Garbled,
        &[
            "json parse error",
            "json parsing failed",
            "incomplete json segment",
            "malformed response",
            "is not valid json",
        ],
    ),
    (
        ErrorClass::Network,
        &[
            "econnreset",
            "econnrefused",
            "enotfound",
            "etimedout",
            "eai_again",
            "connection refused",
            "connection reset",
            "connection error",
            "connection closed",
            "connection was closed",
            "unable to connect",
            "cannot connect",
            "stream disconnected",
            "error sending request",
            "fetch failed",
            "socket hang up",
            "network error",
            "dns error",
            "terminated",
            "timed out",
        ],
    ),
    (
        ErrorClass::Server,
        &[
            "internal server error",
            "internal error",
            "bad gateway",
            "gateway timeout",
            "server_error",
            "server error",
            "server had an error",
        ],
    ),
    (
        ErrorClass::BadRequest,
        &[
            "invalid_request_error",
            "bad request",
            "invalid_argument",
            "issue with the selected model",
            "model_not_found",
            "not_found",
        ],
    ),
    (
        ErrorClass::Setup,
        &[
            "unknown option",
            "unknown argument",
            "unexpected argument",
            "unrecognized option",
            "invalid choice",
            "invalid values",
            "command not found",
            "no such file or directory",
            "cannot find module",
            "permission denied",
        ],
    ),
];

/// Returns the class of a failure by its HTTP status, where there is one, and its message.
pub(super) fn class_of(status: Option<u64>, message: &str) -> Option<ErrorClass> {
    let told = by_text(message);
    let Some(status) = status.or_else(|| status_in(message)) else {
        return told;
    };
    let told_among = |classes: &[ErrorClass]| told.filter(|class| classes.contains(class));
    use ErrorClass::*;
    let class = match status {
        400 => told_among(&[
            Credit,
            ContextTooLong,
            Auth,
            RateLimited,
            Refused,
            Truncated,
        ])
        .unwrap_or(BadRequest),
        401 => Auth,
        402 => Credit,
        403 => told_among(&[Credit, RateLimited]).unwrap_or(Auth),
        407 => Setup,
        408 => Network,
        413 => ContextTooLong,
        429 => told_among(&[Credit]).unwrap_or(RateLimited),
        404..=499 => told_among(&[ContextTooLong, Refused]).unwrap_or(BadRequest),
        503 | 529 => Overloaded,
        500..=599 => told_among(&[Overloaded, ContextTooLong]).unwrap_or(Server),
        _ => return told,
    };
    Some(class)
}

/// Returns the error of an agent that reported `status` and `message` itself.
pub(super) fn reported(
    name: &str,
    status: Option<u64>,
    message: &str,
    otherwise: ErrorClass,
) -> AgentError {
    let class = class_of(status, message).unwrap_or(otherwise);
    let said = said(message);
    let text = match status {
        Some(status) if said.is_empty() => format!("{name} reports status {status}."),
        Some(status) => format!("{name} reports status {status}: {said}"),
        None if said.is_empty() => format!("{name} reports a failure without saying why."),
        None => format!("{name} reports: {said}"),
    };
    AgentError {
        retry_after: retry_after(message).filter(|_| may_wait(class)),
        ..AgentError::new(class, text)
    }
}

/// Tells whether waiting helps against a failure of `class`.
pub(super) fn may_wait(class: ErrorClass) -> bool {
    matches!(
        class,
        ErrorClass::RateLimited | ErrorClass::Overloaded | ErrorClass::Server | ErrorClass::Credit
    )
}

/// Returns the error of a run that we ended for a reason that no answer can outweigh.
pub(super) fn forced_end(name: &str, end: &Ending<'_>) -> Option<AgentError> {
    let (class, message) = match &end.exit.ended {
        Ended::SpawnFailed { reason } => (
            ErrorClass::Setup,
            format!("{name} could not be started: {reason}."),
        ),
        Ended::OutputCap => (
            ErrorClass::Limit,
            format!("{name} wrote more output than is allowed and was ended."),
        ),
        Ended::Cancelled => (ErrorClass::Cancelled, format!("{name} was stopped.")),
        Ended::Exited
        | Ended::FirstByte
        | Ended::Idle
        | Ended::Wall
        | Ended::AfterResult
        | Ended::ParentGone => return None,
    };
    Some(AgentError::new(class, message))
}

/// Returns the error of a run that we ended before it had given its result.
pub(super) fn time_out(name: &str, end: &Ending<'_>) -> Option<AgentError> {
    let after = seconds(end.exit.wall_ms);
    let (class, message) = match &end.exit.ended {
        Ended::FirstByte => (
            ErrorClass::Hung,
            format!("{name} gave no sign of life and was ended after {after}."),
        ),
        Ended::Idle => (
            ErrorClass::Hung,
            format!("{name} fell silent and was ended after {after}."),
        ),
        Ended::Wall | Ended::AfterResult => (
            ErrorClass::Hung,
            format!("{name} did not finish in time and was ended after {after}."),
        ),
        Ended::ParentGone => (
            ErrorClass::Cancelled,
            format!("{name} was stopped because nobody waited for it any more."),
        ),
        Ended::Exited | Ended::OutputCap | Ended::Cancelled | Ended::SpawnFailed { .. } => {
            return None;
        }
    };
    Some(AgentError::new(class, message))
}

fn seconds(millis: u64) -> String {
    format!("{}.{} s", millis / 1000, millis % 1000 / 100)
}

/// Returns the error of a run whose answer is complete but whose exit says otherwise.
pub(super) fn spoiled_by_exit(name: &str, end: &Ending<'_>) -> Option<AgentError> {
    if end.exit.ended != Ended::Exited || end.exit.code == Some(0) {
        return None;
    }
    let message = format!("{name} gave an answer but then {}.", how_it_exited(end));
    Some(AgentError::new(ErrorClass::Crash, message))
}

/// Returns the error of a run that ended by itself and badly, without a report of its own.
///
/// `complaint` is the last thing the agent said on stdout about a failure; stderr stands in for it.
pub(super) fn broken_run(name: &str, end: &Ending<'_>, complaint: Option<&str>) -> AgentError {
    let message = complaint.unwrap_or(end.stderr);
    let class = class_of(None, message).unwrap_or(ErrorClass::Crash);
    let how = how_it_exited(end);
    let said = match complaint {
        Some(complaint) => said(complaint),
        None => telling_line(end.stderr),
    };
    let text = if said.is_empty() {
        format!("{name} {how} without saying why.")
    } else {
        format!("{name} {how}: {said}")
    };
    AgentError {
        retry_after: retry_after(message).filter(|_| may_wait(class)),
        ..AgentError::new(class, text)
    }
}

fn how_it_exited(end: &Ending<'_>) -> String {
    match (end.exit.code, end.exit.signal) {
        (Some(code), _) => format!("exited with code {code}"),
        (None, Some(signal)) => format!("died of signal {signal}"),
        (None, None) => "ended in an unknown way".to_owned(),
    }
}

/// Returns the line of stderr that most likely tells what went wrong.
fn telling_line(stderr: &str) -> String {
    let lines = || {
        stderr
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
    };
    let line = lines()
        .find(|line| line.to_ascii_lowercase().contains("error"))
        .or_else(|| lines().next_back())
        .unwrap_or_default();
    truncate_chars(line, LONGEST_MESSAGE).into_owned()
}

/// Returns a foreign message as part of ours; of a JSON body only what it says.
pub(super) fn said(message: &str) -> String {
    let from_json = || {
        let start = message.find('{')?;
        let body: serde_json::Value = serde_json::from_str(message.get(start..)?.trim()).ok()?;
        let error = body.get("error").unwrap_or(&body);
        let text = error.get("message").unwrap_or(error).as_str()?;
        Some(headline(text, LONGEST_MESSAGE).into_owned())
    };
    from_json().unwrap_or_else(|| headline(message, LONGEST_MESSAGE).into_owned())
}

fn by_text(message: &str) -> Option<ErrorClass> {
    let message = message.to_lowercase();
    // The same words mean a limit per minute when they come with a time to wait.
    if message.contains("exceeded your current quota") && retry_after(&message).is_none() {
        return Some(ErrorClass::Credit);
    }
    // An exhausted subscription is full of offers to buy credits, but renews itself.
    if message.contains("usage limit") {
        return Some(ErrorClass::RateLimited);
    }
    let found = |phrases: &[&str]| phrases.iter().any(|phrase| message.contains(phrase));
    PHRASES
        .iter()
        .find(|(_, phrases)| found(phrases))
        .map(|(class, _)| *class)
}

/// Returns the HTTP status that a message mentions as such.
fn status_in(message: &str) -> Option<u64> {
    const BEFORE: [&str; 6] = [
        "status code",
        "status",
        "api error:",
        "\"code\":",
        "statuscode\":",
        "http",
    ];
    let message = message.to_lowercase();
    let number_after = |(at, before): (usize, &str)| {
        let rest = message.get(at + before.len()..)?;
        let rest = rest.trim_start_matches([' ', ':', '=', '"', '(']);
        let digits = rest.split(|c: char| !c.is_ascii_digit()).next()?;
        let status = digits.parse().ok()?;
        (400..=599).contains(&status).then_some(status)
    };
    BEFORE
        .iter()
        .flat_map(|before| message.match_indices(before))
        .find_map(number_after)
}

/// Returns how long a message asks to wait.
pub(super) fn retry_after(message: &str) -> Option<Duration> {
    const BEFORE: [&str; 6] = [
        "retry in ",
        "try again in ",
        "retry after ",
        "retry-after: ",
        "retrydelay\":\"",
        "retrydelay\": \"",
    ];
    let message = message.to_lowercase().replace("\\\"", "\"");
    let wait_after = |(at, before): (usize, &str)| duration(message.get(at + before.len()..)?);
    BEFORE
        .iter()
        .flat_map(|before| message.match_indices(before))
        .find_map(wait_after)
        .or_else(|| until_epoch(&message))
}

/// Returns the wait of a `Retry-After` header: seconds or a date.
pub(super) fn retry_after_header(value: &str) -> Option<Duration> {
    let value = value.trim();
    let wait = match value.parse::<f64>() {
        Ok(seconds) => Duration::try_from_secs_f64(seconds).ok()?,
        Err(_) => httpdate::parse_http_date(value)
            .ok()?
            .duration_since(SystemTime::now())
            .unwrap_or(Duration::ZERO),
    };
    (wait <= LONGEST_WAIT).then_some(wait)
}

/// Returns the duration that `text` begins with, such as `12.5s`, `1m30s` or `3 days 4 hours`;
/// a bare number means seconds.
fn duration(text: &str) -> Option<Duration> {
    let mut seconds = 0.0;
    let mut rest = text.trim_start();
    let mut any = false;
    loop {
        let digits = rest
            .find(|c: char| !(c.is_ascii_digit() || c == '.'))
            .unwrap_or(rest.len());
        let (number, tail) = rest.split_at(digits);
        let Ok(number) = number.trim_end_matches('.').parse::<f64>() else {
            break;
        };
        let tail = tail.trim_start_matches(' ');
        let letters = tail
            .find(|c: char| !c.is_ascii_alphabetic())
            .unwrap_or(tail.len());
        let (unit, tail) = tail.split_at(letters);
        let factor = match unit {
            "ms" | "milliseconds" => 0.001,
            "m" | "min" | "minute" | "minutes" => 60.0,
            "h" | "hour" | "hours" => 3_600.0,
            "d" | "day" | "days" => 86_400.0,
            _ => 1.0,
        };
        seconds += number * factor;
        any = true;
        rest = tail.trim_start_matches(' ');
    }
    let wait = Duration::try_from_secs_f64(seconds).ok()?;
    (any && wait <= LONGEST_WAIT).then_some(wait)
}

/// Returns the time until the second since 1970 that stands after the bar in messages such as
/// `usage limit reached|1700000000`.
fn until_epoch(message: &str) -> Option<Duration> {
    let digits = message.split('|').nth(1)?.trim();
    let then = UNIX_EPOCH.checked_add(Duration::from_secs(digits.parse().ok()?))?;
    let wait = then.duration_since(SystemTime::now()).ok()?;
    (wait <= LONGEST_WAIT).then_some(wait)
}

#[cfg(test)]
#[path = "classify_tests.rs"]
mod tests;
