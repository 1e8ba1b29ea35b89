//! Settings of one agent.

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tribunal_agents::spec::{Api, Cli, family_of_tool, tool_named_by};
use tribunal_core::agent::{Access, Role, family_named, family_of};
use tribunal_core::ids::{AgentName, CaseId};

use super::command::{CommandLine, one_or_many, one_or_many_schema};
use super::values::{Size, Span, Temperature, Usd};

/// One entry of `agents`: who it is, how it is reached and what it may do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AgentSettings {
    /// Name of the agent, unique among all agents.
    pub name: AgentName,
    /// Program to start for each run: a known one (`claude`, `codex`, `gemini`, `opencode`) or any
    /// other that reads the prompt on stdin and answers on stdout. A text, split at spaces outside
    /// quotes, or a list; no shell is involved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<CommandLine>,
    /// Model API to call, or whose output format the command speaks when both are given; `sarif`
    /// is a linter that prints SARIF or JSON. `kind` is another name of this key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<Provider>,
    /// Model to ask for; the agent's own default when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// What the agent may be asked to do: one role or a list of roles.
    #[serde(default, alias = "roles", deserialize_with = "one_or_many")]
    #[schemars(schema_with = "one_or_many_schema::<Role>")]
    pub role: Vec<Role>,
    /// Fields of work the agent is meant for, such as `frontend` or `security`; one or a list.
    #[serde(
        default,
        alias = "domains",
        deserialize_with = "one_or_many",
        skip_serializing_if = "Vec::is_empty"
    )]
    #[schemars(schema_with = "one_or_many_schema::<String>")]
    pub domain: Vec<String>,
    /// When the arbiter should choose this agent, in a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when_to_use: Option<String>,
    /// What people call the agent; the arbiter reads it where `when_to_use` is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    /// Text added to every prompt for this agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// Model family for counting agreement; derived from the model's name when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub family: Option<String>,
    /// Whether the agent may change files: by default coders and contestants may, others not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub access: Option<Access>,
    /// Whose login a program uses: `isolated` gives it a home directory of its own, `user` lets it
    /// use yours, as subscriptions need. Linters use yours unless told otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub login: Option<LoginChoice>,
    /// Where the model API is, when not at the vendor's own address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// Name of the environment variable that holds the API key. The key itself never stands here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_key_env: Option<String>,
    /// Variables set for the program.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// Names of further variables that the program gets from our own environment.
    #[serde(
        default,
        deserialize_with = "one_or_many",
        skip_serializing_if = "Vec::is_empty"
    )]
    #[schemars(schema_with = "one_or_many_schema::<String>")]
    pub pass_env: Vec<String>,
    /// File with the replies of a `scripted` agent; relative to the project, or to this file's
    /// directory in the user's config.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub script: Option<PathBuf>,
    /// Recorded case that a `replay` agent answers from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub case: Option<CaseId>,
    /// What ends a run of this agent; what is absent comes from the common `limits`.
    #[serde(default, skip_serializing_if = "AgentLimits::is_empty")]
    pub limits: AgentLimits,
    /// Runs of this agent at the same time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1000))]
    pub concurrency: Option<u32>,
    /// What the model charges; without it the cost of an agent that does not tell is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<PriceSettings>,
    /// Longest answer to ask for, in tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub max_output_tokens: Option<u32>,
    /// Sampling temperature from 0 to 2, where the agent can be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<Temperature>,
    /// Money this agent may spend.
    #[serde(default, skip_serializing_if = "AgentBudget::is_empty")]
    pub budget: AgentBudget,
    /// Whether an empty report of a linter is an answer although nothing shows that it looked at any
    /// file.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub accept_empty: bool,
    /// Whether the agent takes part at all.
    #[serde(default = "enabled", skip_serializing_if = "is_enabled")]
    pub enabled: bool,
}

fn enabled() -> bool {
    true
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde calls it with a reference"
)]
fn is_enabled(enabled: &bool) -> bool {
    *enabled
}

