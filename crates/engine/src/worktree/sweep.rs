//! Removes the places of cases that have ended, whoever left them there.

use std::path::Path;
use std::time::Duration;

use tribunal_core::case::CaseState;
use tribunal_core::ids::CaseId;
use tribunal_store::StoreError;

use super::remove_tree;
use crate::Engine;
use crate::case::CaseError;

/// A place of a case that the ledger does not know yet may be new. After so long it is not.
const NEW_FOR: Duration = Duration::from_secs(60 * 60);

/// How a case stands whose place was found.
enum Owner {
    /// Somebody works on it.
    AtWork,
    /// It waits, or was interrupted.
    Waits,
    /// It has ended.
    Ended,
    /// The ledger knows nothing of it.
    Unknown,
}

impl Engine {
    /// Removes what killed processes left where agents work. Where they write, the place of a case
    /// that waits is kept; where they only read, everything can be made again.
    pub(crate) async fn sweep_places(&self) -> Result<(), CaseError> {
        for case in self.dir.cases_with_worktrees() {
            if matches!(self.owner_of(&case).await?, Owner::Ended | Owner::Unknown) {
                remove_tree(&self.dir.worktrees(&case))
                    .map_err(CaseError::file("remove files that a coder left behind"))?;
            }
        }
        for case in self.dir.cases_with_workplaces() {
            let place = self.dir.workplace(&case);
            let is_left = match self.owner_of(&case).await? {
                Owner::AtWork => false,
                Owner::Waits | Owner::Ended => true,
                Owner::Unknown => !is_new(&place),
            };
            if is_left {
                remove_tree(&place)
                    .map_err(CaseError::file("remove a checkout that was left behind"))?;
            }
        }
        Ok(())
    }

    async fn owner_of(&self, case: &CaseId) -> Result<Owner, CaseError> {
        match self.ledger.store().find_case(case.as_str()).await {
            Ok(record) if record.owned => Ok(Owner::AtWork),
            Ok(record) if matches!(record.state, CaseState::Closed(_)) => Ok(Owner::Ended),
            Ok(_) => Ok(Owner::Waits),
            Err(StoreError::NoSuchCase { .. }) => Ok(Owner::Unknown),
            Err(error) => Err(error.into()),
        }
    }
}

/// Tells whether a place was made a short while ago, so that its case may not be stored yet.
pub(crate) fn is_new(place: &Path) -> bool {
    let made = std::fs::metadata(place).and_then(|data| data.modified());
    made.is_ok_and(|made| made.elapsed().is_ok_and(|age| age < NEW_FOR))
}
