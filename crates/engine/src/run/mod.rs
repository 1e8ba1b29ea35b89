//! The loop: it takes one task after the other, drives each to its end, and says why it stopped.
//!
//! A task is taken by the lease of its case, so that no two runners ever work on one; what a runner
//! did that lost its lease changes nothing. Work goes on in a place of its own; the user's files,
//! index and stash are never touched.

mod brief;
mod cast;
mod guide;
mod limits;
mod progress;
mod replay;
mod review;
mod turns;
mod visit;
mod work;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use serde::{Deserialize, Serialize};
use tribunal_core::agent::Role;
use tribunal_core::arbiter::Candidate;
use tribunal_core::arbiter::rules::Rule;
use tribunal_core::case::{CaseKind, CaseState, Outcome, Pause};
use tribunal_core::event::WorkEvent;
use tribunal_core::ids::CaseId;
use tribunal_core::money::MicroUsd;
use tribunal_core::task::next::{Blocked, Listed, Queue, Turn, queue};
use tribunal_core::task::{Task, TaskState};
use tribunal_store::TaskRecord;

use self::limits::Limits;
pub(crate) use self::progress::Progress;
pub(crate) use self::replay::RecordedRun;
use crate::Engine;
use crate::arbiter::Arbiter;
use crate::case::{Case, CaseError, blocking};
use crate::change::Repository;
use crate::config::{Roster, Settings};
use crate::delivery::work_branch;
use crate::worktree::check_free;

/// What the user asked for.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RunWish {
    /// Where the user stands.
    pub directory: PathBuf,
    /// Stop after one task.
    pub once: bool,
    /// Only this task.
    pub task: Option<CaseId>,
    /// Begin nothing more once the run has cost this much.
    pub max_cost: Option<MicroUsd>,
    /// Begin nothing more after this time, in milliseconds.
    pub max_time_ms: Option<u64>,
    /// How many tasks are worked on at once.
    pub parallel: u32,
}

/// A run as the ledger keeps it.
#[derive(Serialize)]
struct RunRequest<'a> {
    #[serde(flatten)]
    wish: &'a RunWish,
    policy: RunPolicy,
}

/// By what a run decides, as far as nobody is asked.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct RunPolicy {
    /// The arbiter's rules.
    rules: Vec<Rule>,
    /// Who can be chosen.
    candidates: Vec<Candidate>,
}

/// What came of a run.
#[derive(Debug)]
pub struct RunReport {
    /// The case in which it is recorded.
    pub case: CaseId,
    /// The tasks that it left, with why when they are not settled.
    pub left: Vec<LeftTask>,
    /// Tasks that wait for others.
    pub blocked: Vec<Blocked>,
    /// Why the run ended, in one sentence.
    pub why: String,
    /// Whether a limit ended it.
    pub limited: bool,
    /// What the user should know.
    pub warnings: Vec<String>,
    /// Where the case stands.
    pub state: CaseState,
}

/// A task that a run left.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LeftTask {
    /// Which one.
    pub task: CaseId,
    /// Its title.
    pub title: String,
    /// Where it stands.
    pub state: TaskState,
    /// Why it was left although it is not settled.
    pub why: Option<String>,
}

/// What would be done first, and what stands in the way of the rest.
#[derive(Debug, Clone)]
pub struct Outlook {
    /// The tasks that can be taken, in order.
    pub ready: Vec<(Task, Turn)>,
    /// Those that wait for others.
    pub blocked: Vec<Blocked>,
    /// Those that somebody works on.
    pub taken: Vec<CaseId>,
}

/// A run under way.
struct Loop<'a> {
    engine: &'a Engine,
    settings: &'a Settings,
    wish: &'a RunWish,
    arbiter: Arbiter,
    repo: Repository,
    case: &'a Case,
    limits: Limits,
    /// Tasks of this process, and those that it left.
    held: Mutex<BTreeSet<CaseId>>,
    left: Mutex<Vec<LeftTask>>,
    halted: Mutex<Option<String>>,
}

impl Engine {
    /// Works through the list of tasks.
    pub async fn run_tasks(
        &self,
        settings: &Settings,
        wish: RunWish,
    ) -> Result<RunReport, CaseError> {
        check_cast(settings)?;
        let request = RunRequest {
            wish: &wish,
            policy: RunPolicy {
                rules: settings.arbiter.all_rules(),
                candidates: cast::cast(self, settings, None).candidates,
            },
        };
        let json = serde_json::to_value(request).map_err(|e| CaseError::Request(e.to_string()))?;
        let title = match &wish.task {
            Some(task) => format!("task {task}"),
            None => "the list of tasks".to_owned(),
        };
        let case = self.new_case(CaseKind::Run, title, json);
        self.carry_out_run(case, settings, wish).await
    }

