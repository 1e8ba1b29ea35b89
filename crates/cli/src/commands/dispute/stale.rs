//! Disputes that have been open for too long.

use serde_json::{Value, json};
use tribunal_core::dispute::Dispute;
use tribunal_core::text::for_terminal;
use tribunal_engine::Engine;

use super::dispute_json;
use super::list::title;
use crate::error::CliError;
use crate::exit::Exit;
use crate::invocation::Invocation;

/// So many are named in a reminder; the rest is counted.
const NAMED: usize = 3;

/// Lists the stale disputes, the oldest first.
pub(super) async fn list(
    invocation: &Invocation,
    engine: &Engine,
    task: Option<String>,
    json: bool,
) -> Result<Exit, CliError> {
    let now = engine.ledger().store().now().await?;
    let days = engine.stale_after_days();
    let mut stale = engine.stale_disputes().await?;
    stale.retain(|one| task.is_none() || one.task() == task.as_deref());
    let days_open = |one: &Dispute| one.days_open(now).unwrap_or(0);
    if json {
        let listed: Vec<Value> = stale
            .iter()
            .map(|one| {
                let mut value = dispute_json(one);
                value["days_open"] = json!(days_open(one));
                value
            })
            .collect();
        let schema = "tribunal.disputes.v1";
        invocation
            .print_json(&json!({"schema": schema, "timeout_days": days, "disputes": listed}))?;
        alert(invocation, engine, &stale).await?;
        return Ok(Exit::Pass);
    }
    if stale.is_empty() {
        invocation.say(&format!("No dispute has been open for > {days} days."));
        return Ok(Exit::Pass);
    }
    let count = match stale.len() {
        1 => "1 dispute has".to_owned(),
        count => format!("{count} disputes have"),
    };
    let mut table = invocation.table(&["ID", "TASK", "DAYS OPEN"]);
    for one in &stale {
        table.add_row([one.id.to_string(), title(one), days_open(one).to_string()]);
    }
    invocation.print(&format!(
        "WARNING: {count} been open for > {days} days\n\n{table}\n\n\
         Run `tribunal dispute show <id>` for details.\n"
    ))?;
    alert(invocation, engine, &stale).await?;
    Ok(Exit::Pass)
}

/// Sends the messages that are due, and tells in one line when they do not arrive.
async fn alert(
    invocation: &Invocation,
    engine: &Engine,
    stale: &[Dispute],
) -> Result<(), CliError> {
    if let Some(problem) = engine.alert_about(stale).await? {
        invocation.say(&format!("Warning: {}.", for_terminal(&problem)));
    }
    Ok(())
}

/// Tells about stale disputes as configured, at the end of a command.
pub(crate) async fn remind(invocation: &Invocation, engine: &Engine) -> Result<(), CliError> {
    let stale = engine.stale_disputes().await?;
    if stale.is_empty() {
        return Ok(());
    }
    if engine.warns_about_stale() {
        let now = engine.ledger().store().now().await?;
        for one in stale.iter().take(NAMED) {
            let days = one.days_open(now).unwrap_or(0);
            invocation.say(&format!(
                "Warning: dispute {} ({}) has been open for {days} days.",
                one.id,
                title(one)
            ));
        }
        if let Some(more) = stale.len().checked_sub(NAMED).filter(|more| *more > 0) {
            invocation.say(&format!(
                "Warning: and {more} more; see `tribunal dispute list --stale`."
            ));
        }
    }
    alert(invocation, engine, &stale).await
}

/// Tells about stale disputes at the end of a command that is about something else.
pub(crate) async fn remind_in_passing(invocation: &Invocation) -> Result<(), CliError> {
    if invocation.existing_ledger().await?.is_none() {
        return Ok(());
    }
    match invocation.engine().await {
        Ok(engine) => remind(invocation, &engine).await,
        // What is wrong is told by the commands that need an engine.
        Err(_) => Ok(()),
    }
}
