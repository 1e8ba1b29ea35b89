//! `tribunal arbiter`.

use std::path::{Path, PathBuf};

use serde_json::json;
use tribunal_core::arbiter::{Question, Source};
use tribunal_core::text::for_terminal;
use tribunal_engine::arbiter::{ARBITER_STEP, Arbiter, Decided, Explained};
use tribunal_engine::run::Prospect;

use crate::error::CliError;
use crate::exit::Exit;
use crate::invocation::Invocation;
use crate::report;

/// Look at how the arbiter decides
///
/// The arbiter decides procedure: who works next on a task, and whether the work goes on. Rules
/// speak first, then a decision that was made before on the same input, then the model; when none
/// of them does, a fixed fallback decides and says so.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    tribunal arbiter explain c-1a2b\n  \
    tribunal arbiter explain --input question.json\n  \
    tribunal arbiter stats")]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Say what would be decided next about a task, by whom and why; nobody is asked
    Explain {
        /// The task: its id, or the beginning or end of it
        #[arg(required_unless_present = "input")]
        task: Option<String>,
        /// A question in a JSON file, as `--json` prints it
        #[arg(long, value_name = "FILE", conflicts_with = "task")]
        input: Option<PathBuf>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Say how often rules, earlier decisions, the model and the fallback decided, and what it cost
    Stats {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

/// Carries out one of the commands.
pub(crate) async fn run(invocation: &Invocation, args: Args) -> Result<Exit, CliError> {
    match args.command {
        Command::Explain { task, input, json } => explain(invocation, task, input, json).await,
        Command::Stats { json } => stats(invocation, json).await,
    }
}

async fn explain(
    invocation: &Invocation,
    task: Option<String>,
    input: Option<PathBuf>,
    json: bool,
) -> Result<Exit, CliError> {
    let settings = invocation.settings(&[])?.settings;
    let engine = invocation.engine().await?;
    let arbiter = Arbiter::new(&settings);
    let question = match (&task, &input) {
        (_, Some(file)) => read(invocation, file)?,
        (Some(text), None) => {
            let task = engine.task(text).await?.task;
            match engine.prospect(&settings, &task).await? {
                Prospect::Ask(question) => question,
                other => return tell_prospect(invocation, &other, json),
            }
        }
        (None, None) => return Err(CliError::new(Exit::Usage, "name a task or an input")),
    };
    let explained = engine.explain_decision(&arbiter, &question).await?;
    if json {
        let (would_ask, decided) = match &explained {
            Explained::Decided(decided) | Explained::Fallback(decided) => (None, decided),
            Explained::WouldAsk { agent, otherwise } => (Some(agent), otherwise),
        };
        invocation.print_json(&json!({
            "schema": "tribunal.decision.v1", "input": question, "would_ask": would_ask,
            "decided": decided,
        }))?;
        return Ok(Exit::Pass);
    }
    let kind = question.kind();
    let text = format!("{kind}: {}\n", explained_text(&explained));
    invocation.print(&for_terminal(&text))?;
    Ok(Exit::Pass)
}

fn read(invocation: &Invocation, file: &Path) -> Result<Question, CliError> {
    let path = invocation.path(file);
    let bytes = std::fs::read(&path).map_err(|error| CliError::unreadable(file, &error))?;
    let value: serde_json::Value = serde_json::from_slice(&bytes).map_err(|error| {
        CliError::new(Exit::Usage, format!("`{}` is no JSON", file.display())).caused_by(&error)
    })?;
    let question = value.get("input").unwrap_or(&value).clone();
    serde_json::from_value(question).map_err(|error| {
        CliError::new(Exit::Usage, format!("`{}` is no question", file.display()))
            .caused_by(&error)
            .hint("`tribunal arbiter explain TASK --json` prints one")
    })
}

/// Prints what comes next for a task about which the arbiter has nothing to decide now.
fn tell_prospect(
    invocation: &Invocation,
    prospect: &Prospect,
    json: bool,
) -> Result<Exit, CliError> {
    let next = prospect_text(prospect);
    if json {
        let decided = match prospect {
            Prospect::Submit(decided) | Prospect::Again { decided, .. } => Some(decided),
            _ => None,
        };
        invocation.print_json(&json!({
            "schema": "tribunal.decision.v1", "input": null, "would_ask": null,
            "decided": decided, "next": next,
        }))?;
        return Ok(Exit::Pass);
    }
    invocation.print(&for_terminal(&format!("nothing to decide: {next}\n")))?;
    Ok(Exit::Pass)
}

/// Returns what comes next for a task without a question to the arbiter, in a sentence.
pub(super) fn prospect_text(prospect: &Prospect) -> String {
    match prospect {
        Prospect::Settled => "the task is settled".to_owned(),
        Prospect::Review => "the review looks at its work".to_owned(),
        Prospect::Tests => "the project's tests are run on its work".to_owned(),
        Prospect::Submit(decided) => format!(
            "its work is submitted to the review, as decided: {}",
            decided_text(decided)
        ),
        Prospect::Again { mode, decided } => {
            format!("{mode} tries again, as decided: {}", decided_text(decided))
        }
        Prospect::WayOut(way) => way.clone(),
        Prospect::GiveUp => {
            "the limit of executions is reached: what can be reviewed is reviewed, else the task fails"
                .to_owned()
        }
        Prospect::Ask(question) => format!("the arbiter is asked: {}", question.kind()),
    }
}

/// Returns what would be decided, in a sentence.
pub(super) fn explained_text(explained: &Explained) -> String {
    match explained {
        Explained::Decided(decided) | Explained::Fallback(decided) => decided_text(decided),
        Explained::WouldAsk { agent, otherwise } => format!(
            "the model of {agent} would be asked; without a usable answer {}",
            decided_text(otherwise)
        ),
    }
}

fn decided_text(decided: &Decided) -> String {
    let by = match &decided.source {
        Source::Rule { rule, says } => format!("rule {rule}, {says}"),
        Source::Cache => "as decided before on the same input".to_owned(),
        Source::Model { .. } => "model".to_owned(),
        Source::Fallback { because } => format!("fallback, because {because}"),
    };
    format!("{} ({by}): {}", decided.decision, decided.decision.reason())
}

async fn stats(invocation: &Invocation, json: bool) -> Result<Exit, CliError> {
    let (counts, spend) = match invocation.existing_store().await? {
        Some(store) => (
            store.decision_counts().await?,
            store.spend_of_steps(ARBITER_STEP).await?,
        ),
        None => Default::default(),
    };
    let of = |source: &str| counts.get(source).copied().unwrap_or(0);
    let asked = of("cache") + of("model");
    let hits = (asked > 0).then(|| of("cache") * 100 / asked);
    if json {
        invocation.print_json(&json!({
            "schema": "tribunal.arbiter.v1", "decisions": counts, "cache_hit_percent": hits,
            "spend": spend,
        }))?;
        return Ok(Exit::Pass);
    }
    let mut table = invocation.table(&["SOURCE", "DECISIONS"]);
    for source in ["rule", "cache", "model", "fallback"] {
        table.add_row([source.to_owned(), of(source).to_string()]);
    }
    invocation.print(&format!("{table}\n"))?;
    match hits {
        Some(hits) => invocation.say(&format!(
            "The cache answered {hits} % of what went past the rules."
        )),
        None => invocation.say("No model has been asked yet."),
    }
    if spend.runs > 0 {
        let (cost, asked) = (report::spend(&spend), spend.runs);
        let asked = if asked == 1 {
            "1 question".to_owned()
        } else {
            format!("{asked} questions")
        };
        invocation.say(&format!(
            "The model has cost {cost} for {asked}, guidance included."
        ));
    }
    Ok(Exit::Pass)
}
