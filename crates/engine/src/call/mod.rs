//! Puts one question to one agent: runs, retries, records.

mod guards;
mod progress;
mod recovery;

use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::mpsc;
use tribunal_agents::{Agent, AgentError, Call, Limits, Progress, Reply};
use tribunal_core::agent::{Access, ErrorClass, Role};
use tribunal_core::case::Pause;
use tribunal_core::event::{EventKind, RunResult};
use tribunal_core::ids::{AgentName, RunId, StepKey};
use tribunal_core::money::{Cost, MicroUsd, Price, Usage};
use tribunal_core::outage::{Remedy, remedy};
use tribunal_core::sandbox::{SandboxDemand, SandboxRecord};
use tribunal_store::crashpoint;

pub(crate) use guards::Parks;

use crate::Engine;
use crate::care::prompt::write_prompt;
use crate::case::{Case, CaseError};
use crate::config::{ConfinedRole, SandboxSettings, account_of};
use crate::files::{self, Durability};
use crate::stopping::interrupted;

/// How long a run may go on before it is registered, if it costs nothing and changes nothing. Most
/// such runs are over by then, and are stored in one commit together with what follows from them.
const UNREGISTERED: Duration = Duration::from_millis(20);

/// One question to one agent.
#[derive(Debug, Clone)]
pub struct Question {
    /// Who is asked.
    pub agent: AgentName,
    /// In which role.
    pub role: Role,
    /// The prompt.
    pub prompt: String,
    /// Text for the system prompt.
    pub system: Option<String>,
    /// JSON schema that the answer shall follow.
    pub schema: Option<serde_json::Value>,
    /// Whether files may be changed.
    pub access: Access,
    /// Where the agent works.
    pub directory: PathBuf,
}

/// A configured agent, ready to be asked.
#[derive(Clone)]
pub(crate) struct Seat {
    pub(crate) agent: Arc<dyn Agent>,
    pub(crate) limits: Limits,
    pub(crate) price: Option<Price>,
    pub(crate) instructions: Option<String>,
    pub(crate) max_output_tokens: Option<u32>,
    pub(crate) temperature_milli: Option<u32>,
    /// Most money one run may cost, where the agent can be told.
    pub(crate) max_cost_of_call: Option<MicroUsd>,
    /// Most money the agent may spend in one case.
    pub(crate) max_cost_in_case: Option<MicroUsd>,
    /// How much programs are confined.
    pub(crate) sandbox: SandboxSettings,
    /// At most this many runs of the provider at once, in this process.
    pub(crate) turns: Arc<tokio::sync::Semaphore>,
}

impl Seat {
    /// Returns as whom the settings of the sandbox know a program that works in `role`.
    fn confined_role(&self, role: Role) -> ConfinedRole {
        match self.agent.takes_prompt() {
            true => ConfinedRole::from(role),
            false => ConfinedRole::Linter,
        }
    }

    /// Returns what will hold the program, where somebody wants it held.
    fn sandbox_record(&self, call: &Call) -> Option<SandboxRecord> {
        let demand = call.sandbox;
        if demand == SandboxDemand::Off {
            return None;
        }
        let record = self.agent.sandbox_record(demand, call.network)?;
        // What must not start says so itself.
        Some(record.unwrap_or_else(|reason| SandboxRecord::of_nothing(Some(reason))))
    }

    /// Tells whether nobody is paid for the agent's answers and no provider can be parked.
    pub(crate) fn is_free(&self) -> bool {
        matches!(
            self.agent.profile().provider.as_str(),
            "scripted" | "replay"
        )
    }

    /// Returns the name under which the agent is parked.
    fn account(&self) -> String {
        let profile = self.agent.profile();
        account_of(&profile.provider, &profile.name)
    }
}

/// What came of a question.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The run that answered.
    pub run: RunId,
    /// Its reply.
    pub reply: Reply,
}

/// How a question ended that did not park the case.
pub type Asked = Result<Answer, AgentError>;