    /// Goes on with a case of [`CaseKind::Run`].
    pub async fn resume_run(
        &self,
        settings: &Settings,
        id: &CaseId,
        request: serde_json::Value,
    ) -> Result<RunReport, CaseError> {
        let wish: RunWish = serde_json::from_value(request).map_err(|error| {
            CaseError::Request(format!("the recorded request cannot be read: {error}"))
        })?;
        check_cast(settings)?;
        let case = self.take_over(id).await?;
        self.carry_out_run(case, settings, wish).await
    }

    /// Returns what a run would do first, without doing it.
    pub async fn outlook(&self, only: Option<&CaseId>) -> Result<Outlook, CaseError> {
        let tasks = self.ledger.store().tasks_in_the_way().await?;
        let found = queue_of(&tasks, &BTreeSet::new());
        let task = |id: &CaseId| {
            let mut tasks = tasks.iter();
            tasks.find(|record| record.task.id == *id)
        };
        let ready = found
            .ready
            .iter()
            .filter(|(id, _)| only.is_none_or(|only| only == id));
        let ready = ready.filter_map(|(id, turn)| Some((task(id)?.task.clone(), *turn)));
        Ok(Outlook {
            ready: ready.collect(),
            blocked: found.blocked,
            taken: found.taken,
        })
    }

    async fn carry_out_run(
        &self,
        case: Case,
        settings: &Settings,
        wish: RunWish,
    ) -> Result<RunReport, CaseError> {
        let id = case.id().clone();
        let repo = Repository::open(&wish.directory, self.dir.clone_of_repository())?;
        repo.versioned()?;
        let until = wish.max_time_ms.map(Duration::from_millis);
        let until = until.and_then(|time| Instant::now().checked_add(time));
        let work = Loop {
            engine: self,
            settings,
            wish: &wish,
            arbiter: Arbiter::new(settings),
            repo,
            case: &case,
            limits: Limits::new(wish.max_cost, until),
            held: Mutex::default(),
            left: Mutex::default(),
            halted: Mutex::default(),
        };
        case.record([]).await?;
        let workers = (1..=wish.parallel.max(1)).map(|worker| work.worker(worker));
        let ended: Result<Vec<()>, CaseError> = join_all(workers).await.into_iter().collect();
        ended?;
        let blocked = self.outlook(None).await?.blocked;
        let left = work
            .left
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        let (why, end) = work.why();
        let (target, branch) = (repo.clone(), work_branch(settings));
        // Where the work could not go is told before anybody works.
        blocking(move || check_free(&target, &branch)).await?;
        let limited = end == End::Limit;
        let settled = left.iter().filter(|left| left.state.is_settled()).count();
        let warnings = work.limits.warnings();
        let ended = WorkEvent::LoopEnded {
            why: why.clone(),
            settled: u32::try_from(settled).unwrap_or(u32::MAX),
        };
        case.note(ended.into()).await;
        let state = close(case, end, &why).await?;
        Ok(RunReport {
            case: id,
            left,
            blocked,
            why,
            limited,
            warnings,
            state,
        })
    }
}

/// As what a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// It did what it was asked for.
    Done,
    /// A limit was reached, which is no success.
    Limit,
    /// A dispute holds up the rest.
    Halt,
    /// The user stopped it.
    Stop,
}

/// Ends or parks the case of a run.
async fn close(case: Case, end: End, why: &str) -> Result<CaseState, CaseError> {
    let ended = match end {
        End::Stop => Err(Pause::Interrupted),
        End::Limit => Err(Pause::Budget {
            cap: "run".to_owned(),
            detail: why.to_owned(),
        }),
        End::Halt => Ok(Outcome::Inconclusive {
            class: None,
            cause: why.to_owned(),
        }),
        End::Done => Ok(Outcome::Completed),
    };
    match ended {
        Err(why) => {
            case.park(why.clone(), None).await?;
            Ok(CaseState::Parked { why, until: None })
        }
        Ok(outcome) => {
            case.close(outcome.clone()).await?;
            Ok(CaseState::Closed(outcome))
        }
    }
}

/// Returns what there is to do, without the tasks in `passed_over`.
fn queue_of(tasks: &[TaskRecord], passed_over: &BTreeSet<CaseId>) -> Queue {
    let listed: Vec<Listed<'_>> = tasks
        .iter()
        .map(|record| Listed {
            task: &record.task,
            taken: record.holder.is_some(),
        })
        .collect();
    let mut found = queue(&listed);
    found.ready.retain(|(id, _)| !passed_over.contains(id));
    found
}

/// Checks that somebody is there who could work.
pub fn check_cast(settings: &Settings) -> Result<(), CaseError> {
    let roster = Roster::new(settings);
    match roster.with_role(Role::Coder).next() {
        Some(_) => Ok(()),
        None => Err(CaseError::NoCoder),
    }
}
