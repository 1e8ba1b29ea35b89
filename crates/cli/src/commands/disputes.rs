//! `tribunal disputes`.

use crate::commands::dispute;
use crate::error::CliError;
use crate::exit::Exit;
use crate::invocation::Invocation;

/// Show the history of disputes, newest first
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  tribunal disputes --recent 10")]
pub(crate) struct Args {
    /// How many
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    recent: u32,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Prints the history.
pub(crate) async fn run(invocation: &Invocation, args: Args) -> Result<Exit, CliError> {
    dispute::recent(invocation, args.recent, args.json).await
}
