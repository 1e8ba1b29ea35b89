//! `tribunal dispute create`, `answer` and `log`.

use std::io::IsTerminal as _;

use serde_json::json;
use tribunal_core::agent::family_of;
use tribunal_core::dispute::{Dispute, Gravity, Grounds, Origin, Party, Position, Subject};
use tribunal_core::task::audit::Entry;
use tribunal_core::task::transition::Move;
use tribunal_core::task::{Actor, Task, TaskState};
use tribunal_core::text::for_terminal;
use tribunal_engine::Engine;
use tribunal_engine::dispute::{NewDispute, fresh_key};
use tribunal_engine::task::audit_of;
use tribunal_store::TaskRecord;

use super::{dispute_json, settled_engine, stale, typed_id};
use crate::commands::pushes;
use crate::error::CliError;
use crate::exit::Exit;
use crate::invocation::Invocation;

/// Put a disagreement about a task on record; the task becomes `[!]`
///
/// `--as` says whose position it is. Without it the task tells: one in review is with
/// the reviewer, one that a rejection sent back is with the coder. Otherwise you are asked.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    tribunal dispute create c-1a2b --reason architecture_disagreement \\\n    \
    --position \"Session cookies are more secure\" --as reviewer --model claude-opus-4")]
pub(super) struct Create {
    /// The task: its id, or the beginning or end of it
    task: String,
    /// Why: architecture_disagreement, specification_ambiguity, guideline_conflict,
    /// security_concern, scope_disagreement or other
    #[arg(long, value_name = "REASON")]
    reason: Grounds,
    /// What this side argues
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    position: String,
    /// Whose position it is: coder or reviewer
    #[arg(long = "as", value_name = "SIDE")]
    side: Option<Party>,
    #[command(flatten)]
    author: Author,
    /// Files that it concerns, from the root of the project; a judge is shown them
    #[arg(long, value_name = "FILE", value_delimiter = ',')]
    files: Vec<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// State the position of the side that has not spoken
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    tribunal dispute answer d-9f8e --position \"The spec says stateless\" --model claude-sonnet-4")]
pub(super) struct Answer {
    /// The dispute: its id, or the beginning or end of it
    dispute: String,
    /// What this side argues
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    position: String,
    /// Whose position it is; the side that is waited for if not given
    #[arg(long = "as", value_name = "SIDE")]
    side: Option<Party>,
    #[command(flatten)]
    author: Author,
    /// More files that it concerns, from the root of the project; a judge is shown them
    #[arg(long, value_name = "FILE", value_delimiter = ',')]
    files: Vec<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Note a minor disagreement; nothing changes and nobody has to rule
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    tribunal dispute log c-1a2b --minor --notes \"Names in snake_case, as everywhere else\"")]
pub(super) struct Log {
    /// The task: its id, or the beginning or end of it
    task: String,
    /// Say that it is minor; disputes that need a ruling are opened with `create`
    #[arg(long, required = true)]
    minor: bool,
    /// What the sides disagreed about, and what was done
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    notes: String,
    /// Why, with the words of `create`
    #[arg(long, value_name = "REASON", default_value = "other")]
    reason: Grounds,
    #[command(flatten)]
    author: Author,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
struct Author {
    /// The model that argues so
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// Who says it: an agent's name or yours
    #[arg(long, value_name = "NAME")]
    by: Option<String>,
}

impl Author {
    /// Returns who notes something without taking a side.
    fn actor(self) -> Actor {
        match (self.by, self.model) {
            (name, None) => Actor::Human { name },
            (Some(name), model) => Actor::named("agent", &name, model.as_deref()),
            (None, Some(model)) => Actor::named("model", &model, None),
        }
    }

