//! What a dispute does with the work on its task: kept and pushed while it is contested, and put
//! with the approved work once a ruling is for the coder.
//!
//! Only work of the loop is touched. Who works by hand commits and pushes by hand.

use tribunal_core::dispute::{Dispute, Effect};
use tribunal_core::event::EventKind;
use tribunal_core::ids::{CaseId, EffectKey};
use tribunal_core::task::TaskState;
use tribunal_store::EffectState;

use crate::Engine;
use crate::case::{Case, CaseError};
use crate::change::ChangeError;
use crate::delivery::work::{Delivered, TaskWork};
use crate::delivery::{integrate_key, keep_key, task_branch};

impl Engine {
    /// Keeps the contested work on a task on a branch of its own and pushes it.
    pub(super) async fn keep_work(&self, case: &Case, task: &str) -> Result<(), CaseError> {
        let Some(work) = self.work_to_keep(case.id(), task).await? else {
            return Ok(());
        };
        let (delivery, branch) = (self.delivery(case, &work), task_branch(&work.task));
        delivery.keep(&branch, &work.commit).await?;
        delivery.push(&branch, &work.commit).await.map(|_| ())
    }

    /// Puts the work on a task with the approved work and pushes it, before the task is marked.
    ///
    /// A ruling that cannot be carried out is refused beforehand. What was approved between that
    /// and now may contradict the work all the same: then the dispute's story says so, and what the
    /// coder has to do about it is returned.
    pub(super) async fn approve_work(
        &self,
        case: &Case,
        dispute: &Dispute,
        task: &str,
        mark: &EffectKey,
    ) -> Result<Option<String>, CaseError> {
        let store = self.ledger.store();
        let state = store.find_task(task_id(task)?.as_str()).await?.task.state;
        let marked = store.effect(case.id(), mark).await?;
        if matches!(marked, EffectState::Done { .. }) && state != TaskState::Completed {
            // It was sent back, or somebody overruled it: there is nothing to deliver.
            return Ok(None);
        }
        let work = self.work_to_approve(case.id(), task).await?;
        let (Some(work), Some(ruling)) = (work, dispute.ruling()) else {
            return Ok(None);
        };
        let record = store.find_task(work.task.as_str()).await?;
        let delivered = self.deliver_work(case, &record.task, &work, ruling.at);
        let problem = match delivered.await {
            Ok(Delivered::There { .. }) => return Ok(None),
            Ok(Delivered::Conflict(files)) => contradicted(&files),
            Err(CaseError::Change(error)) => error.to_string(),
            Err(error) => return Err(error),
        };
        let branch = task_branch(&work.task);
        let text = format!("{problem}; the work stays on {branch}");
        case.record([EventKind::Noted { text }]).await?;
        Ok(Some(format!(
            "The ruling is for the coder, but {problem}. Bring the work up to date with what was \
             approved, and submit it again."
        )))
    }

    /// Refuses a ruling for the coder whose work cannot be put with the approved work, before
    /// anything is stored.
    pub(super) async fn check_deliverable(
        &self,
        dispute: &Dispute,
        effects: &[Effect],
    ) -> Result<(), CaseError> {
        let case = dispute.id.case();
        for effect in effects {
            let Effect::ApproveWork { task } = effect else {
                continue;
            };
            let Some(work) = self.work_to_approve(&case, task).await? else {
                continue;
            };
            if let Some(files) = self.contradicted_files(&work).await? {
                let record = self.ledger.store().find_task(work.task.as_str()).await?;
                return Err(CaseError::Undeliverable {
                    dispute: dispute.id.clone(),
                    task: work.task,
                    title: record.task.brief.title,
                    why: contradicted(&files),
                });
            }
        }
        Ok(())
    }

    /// Refuses what a dispute would do with work that lies elsewhere, before anything is stored.
    pub(super) async fn check_reach(
        &self,
        case: &CaseId,
        effects: impl IntoIterator<Item = &Effect>,
    ) -> Result<(), CaseError> {
        for effect in effects {
            match effect {
                Effect::KeepWork { task } => self.work_to_keep(case, task).await?,
                Effect::ApproveWork { task } => self.work_to_approve(case, task).await?,
                Effect::ReferNext { dispute, referral } => {
                    self.work_to_keep(&dispute.case(), &referral.task).await?
                }
                Effect::TrackFinding(_) | Effect::RenderFile | Effect::MarkTask { .. } => None,
            };
        }
        Ok(())
    }

    async fn work_to_keep(&self, case: &CaseId, task: &str) -> Result<Option<TaskWork>, CaseError> {
        let task = task_id(task)?;
        let branch = task_branch(&task);
        self.work_due(case, &task, |commit| keep_key(&branch, commit))
            .await
    }

    async fn work_to_approve(
        &self,
        case: &CaseId,
        task: &str,
    ) -> Result<Option<TaskWork>, CaseError> {
        let branch = &self.disputes.branch;
        self.work_due(case, &task_id(task)?, |commit| {
            integrate_key(branch, commit)
        })
        .await
    }

    /// Returns the work on a task with which something is to be done. What was done before needs no
    /// work, so that a dispute can be gone on with wherever its ledger is.
    async fn work_due(
        &self,
        case: &CaseId,
        task: &CaseId,
        key: impl FnOnce(&str) -> Result<EffectKey, CaseError>,
    ) -> Result<Option<TaskWork>, CaseError> {
        let work = self.work_of_task(task).await;
        if let Err(CaseError::Change(ChangeError::WorkElsewhere { commit, .. })) = &work {
            let done = self.ledger.store().effect(case, &key(commit)?).await?;
            if matches!(done, EffectState::Done { .. }) {
                return Ok(None);
            }
        }
        work
    }
}

fn contradicted(files: &[String]) -> String {
    let files = files.join(", ");
    format!("what was approved meanwhile contradicts the work in {files}")
}

/// Returns what a ruling for the coder would do with the work on the dispute's task.
pub(super) fn approval(dispute: &Dispute) -> Option<Effect> {
    let task = dispute.task()?.to_owned();
    Some(Effect::ApproveWork { task })
}

fn task_id(task: &str) -> Result<CaseId, CaseError> {
    CaseId::new(task).map_err(|error| CaseError::Request(error.to_string()))
}
