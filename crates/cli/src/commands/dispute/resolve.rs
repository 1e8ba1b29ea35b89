//! `tribunal dispute resolve` and `discard`.

use serde_json::json;
use tribunal_core::dispute::{Chooser, Decision, Dispute, Recourse};
use tribunal_core::task::TaskState;
use tribunal_engine::Engine;
use tribunal_engine::dispute::Overrule;

use super::{dispute_json, settled_engine, stale, typed_id};
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
    let id = engine.dispute(typed_id(&args.dispute)).await?.id;
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
        .rule_by_human(&id, decision, &args.notes, overrule)
        .await?;
    tell(invocation, &engine, &dispute, args.json).await
}

/// Dismisses the contested finding at once.
pub(super) async fn discard(invocation: &Invocation, args: Discard) -> Result<Exit, CliError> {
    let engine = settled_engine(invocation).await?;
    let id = engine.dispute(typed_id(&args.dispute)).await?.id;
    let dispute = engine
        .choose_recourse(&id, Recourse::Discard, Chooser::Human)
        .await?;
    tell(invocation, &engine, &dispute, args.json).await
}

/// Prints what was decided and what follows.
pub(super) async fn tell(
    invocation: &Invocation,
    engine: &Engine,
    dispute: &Dispute,
    json: bool,
) -> Result<Exit, CliError> {
    if json {
        let dispute = dispute_json(dispute);
        invocation.print_json(&json!({ "schema": "tribunal.dispute.v1", "dispute": dispute }))?;
        return Ok(Exit::Pass);
    }
    if let Some(ruling) = dispute.ruling() {
        let side = ruling.decision.side();
        invocation.print(&format!("Resolved dispute {}: {side}\n", dispute.id))?;
        invocation.print(match (&ruling.decision, dispute.opening.subject.task()) {
            (Decision::Dismiss, Some(_)) => "Task: [!] → [x], the work stands\n",
            (Decision::Enforce, Some(_)) => "Task: [!] → [-], the coder follows the reviewer\n",
            (Decision::Amend { .. }, Some(_)) => "Task: [!] → [-], the coder follows your notes\n",
            (Decision::Dismiss, None) => "The finding is dismissed\n",
            (Decision::Enforce, None) => "The finding is upheld and locked\n",
            (Decision::Amend { .. }, None) => "The finding is upheld, as your notes say\n",
        })?;
        if let Some(referral) = &dispute.referral {
            let task = engine.task(&referral.task).await?.task;
            let (id, marker) = (&task.id, task.state.marker());
            invocation.print(&match referral.next.first() {
                Some(next) if task.state == TaskState::Disputed => {
                    format!("Task {id}: [!] stays, dispute {next} is about its work as well\n")
                }
                _ => format!("Task {id}: [!] → [{marker}]\n"),
            })?;
        }
    }
    stale::remind(invocation, engine).await?;
    Ok(Exit::Pass)
}
