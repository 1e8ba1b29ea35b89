//! `trial`: contestants answer one challenge, judges designed for their answers score them.
//!
//! The core's state machine says what must happen next; here it happens. Every question is a durable
//! step and every outcome an event, so that a resumed trial goes on where it was, and a
//! replayed one comes to the same verdict.

mod ask;
mod branches;
mod cap;
mod cast;
mod contend;
mod decree;
mod empanel;
mod iterate;
mod judge;
mod material;
mod merge;
mod report;
mod testing;
mod weigh;
mod work;

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use tribunal_core::case::{CaseKind, CaseState, Outcome, Pause};
use tribunal_core::consensus::Record;
use tribunal_core::event::{Event, EventKind, TrialEvent};
use tribunal_core::ids::{AgentName, CaseId};
use tribunal_core::money::MicroUsd;
use tribunal_core::text::headline;
use tribunal_core::trial::report::TrialReport;
use tribunal_core::trial::{Contestant, Mode, Next, Trial};
use tribunal_core::verdict::Method;
use tribunal_store::{CaseRecord, Store, crashpoint};

use crate::Engine;
use crate::case::{Case, CaseError};
use crate::change::Repository;
use crate::config::Settings;
use crate::worktree::remove_tree;
pub(crate) use testing::TestCommand;

pub use decree::{DecreeWish, Decreed};

/// What the user asked for.
#[derive(Debug, Clone)]
pub struct TrialWish {
    /// Where the user stands.
    pub directory: PathBuf,
    /// The question or task.
    pub challenge: String,
    /// Who takes part.
    pub contestants: CastWish,
    /// What they hand in.
    pub mode: Mode,
    /// Most judges, when not as configured.
    pub judges: Option<usize>,
    /// Names of the agents that may judge; all with that role when empty.
    pub judge_agents: Vec<String>,
    /// Whether a person named them, who wants to see each of them sit.
    pub judges_named: bool,
    /// Name of the arbiter, when not as configured.
    pub arbiter: Option<String>,
    /// How scores become one, when not as configured.
    pub method: Option<Method>,
    /// Ask every judge in both orders; as configured when not said.
    pub swap: bool,
    /// What is known about the judges.
    pub record: Option<Record>,
    /// The commit that contestants start from in a trial of code; where the user stands if not said.
    pub start: Option<String>,
    /// The trial from which this one goes on.
    pub from: Option<CaseId>,
    /// The most that it may cost.
    pub max_cost: Option<MicroUsd>,
    /// Names that judges must not learn, when known from an earlier trial.
    pub hidden: Option<Vec<String>>,
}

/// Who shall take part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CastWish {
    /// These agents, each as itself or as an archetype.
    Named(Vec<(String, Option<String>)>),
    /// So many, designed by the arbiter; as configured when no number is given.
    Designed(Option<usize>),
    /// So many archetypes, without asking the arbiter.
    Archetypes(usize),
}

/// A trial as the ledger keeps it: all that decides its outcome, besides the answers.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct TrialRequest {
    /// Where the user stood.
    directory: PathBuf,
    /// Hash of the challenge.
    challenge: String,
    mode: Mode,
    /// Random text from which the nonces of all questions and the orders of judges are made.
    seed: String,
    cast: Cast,
    arbiter: Option<AgentName>,
    /// Who may judge.
    judges: Vec<Player>,
    most_judges: usize,
    method: Method,
    swap: bool,
    answer_chars: usize,
    /// Longest time of a contestant, when not as for every agent.
    #[serde(default)]
    contestant_wall_ms: Option<u64>,
    /// The commit that contestants start from, in a trial of code.
    #[serde(default)]
    start: Option<String>,
    #[serde(default)]
    record: Option<Record>,
    #[serde(default)]
    from: Option<CaseId>,
    /// Whether the user named the judges.
    #[serde(default)]
    judges_named: bool,
    /// The most that it may cost, where the user said so.
    #[serde(default)]
    max_cost: Option<MicroUsd>,
    /// Names that judges must not learn. Trials of earlier versions have none and hide nothing.
    #[serde(default)]
    hidden: Option<Vec<String>>,
}

