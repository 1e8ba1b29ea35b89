//! Removes the places of cases that have ended, whoever left them there.

use tribunal_core::case::CaseState;
use tribunal_store::StoreError;

use super::remove_tree;
use crate::Engine;
use crate::case::CaseError;

impl Engine {
    /// Removes what killed processes left where agents write: the places of cases that have ended,
    /// or that nobody knows. A case that waits keeps its own.
    pub(crate) async fn sweep_worktrees(&self) -> Result<(), CaseError> {
        for case in self.dir.cases_with_worktrees() {
            let is_over = match self.ledger.store().find_case(case.as_str()).await {
                Ok(record) => matches!(record.state, CaseState::Closed(_)) && !record.owned,
                Err(StoreError::NoSuchCase { .. }) => true,
                Err(error) => return Err(error.into()),
            };
            if is_over {
                remove_tree(&self.dir.worktrees(&case))
                    .map_err(CaseError::file("remove files that a coder left behind"))?;
            }
        }
        Ok(())
    }
}
