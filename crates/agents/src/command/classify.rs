//! From statuses and messages to error classes.
//!
//! Providers and clients say the same thing in many words. The tables here hold those that were
//! met; a word is looked for only in messages that are known to be about a failure.

use tribunal_core::agent::ErrorClass;
use tribunal_core::text::headline;

use super::reader::LONGEST_MESSAGE;
use super::wait::retry_after;
use crate::AgentError;

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
            "exhausted your daily quota",
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
        ErrorClass::Truncated,
        &[
            "max_output_tokens",
            "output token maximum",
            "incomplete response returned",
            "without a finish reason",
        ],
    ),
    (ErrorClass::Empty, &["an empty response"]),
    (
        ErrorClass::Garbled,
        &[
            "json parse error",
            "json parsing failed",
            "incomplete json segment",
            "malformed response",
            "is not valid json",
            "utf8 error",
            "in json at position",
        ],
    ),
    // The clients' own clocks are set to our limit of silence.
    (
        ErrorClass::Hung,
        &["operation timed out", "request timed out"],
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
            "does not exist or you do not have access",
            "is not found for",
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

/// Returns a foreign message as part of ours; of a JSON body only what it says.
pub(super) fn said(message: &str) -> String {
    let from_json = || {
        let start = message.find('{')?;
        let mut values = serde_json::Deserializer::from_str(message.get(start..)?).into_iter();
        let body: serde_json::Value = values.next()?.ok()?;
        let error = body.get("error").unwrap_or(&body);
        let text = error.get("message").unwrap_or(error).as_str()?;
        Some(headline(text, LONGEST_MESSAGE).into_owned())
    };
    let plain = || {
        // That it is an error of an API is said anyway.
        let bare = message.trim_start_matches('[');
        let bare = bare.strip_prefix("API Error: ").unwrap_or(bare);
        let bare = headline(bare, LONGEST_MESSAGE);
        let unopened = !bare.contains('[');
        bare.strip_suffix(']')
            .filter(|_| unopened)
            .unwrap_or(&bare)
            .to_owned()
    };
    from_json().unwrap_or_else(plain)
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

#[cfg(test)]
#[path = "classify_tests.rs"]
mod tests;
