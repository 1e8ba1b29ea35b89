//! `tribunal replay`.

use serde_json::json;
use tribunal_engine::replay::Replayed;

use crate::error::CliError;
use crate::exit::Exit;
use crate::invocation::{Format, Invocation};
use crate::report;

/// Do a recorded case again, offline, with the recorded answers
///
/// No agent is started and nothing is sent. The result must be the recorded one; a difference is
/// shown and ends with exit code 1. The ledger is not changed.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    tribunal replay c-1a2b3c4d5e")]
pub(crate) struct Args {
    /// The case: its id, or the beginning or end of it
    case: String,
    /// How to print what happens: text, json or jsonl
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
}

/// Replays the case.
pub(crate) async fn run(invocation: &Invocation, args: Args) -> Result<Exit, CliError> {
    let (store, dir) = invocation.required_store(&args.case).await?;
    let record = store.find_case(&args.case).await?;
    let stage = tribunal_engine::replay::Stage::set(store.as_ref(), &dir, &record).await?;
    let mut reporter = invocation.reporter(args.format);
    let stream = stage.engine().ledger().subscribe();
    let replayed = report::report_while(stream, reporter.as_mut(), Box::pin(stage.play())).await?;
    let differences = match &replayed {
        Replayed::Same => Vec::new(),
        Replayed::Different(differences) => differences.clone(),
    };
    if args.format == Format::Json {
        invocation.print_json(&json!({
            "schema": "tribunal.replay.v1",
            "case": record.id,
            "same": differences.is_empty(),
            "differences": differences,
        }))?;
    }
    if differences.is_empty() {
        invocation.say(&format!("Case {} replays to the same result.", record.id));
        return Ok(Exit::Pass);
    }
    let text = format!(
        "case {} replays differently: {}",
        record.id,
        differences.join("; ")
    );
    Err(CliError::new(Exit::Fail, text))
}
