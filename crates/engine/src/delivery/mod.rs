//! What becomes of an agent's work: on a branch that collects it, on one of its own, and pushed.
//!
//! Each is an effect of the case on whose behalf it is done, so it takes hold once however often it
//! is begun. Of the user's repository only refs and objects are written.

mod address;
pub(crate) mod git;
mod push;
pub(crate) mod work;

pub use push::Push;
pub(crate) use push::Pushes;

use std::sync::Mutex;

use tribunal_core::case::Pause;
use tribunal_core::event::EventKind;
use tribunal_core::ids::EffectKey;

use crate::Engine;
use crate::case::{Case, CaseError, blocking};
use crate::change::{ChangeError, Repository};
use crate::config::{GitSettings, PushChoice, Settings};
use crate::worktree;
use git::{Approved, Integrated};

/// The branch that collects approved work, unless the config names another.
const WORK_BRANCH: &str = "tribunal/work";

/// How work is handed over, and on whose behalf.
#[derive(Clone, Copy)]
pub(crate) struct Delivery<'a> {
    pub(crate) engine: &'a Engine,
    pub(crate) repo: &'a Repository,
    pub(crate) settings: &'a GitSettings,
    /// The case whose effects these are.
    pub(crate) case: &'a Case,
}

/// Returns the branch that collects approved work.
pub(crate) fn work_branch(settings: &Settings) -> String {
    let named = settings.run.branch.clone();
    named.unwrap_or_else(|| WORK_BRANCH.to_owned())
}

/// Returns the branch on which the disputed work on a task is kept.
pub(crate) fn task_branch(task: &tribunal_core::ids::CaseId) -> String {
    format!("tribunal/task/{task}")
}

/// Returns the key under which approved work is put on the branch that collects it.
pub(crate) fn integrate_key(branch: &str, commit: &str) -> Result<EffectKey, CaseError> {
    Ok(EffectKey::new(format!("integrate {commit} into {branch}"))?)
}

/// Returns the key under which work is kept on a branch of its own.
pub(crate) fn keep_key(branch: &str, commit: &str) -> Result<EffectKey, CaseError> {
    Ok(EffectKey::new(format!("keep {commit} as {branch}"))?)
}

impl Delivery<'_> {
    /// Puts approved work on the branch that collects it.
    pub(crate) async fn integrate(self, approved: &Approved) -> Result<Integrated, CaseError> {
        let (branch, commit) = (&approved.branch, &approved.commit);
        let key = integrate_key(branch, commit)?;
        let conflict = Mutex::new(None);
        let probe = || async {
            let (repo, approved) = (self.repo.clone(), approved.clone());
            blocking(move || git::find(&repo, &approved)).await
        };
        let act = || async {
            let (repo, approved) = (self.repo.clone(), approved.clone());
            match blocking(move || git::integrate(&repo, &approved)).await? {
                Integrated::Commit(_) => Ok(()),
                Integrated::Conflict(files) => {
                    if let Ok(mut conflict) = conflict.lock() {
                        *conflict = Some(files);
                    }
                    Err(left_undone())
                }
            }
        };
        let what = format!("put the work on {branch}");
        let done = self.case.effect(&key, &what, probe, act).await;
        let conflict = conflict.into_inner().unwrap_or_default();
        match (done, conflict) {
            (_, Some(files)) => Ok(Integrated::Conflict(files)),
            (Ok(commit), None) => Ok(Integrated::Commit(commit)),
            (Err(error), None) => Err(error),
        }
    }

    /// Keeps work on a branch of its own. Where the user has checked that branch out it stays as it
    /// is, which is on record and returned as a sentence; the work lies in our own repository.
    pub(crate) async fn keep(
        self,
        branch: &str,
        commit: &str,
    ) -> Result<Option<String>, CaseError> {
        let key = keep_key(branch, commit)?;
        let probe = || async {
            let (repo, branch) = (self.repo.clone(), branch.to_owned());
            let there = blocking(move || worktree::branch_commit(&repo, &branch)).await?;
            Ok(there.filter(|there| there == commit))
        };
        let act = || async {
            let (repo, branch) = (self.repo.clone(), branch.to_owned());
            let commit = commit.to_owned();
            blocking(move || {
                let from = worktree::branch_commit(&repo, &branch)?;
                worktree::advance(&repo, &commit, &branch, from.as_deref()).map(|_| ())
            })
            .await
        };
        let what = format!("keep the work on {branch}");
        match self.case.effect(&key, &what, probe, act).await {
            Ok(_) => Ok(None),
            Err(CaseError::Change(error @ ChangeError::BranchCheckedOut { .. })) => {
                let text = format!("{error}; the newest work was not put there");
                let noted = EventKind::Noted { text: text.clone() };
                self.case.record([noted]).await?;
                Ok(Some(text))
            }
            Err(error) => Err(error),
        }
    }

    async fn remote(self) -> Result<Option<git::Remote>, CaseError> {
        let repo = self.repo.clone();
        let name = self.settings.remote.clone();
        let local = self.settings.allow_local;
        match self.settings.push {
            PushChoice::Never => Ok(None),
            PushChoice::Auto => blocking(move || git::upstream(&repo, local)).await,
            PushChoice::Always => blocking(move || git::remote(&repo, &name, local)).await,
        }
    }
}

/// Returns what leaves an effect announced and not made, for those who handle it here.
fn left_undone() -> CaseError {
    CaseError::Parked {
        why: Pause::Turn,
        until: None,
    }
}
