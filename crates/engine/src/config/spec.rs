//! From the settings of an agent to what the agents crate builds it from.

use std::collections::BTreeMap;
use std::path::PathBuf;

use thiserror::Error;
use tribunal_agents::sandbox::SandboxSpec;
use tribunal_agents::spec::{AgentSpec, Backend, Cli, CommandSpec, HttpSpec, Login, Recording};
use tribunal_core::ids::{AgentName, CaseId};
use tribunal_core::money::Price;
use tribunal_core::secret::Secret;

use super::agent::{AgentSettings, LoginChoice, PriceSettings, Provider, Reach};

/// What the settings do not hold but an agent needs.
#[derive(Debug, Clone, Default)]
pub struct SpecContext {
    /// Directory below which isolated agents have their homes.
    pub homes: PathBuf,
    /// The program that supervises processes: our own executable.
    pub supervisor: PathBuf,
    /// What programs may reach when they are confined.
    pub sandbox: SandboxSpec,
    /// The root of the project, which linters may read.
    pub project: Option<PathBuf>,
    /// The environment, for looking up keys.
    pub env: BTreeMap<String, String>,
    /// The file of replies for a scripted agent that names none.
    pub script: Option<PathBuf>,
    /// What was recorded, by case, for agents that replay.
    pub recordings: BTreeMap<CaseId, Vec<Recording>>,
}

impl SpecContext {
    /// Returns what a program may reach when it is confined. Linters find their settings and packages in
    /// the project; agents have a checkout of their own.
    pub(crate) fn sandbox_of(&self, cli: Cli) -> SandboxSpec {
        let mut sandbox = self.sandbox.clone();
        if cli == Cli::Linter {
            sandbox.readable.extend(self.project.clone());
        }
        sandbox
    }
}

/// Why an agent cannot be built from its settings.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SpecError {
    /// Neither a command nor a provider is named.
    #[error("the agent `{agent}` has neither a `command` nor a `provider`")]
    Unreachable {
        /// The agent.
        agent: AgentName,
    },
    /// The variable that shall hold the key is not set.
    #[error("the agent `{agent}` needs its key in the variable `{variable}`, which is not set")]
    NoKey {
        /// The agent.
        agent: AgentName,
        /// The variable.
        variable: String,
    },
    /// A scripted agent without a script.
    #[error("the agent `{agent}` needs a `script` to read its replies from")]
    NoScript {
        /// The agent.
        agent: AgentName,
    },
    /// A replaying agent whose case is not at hand.
    #[error("the agent `{agent}` replays a case that is not recorded here")]
    NoRecordings {
        /// The agent.
        agent: AgentName,
    },
}

impl AgentSettings {
    /// Returns what the agent is built from. Nothing is started or contacted.
    pub fn to_spec(&self, context: &SpecContext) -> Result<AgentSpec, SpecError> {
        let agent = || self.name.clone();
        let provider = self
            .provider()
            .ok_or_else(|| SpecError::Unreachable { agent: agent() })?;
        let backend = match provider.reach() {
            Reach::Command(cli) => {
                let argv = match &self.command {
                    Some(command) => command.argv().to_vec(),
                    None => vec![cli.as_str().to_owned()],
                };
                Backend::Command(CommandSpec {
                    cli,
                    argv,
                    env: self.env.clone(),
                    pass_env: self.pass_env.clone(),
                    login: self.login_as(cli).into(),
                    home: context.homes.join(self.name.as_str()),
                    base_url: self.base_url.clone(),
                    api_key: self.key(provider, context)?,
                    supervisor: context.supervisor.clone(),
                    sandbox: Box::new(context.sandbox_of(cli)),
                })
            }
            Reach::Http(api) => Backend::Http(HttpSpec {
                api,
                base_url: self.base_url.clone(),
                api_key: self.key(provider, context)?,
            }),
            Reach::Scripted => {
                let script = self.script.as_ref().or(context.script.as_ref());
                let script = script.ok_or_else(|| SpecError::NoScript { agent: agent() })?;
                Backend::Scripted {
                    script: script.clone(),
                }
            }
            Reach::Replay => {
                let recorded = self
                    .case
                    .as_ref()
                    .and_then(|case| context.recordings.get(case));
                let recorded =
                    recorded.ok_or_else(|| SpecError::NoRecordings { agent: agent() })?;
                Backend::Replay {
                    recordings: recorded.clone(),
                }
            }
        };
        Ok(AgentSpec {
            name: agent(),
            backend,
            model: self.model.clone(),
            family: self.family.clone(),
        })
    }

    /// Returns whose login the program uses. A linter finds its toolchain in the user's home.
    fn login_as(&self, cli: Cli) -> LoginChoice {
        let usual = match cli {
            Cli::Linter => LoginChoice::User,
            Cli::Claude | Cli::Codex | Cli::Gemini | Cli::Opencode | Cli::Custom => {
                LoginChoice::Isolated
            }
        };
        self.login.unwrap_or(usual)
    }

    /// Returns what the model charges, if the config says.
    #[must_use]
    pub fn price(&self) -> Option<Price> {
        self.price.as_ref().map(PriceSettings::to_price)
    }

    /// Looks up the key. A variable that the config names must be set. The usual one may be
    /// missing: a program may have a login, and a server of one's own may want no key. It belongs
    /// to the vendor, so it is not sent to another address.
    fn key(&self, provider: Provider, context: &SpecContext) -> Result<Option<Secret>, SpecError> {
        let value = |variable: &str| {
            let value = context.env.get(variable).filter(|value| !value.is_empty());
            value.map(Secret::new)
        };
        match &self.api_key_env {
            Some(variable) => match value(variable) {
                Some(key) => Ok(Some(key)),
                None => Err(SpecError::NoKey {
                    agent: self.name.clone(),
                    variable: variable.clone(),
                }),
            },
            None if self.base_url.is_some() => Ok(None),
            None => Ok(provider.usual_key_variable().and_then(value)),
        }
    }
}

impl PriceSettings {
    /// Returns the price in the unit of records.
    #[must_use]
    pub(crate) fn to_price(&self) -> Price {
        Price {
            input: self.input.0,
            cache_read: self.cache_read.unwrap_or(self.input).0,
            cache_write: self.cache_write.unwrap_or(self.input).0,
            output: self.output.0,
        }
    }
}

impl From<LoginChoice> for Login {
    fn from(choice: LoginChoice) -> Self {
        match choice {
            LoginChoice::Isolated => Self::Isolated,
            LoginChoice::User => Self::User,
        }
    }
}