impl AgentSettings {
    /// All keys of an agent.
    pub const KEYS: [&'static str; 26] = [
        "name",
        "command",
        "provider",
        "model",
        "role",
        "domain",
        "when_to_use",
        "display_name",
        "instructions",
        "family",
        "access",
        "login",
        "base_url",
        "api_key_env",
        "env",
        "pass_env",
        "script",
        "case",
        "limits",
        "concurrency",
        "price",
        "max_output_tokens",
        "temperature",
        "budget",
        "accept_empty",
        "enabled",
    ];

    /// Returns an agent with a name and nothing else.
    #[must_use]
    pub fn new(name: AgentName) -> Self {
        Self {
            name,
            command: None,
            provider: None,
            model: None,
            role: Vec::new(),
            domain: Vec::new(),
            when_to_use: None,
            display_name: None,
            instructions: None,
            family: None,
            access: None,
            login: None,
            base_url: None,
            api_key_env: None,
            env: BTreeMap::new(),
            pass_env: Vec::new(),
            script: None,
            case: None,
            limits: AgentLimits::default(),
            concurrency: None,
            price: None,
            max_output_tokens: None,
            temperature: None,
            budget: AgentBudget::default(),
            accept_empty: false,
            enabled: true,
        }
    }

    /// Returns what the arbiter reads about the agent: when to use it, else what it is called.
    #[must_use]
    pub fn recommendation(&self) -> Option<&str> {
        let words = self.when_to_use.as_deref().or(self.display_name.as_deref());
        words.filter(|words| !words.trim().is_empty())
    }

    /// Tells whether the agent may be asked to act as `role`.
    #[must_use]
    pub(crate) fn has_role(&self, role: Role) -> bool {
        self.role.contains(&role)
    }

    /// Returns whether the agent may change files when it acts as `role`.
    #[must_use]
    pub fn access_as(&self, role: Role) -> Access {
        self.access.unwrap_or(match role {
            Role::Coder | Role::Contestant => Access::Write,
            Role::Reviewer | Role::Judge | Role::Arbiter => Access::ReadOnly,
        })
    }

    /// Tells whether the agent is a linter or another tool that reports by itself: it takes no
    /// prompt, and its reply is for `tribunal_core::reply::read_tool_output`.
    #[must_use]
    pub fn is_tool(&self) -> bool {
        self.provider() == Some(Provider::Sarif)
    }

    /// Returns the name of the tool that the agent runs, if it is one.
    #[must_use]
    pub fn tool(&self) -> Option<String> {
        let command = self.command.as_ref().filter(|_| self.is_tool());
        command.map(|command| tool_named_by(command.argv()))
    }

    /// Returns the family of the agent: the configured one, else that of its tool or model.
    #[must_use]
    pub fn family(&self) -> String {
        let provider = self.provider().map_or("-", Provider::as_str);
        let derived = || match &self.command {
            Some(command) if self.is_tool() => family_of_tool(command.argv()),
            _ => family_of(provider, self.model.as_deref()),
        };
        self.family.as_deref().map_or_else(derived, family_named)
    }

    /// Returns how the agent is reached; nothing when neither a command nor a provider is named.
    #[must_use]
    pub fn provider(&self) -> Option<Provider> {
        let by_program = || self.command.as_ref().map(Provider::of_command);
        self.provider.or_else(by_program)
    }

    /// Returns the name under which the agent is parked: its provider's, or its own where everybody
    /// who is reached like it is somebody else.
    #[must_use]
    pub fn account(&self) -> String {
        let provider = self.provider().map_or("-", Provider::as_str);
        account_of(provider, &self.name)
    }
}

/// Returns the name under which an agent of this provider is parked. Programs that we know nothing
/// about have nothing in common but that.
pub(crate) fn account_of(provider: &str, agent: &AgentName) -> String {
    let is_own = [Provider::Custom, Provider::Sarif].map(Provider::as_str);
    match is_own.contains(&provider) {
        true => format!("{provider}:{agent}"),
        false => provider.to_owned(),
    }
}

/// Whose tool or API an agent uses.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Provider {
    /// Anthropic Messages API.
    Anthropic,
    /// OpenAI Responses API; `openai` is another name of it.
    #[serde(alias = "openai")]
    OpenaiResponses,
    /// OpenAI Chat Completions API, and the many servers compatible with it.
    OpenaiChat,
    /// Gemini API.
    GeminiApi,
    /// Replies from a file.
    Scripted,
    /// Replies from a recorded case.
    Replay,
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
    /// A linter or another tool that reports in SARIF or JSON; `linter` is another name of it.
    #[serde(alias = "linter")]
    Sarif,
}

