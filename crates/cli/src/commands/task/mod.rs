//! `tribunal task`.

mod add;
mod held;
mod lists;
mod show;
mod state;

pub(crate) use held::held_up;
pub(crate) use show::{one_line, summary, words};
use tribunal_engine::task::TaskError;

use crate::commands::dispute;
use crate::error::CliError;
use crate::exit::Exit;
use crate::invocation::Invocation;

/// Keep a list of work: add, move, look at tasks
///
/// A task is pending `[ ]`, in progress `[-]`, in review `[o]`, completed `[x]`, disputed `[!]`,
/// failed `[F]` or skipped `[S]`. `tribunal run` works through the list; the commands here do the
/// same by hand. A task is named by its id, or by the beginning or end of it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    tribunal task add \"Fix login bug\" --section Auth --source docs/SPEC.md#login\n  \
    tribunal task list\n  \
    tribunal task start c-1a2b\n  \
    tribunal task reject c-1a2b --notes \"no test for expired sessions\"\n  \
    tribunal task import TASKS.md\n  \
    tribunal task audit c-1a2b")]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Add(add::Add),
    Edit(add::Edit),
    List(show::List),
    Show(show::Show),
    Audit(show::Audit),
    Next(show::Next),
    Import(lists::Import),
    Export(lists::Export),
    #[command(flatten)]
    Move(state::Move),
}

/// Carries out one of the commands.
pub(crate) async fn run(invocation: &Invocation, args: Args) -> Result<Exit, CliError> {
    let exit = carry_out(invocation, args).await?;
    dispute::remind_in_passing(invocation).await?;
    Ok(exit)
}

async fn carry_out(invocation: &Invocation, args: Args) -> Result<Exit, CliError> {
    match args.command {
        Command::Add(args) => add::add(invocation, args).await,
        Command::Edit(args) => add::edit(invocation, args).await,
        Command::List(args) => show::list(invocation, args).await,
        Command::Show(args) => show::show(invocation, args).await,
        Command::Audit(args) => show::audit(invocation, args).await,
        Command::Next(args) => show::next(invocation, args).await,
        Command::Import(args) => lists::import(invocation, args).await,
        Command::Export(args) => lists::export(invocation, args).await,
        Command::Move(command) => state::run(invocation, command).await,
    }
}

impl From<TaskError> for CliError {
    fn from(error: TaskError) -> Self {
        match error {
            TaskError::Case(error) => error.into(),
            TaskError::Refused { ref id, .. } => {
                let hint = format!("`tribunal task show {id}` tells where it stands");
                Self::new(Exit::Usage, error.to_string()).hint(hint)
            }
            TaskError::Contradicted { ref id, .. } => Self::new(Exit::Fail, error.to_string())
                .hint(format!(
                    "Let it be done again with `tribunal task reject {id}`"
                ))
                .hint("Or merge the two yourself; the work stays in the ledger"),
            TaskError::BadList { faults } => {
                let told = Self::new(Exit::Usage, "the list was not taken over, nothing of it");
                faults.into_iter().fold(told, Self::hint)
            }
            TaskError::Unfit(text) => Self::new(Exit::Usage, text),
            TaskError::NoSuchSection { ref known, .. } => {
                let told = Self::new(Exit::NotFound, error.to_string());
                let told = match known.is_empty() {
                    true => told,
                    false => told.hint(format!("The sections are: {}", known.join(", "))),
                };
                told.hint("Make one with `tribunal section add NAME`")
            }
        }
    }
}
