//! The loop itself: a task is taken, attended to and left, until there is a reason to stop.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tribunal_core::case::Pause;
use tribunal_core::event::WorkEvent;
use tribunal_core::ids::CaseId;
use tribunal_core::task::next::Turn;
use tribunal_core::task::{Task, TaskState};
use tribunal_store::StoreError;

use super::visit::{Contest, Visit, Visited};
use super::{End, LeftTask, Loop, queue_of};
use crate::case::{Case, CaseError};
use crate::config::OnMajor;
use crate::task::TaskError;

/// How long somebody who has nothing to do waits before it looks at the list again while others work.
const LOOK_AGAIN: Duration = Duration::from_millis(200);

impl Loop<'_> {
    /// Takes tasks until there is nothing left to do.
    pub(super) async fn worker(&self, worker: u32) -> Result<(), CaseError> {
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
    pub(super) fn why(&self) -> (String, End) {
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
