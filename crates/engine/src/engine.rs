//! The engine: settings, ledger and agents put together.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use tribunal_agents::{LoginState, Reply};
use tribunal_core::case::{CaseKind, CaseState, Outcome, Pause};
use tribunal_core::dispute::Dispute;
use tribunal_core::ids::{AgentName, CaseId, RunId};
use tribunal_core::outage::RetryPolicy;
use tribunal_core::secret::Redactor;
use tribunal_store::CaseRecord;

use crate::ask::AskReport;
use crate::budget::Caps;
use crate::call::{Parks, Seat};
use crate::care::pack::unpack;
use crate::case::{Case, CaseError, LazyHolder};
use crate::delivery::Pushes;
use crate::dispute::DisputeConduct;
use crate::files::LedgerDir;
use crate::human::Human;
use crate::ledger::Ledger;
use crate::review::Reviewed;
use crate::stopping::StopSwitch;
use crate::trial::{TestCommand, Tried};
use crate::watch::TreeWatch;

/// Core, agents and store brought together. Everything that acts goes through here.
pub struct Engine {
    pub(crate) ledger: Ledger,
    pub(crate) dir: LedgerDir,
    pub(crate) holder: Arc<LazyHolder>,
    pub(crate) seats: BTreeMap<AgentName, Result<Seat, String>>,
    pub(crate) caps: Caps,
    pub(crate) parks: Parks,
    /// Whether providers are asked that are parked until a person acts.
    pub(crate) tries_parked: bool,
    pub(crate) retry: RetryPolicy,
    pub(crate) redactor: Redactor,
    /// What runs the project's tests, where that is configured.
    pub(crate) tests: Option<TestCommand>,
    pub(crate) disputes: DisputeConduct,
    pub(crate) stop: StopSwitch,
    /// What was pushed or could not be, until somebody tells the user.
    pub(crate) pushes: Pushes,
    /// Looks after the user's repository while programs run.
    pub(crate) watch: TreeWatch,
    /// Whom to ask what only a person can decide; nobody without a terminal.
    pub(crate) human: Option<Arc<dyn Human>>,
}

/// What came of going on with a case.
#[derive(Debug)]
pub enum Resumed {
    /// It had come to its end before; nothing was done.
    AlreadyEnded(CaseId, Outcome),
    /// It was a case of prompts.
    Ask(AskReport),
    /// It was a review.
    Review(Box<Reviewed>),
    /// It was a trial.
    Trial(Box<Tried>),
    /// It was a dispute; what was left undone for it is done, and it stands like this.
    Dispute(Box<Dispute>),
}

impl Engine {
    /// Returns the ledger, for listening and for questions.
    #[must_use]
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Returns where the ledger lies.
    #[must_use]
    pub fn dir(&self) -> &LedgerDir {
        &self.dir
    }

    /// Returns the switch that stops all work; cases stay resumable.
    #[must_use]
    pub fn stop_switch(&self) -> &StopSwitch {
        &self.stop
    }

    /// Lets the engine ask this person.
    #[must_use]
    pub fn with_human(mut self, human: Arc<dyn Human>) -> Self {
        self.human = Some(human);
        self
    }

    /// Lets the engine ask providers that are parked until a person acts: this is that person, who
    /// wants to know whether they answer again.
    #[must_use]
    pub fn trying_parked(mut self) -> Self {
        self.tries_parked = true;
        self
    }

    /// Goes on with a case that was interrupted, parked, or ended without all of its answers.
    pub async fn resume(&self, record: &CaseRecord) -> Result<Resumed, CaseError> {
        if let Some(outcome) = final_outcome(&record.state) {
            return Ok(Resumed::AlreadyEnded(record.id.clone(), outcome.clone()));
        }
        if matches!(
            record.kind,
            CaseKind::Ask | CaseKind::Review | CaseKind::Trial
        ) {
            self.require_files(record).await?;
        }
        let request = record.request.clone();
        match record.kind {
            CaseKind::Ask => {
                let case = self.take_over(&record.id).await?;
                Ok(Resumed::Ask(self.resume_ask(case, request).await?))
            }
            CaseKind::Review => {
                let case = self.take_over(&record.id).await?;
                let reviewed = self.resume_review(case, request).await?;
                Ok(Resumed::Review(Box::new(reviewed)))
            }
            CaseKind::Trial => {
                let tried = self.resume_trial(record).await?;
                Ok(Resumed::Trial(Box::new(tried)))
            }
            CaseKind::Dispute => {
                let dispute = self.resume_dispute(&record.id).await?;
                Ok(Resumed::Dispute(Box::new(dispute)))
            }
            CaseKind::Task | CaseKind::Section | CaseKind::Run => {
                // The loop needs all settings and is gone on with by `resume_run`.
                let instead = instead_of_resuming(record);
                let instead = instead.unwrap_or_else(|| {
                    let id = &record.id;
                    format!("run {id} has ended; `tribunal run` goes on with the list")
                });
                Err(CaseError::Request(instead))
            }
        }
    }

