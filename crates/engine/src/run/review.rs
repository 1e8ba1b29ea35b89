//! The review of a task's work, and what follows from it.
//!
//! Findings are put to whoever worked last; what it carries out becomes part of the work, what it
//! contests goes before a judge. Nobody is prompted: what needs a person makes the task disputed.

use tribunal_core::arbiter::{Execution, ExecutionResult};
use tribunal_core::case::{CaseState, Pause};
use tribunal_core::dispute::Referral;
use tribunal_core::event::{EventKind, WorkEvent};
use tribunal_core::ids::CaseId;
use tribunal_core::review::report::ReviewReport;
use tribunal_core::task::Task;
use tribunal_core::task::reviewed::{Sequel, arbitrated_commit, sequel};
use tribunal_core::task::transition::Move;
use tribunal_core::text::truncate_chars;

use super::cast::{cast, last_coder};
use super::progress::Progress;
use super::stall::is_untested;
use super::visit::{Contest, Stage, Visit, kept};
use crate::case::{CaseError, blocking};
use crate::change::ChangeError;
use crate::delivery::git::{Approved, Integrated};
use crate::review::{ArbitrationWish, Commits, OfferWish, Prompting, Reviewed};
use crate::worktree::touched;

impl Visit<'_> {
    /// Reviews the work and carries out what follows from that.
    pub(super) async fn review(
        &self,
        task: &Task,
        progress: &mut Progress,
    ) -> Result<Stage, CaseError> {
        let (Some(base), Some(commit)) = (progress.base.clone(), progress.commit.clone()) else {
            return Ok(Stage::Leave(
                "its work was submitted by hand; approve or reject it by hand".to_owned(),
            ));
        };
        if let Some(gone) = self.missing_commit([base.clone(), commit.clone()]).await? {
            return Ok(Stage::Leave(format!(
                "commit {} of its work is gone from the repository, so nobody can review it; reject it \
                 with `tribunal task reject {}`, then submit it again or let the loop do it",
                truncate_chars(&gone, 12),
                task.id
            )));
        }
        if progress.undecided.is_none() {
            // Work that fails the tests is not worth a paid review.
            if is_untested(self.engine, progress) {
                self.test(progress).await?;
            }
            if progress.tests_failed() {
                return self.reject_untested(task, progress).await;
            }
        }
        let reviewed = self.review_work(task, progress, &base, &commit).await?;
        let Some(report) = reviewed.report else {
            return waiting(reviewed.case, reviewed.state);
        };
        let sequel = sequel(&report);
        if let Sequel::Leave { why } = sequel {
            return Ok(Stage::Leave(why));
        }
        self.take_note(progress, &report, &base, &commit).await?;
        match sequel {
            Sequel::Approve => self.approve_tested(task, progress, &base).await,
            Sequel::Reject { open, note } => self.reject(task, progress, open, note).await,
            Sequel::Dispute { disputes, rest } => {
                let mut disputes = disputes.into_iter();
                let Some(first) = disputes.next() else {
                    return Ok(Stage::Leave("nothing is contested".to_owned()));
                };
                let referral = Referral {
                    task: task.id.to_string(),
                    title: task.brief.title.clone(),
                    next: disputes.collect(),
                    rest,
                };
                Ok(Stage::Contested(Contest::Refer(first, referral)))
            }
            Sequel::Leave { why } => Ok(Stage::Leave(why)),
        }
    }

    /// Returns the first of these commits that is gone, if one is. What was submitted is kept, but what
    /// it was compared with is only in the user's repository.
    pub(super) async fn missing_commit<const N: usize>(
        &self,
        ids: [String; N],
    ) -> Result<Option<String>, CaseError> {
        let repo = self.repo.clone();
        blocking(move || {
            for id in &ids {
                // With its tree: the name of a commit may outlive what it stands for.
                let tree = format!("{id}^{{tree}}");
                let args = ["ls-tree", "-r", "--name-only", &tree];
                if repo.call().args(args).output().is_err() {
                    return Ok(Some(id.clone()));
                }
            }
            Ok(None)
        })
        .await
    }

    /// Has the work reviewed. This is the one place that decides how.
    async fn review_work(
        &self,
        task: &Task,
        progress: &Progress,
        base: &str,
        commit: &str,
    ) -> Result<Reviewed, CaseError> {
        let id = match &progress.undecided {
            Some(review) => review.clone(),
            None => {
                let round = progress.reviews.len() + 1;
                crate::case_named(&format!("review {round} of task {} at {commit}", task.id))
            }
        };
        let cast = cast(self.engine, self.settings, task.brief.domain.as_deref());
        let arbitrate = self.settings.run.arbitrate.then(|| ArbitrationWish {
            coder: last_coder(progress, &cast).map(ToString::to_string),
            offer: OfferWish::Keep,
            prompting: Prompting::Never,
        });
        let guided = progress.guidance.last();
        let commits = Commits {
            title: &task.brief.title,
            parent: &task.id,
            base,
            head: commit,
            guidance: guided.map_or("", |guided| guided.reviewer.as_str()),
            arbitrate,
        };
        self.engine
            .review_commits(self.settings, id, (self.repo, self.directory), commits)
            .await
    }

    /// Puts on record what came of a review, and what the coder changed on the way, all at once.
    async fn take_note(
        &self,
        progress: &mut Progress,
        report: &ReviewReport,
        base: &str,
        commit: &str,
    ) -> Result<(), CaseError> {
        if progress.undecided.is_some() {
            return Ok(());
        }
        let arbitration = report.arbitration.as_ref();
        let changed = arbitration.and_then(arbitrated_commit);
        let changed = changed.filter(|changed| *changed != commit);
        let mut events: Vec<EventKind> = Vec::new();
        if let (Some(changed), Some(arbitration)) = (changed, arbitration) {
            let name = format!("refs/tribunal/task/{}", self.case.id());
            let files = self.keep_changed(&name, base, changed).await?;
            let event = kept(changed, &name, files.clone());
            progress.task(&event);
            events.push(event.into());
            let result = ExecutionResult::Worked { files };
            let said = format!("It answered the findings of review {}.", report.case);
            events.push(self.note_done(progress, &arbitration.coder, result, &said));
        }
        let event = WorkEvent::TaskReviewed {
            review: report.case.clone(),
            commit: changed.unwrap_or(commit).to_owned(),
            gate: report.gate.clone(),
        };
        progress.work(&event);
        events.push(event.into());
        self.case.record(events).await?;
        tribunal_store::crashpoint!("run.review.noted");
        Ok(())
    }

    /// Keeps what the coder changed during a review, and returns the files that the work changes.
    async fn keep_changed(
        &self,
        name: &str,
        base: &str,
        commit: &str,
    ) -> Result<Vec<String>, CaseError> {
        if let Ok(mut start) = self.start.lock() {
            *start = None;
        }
        let repo = self.repo.clone();
        let (name, base, commit) = (name.to_owned(), base.to_owned(), commit.to_owned());
        blocking(move || {
            let call = repo.call().args(["update-ref", &name, &commit]);
            call.output()?;
            touched(&repo, &base, &commit)
        })
        .await
    }

    /// Approves work, unless the project's tests speak against what the coder changed last.
    async fn approve_tested(
        &self,
        task: &Task,
        progress: &mut Progress,
        base: &str,
    ) -> Result<Stage, CaseError> {
        if is_untested(self.engine, progress) {
            self.test(progress).await?;
        }
        if progress.tests_failed() {
            return self.reject_untested(task, progress).await;
        }
        let commit = progress.commit.clone().unwrap_or_else(|| base.to_owned());
        self.approve(task, progress, base, &commit).await
    }

    /// Sends work back because the project's tests fail with it.
    async fn reject_untested(
        &self,
        task: &Task,
        progress: &mut Progress,
    ) -> Result<Stage, CaseError> {
        let tested = |one: &&Execution| matches!(one.result, ExecutionResult::Tested { .. });
        let last = progress.history.iter().rev().find(tested);
        let said = last.map_or("", |last| last.summary.as_str());
        let note = format!("The tests fail with this work:\n{said}");
        self.reject(task, progress, 0, note).await
    }

    async fn reject(
        &self,
        task: &Task,
        progress: &mut Progress,
        open: u32,
        note: String,
    ) -> Result<Stage, CaseError> {
        let execution = Execution {
            iteration: progress.next_iteration(),
            mode: "reviewer".to_owned(),
            result: ExecutionResult::Rejected { open },
            summary: truncate_chars(&note, 500).into_owned(),
        };
        let done = WorkEvent::ExecutionDone { execution };
        progress.work(&done);
        self.case.note(done.into()).await;
        let task = self.step(task, progress, Move::Reject, Some(note)).await?;
        Ok(Stage::Moved(Box::new(task)))
    }

    /// Puts the work on the branch, pushes it as configured, and completes the task.
    async fn approve(
        &self,
        task: &Task,
        progress: &mut Progress,
        base: &str,
        commit: &str,
    ) -> Result<Stage, CaseError> {
        let at = self.engine.ledger.store().now().await?;
        let approved = Approved::of_task(task, self.branch(), base, commit, at);
        let commit = match self.delivery().integrate(&approved).await {
            Ok(Integrated::Commit(commit)) => commit,
            // The review stands, and whoever takes the task next puts the work there.
            Err(CaseError::Change(error @ ChangeError::BranchCheckedOut { .. })) => {
                return Ok(Stage::Leave(format!("its work is approved, but {error}")));
            }
            Err(error) => return Err(error),
            Ok(Integrated::Conflict(files)) => {
                let base = self.newest_base().await?;
                let note = format!(
                    "What was approved meanwhile contradicts this work in: {}. The work starts again from there.",
                    files.join(", ")
                );
                let event = WorkEvent::WorkBased { base };
                progress.work(&event);
                self.case.note(event.into()).await;
                if let Ok(mut start) = self.start.lock() {
                    *start = None;
                }
                // The coder did nothing wrong, so this is not a rejection.
                let task = self
                    .step(task, progress, Move::StartOver, Some(note))
                    .await?;
                return Ok(Stage::Moved(Box::new(task)));
            }
        };
        self.push(&approved.branch, &commit).await?;
        let note = format!("on {} as {}", approved.branch, truncate_chars(&commit, 12));
        let task = self.step(task, progress, Move::Approve, Some(note)).await?;
        Ok(Stage::Moved(Box::new(task)))
    }
}

/// Returns what a review that did not end means for the visit.
fn waiting(review: CaseId, state: CaseState) -> Result<Stage, CaseError> {
    let why = match state {
        CaseState::Parked { why, until } => {
            if why == Pause::Interrupted {
                return Err(CaseError::Parked { why, until });
            }
            "its review waits for a provider or a budget"
        }
        CaseState::Open | CaseState::Closed(_) => "its review did not end",
    };
    Ok(Stage::Leave(format!("{why} (`tribunal resume {review}`)")))
}
