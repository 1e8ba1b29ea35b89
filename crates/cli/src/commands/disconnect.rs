//! `tribunal disconnect`.

use tribunal_core::ids::AgentName;
use tribunal_engine::config::{Change, Editor, Target};

use crate::error::CliError;
use crate::exit::Exit;
use crate::invocation::Invocation;

/// Take an agent out of the configuration
///
/// Its runs stay in the ledger.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    tribunal disconnect codex-reviewer")]
pub(crate) struct Args {
    /// The agent's name
    name: String,
    /// Change your own configuration instead of the project's
    #[arg(long)]
    user: bool,
}

/// Removes the agent.
pub(crate) fn run(invocation: &Invocation, args: &Args) -> Result<Exit, CliError> {
    let target = if args.user {
        Target::User
    } else {
        Target::Project
    };
    let unknown = |file: &str| {
        CliError::new(
            Exit::NotFound,
            format!("no agent is called `{}` in {file}", args.name),
        )
        .hint("`tribunal agents` lists them")
    };
    let sources = invocation.sources(&[]);
    let editor = Editor::new(&sources, target)?;
    let file = editor.file().display().to_string();
    let name = AgentName::new(&args.name).map_err(|_| unknown(&file))?;
    match editor.remove_agent(&name)? {
        Change::Written => invocation.say(&format!("{name} left {file}.")),
        Change::None => return Err(unknown(&file)),
    }
    Ok(Exit::Pass)
}
