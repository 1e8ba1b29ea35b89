//! The loop: it takes one task after the other, drives each to its end, and says why it stopped.
//!
//! A task is taken by the lease of its case, so that no two runners ever work on one; what a runner
//! did that lost its lease changes nothing. Work goes on in a place of its own; the user's files,
//! index and stash are never touched.

mod brief;
mod guide;
mod limits;
mod progress;
mod replay;
mod review;
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
use tribunal_store::{StoreError, TaskRecord};

use self::limits::Limits;
pub(crate) use self::progress::Progress;
pub(crate) use self::replay::RecordedRun;
use self::visit::{Contest, Visit, Visited};
use crate::Engine;
use crate::arbiter::Arbiter;
use crate::case::{Case, CaseError};
use crate::change::Repository;
use crate::config::{OnMajor, Roster, Settings};
use crate::task::TaskError;

/// How long a worker waits before it looks at the list again while others work.
const LOOK_AGAIN: Duration = Duration::from_millis(200);

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
                candidates: work::cast(self, settings, None).candidates,
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

impl Loop<'_> {
    /// Takes tasks until there is nothing left to do.
    async fn worker(&self, worker: u32) -> Result<(), CaseError> {
        let mut done = 0_u32;
        loop {
            if self.is_over() || (self.wish.once && done > 0) {
                return Ok(());
            }
            let tasks = self.engine.ledger.store().tasks_in_the_way().await?;
            let found = queue_of(&tasks, &self.passed_over());
            let chosen = found.ready.iter().find(|(id, _)| self.is_wanted(id));
            let Some((id, turn)) = chosen else {
                let others = found.taken.iter().any(|id| self.is_wanted(id));
                if others && !self.wish.once {
                    tokio::time::sleep(LOOK_AGAIN).await;
                    continue;
                }
                return Ok(());
            };
            self.hold(id);
            let visited = self.visit(id, *turn, worker).await;
            self.let_go(id);
            match visited {
                Ok(Some(left)) => {
                    let mut all = self.left.lock().unwrap_or_else(PoisonError::into_inner);
                    all.push(left);
                    done += 1;
                }
                // Somebody else was faster.
                Ok(None) => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn is_wanted(&self, id: &CaseId) -> bool {
        self.wish.task.as_ref().is_none_or(|task| task == id)
    }

    fn is_over(&self) -> bool {
        let halted = self.halted.lock().unwrap_or_else(PoisonError::into_inner);
        halted.is_some() || self.limits.reason().is_some() || self.engine.stop.is_cancelled()
    }

    /// Returns the tasks that this run does not take: those in its hands, and those it left.
    fn passed_over(&self) -> BTreeSet<CaseId> {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        let left = left.iter().map(|left| left.task.clone());
        held.iter().cloned().chain(left).collect()
    }

    fn hold(&self, id: &CaseId) {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.insert(id.clone());
    }

    fn let_go(&self, id: &CaseId) {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.remove(id);
    }

    /// Takes a task, works on it, and leaves it. Nothing means that somebody else has it.
    async fn visit(
        &self,
        id: &CaseId,
        turn: Turn,
        worker: u32,
    ) -> Result<Option<LeftTask>, CaseError> {
        let (case, task) = match self.engine.hold_task(id).await {
            Ok(held) => held,
            Err(TaskError::Case(CaseError::Store(StoreError::Busy { .. }))) => return Ok(None),
            Err(error) => return Err(as_case_error(error)),
        };
        if task.state.is_settled() {
            case.release().await?;
            return Ok(None);
        }
        self.limits.begin(self.engine, id).await?;
        let title = task.brief.title.clone();
        let taken = WorkEvent::TaskTaken {
            task: id.clone(),
            title: title.clone(),
            turn,
            worker,
        };
        self.case.record([taken.into()]).await?;
        tribunal_store::crashpoint!("run.task.taken");
        let left = self.work_on(&case, task).await;
        let (state, why) = match left {
            Ok((state, why)) => (state, why),
            // A late result changes nothing; what the agent said lies in the files of its run. What
            // it wrote may be gone by now, which is no error either.
            Err(_) if case.is_taken_over().await => {
                let record = self.engine.ledger.store().find_task(id.as_str()).await?;
                let why = "another runner took it over; what came late was not counted";
                (record.task.state, Some(why.to_owned()))
            }
            Err(error) => return Err(error),
        };
        let gone = WorkEvent::TaskLeft {
            task: id.clone(),
            title: title.clone(),
            state,
            why: why.clone(),
        };
        self.case.record([gone.into()]).await?;
        Ok(Some(LeftTask {
            task: id.clone(),
            title,
            state,
            why,
        }))
    }

    async fn work_on(
        &self,
        case: &Case,
        task: Task,
    ) -> Result<(TaskState, Option<String>), CaseError> {
        let record = self
            .engine
            .ledger
            .store()
            .find_case(case.id().as_str())
            .await?;
        let seed = record.request.get("seed").and_then(|seed| seed.as_str());
        let visit = Visit {
            engine: self.engine,
            settings: self.settings,
            arbiter: &self.arbiter,
            repo: &self.repo,
            case,
            directory: &self.wish.directory,
            seed: seed.unwrap_or(case.id().as_str()),
            limits: &self.limits,
            place: self
                .engine
                .dir
                .worktrees(case.id())
                .join(format!("work-{:08x}", crate::random_bits())),
            start: Mutex::default(),
        };
        let standing = task.state;
        match visit.attend(task).await {
            Ok(Visited::Left { task, why }) => {
                visit.leave(task.state).await?;
                Ok((task.state, why))
            }
            Ok(Visited::Dispute { task, contest }) => {
                visit.keep_disputed(&task).await?;
                visit.leave(task.state).await?;
                self.dispute(&task, contest).await
            }
            Err(CaseError::Parked { why, .. }) => {
                let now = self
                    .engine
                    .ledger
                    .store()
                    .find_task(case.id().as_str())
                    .await;
                let state = now.map_or(standing, |record| record.task.state);
                visit.leave(state).await?;
                Ok((state, Some(waits(&why))))
            }
            Err(error) => Err(error),
        }
    }

    /// Lets the task wait for a ruling. That happens once, whatever comes between.
    async fn dispute(
        &self,
        task: &Task,
        contest: Contest,
    ) -> Result<(TaskState, Option<String>), CaseError> {
        let store = self.engine.ledger.store();
        let opened = match contest {
            Contest::Open(dispute) => self.engine.open_dispute(*dispute).await,
            Contest::Refer(dispute, referral) => {
                self.engine.refer_dispute(&dispute, referral).await
            }
        };
        tribunal_store::crashpoint!("run.dispute.opened");
        let dispute = match opened {
            Ok(dispute) => dispute,
            // A person was faster with a dispute of their own.
            Err(CaseError::Store(StoreError::OpenDispute { .. })) => {
                let open = store.open_dispute_of(task.id.as_str()).await?;
                open.ok_or_else(|| CaseError::Request("the dispute was settled".to_owned()))?
            }
            Err(error) => return Err(error),
        };
        // Whoever ruled meanwhile has moved it on.
        let now = store.find_task(task.id.as_str()).await?.task.state;
        if now == TaskState::Disputed && self.settings.disputes.on_major == OnMajor::Halt {
            let mut halted = self.halted.lock().unwrap_or_else(PoisonError::into_inner);
            let why = format!("task {} is disputed ({})", task.id, dispute.id);
            halted.get_or_insert(why);
        }
        Ok((now, None))
    }

    /// Returns why the run ended, in words and as what.
    fn why(&self) -> (String, End) {
        let halted = self.halted.lock().unwrap_or_else(PoisonError::into_inner);
        if self.engine.stop.is_cancelled() {
            return ("stopped as asked".to_owned(), End::Stop);
        }
        if let Some(why) = self.limits.reason() {
            return (why, End::Limit);
        }
        match (&*halted, self.wish.once) {
            (Some(why), _) => (why.clone(), End::Halt),
            (None, true) => ("one task was asked for".to_owned(), End::Done),
            (None, false) => ("nothing is left to do".to_owned(), End::Done),
        }
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

fn waits(why: &Pause) -> String {
    match why {
        Pause::Interrupted => "stopped as asked".to_owned(),
        Pause::Budget { cap, detail } => format!("budget of the {cap}: {detail}"),
        Pause::Provider { provider, class } => format!("{provider} cannot answer now ({class})"),
        _ => "it waits".to_owned(),
    }
}

fn as_case_error(error: TaskError) -> CaseError {
    match error {
        TaskError::Case(error) => error,
        other => CaseError::Request(other.to_string()),
    }
}
