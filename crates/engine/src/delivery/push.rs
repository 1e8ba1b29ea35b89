//! Pushing: as configured, told to the user, and tried again when it failed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde::Serialize;
use tribunal_core::case::{CaseKind, Pause};
use tribunal_core::event::EventKind;
use tribunal_core::ids::{CaseId, EffectKey};
use tribunal_store::{EffectState, StoreError};

use super::{Delivery, git, left_undone};
use crate::Engine;
use crate::case::{CaseError, blocking};
use crate::change::Repository;
use crate::config::PushChoice;
use crate::task::rest;
use crate::worktree::kind_of;

/// How long one push may take that an earlier command left.
const AGAIN_LIMIT: Duration = Duration::from_secs(20);

/// A branch that was pushed, or could not be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Push {
    /// The branch.
    pub branch: String,
    /// The name of the remote.
    pub remote: String,
    /// Why it could not be pushed; nothing when it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// What was pushed or could not be, until somebody tells the user.
#[derive(Debug, Default)]
pub(crate) struct Pushes {
    done: Mutex<Vec<Push>>,
    /// Branches that stay here because the current branch has no upstream.
    stayed: Mutex<BTreeSet<String>>,
}

impl Pushes {
    /// Keeps what came of a push; of several of one branch the last one counts.
    fn keep(&self, push: Push) {
        let mut pushes = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        pushes.retain(|one| (&one.branch, &one.remote) != (&push.branch, &push.remote));
        pushes.push(push);
    }
}

/// A push that an earlier command announced and did not bring about.
struct Behind {
    case: CaseId,
    key: EffectKey,
    commit: String,
}

