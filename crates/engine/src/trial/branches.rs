//! What becomes of the branches of those who did not win, once it is decreed what is done.

use tribunal_core::ids::EffectKey;
use tribunal_core::trial::report::TrialReport;
use tribunal_core::trial::{Decree, Work};
use tribunal_store::CaseRecord;

use super::read_request;
use crate::Engine;
use crate::case::{Case, CaseError, blocking};
use crate::worktree::{branch_commit, check_free, remove_branch};

impl Engine {
    /// Removes the branches of those whose work was not chosen. Whoever won or was taken keeps its
    /// own; after a tie that nobody decided all stay. A branch that moved since, or is checked out, is
    /// the user's by now.
    pub(super) async fn clear_branches(
        &self,
        case: &Case,
        record: &CaseRecord,
        report: &TrialReport,
        decree: &Decree,
    ) -> Result<(), CaseError> {
        let winner = report
            .verdict
            .as_ref()
            .and_then(|verdict| verdict.winner.as_deref());
        let Some(kept) = decree.contestant().or(winner) else {
            return Ok(());
        };
        let losers = report.contestants.iter();
        let losers = losers.filter(|one| one.contestant.id != kept);
        let work = losers.filter_map(|one| one.output.as_ref()?.work.as_ref());
        for work in work {
            self.clear_branch(case, record, work).await?;
        }
        Ok(())
    }

    async fn clear_branch(
        &self,
        case: &Case,
        record: &CaseRecord,
        work: &Work,
    ) -> Result<(), CaseError> {
        let request = read_request(record.request.clone())?;
        let repository = self.repository_of(&request)?;
        let (repo, branch) = (repository.clone(), work.branch.clone());
        let found = blocking(move || {
            let found = branch_commit(&repo, &branch)?;
            let free = check_free(&repo, &branch).is_ok();
            Ok::<_, crate::change::ChangeError>(found.filter(|_| free))
        })
        .await?;
        if found.as_deref() != Some(work.commit.as_str()) {
            return Ok(());
        }
        let key = EffectKey::new(format!("remove {} {}", work.branch, work.commit))?;
        let probe = || async {
            let (repo, branch) = (repository.clone(), work.branch.clone());
            let found = blocking(move || branch_commit(&repo, &branch)).await?;
            Ok(found.is_none().then(|| "it is gone".to_owned()))
        };
        let act = || async {
            let (repo, branch) = (repository.clone(), work.branch.clone());
            let commit = work.commit.clone();
            blocking(move || remove_branch(&repo, &branch, &commit)).await
        };
        let what = format!("remove the branch {}", work.branch);
        case.effect(&key, &what, probe, act).await?;
        Ok(())
    }
}
