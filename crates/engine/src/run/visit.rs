//! One visit of the loop to a task: from where it stands to where it is settled or must be left.
//!
//! Everything is an event or a durable step of the task's case. Whoever takes the task up after a
//! crash reads them and goes on where it ended.

use std::path::PathBuf;

use tribunal_core::arbiter::{Execution, ExecutionResult};
use tribunal_core::case::{CaseState, Pause};
use tribunal_core::consensus::Verdict;
use tribunal_core::dispute::{Gravity, Grounds, Origin, Position, Subject};
use tribunal_core::event::{TaskEvent, WorkEvent};
use tribunal_core::ids::CaseId;
use tribunal_core::review::gate::Gate;
use tribunal_core::review::report::ReviewReport;
use tribunal_core::task::transition::Move;
use tribunal_core::task::{Actor, Task, TaskState};
use tribunal_core::text::truncate_chars;

use super::progress::Progress;
use crate::Engine;
use crate::arbiter::Arbiter;
use crate::case::{Case, CaseError, blocking};
use crate::change::{ChangeError, Repository};
use crate::config::Settings;
use crate::delivery::git::{self, Approved, Integrated};
use crate::delivery::{Delivery, task_branch, work_branch};
use crate::dispute::NewDispute;
use crate::review::{Commits, Reviewed};
use crate::task::{MoveRequest, TaskError, all_events, moved, rest};

/// How many findings of a review are told to the coder.
const MOST_FINDINGS: usize = 30;

/// A task in the hands of the loop.
pub(super) struct Visit<'a> {
    pub(super) engine: &'a Engine,
    pub(super) settings: &'a Settings,
    pub(super) arbiter: &'a Arbiter,
    pub(super) repo: &'a Repository,
    pub(super) case: &'a Case,
    pub(super) directory: &'a PathBuf,
    /// From which the nonces of all questions about the task are made.
    pub(super) seed: &'a str,
    pub(super) limits: &'a super::limits::Limits,
    /// Where the coders of this visit write. It is of this visit alone: an agent of a runner that
    /// lost the task may still write where that one worked.
    pub(super) place: PathBuf,
    /// The commit whose files were put there.
    pub(super) start: std::sync::Mutex<Option<String>>,
}

/// How a visit ended.
#[derive(Debug)]
pub(super) enum Visited {
    /// The task is settled, or stays as it is for a reason.
    Left { task: Task, why: Option<String> },
    /// It is to become disputed, once its lease is given back.
    Dispute {
        task: Task,
        dispute: Box<NewDispute>,
    },
}

/// What a stage of the work leads to.
pub(super) enum Stage {
    /// The task was moved.
    Moved(Box<Task>),
    /// It is left as it stands.
    Leave(String),
}