/// How it is decided who takes part.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "cast", rename_all = "snake_case")]
enum Cast {
    /// It is: the user named them.
    Named { contestants: Vec<Contestant> },
    /// The arbiter designs them over these agents; archetypes stand in when it fails.
    Designed { count: usize, players: Vec<Player> },
    /// Archetypes over these agents.
    Archetypes { count: usize, players: Vec<Player> },
}

/// An agent that can take part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Player {
    name: AgentName,
    family: String,
    /// What the config says about it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    about: String,
}

/// What came of a trial.
#[derive(Debug)]
pub struct Tried {
    /// The case in which it is recorded.
    pub case: CaseId,
    /// What is known about it.
    pub report: TrialReport,
    /// Where the case stands.
    pub state: CaseState,
}

/// A trial that was opened and not held yet.
struct OpenTrial {
    case: Case,
    request: TrialRequest,
    trial: Trial,
}

/// What a trial that is only held again takes from its record.
#[derive(Default)]
struct HeldAgain {
    /// What contestants handed in, in a trial of code.
    recorded: BTreeMap<String, Option<String>>,
    /// How often it was resumed.
    rounds: usize,
}

/// A trial at work.
struct Hall<'a> {
    engine: &'a Engine,
    case: &'a Case,
    request: &'a TrialRequest,
    challenge: &'a str,
    /// Where agents work that hand in no changes.
    directory: PathBuf,
    /// What contestants handed in when the trial is only held again.
    recorded: BTreeMap<String, Option<String>>,
    /// How often a trial that fails is taken up again at once, because it was when it was recorded.
    rounds: usize,
}

impl Engine {
    /// Holds a trial up to its verdict.
    pub async fn trial(&self, settings: &Settings, wish: TrialWish) -> Result<Tried, CaseError> {
        if wish.challenge.trim().is_empty() {
            return Err(CaseError::Request("the challenge is empty".to_owned()));
        }
        self.sweep_places().await?;
        let request = self.trial_request(settings, &wish).await?;
        let id = CaseId::from_bits(crate::random_bits());
        let open = self.open_trial(id, &wish, request).await?;
        self.hold_trial(open).await
    }

    /// Opens a trial under this id. It is stored together with the first thing that happens in it.
    async fn open_trial(
        &self,
        id: CaseId,
        wish: &TrialWish,
        request: TrialRequest,
    ) -> Result<OpenTrial, CaseError> {
        let json = serde_json::to_value(&request).map_err(unfit)?;
        let title = headline(&wish.challenge, 100).into_owned();
        let case = self.new_case_as(id, CaseKind::Trial, title, json);
        let opened = TrialEvent::TrialOpened {
            challenge: self.redactor.redact(&headline(&wish.challenge, 200)),
            mode: request.mode,
            method: request.method,
            from: request.from.clone(),
        };
        let mut trial = Trial::default();
        tell(&case, &mut trial, opened).await?;
        Ok(OpenTrial {
            case,
            request,
            trial,
        })
    }

    /// Holds a trial that was just opened up to its verdict.
    async fn hold_trial(&self, open: OpenTrial) -> Result<Tried, CaseError> {
        let (case, request, trial) = (open.case, open.request, open.trial);
        self.carry_out_trial(case, request, trial, HeldAgain::default())
            .await
    }

    /// Goes on with a case of [`CaseKind::Trial`].
    pub(crate) async fn resume_trial(&self, record: &CaseRecord) -> Result<Tried, CaseError> {
        let request = read_request(record.request.clone())?;
        let mut trial = told(&self.events_of(&record.id).await?)?;
        if trial.next() == Next::AwaitDecree {
            return self.tried(record.id.clone(), record.state.clone()).await;
        }
        let case = self.take_over(&record.id).await?;
        trial.take_up();
        self.carry_out_trial(case, request, trial, HeldAgain::default())
            .await
    }

