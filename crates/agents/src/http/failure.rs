//! What went wrong: HTTP statuses, vendors' words and broken connections as error classes.

use std::error::Error;
use std::time::{Duration, SystemTime};

use reqwest::StatusCode;
use reqwest::header::HeaderMap;
use serde_json::Value;
use tribunal_core::agent::ErrorClass;
use tribunal_core::text::{headline, truncate_chars};

use super::endpoint::ForbiddenAddress;
use super::wait;
use crate::AgentError;
use crate::spec::Api;

/// An error as a vendor tells it, in lower case except for the message.
#[derive(Debug, Default, PartialEq, Eq)]
struct VendorError {
    /// Its type, status and code, joined by spaces.
    words: String,
    message: String,
    /// How long Gemini asks to wait.
    delay: Option<Duration>,
    /// Gemini's quotas that are used up.
    quotas: String,
}

/// Returns the error that a response of `status` with `headers` and `body` means.
pub(super) fn from_response(
    api: Api,
    status: StatusCode,
    headers: &HeaderMap,
    body: &str,
) -> AgentError {
    if status.is_redirection() {
        return redirected(status, headers);
    }
    let told = VendorError::parse(body);
    let code = status.as_u16();
    let class = classify(api, Some(code), told.as_ref());
    let name = api.as_str();
    let message = match &told {
        Some(told) => format!(
            "{name} answered {code}: {}",
            truncate_chars(&told.message, 400)
        ),
        // Proxies answer with pages of HTML, which nobody wants to read here.
        None if body.trim().is_empty() || body.trim_start().starts_with('<') => {
            format!("{name} answered {code} without saying why")
        }
        None => format!("{name} answered {code}: {}", headline(body, 200)),
    };
    let now = SystemTime::now();
    let asked = wait::retry_after(headers, now).max(told.and_then(|told| told.delay));
    let reset = || match class {
        ErrorClass::RateLimited => wait::rate_limit_reset(headers, now),
        _ => None,
    };
    AgentError {
        retry_after: asked.or_else(reset),
        ..AgentError::new(class, message)
    }
}

/// Returns the error that the event `data` in the middle of a response means.
pub(super) fn from_event(api: Api, data: &Value) -> AgentError {
    let told = VendorError::of(data).unwrap_or_default();
    let class = classify(api, None, Some(&told));
    let message = if told.message.is_empty() {
        "no reason given".to_owned()
    } else {
        truncate_chars(&told.message, 400).into_owned()
    };
    AgentError {
        retry_after: told.delay,
        ..AgentError::new(
            class,
            format!("{} broke off its answer: {message}", api.as_str()),
        )
    }
}

/// Returns the error that a document in place of an event stream means.
pub(super) fn from_document(api: Api, body: &str) -> AgentError {
    match VendorError::parse(body) {
        Some(told) if !told.words.is_empty() || !told.message.is_empty() => {
            let data = serde_json::from_str(body).unwrap_or(Value::Null);
            from_event(api, &data)
        }
        _ => AgentError::new(
            ErrorClass::Garbled,
            format!(
                "{} answered with a document instead of a stream of events",
                api.as_str()
            ),
        ),
    }
}

/// Returns the error that a failed request or a broken connection to `host` means.
pub(super) fn from_transport(host: &str, error: reqwest::Error) -> AgentError {
    // The URL is ours to name; its path may hold what a user would not expect in a message.
    let error = error.without_url();
    let mut deepest: &dyn Error = &error;
    while let Some(source) = deepest.source() {
        deepest = source;
    }
    if let Some(forbidden) = find::<ForbiddenAddress>(&error) {
        return AgentError::new(ErrorClass::Setup, forbidden.to_string());
    }
    let class = if error.is_builder() {
        ErrorClass::Setup
    } else {
        ErrorClass::Network
    };
    let what = if error.is_connect() {
        "failed"
    } else {
        "broke"
    };
    let why = truncate_chars(&deepest.to_string(), 300).into_owned();
    AgentError::new(class, format!("The connection to {host} {what}: {why}"))
}

fn find<'a, E: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a E> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref() {
            return Some(found);
        }
        next = error.source();
    }
    None
}

fn redirected(status: StatusCode, headers: &HeaderMap) -> AgentError {
    let target = headers
        .get(reqwest::header::LOCATION)
        .and_then(|location| location.to_str().ok())
        .and_then(|location| reqwest::Url::parse(location).ok())
        .and_then(|location| location.host_str().map(str::to_owned));
    let target = target.as_deref().unwrap_or("another path of the same host");
    let message = format!(
        "The server answered {} and points to {}; redirects are not followed, since the key \
         belongs to the configured host",
        status.as_u16(),
        truncate_chars(target, 200)
    );
    AgentError::new(ErrorClass::BadRequest, message)
}