impl Visit<'_> {
    /// Works on the task until it is settled or must be left.
    pub(super) async fn attend(&self, mut task: Task) -> Result<Visited, CaseError> {
        let store = self.engine.ledger.store();
        let events = all_events(store.as_ref(), &task.id).await?;
        let mut progress = Progress::of(&events);
        loop {
            if let Some(why) = self.limits.reached(self.engine, &task.id).await? {
                let why = Some(why);
                return Ok(Visited::Left { task, why });
            }
            let stage = match task.state {
                TaskState::Pending => {
                    let moved = self.step(&task, &mut progress, Move::Start, None).await?;
                    Stage::Moved(Box::new(moved))
                }
                TaskState::InProgress if self.is_deadlocked(&task) => {
                    let dispute = Box::new(self.deadlock(&task, &progress));
                    return Ok(Visited::Dispute { task, dispute });
                }
                TaskState::InProgress => {
                    self.guide(&task, &mut progress).await?;
                    self.work(&task, &mut progress).await?
                }
                TaskState::InReview => self.review(&task, &mut progress).await?,
                TaskState::Completed
                | TaskState::Disputed
                | TaskState::Failed
                | TaskState::Skipped => {
                    let why = None;
                    return Ok(Visited::Left { task, why });
                }
            };
            match stage {
                Stage::Moved(now) => task = *now,
                Stage::Leave(why) => {
                    let why = Some(why);
                    return Ok(Visited::Left { task, why });
                }
            }
        }
    }

    /// Moves the task, on record.
    pub(super) async fn step(
        &self,
        task: &Task,
        progress: &mut Progress,
        done: Move,
        note: Option<String>,
    ) -> Result<Task, CaseError> {
        let request = MoveRequest {
            done,
            actor: Actor::System,
            note,
        };
        let (event, task) = moved(task, request).map_err(|error| match error {
            TaskError::Case(error) => error,
            other => CaseError::Request(other.to_string()),
        })?;
        progress.task(&event);
        tribunal_store::crashpoint!("run.move.before");
        self.case.record([event.into()]).await?;
        tribunal_store::crashpoint!("run.move.after");
        Ok(task)
    }

    fn is_deadlocked(&self, task: &Task) -> bool {
        task.rejections >= self.settings.run.max_rejections
    }

    /// Reviews the work and carries out what the gate says.
    async fn review(&self, task: &Task, progress: &mut Progress) -> Result<Stage, CaseError> {
        let (Some(base), Some(commit)) = (progress.base.clone(), progress.commit.clone()) else {
            return Ok(Stage::Leave(
                "its work was submitted by hand; approve or reject it by hand".to_owned(),
            ));
        };
        let reviewed = self.review_work(task, progress, &base, &commit).await?;
        let Some(report) = reviewed.report else {
            let why = match reviewed.state {
                CaseState::Parked { why, until } => {
                    if why == Pause::Interrupted {
                        return Err(CaseError::Parked { why, until });
                    }
                    "its review waits for a provider or a budget"
                }
                CaseState::Open | CaseState::Closed(_) => "its review did not end",
            };
            let id = reviewed.case;
            return Ok(Stage::Leave(format!("{why} (`tribunal resume {id}`)")));
        };
        match &report.gate {
            Gate::Inconclusive { causes } => {
                let (id, causes) = (reviewed.case, causes.join("; "));
                let why = format!("its review {id} is inconclusive: {causes}");
                Ok(Stage::Leave(why))
            }
            gate @ (Gate::Pass | Gate::Fail { .. }) => {
                let event = WorkEvent::TaskReviewed {
                    review: reviewed.case.clone(),
                    commit: commit.clone(),
                    gate: gate.clone(),
                };
                if *gate == Gate::Pass {
                    self.approve(task, progress, &base, &commit, event).await
                } else {
                    let note = rejection(&report);
                    self.reject(task, progress, event, note).await
                }
            }
        }
    }

    /// Has the work reviewed. This is the one place that decides how.
    async fn review_work(
        &self,
        task: &Task,
        progress: &Progress,
        base: &str,
        commit: &str,
    ) -> Result<Reviewed, CaseError> {
        let round = progress.reviews.len() + 1;
        let name = format!("review {round} of task {}", task.id);
        let hash = blake3::hash(name.as_bytes());
        let bits = hash.as_bytes().iter().take(8);
        let id = CaseId::from_bits(bits.fold(0, |bits, byte| (bits << 8) | u64::from(*byte)));
        let commits = Commits {
            title: &task.brief.title,
            base,
            head: commit,
        };
        let limits = self.limits;
        limits.touch(&id);
        self.engine
            .review_commits(self.settings, id, self.directory, commits)
            .await
    }

    async fn reject(
        &self,
        task: &Task,
        progress: &mut Progress,
        reviewed: WorkEvent,
        note: String,
    ) -> Result<Stage, CaseError> {
        let open = match &reviewed {
            WorkEvent::TaskReviewed {
                gate: Gate::Fail { open },
                ..
            } => *open,
            _ => 0,
        };
        let execution = Execution {
            iteration: progress.next_iteration(),
            mode: "reviewer".to_owned(),
            result: ExecutionResult::Rejected { open },
            summary: truncate_chars(&note, 500).into_owned(),
        };
        let done = WorkEvent::ExecutionDone { execution };
        for event in [reviewed, done] {
            progress.work(&event);
            self.case.note(event.into()).await;
        }
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
        reviewed: WorkEvent,
    ) -> Result<Stage, CaseError> {
        let at = self.engine.ledger.store().now().await?;
        let approved = Approved::of_task(task, self.branch(), base, commit, at);
        let put = self.delivery().integrate(&approved).await?;
        let commit = match put {
            Integrated::Commit(commit) => commit,
            Integrated::Conflict(files) => {
                let base = self.newest_base().await?;
                let note = format!(
                    "What was approved meanwhile contradicts this work in: {}. The work starts again from there.",
                    files.join(", ")
                );
                let stage = self.reject(task, progress, reviewed, note).await?;
                let event = WorkEvent::WorkBased { base };
                progress.work(&event);
                self.case.record([event.into()]).await?;
                if let Ok(mut start) = self.start.lock() {
                    *start = None;
                }
                return Ok(stage);
            }
        };
        progress.work(&reviewed);
        self.case.note(reviewed.into()).await;
        self.push(&approved.branch, &commit).await?;
        let note = Some(format!("on {} as {commit}", approved.branch));
        let task = self.step(task, progress, Move::Approve, note).await?;
        Ok(Stage::Moved(Box::new(task)))
    }

    /// Pushes a branch as configured; what cannot be pushed is told at the end of the run.
    async fn push(&self, branch: &str, commit: &str) -> Result<(), CaseError> {
        if let Some(problem) = self.delivery().push(branch, commit).await? {
            self.limits.warn(&problem);
        }
        Ok(())
    }

    fn delivery(&self) -> Delivery<'_> {
        Delivery {
            engine: self.engine,
            repo: self.repo,
            settings: &self.settings.git,
            case: self.case,
        }
    }

    /// Returns the branch that collects approved work.
    pub(super) fn branch(&self) -> String {
        work_branch(self.settings)
    }

    /// Returns the commit from which work would start now.
    pub(super) async fn newest_base(&self) -> Result<String, CaseError> {
        let (repo, branch) = (self.repo.clone(), self.branch());
        blocking(move || git::base(&repo, &branch)).await
    }

    /// Returns the dispute that ends a task whose work is rejected again and again.
    fn deadlock(&self, task: &Task, progress: &Progress) -> NewDispute {
        let worked = progress
            .history
            .iter()
            .rev()
            .find(|execution| matches!(execution.result, ExecutionResult::Worked { .. }));
        let position = |author: &str, text: String| Position {
            author: author.to_owned(),
            model: None,
            family: None,
            text,
        };
        let coder = worked.map(|worked| position(&worked.mode, worked.summary.clone()));
        let last = progress.reasons.last().cloned().unwrap_or_default();
        NewDispute {
            key: format!("task {} after {} rejections", task.id, task.rejections),
            subject: Subject::Task {
                task: task.id.to_string(),
                title: task.brief.title.clone(),
            },
            origin: Origin::System,
            gravity: Gravity::Major,
            grounds: Grounds::Other,
            objection: None,
            coder,
            reviewer: Some(position("review", last)),
            evidence: Vec::new(),
            files: progress.files.clone(),
            material: None,
            notes: format!("The work was rejected {} times.", task.rejections),
        }
    }

    /// Leaves the task for others: its lease goes back, its files go.
    pub(super) async fn leave(&self, state: TaskState) -> Result<(), CaseError> {
        let place = self.engine.dir.worktrees(self.case.id());
        blocking(move || {
            let doing = ChangeError::file(format!("remove `{}`", place.display()));
            crate::worktree::remove_tree(&place).map_err(doing)
        })
        .await?;
        self.case.record([rest(state)]).await
    }

    /// Keeps disputed work on a branch of its own and pushes it.
    pub(super) async fn keep_disputed(&self, task: &Task) -> Result<(), CaseError> {
        let store = self.engine.ledger.store();
        let progress = Progress::of(&all_events(store.as_ref(), &task.id).await?);
        let Some(commit) = progress.commit.clone().filter(|_| progress.has_work()) else {
            return Ok(());
        };
        let branch = task_branch(&task.id);
        self.delivery().keep(&branch, &commit).await?;
        self.push(&branch, &commit).await
    }
}

