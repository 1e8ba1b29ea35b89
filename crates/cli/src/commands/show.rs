//! `tribunal show`.

use tribunal_core::case::CaseKind;
use tribunal_core::event::RunResult;
use tribunal_core::text::for_terminal;
use tribunal_core::trial::report::TrialReport;
use tribunal_engine::export::Exported;

use crate::commands::{explain, log, named};
use crate::error::CliError;
use crate::exit::Exit;
use crate::invocation::Invocation;
use crate::report::review::{Options, ReviewFormat, render};
use crate::report::trial::{self, TrialFormat};
use crate::report::{self, JsonLines, Lines, Reporter};

/// Tell a case again: what happened, what was asked and answered, what was found
///
/// A review is shown with its report, in any of the formats that `tribunal review` has; a trial with
/// its report as `tribunal trial show` prints it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    tribunal show c-1a2b3c4d5e\n  \
    tribunal show c-1a2b3c4d5e --format html > review.html")]
pub(crate) struct Args {
    /// The case: its id, or the beginning or end of it; the id of a task, dispute or finding does as well
    case: String,
    /// How to print it: the events as `jsonl`, everything as `json`, or a report in its formats
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: ReviewFormat,
    /// Short for `--format json`
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Show the rejected findings and the whole calculation of a review, the reasons in a trial
    #[arg(long, short)]
    verbose: bool,
}

/// Shows the case.
pub(crate) async fn run(invocation: &Invocation, args: Args) -> Result<Exit, CliError> {
    let (store, dir) = invocation.required_store(&args.case).await?;
    if named::is_finding(&args.case)
        && matches!(args.format, ReviewFormat::Text | ReviewFormat::Json)
    {
        let json = args.json || args.format == ReviewFormat::Json;
        return explain::explain(invocation, args.case, json).await;
    }
    let record = named::case_of(store.as_ref(), &args.case).await?;
    let exported = Exported::read(store.as_ref(), &dir, &record).await?;
    let review = exported.review(&dir)?;
    let options = Options::for_stdout(args.verbose);
    let format = if args.json {
        ReviewFormat::Json
    } else {
        args.format
    };
    let trial = match record.kind {
        CaseKind::Trial => Some(trial_of(invocation, &exported).await?),
        _ => None,
    };
    if let (Some(report), Some(format)) = (&trial, trial_format(format)) {
        if format == TrialFormat::Text {
            print_story(invocation, &exported)?;
            invocation.print("\n")?;
        }
        invocation.print(&trial::render(report, format, args.verbose))?;
        return Ok(Exit::Pass);
    }
    match (format, &review) {
        (ReviewFormat::Json, _) => {
            let mut json = exported.to_json();
            json["review"] = serde_json::json!(review);
            if let Some(trial) = &trial {
                json["trial"] = serde_json::json!(trial);
            }
            invocation.print_json(&json)?;
        }
        (ReviewFormat::Jsonl, _) => {
            let mut reporter = JsonLines(std::io::stdout());
            exported
                .events
                .iter()
                .for_each(|event| reporter.event(event));
        }
        (ReviewFormat::Text, None) => {
            print_story(invocation, &exported)?;
            print_answers(invocation, &exported)?;
        }
        (ReviewFormat::Text, Some(report)) => {
            print_story(invocation, &exported)?;
            invocation.print("\n")?;
            invocation.print(&render(report, format, &options))?;
        }
        (_, Some(report)) => invocation.print(&render(report, format, &options))?,
        (_, None) => {
            let text = format!("case {} has no report of a review", record.id);
            return Err(CliError::new(Exit::Usage, text)
                .hint("Other cases are shown as `text`, `json` or `jsonl`"));
        }
    }
    Ok(Exit::Pass)
}

async fn trial_of(invocation: &Invocation, exported: &Exported) -> Result<TrialReport, CliError> {
    let engine = invocation.engine().await?;
    Ok(engine.report_of(&exported.case, &exported.events)?)
}

/// Returns the form of a trial's report, where the format asks for nothing but the report.
fn trial_format(format: ReviewFormat) -> Option<TrialFormat> {
    match format {
        ReviewFormat::Text => Some(TrialFormat::Text),
        ReviewFormat::Markdown => Some(TrialFormat::Markdown),
        ReviewFormat::Html => Some(TrialFormat::Html),
        ReviewFormat::Json
        | ReviewFormat::Jsonl
        | ReviewFormat::Sarif
        | ReviewFormat::Junit
        | ReviewFormat::Github => None,
    }
}

fn print_story(invocation: &Invocation, exported: &Exported) -> Result<(), CliError> {
    let case = &exported.case;
    invocation.print(&format!(
        "Case {}: {}\nState: {}; {} runs, {}, cost: {}\n\n",
        case.id,
        for_terminal(&case.title),
        log::state_of(case),
        case.spend.runs,
        report::tokens(case.spend.usage),
        report::spend(&case.spend),
    ))?;
    let mut text = Vec::new();
    let mut reporter = Lines::history(&mut text);
    exported
        .events
        .iter()
        .for_each(|event| reporter.event(event));
    invocation.print(&String::from_utf8_lossy(&text))
}

fn print_answers(invocation: &Invocation, exported: &Exported) -> Result<(), CliError> {
    for run in &exported.runs {
        if !matches!(run.record.result, Some(RunResult::Answered { .. })) {
            continue;
        }
        let collected = exported.collected(run);
        let missing = match &collected {
            Some(told) => told.as_str(),
            None => "(the answer's file is missing)",
        };
        let reply = run.reply.as_ref();
        let answer = reply.map_or(missing, |reply| reply.text.as_str());
        invocation.print(&format!(
            "\n{} answered `{}` ({}):\n\n{}\n",
            run.record.agent,
            run.record.step,
            run.record.id,
            for_terminal(answer.trim_end())
        ))?;
    }
    Ok(())
}
