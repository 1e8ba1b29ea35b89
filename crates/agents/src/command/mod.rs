//! Agents that are programs: started for each run, watched by a supervisor, read from files.
//!
//! A run goes through these hands: an adapter per program makes a `plan` of how to call it; the
//! `spawner` starts our own executable as the supervisor ([`supervise_main`]), which starts the
//! agent by way of [`exec_main`], enforces the limits and leaves no process behind; meanwhile `run`
//! tails the output, and a `reader` makes a reply of it.
//!
//! Files of a run, all private: `prompt.txt` (until it ends), `stdout`, `stderr`, `exit.json` (how
//! it ended, written last), `supervisor.log`, and what a program needs beside, such as
//! `schema.json`. Keys are in none of them: they travel to the supervisor by pipe and to the agent
//! in its environment.

mod classify;
mod claude;
mod codex;
mod confinement;
mod custom;
mod endings;
mod environment;
mod exit;
mod files;
mod gemini;
mod linter;
mod locate;
mod login;
mod opencode;
mod order;
mod plan;
mod privacy;
mod reader;
mod run;
mod short_question;
mod spawner;
mod stage;
mod supervise;
mod sweep;
mod tail;
mod version;
mod wait;
mod watch;
mod whole;

use std::fs::File;

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;
use tribunal_core::sandbox::{NetworkChoice, RefusedConnection, SandboxDemand, SandboxRecord};
use tribunal_core::secret::Redactor;

use crate::sandbox::SandboxAbility;
use crate::spec::{Cli, CommandSpec};
use crate::{Agent, AgentError, Call, LoginState, Profile, Progress, Reply};

pub use crate::network::carrier_main;
pub use exit::{Ended, Exit};
pub use order::MARKER;
pub use privacy::keep_to_itself;
pub use reader::read_output;
pub use stage::exec_main;
pub use supervise::supervise_main;
pub use sweep::{marked_runs, sweep_marked};

/// Returns the end of what a run printed, stdout before stderr.
#[must_use]
pub fn last_output(run_dir: &std::path::Path) -> (String, String) {
    let words = |name| tail::last_words(&order::file(run_dir, name));
    (words(order::STDOUT_FILE), words(order::STDERR_FILE))
}

/// Returns how many processes were killed after the supervisor of a run had died, or nothing if it had not.
#[must_use]
pub fn killed_after_supervisor(run_dir: &std::path::Path) -> Option<u64> {
    let told = std::fs::read_to_string(order::file(run_dir, order::SUPERVISOR_DIED_FILE)).ok()?;
    Some(told.trim().parse().unwrap_or(0))
}

/// Returns what the program of a run asked the network for and did not get.
#[must_use]
pub fn refused_connections(run_dir: &std::path::Path) -> Vec<RefusedConnection> {
    Exit::read(run_dir).map_or_else(Vec::new, |exit| exit.refused)
}

/// An agent that is a program.
pub struct CommandAgent {
    profile: Profile,
    spec: CommandSpec,
    /// Our environment as it was when the agent was built.
    own: environment::Variables,
    redactor: Redactor,
}

impl CommandAgent {
    /// Returns the agent that `spec` describes. Nothing is started yet.
    #[must_use]
    pub fn new(profile: Profile, spec: CommandSpec) -> Self {
        let own = environment::own();
        let redactor = environment::redactor(&own, &spec);
        Self {
            profile,
            spec,
            own,
            redactor,
        }
    }

    /// Returns the program and the leading arguments of the config.
    fn program(&self) -> Result<Vec<String>, AgentError> {
        let path = locate::locate(&self.spec, self.own.get("PATH").map(String::as_str))?;
        let program = path.to_string_lossy().into_owned();
        let leading = self.spec.argv.iter().skip(1).cloned();
        Ok(std::iter::once(program).chain(leading).collect())
    }