/// Returns what a failed review tells the coder: every finding that binds.
fn rejection(report: &ReviewReport) -> String {
    let binding: Vec<_> = report
        .findings
        .iter()
        .filter(|finding| report.binds(finding))
        .collect();
    let mut lines = vec![format!(
        "The review {} found {} that must be dealt with:",
        report.case,
        match binding.len() {
            1 => "1 finding".to_owned(),
            n => format!("{n} findings"),
        }
    )];
    for finding in binding.iter().take(MOST_FINDINGS) {
        let place = match finding.location.line {
            Some(line) => format!("{}:{line}", finding.location.file),
            None => finding.location.file.clone(),
        };
        let disputed = match finding.verdict {
            Verdict::Disputed => " (the reviewers do not agree)",
            Verdict::Accepted | Verdict::Rejected => "",
        };
        let (id, label, title) = (&finding.id, finding.label, &finding.title);
        lines.push(format!("- {id} [{label}] {place}: {title}{disputed}"));
        for more in [&finding.description, &finding.suggestion] {
            if !more.trim().is_empty() && more != title {
                let more = truncate_chars(more.trim(), 600).replace('\n', " ");
                lines.push(format!("  {more}"));
            }
        }
    }
    lines.join("\n")
}

/// Returns the event that says where the work lies.
pub(super) fn kept(commit: &str, branch: &str, files: Vec<String>) -> TaskEvent {
    TaskEvent::WorkKept {
        commit: commit.to_owned(),
        branch: branch.to_owned(),
        files,
    }
}