impl Engine {
    /// Returns what was pushed and what could not be since this was asked last.
    pub fn take_pushes(&self) -> Vec<Push> {
        let pushes = self.pushes.done.lock();
        std::mem::take(&mut *pushes.unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns the branches that were not pushed since this was asked last because the current branch
    /// has no upstream, although there is a remote.
    pub fn take_branches_without_upstream(&self) -> BTreeSet<String> {
        let stayed = self.pushes.stayed.lock();
        std::mem::take(&mut *stayed.unwrap_or_else(PoisonError::into_inner))
    }

    /// Tries once more what earlier commands could not push. What cannot be pushed now either stays
    /// for the next command.
    pub async fn push_what_is_behind(&self) -> Result<(), CaseError> {
        let announced = self.ledger.store().announced_effects("push ").await?;
        if announced.is_empty() || self.disputes.git.push == PushChoice::Never {
            return Ok(());
        }
        let Some(project) = &self.disputes.project else {
            return Ok(());
        };
        let Ok(repo) = Repository::open(project, self.dir.clone_of_repository()) else {
            return Ok(());
        };
        // Of several that wait for one branch, only the newest matters.
        let mut newest: BTreeMap<(String, String), Behind> = BTreeMap::new();
        for (case, key) in announced {
            if let Some((commit, remote, branch)) = parts(key.as_str()) {
                let (place, commit) = ((remote, branch), commit);
                newest.insert(place, Behind { case, key, commit });
            }
        }
        for ((remote, branch), behind) in newest {
            let (ours, name) = (repo.clone(), remote.clone());
            let local = self.disputes.git.allow_local;
            let Some(remote) = blocking(move || git::remote(&ours, &name, local)).await? else {
                continue;
            };
            self.push_again(&repo, &remote, &branch, behind).await?;
        }
        Ok(())
    }

    async fn push_again(
        &self,
        repo: &Repository,
        remote: &git::Remote,
        branch: &str,
        behind: Behind,
    ) -> Result<(), CaseError> {
        let Behind { case, key, commit } = behind;
        // Several projects may share a ledger; the work of another is pushed from there.
        let (ours, wanted) = (repo.clone(), commit.clone());
        if blocking(move || kind_of(&ours, &wanted)).await?.is_none() {
            return Ok(());
        }
        let pushing = async {
            match git::is_pushed(repo, remote, branch, &commit).await {
                Ok(true) => Ok(()),
                Ok(false) | Err(_) => git::push(repo, remote, branch, &commit).await,
            }
        };
        let pushed = match tokio::time::timeout(AGAIN_LIMIT, pushing).await {
            Ok(pushed) => pushed,
            Err(_) => Err(format!("git took longer than {} s", AGAIN_LIMIT.as_secs())),
        };
        let problem = match pushed {
            Ok(()) => match self.note_pushed(&case, &key, &commit).await? {
                true => None,
                // Somebody works on the case, and pushes by that.
                false => return Ok(()),
            },
            Err(why) => {
                let text = format!("{branch} could not be pushed to {}: {why}", remote.name);
                Some(self.redactor.redact(&text))
            }
        };
        self.pushes.keep(Push {
            branch: branch.to_owned(),
            remote: remote.name.clone(),
            problem,
        });
        Ok(())
    }

    /// Puts on record that a push took hold; false when somebody works on its case.
    async fn note_pushed(
        &self,
        id: &CaseId,
        key: &EffectKey,
        commit: &str,
    ) -> Result<bool, CaseError> {
        let store = self.ledger.store();
        let kind = store.find_case(id.as_str()).await?.kind;
        let case = match self.take_over(id).await {
            Ok(case) => case,
            Err(CaseError::Store(StoreError::Busy { .. })) => return Ok(false),
            Err(error) => return Err(error),
        };
        if let EffectState::Done { .. } = store.effect(id, key).await? {
            case.release().await?;
            return Ok(false);
        }
        let done = EventKind::EffectDone {
            effect: key.clone(),
            evidence: commit.to_owned(),
        };
        match kind {
            CaseKind::Dispute => {
                case.record([done]).await?;
                self.settle(case).await?;
            }
            CaseKind::Task => {
                let state = store.find_task(id.as_str()).await?.task.state;
                case.record([done, rest(state)]).await?;
            }
            // Nobody else pushes.
            _ => case.release().await?,
        }
        Ok(true)
    }
}

impl Delivery<'_> {
    /// Pushes a branch as configured. What cannot be pushed is on record, is tried again by the next
    /// command, and is returned as a sentence.
    pub(crate) async fn push(
        self,
        branch: &str,
        commit: &str,
    ) -> Result<Option<String>, CaseError> {
        let Some(remote) = self.remote().await? else {
            let (repo, name) = (self.repo.clone(), self.settings.remote.clone());
            let there = blocking(move || git::remote(&repo, &name, false)).await?;
            let is_there = there.is_some();
            if self.settings.push == PushChoice::Auto && is_there {
                let stayed = self.engine.pushes.stayed.lock();
                let mut stayed = stayed.unwrap_or_else(PoisonError::into_inner);
                stayed.insert(branch.to_owned());
            }
            return Ok(None);
        };
        let key = EffectKey::new(format!("push {commit} to {} {branch}", remote.name))?;
        let before = self
            .engine
            .ledger
            .store()
            .effect(self.case.id(), &key)
            .await?;
        if let EffectState::Done { .. } = before {
            return Ok(None);
        }
        let problem = Mutex::new(String::new());
        let probe = || async {
            let there = git::is_pushed(self.repo, &remote, branch, commit).await;
            Ok(there.unwrap_or(false).then(|| commit.to_owned()))
        };
        let attempts = self.settings.push_attempts;
        let act = || async {
            for attempt in 1..=attempts {
                tribunal_store::crashpoint!("run.push.before");
                match git::push(self.repo, &remote, branch, commit).await {
                    Ok(()) => return Ok(()),
                    Err(why) => {
                        // An older commit is refused when a newer one is there already.
                        let there = git::is_pushed(self.repo, &remote, branch, commit).await;
                        if there == Ok(true) {
                            return Ok(());
                        }
                        if let Ok(mut problem) = problem.lock() {
                            *problem = why;
                        }
                    }
                }
                // What is not allowed now is not allowed a moment later either.
                if remote.protocols().is_err() {
                    break;
                }
                if attempt < attempts {
                    let pause = Duration::from_millis(200 << attempt.min(6));
                    tokio::time::sleep(pause).await;
                }
            }
            Err(left_undone())
        };
        let what = format!("push {branch} to {}", remote.name);
        let problem = match self.case.effect(&key, &what, probe, act).await {
            Ok(_) => None,
            Err(CaseError::Parked {
                why: Pause::Turn, ..
            }) => {
                let why = problem.into_inner().unwrap_or_default();
                let tried = match attempts {
                    _ if remote.protocols().is_err() => String::new(),
                    1 => " in 1 attempt".to_owned(),
                    n => format!(" in {n} attempts"),
                };
                let text = format!(
                    "{branch} could not be pushed to {}{tried}: {why}",
                    remote.name
                );
                let text = self.engine.redactor.redact(&text);
                let noted = EventKind::Noted { text: text.clone() };
                self.case.record([noted]).await?;
                Some(text)
            }
            Err(error) => return Err(error),
        };
        self.engine.pushes.keep(Push {
            branch: branch.to_owned(),
            remote: remote.name,
            problem: problem.clone(),
        });
        Ok(problem)
    }
}

/// Returns commit, remote and branch of the key of a push.
fn parts(key: &str) -> Option<(String, String, String)> {
    let (commit, place) = key.strip_prefix("push ")?.split_once(" to ")?;
    let (remote, branch) = place.split_once(' ')?;
    Some((commit.to_owned(), remote.to_owned(), branch.to_owned()))
}
