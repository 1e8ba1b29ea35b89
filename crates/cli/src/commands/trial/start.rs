//! `tribunal trial "…"`.

use std::io::Read as _;
use std::path::PathBuf;

use tribunal_core::trial::Mode;
use tribunal_core::verdict::Method;
use tribunal_engine::config::Usd;
use tribunal_engine::trial::{CastWish, TrialWish};

use super::{Printing, events_format, finish};
use crate::args::parse_cost;
use crate::commands::consensus::record;
use crate::error::CliError;
use crate::exit::Exit;
use crate::invocation::Invocation;
use crate::report;

/// What a new trial takes.
#[derive(Debug, clap::Args)]
pub(super) struct NewTrial {
    /// The question or task; `-` reads standard input
    #[arg(value_name = "CHALLENGE", required_unless_present = "schema")]
    challenge: Option<String>,
    /// Let the arbiter design so many contestants, 2 to 6
    #[arg(long, value_name = "N", alias = "gladiators", conflicts_with_all = ["contestant", "archetypes"])]
    contestants: Option<usize>,
    /// Let these agents answer, each as itself or as an archetype: NAME or NAME=ARCHETYPE
    #[arg(
        long,
        value_name = "NAME",
        alias = "gladiator",
        value_delimiter = ',',
        conflicts_with = "archetypes"
    )]
    contestant: Vec<String>,
    /// Let so many archetypes answer: pragmatist, guardian, optimizer, purist, explorer, advocate
    #[arg(long, value_name = "N")]
    archetypes: Option<usize>,
    /// Contestants change the project's files, each in a worktree and on a branch of its own
    #[arg(long)]
    code: bool,
    /// Most judges that are designed, 1 to 5
    #[arg(long, value_name = "N")]
    judges: Option<usize>,
    /// Let only these agents judge
    #[arg(long = "judge", value_name = "NAME", value_delimiter = ',')]
    judge: Vec<String>,
    /// Let this agent be the arbiter
    #[arg(long, value_name = "NAME")]
    arbiter: Option<String>,
    /// How scores become one: mean, median, trimmed, z-mean, pairwise
    #[arg(long, value_name = "M")]
    method: Option<Method>,
    /// Ask every judge again with the answers in reverse order
    #[arg(long)]
    swap: bool,
    /// JSON file with how often each judge was right; it weighs them
    #[arg(long, value_name = "R")]
    record: Option<PathBuf>,
    /// Stop before the next call once the case has cost this much
    #[arg(long, value_name = "USD", value_parser = parse_cost)]
    max_cost: Option<Usd>,
    #[command(flatten)]
    printing: Printing,
    /// Print the JSON schema of the report and do nothing else
    #[arg(long)]
    schema: bool,
}

/// Holds a trial and prints the verdict.
pub(super) async fn run(invocation: &Invocation, args: NewTrial) -> Result<Exit, CliError> {
    if args.schema {
        invocation.print_json(&report::trial::schema())?;
        return Ok(Exit::Pass);
    }
    let overrides: Vec<String> = args
        .max_cost
        .iter()
        .map(|cost| format!("budget.per_case={cost}"))
        .collect();
    let settings = invocation.settings(&overrides)?.settings;
    let printing = args.printing;
    let wish = wish(invocation, args)?;
    let engine = invocation.engine_with(&overrides).await?;
    let format = printing.format();
    let mut reporter = invocation.reporter(events_format(format));
    let stream = engine.ledger().subscribe();
    let work = invocation.stoppable(&engine, Box::pin(engine.trial(&settings, wish)));
    let tried = report::report_while(stream, reporter.as_mut(), work).await?;
    finish(invocation, &tried, format, printing.verbose)
}

fn wish(invocation: &Invocation, args: NewTrial) -> Result<TrialWish, CliError> {
    let contestants = match (args.contestant.is_empty(), args.archetypes) {
        (false, _) => {
            let named = args
                .contestant
                .iter()
                .map(|name| match name.split_once('=') {
                    Some((name, archetype)) => (name.to_owned(), Some(archetype.to_owned())),
                    None => (name.clone(), None),
                });
            CastWish::Named(named.collect())
        }
        (true, Some(count)) => CastWish::Archetypes(count),
        (true, None) => CastWish::Designed(args.contestants),
    };
    Ok(TrialWish {
        directory: invocation.cwd.clone(),
        challenge: challenge(args.challenge.as_deref().unwrap_or_default())?,
        contestants,
        mode: if args.code { Mode::Code } else { Mode::Text },
        judges: args.judges,
        judges_named: !args.judge.is_empty(),
        judge_agents: args.judge,
        arbiter: args.arbiter,
        method: args.method,
        swap: args.swap,
        record: record(invocation, args.record.as_deref())?,
        start: None,
        from: None,
        max_cost: args.max_cost.map(|cost| cost.0),
        hidden: None,
    })
}

fn challenge(given: &str) -> Result<String, CliError> {
    if given != "-" {
        return Ok(given.to_owned());
    }
    let mut text = String::new();
    match std::io::stdin().read_to_string(&mut text) {
        Ok(_) => Ok(text),
        Err(error) => {
            Err(CliError::new(Exit::Usage, "cannot read standard input").caused_by(&error))
        }
    }
}
