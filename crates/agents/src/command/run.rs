//! One run of a program from the side of the parent: prepare, start, tail, judge.

use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use nix::unistd::getpid;
use tokio_util::sync::CancellationToken;
use tribunal_core::agent::ErrorClass;

use super::environment::{Variables, environment};
use super::exit::{Ended, Exit};
use super::order::{self, Order, Word};
use super::plan::{self, Context, OwnSandbox, Plan};
use super::reader::{self, Ending, Reader};
use super::spawner::{Supervisor, sweep_after_dead_supervisors};
use super::sweep::sweep_marked;
use super::tail::{self, Tail};
use super::{CommandAgent, confinement, files, linter, login, version};
use crate::spec::Login;
use crate::{AgentError, Call, LoginState, Progress, Reply};

/// Time between two looks at the output.
const TICK: Duration = Duration::from_millis(20);

/// Time between two looks at stderr.
const OVERHEAR: Duration = Duration::from_millis(300);

/// Time beyond all limits after which a supervisor is taken to be stuck.
const STUCK: Duration = Duration::from_secs(20);

/// Runs `call` once.
pub(super) async fn run(
    agent: &CommandAgent,
    call: &Call,
    progress: &Progress,
    cancel: &CancellationToken,
) -> Result<Reply, AgentError> {
    if cancel.is_cancelled() {
        let message = "The run was cancelled before it began.";
        return Err(AgentError::new(ErrorClass::Cancelled, message));
    }
    let order = prepare(agent, call)?;
    let supervisor = Supervisor::start(agent.spec.supervisor.clone(), &order)
        .await
        .map_err(|error| {
            let message = format!("The supervisor could not be started: {error}.");
            AgentError::new(ErrorClass::Setup, message)
        })?;
    drop(order);
    let watched = Watched {
        call,
        supervisor,
        reader: reader::reader(agent.spec.cli),
        report: linter::report_file(&agent.spec),
        tail: Tail::new(),
        overheard: Instant::now(),
        result_told: false,
        runaway: None,
    };
    let result = watched.follow(progress, cancel).await;
    forget_input(&call.run_dir);
    result
}

/// Removes what only the program needed: its stdin, of which the caller keeps the prompt, and its
/// temporary files.
pub(super) fn forget_input(run_dir: &Path) {
    // What stays behind takes up room and nothing else.
    let _ = files::remove(&order::file(run_dir, order::PROMPT_FILE));
    let _ = std::fs::remove_dir_all(order::file(run_dir, order::TEMPORARY_DIRECTORY));
}

/// Returns the version of the agent's program.
pub(super) async fn version(agent: &CommandAgent, argv: &[String]) -> Result<String, AgentError> {
    let variables = variables_for_questions(agent);
    make_home(agent, &Plan::default()).map_err(|error| home_error(&agent.spec.home, &error))?;
    version::ask(argv, Path::new("/"), &variables).await
}

/// Returns what can be seen of the login of the agent's program.
pub(super) async fn login_state(agent: &CommandAgent, argv: &[String]) -> LoginState {
    if let Err(error) = make_home(agent, &Plan::default()) {
        return LoginState::Unknown(home_error(&agent.spec.home, &error).message);
    }
    login::state(&agent.spec, argv, &variables_for_questions(agent)).await
}

/// Returns the environment of a program that is asked about itself.
fn variables_for_questions(agent: &CommandAgent) -> Variables {
    // A mark of its own: nobody looks for it, but that of an outer run would be wrong.
    let run = tribunal_core::ids::RunId::from_bits(0);
    let planned = linter::settings(agent.spec.cli);
    environment(&agent.own, &agent.spec, &planned, &run)
}

