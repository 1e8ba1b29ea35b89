//! Drives coding agents and model APIs: prompt in, reply out, progress on the way.
//!
//! This crate hears of text, processes and HTTP; findings and disputes are others' business. An
//! [`Agent`] runs a [`Call`] once: trying again, budgets and records belong to the engine.

pub mod command;
pub mod http;
mod network;
pub mod replay;
pub mod sandbox;
pub mod scripted;
pub mod spec;
mod tool;

use std::path::PathBuf;
use std::time::Duration;

use async_trait::async_trait;
use thiserror::Error;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tribunal_core::agent::{Access, ErrorClass};
use tribunal_core::ids::{AgentName, RunId};
use tribunal_core::money::{Cost, MicroUsd, Usage};
use tribunal_core::sandbox::{NetworkChoice, SandboxDemand, SandboxRecord};

/// Something that answers prompts.
#[async_trait]
pub trait Agent: Send + Sync {
    /// Returns who this is.
    fn profile(&self) -> &Profile;

    /// Runs `call` once and returns its answer.
    ///
    /// Returns only after everything the run started is gone. Cancelling ends the run early with
    /// [`ErrorClass::Cancelled`].
    async fn run(
        &self,
        call: Call,
        progress: Progress,
        cancel: CancellationToken,
    ) -> Result<Reply, AgentError>;

    /// Runs `call` for a step of a case. Only an agent that answers from a record needs to know which
    /// step it is: tools are called with the same empty prompt for every step.
    async fn run_step(
        &self,
        _step: &str,
        call: Call,
        progress: Progress,
        cancel: CancellationToken,
    ) -> Result<Reply, AgentError> {
        self.run(call, progress, cancel).await
    }

    /// Tells whether the agent looks at the directory of a call, which must then exist.
    fn works_in_directory(&self) -> bool {
        false
    }

    /// Tells whether the agent answers prompts. A tool that reports by itself does not: it is
    /// called with an empty prompt, and its reply is for `tribunal_core::reply::read_tool_output`.
    fn takes_prompt(&self) -> bool {
        true
    }

    /// Tells whether replies that come from a file say that they cost something, as those of a model
    /// would; budgets count them then.
    async fn states_a_cost(&self) -> bool {
        false
    }

    /// Returns what will hold the program of a run, or why it must not start; nothing where no program is
    /// started.
    fn sandbox_record(
        &self,
        _demand: SandboxDemand,
        _network: NetworkChoice,
    ) -> Option<Result<SandboxRecord, String>> {
        None
    }

    /// Returns a text that is another one when another program would be started, or the same one
    /// with other words; nothing where no program is.
    fn stamp(&self) -> Option<String> {
        None
    }

    /// Returns the version of the program behind the agent, or why it cannot be had.
    async fn version(&self) -> Result<Option<String>, AgentError> {
        Ok(None)
    }

    /// Returns what can be seen of the agent's login without asking a model.
    async fn login_state(&self) -> LoginState {
        LoginState::NotNeeded
    }

    /// Reads the answer of a run whose files are complete although nobody waited for its end.
    ///
    /// Returns nothing when the files in `call.run_dir` do not hold a finished run.
    async fn recover(&self, _call: &Call) -> Option<Result<Reply, AgentError>> {
        None
    }
}

/// What can be seen of an agent's login without asking a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LoginState {
    /// There is a login or a key, and this is where it comes from.
    Found(String),
    /// There is none.
    Missing {
        /// What the user does about it.
        remedy: String,
    },
    /// It cannot be seen, for this reason.
    Unknown(String),
    /// The agent needs none.
    NotNeeded,
}

/// Who an agent is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profile {
    /// Its name in the config.
    pub name: AgentName,
    /// Whose tool or API it uses, such as `claude` or `openai_chat`.
    pub provider: String,
    /// The model it is told to use, if any.
    pub model: Option<String>,
    /// The family of that model.
    pub family: String,
}

/// One question to an agent.
#[derive(Debug, Clone)]
pub struct Call {
    /// The identity of the run; processes are marked with it.
    pub run: RunId,
    /// The prompt. It travels by stdin, file or body, never as an argument.
    pub prompt: String,
    /// Text for the system prompt, where the agent has one; put before the prompt otherwise.
    pub system: Option<String>,
    /// JSON schema that the answer shall follow, where the agent can be told.
    pub schema: Option<serde_json::Value>,
    /// Whether the agent may change files in `directory`.
    pub access: Access,
    /// How much the program shall be confined.
    pub sandbox: SandboxDemand,
    /// What the program shall reach over the network.
    pub network: NetworkChoice,
    /// Where the agent works.
    pub directory: PathBuf,
    /// Where the files of the run lie; exists and is private.
    pub run_dir: PathBuf,
    /// How long and how much it may run.
    pub limits: Limits,
    /// Most money the run may cost, where the agent can be told.
    pub max_cost: Option<MicroUsd>,
    /// Longest answer asked for, in tokens, where the agent can be told.
    pub max_output_tokens: Option<u32>,
    /// Sampling temperature in thousandths, where the agent can be told.
    pub temperature_milli: Option<u32>,
}

