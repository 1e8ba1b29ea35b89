//! One visit of the loop to a task: from where it stands to where it is settled or must be left.
//!
//! Everything is an event or a durable step of the task's case. Whoever takes the task up after a
//! crash reads them and goes on where it ended.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::PoisonError;

use tribunal_core::agent::Role;
use tribunal_core::arbiter::{Execution, ExecutionResult};
use tribunal_core::dispute::{Gravity, Grounds, Origin, Position, Referral, Subject};
use tribunal_core::event::{EventKind, TaskEvent};
use tribunal_core::ids::{AgentName, DisputeId, RunId};
use tribunal_core::task::transition::Move;
use tribunal_core::task::{Actor, Task, TaskState};

use super::cast::{cast, last_coder};
use super::progress::Progress;
use crate::Engine;
use crate::arbiter::Arbiter;
use crate::case::{Case, CaseError, blocking};
use crate::change::{ChangeError, Repository};
use crate::config::{Roster, Settings};
use crate::delivery::git;
use crate::delivery::{Delivery, task_branch, work_branch};
use crate::dispute::NewDispute;
use crate::task::{MoveRequest, TaskError, all_events, moved, rest};

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
    /// What an agent answered, until it is on record.
    pub(super) unrecorded: std::sync::Mutex<Option<Unrecorded>>,
}

/// An answer that is not on record yet.
#[derive(Debug, Clone)]
pub(super) struct Unrecorded {
    /// The run that gave it.
    pub(super) run: RunId,
    /// The commit with what it wrote, once that is kept.
    pub(super) commit: Option<String>,
}

/// How a visit ended.
#[derive(Debug)]
pub(super) enum Visited {
    /// The task is settled, or stays as it is for a reason.
    Left { task: Task, why: Option<String> },
    /// It is to become disputed, once its lease is given back.
    Dispute { task: Task, contest: Contest },
}

/// What a task is to wait for.
#[derive(Debug)]
pub(super) enum Contest {
    /// A dispute about the task itself.
    Open(Box<NewDispute>),
    /// Disputes about findings of its work, the first of them now.
    Refer(DisputeId, Referral),
}

/// What a stage of the work leads to.
pub(super) enum Stage {
    /// The task was moved.
    Moved(Box<Task>),
    /// It is left as it stands.
    Leave(String),
    /// Its work is contested.
    Contested(Contest),
}

