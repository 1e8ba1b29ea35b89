//! Whether the files under review are still as they were when the review began.
//!
//! A review that goes on later speaks of the files that it was given. Whoever has changed them since
//! must not read its PASS as one for what is there now.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use tribunal_core::event::{Event, EventKind};

use super::{ReviewRequest, ReviewWish};
use crate::Engine;
use crate::case::{Case, CaseError, blocking};
use crate::change::names::is_own;
use crate::change::{self, ChangeError, ChangeRequest, ChangeSource, Repository, listing};

/// Where a change comes from, as far as that tells whether it can be another one later.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct MovingSource {
    kind: MovingKind,
    /// The paths as they were typed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    paths: Vec<String>,
    /// The revision as it was typed, such as the name of a branch.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    revision: String,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum MovingKind {
    Default,
    Files,
    Uncommitted,
    Staged,
    /// The branch at hand since a revision. It may have got commits.
    Base,
    /// A commit by a name, which may mean another one later.
    Commit,
    /// Patches and the work of tasks, which stay what they are.
    Fixed,
    /// An index that a caller brought, and that is gone when the case goes on.
    Borrowed,
}

impl MovingSource {
    /// Returns where the change of `wish` comes from.
    pub(super) fn of(wish: &ReviewWish) -> Self {
        let kind = match &wish.change {
            _ if wish.parent.is_some() => MovingKind::Fixed,
            ChangeSource::Patch(_) | ChangeSource::PatchText(_) => MovingKind::Fixed,
            ChangeSource::Base(_) => MovingKind::Base,
            ChangeSource::Commit(_) => MovingKind::Commit,
            _ if wish.index.is_some() => MovingKind::Borrowed,
            ChangeSource::Default => MovingKind::Default,
            ChangeSource::Files => MovingKind::Files,
            ChangeSource::Uncommitted => MovingKind::Uncommitted,
            ChangeSource::Staged => MovingKind::Staged,
        };
        let revision = match &wish.change {
            ChangeSource::Base(revision) | ChangeSource::Commit(revision) => revision.clone(),
            _ => String::new(),
        };
        Self {
            kind,
            paths: wish.paths.clone(),
            revision,
        }
    }

    /// Returns what to ask for the files of now; nothing where they cannot be other ones, or why
    /// nobody can tell.
    fn source(&self) -> Result<Option<ChangeSource>, &'static str> {
        Ok(Some(match self.kind {
            MovingKind::Default => ChangeSource::Default,
            MovingKind::Files => ChangeSource::Files,
            MovingKind::Uncommitted => ChangeSource::Uncommitted,
            MovingKind::Staged => ChangeSource::Staged,
            MovingKind::Base => ChangeSource::Base(self.revision.clone()),
            MovingKind::Commit => ChangeSource::Commit(self.revision.clone()),
            MovingKind::Fixed => return Ok(None),
            MovingKind::Borrowed => {
                return Err(
                    "this review read what git was about to commit, and whether your files are still \
                     the same cannot be checked",
                );
            }
        }))
    }
}

impl Engine {
    /// Returns why a review that goes on does not speak of the user's files of now; nothing if it
    /// does.
    pub(super) async fn why_outdated(
        &self,
        case: &Case,
        repository: &Repository,
        request: &ReviewRequest,
    ) -> Result<Option<String>, CaseError> {
        if request.parent.is_some() {
            return Ok(None);
        }
        let Some(moving) = &request.moving else {
            return Ok(Some(
                "an earlier version of Tribunal began this review and did not record where its files \
                 come from, so whether they have changed since cannot be checked"
                    .to_owned(),
            ));
        };
        let source = match moving.source() {
            Ok(Some(source)) => source,
            Ok(None) => return Ok(None),
            Err(why) => return Ok(Some(why.to_owned())),
        };
        let Some(head) = request.pinned.head.clone() else {
            return Ok(None);
        };
        let again = ChangeRequest {
            directory: request.directory.clone(),
            source,
            paths: moving.paths.clone(),
            limits: request.pinned.limits,
            ignore: request.pinned.ignore.clone(),
        };
        let events = self.ledger.store().events(case.id(), 0, u32::MAX).await?;
        let applied = applied_commits(&events);
        let repository = repository.clone();
        let base = match moving.kind {
            MovingKind::Base => request.pinned.base.clone(),
            _ => None,
        };
        let has_moved = blocking(move || {
            let now = change::pin(&repository, &again).ok();
            let Some((now, base_now)) = now.and_then(|now| Some((now.head?, now.base))) else {
                return Ok(true);
            };
            // Against another base the change would be another one.
            if let Some(base) = base {
                let Some(base_now) = base_now else {
                    return Ok(true);
                };
                if base != base_now && !differing(&repository, &base, &base_now)?.is_empty() {
                    return Ok(true);
                }
            }
            // Work that was committed meanwhile has the same files, and so has what we applied.
            let mut unexplained = differing(&repository, &head, &now)?;
            for commit in &applied {
                let others = differing(&repository, commit, &now)?;
                unexplained.retain(|path| others.contains(path));
            }
            Ok(!unexplained.is_empty())
        });
        Ok(has_moved.await?.then(|| {
            "your files have changed since this review began, and it does not speak of them"
                .to_owned()
        }))
    }
}

/// Returns the commits to whose files this case has brought the user's files, or was about to.
fn applied_commits(events: &[Event]) -> Vec<String> {
    let commit = |event: &Event| match &event.kind {
        EventKind::EffectIntended { effect, .. } => {
            let commit = effect.as_str().strip_prefix("apply ")?;
            commit.split(' ').next().map(str::to_owned)
        }
        _ => None,
    };
    events.iter().filter_map(commit).collect()
}

/// Returns the user's files that differ between two trees; what we write is not reviewed.
fn differing(
    repository: &Repository,
    before: &str,
    now: &str,
) -> Result<BTreeSet<Vec<u8>>, ChangeError> {
    let entries = listing::compare_with(repository, before, now, &[], false)?;
    let paths = entries.into_iter().map(|entry| entry.path);
    Ok(paths
        .filter(|path| !is_own(&String::from_utf8_lossy(path)))
        .collect())
}
