//! Work that a person committed themselves, submitted to be reviewed like that of the loop.

use tribunal_core::event::{EventKind, TaskEvent, WorkEvent};
use tribunal_core::ids::CaseId;
use tribunal_core::task::Task;
use tribunal_core::text::truncate_chars;
use tribunal_core::time::Timestamp;

use super::{MoveRequest, TaskError, moved, rest};
use crate::Engine;
use crate::case::{CaseError, blocking};
use crate::change::{ChangeError, Repository, fork_point, resolve_commit, work_start};
use crate::worktree::{Signature, branch_commit, commit, touched};

/// A commit with work, as it is put on a task's record.
struct Submitted {
    base: String,
    commit: String,
    files: Vec<String>,
}

impl Engine {
    /// Submits the work that `revision` names. What lies between it and the approved work is what the
    /// loop reviews; where nothing was approved yet, what it adds to `HEAD`, to the default branch or
    /// to its parent.
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
        let at = self.ledger.store().now().await?;
        let work = move || {
            let commit = resolve_commit(&repo, &asked)?;
            let base = match branch_commit(&repo, &branch)? {
                Some(approved) => fork_point(&repo, &asked, &commit, &approved)?,
                None => match work_start(&repo, &asked, &commit)? {
                    Some(start) => start,
                    None => nothing(&repo, at)?,
                },
            };
            let files = touched(&repo, &base, &commit)?;
            keep_objects(&repo, &base, &commit)?;
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
        if work.base == work.commit {
            let branch = &self.disputes.branch;
            let why = format!("`{revision}` is part of `{branch}` already, so it is approved");
            return Err(TaskError::Unfit(why));
        }
        if work.files.is_empty() {
            let base = truncate_chars(&work.base, 12);
            let why = format!("`{revision}` changes no file since {base}");
            return Err(TaskError::Unfit(why));
        }
        Ok(work)
    }
}

/// Makes a commit without files, from which the first commit of a project starts.
fn nothing(repo: &Repository, at: Timestamp) -> Result<String, ChangeError> {
    let signature = Signature {
        author: "Tribunal",
        message: "Nothing",
        at,
    };
    commit(repo, repo.format.empty_tree(), None, signature)
}

/// Copies what a commit adds to `base` into our own repository, where no clean-up of the user's
/// repository reaches it.
fn keep_objects(repo: &Repository, base: &str, commit: &str) -> Result<(), ChangeError> {
    let wanted = format!("{commit}\n^{base}\n");
    let call = repo
        .call()
        .args(["pack-objects", "--revs", "--stdout", "-q"]);
    let pack = call.input(wanted.into_bytes()).output()?;
    let call = repo.call().args(["index-pack", "--stdin", "--fix-thin"]);
    call.input(pack).output().map(|_| ())
}

fn own_ref(id: &CaseId) -> String {
    format!("refs/tribunal/task/{id}")
}
