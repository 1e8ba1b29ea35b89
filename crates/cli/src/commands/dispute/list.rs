//! `tribunal dispute list` and the table of disputes.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use tribunal_core::dispute::{Dispute, Status, Subject};
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
    let tasks = Tasks::of(disputes);
    // The column of findings stands there only where one is contested.
    let of_findings = disputes
        .iter()
        .any(|one| one.opening.subject.finding().is_some());
    let mut header = vec!["ID", "TASK", "STATUS", "REASON"];
    if of_findings {
        header.insert(2, "FINDING");
    }
    let mut table = invocation.table(&header);
    for dispute in disputes {
        let mut row = vec![
            dispute.id.to_string(),
            tasks.name(dispute),
            dispute.status().to_string(),
            dispute.opening.grounds.short().to_owned(),
        ];
        if of_findings {
            row.insert(2, finding(dispute));
        }
        table.add_row(row);
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
            Some(ruling) => {
                let terms = ruling
                    .limits()
                    .map_or_else(String::new, |it| format!("; {it}"));
                let back = match dispute.precedent_dropped {
                    true => "; taken back",
                    false => "",
                };
                let told = format!("{}{terms}{back}", ruling.decision.phrase());
                (told, ruling.ruler.phrase())
            }
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

/// The tasks of listed disputes. Those that share a title are named with their ids.
struct Tasks<'a> {
    ids: BTreeMap<&'a str, BTreeSet<&'a str>>,
}

impl<'a> Tasks<'a> {
    fn of(disputes: &'a [Dispute]) -> Self {
        let mut ids: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for (title, id) in disputes.iter().filter_map(task) {
            ids.entry(title).or_default().insert(id);
        }
        Self { ids }
    }

    fn name(&self, dispute: &Dispute) -> String {
        let Some((title, id)) = task(dispute) else {
            return "-".to_owned();
        };
        let short = short(title);
        match self.ids.get(title).map_or(0, BTreeSet::len) {
            0 | 1 => short,
            _ => format!("{short} ({id})"),
        }
    }
}

/// Returns title and id of the task that a dispute holds up.
fn task(dispute: &Dispute) -> Option<(&str, &str)> {
    let referral = dispute.referral.as_ref();
    match &dispute.opening.subject {
        Subject::Task { task, title } => Some((title, task)),
        Subject::Finding { .. } => referral.map(|one| (one.title.as_str(), one.task.as_str())),
    }
}

/// Returns the finding that a dispute is about, in a cell of a table.
fn finding(dispute: &Dispute) -> String {
    match dispute.opening.subject.finding() {
        Some(finding) => format!("{} {}", finding.id(), short(&finding.title)),
        None => "-".to_owned(),
    }
}

/// Returns what a dispute is about, on one short line: its task, and the finding where it is one.
pub(super) fn title(dispute: &Dispute) -> String {
    match (task(dispute), dispute.opening.subject.finding()) {
        (Some((task, _)), Some(finding)) => format!("{}: {}", short(task), short(&finding.title)),
        (Some((task, _)), None) => short(task),
        (None, _) => short(dispute.opening.subject.title()),
    }
}

fn short(text: &str) -> String {
    let text = truncate_chars(text, 48).replace('\n', " ");
    for_terminal(&text).into_owned()
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
