//! The loop: it takes one task after the other, drives each to its end, and says why it stopped.
//!
//! A task is taken by the lease of its case, so that no two runners ever work on one; what a runner
//! did that lost its lease changes nothing. Work goes on in a place of its own; the user's files,
//! index and stash are never touched.

mod brief;
mod cast;
mod develop;
mod end;
mod guide;
mod limits;
mod progress;
mod prospect;
mod replay;
mod review;
mod stall;
mod turns;
mod visit;
mod work;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use serde::{Deserialize, Serialize};
use tribunal_core::agent::Role;
use tribunal_core::arbiter::Candidate;
use tribunal_core::arbiter::rules::Rule;
use tribunal_core::case::{CaseKind, CaseState};
use tribunal_core::event::{Event, WorkEvent};
use tribunal_core::ids::CaseId;
use tribunal_core::money::{MicroUsd, Spend};
use tribunal_core::task::next::{Blocked, Listed, Queue, Turn, queue};
use tribunal_core::task::{Task, TaskState};
use tribunal_store::TaskRecord;

use self::limits::Limits;
pub(crate) use self::progress::{Progress, note_of_dispute};
pub use self::prospect::Prospect;
pub(crate) use self::replay::RecordedRun;
pub(crate) use self::visit::LEFT_BECAUSE;
use crate::Engine;
use crate::arbiter::{Arbiter, DecisionCounts};
use crate::case::{Case, CaseError, blocking};
use crate::change::Repository;
use crate::config::{Roster, Settings};
use crate::delivery::{Push, git, work_branch};
use crate::task::all_events;
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
    /// Most executions for one task between two reviews, where the config is not to decide.
    #[serde(default)]
    pub max_iterations: Option<u32>,
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
    /// What it has cost, whoever began it; tokens aside.
    pub spend: Spend,
    /// What the user should know.
    pub warnings: Vec<String>,
    /// Who made its decisions.
    pub decisions: DecisionCounts,
    /// What was pushed, and what could not be.
    pub pushes: Vec<Push>,
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
    /// How often its work was rejected, in all runs.
    pub rejections: u32,
    /// What it has cost in all runs, with its arbiter, reviews and disputes.
    pub spend: Spend,
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
    /// Whether the one task that was asked for is somebody's.
    begun: AtomicBool,
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
        self.carry_out_run(case, settings, wish, &[]).await
    }

    /// Goes on with a case of [`CaseKind::Run`], within the limits that it was begun with. What it has
    /// cost counts; a person may set the most that it may cost anew.
    pub async fn resume_run(
        &self,
        settings: &Settings,
        id: &CaseId,
        request: serde_json::Value,
        max_cost: Option<MicroUsd>,
    ) -> Result<RunReport, CaseError> {
        let wish: RunWish = serde_json::from_value(request).map_err(|error| {
            CaseError::Request(format!("the recorded request cannot be read: {error}"))
        })?;
        check_cast(settings)?;
        let case = self.take_over(id).await?;
        if let Some(max_cost) = max_cost {
            let set = WorkEvent::CapSet { max_cost };
            case.record([set.into()]).await?;
        }
        let earlier = all_events(self.ledger.store().as_ref(), id).await?;
        self.carry_out_run(case, settings, wish, &earlier).await
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
        earlier: &[Event],
    ) -> Result<RunReport, CaseError> {
        let mut settings = settings.clone();
        settings.run.max_iterations = wish.max_iterations.unwrap_or(settings.run.max_iterations);
        let settings = &settings;
        let repo = Repository::open(&wish.directory, self.dir.clone_of_repository())?;
        repo.versioned()?;
        let (target, branch) = (repo.clone(), work_branch(settings));
        // Where the work could not go is told before anybody works.
        blocking(move || {
            check_free(&target, &branch)?;
            git::base(&target, &branch)
        })
        .await?;
        let until = wish.max_time_ms.map(Duration::from_millis);
        let until = until.and_then(|time| Instant::now().checked_add(time));
        let work = Loop {
            engine: self,
            settings,
            wish: &wish,
            arbiter: Arbiter::new(settings),
            repo,
            case: &case,
            limits: Limits::new(wish.max_cost, until, self.caps.assumed, earlier),
            held: Mutex::default(),
            left: Mutex::default(),
            halted: Mutex::default(),
            begun: AtomicBool::new(false),
        };
        case.record([]).await?;
        self.push_what_is_behind().await?;
        work.halt_for_open_dispute().await?;
        let lanes = (1..=wish.parallel.max(1)).map(|lane| work.work_in(lane));
        let ended: Result<Vec<()>, CaseError> = join_all(lanes).await.into_iter().collect();
        ended?;
        let ending = work.ending().await?;
        ending.close(case).await
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
