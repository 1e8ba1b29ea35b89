//! `tribunal dispute show`.

use std::fmt::Write as _;

use serde_json::json;
use tribunal_core::dispute::{Dispute, DisputeState, Hearing, Party, Ruling, Subject};
use tribunal_core::event::{DisputeEvent, Event, EventKind};
use tribunal_core::text::for_terminal;
use tribunal_core::time::Timestamp;

use super::{dispute_json, settled_engine, stale};
use crate::commands::named;
use crate::error::CliError;
use crate::exit::Exit;
use crate::invocation::Invocation;
use crate::report::{Lines, Reporter as _, stdout_width, wrapped};

/// Show a dispute: both positions, evidence, rulings and what happened
#[derive(Debug, clap::Args)]
pub(super) struct Show {
    /// The dispute: its id, or the beginning or end of it; the id of its task or finding does as well
    dispute: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Prints the dispute.
pub(super) async fn show(invocation: &Invocation, args: &Show) -> Result<Exit, CliError> {
    let (store, _) = invocation.existing_ledger().await?.ok_or_else(|| {
        tribunal_store::StoreError::NoSuchDispute {
            text: args.dispute.clone(),
        }
    })?;
    drop(store);
    let engine = settled_engine(invocation).await?;
    let store = engine.ledger().store();
    let dispute = named::dispute_of(store.as_ref(), &args.dispute).await?;
    let events = store.events(&dispute.id.case(), 0, 10_000).await?;
    let now = store.now().await?;
    if args.json {
        let mut value = dispute_json(&dispute);
        value["days_open"] = json!(dispute.days_open(now));
        value["deliveries"] = json!(deliveries(&events));
        value["events"] = json!(events);
        invocation.print_json(&json!({ "schema": "tribunal.dispute.v1", "dispute": value }))?;
        return Ok(Exit::Pass);
    }
    let mut text = String::new();
    facts(&mut text, &dispute, now);
    positions(&mut text, &dispute);
    evidence(&mut text, &dispute);
    hearings(&mut text, &dispute.hearings);
    rulings(&mut text, &dispute.rulings);
    history(&mut text, &events);
    invocation.print(&wrapped(&text, stdout_width()))?;
    stale::remind(invocation, &engine).await?;
    Ok(Exit::Pass)
}

fn facts(text: &mut String, dispute: &Dispute, now: Timestamp) {
    let opening = &dispute.opening;
    let _ = writeln!(text, "Dispute {} ({})", dispute.id, dispute.status());
    let mut fact = |name: &str, value: &str| {
        let value = for_terminal(value).replace('\n', " ");
        let _ = writeln!(text, "  {name:<10} {value}");
    };
    match &opening.subject {
        Subject::Task { task, title } => fact("Task", &format!("{title} ({task})")),
        Subject::Finding { review, finding } => {
            fact("Finding", &format!("{} ({})", finding.title, finding.id()));
            fact("Weight", &finding.weight());
            fact("Place", &finding.location.to_string());
            fact("Review", review.as_str());
        }
    }
    if let Some(referral) = &dispute.referral {
        fact("Task", &format!("{} ({})", referral.title, referral.task));
    }
    fact("Reason", opening.grounds.phrase());
    if let Some(objection) = &opening.objection {
        fact("Objection", &objection.phrase());
    }
    fact("Origin", opening.origin.as_str());
    fact("Gravity", opening.gravity.as_str());
    fact("Opened by", &opening.opener().to_string());
    let opened = dispute.opened_at;
    let open = match dispute.days_open(now) {
        Some(1) => ", open for 1 day".to_owned(),
        Some(days) => format!(", open for {days} days"),
        None => String::new(),
    };
    fact(
        "Created",
        &format!("{} {} UTC{open}", opened.date(), opened.time_of_day()),
    );
    if !opening.files.is_empty() {
        fact("Files", &opening.files.join(", "));
    }
    if !opening.notes.is_empty() {
        fact("Notes", &opening.notes);
    }
    match &dispute.state {
        DisputeState::AwaitingPosition { from } => {
            fact("Waits for", &format!("the position of the {from}"));
        }
        DisputeState::Open => fact("Waits for", "a ruling"),
        DisputeState::BeforeJudge => fact("Waits for", "the judge"),
        DisputeState::AwaitingHuman { question } => {
            fact("Waits for", &format!("a human decision: {question}"));
        }
        DisputeState::Ruled | DisputeState::Noted => {}
    }
}

fn positions(text: &mut String, dispute: &Dispute) {
    for (party, name) in [(Party::Coder, "Coder"), (Party::Reviewer, "Reviewer")] {
        if let Some(position) = dispute.position(party) {
            let author = for_terminal(&position.shown_author()).replace('\n', " ");
            let _ = writeln!(text, "\n{name} Position ({author})");
            indented(text, &position.text);
        }
    }
}

fn evidence(text: &mut String, dispute: &Dispute) {
    if dispute.opening.evidence.is_empty() {
        return;
    }
    text.push_str("\nEvidence\n");
    for one in &dispute.opening.evidence {
        let line = format!(
            "{}, {}, {}: {}",
            one.from,
            one.kind.phrase(),
            one.check.phrase(),
            [one.reference.as_str(), one.text.as_str()].join(" ").trim()
        );
        indented(text, &line);
    }
}

fn hearings(text: &mut String, hearings: &[Hearing]) {
    if hearings.is_empty() {
        return;
    }
    text.push_str("\nJudges\n");
    for hearing in hearings {
        let judge = &hearing.judge;
        let answer = hearing.answer.map_or("no answer", |answer| answer.as_str());
        let kin = if judge.kin {
            ", of the family of a party"
        } else {
            ""
        };
        indented(
            text,
            &format!(
                "{} ({}{kin}): {answer}. {}",
                judge.agent, judge.family, hearing.reason
            ),
        );
    }
}

fn rulings(text: &mut String, rulings: &[Ruling]) {
    for (index, ruling) in rulings.iter().enumerate() {
        let name = match index + 1 == rulings.len() {
            true => "Ruling",
            false => "Overruled",
        };
        let _ = writeln!(
            text,
            "\n{name}: {}, {} {} UTC, by {}",
            ruling.decision.phrase(),
            ruling.at.date(),
            ruling.at.time_of_day(),
            for_terminal(&ruling.by())
        );
        indented(text, &ruling.reason);
        if let Some(limits) = ruling.limits() {
            indented(text, &format!("Terms: {limits}"));
        }
        if !ruling.reversal.is_empty() {
            indented(text, &format!("Would be reversed by: {}", ruling.reversal));
        }
    }
}

fn history(text: &mut String, events: &[Event]) {
    let mut lines = Vec::new();
    let mut reporter = Lines::history(&mut lines);
    events.iter().for_each(|event| reporter.event(event));
    text.push_str("\nHistory\n");
    indented(text, &String::from_utf8_lossy(&lines));
}

/// Returns the attempts to tell the configured address.
fn deliveries(events: &[Event]) -> Vec<&DisputeEvent> {
    let attempts = events.iter().filter_map(|event| match &event.kind {
        EventKind::Dispute(attempt @ DisputeEvent::AlertAttempted { .. }) => Some(attempt),
        _ => None,
    });
    attempts.collect()
}

fn indented(text: &mut String, block: &str) {
    for line in for_terminal(block.trim_end()).lines() {
        let _ = writeln!(text, "  {line}");
    }
}