/// Writes the files of the run and returns the order for the supervisor.
fn prepare(agent: &CommandAgent, call: &Call) -> Result<Order, AgentError> {
    let spec = &agent.spec;
    let mut argv = agent.program()?;
    let ability = confinement::ability_for(agent, call)?;
    let mut plan = plan::plan(&Context {
        spec,
        model: agent.profile.model.as_deref(),
        call,
        own_sandbox: OwnSandbox::inside(ability.as_ref()),
    })?;
    confinement::adapt_plan(&mut plan, ability.as_ref(), call);
    if !call.directory.is_dir() {
        let directory = call.directory.display();
        let message = format!("The working directory `{directory}` does not exist.");
        return Err(AgentError::new(ErrorClass::Setup, message));
    }
    make_home(agent, &plan).map_err(|error| home_error(&spec.home, &error))?;
    write_files(call, &plan).map_err(|error| {
        let directory = call.run_dir.display();
        let message = format!("The files of the run cannot be written to `{directory}`: {error}.");
        AgentError::new(ErrorClass::Setup, message)
    })?;
    linter::fill_in(spec, &mut argv, &call.run_dir);
    argv.extend(plan.args.iter().cloned());
    let mut variables = environment(&agent.own, spec, &plan.env, &call.run);
    let confinement = confinement::confinement(ability, agent, call, &plan, &argv)?;
    if let Some(network) = &confinement.network {
        network.adapt(&mut variables);
    }
    Ok(Order {
        run: call.run.as_str().to_owned(),
        parent: getpid().as_raw(),
        argv,
        env: variables.into_iter().collect(),
        directory: call.directory.clone(),
        run_dir: call.run_dir.clone(),
        limits: call.limits.into(),
        cage: confinement.command,
        network: confinement.network,
        holds: confinement.holds,
    })
}

/// Makes sure that an isolated agent has its home, with what the plan puts there.
fn make_home(agent: &CommandAgent, plan: &Plan) -> io::Result<()> {
    let home = &agent.spec.home;
    match agent.spec.login {
        Login::User => Ok(()),
        Login::Isolated => {
            files::directory(home)?;
            let mut files = plan.home_files.iter();
            files.try_for_each(|(name, content)| files::keep(&home.join(name), content))
        }
    }
}

fn home_error(home: &Path, error: &io::Error) -> AgentError {
    let message = format!(
        "The agent's home `{}` cannot be made: {error}.",
        home.display()
    );
    AgentError::new(ErrorClass::Setup, message)
}

fn write_files(call: &Call, plan: &Plan) -> io::Result<()> {
    let path = |name| order::file(&call.run_dir, name);
    // An earlier attempt must not be taken for this one.
    for name in [
        order::EXIT_FILE,
        order::STDOUT_FILE,
        order::STDERR_FILE,
        order::OUTPUT_FILE,
        order::SUPERVISOR_DIED_FILE,
        // It may be another name of the prompt that was kept, which must not be emptied.
        order::PROMPT_FILE,
    ] {
        files::remove(&path(name))?;
    }
    if plan.has_temporary_directory {
        files::directory(&path(order::TEMPORARY_DIRECTORY))?;
    }
    write_input(call, &plan.stdin)?;
    for (name, content) in &plan.files {
        files::write(&path(name), content.as_bytes())?;
    }
    Ok(())
}

/// Lets the program read `stdin`. Where the same text was kept as the prompt it gets another name:
/// prompts are the largest files of a run, so they lie there once.
fn write_input(call: &Call, stdin: &str) -> io::Result<()> {
    let path = |name| order::file(&call.run_dir, name);
    let (kept, input) = (path(order::KEPT_PROMPT_FILE), path(order::PROMPT_FILE));
    let is_kept = std::fs::read(&kept).is_ok_and(|bytes| bytes == stdin.as_bytes());
    match is_kept && std::fs::hard_link(&kept, &input).is_ok() {
        true => Ok(()),
        // Another text, or a file system without links.
        false => files::write(&input, stdin.as_bytes()),
    }
}

/// A run that is under way.
struct Watched<'a> {
    call: &'a Call,
    supervisor: Supervisor,
    reader: Box<dyn Reader>,
    /// The file that holds the report, where stdout is not the evidence.
    report: Option<&'static str>,
    tail: Tail,
    /// When stderr was last looked at.
    overheard: Instant,
    /// The supervisor believes that the result was seen.
    result_told: bool,
    /// Why we ended the run although nobody asked for it.
    runaway: Option<AgentError>,
}