    /// Holds a recorded trial again, from the recorded answers.
    pub(crate) async fn replay_trial(
        &self,
        record: &CaseRecord,
        events: &[Event],
    ) -> Result<Trial, CaseError> {
        let then = told(events)?;
        let request = read_request(record.request.clone())?;
        let (title, json) = (record.title.clone(), record.request.clone());
        let case = self.new_case(CaseKind::Trial, title, json);
        let id = case.id().clone();
        let recorded = match request.mode {
            Mode::Text => BTreeMap::new(),
            Mode::Code => {
                let handed_in = then
                    .answered()
                    .map(|(one, output)| (one.id.clone(), output));
                let handed_in: BTreeMap<String, &str> = handed_in.collect();
                let all = then.contestants.iter().map(|(one, _)| one.id.clone());
                all.map(|id| {
                    (
                        id.clone(),
                        handed_in.get(&id).map(|hash| (*hash).to_owned()),
                    )
                })
                .collect()
            }
        };
        let resumed = |event: &&Event| matches!(event.kind, EventKind::CaseResumed { .. });
        let again = HeldAgain {
            recorded,
            rounds: events.iter().filter(resumed).count(),
        };
        self.carry_out_trial(case, request, Trial::default(), again)
            .await?;
        told(&self.events_of(&id).await?)
    }

    async fn carry_out_trial(
        &self,
        case: Case,
        request: TrialRequest,
        mut trial: Trial,
        again: HeldAgain,
    ) -> Result<Tried, CaseError> {
        let id = case.id().clone();
        let challenge = self.text_blob(&request.challenge)?;
        let hall = Hall {
            engine: self,
            case: &case,
            request: &request,
            challenge: &challenge,
            directory: self
                .dir
                .make_workplace(&id)
                .map_err(CaseError::file("make a directory for the agents"))?,
            recorded: again.recorded,
            rounds: again.rounds,
        };
        let held = hall.hold(&mut trial).await;
        drop(hall);
        self.dir
            .clear_workplace(&id)
            .map_err(CaseError::file("remove the agents' directory"))?;
        let state = match held {
            Ok(Held::Verdict { winner }) => {
                remove_worktrees(self, &id)?;
                let question = match winner {
                    Some(name) => format!("what is done about the verdict: {name} won"),
                    None => "what is done about the verdict: there is a tie".to_owned(),
                };
                let why = Pause::Human { question };
                case.park(why.clone(), None).await?;
                CaseState::Parked { why, until: None }
            }
            Ok(Held::Failed { cause }) => {
                remove_worktrees(self, &id)?;
                let outcome = Outcome::Inconclusive { class: None, cause };
                case.close(outcome.clone()).await?;
                CaseState::Closed(outcome)
            }
            Err(CaseError::Parked { why, until }) => {
                case.park(why.clone(), until).await?;
                CaseState::Parked { why, until }
            }
            Err(error) => return Err(error),
        };
        self.tried(id, state).await
    }

    async fn tried(&self, case: CaseId, state: CaseState) -> Result<Tried, CaseError> {
        let report = self.trial_report(&case).await?;
        Ok(Tried {
            case,
            report,
            state,
        })
    }

    pub(crate) async fn events_of(&self, case: &CaseId) -> Result<Vec<Event>, CaseError> {
        let store = self.ledger.store();
        Ok(crate::export::events(store.as_ref(), case).await?)
    }

