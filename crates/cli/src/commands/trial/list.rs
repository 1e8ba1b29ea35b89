//! `tribunal trial list`.

use serde_json::json;
use tribunal_core::case::CaseKind;
use tribunal_core::text::for_terminal;

use crate::commands::log::state_of;
use crate::error::CliError;
use crate::exit::Exit;
use crate::invocation::Invocation;

/// List the trials, the newest first
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// List at most so many
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: u32,
}

/// Lists.
pub(super) async fn run(invocation: &Invocation, args: &Args) -> Result<Exit, CliError> {
    let trials = match invocation.existing_store().await? {
        Some(store) => store.recent_cases_of(CaseKind::Trial, args.limit).await?,
        None => Vec::new(),
    };
    if args.json {
        let listed: Vec<_> = trials
            .iter()
            .map(|case| {
                json!({"case": case.id, "title": case.title, "state": case.state,
                    "opened_at": case.opened_at, "updated_at": case.updated_at})
            })
            .collect();
        invocation.print_json(&json!({"schema": "tribunal.trials.v1", "trials": listed}))?;
        return Ok(Exit::Pass);
    }
    if trials.is_empty() {
        invocation.say("There is no trial yet; hold one with `tribunal trial \"…\"`.");
        return Ok(Exit::Pass);
    }
    let mut table = invocation.table(&["TRIAL", "STATE", "CHALLENGE"]);
    for case in &trials {
        let title = for_terminal(&case.title).replace('\n', " ");
        table.add_row([case.id.to_string(), state_of(case), title]);
    }
    invocation.print(&format!("{table}\n"))?;
    Ok(Exit::Pass)
}