impl Visit<'_> {
    /// Works on the task until it is settled or must be left.
    pub(super) async fn attend(&self, mut task: Task) -> Result<Visited, CaseError> {
        let store = self.engine.ledger.store();
        let events = all_events(store.as_ref(), &task.id).await?;
        let mut progress = Progress::of(&events);
        loop {
            if let Some(why) = self.limits.reached(self.engine).await? {
                let why = Some(why);
                return Ok(Visited::Left { task, why });
            }
            let stage = match task.state {
                TaskState::Pending => {
                    let moved = self.step(&task, &mut progress, Move::Start, None).await?;
                    Stage::Moved(Box::new(moved))
                }
                TaskState::InProgress if self.is_deadlocked(&progress) => {
                    let contest = self.deadlock(&task, &progress).await?;
                    let contest = Contest::Open(Box::new(contest));
                    return Ok(Visited::Dispute { task, contest });
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
                Stage::Contested(contest) => return Ok(Visited::Dispute { task, contest }),
                Stage::Leave(why) => {
                    let why = Some(why);
                    return Ok(Visited::Left { task, why });
                }
            }
        }
    }

    /// Returns the answer that is not on record.
    pub(super) fn unrecorded(&self) -> Option<Unrecorded> {
        let answer = self.unrecorded.lock();
        answer.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Takes note of an answer that came, or that all are on record.
    pub(super) fn set_unrecorded(&self, answer: Option<Unrecorded>) {
        let mut now = self
            .unrecorded
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        *now = answer;
    }

    /// Returns who makes a move: an agent submits its own work, all else follows from rules.
    fn actor(&self, task: &Task, progress: &Progress, done: Move) -> Actor {
        if done != Move::Submit {
            return Actor::System;
        }
        let cast = cast(self.engine, self.settings, task.brief.domain.as_deref());
        match last_coder(progress, &cast).cloned() {
            Some(agent) => Actor::Agent { agent },
            None => Actor::System,
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
            actor: self.actor(task, progress, done),
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

    /// Tells whether the work was rejected too often. A ruling gives the coder a new start.
    fn is_deadlocked(&self, progress: &Progress) -> bool {
        progress.rejected >= self.settings.run.max_rejections
    }

    /// Pushes a branch as configured; what came of it is told at the end of the run.
    pub(super) async fn push(&self, branch: &str, commit: &str) -> Result<(), CaseError> {
        self.delivery().push(branch, commit).await.map(|_| ())
    }

    pub(super) fn delivery(&self) -> Delivery<'_> {
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
    async fn deadlock(&self, task: &Task, progress: &Progress) -> Result<NewDispute, CaseError> {
        let worked = |one: &&Execution| matches!(one.result, ExecutionResult::Worked { .. });
        let reviewer = self.last_reviewers(progress).await?;
        let last = progress.reasons.last().cloned().unwrap_or_default();
        Ok(NewDispute {
            key: format!("task {} after {} rejections", task.id, task.rejections),
            coder: self.position_of_coder(task, progress, worked),
            reviewer: Some(position(&reviewer, last)),
            notes: format!("The work was rejected {} times.", task.rejections),
            ..question_about(task, progress)
        })
    }

    /// Returns the question to a person about a task for which nothing is changed any more.
    pub(super) async fn standstill(
        &self,
        task: &Task,
        progress: &Progress,
        why: String,
    ) -> Result<NewDispute, CaseError> {
        let unchanged = |one: &&Execution| one.result == ExecutionResult::Unchanged;
        let asked_before = progress.history.len();
        let reviewer = match progress.reasons.last() {
            Some(reason) => position(&self.last_reviewers(progress).await?, reason.clone()),
            None => position(
                "Tribunal",
                "Nothing was changed, so there is nothing that could be reviewed.".to_owned(),
            ),
        };
        Ok(NewDispute {
            key: format!("task {} after execution {asked_before}", task.id),
            coder: self.position_of_coder(task, progress, unchanged),
            reviewer: Some(reviewer),
            notes: why,
            ..question_about(task, progress)
        })
    }

    fn position_of_coder(
        &self,
        task: &Task,
        progress: &Progress,
        is_it: impl Fn(&&Execution) -> bool,
    ) -> Option<Position> {
        let cast = cast(self.engine, self.settings, task.brief.domain.as_deref());
        let found = progress.history.iter().rev().find(is_it)?;
        let agent = cast.agent(&found.mode);
        let author = agent.map_or(found.mode.as_str(), |agent| agent.as_str());
        Some(position(author, found.summary.clone()))
    }

    /// Returns who reviewed the work last: the agents that were asked, and the built-in rules.
    async fn last_reviewers(&self, progress: &Progress) -> Result<String, CaseError> {
        let Some(review) = progress.reviews.last() else {
            return Ok("review".to_owned());
        };
        let runs = self.engine.ledger.store().runs(review).await?;
        let roster = Roster::new(self.settings);
        let reviewers: BTreeSet<&AgentName> = roster
            .with_role(Role::Reviewer)
            .map(|agent| &agent.name)
            .collect();
        let asked = runs.iter().filter(|run| reviewers.contains(&run.agent));
        let agents: BTreeSet<&str> = asked.map(|run| run.agent.as_str()).collect();
        let mut names: Vec<&str> = agents.into_iter().collect();
        if names.is_empty() || !self.settings.review.builtin.is_empty() {
            names.push("built-in rules");
        }
        Ok(names.join(", "))
    }

    /// Leaves the task for others: its lease goes back, its files go, and why it was left stays.
    pub(super) async fn leave(&self, state: TaskState, why: Option<&str>) -> Result<(), CaseError> {
        let place = self.engine.dir.worktrees(self.case.id());
        blocking(move || {
            let doing = ChangeError::file(format!("remove `{}`", place.display()));
            crate::worktree::remove_tree(&place).map_err(doing)
        })
        .await?;
        let noted = why.map(|why| EventKind::Noted {
            text: format!("{LEFT_BECAUSE}{why}"),
        });
        self.case
            .record(noted.into_iter().chain([rest(state)]))
            .await
    }

    /// Keeps disputed work on a branch of its own and pushes it.
    pub(super) async fn keep_disputed(&self, task: &Task) -> Result<(), CaseError> {
        let store = self.engine.ledger.store();
        let progress = Progress::of(&all_events(store.as_ref(), &task.id).await?);
        match self.keep_on_branch(task, &progress).await? {
            Some(commit) => self.push(&task_branch(&task.id), &commit).await,
            None => Ok(()),
        }
    }

    /// Keeps work on a branch of its own, and returns the commit that is there.
    pub(super) async fn keep_on_branch(
        &self,
        task: &Task,
        progress: &Progress,
    ) -> Result<Option<String>, CaseError> {
        let Some(commit) = progress.commit.clone().filter(|_| progress.has_work()) else {
            return Ok(None);
        };
        let branch = task_branch(&task.id);
        if let Some(problem) = self.delivery().keep(&branch, &commit).await? {
            self.limits.warn(&problem);
        }
        Ok(Some(commit))
    }
}

/// How the note begins that says why a task was left.
pub(crate) const LEFT_BECAUSE: &str = "left for later: ";

fn position(author: &str, text: String) -> Position {
    Position {
        author: author.to_owned(),
        model: None,
        family: None,
        text,
    }
}

/// Returns a question of the program about a task, without what the two sides say.
fn question_about(task: &Task, progress: &Progress) -> NewDispute {
    NewDispute {
        key: String::new(),
        subject: Subject::Task {
            task: task.id.to_string(),
            title: task.brief.title.clone(),
        },
        origin: Origin::System,
        gravity: Gravity::Major,
        grounds: Grounds::Other,
        objection: None,
        coder: None,
        reviewer: None,
        rule: String::new(),
        evidence: Vec::new(),
        files: progress.files.clone(),
        material: None,
        notes: String::new(),
        created_by: Some(Actor::System),
    }
}

/// Returns the event that says where the work lies.
pub(super) fn kept(commit: &str, branch: &str, files: Vec<String>) -> TaskEvent {
    TaskEvent::WorkKept {
        commit: commit.to_owned(),
        branch: branch.to_owned(),
        files,
    }
}
