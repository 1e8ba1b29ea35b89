//! `tribunal dispute list` and the table of disputes.

use serde_json::{Value, json};
use tribunal_core::dispute::{Dispute, Status};
use tribunal_core::text::{for_terminal, truncate_chars};
use tribunal_core::time::Timestamp;
use tribunal_engine::Engine;
use tribunal_store::DisputeFilter;

use super::{dispute_json, settled_engine, stale, typed_id};
use crate::commands::pushes;
use crate::error::CliError;
use crate::exit::Exit;
use crate::invocation::Invocation;

/// List the disputes, newest first
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    tribunal dispute list\n  \
    tribunal dispute list --status open\n  \
    tribunal dispute list --stale")]
pub(super) struct List {
    /// Only those that are: open, resolved or noted
    #[arg(long, value_name = "STATUS")]
    status: Option<StatusWord>,
    /// Only those that have been open for too long, with the days
    #[arg(long, conflicts_with = "status")]
    stale: bool,
    /// Only those about this task
    #[arg(long, value_name = "TASK")]
    task: Option<String>,
    /// At most so many
    #[arg(short = 'n', long, value_name = "N")]
    limit: Option<u32>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The statuses as they are typed.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum StatusWord {
    Open,
    Resolved,
    Noted,
}

/// Prints the list.
pub(super) async fn list(invocation: &Invocation, args: &List) -> Result<Exit, CliError> {
    if invocation.existing_ledger().await?.is_none() {
        return nothing(invocation, args.json);
    }
    let engine = settled_engine(invocation).await?;
    let task = match &args.task {
        Some(task) => Some(engine.task(typed_id(task)).await?.task.id.to_string()),
        None => None,
    };
    if args.stale {
        return stale::list(invocation, &engine, task, args.json).await;
    }
    let wanted = DisputeFilter {
        status: args.status.map(|word| match word {
            StatusWord::Open => Status::Open,
            StatusWord::Resolved => Status::Resolved,
            StatusWord::Noted => Status::Noted,
        }),
        task,
        limit: args.limit,
        ..DisputeFilter::default()
    };
    let disputes = engine.disputes(&wanted).await?;
    show_all(invocation, &engine, &disputes, args.json).await
}

/// Prints the newest disputes.
pub(crate) async fn recent(
    invocation: &Invocation,
    limit: u32,
    json: bool,
) -> Result<Exit, CliError> {
    if invocation.existing_ledger().await?.is_none() {
        return nothing(invocation, json);
    }
    let engine = settled_engine(invocation).await?;
    let wanted = DisputeFilter {
        limit: Some(limit),
        ..DisputeFilter::default()
    };
    let disputes = engine.disputes(&wanted).await?;
    if json {
        return show_all(invocation, &engine, &disputes, json).await;
    }
    print_history(invocation, &disputes)?;
    pushes::tell(invocation, &engine.take_pushes());
    stale::remind(invocation, &engine).await?;
    Ok(Exit::Pass)
}

async fn show_all(
    invocation: &Invocation,
    engine: &Engine,
    disputes: &[Dispute],
    json: bool,
) -> Result<Exit, CliError> {
    if json {
        let disputes: Vec<Value> = disputes.iter().map(dispute_json).collect();
        invocation
            .print_json(&json!({ "schema": "tribunal.disputes.v1", "disputes": disputes }))?;
    } else {
        print_table(invocation, disputes)?;
    }
    pushes::tell(invocation, &engine.take_pushes());
    stale::remind(invocation, engine).await?;
    Ok(Exit::Pass)
}

/// Prints disputes as a table.
fn print_table(invocation: &Invocation, disputes: &[Dispute]) -> Result<(), CliError> {
    if disputes.is_empty() {
        invocation.say("There are no such disputes.");
        return Ok(());
    }
    let mut table = invocation.table(&["ID", "TASK", "STATUS", "REASON"]);
    for dispute in disputes {
        table.add_row([
            dispute.id.to_string(),
            title(dispute),
            dispute.status().to_string(),
            dispute.opening.grounds.short().to_owned(),
        ]);
    }
    invocation.print(&format!("{table}\n"))
}

/// Prints disputes with what became of them.
fn print_history(invocation: &Invocation, disputes: &[Dispute]) -> Result<(), CliError> {
    if disputes.is_empty() {
        invocation.say("There are no disputes.");
        return Ok(());
    }
    let mut table = invocation.table(&["ID", "OPENED", "ABOUT", "REASON", "RULING", "BY"]);
    for dispute in disputes {
        let (ruling, by) = match dispute.ruling() {
            Some(ruling) => (ruling.decision.phrase().to_owned(), ruling.ruler.phrase()),
            None => (dispute.status().to_string(), String::new()),
        };
        table.add_row([
            dispute.id.to_string(),
            date(dispute.opened_at),
            title(dispute),
            dispute.opening.grounds.short().to_owned(),
            ruling,
            for_terminal(&by).into_owned(),
        ]);
    }
    invocation.print(&format!("{table}\n"))
}

/// Returns what a dispute is about, on one short line.
pub(super) fn title(dispute: &Dispute) -> String {
    let title = truncate_chars(dispute.opening.subject.title(), 48).replace('\n', " ");
    for_terminal(&title).into_owned()
}

fn date(at: Timestamp) -> String {
    at.date()
}

fn nothing(invocation: &Invocation, json: bool) -> Result<Exit, CliError> {
    if json {
        invocation.print_json(&json!({ "schema": "tribunal.disputes.v1", "disputes": [] }))?;
    } else {
        invocation.say("There are no disputes.");
    }
    Ok(Exit::Pass)
}
