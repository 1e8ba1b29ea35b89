//! `tribunal trial decree`.

use std::path::PathBuf;

use serde_json::json;
use tribunal_engine::trial::DecreeWish;

use super::{events_format, find, finish};
use crate::error::CliError;
use crate::exit::Exit;
use crate::invocation::Invocation;
use crate::report::trial::{TrialFormat, issue, render};
use crate::report::{self};

/// Say what is done about a verdict; it ends the trial
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    tribunal trial decree c-1a2b3c4d5e merge\n  \
    tribunal trial decree c-1a2b3c4d5e adopt\n  \
    tribunal trial decree c-1a2b3c4d5e adopt \"Queue them, and batch within a block\"\n  \
    tribunal trial decree c-1a2b3c4d5e adopt --contestant safety-first\n  \
    tribunal trial decree c-1a2b3c4d5e iterate --note \"half the gas\"\n  \
    tribunal trial decree c-1a2b3c4d5e issue --output issue.md")]
pub(super) struct Args {
    /// The trial: its id, or the beginning or end of it
    case: String,
    /// What is done
    #[command(subcommand)]
    act: Act,
    /// A word on it, kept with the decree; what `iterate` asks for
    #[arg(long, value_name = "TEXT", global = true)]
    note: Option<String>,
    /// How to print the result
    #[arg(long, value_name = "FORMAT", default_value = "text", global = true)]
    format: TrialFormat,
    /// Short for `--format json`
    #[arg(long, conflicts_with = "format", global = true)]
    json: bool,
}

#[derive(Debug, clap::Subcommand)]
enum Act {
    /// Merge the winner's branch into the one you are on; your tree must be clean
    Merge {
        /// Merge this contestant's branch instead: its id or name
        #[arg(long, value_name = "NAME")]
        contestant: Option<String>,
    },
    /// Adopt a text, or a contestant's answer, as the outcome
    Adopt {
        /// The text; the answer of the contestant, or of the winner, if not given
        text: Option<String>,
        /// Whose answer it is, or comes from: its id or name; judges are measured by it
        #[arg(long, value_name = "NAME")]
        contestant: Option<String>,
    },
    /// Hold another trial that goes on from this one
    Iterate,
    /// Print the result as an issue, its title as the first line
    Issue {
        /// Write it to this file instead
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Do nothing more
    Close,
}

/// Issues the decree.
pub(super) async fn run(invocation: &Invocation, args: Args) -> Result<Exit, CliError> {
    invocation.required_store(&args.case).await?;
    let settings = invocation.settings(&[])?.settings;
    let engine = invocation.engine().await?;
    let record = find(engine.ledger().store().as_ref(), &args.case).await?;
    let (wish, output) = match args.act {
        Act::Merge { contestant } => (DecreeWish::Merge { contestant }, None),
        Act::Adopt { text, contestant } => (DecreeWish::Adopt { text, contestant }, None),
        Act::Iterate => (DecreeWish::Iterate, None),
        Act::Issue { output } => (DecreeWish::Issue, Some(output)),
        Act::Close => (DecreeWish::Close, None),
    };
    let format = match args.json {
        true => TrialFormat::Json,
        false => args.format,
    };
    let mut reporter = invocation.reporter(events_format(format));
    let stream = engine.ledger().subscribe();
    let work = engine.decree(&settings, &record, wish, args.note);
    let work = invocation.stoppable(&engine, Box::pin(work));
    let decreed = report::report_while(stream, reporter.as_mut(), work).await?;
    if let Some(tried) = &decreed.next {
        return finish(invocation, tried, format, false);
    }
    match (format, output) {
        (TrialFormat::Json, _) => {
            let json = json!({"schema": "tribunal.decree.v1", "case": record.id, "decree": decreed.decree});
            invocation.print_json(&json)?;
        }
        (_, Some(None)) => invocation.print(&issue(&decreed.report))?,
        (_, Some(Some(file))) => {
            let path = invocation.write_file(&file, &issue(&decreed.report))?;
            invocation.say(&format!("Wrote {}.", path.display()));
        }
        (TrialFormat::Markdown | TrialFormat::Html, None) => {
            invocation.print(&render(&decreed.report, format, true))?;
        }
        (TrialFormat::Text | TrialFormat::Jsonl, None) => {}
    }
    Ok(Exit::Pass)
}
