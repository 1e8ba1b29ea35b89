//! What a dispute does with the work on its task: kept and pushed while it is contested, and put
//! with the approved work once a ruling is for the coder.
//!
//! Only work of the loop is touched. Who works by hand commits and pushes by hand.

use tribunal_core::dispute::Dispute;
use tribunal_core::event::EventKind;
use tribunal_core::ids::CaseId;

use crate::Engine;
use crate::case::{Case, CaseError};
use crate::change::Repository;
use crate::delivery::git::{Approved, Integrated};
use crate::delivery::{Delivery, task_branch};
use crate::run::Progress;
use crate::task::all_events;

/// The work of the loop on a task.
struct Work {
    task: CaseId,
    base: String,
    commit: String,
    repo: Repository,
}

impl Engine {
    /// Keeps the contested work on a task on a branch of its own and pushes it.
    pub(super) async fn keep_work(&self, case: &Case, task: &str) -> Result<(), CaseError> {
        let Some(work) = self.work_on(task).await? else {
            return Ok(());
        };
        let (delivery, branch) = (self.delivery(case, &work), task_branch(&work.task));
        delivery.keep(&branch, &work.commit).await?;
        delivery.push(&branch, &work.commit).await.map(|_| ())
    }

    /// Puts the work on a task with the approved work and pushes it. Where that cannot be, the
    /// dispute's story says so.
    pub(super) async fn approve_work(
        &self,
        case: &Case,
        dispute: &Dispute,
        task: &str,
    ) -> Result<(), CaseError> {
        let (Some(work), Some(ruling)) = (self.work_on(task).await?, dispute.ruling()) else {
            return Ok(());
        };
        let delivery = self.delivery(case, &work);
        let record = self.ledger.store().find_task(work.task.as_str()).await?;
        let target = self.disputes.branch.clone();
        let approved = Approved::of_task(&record.task, target, &work.base, &work.commit, ruling.at);
        let problem = match delivery.integrate(&approved).await {
            Ok(Integrated::Commit(commit)) => {
                delivery.push(&approved.branch, &commit).await?;
                return Ok(());
            }
            Ok(Integrated::Conflict(files)) => {
                let files = files.join(", ");
                format!("what was approved meanwhile contradicts the work in {files}")
            }
            Err(CaseError::Change(error)) => error.to_string(),
            Err(error) => return Err(error),
        };
        let branch = task_branch(&work.task);
        let text = format!("{problem}; the work stays on {branch}");
        case.record([EventKind::Noted { text }]).await
    }

    /// Returns the work of the loop on a task; nothing if it was done by hand or not begun.
    async fn work_on(&self, task: &str) -> Result<Option<Work>, CaseError> {
        let task = CaseId::new(task).map_err(|error| CaseError::Request(error.to_string()))?;
        let progress = Progress::of(&all_events(self.ledger.store().as_ref(), &task).await?);
        let worked = progress.base.clone().zip(progress.commit.clone());
        let worked = worked.filter(|_| progress.has_work());
        let (Some((base, commit)), Some(project)) = (worked, &self.disputes.project) else {
            return Ok(None);
        };
        let repo = Repository::open(project, self.dir.clone_of_repository())?;
        Ok(Some(Work {
            task,
            base,
            commit,
            repo,
        }))
    }

    fn delivery<'a>(&'a self, case: &'a Case, work: &'a Work) -> Delivery<'a> {
        Delivery {
            engine: self,
            repo: &work.repo,
            settings: &self.disputes.git,
            case,
        }
    }
}
