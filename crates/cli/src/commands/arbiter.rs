//! `tribunal arbiter`.

use std::path::{Path, PathBuf};

use serde_json::json;
use tribunal_core::arbiter::{Question, Source};
use tribunal_core::text::for_terminal;
use tribunal_engine::arbiter::{Arbiter, Decided, Explained};

use crate::error::CliError;
use crate::exit::Exit;
use crate::invocation::Invocation;

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
    /// Say how often rules, earlier decisions, the model and the fallback decided
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
            engine.arbiter_question(&settings, &task).await?
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
        CliError::new(Exit::Usage, format!("{} is no JSON", file.display())).caused_by(&error)
    })?;
    let question = value.get("input").unwrap_or(&value).clone();
    serde_json::from_value(question).map_err(|error| {
        CliError::new(Exit::Usage, format!("{} is no question", file.display()))
            .caused_by(&error)
            .hint("`tribunal arbiter explain TASK --json` prints one")
    })
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
    let counts = match invocation.existing_store().await? {
        Some(store) => store.decision_counts().await?,
        None => Default::default(),
    };
    let of = |source: &str| counts.get(source).copied().unwrap_or(0);
    let asked = of("cache") + of("model");
    let hits = (asked > 0).then(|| of("cache") * 100 / asked);
    if json {
        invocation.print_json(&json!({
            "schema": "tribunal.arbiter.v1", "decisions": counts, "cache_hit_percent": hits,
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
        None => invocation.say("Nothing has gone past the rules yet."),
    }
    Ok(Exit::Pass)
}