impl Engine {
    /// Puts `question` on behalf of `step` and returns the answer, or the last failure.
    ///
    /// An error of [`CaseError::Parked`] means that going on makes sense later.
    pub(crate) async fn put(
        &self,
        case: &Case,
        step: &StepKey,
        question: &Question,
    ) -> Result<Asked, CaseError> {
        let seat = self.seat(&question.agent)?;
        self.put_to(case, step, question, seat).await
    }

    /// Does the same with a seat that is a little different from the configured one.
    ///
    /// In a box: it is large, and whatever asks anybody anything would be as large.
    pub(crate) fn put_to(
        &self,
        case: &Case,
        step: &StepKey,
        question: &Question,
        seat: Seat,
    ) -> Pin<Box<impl Future<Output = Result<Asked, CaseError>>>> {
        Box::pin(self.put_until_settled(case, step, question, seat))
    }

    async fn put_until_settled(
        &self,
        case: &Case,
        step: &StepKey,
        question: &Question,
        seat: Seat,
    ) -> Result<Asked, CaseError> {
        if let Some(recovered) = self
            .settle_interrupted_runs(case, step, question, &seat)
            .await?
        {
            return Ok(Ok(recovered));
        }
        let mut attempt = 1;
        let mut spent = Cost::Known(MicroUsd(0));
        loop {
            let turn = seat.turns.acquire().await;
            case.stop_switch().check()?;
            // Whoever had the turn before us may have used up the budget or met a closed door.
            self.check_provider(&seat).await?;
            self.check_budget(case, &question.agent, &seat).await?;
            let (run, result) = self.run_once(case, step, question, &seat, attempt).await?;
            let error = match result {
                Ok(reply) => return Ok(Ok(Answer { run, reply })),
                Err(error) => error,
            };
            spent = spent + priced(error.cost, error.usage, seat.price);
            // Nobody takes the turn before it is known what the failure means for them.
            let pause = self
                .after_failure(case, &seat, &run, &error, attempt)
                .await?;
            drop(turn);
            match pause {
                // Whoever gives up is told what all its runs cost.
                None => {
                    return Ok(Err(AgentError {
                        cost: spent,
                        ..error
                    }));
                }
                Some(pause) => self.wait(case, pause).await?,
            }
            attempt += 1;
        }
    }

    /// Runs the agent once, recorded from before its start until after its end.
    ///
    /// Of a run that nobody pays for and that changes nothing, nothing would be lost with it: it is
    /// recorded when it ends or takes long.
    async fn run_once(
        &self,
        case: &Case,
        step: &StepKey,
        question: &Question,
        seat: &Seat,
        attempt: u32,
    ) -> Result<(RunId, Result<Reply, AgentError>), CaseError> {
        let run = RunId::from_bits(crate::random_bits());
        // Whoever only talks to a server cannot touch anything here, and whom the user lets write in the
        // project does so with their consent.
        let consents =
            question.access == Access::Write && self.watch.is_around(&question.directory);
        let attendance = match seat.agent.works_in_directory() && !consents {
            true => Some(self.watch.begin().await),
            false => None,
        };
        let call = Call {
            max_cost: self.most_for_next_run(case, &question.agent, seat),
            ..self.call_for(&run, question, seat)?
        };
        let profile = seat.agent.profile();
        let started = EventKind::RunStarted {
            run: run.clone(),
            step: step.clone(),
            agent: question.agent.clone(),
            role: question.role,
            provider: profile.provider.clone(),
            model: profile.model.clone(),
            family: profile.family.clone(),
            access: question.access,
            attempt,
            prompt_hash: files::hash_of(call.prompt.as_bytes()),
            sandbox: seat.sandbox_record(&call),
        };
        case.note(started).await;
        let harmless = seat.is_free() && question.access == Access::ReadOnly;
        if !harmless {
            // Whoever starts at the same time gets to say so first: one commit serves them all.
            tokio::task::yield_now().await;
            case.record_soon([]).await?;
        }
        crashpoint!("call.run.started");
        let clock = Instant::now();
        let (sender, events) = mpsc::channel(256);
        let watching = progress::watch(case, run.clone(), seat.price, events);
        let working = seat.agent.run_step(
            step.as_str(),
            call,
            Progress::to(sender),
            case.stop_switch().for_agents(),
        );
        let asking = async { tokio::join!(working, watching) };
        tokio::pin!(asking);
        let (result, watched) = if harmless {
            match tokio::time::timeout(UNREGISTERED, &mut asking).await {
                Ok(done) => done,
                Err(_) => {
                    case.record_soon([]).await?;
                    asking.await
                }
            }
        } else {
            asking.await
        };
        watched?;
        crashpoint!("call.run.answered");
        let result = result.map_err(|error| self.without_secrets(error));
        let result = match attendance {
            Some(attendance) => {
                let who = question.agent.as_str();
                self.hold_to_account(case, &run, who, attendance, result)
                    .await?
            }
            None => result,
        };
        let elapsed_ms = u64::try_from(clock.elapsed().as_millis()).unwrap_or(u64::MAX);
        let result = self
            .record_end(case, &run, result, elapsed_ms, seat)
            .await?;
        Ok((run, result))
    }

