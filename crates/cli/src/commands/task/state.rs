//! `tribunal task start`, `submit`, `approve`, `reject`, `skip`, `fail` and `reopen`.

use tribunal_core::task::Actor;
use tribunal_core::task::transition;
use tribunal_core::text::for_terminal;
use tribunal_engine::task::MoveRequest;

use super::add::tell;
use crate::commands::pushes;
use crate::error::CliError;
use crate::exit::Exit;
use crate::invocation::Invocation;

#[derive(Debug, clap::Subcommand)]
pub(super) enum Move {
    /// Begin a pending task: `[ ]` becomes `[-]`
    Start(MoveArgs),
    /// Say that the work is done and wants a review: `[-]` becomes `[o]`
    ///
    /// With `--commit` the next `tribunal run` reviews that commit and delivers it. Without, the work is
    /// yours: approve or reject it by hand.
    #[command(after_help = "Examples:\n  \
        tribunal task submit c-1a2b\n  \
        tribunal task submit c-1a2b --commit HEAD")]
    Submit(SubmitArgs),
    /// Approve the work: `[o]` becomes `[x]`
    ///
    /// Work of the loop is put on the branch of approved work and pushed as configured, so the
    /// command is given in the project. Work of your own stays where it is.
    Approve(MoveArgs),
    /// Send the work back: `[o]` becomes `[-]`, and the rejection is counted
    Reject(MoveArgs),
    /// Decide that a task is not to be done: `[S]`
    Skip(MoveArgs),
    /// Give up a task that cannot be done: `[F]`
    Fail(MoveArgs),
    /// Put a settled task back on the list: `[ ]`
    Reopen(MoveArgs),
}

#[derive(Debug, clap::Args)]
pub(super) struct MoveArgs {
    /// The task: its id, or the beginning or end of it
    task: String,
    /// Why; after a rejection it is what the coder has to observe
    #[arg(long, value_name = "TEXT")]
    notes: Option<String>,
    /// Who does this; you if not given
    #[arg(long, value_name = "NAME")]
    by: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
pub(super) struct SubmitArgs {
    #[command(flatten)]
    of: MoveArgs,
    /// The commit with the work; what it adds to the approved work is reviewed
    #[arg(long, value_name = "REV")]
    commit: Option<String>,
}

/// Moves the task.
pub(super) async fn run(invocation: &Invocation, command: Move) -> Result<Exit, CliError> {
    let mut commit = None;
    let (done, said, args) = match command {
        Move::Start(args) => (transition::Move::Start, "Started", args),
        Move::Submit(args) => {
            commit = args.commit;
            (transition::Move::Submit, "Submitted", args.of)
        }
        Move::Approve(args) => (transition::Move::Approve, "Approved", args),
        Move::Reject(args) => (transition::Move::Reject, "Rejected", args),
        Move::Skip(args) => (transition::Move::Skip, "Skipped", args),
        Move::Fail(args) => (transition::Move::Fail, "Failed", args),
        Move::Reopen(args) => (transition::Move::Reopen, "Reopened", args),
    };
    let engine = invocation.engine().await?;
    let id = engine.task(&args.task).await?.task.id;
    let request = MoveRequest {
        done,
        actor: Actor::Human { name: args.by },
        note: args.notes,
    };
    if let Some(revision) = commit {
        let task = engine.submit_commit(&id, &revision, request).await?;
        return tell(invocation, &task, said, args.json);
    }
    let moved = engine.move_task(&id, request).await?;
    for line in &moved.said {
        invocation.say(&format!("{}.", for_terminal(line)));
    }
    tell(invocation, &moved.task, said, args.json)?;
    pushes::tell_unpushed(invocation, &engine);
    Ok(pushes::tell(invocation, &engine.take_pushes()))
}
