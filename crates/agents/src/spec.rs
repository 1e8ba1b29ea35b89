//! How a configured agent is reached: the typed form of one entry of the config's `agents` list.

use std::collections::BTreeMap;
use std::path::PathBuf;

use tribunal_core::agent::{family_named, family_of};
use tribunal_core::ids::AgentName;
use tribunal_core::reply::{family_of_tool_named, tool_name};
use tribunal_core::secret::Secret;

use crate::Profile;
use crate::sandbox::SandboxSpec;

/// Everything needed to build an [`Agent`](crate::Agent).
#[derive(Debug, Clone)]
pub struct AgentSpec {
    /// Its name.
    pub name: AgentName,
    /// How it is reached.
    pub backend: Backend,
    /// The model it is told to use.
    pub model: Option<String>,
    /// Its family, where the config overrides the derived one.
    pub family: Option<String>,
}

/// The ways to reach an agent.
#[derive(Debug, Clone)]
pub enum Backend {
    /// A program that is started for each run.
    Command(CommandSpec),
    /// A model API.
    Http(HttpSpec),
    /// Replies from a file.
    Scripted {
        /// The file.
        script: PathBuf,
    },
    /// Replies from recorded runs.
    Replay {
        /// What was asked and answered.
        recordings: Vec<Recording>,
    },
}

/// A program that is started for each run.
#[derive(Debug, Clone)]
pub struct CommandSpec {
    /// Whose output format it speaks.
    pub cli: Cli,
    /// Program and leading arguments; the program is looked up in `PATH` when it has no slash.
    pub argv: Vec<String>,
    /// Variables set for it, on top of the allow-list.
    pub env: BTreeMap<String, String>,
    /// Names of further variables passed on from our own environment.
    pub pass_env: Vec<String>,
    /// Whose configuration and login it uses.
    pub login: Login,
    /// Directory of its own that stands in for the home directory when the login is isolated.
    pub home: PathBuf,
    /// Where its model API is, when not the vendor's default.
    pub base_url: Option<String>,
    /// The key for that API; handed over under the variable name that the program expects.
    pub api_key: Option<Secret>,
    /// The program that supervises the process: our own executable.
    pub supervisor: PathBuf,
    /// What it may reach when it is confined.
    pub sandbox: Box<SandboxSpec>,
}

/// The command-line agents whose output we can read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cli {
    /// Claude Code.
    Claude,
    /// Codex.
    Codex,
    /// Gemini CLI.
    Gemini,
    /// opencode.
    Opencode,
    /// Any other program: prompt on stdin, answer on stdout.
    Custom,
    /// A linter or another analysis tool: no prompt, a report on stdout or in a file.
    Linter,
}

impl Cli {
    /// The agents with a name of their own.
    pub const KNOWN: [Self; 4] = [Self::Claude, Self::Codex, Self::Gemini, Self::Opencode];

    /// Returns the name used in config and as the provider in records.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Opencode => "opencode",
            Self::Custom => "custom",
            Self::Linter => "sarif",
        }
    }
}

/// Whose configuration and credentials a program uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Login {
    /// A home directory of its own: nothing of the user's configuration is seen.
    #[default]
    Isolated,
    /// The user's own home directory, for subscription logins.
    User,
}

/// A model API.
#[derive(Debug, Clone)]
pub struct HttpSpec {
    /// Its dialect.
    pub api: Api,
    /// Where it is; the vendor's default when absent.
    pub base_url: Option<String>,
    /// The key, sent to that host only.
    pub api_key: Option<Secret>,
}

/// The dialects of model APIs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Api {
    /// Anthropic Messages.
    Anthropic,
    /// OpenAI Responses.
    OpenaiResponses,
    /// OpenAI Chat Completions, and the many servers compatible with it.
    OpenaiChat,
    /// Gemini `generateContent`.
    Gemini,
}

impl Api {
    /// All dialects.
    pub const ALL: [Self; 4] = [
        Self::Anthropic,
        Self::OpenaiResponses,
        Self::OpenaiChat,
        Self::Gemini,
    ];

    /// Returns the name used in config and as the provider in records.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::OpenaiResponses => "openai_responses",
            Self::OpenaiChat => "openai_chat",
            Self::Gemini => "gemini_api",
        }
    }
}

/// A recorded question and its answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Recording {
    /// The agent that was asked.
    pub agent: AgentName,
    /// The step of the case for which it was asked.
    pub step: String,
    /// The prompt, whole.
    pub prompt: String,
    /// What came back.
    pub result: Result<crate::Reply, crate::AgentError>,
}

/// Returns the family of the tool that `argv` starts. No model shares it.
#[must_use]
pub fn family_of_tool(argv: &[String]) -> String {
    family_of_tool_named(&tool_named_by(argv))
}

/// Returns the name of the tool that `argv` starts, such as `clippy` for `cargo clippy`.
#[must_use]
pub fn tool_named_by(argv: &[String]) -> String {
    tool_name(&crate::tool::name_of(argv))
}

impl AgentSpec {
    /// Returns who the agent is.
    #[must_use]
    pub fn profile(&self) -> Profile {
        let provider = match &self.backend {
            Backend::Command(command) => command.cli.as_str(),
            Backend::Http(http) => http.api.as_str(),
            Backend::Scripted { .. } => "scripted",
            Backend::Replay { .. } => "replay",
        };
        let derived = || match &self.backend {
            Backend::Command(command) if command.cli == Cli::Linter => {
                family_of_tool(&command.argv)
            }
            _ => family_of(provider, self.model.as_deref()),
        };
        let family = self.family.as_deref().map_or_else(derived, family_named);
        Profile {
            name: self.name.clone(),
            provider: provider.to_owned(),
            model: self.model.clone(),
            family,
        }
    }
}
