//! Work that a person committed themselves, submitted to be reviewed like that of the loop.

use tribunal_core::event::{EventKind, TaskEvent, WorkEvent};
use tribunal_core::ids::CaseId;
use tribunal_core::task::Task;

use super::{MoveRequest, TaskError, moved, rest};
use crate::Engine;
use crate::case::{CaseError, blocking};
use crate::change::{Repository, fork_point, resolve_commit};
use crate::delivery::git::base;
use crate::worktree::touched;

/// A commit with work, as it is put on a task's record.
struct Submitted {
    base: String,
    commit: String,
    files: Vec<String>,
}

impl Engine {
    /// Submits the work that `revision` names. What lies between it and the approved work, or `HEAD`
    /// where nothing was approved yet, is what the loop reviews.
    pub async fn submit_commit(
        &self,
        id: &CaseId,
        revision: &str,
        request: MoveRequest,
    ) -> Result<Task, TaskError> {
        let (case, task) = self.hold_task(id).await?;
        let submitted = async {
            let (event, after) = moved(&task, request)?;
            let work = self.submitted(id, revision).await?;
            Ok::<_, TaskError>((event, after, work))
        };
        let (event, after, work) = match submitted.await {
            Ok(submitted) => submitted,
            Err(error) => {
                // Nothing happened, so nothing is told; the lease alone goes back.
                case.release().await?;
                return Err(error);
            }
        };
        let based = WorkEvent::WorkBased { base: work.base };
        let kept = TaskEvent::WorkKept {
            commit: work.commit,
            branch: own_ref(id),
            files: work.files,
        };
        let events: [EventKind; 4] = [based.into(), kept.into(), event.into(), rest(after.state)];
        case.record(events).await?;
        Ok(after)
    }

    async fn submitted(&self, id: &CaseId, revision: &str) -> Result<Submitted, TaskError> {
        let Some(project) = &self.disputes.project else {
            let why = "there is no project whose commits could be submitted";
            return Err(TaskError::Unfit(why.to_owned()));
        };
        let repo = Repository::open(project, self.dir.clone_of_repository());
        let repo = repo.map_err(CaseError::from)?;
        let (branch, name) = (self.disputes.branch.clone(), own_ref(id));
        let asked = revision.to_owned();
        let work = move || {
            let commit = resolve_commit(&repo, &asked)?;
            let approved = base(&repo, &branch)?;
            let base = fork_point(&repo, &asked, &commit, &approved)?;
            let files = touched(&repo, &base, &commit)?;
            // In our own repository, so that it is there for as long as the record speaks of it.
            let call = repo.call().args(["update-ref", &name, &commit]);
            call.output()?;
            Ok(Submitted {
                base,
                commit,
                files,
            })
        };
        let work = blocking(work).await?;
        if work.files.is_empty() {
            let why = format!("`{revision}` changes nothing that is not approved already");
            return Err(TaskError::Unfit(why));
        }
        Ok(work)
    }
}

fn own_ref(id: &CaseId) -> String {
    format!("refs/tribunal/task/{id}")
}
