//! `tribunal show`.

use tribunal_core::event::RunResult;
use tribunal_core::text::for_terminal;
use tribunal_engine::export::Exported;

use crate::commands::log;
use crate::error::CliError;
use crate::exit::Exit;
use crate::invocation::{Format, Invocation};
use crate::report::{self, JsonLines, Lines, Reporter};

/// Tell a case again: what happened, what was asked and answered
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The case: its id, or the beginning or end of it
    case: String,
    /// Print the events as JSON lines, or everything as JSON
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
    /// Short for `--format json`
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

/// Shows the case.
pub(crate) async fn run(invocation: &Invocation, args: Args) -> Result<Exit, CliError> {
    let (store, dir) = invocation.required_store(&args.case).await?;
    let record = store.find_case(&args.case).await?;
    let exported = Exported::read(store.as_ref(), &dir, &record).await?;
    match if args.json { Format::Json } else { args.format } {
        Format::Json => invocation.print_json(&exported.to_json())?,
        Format::Jsonl => {
            let mut reporter = JsonLines(std::io::stdout());
            exported
                .events
                .iter()
                .for_each(|event| reporter.event(event));
        }
        Format::Text => print_text(invocation, &exported)?,
    }
    Ok(Exit::Pass)
}

fn print_text(invocation: &Invocation, exported: &Exported) -> Result<(), CliError> {
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
    invocation.print(&String::from_utf8_lossy(&text))?;
    for run in &exported.runs {
        if !matches!(run.record.result, Some(RunResult::Answered { .. })) {
            continue;
        }
        let answer = run
            .reply
            .as_ref()
            .map_or("(the answer's file is missing)", |reply| {
                reply.text.as_str()
            });
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
