//! `tribunal resume`.

use tribunal_core::case::{CaseKind, CaseState};
use tribunal_engine::Resumed;
use tribunal_engine::config::Usd;

use crate::args::parse_cost;
use crate::commands::{ask, named, review, run as tasks, trial};
use crate::error::CliError;
use crate::exit::Exit;
use crate::invocation::{Format, Invocation};
use crate::report;
use crate::report::trial::TrialFormat;

/// Go on with a case that was interrupted, parked, or ended without all answers
///
/// What is finished is taken from the ledger: nothing is asked or paid for twice.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    tribunal resume\n  \
    tribunal resume c-1a2b3c4d5e\n  \
    tribunal resume c-1a2b3c4d5e --max-cost 10")]
pub(crate) struct Args {
    /// The case: its id, or the beginning or end of it, or that of a dispute or finding; the newest
    /// unfinished one if not given
    case: Option<String>,
    /// The most that a trial or a run over the tasks may cost from now on, what it has cost before included
    #[arg(long, value_name = "USD", value_parser = parse_cost)]
    max_cost: Option<Usd>,
    /// How to print the result
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
    /// Short for `--format json`
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

/// Resumes the case.
pub(crate) async fn run(invocation: &Invocation, args: Args) -> Result<Exit, CliError> {
    let format = if args.json { Format::Json } else { args.format };
    let engine = invocation.asking(invocation.engine_with(&[]).await?);
    let record = match &args.case {
        Some(text) => named::case_of(engine.ledger().store().as_ref(), text).await?,
        None => engine.newest_unfinished().await?.ok_or_else(|| {
            CliError::new(Exit::NotFound, "there is no unfinished case")
                .hint("`tribunal log` lists the cases of this project")
        })?,
    };
    if record.kind == CaseKind::Run && !matches!(record.state, CaseState::Closed(_)) {
        let max_cost = args.max_cost.map(|cost| cost.0);
        return tasks::resume(invocation, &engine, &record, max_cost, format).await;
    }
    let engine = match record.kind {
        CaseKind::Trial => {
            let allowed = args.max_cost.map(|cost| cost.0);
            engine.within_cap_of(&record, allowed).await?
        }
        _ => engine,
    };
    if args.max_cost.is_some() && record.kind != CaseKind::Trial {
        let why = format!("case {} is no run or trial that could go on", record.id);
        return Err(
            CliError::new(Exit::Usage, format!("{why}, and `--max-cost` is for those"))
                .hint("`--set budget.per_case=USD` limits any other case"),
        );
    }
    let mut reporter = invocation.reporter(format);
    let stream = engine.ledger().subscribe();
    let work = invocation.stoppable(&engine, Box::pin(engine.resume(&record)));
    let result = report::report_while(stream, reporter.as_mut(), work).await;
    finish(
        invocation,
        result?,
        format,
        review::Presentation::of(format),
    )
}

/// Prints what came of going on, and returns the exit code.
pub(super) fn finish(
    invocation: &Invocation,
    resumed: Resumed,
    format: Format,
    presentation: review::Presentation,
) -> Result<Exit, CliError> {
    match resumed {
        Resumed::AlreadyEnded(case, outcome) => {
            invocation.say(&format!(
                "Case {case} has come to its end; there is nothing left to do. \
                 `tribunal show {case}` tells how it ended."
            ));
            Ok(Exit::of(&outcome))
        }
        Resumed::Ask(report) => ask::finish(invocation, format, &report),
        Resumed::Review(reviewed) => review::finish(invocation, &reviewed, &presentation),
        Resumed::Trial(tried) => {
            let format = match format {
                Format::Text => TrialFormat::Text,
                Format::Json => TrialFormat::Json,
                Format::Jsonl => TrialFormat::Jsonl,
            };
            trial::finish(invocation, &tried, format, false)
        }
        Resumed::Dispute(dispute) => {
            invocation.say(&format!(
                "Nothing is left undone for dispute {}; see `tribunal dispute show {}`.",
                dispute.id, dispute.id
            ));
            Ok(Exit::Pass)
        }
    }
}