    /// Returns what to ask for a version, or nothing when that might do anything.
    fn version_program(&self) -> Result<Option<Vec<String>>, AgentError> {
        match self.spec.cli {
            // Nobody knows what a program without a protocol does with arguments; that it is there
            // is all that can be told.
            Cli::Custom => self.program().map(|_| None),
            Cli::Linter => {
                let mut argv = self.program()?;
                let words = crate::tool::version_words(&self.spec.argv);
                argv.truncate(words.unwrap_or(0));
                Ok(words.map(|_| argv))
            }
            Cli::Claude | Cli::Codex | Cli::Gemini | Cli::Opencode => self.program().map(Some),
        }
    }

    /// Returns `result` with keys hidden and the version filled in where it is known.
    fn finished(&self, result: Result<Reply, AgentError>) -> Result<Reply, AgentError> {
        let silence = |error| linter::report_of_silence(&self.spec, &error).ok_or(error);
        match result.or_else(silence) {
            Ok(mut reply) => {
                if reply.version.is_none() {
                    let argv = self.version_program().ok().flatten();
                    reply.version = argv.and_then(|argv| version::known(&argv));
                }
                Ok(reply)
            }
            Err(mut error) => {
                if self.spec.cli == Cli::Linter {
                    error.cost = linter::COST;
                }
                error.message = self.redactor.redact(&error.message);
                Err(error)
            }
        }
    }
}

#[async_trait]
impl Agent for CommandAgent {
    fn profile(&self) -> &Profile {
        &self.profile
    }

    fn works_in_directory(&self) -> bool {
        true
    }

    fn takes_prompt(&self) -> bool {
        self.spec.cli != Cli::Linter
    }

    fn stamp(&self) -> Option<String> {
        let argv = self.program().ok()?;
        let words = argv.iter().map(|word| locate::stamp_of(word));
        Some(words.collect::<Vec<_>>().join("\n"))
    }

    async fn run(
        &self,
        call: Call,
        progress: Progress,
        cancel: CancellationToken,
    ) -> Result<Reply, AgentError> {
        self.finished(run::run(self, &call, &progress, &cancel).await)
    }

    fn sandbox_record(
        &self,
        demand: SandboxDemand,
        network: NetworkChoice,
    ) -> Option<Result<SandboxRecord, String>> {
        // Whoever wants none waits for no attempt.
        if demand == SandboxDemand::Off {
            return Some(Ok(SandboxRecord::of_nothing(None)));
        }
        let ability = SandboxAbility::of_this_machine(self.spec.sandbox.means);
        let (wish, _) = confinement::network_wish(self, network);
        Some(ability.meet(demand, &wish))
    }

    async fn version(&self) -> Result<Option<String>, AgentError> {
        let version = async {
            match self.version_program()? {
                Some(argv) => run::version(self, &argv).await.map(Some),
                None => Ok(None),
            }
        };
        version.await.map_err(|mut error| {
            error.message = self.redactor.redact(&error.message);
            error
        })
    }

    async fn login_state(&self) -> LoginState {
        match self.program() {
            Ok(argv) => run::login_state(self, &argv).await,
            Err(error) => LoginState::Unknown(self.redactor.redact(&error.message)),
        }
    }

    async fn recover(&self, call: &Call) -> Option<Result<Reply, AgentError>> {
        let exit = Exit::read(&call.run_dir)?;
        if exit.run != call.run.as_str() {
            return None;
        }
        let path = |name| order::file(&call.run_dir, name);
        let mut stdout = match linter::report_file(&self.spec) {
            Some(name) => linter::open_report(&path(name)).ok()?,
            None => File::open(path(order::STDOUT_FILE)).ok()?,
        };
        let stderr = tail::last_words(&path(order::STDERR_FILE));
        let schema = call.schema.as_ref();
        let result = read_output(self.spec.cli, &mut stdout, &stderr, &exit, schema);
        run::forget_input(&call.run_dir);
        match (&exit.ended, &result) {
            // Stopped half-way, through no fault of the agent: not a finished run.
            (Ended::Cancelled | Ended::ParentGone, Err(_)) => None,
            _ => Some(self.finished(result)),
        }
    }
}
