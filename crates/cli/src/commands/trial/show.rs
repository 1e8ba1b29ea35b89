//! `tribunal trial show` and `tribunal trial resume`.

use tribunal_core::case::{CaseKind, CaseState};
use tribunal_engine::Resumed;
use tribunal_engine::config::Usd;
use tribunal_store::CaseRecord;

use super::{Printing, events_format, find, finish};
use crate::args::parse_cost;
use crate::error::CliError;
use crate::exit::Exit;
use crate::invocation::Invocation;
use crate::report::trial::{TrialFormat, render};
use crate::report::{self, Reporter as _};

/// Show a trial as far as it has come
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The trial: its id, or the beginning or end of it
    case: String,
    #[command(flatten)]
    printing: Printing,
}

/// Shows.
pub(super) async fn run(invocation: &Invocation, args: &Args) -> Result<Exit, CliError> {
    invocation.required_store(&args.case).await?;
    let engine = invocation.engine().await?;
    let record = find(engine.ledger().store().as_ref(), &args.case).await?;
    let format = args.printing.format();
    if format == TrialFormat::Jsonl {
        let mut lines = report::JsonLines(std::io::stdout());
        let events = engine.events(&record.id).await?;
        events.iter().for_each(|event| lines.event(event));
        return Ok(Exit::Pass);
    }
    let report = engine.trial_report(&record.id).await?;
    invocation.print(&render(&report, format, args.printing.verbose))?;
    Ok(Exit::Pass)
}

/// Go on with a trial that was interrupted, parked, or failed
///
/// What is finished is taken from the ledger: nothing is asked or paid for twice. In a trial that
/// failed, whoever failed is asked again, also if an answer came that could not be used. What
/// `--max-cost` allowed before still holds.
#[derive(Debug, clap::Args)]
pub(super) struct ResumeArgs {
    /// The trial; the newest unfinished one if not given
    case: Option<String>,
    /// The most that it may cost from now on, what it has cost before included
    #[arg(long, value_name = "USD", value_parser = parse_cost)]
    max_cost: Option<Usd>,
    #[command(flatten)]
    printing: Printing,
}

/// Resumes.
pub(super) async fn resume(invocation: &Invocation, args: &ResumeArgs) -> Result<Exit, CliError> {
    let engine = invocation.engine().await?;
    let store = engine.ledger().store();
    let record = match &args.case {
        Some(text) => find(store.as_ref(), text).await?,
        None => {
            let recent = store.recent_cases_of(CaseKind::Trial, 200).await?;
            let mut trials = recent.into_iter().filter(is_unfinished);
            trials.next().ok_or_else(|| {
                CliError::new(Exit::NotFound, "there is no unfinished trial")
                    .hint("`tribunal trial list` lists the trials")
            })?
        }
    };
    let allowed = args.max_cost.map(|cost| cost.0);
    let engine = engine.within_cap_of(&record, allowed).await?;
    let format = args.printing.format();
    let mut reporter = invocation.reporter(events_format(format));
    let stream = engine.ledger().subscribe();
    let work = invocation.stoppable(&engine, Box::pin(engine.resume(&record)));
    match report::report_while(stream, reporter.as_mut(), work).await? {
        Resumed::Trial(tried) => finish(invocation, &tried, format, args.printing.verbose),
        _ => {
            let id = &record.id;
            let text = format!("Trial {id} has come to its end; see `tribunal trial show {id}`.");
            invocation.say(&text);
            Ok(Exit::Pass)
        }
    }
}

fn is_unfinished(case: &CaseRecord) -> bool {
    let waits = match &case.state {
        CaseState::Closed(outcome) => {
            matches!(outcome, tribunal_core::case::Outcome::Inconclusive { .. })
        }
        CaseState::Parked { why, .. } => !matches!(why, tribunal_core::case::Pause::Human { .. }),
        CaseState::Open => true,
    };
    case.kind == CaseKind::Trial && !case.owned && waits
}
