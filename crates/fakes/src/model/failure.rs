//! Errors in the words of each vendor.

use serde_json::{Value, json};

use super::call::Dialect;

/// What goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Failure {
    BadRequest,
    Unauthorized,
    /// A wrong key as the vendor really reports it; Gemini says 400.
    BadKey,
    Forbidden,
    NotFound,
    /// Status 413 with the vendor's words for a prompt that is too long.
    TooLarge,
    /// A prompt beyond the context window as the vendor really reports it, which is a 400.
    ContextTooLong,
    RateLimited,
    NoCredit,
    Server,
    Unavailable,
    Overloaded,
}

impl Failure {
    /// Returns the HTTP status.
    pub(crate) fn status(self, dialect: Dialect) -> u16 {
        match (self, dialect) {
            (Self::BadRequest | Self::ContextTooLong, _) => 400,
            (Self::BadKey, Dialect::Gemini) | (Self::NoCredit, Dialect::Anthropic) => 400,
            (Self::Unauthorized | Self::BadKey, _) => 401,
            (Self::Forbidden, _) => 403,
            (Self::NotFound, _) => 404,
            (Self::TooLarge, _) => 413,
            (Self::RateLimited | Self::NoCredit, _) => 429,
            (Self::Server, _) => 500,
            (Self::Unavailable, _) => 503,
            (Self::Overloaded, _) => 529,
        }
    }

    /// Returns the JSON body.
    pub(crate) fn body(self, dialect: Dialect, retry_seconds: Option<u64>) -> Value {
        match dialect {
            Dialect::Anthropic => self.anthropic(),
            Dialect::Responses | Dialect::Chat => self.openai(),
            Dialect::Gemini => self.gemini(retry_seconds),
        }
    }

    fn anthropic(self) -> Value {
        let (kind, message) = match self {
            Self::BadRequest => ("invalid_request_error", "max_tokens: Field required (fake)"),
            Self::Unauthorized | Self::BadKey => ("authentication_error", "invalid x-api-key"),
            Self::Forbidden => (
                "permission_error",
                "Your API key does not have permission to use the specified resource",
            ),
            Self::NotFound => ("not_found_error", "model: fake-model"),
            Self::TooLarge => (
                "request_too_large",
                "prompt is too long: 215000 tokens > 200000 maximum",
            ),
            Self::ContextTooLong => (
                "invalid_request_error",
                "prompt is too long: 215000 tokens > 200000 maximum",
            ),
            Self::RateLimited => (
                "rate_limit_error",
                "This request would exceed your organization's rate limit (fake)",
            ),
            Self::NoCredit => (
                "invalid_request_error",
                "Your credit balance is too low to access the Anthropic API. \
                 Please go to Plans & Billing to upgrade or purchase credits.",
            ),
            Self::Server => ("api_error", "Internal server error"),
            Self::Unavailable | Self::Overloaded => ("overloaded_error", "Overloaded"),
        };
        json!({"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_fake"})
    }

    fn openai(self) -> Value {
        let (kind, code, message) = match self {
            Self::BadRequest => (
                "invalid_request_error",
                "invalid_value",
                "Invalid value for 'input' (fake)",
            ),
            Self::Unauthorized | Self::BadKey => (
                "invalid_request_error",
                "invalid_api_key",
                "Incorrect API key provided: x.",
            ),
            Self::Forbidden => (
                "invalid_request_error",
                "unsupported_country_region_territory",
                "Country, region, or territory not supported",
            ),
            Self::NotFound => (
                "invalid_request_error",
                "model_not_found",
                "The model `fake-model` does not exist or you do not have access to it.",
            ),
            Self::TooLarge | Self::ContextTooLong => (
                "invalid_request_error",
                "context_length_exceeded",
                "This model's maximum context length is 128000 tokens. However, your messages \
                 resulted in 215000 tokens. Please reduce the length of the messages.",
            ),
            Self::RateLimited => (
                "tokens",
                "rate_limit_exceeded",
                "Rate limit reached for fake-model on tokens per min (TPM): Limit 30000. \
                 Please try again in 1s.",
            ),
            Self::NoCredit => (
                "insufficient_quota",
                "insufficient_quota",
                "You exceeded your current quota, please check your plan and billing details.",
            ),
            Self::Server => (
                "server_error",
                "server_error",
                "The server had an error while processing your request.",
            ),
            Self::Unavailable | Self::Overloaded => (
                "service_unavailable_error",
                "server_is_overloaded",
                "The engine is currently overloaded",
            ),
        };
        json!({"error": {"message": message, "type": kind, "param": null, "code": code}})
    }

    fn gemini(self, retry_seconds: Option<u64>) -> Value {
        let (status, message) = match self {
            Self::BadRequest => ("INVALID_ARGUMENT", "Invalid JSON payload received (fake)"),
            Self::BadKey => (
                "INVALID_ARGUMENT",
                "API key not valid. Please pass a valid API key.",
            ),
            Self::Unauthorized => (
                "UNAUTHENTICATED",
                "Request had invalid authentication credentials.",
            ),
            Self::Forbidden => (
                "PERMISSION_DENIED",
                "Your API key was reported as leaked (fake)",
            ),
            Self::NotFound => (
                "NOT_FOUND",
                "models/fake-model is not found for API version v1beta",
            ),
            Self::TooLarge | Self::ContextTooLong => (
                "INVALID_ARGUMENT",
                "The input token count (1300000) exceeds the maximum number of tokens allowed (1048576).",
            ),
            Self::RateLimited => (
                "RESOURCE_EXHAUSTED",
                "Resource has been exhausted (e.g. check quota).",
            ),
            Self::NoCredit => (
                "RESOURCE_EXHAUSTED",
                "You exceeded your current quota, please check your plan and billing details.",
            ),
            Self::Server => ("INTERNAL", "An internal error has occurred."),
            Self::Unavailable | Self::Overloaded => (
                "UNAVAILABLE",
                "The model is overloaded. Please try again later.",
            ),
        };
        let mut error =
            json!({"code": self.status(Dialect::Gemini), "message": message, "status": status});
        if let Some(detail) = self.gemini_detail(retry_seconds) {
            error["details"] = json!([detail]);
        }
        json!({"error": error})
    }

    fn gemini_detail(self, retry_seconds: Option<u64>) -> Option<Value> {
        const PREFIX: &str = "type.googleapis.com/google.rpc.";
        match (self, retry_seconds) {
            (Self::BadKey, _) => Some(json!({
                "@type": format!("{PREFIX}ErrorInfo"), "reason": "API_KEY_INVALID",
                "domain": "googleapis.com",
            })),
            (Self::NoCredit, _) => Some(json!({
                "@type": format!("{PREFIX}QuotaFailure"),
                "violations": [{"quotaId": "GenerateRequestsPerDayPerProjectPerModel"}],
            })),
            (Self::RateLimited, Some(seconds)) => Some(
                json!({"@type": format!("{PREFIX}RetryInfo"), "retryDelay": format!("{seconds}s")}),
            ),
            _ => None,
        }
    }
}
