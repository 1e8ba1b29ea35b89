//! `tribunal dispute`.

mod create;
mod json;
mod judge;
mod list;
mod resolve;
mod show;
mod stale;

use tribunal_engine::Engine;

use crate::error::CliError;
use crate::exit::Exit;
use crate::invocation::Invocation;

pub(crate) use json::dispute_json;
pub(crate) use list::recent;
pub(crate) use stale::{remind, remind_in_passing};

/// Record disagreements between coder and reviewer, and settle them
///
/// A major dispute marks its task `[!]`, stands in `dispute.md` and waits for a ruling while other
/// work goes on. A minor one is only noted. A dispute is named by its id, or by the beginning or
/// end of it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    tribunal dispute create c-1a2b --reason security_concern --position \"Tokens never expire\"\n  \
    tribunal dispute answer d-9f8e --position \"They do, see src/auth.rs:40\"\n  \
    tribunal dispute list --status open\n  \
    tribunal dispute resolve d-9f8e --decision coder --notes \"Expiry is tested\"")]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Create(create::Create),
    Answer(create::Answer),
    Log(create::Log),
    List(list::List),
    Show(show::Show),
    Judge(judge::Judge),
    Resolve(resolve::Resolve),
    Discard(resolve::Discard),
}

/// Carries out one of the commands.
pub(crate) async fn run(invocation: &Invocation, args: Args) -> Result<Exit, CliError> {
    match args.command {
        Command::Create(args) => create::create(invocation, args).await,
        Command::Answer(args) => create::answer(invocation, args).await,
        Command::Log(args) => create::log(invocation, args).await,
        Command::List(args) => list::list(invocation, &args).await,
        Command::Show(args) => show::show(invocation, &args).await,
        Command::Judge(args) => judge::judge(invocation, &args).await,
        Command::Resolve(args) => resolve::resolve(invocation, args).await,
        Command::Discard(args) => resolve::discard(invocation, args).await,
    }
}

/// Returns an engine after doing what interrupted commands left undone for disputes.
pub(crate) async fn settled_engine(invocation: &Invocation) -> Result<Engine, CliError> {
    let engine = invocation.engine().await?;
    let settled = engine.settle_disputes().await?;
    if settled > 0 {
        invocation.say("An interrupted command was completed first.");
    }
    engine.push_what_is_behind().await?;
    Ok(engine)
}

/// Returns an id without the dots with which people and documents shorten it.
pub(crate) fn typed_id(text: &str) -> &str {
    text.trim().trim_end_matches(['.', '…', '-'])
}
