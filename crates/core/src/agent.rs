//! Who takes part: roles, providers, model families, and the ways in which a run can fail.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::word::shown_as_word;

/// What an agent may be asked to do.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Writes and changes code, answers findings.
    Coder,
    /// Reports findings, examines those of others, defends its own.
    Reviewer,
    /// Rules on disputes and scores contestants.
    Judge,
    /// Decides procedure: who works next, which judges sit.
    Arbiter,
    /// Answers the challenge of a trial.
    Contestant,
}

impl Role {
    /// All roles, in the order in which they are listed to users.
    pub const ALL: [Self; 5] = [
        Self::Coder,
        Self::Reviewer,
        Self::Judge,
        Self::Arbiter,
        Self::Contestant,
    ];

    /// Returns the word used in config, commands and the ledger.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Coder => "coder",
            Self::Reviewer => "reviewer",
            Self::Judge => "judge",
            Self::Arbiter => "arbiter",
            Self::Contestant => "contestant",
        }
    }
}

shown_as_word!(Role);

/// Whether a run may change files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    /// The agent reads and answers.
    #[default]
    ReadOnly,
    /// The agent may change files in its working directory.
    Write,
}

/// Why a run gave no usable answer. Classified before anything is counted or retried.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum ErrorClass {
    /// The program is missing, cannot be started, or is configured wrongly.
    Setup,
    /// The credentials are missing, wrong or expired.
    Auth,
    /// The account has no credit or quota left.
    Credit,
    /// Too many requests; the provider says to wait.
    RateLimited,
    /// The provider is overloaded.
    Overloaded,
    /// The provider failed inside.
    Server,
    /// The provider refused the request as malformed.
    BadRequest,
    /// The prompt does not fit into the model's context.
    ContextTooLong,
    /// The model declined to answer.
    Refused,
    /// The connection failed or broke.
    Network,
    /// The program died, or ended without saying how it went.
    Crash,
    /// Nothing came in time.
    Hung,
    /// The answer cannot be read, or its format is unknown.
    Garbled,
    /// The run ended well but said nothing.
    Empty,
    /// The answer stops in the middle.
    Truncated,
    /// A limit of turns, output or money ended the run.
    Limit,
    /// The agent was denied a permission that it needed.
    PermissionDenied,
    /// The user's repository changed while it ran, so nobody can rely on its answer.
    Tampered,
    /// We stopped the run.
    Cancelled,
}

impl ErrorClass {
    /// All classes, for tables and tests.
    pub const ALL: [Self; 19] = [
        Self::Setup,
        Self::Auth,
        Self::Credit,
        Self::RateLimited,
        Self::Overloaded,
        Self::Server,
        Self::BadRequest,
        Self::ContextTooLong,
        Self::Refused,
        Self::Network,
        Self::Crash,
        Self::Hung,
        Self::Garbled,
        Self::Empty,
        Self::Truncated,
        Self::Limit,
        Self::PermissionDenied,
        Self::Tampered,
        Self::Cancelled,
    ];

    /// Returns the word used in the ledger and in machine-readable output.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Setup => "setup",
            Self::Auth => "auth",
            Self::Credit => "credit",
            Self::RateLimited => "rate_limited",
            Self::Overloaded => "overloaded",
            Self::Server => "server",
            Self::BadRequest => "bad_request",
            Self::ContextTooLong => "context_too_long",
            Self::Refused => "refused",
            Self::Network => "network",
            Self::Crash => "crash",
            Self::Hung => "hung",
            Self::Garbled => "garbled",
            Self::Empty => "empty",
            Self::Truncated => "truncated",
            Self::Limit => "limit",
            Self::PermissionDenied => "permission_denied",
            Self::Tampered => "tampered",
            Self::Cancelled => "cancelled",
        }
    }
}

shown_as_word!(ErrorClass);

/// Returns the one spelling of the name of a family: neither the case nor blanks around it make
/// another voice.
#[must_use]
pub fn family_named(name: &str) -> String {
    name.trim().to_lowercase()
}

/// Returns the family of a model: whose training it shares. Agreement is counted by family.
///
/// The name of the model decides; the provider does when the name tells nothing. What nobody
/// knows is a family of its own, named after the provider, so that two unknown models of one
/// provider never count as independent.
#[must_use]
pub fn family_of(provider: &str, model: Option<&str>) -> String {
    const BY_WORD: [(&str, &[&str]); 12] = [
        (
            "anthropic",
            &["claude", "anthropic", "sonnet", "opus", "haiku"],
        ),
        ("openai", &["gpt", "codex", "openai", "o1", "o3", "o4"]),
        ("google", &["gemini", "gemma", "google"]),
        ("meta", &["llama", "meta"]),
        ("mistral", &["mistral", "mixtral", "codestral", "devstral"]),
        ("qwen", &["qwen", "qwq"]),
        ("deepseek", &["deepseek"]),
        ("xai", &["grok", "xai"]),
        ("moonshot", &["kimi", "moonshot"]),
        ("zhipu", &["glm", "zhipu"]),
        ("microsoft", &["phi"]),
        ("cohere", &["command-r", "cohere"]),
    ];
    let named = |text: &str| {
        let text = text.to_ascii_lowercase();
        let starts = |word: &&str| {
            text.split(['/', '-', ':', '_', '.', '@'])
                .any(|part| part.starts_with(*word))
                || text.contains(*word) && word.len() > 4
        };
        BY_WORD
            .iter()
            .find(|(_, words)| words.iter().any(starts))
            .map(|(family, _)| *family)
    };
    model
        .and_then(named)
        .or_else(|| named(provider))
        .unwrap_or(provider)
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn family_follows_the_model_then_the_provider() {
        for (provider, model, family) in [
            ("claude", None, "anthropic"),
            ("codex", Some("gpt-5.5"), "openai"),
            ("opencode", Some("anthropic/claude-sonnet-4-5"), "anthropic"),
            ("openai_chat", Some("qwen2.5-coder:7b"), "qwen"),
            ("openai_chat", Some("deepseek-r1-distill-llama-70b"), "meta"),
            ("openai_chat", Some("o3-mini"), "openai"),
            ("gemini", Some("gemini-2.5-pro"), "google"),
            ("custom", Some("house-model"), "custom"),
            ("builtin", None, "builtin"),
        ] {
            assert_eq!(family_of(provider, model), family, "{provider} {model:?}");
        }
    }

    #[test]
    fn class_words_are_those_of_serde() {
        for class in ErrorClass::ALL {
            let json = serde_json::to_string(&class).expect("a unit variant serializes");
            assert_eq!(json, format!("\"{class}\""));
        }
    }
}