/// What ends a run that does not end itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Time until the first byte of output.
    pub first_byte: Duration,
    /// Longest time without output, once there was some.
    pub idle: Duration,
    /// Longest time in all.
    pub wall: Duration,
    /// Time to exit once the result was seen.
    pub after_result: Duration,
    /// Bytes of stdout, and of stderr, that are kept; more ends the run.
    pub output_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            first_byte: Duration::from_secs(180),
            idle: Duration::from_secs(300),
            wall: Duration::from_secs(1_800),
            after_result: Duration::from_secs(5),
            output_bytes: 64 * 1024 * 1024,
        }
    }
}

/// A usable answer.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Reply {
    /// The answer, never blank.
    pub text: String,
    /// The answer as JSON where a schema was given and the agent kept to it.
    pub structured: Option<serde_json::Value>,
    /// Tokens used.
    pub usage: Usage,
    /// What it cost, if the agent tells.
    pub cost: Cost,
    /// The agent's own session.
    pub session: Option<String>,
    /// The model that answered, where the agent tells.
    pub model: Option<String>,
    /// Version of the program, where the agent tells.
    pub version: Option<String>,
}

/// Why there is no usable answer, and what was used up all the same.
#[derive(Debug, Clone, PartialEq, Eq, Error, serde::Serialize, serde::Deserialize)]
#[error("{message}")]
pub struct AgentError {
    /// What kind of failure it was.
    pub class: ErrorClass,
    /// What happened, as one sentence for people.
    pub message: String,
    /// How long the provider asks to wait.
    pub retry_after: Option<Duration>,
    /// Tokens used in vain, as far as known.
    pub usage: Usage,
    /// Money spent in vain, if known.
    pub cost: Cost,
}

impl AgentError {
    /// Returns an error of `class` that used nothing we know of.
    #[must_use]
    pub fn new(class: ErrorClass, message: impl Into<String>) -> Self {
        Self {
            class,
            message: message.into(),
            retry_after: None,
            usage: Usage::default(),
            cost: Cost::Unknown,
        }
    }
}

/// What an agent lets us see while it runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentEvent {
    /// It has begun; what it says about itself.
    Started {
        /// Its own session.
        session: Option<String>,
        /// The model it uses.
        model: Option<String>,
    },
    /// A piece of the answer.
    Text(String),
    /// It uses a tool.
    ToolCall {
        /// The tool, as the agent names it.
        name: String,
    },
    /// Its client tries again on its own.
    ClientRetry {
        /// Why, as far as it tells.
        class: ErrorClass,
    },
    /// Tokens used so far.
    Usage(Usage),
}

/// Where an agent reports its progress. Reports are dropped, never waited for, when nobody reads.
#[derive(Debug, Clone, Default)]
pub struct Progress(Option<mpsc::Sender<AgentEvent>>);

impl Progress {
    /// Returns a progress that sends to `sender`.
    #[must_use]
    pub fn to(sender: mpsc::Sender<AgentEvent>) -> Self {
        Self(Some(sender))
    }

    /// Reports `event`.
    pub fn report(&self, event: AgentEvent) {
        if let Some(sender) = &self.0 {
            // A full channel means a slow reader: progress is best effort.
            let _ = sender.try_send(event);
        }
    }
}

/// Builds the agent that `spec` describes. Nothing is started or contacted yet.
pub fn build(spec: spec::AgentSpec) -> Result<Box<dyn Agent>, AgentError> {
    let profile = spec.profile();
    Ok(match spec.backend {
        spec::Backend::Command(command) => Box::new(command::CommandAgent::new(profile, command)),
        spec::Backend::Http(http) => Box::new(http::HttpAgent::new(profile, http)?),
        spec::Backend::Scripted { script } => {
            Box::new(scripted::ScriptedAgent::new(profile, script))
        }
        spec::Backend::Replay { recordings } => {
            Box::new(replay::ReplayAgent::new(profile, recordings))
        }
    })
}
