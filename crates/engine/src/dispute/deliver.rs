//! What a dispute does with the work on its task: kept and pushed while it is contested, and put
//! with the approved work once a ruling is for the coder.
//!
//! Only work of the loop is touched. Who works by hand commits and pushes by hand.

use tribunal_core::dispute::Dispute;
use tribunal_core::event::EventKind;
use tribunal_core::ids::CaseId;

use crate::Engine;
use crate::case::{Case, CaseError};
use crate::delivery::task_branch;
use crate::delivery::work::{Delivered, TaskWork};

impl Engine {
    /// Keeps the contested work on a task on a branch of its own and pushes it.
    pub(super) async fn keep_work(&self, case: &Case, task: &str) -> Result<(), CaseError> {
        let Some(work) = self.contested_work(task).await? else {
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
        let (Some(work), Some(ruling)) = (self.contested_work(task).await?, dispute.ruling())
        else {
            return Ok(());
        };
        let record = self.ledger.store().find_task(work.task.as_str()).await?;
        let delivered = self.deliver_work(case, &record.task, &work, ruling.at);
        let problem = match delivered.await {
            Ok(Delivered::There { .. }) => return Ok(()),
            Ok(Delivered::Conflict(files)) => {
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

    async fn contested_work(&self, task: &str) -> Result<Option<TaskWork>, CaseError> {
        let task = CaseId::new(task).map_err(|error| CaseError::Request(error.to_string()))?;
        self.work_of_task(&task).await
    }
}