    /// Returns the call to hand to the agent, after writing its prompt into the run's directory.
    fn call_for(&self, run: &RunId, question: &Question, seat: &Seat) -> Result<Call, CaseError> {
        let prompt = self.redactor.redact(&question.prompt);
        let run_dir = self.dir.run(run);
        files::create_private_dir(&run_dir)
            .and_then(|()| write_prompt(&run_dir, &prompt))
            .map_err(CaseError::file(format!("write the prompt of run {run}")))?;
        let system = match (&question.system, &seat.instructions) {
            (Some(system), Some(instructions)) => Some(format!("{system}\n\n{instructions}")),
            (system, instructions) => system.clone().or_else(|| instructions.clone()),
        };
        Ok(Call {
            run: run.clone(),
            prompt,
            system,
            schema: question.schema.clone(),
            access: question.access,
            sandbox: seat.sandbox.demand(seat.confined_role(question.role)),
            network: seat.sandbox.network(seat.confined_role(question.role)),
            directory: question.directory.clone(),
            run_dir,
            limits: seat.limits,
            max_cost: seat.max_cost_of_call,
            max_output_tokens: seat.max_output_tokens,
            temperature_milli: seat.temperature_milli,
        })
    }

    /// Records how a run ended, and returns that without secrets. A success waits for the end of its
    /// step; a failure is stored now.
    async fn record_end(
        &self,
        case: &Case,
        run: &RunId,
        result: Result<Reply, AgentError>,
        elapsed_ms: u64,
        seat: &Seat,
    ) -> Result<Result<Reply, AgentError>, CaseError> {
        let refused = tribunal_agents::command::refused_connections(&self.dir.run(run));
        let finished = |result, usage, cost, reply: Option<&Reply>| EventKind::RunFinished {
            run: run.clone(),
            result,
            usage,
            cost,
            elapsed_ms,
            session: reply.and_then(|reply| reply.session.clone()),
            answered_by: reply.and_then(|reply| reply.model.clone()),
            version: reply.and_then(|reply| reply.version.clone()),
            refused: refused.clone(),
        };
        match result {
            Ok(reply) => {
                let (reply_hash, reply) = self.write_reply(run, reply, seat)?;
                let reply_chars = reply.text.chars().count() as u64;
                let cost = priced(reply.cost, reply.usage, seat.price);
                let answered = RunResult::Answered {
                    reply_hash,
                    reply_chars,
                };
                case.note(finished(answered, reply.usage, cost, Some(&reply)))
                    .await;
                self.free_if_parked(case, seat).await?;
                Ok(Ok(reply))
            }
            // An agent that found no room has not failed: its step is done again when there is some.
            Err(error)
                if error.class != ErrorClass::Cancelled
                    && tribunal_store::has_no_room(self.dir.root()) =>
            {
                let path = self.dir.run(run);
                tracing::debug!(%error.message, "a run ended on a full disk");
                Err(CaseError::Store(tribunal_store::StoreError::DiskFull {
                    doing: "write",
                    path,
                }))
            }
            Err(error) => {
                let cost = priced(error.cost, error.usage, seat.price);
                let failed = RunResult::Failed {
                    class: error.class,
                    message: error.message.clone(),
                };
                case.record([finished(failed, error.usage, cost, None)])
                    .await?;
                Ok(Err(error))
            }
        }
    }

