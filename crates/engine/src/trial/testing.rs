//! The project's own tests, run in a contestant's worktree as evidence for the judges.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tribunal_agents::command::{CommandAgent, Ended, Exit, last_output};
use tribunal_agents::spec::{Cli, CommandSpec, Login};
use tribunal_agents::{Agent, Call, Limits, Profile, Progress};
use tribunal_core::agent::Access;
use tribunal_core::ids::{AgentName, RunId};
use tribunal_core::sandbox::{NetworkChoice, SandboxDemand};
use tribunal_core::trial::Tested;

use crate::Engine;
use crate::case::{Case, CaseError};
use crate::config::{ConfinedRole, Settings, SpecContext};
use crate::files::create_private_dir;
use crate::stopping::interrupted;
use crate::watch::spoiled;

/// Characters of output that judges see.
const SHOWN: usize = 4_000;

/// What runs the project's tests: a program under the same supervision as an agent.
#[derive(Clone)]
pub(crate) struct TestCommand {
    /// The command for people.
    pub(super) shown: String,
    agent: Arc<dyn Agent>,
    limit: Duration,
    sandbox: SandboxDemand,
    network: NetworkChoice,
}

impl TestCommand {
    /// Returns the command of the settings, if there is one.
    pub(crate) fn of(settings: &Settings, context: &SpecContext) -> Option<Self> {
        let command = settings.project.test_command.as_ref()?;
        let profile = Profile {
            name: AgentName::new("project-tests").ok()?,
            provider: "project".to_owned(),
            model: None,
            family: "project".to_owned(),
        };
        let spec = CommandSpec {
            cli: Cli::Custom,
            argv: command.argv().to_vec(),
            env: std::collections::BTreeMap::new(),
            pass_env: Vec::new(),
            // Toolchains live in the home directory; without it hardly any project's tests run.
            login: Login::User,
            home: context.homes.join("project-tests"),
            base_url: None,
            api_key: None,
            supervisor: context.supervisor.clone(),
            sandbox: Box::new(context.sandbox_of(Cli::Linter)),
        };
        Some(Self {
            shown: command.argv().join(" "),
            agent: Arc::new(CommandAgent::new(profile, spec)),
            limit: settings.project.test_timeout.0,
            sandbox: settings.sandbox.demand(ConfinedRole::Tests),
            network: settings.sandbox.network(ConfinedRole::Tests),
        })
    }

    /// Runs it in `directory`; the files of the run lie in `run_dir`.
    pub(crate) async fn run(
        &self,
        engine: &Engine,
        case: &Case,
        directory: &Path,
        run_dir: &Path,
    ) -> Result<Tested, CaseError> {
        case.stop_switch().check()?;
        create_private_dir(run_dir).map_err(CaseError::file("make a directory for the tests"))?;
        let attendance = engine.watch.begin().await;
        let run = RunId::from_bits(crate::random_bits());
        let call = Call {
            run: run.clone(),
            prompt: String::new(),
            system: None,
            schema: None,
            access: Access::Write,
            sandbox: self.sandbox,
            network: self.network,
            directory: directory.to_owned(),
            run_dir: run_dir.to_owned(),
            limits: Limits {
                first_byte: self.limit,
                idle: self.limit,
                wall: self.limit,
                ..Limits::default()
            },
            max_cost: None,
            max_output_tokens: None,
            temperature_milli: None,
        };
        let ran = self
            .agent
            .run(call, Progress::default(), case.stop_switch().for_agents());
        let failed = ran.await.err();
        // Tests that ended with us say nothing about the work.
        if case.stop_switch().is_at_once() {
            return Err(interrupted());
        }
        let noticed = engine.watch.end(attendance).await;
        let who = "the test command";
        engine.note_disturbance(case, &run, who, &noticed).await?;
        let exit = Exit::read(run_dir);
        let (stdout, stderr) = last_output(run_dir);
        let passed = exit
            .as_ref()
            .is_some_and(|exit| exit.ended == Ended::Exited && exit.code == Some(0));
        let passed = passed && noticed.grave.is_empty();
        let ending = match (&exit, passed) {
            _ if !noticed.grave.is_empty() => {
                format!("It does not count: {}.", spoiled(&noticed))
            }
            (_, true) => "It passed (exit code 0).".to_owned(),
            (Some(exit), false) if exit.ended == Ended::Exited => match exit.code {
                Some(code) => format!("It failed (exit code {code})."),
                None => "It was ended by a signal.".to_owned(),
            },
            _ => format!(
                "It did not come to its end: {}",
                failed.map_or_else(|| "no reason is known".to_owned(), |error| error.message)
            ),
        };
        let printed = engine.redactor.redact(&format!("{stdout}\n{stderr}"));
        Ok(Tested {
            command: self.shown.clone(),
            passed,
            ending,
            output: last_chars(printed.trim(), SHOWN),
        })
    }
}

/// Returns the last `most` characters, beginning with `…` when something was cut.
fn last_chars(text: &str, most: usize) -> String {
    let count = text.chars().count();
    if count <= most {
        return text.to_owned();
    }
    let kept: String = text.chars().skip(count - most).collect();
    format!("…{kept}")
}