/// Returns the class of an error; the vendor's words go before the status.
fn classify(api: Api, status: Option<u16>, told: Option<&VendorError>) -> ErrorClass {
    let empty = VendorError::default();
    let told = told.unwrap_or(&empty);
    let message = told.message.to_ascii_lowercase();
    let word = |words: &[&str]| told.words.split(' ').any(|word| words.contains(&word));
    let says = |phrases: &[&str]| phrases.iter().any(|phrase| message.contains(phrase));
    if is_credit(api, status, told, &message) {
        ErrorClass::Credit
    } else if word(&[
        "authentication_error",
        "permission_error",
        "invalid_api_key",
        "api_key_invalid",
    ]) || word(&["unauthenticated", "permission_denied"])
        || matches!(status, Some(401 | 403))
    {
        ErrorClass::Auth
    } else if status == Some(413)
        || word(&[
            "request_too_large",
            "context_length_exceeded",
            "exceed_context_size_error",
        ])
        || word(&["string_above_max_length"])
        || says(TOO_LONG)
        || says(&["input token count"]) && says(&["exceeds the maximum"])
    {
        ErrorClass::ContextTooLong
    } else if word(&[
        "content_policy_violation",
        "content_filter",
        "invalid_prompt",
    ]) {
        ErrorClass::Refused
    } else if status == Some(429)
        || word(&[
            "rate_limit_error",
            "rate_limit_exceeded",
            "resource_exhausted",
            "429",
        ])
    {
        ErrorClass::RateLimited
    } else if matches!(status, Some(503 | 529))
        || word(&[
            "overloaded_error",
            "server_is_overloaded",
            "slow_down",
            "unavailable",
        ])
        || word(&["503", "529", "engine_overloaded"])
    {
        ErrorClass::Overloaded
    } else {
        by_status(status)
    }
}

/// The vendors' and local servers' phrases for a prompt that does not fit.
const TOO_LONG: &[&str] = &[
    "prompt is too long",
    "exceed context limit",
    "maximum context length",
    "exceeds the context window",
    "exceeds the available context size",
    "context length exceeded",
    // A single request beyond the limit per minute never gets through, however long one waits.
    "request too large for",
];

fn is_credit(api: Api, status: Option<u16>, told: &VendorError, message: &str) -> bool {
    const WORDS: [&str; 5] = [
        "insufficient_quota",
        "billing_error",
        "billing_hard_limit_reached",
        "billing_not_active",
        "insufficient_balance",
    ];
    let says = |phrases: &[&str]| phrases.iter().any(|phrase| message.contains(phrase));
    if status == Some(402) || told.words.split(' ').any(|word| WORDS.contains(&word)) {
        return true;
    }
    match api {
        Api::Anthropic => says(&["credit balance", "specified api usage limits"]),
        Api::OpenaiResponses | Api::OpenaiChat => says(&[
            "exceeded your current quota",
            "insufficient balance",
            "insufficient credits",
        ]),
        // Gemini uses the same words for a limit per minute, but then tells how long to wait.
        Api::Gemini => {
            told.quotas.contains("perday")
                || told.delay.is_none()
                    && says(&[
                        "exceeded your current quota",
                        "billing",
                        "credits are depleted",
                    ])
        }
    }
}

fn by_status(status: Option<u16>) -> ErrorClass {
    match status {
        Some(407) => ErrorClass::Setup,
        Some(408) => ErrorClass::Network,
        Some(400..=499) => ErrorClass::BadRequest,
        // A server that breaks off its own stream has failed inside, whatever it calls it.
        Some(500..=599) | None => ErrorClass::Server,
        Some(_) => ErrorClass::Garbled,
    }
}

impl VendorError {
    /// Reads the error in `body`, if it holds one.
    fn parse(body: &str) -> Option<Self> {
        Self::of(&serde_json::from_str(body).ok()?)
    }

    fn of(document: &Value) -> Option<Self> {
        // Gemini wraps its errors into a list when the stream was to be one.
        let document = document.get(0).unwrap_or(document);
        let error = match document.get("error") {
            Some(Value::Null) | None => document,
            Some(error) => error,
        };
        let text = |value: &Value, key: &str| match value.get(key) {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Number(number)) => number.to_string(),
            _ => String::new(),
        };
        let message = match error {
            Value::String(message) => message.clone(),
            error => {
                let message = text(error, "message");
                if message.is_empty() {
                    text(error, "detail")
                } else {
                    message
                }
            }
        };
        let details = error["details"].as_array().map_or(&[][..], Vec::as_slice);
        let detail = |key: &str| details.iter().find_map(|detail| detail.get(key));
        let reason = detail("reason").and_then(Value::as_str).unwrap_or("");
        let words = ["type", "status", "code"].map(|key| text(error, key));
        let words = format!("{} {reason}", words.join(" ")).to_ascii_lowercase();
        let words: Vec<&str> = words.split_whitespace().collect();
        if words.is_empty() && message.is_empty() {
            return None;
        }
        let quotas = detail("violations")
            .map(Value::to_string)
            .unwrap_or_default();
        Some(Self {
            words: words.join(" "),
            message,
            delay: detail("retryDelay")
                .and_then(Value::as_str)
                .and_then(wait::parse_duration),
            quotas: quotas.to_ascii_lowercase(),
        })
    }
}

#[cfg(test)]
#[path = "failure_tests.rs"]
mod tests;