/// The ways in which a provider is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// By starting a program.
    Command(Cli),
    /// By calling a model API.
    Http(Api),
    /// By reading a file of replies.
    Scripted,
    /// By reading a recorded case.
    Replay,
}

impl Provider {
    /// All providers.
    pub const ALL: [Self; 12] = [
        Self::Anthropic,
        Self::OpenaiResponses,
        Self::OpenaiChat,
        Self::GeminiApi,
        Self::Scripted,
        Self::Replay,
        Self::Claude,
        Self::Codex,
        Self::Gemini,
        Self::Opencode,
        Self::Custom,
        Self::Sarif,
    ];

    /// Returns the name used in config and records.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self.reach() {
            Reach::Command(cli) => cli.as_str(),
            Reach::Http(api) => api.as_str(),
            Reach::Scripted => "scripted",
            Reach::Replay => "replay",
        }
    }

    /// Returns how the provider is reached.
    #[must_use]
    pub fn reach(self) -> Reach {
        match self {
            Self::Anthropic => Reach::Http(Api::Anthropic),
            Self::OpenaiResponses => Reach::Http(Api::OpenaiResponses),
            Self::OpenaiChat => Reach::Http(Api::OpenaiChat),
            Self::GeminiApi => Reach::Http(Api::Gemini),
            Self::Scripted => Reach::Scripted,
            Self::Replay => Reach::Replay,
            Self::Claude => Reach::Command(Cli::Claude),
            Self::Codex => Reach::Command(Cli::Codex),
            Self::Gemini => Reach::Command(Cli::Gemini),
            Self::Opencode => Reach::Command(Cli::Opencode),
            Self::Custom => Reach::Command(Cli::Custom),
            Self::Sarif => Reach::Command(Cli::Linter),
        }
    }

    /// Returns the provider whose program `command` starts, by the program's file name.
    #[must_use]
    pub(crate) fn of_command(command: &CommandLine) -> Self {
        let file = std::path::Path::new(command.program()).file_stem();
        match file.and_then(|stem| stem.to_str()) {
            Some("claude") => Self::Claude,
            Some("codex") => Self::Codex,
            Some("gemini") => Self::Gemini,
            Some("opencode") => Self::Opencode,
            _ => Self::Custom,
        }
    }

    /// Returns the variable in which the provider's key is usually kept.
    #[must_use]
    pub fn usual_key_variable(self) -> Option<&'static str> {
        match self {
            Self::Anthropic | Self::Claude => Some("ANTHROPIC_API_KEY"),
            Self::OpenaiResponses | Self::OpenaiChat | Self::Codex => Some("OPENAI_API_KEY"),
            Self::GeminiApi | Self::Gemini => Some("GEMINI_API_KEY"),
            Self::Scripted | Self::Replay | Self::Opencode | Self::Custom | Self::Sarif => None,
        }
    }
}

/// Whose configuration and credentials a program uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LoginChoice {
    /// A home directory of its own: nothing of the user's configuration is seen.
    #[default]
    Isolated,
    /// The user's own home directory, for subscription logins.
    User,
}

/// What ends a run of one agent; what is absent comes from the common limits.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AgentLimits {
    /// Time until the first byte of output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_byte: Option<Span>,
    /// Longest time without output, once there was some.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle: Option<Span>,
    /// Longest time in all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wall: Option<Span>,
    /// Time to exit once the result was seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after_result: Option<Span>,
    /// Output that is kept; more ends the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<Size>,
}

impl AgentLimits {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// What a model charges, in US dollars per million tokens.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PriceSettings {
    /// Fresh input tokens.
    pub input: Usd,
    /// Output tokens.
    pub output: Usd,
    /// Input tokens read from a cache; as fresh ones when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_read: Option<Usd>,
    /// Input tokens written to a cache; as fresh ones when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_write: Option<Usd>,
}

/// Money one agent may spend.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AgentBudget {
    /// Most that the agent may spend in one case, in US dollars.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_cost: Option<Usd>,
}

impl AgentBudget {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
