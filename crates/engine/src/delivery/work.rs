//! The work of the loop on one task, as far as others than the loop deal with it: whoever approves
//! it by hand, and whoever rules about it.
//!
//! Who works by hand commits and pushes by hand.

use tribunal_core::ids::CaseId;
use tribunal_core::task::Task;
use tribunal_core::text::truncate_chars;
use tribunal_core::time::Timestamp;

use super::Delivery;
use super::git::{Approved, Integrated, contradiction};
use crate::Engine;
use crate::case::{Case, CaseError, blocking};
use crate::change::names::may_hold_credentials;
use crate::change::{ChangeError, Repository};
use crate::run::Progress;
use crate::task::all_events;
use crate::worktree::kind_of;

/// The work of the loop on a task.
pub(crate) struct TaskWork {
    pub(crate) task: CaseId,
    base: String,
    pub(crate) commit: String,
    files: Vec<String>,
    repo: Repository,
}

/// So many files of the work are shown to a judge.
const MOST_FILES: usize = 200;

impl TaskWork {
    /// Returns the files that it changes.
    pub(crate) fn files(&self) -> &[String] {
        &self.files
    }

    /// Returns what it changes as a judge is shown it, without files that may hold credentials and
    /// in at most so many characters.
    pub(crate) async fn diff(&self, most: usize) -> Result<String, CaseError> {
        let shown = self.files.iter().filter(|file| !may_hold_credentials(file));
        let shown: Vec<String> = shown.take(MOST_FILES).cloned().collect();
        let (repo, base, commit) = (self.repo.clone(), self.base.clone(), self.commit.clone());
        let heading = format!(
            "DIFF of the work on the task, from {} to {}\n",
            truncate_chars(&base, 12),
            truncate_chars(&commit, 12)
        );
        let diff = blocking(move || {
            if shown.is_empty() {
                return Ok(Vec::new());
            }
            let args = [
                "diff",
                "--no-color",
                "--no-ext-diff",
                "--no-textconv",
                "-U20",
            ];
            let call = repo.call().args(args).args([&base, &commit]);
            call.args(["--"]).args(shown).output()
        });
        let text = heading + &String::from_utf8_lossy(&diff.await?);
        Ok(truncate_chars(&text, most).into_owned())
    }
}

/// Where approved work lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Delivered {
    /// On the branch that collects it.
    There {
        /// The branch.
        branch: String,
        /// The commit.
        commit: String,
    },
    /// It contradicts what was approved meanwhile in these files.
    Conflict(Vec<String>),
}

impl Engine {
    /// Returns the work of the loop on a task; nothing if it was done by hand or not begun.
    ///
    /// # Errors
    ///
    /// Among others `WorkElsewhere`: there is work, and it cannot be delivered from here.
    pub(crate) async fn work_of_task(&self, task: &CaseId) -> Result<Option<TaskWork>, CaseError> {
        let progress = Progress::of(&all_events(self.ledger.store().as_ref(), task).await?);
        let worked = progress.base.clone().zip(progress.commit.clone());
        let worked = worked.filter(|_| progress.has_work());
        let Some((base, commit)) = worked else {
            return Ok(None);
        };
        let elsewhere = || ChangeError::WorkElsewhere {
            task: task.clone(),
            commit: commit.clone(),
            project: self.disputes.project.clone(),
        };
        let project = self.disputes.project.as_ref().ok_or_else(elsewhere)?;
        let repo = Repository::open(project, self.dir.clone_of_repository())?;
        // Several projects may share a ledger, and each has its work in a repository of its own.
        let (ours, wanted) = (repo.clone(), commit.clone());
        if blocking(move || kind_of(&ours, &wanted)).await?.is_none() {
            return Err(elsewhere().into());
        }
        Ok(Some(TaskWork {
            task: task.clone(),
            base,
            commit,
            files: progress.files,
            repo,
        }))
    }

    /// Returns the files in which what was approved meanwhile contradicts the work; nothing when
    /// it can be delivered.
    ///
    /// # Errors
    ///
    /// Among others, the branch of approved work is checked out somewhere.
    pub(crate) async fn contradicted_files(
        &self,
        work: &TaskWork,
    ) -> Result<Option<Vec<String>>, CaseError> {
        let (repo, branch) = (work.repo.clone(), self.disputes.branch.clone());
        let (base, commit) = (work.base.clone(), work.commit.clone());
        blocking(move || contradiction(&repo, &branch, &base, &commit)).await
    }

    /// Puts work with the approved work and pushes it, as effects of `case`.
    pub(crate) async fn deliver_work(
        &self,
        case: &Case,
        task: &Task,
        work: &TaskWork,
        at: Timestamp,
    ) -> Result<Delivered, CaseError> {
        let delivery = self.delivery(case, work);
        let branch = self.disputes.branch.clone();
        let approved = Approved::of_task(task, branch, &work.base, &work.commit, at);
        let commit = match delivery.integrate(&approved).await? {
            Integrated::Commit(commit) => commit,
            Integrated::Conflict(files) => return Ok(Delivered::Conflict(files)),
        };
        delivery.push(&approved.branch, &commit).await?;
        Ok(Delivered::There {
            branch: approved.branch,
            commit,
        })
    }

    /// Returns how work is handed over on behalf of `case`.
    pub(crate) fn delivery<'a>(&'a self, case: &'a Case, work: &'a TaskWork) -> Delivery<'a> {
        Delivery {
            engine: self,
            repo: &work.repo,
            settings: &self.disputes.git,
            case,
        }
    }
}
