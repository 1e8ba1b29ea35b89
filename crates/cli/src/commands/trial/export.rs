//! `tribunal trial export`.

use std::path::PathBuf;

use super::find;
use crate::error::CliError;
use crate::exit::Exit;
use crate::invocation::Invocation;
use crate::report::trial::{TrialFormat, render};

/// Write a trial into one file, with every answer, score and reason
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The trial: its id, or the beginning or end of it
    case: String,
    /// The form: markdown, html or json
    #[arg(long, value_name = "FORMAT", default_value = "markdown")]
    format: TrialFormat,
    /// The file; standard output if not given
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Exports.
pub(super) async fn run(invocation: &Invocation, args: &Args) -> Result<Exit, CliError> {
    invocation.required_store(&args.case).await?;
    let engine = invocation.engine().await?;
    let record = find(engine.ledger().store().as_ref(), &args.case).await?;
    if args.format == TrialFormat::Jsonl {
        let text = "a report has no lines of JSON; events are shown by `trial show --format jsonl`";
        return Err(CliError::new(Exit::Usage, text));
    }
    let report = engine.trial_report(&record.id).await?;
    let text = render(&report, args.format, true);
    match &args.output {
        None => invocation.print(&text)?,
        Some(path) => {
            let path = invocation.write_file(path, &text)?;
            invocation.say(&format!("Wrote {}.", path.display()));
        }
    }
    Ok(Exit::Pass)
}
