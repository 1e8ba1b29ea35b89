//! `tribunal precedent`.

use serde_json::{Value, json};
use tribunal_core::dispute::{Dispute, Precedent};
use tribunal_core::text::{for_terminal, truncate_chars};
use tribunal_store::{PrecedentFilter, StoreError};

use crate::commands::dispute::{dispute_json, settled_engine, typed_id};
use crate::error::CliError;
use crate::exit::Exit;
use crate::invocation::Invocation;

/// Look at earlier rulings that are shown when a finding comes back
///
/// A precedent is the ruling of a dispute. It is found again by the finding's identity, or by its
/// category and file, and shown beside the finding and to the judge. It expires after
/// `precedents.expire_days`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    tribunal precedent list --file src/db.rs\n  \
    tribunal precedent drop d-9f8e --why \"the query is built elsewhere now\"")]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// List the rulings that serve as precedents, newest first
    List(List),
    /// Show one: the dispute, its ruling and its reason
    Show(Show),
    /// Drop a ruling from the precedents; its finding counts again
    Drop(Drop),
}

#[derive(Debug, clap::Args)]
struct List {
    /// Only those about this file
    #[arg(long, value_name = "FILE")]
    file: Option<String>,
    /// At most so many
    #[arg(short = 'n', long, value_name = "N")]
    limit: Option<u32>,
    /// Those that have expired as well
    #[arg(long)]
    expired: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
struct Show {
    /// The dispute in which it was ruled
    dispute: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
struct Drop {
    /// The dispute in which it was ruled
    dispute: String,
    /// Why it no longer holds
    #[arg(long, value_name = "TEXT")]
    why: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Carries out one of the commands.
pub(crate) async fn run(invocation: &Invocation, args: Args) -> Result<Exit, CliError> {
    match args.command {
        Command::List(args) => list(invocation, &args).await,
        Command::Show(args) => show(invocation, &args).await,
        Command::Drop(args) => drop_one(invocation, &args).await,
    }
}

async fn list(invocation: &Invocation, args: &List) -> Result<Exit, CliError> {
    let found = if invocation.existing_ledger().await?.is_some() {
        let engine = settled_engine(invocation).await?;
        let since = match args.expired {
            true => None,
            false => Some(engine.precedents_since().await?),
        };
        let wanted = PrecedentFilter {
            place: args.file.clone().map(|file| (file, None)),
            since,
            expired: args.expired,
            limit: args.limit,
            ..PrecedentFilter::default()
        };
        engine.ledger().store().precedents(&wanted).await?
    } else {
        Vec::new()
    };
    if args.json {
        let precedents: Vec<Value> = found.iter().map(dispute_json).collect();
        let schema = "tribunal.precedents.v1";
        invocation.print_json(&json!({ "schema": schema, "precedents": precedents }))?;
        return Ok(Exit::Pass);
    }
    if found.is_empty() {
        invocation.say("There are no precedents.");
        return Ok(Exit::Pass);
    }
    let mut table = invocation.table(&["DISPUTE", "RULED", "DECISION", "PLACE", "ABOUT"]);
    for (dispute, precedent) in found
        .iter()
        .filter_map(|one| Some((one, Precedent::of(one)?)))
    {
        table.add_row([
            dispute.id.to_string(),
            precedent.at.date(),
            precedent.decision.word().to_owned(),
            one_line(&place(dispute)),
            one_line(dispute.opening.subject.title()),
        ]);
    }
    invocation.print(&format!("{table}\n"))?;
    Ok(Exit::Pass)
}

async fn show(invocation: &Invocation, args: &Show) -> Result<Exit, CliError> {
    if invocation.existing_ledger().await?.is_none() {
        let text = args.dispute.clone();
        return Err(StoreError::NoSuchDispute { text }.into());
    }
    let engine = settled_engine(invocation).await?;
    let dispute = engine.dispute(typed_id(&args.dispute)).await?;
    let Some(precedent) = Precedent::of(&dispute) else {
        let why = match dispute.ruling() {
            Some(_) => "was dropped",
            None => "has no ruling",
        };
        let text = format!("dispute {} {why}, so it is no precedent", dispute.id);
        return Err(CliError::new(Exit::NotFound, text));
    };
    if args.json {
        let value = json!({ "schema": "tribunal.precedent.v1", "precedent": precedent,
            "dispute": dispute_json(&dispute) });
        invocation.print_json(&value)?;
        return Ok(Exit::Pass);
    }
    let now = engine.ledger().store().now().await?;
    let is_old = precedent.at < engine.precedents_since().await?;
    let state = match is_old || precedent.terms.has_expired(now) {
        false => "holds",
        true => "has expired",
    };
    invocation.print(&format!(
        "{}\n  {}\n  {}\n  It was {}, by {}; it {state}\n",
        dispute.id,
        one_line(dispute.opening.subject.title()),
        one_line(&place(&dispute)),
        for_terminal(&precedent.phrase()).replace('\n', " "),
        for_terminal(&precedent.ruler),
    ))?;
    Ok(Exit::Pass)
}

async fn drop_one(invocation: &Invocation, args: &Drop) -> Result<Exit, CliError> {
    if invocation.existing_ledger().await?.is_none() {
        let text = args.dispute.clone();
        return Err(StoreError::NoSuchDispute { text }.into());
    }
    let engine = settled_engine(invocation).await?;
    let id = engine.dispute(typed_id(&args.dispute)).await?.id;
    let dispute = engine.drop_precedent(&id, &args.why).await?;
    if args.json {
        let value = dispute_json(&dispute);
        invocation.print_json(&json!({ "schema": "tribunal.dispute.v1", "dispute": value }))?;
    } else {
        invocation.print(&format!("Dispute {id} is no precedent any more\n"))?;
    }
    Ok(Exit::Pass)
}

fn place(dispute: &Dispute) -> String {
    match dispute.opening.subject.finding() {
        Some(finding) => finding.location.to_string(),
        None => dispute.opening.files.join(", "),
    }
}

fn one_line(text: &str) -> String {
    for_terminal(&truncate_chars(text, 60).replace('\n', " ")).into_owned()
}
