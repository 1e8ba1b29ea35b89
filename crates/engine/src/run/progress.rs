//! How far the work on a task has come, as its events tell it.

use tribunal_core::arbiter::{Execution, ExecutionResult};
use tribunal_core::event::{Event, EventKind, TaskEvent, WorkEvent};
use tribunal_core::ids::{CaseId, DisputeId};
use tribunal_core::task::TaskState;
use tribunal_core::task::plan::Plan;
use tribunal_core::task::transition::Move;

/// What is known about the work on a task.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Progress {
    /// The commit that the work starts from.
    pub(crate) base: Option<String>,
    /// How often that was fixed.
    pub(crate) bases: u32,
    /// The commit with the newest work.
    pub(crate) commit: Option<String>,
    /// The files that it changes.
    pub(crate) files: Vec<String>,
    /// The plan in force.
    pub(crate) plan: Option<Plan>,
    /// How many plans there were.
    pub(crate) plans: u32,
    /// All that was done, oldest first.
    pub(crate) history: Vec<Execution>,
    /// How much of it belongs to earlier rounds.
    pub(crate) before_round: usize,
    /// The reviews that came to an end.
    pub(crate) reviews: Vec<CaseId>,
    /// How much of it was done in earlier visits.
    pub(crate) before_visit: usize,
    /// The commit on which the project's tests were run last, and whether they passed.
    pub(crate) tested: Option<(String, bool)>,
    /// The work that was sent back last, by a review, a person or a ruling.
    pub(crate) sent_back: Option<String>,
    /// Whether somebody began with what is to be done now.
    pub(crate) begun: bool,
    /// How often the work was rejected since a person last sent the task back.
    pub(crate) rejected: u32,
    /// Why work was rejected, oldest first.
    pub(crate) reasons: Vec<String>,
    /// At how many of these both sides were told how to go on last; zero if not yet.
    pub(crate) guided_at: u32,
    /// Why the task was reopened, unless something was said since that binds the coder.
    pub(crate) reopened: Option<String>,
    /// What both sides were told, oldest first.
    pub(crate) guidance: Vec<Guided>,
    /// The review whose result is on record and has not moved the task yet.
    pub(crate) undecided: Option<CaseId>,
}

/// What both sides were told after repeated rejections.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Guided {
    /// What the coder was told.
    pub(crate) coder: String,
    /// What the reviewers were told.
    pub(crate) reviewer: String,
}

impl Progress {
    /// Returns what these events tell.
    pub(crate) fn of(events: &[Event]) -> Self {
        let mut progress = Self::default();
        for event in events {
            match &event.kind {
                EventKind::Work(event) => progress.work(event),
                EventKind::Task(event) => progress.task(event),
                EventKind::CaseParked { .. } => progress.before_visit = progress.history.len(),
                _ => {}
            }
        }
        progress
    }

    /// Takes note of one more event.
    pub(crate) fn work(&mut self, event: &WorkEvent) {
        match event {
            WorkEvent::WorkBased { base } => {
                self.base = Some(base.clone());
                self.bases += 1;
                self.commit = None;
                self.files.clear();
            }
            WorkEvent::PlanMade { plan } => {
                self.plan = Some(plan.clone());
                self.plans += 1;
            }
            WorkEvent::PlanAdvanced { plan } => self.plan = Some(plan.clone()),
            WorkEvent::ExecutionDone { execution } => {
                if let ExecutionResult::Tested { passed } = &execution.result {
                    self.tested = self.newest().map(|commit| (commit.to_owned(), *passed));
                }
                self.history.push(execution.clone());
            }
            WorkEvent::TaskReviewed { review, .. } => {
                self.reviews.push(review.clone());
                self.undecided = Some(review.clone());
            }
            WorkEvent::GuidanceGiven {
                coder, reviewer, ..
            } => {
                self.guided_at = self.rejected;
                self.guidance.push(Guided {
                    coder: coder.clone(),
                    reviewer: reviewer.clone(),
                });
            }
            WorkEvent::ArbiterDecided { .. }
            | WorkEvent::TaskTaken { .. }
            | WorkEvent::TaskLeft { .. }
            | WorkEvent::CameLate { .. }
            | WorkEvent::CapSet { .. }
            | WorkEvent::LoopEnded { .. } => {}
        }
    }

