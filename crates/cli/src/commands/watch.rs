//! `tribunal watch`.

use std::time::Duration;

use tribunal_core::case::CaseState;

use crate::commands::{log, named};
use crate::error::CliError;
use crate::exit::Exit;
use crate::invocation::{Format, Invocation};

/// How often the ledger is asked for news of another process.
const POLL: Duration = Duration::from_millis(250);

/// Follow a case while another process works on it
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    tribunal watch c-1a2b3c4d5e\n  \
    tribunal watch c-1a2b3c4d5e --format jsonl")]
pub(crate) struct Args {
    /// The case: its id, or the beginning or end of it; the id of a task, dispute or finding does as well
    case: String,
    /// How to print the events: text or jsonl
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
}

/// Prints events as they are stored, until the case rests.
pub(crate) async fn run(invocation: &Invocation, args: Args) -> Result<Exit, CliError> {
    let (store, _) = invocation.required_store(&args.case).await?;
    let id = named::case_of(store.as_ref(), &args.case).await?.id;
    let mut reporter = invocation.event_reporter(args.format);
    let mut seen = 0;
    loop {
        // The state is read before the events, so that none of a case at rest is missed.
        let record = store.find_case(id.as_str()).await?;
        loop {
            let events = store.events(&id, seen, 500).await?;
            let Some(last) = events.last() else { break };
            seen = last.seq;
            events.iter().for_each(|event| reporter.event(event));
        }
        let at_rest = match record.state {
            CaseState::Open => !record.owned,
            CaseState::Parked { .. } | CaseState::Closed(_) => true,
        };
        if at_rest {
            reporter.finish();
            invocation.say(&format!(
                "Case {id} is at rest: {}.",
                log::state_of(&record)
            ));
            return Ok(Exit::Pass);
        }
        tokio::time::sleep(POLL).await;
    }
}