    fn text_blob(&self, hash: &str) -> Result<String, CaseError> {
        let bytes = self
            .dir
            .get_blob(hash)
            .map_err(CaseError::file("read what was stored"))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn put_json<T: Serialize>(&self, value: &T) -> Result<String, CaseError> {
        let text = serde_json::to_string_pretty(value).map_err(unfit)?;
        self.dir
            .put_blob(self.redactor.redact(&text).as_bytes())
            .map_err(CaseError::file("store what was handed in"))
    }

    fn get_json<T: for<'de> Deserialize<'de>>(&self, hash: &str) -> Result<T, CaseError> {
        serde_json::from_str(&self.text_blob(hash)?)
            .map_err(|error| CaseError::Request(format!("what was stored is damaged: {error}")))
    }

    fn repository_of(&self, request: &TrialRequest) -> Result<Repository, CaseError> {
        let clone = self.dir.clone_of_repository();
        Ok(Repository::open(&request.directory, clone)?)
    }
}

/// How far a trial came.
enum Held {
    /// To its verdict.
    Verdict { winner: Option<String> },
    /// Not to its verdict; it can be resumed.
    Failed { cause: String },
}

impl Hall<'_> {
    /// Does what must happen next until a person is needed or nothing can be done.
    async fn hold(&self, trial: &mut Trial) -> Result<Held, CaseError> {
        let mut rounds = self.rounds;
        loop {
            match trial.next() {
                Next::Rest if trial.is_failed() && rounds > 0 => {
                    rounds -= 1;
                    trial.take_up();
                }
                Next::DesignContestants => self.design_contestants(trial).await?,
                Next::Contend(open) => self.contend(trial, open).await?,
                Next::Empanel(_) => self.empanel(trial).await?,
                Next::Judge(open) => self.judge(trial, open).await?,
                Next::Decide => self.decide(trial).await?,
                Next::Fail { cause } => {
                    let phase = trial.phase();
                    self.tell(trial, TrialEvent::TrialFailed { phase, cause })
                        .await?;
                }
                Next::AwaitDecree | Next::Rest => break,
            }
            crashpoint!("trial.phase");
        }
        Ok(match &trial.state {
            tribunal_core::trial::State::Failed { cause, .. } => Held::Failed {
                cause: cause.clone(),
            },
            tribunal_core::trial::State::In { .. } => Held::Verdict {
                winner: trial.verdict.as_ref().and_then(|verdict| {
                    let winner = verdict.winner.as_ref()?;
                    Some(name_of(trial, winner))
                }),
            },
        })
    }

    /// Stores what happened and takes note of it.
    async fn tell(&self, trial: &mut Trial, event: TrialEvent) -> Result<(), CaseError> {
        tell(self.case, trial, event).await
    }
}

/// Keeps `event` for the next commit and takes note of it.
async fn tell(case: &Case, trial: &mut Trial, event: TrialEvent) -> Result<(), CaseError> {
    follow(trial, &event)?;
    case.note(EventKind::from(event)).await;
    Ok(())
}

fn follow(trial: &mut Trial, event: &TrialEvent) -> Result<(), CaseError> {
    trial
        .apply(event)
        .map_err(|error| CaseError::Request(error.to_string()))
}

/// Returns a trial as its events tell it.
pub async fn trial_story(store: &dyn Store, case: &CaseId) -> Result<Trial, CaseError> {
    told(&crate::export::events(store, case).await?)
}

/// Returns the trial that these events tell of.
pub(crate) fn told(events: &[Event]) -> Result<Trial, CaseError> {
    let mut trial = Trial::default();
    for event in events {
        match &event.kind {
            EventKind::Trial(event) => follow(&mut trial, event)?,
            EventKind::CaseResumed { .. } => trial.take_up(),
            _ => {}
        }
    }
    Ok(trial)
}

fn name_of(trial: &Trial, id: &str) -> String {
    let mut all = trial.contestants.iter();
    let found = all.find(|(one, _)| one.id == id);
    found.map_or_else(|| id.to_owned(), |(one, _)| one.name.clone())
}

fn remove_worktrees(engine: &Engine, case: &CaseId) -> Result<(), CaseError> {
    remove_tree(&engine.dir.worktrees(case)).map_err(CaseError::file("remove the worktrees"))
}

fn unfit(error: serde_json::Error) -> CaseError {
    CaseError::Request(error.to_string())
}

fn read_request(request: serde_json::Value) -> Result<TrialRequest, CaseError> {
    serde_json::from_value(request).map_err(|error| {
        CaseError::Request(format!("the recorded request cannot be read: {error}"))
    })
}
