//! `tribunal dispute resolve` and `discard`.

use std::io::IsTerminal as _;

use serde_json::json;
use tribunal_core::dispute::{Chooser, Decision, Dispute, Recourse, Status};
use tribunal_core::ids::DisputeId;
use tribunal_core::task::{Task, TaskState};
use tribunal_engine::Engine;
use tribunal_engine::dispute::Overrule;
use tribunal_engine::human::Human as _;
use tribunal_store::DisputeFilter;

use super::list::title;
use super::{dispute_json, settled_engine, stale, typed_id};
use crate::ask::Terminal;
use crate::commands::pushes;
use crate::error::CliError;
use crate::exit::Exit;
use crate::invocation::Invocation;

/// Rule on a dispute: whose side is right, or what is to be done instead
///
/// `coder` accepts the work (`[!]` becomes `[x]`); `reviewer` and `custom` send it back to the coder
/// (`[-]`) with the notes as instructions. At a terminal, what you leave out is asked for: the open
/// disputes are offered, the oldest first.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    tribunal dispute resolve d-9f8e --decision coder --notes \"JWT fits our threat model\"\n  \
    tribunal dispute resolve d-9f8e --decision custom --notes \"Use JWT in an httpOnly cookie\"")]
pub(super) struct Resolve {
    /// The dispute: its id, or the beginning or end of it
    dispute: Option<String>,
    /// Whose side is right: coder, reviewer, or custom for neither as it stands
    #[arg(long, value_name = "DECISION", requires = "dispute")]
    decision: Option<DecisionWord>,
    /// The reason; for `custom` what the coder is to do
    #[arg(
        long,
        value_name = "TEXT",
        allow_hyphen_values = true,
        requires = "decision"
    )]
    notes: Option<String>,
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
    let named = match &args.dispute {
        Some(text) => typed_id(text).to_owned(),
        None => chosen(&engine).await?,
    };
    let before = Before::of(&engine, &named).await?;
    let has_decision = args.decision.is_some();
    let (decision, notes) = match (args.decision, args.notes) {
        (Some(DecisionWord::Coder), Some(notes)) => (Decision::Dismiss, notes),
        (Some(DecisionWord::Reviewer), Some(notes)) => (Decision::Enforce, notes),
        (Some(DecisionWord::Custom), Some(notes)) => {
            let instructions = notes.clone();
            (Decision::Amend { instructions }, notes)
        }
        (None, _) | (_, None) if is_terminal() => {
            let dispute = engine.dispute(before.id.as_str()).await?;
            Terminal.rule(&dispute).await.map_err(|_| undecided())?
        }
        (None, _) | (_, None) => {
            let text = match has_decision {
                true => "the reason is missing: add `--notes TEXT`",
                false => "say how to rule: `--decision coder|reviewer|custom --notes TEXT`",
            };
            return Err(CliError::new(Exit::Usage, text));
        }
    };
    let overrule = match args.overrule {
        true => Overrule::Yes,
        false => Overrule::No,
    };
    let dispute = engine
        .rule_by_human(&before.id, decision, &notes, overrule)
        .await?;
    tell(invocation, &engine, &dispute, &before, args.json).await
}

/// Lets the person at the terminal choose among the open disputes, the oldest first.
async fn chosen(engine: &Engine) -> Result<String, CliError> {
    if !is_terminal() {
        let text = "say which dispute, and how to rule: `tribunal dispute resolve ID --decision \
            coder|reviewer|custom --notes TEXT`";
        return Err(CliError::new(Exit::Usage, text)
            .hint("`tribunal dispute list --status open` shows what waits"));
    }
    let wanted = DisputeFilter {
        status: Some(Status::Open),
        ..DisputeFilter::default()
    };
    let mut open = engine.disputes(&wanted).await?;
    open.reverse();
    if open.is_empty() {
        return Err(CliError::new(Exit::NotFound, "no dispute is open"));
    }
    let labels = open
        .iter()
        .map(|one| format!("{} {}", one.id, title(one)))
        .collect();
    let menu = inquire::Select::new("Which dispute?", labels).raw_prompt();
    let index = menu.map_err(|_| undecided())?.index;
    Ok(open[index].id.to_string())
}

fn is_terminal() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

fn undecided() -> CliError {
    CliError::new(Exit::Interrupted, "nothing was decided")
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
        let waits = still_waits(engine, dispute).await?;
        if let Some((task, others)) = waits {
            let others = others.join(", ");
            invocation.print(&format!(
                "Task {task}: [!] stays, it still waits for {others}\n"
            ))?;
        } else if let Some((task, from)) = task.as_ref().zip(before.task) {
            invocation.print(&moved(&ruling.decision, task, from))?;
        }
    }
    let exit = pushes::tell(invocation, &pushes);
    pushes::tell_unpushed(invocation, engine);
    stale::remind(invocation, engine).await?;
    Ok(exit)
}

/// Returns the task that several disputes hold up, this one among them, with those that are open.
async fn still_waits(
    engine: &Engine,
    dispute: &Dispute,
) -> Result<Option<(String, Vec<String>)>, CliError> {
    let wanted = DisputeFilter {
        status: Some(Status::Open),
        ..DisputeFilter::default()
    };
    let open = engine.disputes(&wanted).await?;
    let is_held_up_with = |one: &&Dispute| {
        let (here, before) = (one.referral.as_ref(), dispute.referral.as_ref());
        here.is_some_and(|here| here.next.contains(&dispute.id))
            || before.is_some_and(|before| before.next.contains(&one.id))
    };
    let Some(referral) = open
        .iter()
        .filter(is_held_up_with)
        .find_map(|one| one.referral.as_ref().or(dispute.referral.as_ref()))
    else {
        return Ok(None);
    };
    let of_task = |one: &&Dispute| one.task() == Some(referral.task.as_str());
    let named = |one: &&Dispute| referral.next.contains(&one.id);
    let others = open.iter().filter(|one| of_task(one) || named(one));
    let mut others: Vec<String> = others.map(|one| one.id.to_string()).collect();
    others.reverse();
    Ok(Some((referral.task.clone(), others)))
}

/// Returns what a ruling did to the task.
fn moved(decision: &Decision, task: &Task, from: TaskState) -> String {
    let (id, from, to) = (&task.id, from.marker(), task.state.marker());
    let why = match (task.state, decision) {
        (TaskState::Completed, _) => "the work holds",
        (TaskState::Pending, _) => "nobody has begun it, so it is to be done",
        (TaskState::InProgress, Decision::Dismiss) => "the work must be brought up to date first",
        (TaskState::InProgress, Decision::Enforce) => "the coder follows the reviewer",
        (TaskState::InProgress, Decision::Amend { .. }) => "the coder follows your notes",
        _ => return format!("Task {id}: [{from}] → [{to}]\n"),
    };
    format!("Task {id}: [{from}] → [{to}], {why}\n")
}
