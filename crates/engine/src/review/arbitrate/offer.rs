//! The coder's work is handed over: as a branch, as a patch, or in the user's files.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use tribunal_core::event::ArbitrationEvent;
use tribunal_core::ids::EffectKey;
use tribunal_core::review::arbitration::Offer;

use super::Bench;
use crate::case::{CaseError, blocking};
use crate::change::{ChangeError, Repository};
use crate::files::{hash_of, write_shared};
use crate::worktree::{apply, branch_commit, in_the_way, is_applied, patch, publish, touched};

/// How the coder's work is to be handed over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "as", rename_all = "snake_case")]
pub enum OfferWish {
    /// As a branch of the repository.
    Branch,
    /// As a patch in a file.
    Patch {
        /// Which.
        file: PathBuf,
    },
    /// In the files of the working tree, if they are as they were reviewed.
    Apply,
    /// Only in our own clone: whoever asked goes on with it there.
    Keep,
}

impl Bench<'_> {
    /// Hands the work between two commits over; nothing when there is none.
    pub(super) async fn offer(
        &self,
        start: &str,
        commit: &str,
    ) -> Result<Option<Offer>, CaseError> {
        if start == commit {
            return Ok(None);
        }
        let offer = match &self.wish.recorded {
            Some(recorded) => recorded.offer.clone(),
            None => Some(self.hand_over(start, commit).await?),
        };
        if let Some(offer) = &offer {
            let offer = offer.clone();
            self.note(ArbitrationEvent::WorkOffered { offer }).await;
        }
        Ok(offer)
    }

    async fn hand_over(&self, start: &str, commit: &str) -> Result<Offer, CaseError> {
        let kept = |why: &str| Offer::Kept {
            commit: commit.to_owned(),
            why: why.to_owned(),
        };
        match &self.wish.offer {
            OfferWish::Branch if !self.repository.is_versioned() => Ok(kept(
                "there is no repository to put a branch in; `--offer patch=FILE` or `--apply` \
                 would have handed it over",
            )),
            OfferWish::Branch => self.offer_branch(commit).await,
            OfferWish::Patch { file } => self.offer_patch(start, commit, file.clone()).await,
            OfferWish::Apply => self.offer_files(start, commit).await,
            OfferWish::Keep => Ok(kept("the loop goes on with it")),
        }
    }

    async fn offer_branch(&self, commit: &str) -> Result<Offer, CaseError> {
        let branch = format!("tribunal/{}", self.case_id());
        let there = self
            .on_repository(commit, &branch, |repo, _, branch| {
                branch_commit(repo, branch)
            })
            .await?;
        if there.is_some_and(|there| there != commit) {
            let error = ChangeError::BranchTaken { branch };
            return Ok(Offer::Kept {
                commit: commit.to_owned(),
                why: error.to_string(),
            });
        }
        let probe = || async {
            let found = self
                .on_repository(commit, &branch, |repo, _, branch| {
                    branch_commit(repo, branch)
                })
                .await?;
            Ok(found.filter(|found| found == commit))
        };
        let act = || self.on_repository(commit, &branch, publish);
        let what = format!("make the branch {branch}");
        let key = EffectKey::new(format!("branch {branch} {commit}"))?;
        self.asking.case.effect(&key, &what, probe, act).await?;
        Ok(Offer::Branch {
            branch: branch.clone(),
            commit: commit.to_owned(),
        })
    }

    async fn offer_patch(
        &self,
        start: &str,
        commit: &str,
        file: PathBuf,
    ) -> Result<Offer, CaseError> {
        let bytes = self.on_repository(start, commit, patch).await?;
        let hash = hash_of(&bytes);
        let shown = file.display().to_string();
        let probe = || async {
            let there = std::fs::read(&file).ok().map(|bytes| hash_of(&bytes));
            Ok(there.filter(|there| *there == hash))
        };
        let act = || async {
            let doing = format!("write {shown}");
            write_shared(&file, &bytes).map_err(CaseError::file(doing))
        };
        let key = EffectKey::new(format!("patch {hash}"))?;
        let what = format!("write the patch {shown}");
        self.asking.case.effect(&key, &what, probe, act).await?;
        Ok(Offer::Patch { file: shown })
    }

    async fn offer_files(&self, start: &str, commit: &str) -> Result<Offer, CaseError> {
        let files = self.on_repository(start, commit, touched).await?;
        let unfit = self.on_repository(start, commit, in_the_way).await?;
        if !unfit.is_empty() {
            let error = ChangeError::FilesDiffer { paths: unfit };
            return match self.repository.is_versioned() {
                // The work is not lost, and the reader is told why it is elsewhere.
                true => match self.offer_branch(commit).await? {
                    Offer::Branch { branch, commit } => Ok(Offer::Kept {
                        commit,
                        why: format!("{error}; it is on the branch `{branch}`"),
                    }),
                    other => Ok(other),
                },
                false => Ok(Offer::Kept {
                    commit: commit.to_owned(),
                    why: error.to_string(),
                }),
            };
        }
        let probe = || async {
            let done = self.on_repository(start, commit, is_applied).await?;
            Ok(done.then(|| commit.to_owned()))
        };
        let act = || self.on_repository(start, commit, apply);
        let key = EffectKey::new(format!("apply {commit}"))?;
        let what = "bring the files of the working tree to the coder's state";
        self.asking.case.effect(&key, what, probe, act).await?;
        Ok(Offer::Applied { files })
    }

    /// Does something with our repository that may block.
    async fn on_repository<T: Send + 'static>(
        &self,
        one: &str,
        other: &str,
        work: impl FnOnce(&Repository, &str, &str) -> Result<T, ChangeError> + Send + 'static,
    ) -> Result<T, CaseError> {
        let repository = self.repository.clone();
        let (one, other) = (one.to_owned(), other.to_owned());
        blocking(move || work(&repository, &one, &other)).await
    }
}
