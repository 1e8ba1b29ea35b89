//! `tribunal restore`.

use std::path::PathBuf;

use serde_json::json;
use tribunal_core::time::Timestamp;
use tribunal_engine::care::{RestoreWish, restore};

use crate::error::CliError;
use crate::exit::Exit;
use crate::invocation::Invocation;

/// Make a ledger out of a backup
///
/// The backup is checked first, as `tribunal doctor` checks a ledger; a damaged one changes nothing. A ledger that has
/// cases stays as it is, unless `--force` moves it aside.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    tribunal restore ledger.tar.gz\n  \
    tribunal restore ledger.tar.gz --into copy-of-the-ledger\n  \
    tribunal --ledger copy-of-the-ledger log")]
pub(crate) struct Args {
    /// The file that `tribunal backup` wrote
    file: PathBuf,
    /// The directory of the new ledger; where the project has its own if not given
    #[arg(long, value_name = "DIRECTORY")]
    into: Option<PathBuf>,
    /// Move a ledger that is there aside
    #[arg(long)]
    force: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Restores the ledger.
pub(crate) async fn run(invocation: &Invocation, args: Args) -> Result<Exit, CliError> {
    let is_elsewhere = args.into.is_some();
    let into = match args.into {
        Some(into) => invocation.path(&into),
        None => invocation.ledger_path(&invocation.settings_without_trust()?)?,
    };
    let since = std::time::UNIX_EPOCH.elapsed().unwrap_or_default();
    let wish = RestoreWish {
        file: invocation.path(&args.file),
        into,
        force: args.force,
        now: Timestamp(i64::try_from(since.as_millis()).unwrap_or(i64::MAX)),
    };
    let report = restore(&wish).await?;
    if !is_elsewhere {
        // The page in the project tells what the ledger says now.
        let engine = invocation.engine().await?;
        engine.refresh_dispute_file().await?;
        engine.close().await;
    }
    if args.json {
        let mut json = json!(report);
        json["schema"] = json!("tribunal.restore_report.v1");
        invocation.print_json(&json)?;
        return Ok(Exit::Pass);
    }
    if let Some(aside) = &report.moved_to {
        let text = format!("The ledger that was there lies in {} now.", aside.display());
        invocation.say(&text);
    }
    invocation.say(&format!(
        "Restored {}: {} cases, {} runs.",
        report.ledger.display(),
        report.cases,
        report.runs
    ));
    Ok(Exit::Pass)
}
