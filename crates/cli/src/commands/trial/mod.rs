//! `tribunal trial`.

mod decree;
mod export;
mod hindsight;
mod list;
mod show;
mod start;

use crate::commands::ending;
use crate::error::CliError;
use crate::exit::Exit;
use crate::invocation::{Format, Invocation};
use crate::report::trial::{TrialFormat, render};
use tribunal_core::case::{CaseKind, CaseState, Pause};
use tribunal_core::trial::report::TrialReport;
use tribunal_core::trial::{Mode, State};
use tribunal_engine::trial::Tried;
use tribunal_store::{CaseRecord, Store};

/// Let several agents answer one challenge before judges, and say who won and how sure that is
///
/// Contestants answer in parallel, blind to each other. The arbiter reads the answers and designs
/// judges for them; each judge scores every answer under neutral labels in an order of its own. The
/// scores become a verdict by arithmetic, with its doubt. What follows from it is your decree.
///
/// Contestants see the challenge and nothing else: they answer in an empty directory. What they need of
/// the project belongs in the challenge, or is there with `--code`.
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = "Exit codes: 0 somebody won, 2 usage, 3 config, 4 not found, 5 a tie, or no verdict \
    (the trial can be resumed), 7 budget, 130 interrupted.\n\n\
    Examples:\n  \
    tribunal trial \"How should we handle mid-epoch liquidations?\"\n  \
    tribunal trial - --contestant claude --contestant codex --swap < challenge.md\n  \
    tribunal trial \"Make the parser streaming\" --code --contestant claude=pragmatist,codex=optimizer\n  \
    tribunal trial show c-1a2b3c4d5e --format html > trial.html\n  \
    tribunal trial decree c-1a2b3c4d5e merge"
)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    start: start::NewTrial,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    List(list::Args),
    Show(show::Args),
    Resume(show::ResumeArgs),
    Decree(decree::Args),
    Hindsight(hindsight::Args),
    Export(export::Args),
}

/// Holds a trial, or does something with one.
pub(crate) async fn run(invocation: &Invocation, args: Args) -> Result<Exit, CliError> {
    match args.command {
        None => start::run(invocation, args.start).await,
        Some(Command::List(args)) => list::run(invocation, &args).await,
        Some(Command::Show(args)) => show::run(invocation, &args).await,
        Some(Command::Resume(args)) => show::resume(invocation, &args).await,
        Some(Command::Decree(args)) => decree::run(invocation, args).await,
        Some(Command::Hindsight(args)) => hindsight::run(invocation, args).await,
        Some(Command::Export(args)) => export::run(invocation, &args).await,
    }
}

/// Prints what came of a trial and returns the exit code.
pub(crate) fn finish(
    invocation: &Invocation,
    tried: &Tried,
    format: TrialFormat,
    details: bool,
) -> Result<Exit, CliError> {
    if let CaseState::Parked { why, until } = &tried.state
        && !matches!(why, Pause::Human { .. })
    {
        let error = ending::parked(&tried.case, why, *until);
        return Err(match why {
            Pause::Budget { cap, .. } if cap == "case" => error.hint(format!(
                "Allow this trial more with `tribunal trial resume {} --max-cost USD`; what it has cost counts",
                tried.case
            )),
            _ => error,
        });
    }
    invocation.print(&render(&tried.report, format, details))?;
    let case = &tried.case;
    match (&tried.report.state, &tried.report.verdict) {
        (State::Failed { .. }, _) | (_, None) => {
            invocation.say(&format!("Go on with `tribunal trial resume {case}`."));
            Ok(Exit::Inconclusive)
        }
        (State::In { .. }, Some(verdict)) => {
            if tried.report.decree.is_none() {
                invocation.say(&what_follows(&tried.report));
            }
            Ok(match verdict.winner {
                Some(_) => Exit::Pass,
                None => Exit::Inconclusive,
            })
        }
    }
}

/// Says what can be done about this verdict, the likely command first and in full.
fn what_follows(report: &TrialReport) -> String {
    let case = &report.case;
    let likely = match report.mode {
        Mode::Code => "merge",
        Mode::Text => "adopt",
    };
    let winner = report.verdict.as_ref().and_then(|one| one.winner.as_ref());
    let chosen = match winner {
        Some(_) => String::new(),
        None => " --contestant NAME".to_owned(),
    };
    format!(
        "What is done about it: `tribunal trial decree {case} {likely}{chosen}`; \
         or instead of `{likely}`: `iterate`, `issue`, `close`."
    )
}

/// Returns the format in which events are told on the way to a result.
fn events_format(format: TrialFormat) -> Format {
    match format {
        TrialFormat::Jsonl => Format::Jsonl,
        _ => Format::Text,
    }
}

/// Returns the trial that `text` names.
async fn find(store: &dyn Store, text: &str) -> Result<CaseRecord, CliError> {
    let record = store.find_case(text).await?;
    if record.kind == CaseKind::Trial {
        return Ok(record);
    }
    let text = format!("case {} is no trial but a `{}`", record.id, record.kind);
    Err(CliError::new(Exit::NotFound, text).hint("`tribunal trial list` lists the trials"))
}

/// How a trial is printed, as every command of it takes it.
#[derive(Debug, Clone, Copy, clap::Args)]
struct Printing {
    /// How to print the result
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: TrialFormat,
    /// Short for `--format json`
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Show every judge's criteria and reasons
    #[arg(long, short)]
    verbose: bool,
}

impl Printing {
    fn format(self) -> TrialFormat {
        match self.json {
            true => TrialFormat::Json,
            false => self.format,
        }
    }
}
