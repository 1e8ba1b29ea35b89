//! The coder's work is handed over: as a branch, as a patch, or in the user's files.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use tribunal_core::event::{ArbitrationEvent, EventKind};
use tribunal_core::ids::EffectKey;
use tribunal_core::review::arbitration::Offer;

use super::Bench;
use crate::case::{CaseError, blocking};
use crate::change::{ChangeError, Repository};
use crate::files::{hash_of, write_shared};
use crate::worktree::{
    apply, branch_commit, check_free, in_the_way, is_applied, patch, publish, publish_more, touched,
};

/// So many names are tried for a branch before the work is kept.
const MOST_BRANCHES: u32 = 20;

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
                "there is no repository to put a branch in; review again with `--apply` or \
                 `--offer patch=FILE`",
            )),
            OfferWish::Branch => self.offer_branch(commit, String::new()).await,
            OfferWish::Patch { file } => self.offer_patch(start, commit, file.clone()).await,
            OfferWish::Apply => self.offer_files(start, commit).await,
            OfferWish::Keep => Ok(kept("the loop goes on with it")),
        }
    }

    /// Puts the work on a branch of the user's: the one that this case made before, moved forward, or
    /// a new one. A branch that somebody else moved or checked out is left alone.
    async fn offer_branch(&self, commit: &str, why: String) -> Result<Offer, CaseError> {
        let before = self.handed_over().await?;
        let mut reasons: Vec<String> = Some(why)
            .into_iter()
            .filter(|why| !why.is_empty())
            .collect();
        for number in 1..=MOST_BRANCHES {
            let branch = self.branch_name(number).await?;
            let found = branch.clone();
            let there = self
                .blocking(move |repo| branch_commit(repo, &found))
                .await?;
            match &there {
                Some(there) if there != commit => {
                    if !before.is_on_branch(&branch, there) {
                        reasons.push(ChangeError::BranchTaken { branch }.to_string());
                        continue;
                    }
                    let name = branch.clone();
                    let free = self.blocking(move |repo| Ok(check_free(repo, &name).err()));
                    if let Some(error @ ChangeError::BranchCheckedOut { .. }) = free.await? {
                        reasons.push(error.to_string());
                        continue;
                    }
                }
                Some(_) | None => {}
            }
            self.put_on_branch(&before, commit, &branch, there).await?;
            return Ok(Offer::Branch {
                branch,
                commit: commit.to_owned(),
                why: reasons.join("; "),
            });
        }
        Ok(Offer::Kept {
            commit: commit.to_owned(),
            why: reasons.join("; "),
        })
    }

    /// Returns the name of a branch of this case.
    async fn branch_name(&self, number: u32) -> Result<String, CaseError> {
        // Git cannot have a branch `tribunal` beside one in the directory `tribunal/`.
        let flat = self.blocking(|repo| branch_commit(repo, "tribunal"));
        let mark = if flat.await?.is_some() { '-' } else { '/' };
        let case = self.case_id();
        Ok(match number {
            1 => format!("tribunal{mark}{case}"),
            number => format!("tribunal{mark}{case}-{number}"),
        })
    }

    async fn put_on_branch(
        &self,
        before: &HandedOver,
        commit: &str,
        branch: &str,
        there: Option<String>,
    ) -> Result<(), CaseError> {
        let is_there = there.as_deref() == Some(commit);
        let key = before.next_key(&format!("branch {branch} {commit}"), is_there)?;
        let probe = || async {
            let branch = branch.to_owned();
            let found = self.blocking(move |repo| branch_commit(repo, &branch));
            Ok(found.await?.filter(|found| found == commit))
        };
        let act = || {
            let (commit, branch) = (commit.to_owned(), branch.to_owned());
            self.blocking(move |repo| match &there {
                Some(from) if *from != commit => publish_more(repo, &commit, &branch, from),
                Some(_) | None => publish(repo, &commit, &branch),
            })
        };
        let what = format!("make the branch {branch}");
        self.asking.case.effect(&key, &what, probe, act).await?;
        Ok(())
    }

    async fn offer_patch(
        &self,
        start: &str,
        commit: &str,
        file: PathBuf,
    ) -> Result<Offer, CaseError> {
        let (from, to) = (start.to_owned(), commit.to_owned());
        let bytes = self.blocking(move |repo| patch(repo, &from, &to)).await?;
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
        let is_there = std::fs::read(&file).is_ok_and(|bytes| hash_of(&bytes) == hash);
        let before = self.handed_over().await?;
        let key = before.next_key(&format!("patch {hash}"), is_there)?;
        let what = format!("write the patch {shown}");
        self.asking.case.effect(&key, &what, probe, act).await?;
        Ok(Offer::Patch { file: shown })
    }

    /// Brings the user's files to the coder's state, on top of what this case brought there before.
    async fn offer_files(&self, start: &str, commit: &str) -> Result<Offer, CaseError> {
        let before = self.handed_over().await?;
        let mut starts = vec![start.to_owned()];
        starts.extend(before.applied.iter().filter(|one| *one != commit).cloned());
        let (from, to) = (start.to_owned(), commit.to_owned());
        let files = self.blocking(move |repo| touched(repo, &from, &to)).await?;
        let (from, to) = (starts.clone(), commit.to_owned());
        let unfit = self
            .blocking(move |repo| in_the_way(repo, &borrowed(&from), &to))
            .await?;
        if !unfit.is_empty() {
            let why = ChangeError::FilesDiffer { paths: unfit }.to_string();
            // The work is not lost, and the reader learns why it is elsewhere.
            return match self.repository.is_versioned() {
                true => self.offer_branch(commit, why).await,
                false => Ok(Offer::Kept {
                    commit: commit.to_owned(),
                    why: format!(
                        "{why}; review again with `--offer patch=FILE` to have it as a patch"
                    ),
                }),
            };
        }
        let is_there = self.is_in_files(start, commit).await?;
        let key = before.next_key(&format!("apply {commit}"), is_there)?;
        let probe = || async {
            let done = self.is_in_files(start, commit).await?;
            Ok(done.then(|| commit.to_owned()))
        };
        let act = || {
            let (from, to) = (starts.clone(), commit.to_owned());
            self.blocking(move |repo| apply(repo, &borrowed(&from), &to))
        };
        let what = "bring the files of the working tree to the coder's state";
        self.asking.case.effect(&key, what, probe, act).await?;
        Ok(Offer::Applied { files })
    }

    async fn is_in_files(&self, start: &str, commit: &str) -> Result<bool, CaseError> {
        let (from, to) = (start.to_owned(), commit.to_owned());
        self.blocking(move |repo| is_applied(repo, &from, &to))
            .await
    }

    /// Returns what this case has handed over before, or was about to when it was interrupted.
    async fn handed_over(&self) -> Result<HandedOver, CaseError> {
        let store = self.engine().ledger.store();
        let events = store.events(self.case_id(), 0, u32::MAX).await?;
        let mut before = HandedOver::default();
        for event in &events {
            let effect = match &event.kind {
                EventKind::EffectIntended { effect, .. } => effect,
                EventKind::EffectDone { effect, .. } => {
                    before.done.push(effect.as_str().to_owned());
                    continue;
                }
                _ => continue,
            };
            let words: Vec<&str> = effect.as_str().split(' ').collect();
            match words.as_slice() {
                ["branch", branch, commit, ..] => {
                    let place = ((*branch).to_owned(), (*commit).to_owned());
                    before.branches.push(place);
                }
                ["apply", commit, ..] => before.applied.push((*commit).to_owned()),
                _ => {}
            }
        }
        Ok(before)
    }

    /// Does something with our repository that may block.
    pub(super) async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Repository) -> Result<T, ChangeError> + Send + 'static,
    ) -> Result<T, CaseError> {
        let repository = self.repository.clone();
        blocking(move || work(&repository)).await
    }
}

/// What a case has handed over before, as its effects tell.
#[derive(Default)]
struct HandedOver {
    /// Branches with the commits that they were given.
    branches: Vec<(String, String)>,
    /// Commits to which the user's files were brought.
    applied: Vec<String>,
    /// Keys of the effects that took hold.
    done: Vec<String>,
}

impl HandedOver {
    /// Tells whether it was us who put a branch where it is.
    fn is_on_branch(&self, branch: &str, commit: &str) -> bool {
        let mut places = self.branches.iter();
        places.any(|(name, at)| name == branch && at == commit)
    }

    /// Returns the key under which something is handed over. What was done before and is not there
    /// any more is done again under another key.
    fn next_key(&self, key: &str, is_there: bool) -> Result<EffectKey, CaseError> {
        let is_same = |one: &&String| {
            let rest = one.strip_prefix(key);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
        };
        let done = self.done.iter().filter(is_same).count();
        let number = match is_there {
            true => done.max(1),
            false => done + 1,
        };
        Ok(match number {
            1 => EffectKey::new(key)?,
            number => EffectKey::new(format!("{key} {number}"))?,
        })
    }
}

fn borrowed(texts: &[String]) -> Vec<&str> {
    texts.iter().map(String::as_str).collect()
}