    /// Writes a reply into the run's directory. Returns its hash, and the reply as it was written:
    /// without secrets.
    fn write_reply(
        &self,
        run: &RunId,
        reply: Reply,
        seat: &Seat,
    ) -> Result<(String, Reply), CaseError> {
        let unfit = |error: serde_json::Error| {
            CaseError::Request(format!("the reply cannot be written: {error}"))
        };
        let kept = files::KeptReply {
            free: seat.is_free(),
            reply: &reply,
        };
        let text = serde_json::to_string_pretty(&kept).map_err(unfit)?;
        let redacted = self.redactor.redact(&text);
        let reply = match redacted == text {
            true => reply,
            false => serde_json::from_str(&redacted).map_err(unfit)?,
        };
        drop(text);
        let path = self.dir.run(run).join("reply.json");
        let hash = files::hash_of(redacted.as_bytes());
        // What nobody paid for need not outlive a power cut; but its run may not be registered yet, and
        // whoever finds half of it could not tell that it was free.
        let written = match seat.is_free() {
            true => files::write_private(&path, redacted.as_bytes(), Durability::Process),
            false => self.dir.write_lasting(path, redacted.as_bytes()),
        };
        written.map_err(CaseError::file(format!("write the reply of run {run}")))?;
        Ok((hash, reply))
    }

    /// Decides what follows a failure: a pause before the next run, nothing, or parking the case.
    async fn after_failure(
        &self,
        case: &Case,
        seat: &Seat,
        run: &RunId,
        error: &AgentError,
        attempt: u32,
    ) -> Result<Option<Duration>, CaseError> {
        if error.class == ErrorClass::Cancelled && case.stop_switch().is_at_once() {
            return Err(interrupted());
        }
        let retry_after = error
            .retry_after
            .map(|wait| u64::try_from(wait.as_millis()).unwrap_or(u64::MAX));
        let jitter = u16::try_from(crate::random_bits() % 1001).unwrap_or(0);
        match remedy(&self.retry, error.class, attempt, retry_after, jitter) {
            Remedy::GiveUp => Ok(None),
            Remedy::Retry { after_ms } => {
                let retried = EventKind::RunRetried {
                    run: run.clone(),
                    class: error.class,
                    wait_ms: after_ms,
                };
                case.record([retried]).await?;
                Ok(Some(Duration::from_millis(after_ms)))
            }
            Remedy::Park { for_ms } => {
                let now = self.ledger.store().now().await?;
                let until = for_ms.map(|wait| now.plus_millis(wait));
                let account = seat.account();
                let parked = EventKind::ProviderParked {
                    provider: account.clone(),
                    model: seat.agent.profile().model.clone(),
                    class: error.class,
                    until,
                };
                case.record([parked]).await?;
                self.parks.forget().await;
                let why = Pause::Provider {
                    provider: account,
                    class: error.class,
                };
                Err(CaseError::Parked { why, until })
            }
        }
    }

    async fn wait(&self, case: &Case, pause: Duration) -> Result<(), CaseError> {
        let switch = case.stop_switch();
        switch.unless_asked(tokio::time::sleep(pause)).await
    }

    fn without_secrets(&self, error: AgentError) -> AgentError {
        AgentError {
            message: self.redactor.redact(&error.message),
            ..error
        }
    }
}

/// Returns the agent's own word on the cost, else what the configured price makes of the usage.
pub(crate) fn priced(told: Cost, usage: Usage, price: Option<Price>) -> Cost {
    match (told, price) {
        (Cost::Known(amount), _) => Cost::Known(amount),
        (Cost::Unknown, Some(price)) if usage.total() > 0 => Cost::Known(price.of(usage)),
        (Cost::Unknown, _) => Cost::Unknown,
    }
}
