//! Why a task is where it is: what the loop said when it left it, and where its work is kept.

use tribunal_core::event::{EventKind, TaskEvent};
use tribunal_core::ids::CaseId;
use tribunal_core::task::Task;
use tribunal_store::{Store, StoreError};

use super::all_events;
use crate::Engine;
use crate::case::{Case, CaseError, blocking};
use crate::change::Repository;
use crate::delivery::task_branch;
use crate::run::LEFT_BECAUSE;
use crate::worktree::branch_commit;

/// Returns why the loop left a task that was not moved since, in its own words.
pub async fn why_left(store: &dyn Store, task: &CaseId) -> Result<Option<String>, StoreError> {
    let mut why = None;
    for event in all_events(store, task).await? {
        match &event.kind {
            EventKind::Task(TaskEvent::TaskMoved { .. }) => why = None,
            EventKind::Noted { text } => {
                let left = text.strip_prefix(LEFT_BECAUSE).map(str::to_owned);
                why = left.or(why);
            }
            _ => {}
        }
    }
    Ok(why)
}

impl Engine {
    /// Keeps the work of the loop on a task that a person gives up, and says where; nothing where there is
    /// none, or none within reach.
    pub(super) async fn keep_given_up(
        &self,
        case: &Case,
        task: &Task,
    ) -> Result<Option<String>, CaseError> {
        let work = match self.work_of_task(&task.id).await {
            Ok(Some(work)) => work,
            Ok(None) | Err(CaseError::Change(_)) => return Ok(None),
            Err(error) => return Err(error),
        };
        let branch = task_branch(&task.id);
        let problem = self.delivery(case, &work).keep(&branch, &work.commit);
        Ok(Some(match problem.await? {
            Some(problem) => problem,
            None => format!("Its work is kept on {branch}"),
        }))
    }

    /// Returns the branch in the user's repository on which the work on a task is kept, if it is there.
    pub async fn branch_of_task(&self, task: &CaseId) -> Result<Option<String>, CaseError> {
        let Some(project) = self.disputes.project.clone() else {
            return Ok(None);
        };
        let (clone, branch) = (self.dir.clone_of_repository(), task_branch(task));
        let found = blocking(move || {
            let repo = Repository::open(&project, clone)?;
            Ok(branch_commit(&repo, &branch)?.map(|_| branch))
        });
        // Without a repository there is no branch.
        Ok(found.await.unwrap_or_default())
    }
}
