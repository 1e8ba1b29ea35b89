//! The loop itself: a task is taken, attended to and left, until there is a reason to stop.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tribunal_core::case::Pause;
use tribunal_core::dispute::Status;
use tribunal_core::event::WorkEvent;
use tribunal_core::ids::{CaseId, DisputeId};
use tribunal_core::task::next::Turn;
use tribunal_core::task::{Task, TaskState};
use tribunal_store::{DisputeFilter, StoreError};

use super::visit::{Contest, Visit, Visited};
use super::{LeftTask, Loop, queue_of};
use crate::Engine;
use crate::case::{Case, CaseError};
use crate::change::ChangeError;
use crate::config::{OnMajor, Settings};
use crate::task::TaskError;

/// How long somebody who has nothing to do waits before it looks at the list again while others work.
const LOOK_AGAIN: Duration = Duration::from_millis(200);

impl Loop<'_> {
    /// Takes tasks until there is nothing left to do.
    pub(super) async fn work_in(&self, lane: u32) -> Result<(), CaseError> {
        loop {
            if self.is_over() {
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
            if self.wish.once && self.begun.swap(true, Ordering::SeqCst) {
                return Ok(());
            }
            self.hold(id);
            let visited = self.visit(id, *turn, lane).await;
            self.let_go(id);
            match visited {
                Ok(Some(left)) => {
                    let mut all = self.left.lock().unwrap_or_else(PoisonError::into_inner);
                    all.push(left);
                }
                // Somebody else was faster.
                Ok(None) => self.begun.store(false, Ordering::SeqCst),
                Err(error) => return Err(error),
            }
        }
    }

    fn is_wanted(&self, id: &CaseId) -> bool {
        self.wish.task.as_ref().is_none_or(|task| task == id)
    }

    fn is_over(&self) -> bool {
        let halted = self.halted.lock().unwrap_or_else(PoisonError::into_inner);
        halted.is_some() || self.limits.reason().is_some() || self.engine.stop.is_asked()
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
        lane: u32,
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
        let store = self.engine.ledger.store();
        // Work that is gone holds up its own task alone.
        if let Err(CaseError::Change(error @ ChangeError::WorkElsewhere { .. })) =
            self.engine.work_of_task(id).await
        {
            case.release().await?;
            let record = store.find_task(id.as_str()).await?;
            return Ok(Some(LeftTask {
                task: id.clone(),
                title: task.brief.title.clone(),
                state: task.state,
                why: Some(format!("{error}; submit it again, or reject it")),
                rejections: task.rejections,
                spend: record.spend,
            }));
        }
        let before = store.family_spend(id).await?;
        self.limits.take(id, before);
        let title = task.brief.title.clone();
        let taken = WorkEvent::TaskTaken {
            task: id.clone(),
            title: title.clone(),
            turn,
            lane,
            before,
        };
        self.case.record([taken.into()]).await?;
        tribunal_store::crashpoint!("run.task.taken");
        let (state, why) = self.work_on(&case, task).await?;
        let record = store.find_task(id.as_str()).await?;
        self.limits.leave(id, record.spend);
        let gone = WorkEvent::TaskLeft {
            task: id.clone(),
            title: title.clone(),
            state,
            why: why.clone(),
            after: record.spend,
        };
        self.case.record([gone.into()]).await?;
        Ok(Some(LeftTask {
            task: id.clone(),
            title,
            state,
            why,
            rejections: record.task.rejections,
            spend: record.spend,
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
            unrecorded: Mutex::default(),
        };
        match self.carry_through(&visit, task).await {
            // A late result changes nothing; what the agent said lies in the files of its run. What
            // it wrote may be gone by now, which is no error either.
            Err(_) if case.is_taken_over().await => {
                self.note_late(&visit).await?;
                let store = self.engine.ledger.store();
                let record = store.find_task(case.id().as_str()).await?;
                let why = "another runner took it over; what came late was not counted";
                Ok((record.task.state, Some(why.to_owned())))
            }
            other => other,
        }
    }

    /// Puts on the run's record what an agent answered for a task that had gone to another runner.
    async fn note_late(&self, visit: &Visit<'_>) -> Result<(), CaseError> {
        let Some(late) = visit.unrecorded() else {
            return Ok(());
        };
        let reply = self.engine.dir.run(&late.run).join("reply.json");
        let Ok(reply) = std::fs::read(reply) else {
            return Ok(());
        };
        let came = WorkEvent::CameLate {
            task: visit.case.id().clone(),
            run: late.run,
            reply_hash: crate::files::hash_of(&reply),
            commit: late.commit,
        };
        self.case.record([came.into()]).await
    }

    /// Works on a task until it can be left, and leaves it.
    async fn carry_through(
        &self,
        visit: &Visit<'_>,
        task: Task,
    ) -> Result<(TaskState, Option<String>), CaseError> {
        let (case, standing) = (visit.case, task.state);
        match visit.attend(task).await {
            Ok(Visited::Left { task, why }) => {
                visit.leave(task.state, why.as_deref()).await?;
                Ok((task.state, why))
            }
            Ok(Visited::Dispute { task, contest }) => {
                visit.keep_disputed(&task).await?;
                visit.leave(task.state, None).await?;
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
                let why = waits(&why);
                visit.leave(state, Some(&why)).await?;
                Ok((state, Some(why)))
            }
            Err(error) => Err(error),
        }
    }

    /// Lets the run begin nothing while a dispute about a task of the list waits for a ruling, where
    /// the config wants that.
    pub(super) async fn halt_for_open_dispute(&self) -> Result<(), CaseError> {
        if let Some(why) = self.engine.halting_dispute(self.settings).await? {
            let mut halted = self.halted.lock().unwrap_or_else(PoisonError::into_inner);
            halted.get_or_insert(why);
        }
        Ok(())
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
            halted.get_or_insert(halted_by(&task.id, &dispute.id));
        }
        Ok((now, None))
    }
}

impl Engine {
    /// Returns the oldest open dispute about a task of the list for which a run begins nothing, in
    /// one sentence without an end; nothing where the config lets other work go on.
    pub async fn halting_dispute(&self, settings: &Settings) -> Result<Option<String>, CaseError> {
        if settings.disputes.on_major != OnMajor::Halt {
            return Ok(None);
        }
        let store = self.ledger.store();
        let open = DisputeFilter {
            status: Some(Status::Open),
            ..DisputeFilter::default()
        };
        for dispute in store.disputes(&open).await?.into_iter().rev() {
            let Some(task) = dispute.task() else { continue };
            let record = store.find_task(task).await?;
            if record.task.state == TaskState::Disputed {
                return Ok(Some(halted_by(&record.task.id, &dispute.id)));
            }
        }
        Ok(None)
    }
}

fn halted_by(task: &CaseId, dispute: &DisputeId) -> String {
    format!(
        "task {task} is disputed ({dispute}), and `disputes.on_major: halt` lets nothing begin \
         before it is resolved"
    )
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
