//! `tribunal backup`.

use std::path::PathBuf;

use serde_json::json;
use tribunal_engine::care::{back_up, in_words};

use crate::error::CliError;
use crate::exit::Exit;
use crate::invocation::Invocation;

/// Write the whole ledger into one file, while others work with it
///
/// The file holds the ledger as it stands at one moment: all events, the files of runs and all stored texts.
/// Logins of agents and work in progress are not part of it. It is a private tar archive through
/// gzip; `tribunal restore` makes a ledger of it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    tribunal backup ledger.tar.gz\n  \
    tribunal restore ledger.tar.gz --into copy-of-the-ledger")]
pub(crate) struct Args {
    /// The file, which must not be there yet
    file: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Writes the backup.
pub(crate) async fn run(invocation: &Invocation, args: Args) -> Result<Exit, CliError> {
    let Some((store, dir)) = invocation.existing_ledger().await? else {
        let text = "there is no ledger to back up";
        return Err(CliError::new(Exit::NotFound, text));
    };
    let file = invocation.path(&args.file);
    let report = back_up(store.as_ref(), &dir, &file).await?;
    store.close().await;
    if args.json {
        let mut json = json!(report);
        json["schema"] = json!("tribunal.backup_report.v1");
        invocation.print_json(&json)?;
        return Ok(Exit::Pass);
    }
    invocation.say(&format!(
        "Wrote {}: {} cases, {} runs, {}.",
        report.file.display(),
        report.cases,
        report.runs,
        in_words(report.bytes)
    ));
    Ok(Exit::Pass)
}
