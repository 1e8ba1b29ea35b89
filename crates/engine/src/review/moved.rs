//! Whether the files under review are still as they were when the review began.
//!
//! A review that goes on later speaks of the files that it was given. Whoever has changed them since
//! must not read its PASS as one for what is there now.

use serde::{Deserialize, Serialize};

use super::{OfferWish, ReviewRequest, ReviewWish};
use crate::case::{CaseError, blocking};
use crate::change::listing::{self, Entry};
use crate::change::names::is_own;
use crate::change::{self, ChangeRequest, ChangeSource, Repository};

/// A source that gives another change when the user goes on working.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct MovingSource {
    kind: MovingKind,
    /// The paths as they were typed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    paths: Vec<String>,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum MovingKind {
    Default,
    Files,
    Uncommitted,
    Staged,
}

impl MovingSource {
    /// Returns where the change of `wish` comes from; nothing for commits and patches, which stay.
    pub(super) fn of(wish: &ReviewWish) -> Option<Self> {
        // An index that a caller brings is not there any more when the case goes on.
        // Work that was put into the files changes them, too.
        let arbitrate = wish.arbitrate.as_ref();
        let applies = arbitrate.is_some_and(|wish| wish.offer == OfferWish::Apply);
        if wish.index.is_some() || wish.parent.is_some() || applies {
            return None;
        }
        let kind = match &wish.change {
            ChangeSource::Default => MovingKind::Default,
            ChangeSource::Files => MovingKind::Files,
            ChangeSource::Uncommitted => MovingKind::Uncommitted,
            ChangeSource::Staged => MovingKind::Staged,
            ChangeSource::Base(_)
            | ChangeSource::Commit(_)
            | ChangeSource::Patch(_)
            | ChangeSource::PatchText(_) => return None,
        };
        Some(Self {
            kind,
            paths: wish.paths.clone(),
        })
    }

    fn source(&self) -> ChangeSource {
        match self.kind {
            MovingKind::Default => ChangeSource::Default,
            MovingKind::Files => ChangeSource::Files,
            MovingKind::Uncommitted => ChangeSource::Uncommitted,
            MovingKind::Staged => ChangeSource::Staged,
        }
    }
}

/// Tells whether the same question would be about other files now.
pub(super) async fn has_moved(
    repository: &Repository,
    request: &ReviewRequest,
) -> Result<bool, CaseError> {
    let (Some(moving), Some(head)) = (&request.moving, request.pinned.head.clone()) else {
        return Ok(false);
    };
    let again = ChangeRequest {
        directory: request.directory.clone(),
        source: moving.source(),
        paths: moving.paths.clone(),
        limits: request.pinned.limits,
        ignore: request.pinned.ignore.clone(),
    };
    let repository = repository.clone();
    blocking(move || {
        let now = change::pin(&repository, &again).ok();
        let Some(now) = now.and_then(|now| now.head) else {
            return Ok(true);
        };
        // Work that was committed meanwhile has the same files, and what we write is not reviewed.
        let entries = listing::compare(&repository, &head, &now, &[])?;
        let is_users = |entry: &Entry| !is_own(&String::from_utf8_lossy(&entry.path));
        Ok(entries.iter().any(is_users))
    })
    .await
}