    fn position(self, text: String) -> Position {
        let model = self.model.filter(|model| !model.trim().is_empty());
        let author = self.by.or_else(|| model.clone());
        Position {
            author: author.unwrap_or_else(|| "human".to_owned()),
            family: model
                .as_deref()
                .map(|model| family_of("other", Some(model))),
            model,
            text,
        }
    }
}

/// Opens a major dispute.
pub(super) async fn create(invocation: &Invocation, args: Create) -> Result<Exit, CliError> {
    let engine = settled_engine(invocation).await?;
    let record = engine.task(typed_id(&args.task)).await?;
    check_free(&engine, &record).await?;
    let task = record.task;
    let (side, why) = side_of(args.side, &task)?;
    let position = args.author.position(args.position);
    let material = engine.files_as_material(&args.files)?;
    let (coder, reviewer, origin) = match side {
        Party::Coder => (Some(position), None, Origin::Objection),
        Party::Reviewer => (None, Some(position), Origin::Rejection),
    };
    let new = NewDispute {
        key: fresh_key("task"),
        subject: subject(&task),
        origin,
        gravity: Gravity::Major,
        grounds: args.reason,
        objection: None,
        coder,
        reviewer,
        rule: String::new(),
        evidence: Vec::new(),
        files: args.files,
        material,
        notes: String::new(),
        created_by: None,
    };
    let dispute = engine.open_dispute(new).await?;
    if args.json {
        return finish(invocation, &engine, &dispute, true).await;
    }
    let (id, title) = (&dispute.id, for_terminal(&task.brief.title).into_owned());
    invocation.print(&format!(
        "Opened dispute {id} about {title} ({})\nTask: [{}] → [!]\n",
        task.id,
        task.state.marker()
    ))?;
    if let Some(why) = why {
        invocation.say(&format!("Recorded as the position of the {side}: {why}."));
    }
    match rejection(&engine, &task, side).await? {
        Some(said) => invocation.say(&format!(
            "The rejection said: {}\nTake that as the position of the reviewer with \
             `tribunal dispute answer {id} --as reviewer --position {}`, or state another",
            for_terminal(&said),
            quoted(&said)
        )),
        None => invocation.say(&format!(
            "The position of the {} is missing: `tribunal dispute answer {id} --position …`",
            side.other()
        )),
    }
    finish(invocation, &engine, &dispute, false).await
}

/// States the second position.
pub(super) async fn answer(invocation: &Invocation, args: Answer) -> Result<Exit, CliError> {
    let engine = settled_engine(invocation).await?;
    let dispute = engine.dispute(typed_id(&args.dispute)).await?;
    let Some(side) = args.side.or_else(|| dispute.missing()) else {
        let text = format!(
            "both sides of dispute {} have stated their positions",
            dispute.id
        );
        return Err(CliError::new(Exit::Usage, text));
    };
    let position = args.author.position(args.position);
    let stated = engine.state_position(&dispute.id, side, position, args.files);
    let dispute = stated.await?;
    if !args.json {
        invocation.print(&format!(
            "Recorded the position of the {side} in dispute {}\n",
            dispute.id
        ))?;
    }
    finish(invocation, &engine, &dispute, args.json).await
}

/// Notes a minor dispute.
pub(super) async fn log(invocation: &Invocation, args: Log) -> Result<Exit, CliError> {
    let engine = settled_engine(invocation).await?;
    let task = engine.task(typed_id(&args.task)).await?.task;
    debug_assert!(args.minor, "the option is required");
    let new = NewDispute {
        key: fresh_key("minor"),
        subject: subject(&task),
        origin: Origin::Minor,
        gravity: Gravity::Minor,
        grounds: args.reason,
        objection: None,
        coder: None,
        reviewer: None,
        rule: String::new(),
        evidence: Vec::new(),
        files: Vec::new(),
        material: None,
        notes: args.notes,
        created_by: Some(args.author.actor()),
    };
    let dispute = engine.open_dispute(new).await?;
    if !args.json {
        let title = for_terminal(&task.brief.title);
        invocation.print(&format!(
            "Noted {} about {title} ({})\n",
            dispute.id, task.id
        ))?;
    }
    finish(invocation, &engine, &dispute, args.json).await
}

async fn finish(
    invocation: &Invocation,
    engine: &Engine,
    dispute: &Dispute,
    json: bool,
) -> Result<Exit, CliError> {
    let pushes = engine.take_pushes();
    if json {
        let dispute = dispute_json(dispute);
        invocation.print_json(&json!({
            "schema": "tribunal.dispute.v1", "dispute": dispute, "pushes": pushes,
        }))?;
    }
    let exit = pushes::tell(invocation, &pushes);
    pushes::tell_unpushed(invocation, engine);
    stale::remind(invocation, engine).await?;
    Ok(exit)
}

fn subject(task: &Task) -> Subject {
    Subject::Task {
        task: task.id.to_string(),
        title: task.brief.title.clone(),
    }
}

/// Returns what the last rejection of a contested task said.
async fn rejection(engine: &Engine, task: &Task, side: Party) -> Result<Option<String>, CliError> {
    if side == Party::Reviewer {
        return Ok(None);
    }
    let audit = audit_of(engine.ledger().store().as_ref(), task).await?;
    let rejected = |entry: &&Entry| entry.done == Some(Move::Reject);
    let last = audit.entries.iter().rev().find(rejected);
    Ok(last.and_then(|entry| entry.note.clone()))
}

/// Returns text as a shell takes it as one word.
fn quoted(text: &str) -> String {
    let text = for_terminal(text).replace('\n', " ");
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// Refuses a task that has an open dispute or is being worked on, before anything is stored.
async fn check_free(engine: &Engine, record: &TaskRecord) -> Result<(), CliError> {
    let task = &record.task;
    let store = engine.ledger().store();
    if let Some(open) = store.open_dispute_of(task.id.as_str()).await? {
        let text = format!("task {} has an open dispute: {}", task.id, open.id);
        let told = CliError::new(Exit::Busy, text);
        let id = &open.id;
        return Err(match open.missing() {
            Some(_) => told.hint(format!(
                "State the other position with `tribunal dispute answer {id} --position …`"
            )),
            None => told.hint(format!("See `tribunal dispute show {id}`")),
        });
    }
    if let Some(holder) = &record.holder {
        let text = format!("task {} is being worked on by {holder}", task.id);
        return Err(CliError::new(Exit::Busy, text).hint("Try again when it is done"));
    }
    match task.state {
        TaskState::Pending | TaskState::InProgress | TaskState::InReview => Ok(()),
        TaskState::Completed | TaskState::Disputed | TaskState::Failed | TaskState::Skipped => {
            let text = format!(
                "task {} is {}, so there is nothing to dispute",
                task.id, task.state
            );
            Err(CliError::new(Exit::Usage, text)
                .hint(format!("Reopen it with `tribunal task reopen {}`", task.id)))
        }
    }
}

/// Returns whose position it is, and how that is known when it was not said.
fn side_of(said: Option<Party>, task: &Task) -> Result<(Party, Option<&'static str>), CliError> {
    match (said, task.state) {
        (Some(side), _) => Ok((side, None)),
        (None, TaskState::InReview) => Ok((Party::Reviewer, Some("the task is in review"))),
        (None, TaskState::InProgress) if task.rejections > 0 => {
            Ok((Party::Coder, Some("a rejection sent the task back")))
        }
        (None, _) if std::io::stdin().is_terminal() && std::io::stderr().is_terminal() => {
            let sides = vec![Party::Coder, Party::Reviewer];
            match inquire::Select::new("Whose position is this?", sides).prompt() {
                Ok(side) => Ok((side, None)),
                Err(
                    inquire::InquireError::OperationCanceled
                    | inquire::InquireError::OperationInterrupted,
                ) => Err(CliError::new(Exit::Interrupted, "nothing was recorded")),
                Err(error) => Err(CliError::new(Exit::Internal, "cannot ask").caused_by(&error)),
            }
        }
        (None, state) => {
            let text = format!(
                "task {} is {state}: it does not tell whose position it is",
                task.id
            );
            Err(CliError::new(Exit::Usage, text).hint("Say `--as coder` or `--as reviewer`"))
        }
    }
}
