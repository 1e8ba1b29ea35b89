//! `tribunal dispute resolve` and `discard`.

use serde_json::json;
use tribunal_core::dispute::{Chooser, Decision, Dispute, Recourse};
use tribunal_core::ids::DisputeId;
use tribunal_core::task::{Task, TaskState};
use tribunal_engine::Engine;
use tribunal_engine::dispute::Overrule;

use super::{dispute_json, settled_engine, stale, typed_id};
use crate::commands::pushes;
use crate::error::CliError;
use crate::exit::Exit;
use crate::invocation::Invocation;

/// Rule on a dispute: whose side is right, or what is to be done instead
///
/// `coder` accepts the work (`[!]` becomes `[x]`); `reviewer` and `custom` send it back to the coder
/// (`[-]`) with the notes as instructions.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    tribunal dispute resolve d-9f8e --decision coder --notes \"JWT fits our threat model\"\n  \
    tribunal dispute resolve d-9f8e --decision custom --notes \"Use JWT in an httpOnly cookie\"")]
pub(super) struct Resolve {
    /// The dispute: its id, or the beginning or end of it
    dispute: String,
    /// Whose side is right: coder, reviewer, or custom for neither as it stands
    #[arg(long, value_name = "DECISION")]
    decision: DecisionWord,
    /// The reason; for `custom` what the coder is to do
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    notes: String,
    /// Replace a ruling that was made before
    #[arg(long)]
    overrule: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Drop the contested finding at once, without a hearing; recorded as a ruling of its own kind
#[derive(Debug, clap::Args)]
pub(super) struct Discard {
    /// The dispute: its id, or the beginning or end of it
    dispute: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The decisions as they are typed.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum DecisionWord {
    Coder,
    Reviewer,
    Custom,
}

/// Records a person's ruling.
pub(super) async fn resolve(invocation: &Invocation, args: Resolve) -> Result<Exit, CliError> {
    let engine = settled_engine(invocation).await?;
    let before = Before::of(&engine, typed_id(&args.dispute)).await?;
    let decision = match args.decision {
        DecisionWord::Coder => Decision::Dismiss,
        DecisionWord::Reviewer => Decision::Enforce,
        DecisionWord::Custom => Decision::Amend {
            instructions: args.notes.clone(),
        },
    };
    let overrule = match args.overrule {
        true => Overrule::Yes,
        false => Overrule::No,
    };
    let dispute = engine
        .rule_by_human(&before.id, decision, &args.notes, overrule)
        .await?;
    tell(invocation, &engine, &dispute, &before, args.json).await
}

/// Dismisses the contested finding at once.
pub(super) async fn discard(invocation: &Invocation, args: Discard) -> Result<Exit, CliError> {
    let engine = settled_engine(invocation).await?;
    let before = Before::of(&engine, typed_id(&args.dispute)).await?;
    let dispute = engine
        .choose_recourse(&before.id, Recourse::Discard, Chooser::Human)
        .await?;
    tell(invocation, &engine, &dispute, &before, args.json).await
}

/// What is known about a dispute before it is ruled on.
pub(super) struct Before {
    pub(super) id: DisputeId,
    /// Where its task stands, if it has one.
    task: Option<TaskState>,
}

impl Before {
    /// Returns it for the dispute that `text` names.
    pub(super) async fn of(engine: &Engine, text: &str) -> Result<Self, CliError> {
        let dispute = engine.dispute(text).await?;
        let task = match dispute.task() {
            Some(task) => Some(engine.task(task).await?.task.state),
            None => None,
        };
        let id = dispute.id;
        Ok(Self { id, task })
    }
}

/// Prints what was decided and what follows.
pub(super) async fn tell(
    invocation: &Invocation,
    engine: &Engine,
    dispute: &Dispute,
    before: &Before,
    json: bool,
) -> Result<Exit, CliError> {
    let pushes = engine.take_pushes();
    let task = match dispute.task() {
        Some(task) => Some(engine.task(task).await?.task),
        None => None,
    };
    if json {
        let task = task
            .as_ref()
            .zip(before.task)
            .map(|(task, from)| json!({ "task": task.id, "from": from, "to": task.state }));
        invocation.print_json(&json!({
            "schema": "tribunal.dispute.v1", "dispute": dispute_json(dispute),
            "moved": task, "pushes": pushes,
        }))?;
    } else if let Some(ruling) = dispute.ruling() {
        let said = ruling.decision.phrase();
        invocation.print(&format!("Resolved dispute {}: {said}\n", dispute.id))?;
        if dispute.opening.subject.finding().is_some() {
            invocation.print(match &ruling.decision {
                Decision::Dismiss => "The finding is dismissed\n",
                Decision::Enforce => "The finding is upheld and locked\n",
                Decision::Amend { .. } => "The finding is upheld, as your notes say\n",
            })?;
        }
        if let Some((task, from)) = task.as_ref().zip(before.task) {
            invocation.print(&moved(dispute, &ruling.decision, task, from))?;
        }
    }
    let exit = pushes::tell(invocation, &pushes);
    stale::remind(invocation, engine).await?;
    Ok(exit)
}

/// Returns what a ruling did to the task.
fn moved(dispute: &Dispute, decision: &Decision, task: &Task, from: TaskState) -> String {
    let (id, from, to) = (&task.id, from.marker(), task.state.marker());
    let others: Vec<&str> = dispute
        .referral
        .iter()
        .flat_map(|one| &one.next)
        .map(|id| id.as_str())
        .collect();
    let why = match (task.state, decision) {
        (TaskState::Disputed, _) => {
            let others = others.join(", ");
            return format!("Task {id}: [!] stays, it still waits for {others}\n");
        }
        (TaskState::Completed, _) => "the work holds",
        (TaskState::Pending, _) => "nobody has begun it, so it is to be done",
        (TaskState::InProgress, Decision::Dismiss) => "the work must be brought up to date first",
        (TaskState::InProgress, Decision::Enforce) => "the coder follows the reviewer",
        (TaskState::InProgress, Decision::Amend { .. }) => "the coder follows your notes",
        _ => return format!("Task {id}: [{from}] → [{to}]\n"),
    };
    format!("Task {id}: [{from}] → [{to}], {why}\n")
}