    /// Takes over a case that nobody works on.
    pub(crate) async fn take_over(&self, case: &CaseId) -> Result<Case, CaseError> {
        let (ledger, holder) = (self.ledger.clone(), Arc::clone(&self.holder));
        let taken = Case::resume(ledger, holder, case.clone(), self.stop.clone()).await?;
        // Whoever works on a case finds the files of its runs where they were written.
        unpack(&self.dir, case)
            .map_err(CaseError::file(format!("unpack the files of case {case}")))?;
        Ok(taken)
    }

    /// Refuses to go on with a case of whose runs the files were collected.
    async fn require_files(&self, record: &CaseRecord) -> Result<(), CaseError> {
        let store = self.ledger.store();
        let collected = crate::care::collected_at(&self.events_of(&record.id).await?);
        let Some(at) = collected else { return Ok(()) };
        let runs = store.runs(&record.id).await?;
        if runs.iter().all(|run| run.started_at > at) {
            return Ok(());
        }
        let (id, date) = (&record.id, at.date());
        Err(CaseError::Request(format!(
            "case {id} cannot go on: its files were collected by gc on {date}; begin it anew"
        )))
    }

    /// Returns the newest case that is neither completed nor being worked on.
    pub async fn newest_unfinished(&self) -> Result<Option<CaseRecord>, CaseError> {
        let recent = self.ledger.store().recent_cases(200).await?;
        let unfinished = |case: &CaseRecord| {
            !case.owned
                && final_outcome(&case.state).is_none()
                && !awaits_human(&case.state)
                && instead_of_resuming(case).is_none()
        };
        Ok(recent.into_iter().find(unfinished))
    }

    /// Returns the version of an agent's program, or why it cannot be had.
    pub async fn version_of(&self, agent: &AgentName) -> Result<Option<String>, String> {
        let seat = self.seat(agent).map_err(|error| error.to_string())?;
        seat.agent.version().await.map_err(|error| error.message)
    }

    /// Returns what can be seen of an agent's login without asking a model.
    pub async fn login_state_of(&self, agent: &AgentName) -> Result<LoginState, String> {
        let seat = self.seat(agent).map_err(|error| error.to_string())?;
        Ok(seat.agent.login_state().await)
    }

    /// Returns the reply that a run left in its files.
    pub(crate) fn reply_of(&self, run: &RunId) -> Result<Reply, CaseError> {
        read_reply(&self.dir.run(run))
            .map_err(CaseError::file(format!("read the reply of run {run}")))
    }

    /// Returns the reply that a run has just given, or else the one in its files.
    pub(crate) fn reply_heard(
        &self,
        heard: Option<Reply>,
        run: &RunId,
    ) -> Result<Reply, CaseError> {
        heard.map_or_else(|| self.reply_of(run), Ok)
    }

    pub(crate) fn new_case(
        &self,
        kind: CaseKind,
        title: String,
        request: serde_json::Value,
    ) -> Case {
        let id = CaseId::from_bits(crate::random_bits());
        self.new_case_as(id, kind, title, request)
    }

    /// Returns a new case under an id that the caller derived from what it is about.
    pub(crate) fn new_case_as(
        &self,
        id: CaseId,
        kind: CaseKind,
        title: String,
        request: serde_json::Value,
    ) -> Case {
        let title = self.redactor.redact(&title);
        let (ledger, holder) = (self.ledger.clone(), Arc::clone(&self.holder));
        Case::open(ledger, holder, id, kind, title, request, self.stop.clone())
    }

    pub(crate) fn seat(&self, agent: &AgentName) -> Result<Seat, CaseError> {
        let known = || {
            let names: Vec<_> = self.seats.keys().map(AgentName::as_str).collect();
            CaseError::UnknownAgent {
                name: agent.clone(),
                known: names.join(", "),
            }
        };
        let unfit = |reason: String| CaseError::UnfitAgent {
            name: agent.clone(),
            reason,
        };
        self.seats
            .get(agent)
            .cloned()
            .ok_or_else(known)?
            .map_err(unfit)
    }
}

/// Returns what to do with a case that waits for a turn of its own and is not simply gone on with.
fn instead_of_resuming(record: &CaseRecord) -> Option<String> {
    match record.kind {
        CaseKind::Ask | CaseKind::Review | CaseKind::Trial | CaseKind::Dispute => None,
        CaseKind::Task => {
            let id = &record.id;
            Some(format!(
                "case {id} is a task; the loop works on it with `tribunal run --task {id}`"
            ))
        }
        CaseKind::Run => None,
        CaseKind::Section => Some(format!(
            "case {} is a section of the task list; there is nothing to go on with",
            record.id
        )),
    }
}

/// Returns how a case ended if there is nothing to go on with.
fn final_outcome(state: &CaseState) -> Option<&Outcome> {
    match state {
        CaseState::Closed(outcome @ (Outcome::Completed | Outcome::Failed { .. })) => Some(outcome),
        CaseState::Closed(Outcome::Inconclusive { .. })
        | CaseState::Open
        | CaseState::Parked { .. } => None,
    }
}

/// Tells whether only a person can go on with it.
fn awaits_human(state: &CaseState) -> bool {
    matches!(
        state,
        CaseState::Parked {
            why: Pause::Human { .. },
            ..
        }
    )
}

fn read_reply(run_dir: &Path) -> std::io::Result<Reply> {
    let bytes = std::fs::read(run_dir.join("reply.json"))?;
    serde_json::from_slice(&bytes).map_err(std::io::Error::from)
}