impl Watched<'_> {
    /// Follows the run to its end and returns what came of it.
    async fn follow(
        mut self,
        progress: &Progress,
        cancel: &CancellationToken,
    ) -> Result<Reply, AgentError> {
        let began = Instant::now();
        let patience = self.call.limits.wall.saturating_add(STUCK);
        let mut cancelled = false;
        loop {
            // Asked first: what was written before the end is then read for certain.
            let ended = self.supervisor.ended().is_ok_and(|status| status.is_some());
            let more = self.read(progress)?;
            self.watch_for_runaway();
            if ended && !more {
                break;
            }
            if began.elapsed() >= patience {
                self.supervisor.kill();
                break;
            }
            if cancel.is_cancelled() && !cancelled {
                cancelled = true;
                self.supervisor.say(Word::Cancel);
            }
            if more {
                tokio::task::yield_now().await;
                continue;
            }
            tokio::select! {
                () = tokio::time::sleep(TICK) => {}
                () = cancel.cancelled(), if !cancelled => {}
            }
        }
        self.judge().await
    }

    /// Reads a piece of the output, and tells whether there was one.
    fn read(&mut self, progress: &Progress) -> Result<bool, AgentError> {
        let path = order::file(&self.call.run_dir, order::STDOUT_FILE);
        let piece = self.tail.next(&path).map_err(|error| {
            let message = format!("The output of the run cannot be read: {error}.");
            AgentError::new(ErrorClass::Garbled, message)
        })?;
        if piece.is_empty() {
            return Ok(false);
        }
        if self.report.is_some() {
            return Ok(true);
        }
        for event in self.reader.feed(piece) {
            progress.report(event);
        }
        let seen = self.reader.result_seen();
        if seen != self.result_told {
            self.result_told = seen;
            let word = if seen { Word::Result } else { Word::More };
            self.supervisor.say(word);
        }
        Ok(true)
    }

    /// Ends a run that goes in circles.
    fn watch_for_runaway(&mut self) {
        if self.overheard.elapsed() >= OVERHEAR {
            self.overheard = Instant::now();
            let path = order::file(&self.call.run_dir, order::STDERR_FILE);
            self.reader.overhear(&tail::last_words(&path));
        }
        if self.runaway.is_none()
            && let Some(error) = self.reader.runaway()
        {
            self.runaway = Some(error);
            self.supervisor.say(Word::Cancel);
        }
    }

    async fn judge(mut self) -> Result<Reply, AgentError> {
        let run_dir = &self.call.run_dir;
        let Some(exit) = Exit::read(run_dir) else {
            return Err(self.abandoned().await);
        };
        if exit.left > 0 {
            tracing::warn!(
                run = exit.run,
                left = exit.left,
                "processes could not be killed"
            );
        }
        if self.tail.cut_back() && exit.ended != Ended::OutputCap {
            let message = "The program cut its own output back while it was being read.";
            return Err(AgentError::new(ErrorClass::Garbled, message));
        }
        if let Some(name) = self.report {
            linter::read_report(&order::file(run_dir, name), self.reader.as_mut());
        }
        let stderr = tail::last_words(&order::file(run_dir, order::STDERR_FILE));
        let result = self.reader.finish(&Ending {
            exit: &exit,
            stderr: &stderr,
            schema: self.call.schema.as_ref(),
        });
        match (result, self.runaway) {
            (Err(error), Some(runaway)) if error.class == ErrorClass::Cancelled => {
                Err(AgentError {
                    usage: error.usage,
                    cost: error.cost,
                    ..runaway
                })
            }
            (result, _) => result,
        }
    }

    /// Cleans up after a supervisor that died without doing so.
    async fn abandoned(&mut self) -> AgentError {
        let run = self.call.run.clone();
        // Looking through all processes takes a moment.
        let swept = tokio::task::spawn_blocking(move || sweep_marked(&run)).await;
        // What has shed the marker as well was left to us.
        let swept = swept.unwrap_or(0) + sweep_after_dead_supervisors().await;
        let note = format!("{swept}\n");
        let _ = files::write(
            &order::file(&self.call.run_dir, order::SUPERVISOR_DIED_FILE),
            note.as_bytes(),
        );
        let log = tail::last_words(&order::file(&self.call.run_dir, order::SUPERVISOR_LOG));
        let why = tribunal_core::text::headline(&log, reader::LONGEST_MESSAGE).into_owned();
        let why = if why.is_empty() {
            "it was killed".to_owned()
        } else {
            why
        };
        tracing::warn!(run = %self.call.run, swept, "a supervisor died: {why}");
        let message = format!("The supervisor of the run ended before the run did: {why}.");
        AgentError::new(ErrorClass::Crash, message)
    }
}
