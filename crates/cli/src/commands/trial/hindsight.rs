//! `tribunal trial hindsight`.

use serde_json::json;

use super::find;
use crate::error::CliError;
use crate::exit::Exit;
use crate::invocation::{Format, Invocation};
use crate::report;

/// Say what turned out after a trial; the record of judges follows it
///
/// What was merged or adopted counts as the better answer until somebody knows more. The decree
/// itself stays as it was; the latest word holds.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    tribunal trial hindsight c-1a2b3c4d5e safety-first --note \"the queue lost orders\"\n  \
    tribunal trial hindsight c-1a2b3c4d5e --nobody")]
pub(super) struct Args {
    /// The trial: its id, or the beginning or end of it
    case: String,
    /// Whose answer proved the best: its id or name
    #[arg(required_unless_present = "nobody")]
    contestant: Option<String>,
    /// No answer held
    #[arg(long, conflicts_with = "contestant")]
    nobody: bool,
    /// A word on it, kept with it
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Records it.
pub(super) async fn run(invocation: &Invocation, args: Args) -> Result<Exit, CliError> {
    invocation.required_store(&args.case).await?;
    let engine = invocation.engine().await?;
    let record = find(engine.ledger().store().as_ref(), &args.case).await?;
    let mut reporter = invocation.reporter(Format::Text);
    let stream = engine.ledger().subscribe();
    let work = engine.state_hindsight(&record, args.contestant.as_deref(), args.note);
    let report = report::report_while(stream, reporter.as_mut(), work).await?;
    if args.json {
        let json = json!({"schema": "tribunal.hindsight.v1", "case": record.id,
            "hindsight": report.hindsight});
        invocation.print_json(&json)?;
    }
    Ok(Exit::Pass)
}