    /// Takes note of one more event.
    pub(crate) fn task(&mut self, event: &TaskEvent) {
        match event {
            TaskEvent::WorkKept { commit, files, .. } => {
                self.commit = Some(commit.clone());
                self.files.clone_from(files);
                self.begun = true;
            }
            TaskEvent::TaskMoved {
                done, note, from, ..
            } => {
                self.undecided = None;
                match done {
                    Move::Reject => {
                        self.sent_back.clone_from(&self.commit);
                        self.reopened = None;
                        self.rejected += 1;
                        self.reasons.extend(note.clone());
                    }
                    Move::RuleAgainstCoder => {
                        self.sent_back.clone_from(&self.commit);
                        (self.rejected, self.guided_at) = (0, 0);
                        self.reopened = None;
                    }
                    Move::Reopen => {
                        (self.rejected, self.guided_at) = (0, 0);
                        self.reopened.clone_from(note);
                        // A ruling that is overruled finds its task settled; the work is there.
                        self.begun &= note.as_deref().is_some_and(is_of_dispute);
                    }
                    Move::Start | Move::Submit | Move::Approve => self.begun = true,
                    Move::PutBack => self.begun = false,
                    Move::StartOver
                    | Move::Dispute
                    | Move::RuleForCoder
                    | Move::Skip
                    | Move::Fail => {}
                }
                let is_fresh = match from {
                    // What was approved is on the branch; what is to be done now starts from there.
                    TaskState::Completed => true,
                    // What failed is kept on a branch of its own.
                    TaskState::Failed | TaskState::Skipped => {
                        !note.as_deref().is_some_and(is_of_dispute)
                    }
                    _ => false,
                };
                if *done == Move::Reopen && is_fresh {
                    (self.base, self.commit) = (None, None);
                    self.files.clear();
                }
                if matches!(
                    done,
                    Move::Start
                        | Move::Reject
                        | Move::StartOver
                        | Move::RuleAgainstCoder
                        | Move::Reopen
                ) {
                    self.before_round = self.history.len();
                }
            }
            // One that was imported may have been begun elsewhere.
            TaskEvent::TaskAdded { state, .. } => {
                self.begun = matches!(
                    state,
                    TaskState::InProgress | TaskState::InReview | TaskState::Completed
                );
            }
            TaskEvent::TaskEdited { .. }
            | TaskEvent::SectionAdded { .. }
            | TaskEvent::SectionChanged { .. }
            | TaskEvent::SectionRemoved { .. } => {}
        }
    }

    /// Returns what was done in this round.
    pub(crate) fn round(&self) -> &[Execution] {
        self.history.get(self.before_round..).unwrap_or_default()
    }

    /// Returns what was done in this round since the task was last left.
    pub(crate) fn round_of_visit(&self) -> &[Execution] {
        let from = self.before_round.max(self.before_visit);
        self.history.get(from..).unwrap_or_default()
    }

    /// Returns how many executions of this round count against the limit: all but those that failed in
    /// an earlier visit, because an agent that is broken says nothing about the task.
    pub(crate) fn spent(&self) -> usize {
        let earlier = self.before_visit.saturating_sub(self.before_round);
        let round = self.round().iter().enumerate();
        let counted = round.filter(|(index, execution)| {
            *index >= earlier || !matches!(execution.result, ExecutionResult::Failed { .. })
        });
        counted.count()
    }

    /// Returns what was done in this round and came to nothing since something last did: the newest
    /// last. What failed in an earlier visit is left out.
    pub(crate) fn fruitless(&self) -> Vec<&Execution> {
        let earlier = self.before_visit.saturating_sub(self.before_round);
        let mut found = Vec::new();
        for (index, execution) in self.round().iter().enumerate() {
            match &execution.result {
                ExecutionResult::Planned { .. }
                | ExecutionResult::Worked { .. }
                | ExecutionResult::Rejected { .. } => found.clear(),
                ExecutionResult::Tested { .. } => {}
                ExecutionResult::Failed { .. } if index < earlier => {}
                ExecutionResult::Failed { .. } | ExecutionResult::Unchanged => {
                    found.push(execution)
                }
            }
        }
        found
    }

    /// Returns the number of the next execution.
    pub(crate) fn next_iteration(&self) -> u32 {
        u32::try_from(self.history.len()).map_or(u32::MAX, |done| done.saturating_add(1))
    }

    /// Returns the commit with all that was kept so far.
    pub(crate) fn newest(&self) -> Option<&str> {
        self.commit.as_deref().or(self.base.as_deref())
    }

    /// Tells whether there is anything to review.
    pub(crate) fn has_work(&self) -> bool {
        self.commit.is_some() && self.commit != self.base
    }

    /// Tells whether there is work that nobody has sent back.
    pub(crate) fn has_new_work(&self) -> bool {
        self.has_work() && self.commit != self.sent_back
    }

    /// Tells whether the tests were run on the newest work and failed.
    pub(crate) fn tests_failed(&self) -> bool {
        self.test_result() == Some(false)
    }

    /// Returns whether the tests passed on the newest work; nothing if they were not run on it.
    pub(crate) fn test_result(&self) -> Option<bool> {
        let (commit, passed) = self.tested.as_ref()?;
        (Some(commit.as_str()) == self.newest()).then_some(*passed)
    }
}

/// Returns what stands beside the moves with which a dispute takes a task up.
pub(crate) fn note_of_dispute(dispute: &DisputeId) -> String {
    format!("dispute {dispute}")
}

/// Tells whether a note is one of [`note_of_dispute`].
fn is_of_dispute(note: &str) -> bool {
    let id = note.strip_prefix("dispute ");
    id.is_some_and(|id| DisputeId::new(id).is_ok())
}
