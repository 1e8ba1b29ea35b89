//! Why a task is not completed, and what to type about it.

use tribunal_core::dispute::{Dispute, DisputeState};
use tribunal_core::ids::DisputeId;
use tribunal_core::task::transition::Move;
use tribunal_core::task::{Task, TaskState};
use tribunal_engine::task::{audit_of, why_left};
use tribunal_store::Store;

use crate::error::CliError;

/// What stands in the way of a task.
pub(crate) struct HeldUp {
    /// The dispute that has to be resolved.
    pub(crate) dispute: Option<DisputeId>,
    /// Why it is not completed.
    pub(crate) why: String,
    /// What to type next.
    pub(crate) command: String,
}

/// Returns why a task is not completed; nothing where there is nothing to say.
pub(crate) async fn held_up(store: &dyn Store, task: &Task) -> Result<Option<HeldUp>, CliError> {
    let id = &task.id;
    let reopen = || format!("tribunal task reopen {id}");
    let because = |why: String, command: String| HeldUp {
        dispute: None,
        why,
        command,
    };
    Ok(match task.state {
        TaskState::Disputed => {
            let open = store.open_dispute_of(id.as_str()).await?;
            open.map(|dispute| HeldUp {
                why: waits_for(&dispute),
                command: format!("tribunal dispute show {}", dispute.id),
                dispute: Some(dispute.id),
            })
        }
        TaskState::Failed | TaskState::Skipped => {
            let done = match task.state {
                TaskState::Failed => Move::Fail,
                _ => Move::Skip,
            };
            let audit = audit_of(store, task).await?;
            let mut moves = audit.entries.iter().rev();
            let last = moves.find(|entry| entry.done == Some(done));
            last.map(|entry| {
                let why = match &entry.note {
                    Some(note) => note.clone(),
                    None => format!("given up by {}, without a reason", entry.actor),
                };
                because(why, reopen())
            })
        }
        TaskState::Pending | TaskState::InProgress | TaskState::InReview => {
            let why = why_left(store, id).await?;
            let command = match (task.state, &task.commit) {
                (TaskState::InReview, None) => format!("tribunal task approve {id}"),
                _ => format!("tribunal run --task {id}"),
            };
            why.map(|why| because(why, command))
        }
        TaskState::Completed => None,
    })
}

/// Returns what a dispute is about and what it waits for, in one line.
fn waits_for(dispute: &Dispute) -> String {
    let about = match dispute.opening.subject.finding() {
        Some(finding) => format!("\"{}\" ({})", finding.title, finding.id()),
        None => dispute.opening.grounds.phrase().to_owned(),
    };
    let waits = match &dispute.state {
        DisputeState::AwaitingPosition { from } => format!("the position of the {from}"),
        DisputeState::BeforeJudge => "the judge".to_owned(),
        DisputeState::AwaitingHuman { question } => format!("a human decision: {question}"),
        DisputeState::Open | DisputeState::Ruled | DisputeState::Noted => "a ruling".to_owned(),
    };
    let by = dispute.opening.opener();
    format!("{about}, contested by {by}; waits for {waits}")
}
