//! What a dispute does to its task: one entry in the task's story for each entry in its own.

use tribunal_core::dispute::{Dispute, TaskChange};
use tribunal_core::event::EventKind;
use tribunal_core::ids::{CaseId, EffectKey};
use tribunal_core::task::transition::Move;
use tribunal_core::task::{Actor, Task, TaskState};
use tribunal_store::crashpoint;

use crate::Engine;
use crate::case::{Case, CaseError};
use crate::run::{Progress, note_of_dispute};
use crate::task::{MoveRequest, TaskError, all_events, is_marked_in_list, moved, rest};

/// Which event of which dispute moves the task.
pub(super) struct Cause<'a> {
    pub(super) dispute: &'a Dispute,
    /// Number of the event in the dispute's story.
    pub(super) seq: u64,
    /// The task's case, if the caller holds it.
    pub(super) held: Option<&'a Case>,
}

impl Engine {
    /// Marks the task of a dispute, as an effect of the dispute's case.
    pub(super) async fn mark_task(
        &self,
        case: &Case,
        key: &EffectKey,
        cause: &Cause<'_>,
        task: &str,
        change: &TaskChange,
    ) -> Result<(), CaseError> {
        let task = CaseId::new(task).map_err(|error| CaseError::Request(error.to_string()))?;
        let change = &match change {
            TaskChange::Completed if !self.was_begun(&task, cause.dispute).await? => {
                TaskChange::PutBack
            }
            other => other.clone(),
        };
        // The task's story names the event, in the same write as the move.
        let does = match change {
            TaskChange::Disputed => "holds the task up",
            TaskChange::Completed => "lets the work stand",
            TaskChange::PutBack => "puts the task back, because nobody has begun it",
            TaskChange::BackToCoder { .. } => "sends the work back to the coder",
        };
        let (dispute, seq) = (&cause.dispute.id, cause.seq);
        let told = format!("dispute {dispute} {does} (its event {seq})");
        let probe = || async {
            let events = all_events(self.ledger.store().as_ref(), &task).await?;
            let is_told =
                |kind: &EventKind| matches!(kind, EventKind::Noted { text } if *text == told);
            let found = events.iter().find(|event| is_told(&event.kind));
            Ok(found.map(|event| format!("event {} of case {task}", event.seq)))
        };
        let act = || async {
            crashpoint!("dispute.task.before");
            self.move_by_dispute(&task, change, cause, &told).await?;
            crashpoint!("dispute.task.after");
            Ok(())
        };
        let what = match change {
            TaskChange::Disputed => format!("mark task {task} as disputed"),
            TaskChange::Completed => format!("mark task {task} as completed"),
            TaskChange::PutBack => format!("put task {task} back on the list"),
            TaskChange::BackToCoder { .. } => format!("send task {task} back to the coder"),
        };
        case.effect(key, &what, probe, act).await.map(|_| ())
    }

    /// Tells whether somebody began with a task, so that a ruling can let the work hold. One that a
    /// list calls disputed was begun elsewhere.
    async fn was_begun(&self, task: &CaseId, dispute: &Dispute) -> Result<bool, CaseError> {
        let events = all_events(self.ledger.store().as_ref(), task).await?;
        Ok(Progress::of(&events).begun || is_marked_in_list(&dispute.opening.key))
    }

    async fn move_by_dispute(
        &self,
        task: &CaseId,
        change: &TaskChange,
        cause: &Cause<'_>,
        told: &str,
    ) -> Result<(), CaseError> {
        let noted = EventKind::Noted {
            text: told.to_owned(),
        };
        if let Some(held) = cause.held.filter(|held| held.id() == task) {
            let record = self.ledger.store().find_task(task.as_str()).await?;
            let (mut events, _) = moves(&record.task, change, cause)?;
            events.push(noted);
            return held.record(events).await;
        }
        let (held, before) = match self.hold_task(task).await {
            Ok(held) => held,
            Err(TaskError::Case(error)) => return Err(error),
            Err(error) => return Err(CaseError::Request(error.to_string())),
        };
        let (mut events, after) = moves(&before, change, cause)?;
        events.push(noted);
        events.push(rest(after.state));
        held.record(events).await
    }
}

/// Returns the moves that bring a task to where the dispute puts it, and the task after them.
///
/// A ruling that is overruled finds its task somewhere else than `[!]`; it goes back there first.
fn moves(
    task: &Task,
    change: &TaskChange,
    cause: &Cause<'_>,
) -> Result<(Vec<EventKind>, Task), CaseError> {
    let mut wanted = match task.state {
        TaskState::Disputed => Vec::new(),
        TaskState::Pending | TaskState::InProgress | TaskState::InReview => vec![Move::Dispute],
        TaskState::Completed | TaskState::Failed | TaskState::Skipped => {
            vec![Move::Reopen, Move::Dispute]
        }
    };
    match change {
        TaskChange::Disputed => {}
        TaskChange::Completed => wanted.push(Move::RuleForCoder),
        TaskChange::PutBack => wanted.push(Move::PutBack),
        TaskChange::BackToCoder { .. } => wanted.push(Move::RuleAgainstCoder),
    }
    let mut events = Vec::new();
    let mut now = task.clone();
    for done in wanted {
        let note = match (done, change) {
            (Move::RuleAgainstCoder, TaskChange::BackToCoder { instructions }) => {
                instructions.clone()
            }
            (Move::RuleForCoder | Move::PutBack, _) => cause
                .dispute
                .ruling()
                .map_or_else(String::new, |ruling| ruling.reason.clone()),
            _ => note_of_dispute(&cause.dispute.id),
        };
        let request = MoveRequest {
            done,
            actor: actor(cause.dispute, change),
            note: Some(note),
        };
        let (event, next) =
            moved(&now, request).map_err(|error| CaseError::Request(error.to_string()))?;
        events.push(event.into());
        now = next;
    }
    Ok((events, now))
}

/// Returns who moves the task: whoever contested it, and after a ruling whoever ruled.
fn actor(dispute: &Dispute, change: &TaskChange) -> Actor {
    match (change, dispute.ruling()) {
        (TaskChange::Disputed, _) | (_, None) => dispute.opening.opener(),
        (_, Some(ruling)) => ruling.ruler.actor(),
    }
}
