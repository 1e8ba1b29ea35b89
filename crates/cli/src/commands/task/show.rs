//! `tribunal task list`, `show` and `audit`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Value, json};
use tribunal_core::ids::CaseId;
use tribunal_core::task::audit::{Entry, What};
use tribunal_core::task::next::{Blocked, Listed, queue};
use tribunal_core::task::{Task, TaskState};
use tribunal_core::text::{for_terminal, truncate_chars};
use tribunal_engine::config::OnMajor;
use tribunal_engine::task::audit_of;
use tribunal_store::{StoreError, TaskRecord};

use super::held::held_up;
use crate::error::CliError;
use crate::exit::Exit;
use crate::invocation::Invocation;
use crate::report;

/// Show the board: all tasks with marker, section, who works on them, rejections and cost
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    tribunal task list\n  \
    tribunal task list --state pending,in_progress --section Auth")]
pub(super) struct List {
    /// Only tasks in these states
    #[arg(long, value_name = "STATE", value_delimiter = ',')]
    state: Vec<TaskState>,
    /// Only tasks of this section
    #[arg(long, value_name = "NAME")]
    section: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Show one task
#[derive(Debug, clap::Args)]
pub(super) struct Show {
    /// The task: its id, or the beginning or end of it
    task: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Show who moved a task, when and why, and check that the story is whole
///
/// Without a task, all are checked; the exit code is 1 when a story does not add up.
#[derive(Debug, clap::Args)]
pub(super) struct Audit {
    /// The task: its id, or the beginning or end of it
    task: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Say which task is next and what would be done with it
#[derive(Debug, clap::Args)]
pub(super) struct Next {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Prints which task is next.
pub(super) async fn next(invocation: &Invocation, args: Next) -> Result<Exit, CliError> {
    let tasks = match invocation.existing_store().await? {
        Some(store) => store.tasks_in_the_way().await?,
        None => Vec::new(),
    };
    let listed: Vec<Listed<'_>> = tasks
        .iter()
        .map(|record| Listed {
            task: &record.task,
            taken: record.holder.is_some(),
        })
        .collect();
    let queue = queue(&listed);
    let halted = halted(invocation).await?;
    let next = queue.next().filter(|_| halted.is_none());
    if args.json {
        let next = next.map(|(task, turn)| json!({ "task": task, "turn": turn }));
        invocation.print_json(&json!({
            "schema": "tribunal.next.v1", "next": next, "blocked": queue.blocked,
            "taken": queue.taken, "halted": halted,
        }))?;
        return Ok(Exit::Pass);
    }
    let title = |id: &CaseId| {
        let found = tasks.iter().find(|record| record.task.id == *id);
        found.map_or_else(String::new, |record| one_line(&record.task.brief.title))
    };
    let said = match next {
        Some((id, turn)) => format!("{turn} {id}: {}\n", title(id)),
        None => "idle\n".to_owned(),
    };
    invocation.print(&said)?;
    if let Some(why) = &halted {
        invocation.say(&format!("The loop waits: {}.", for_terminal(why)));
    }
    for Blocked { task, by, state } in &queue.blocked {
        let state = words(*state);
        invocation.say(&format!("{task} waits for {by}, which is {state}."));
    }
    Ok(Exit::Pass)
}

/// Returns for which dispute the loop begins nothing.
async fn halted(invocation: &Invocation) -> Result<Option<String>, CliError> {
    let settings = invocation.settings_without_trust()?.settings;
    if settings.disputes.on_major != OnMajor::Halt || invocation.existing_store().await?.is_none() {
        return Ok(None);
    }
    let engine = invocation.engine().await?;
    Ok(engine.halting_dispute(&settings).await?)
}

/// Prints the board.
pub(super) async fn list(invocation: &Invocation, args: List) -> Result<Exit, CliError> {
    let mut tasks = match invocation.existing_store().await? {
        Some(store) => store.tasks().await?,
        None => Vec::new(),
    };
    tasks.retain(|record| {
        let of_section = args.section.is_none() || record.task.brief.section == args.section;
        of_section && (args.state.is_empty() || args.state.contains(&record.task.state))
    });
    if args.json {
        let tasks: Vec<Value> = tasks.iter().map(record_json).collect();
        invocation.print_json(&json!({ "schema": "tribunal.tasks.v1", "tasks": tasks }))?;
        return Ok(Exit::Pass);
    }
    if tasks.is_empty() {
        invocation.say("There are no tasks. Add one with `tribunal task add TITLE`.");
        return Ok(Exit::Pass);
    }
    let row = |record: &TaskRecord| {
        let task = &record.task;
        let dash = || "-".to_owned();
        let section = task.brief.section.as_deref();
        [
            format!("[{}]", task.state.marker()),
            task.id.to_string(),
            section.map_or_else(dash, one_line),
            at_work(record).unwrap_or_else(dash),
            match task.rejections {
                0 => dash(),
                n => n.to_string(),
            },
            match record.spend.runs {
                0 => dash(),
                _ => report::spend(&record.spend),
            },
            one_line(&task.brief.title),
        ]
    };
    let header = ["", "TASK", "SECTION", "HOLDER", "REJECTED", "COST", "TITLE"];
    let rows = tasks.iter().map(row).collect();
    let table = invocation.fitted_table(&header, rows, &[2, 3, 6]);
    invocation.print(&format!("{table}\n"))?;
    invocation.say(&summary(tasks.iter().map(|record| record.task.state)));
    Ok(Exit::Pass)
}

/// Returns who works on a task: the agents that are asked, else the process that holds it.
fn at_work(record: &TaskRecord) -> Option<String> {
    match record.agents.is_empty() {
        true => record.holder.clone(),
        false => Some(one_line(&record.agents.join(", "))),
    }
}

/// Returns how many tasks stand where.
pub(crate) fn summary(states: impl Iterator<Item = TaskState>) -> String {
    let mut counts: BTreeMap<TaskState, usize> = BTreeMap::new();
    for state in states {
        *counts.entry(state).or_default() += 1;
    }
    let total: usize = counts.values().sum();
    let parts: Vec<String> = counts
        .iter()
        .map(|(state, count)| format!("{count} {}", words(*state)))
        .collect();
    match total {
        1 => format!("1 task: {}.", parts.join(", ")),
        n => format!("{n} tasks: {}.", parts.join(", ")),
    }
}

/// Returns a state as people say it.
pub(crate) fn words(state: TaskState) -> String {
    state.as_str().replace('_', " ")
}

/// Returns text for a cell of a table.
pub(crate) fn one_line(text: &str) -> String {
    for_terminal(&text.replace(['\n', '\t'], " ")).into_owned()
}

/// Prints one task.
pub(super) async fn show(invocation: &Invocation, args: Show) -> Result<Exit, CliError> {
    let record = find(invocation, &args.task).await?;
    let held = match invocation.existing_store().await? {
        Some(store) => held_up(store.as_ref(), &record.task).await?,
        None => None,
    };
    let branch = match record.task.commit {
        Some(_) => {
            let engine = invocation.engine().await?;
            engine.branch_of_task(&record.task.id).await?
        }
        None => None,
    };
    if args.json {
        let mut task = record_json(&record);
        task["dispute"] = json!(held.as_ref().and_then(|held| held.dispute.as_ref()));
        task["why"] = json!(held.as_ref().map(|held| &held.why));
        task["next"] = json!(held.as_ref().map(|held| &held.command));
        task["branch"] = json!(branch);
        invocation.print_json(&json!({ "schema": "tribunal.task.v1", "task": task }))?;
        return Ok(Exit::Pass);
    }
    let task = &record.task;
    let brief = &task.brief;
    let mut text = format!("[{}] {}\n", task.state.marker(), brief.title);
    let mut line = |name: &str, value: &str| {
        let _ = writeln!(text, "  {name:<13} {value}");
    };
    line("Task", task.id.as_str());
    line("State", &words(task.state));
    if let Some(held) = &held {
        line("Why", &one_line(&held.why));
        if let Some(dispute) = &held.dispute {
            line("Dispute", dispute.as_str());
        }
        line("Next", &format!("`{}`", held.command));
    }
    if let Some(section) = &brief.section {
        line("Section", section);
    }
    if brief.priority != tribunal_core::task::Priority::Normal {
        line("Priority", brief.priority.as_str());
    }
    if let Some(source) = &brief.source {
        line("Source", source);
    }
    if let Some(domain) = &brief.domain {
        line("Domain", domain);
    }
    if !brief.depends_on.is_empty() {
        let depends: Vec<&str> = brief.depends_on.iter().map(|id| id.as_str()).collect();
        line("Depends on", &depends.join(", "));
    }
    if brief.list.is_some() {
        let files: Vec<&str> = brief.lines().map(|line| line.file.as_str()).collect();
        line("List", &files.join(", "));
    }
    line("Rejections", &task.rejections.to_string());
    line("Cost", &report::spend(&record.spend));
    if let Some(holder) = &record.holder {
        line("Holder", holder);
        if !record.agents.is_empty() {
            line("At work", &record.agents.join(", "));
        }
    }
    if let Some(commit) = &task.commit {
        line("Commit", commit);
    }
    if let Some(branch) = &branch {
        line("Branch", branch);
    }
    for (name, more) in [
        ("Details", Some(&brief.details)),
        ("Instructions", task.instructions.as_ref()),
    ] {
        if let Some(more) = more.filter(|more| !more.is_empty()) {
            let _ = write!(text, "\n{name}\n{}\n", indented(more));
        }
    }
    invocation.print(&for_terminal(&text))?;
    Ok(Exit::Pass)
}

fn indented(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(|line| format!("  {line}")).collect();
    lines.join("\n")
}

/// Prints the story of one task, or checks all.
pub(super) async fn audit(invocation: &Invocation, args: Audit) -> Result<Exit, CliError> {
    let records = match &args.task {
        Some(text) => vec![find(invocation, text).await?],
        None => match invocation.existing_store().await? {
            Some(store) => store.tasks().await?,
            None => Vec::new(),
        },
    };
    let mut audits = Vec::new();
    if let Some(store) = invocation.existing_store().await? {
        for record in &records {
            audits.push((&record.task, audit_of(store.as_ref(), &record.task).await?));
        }
    }
    let whole = audits.iter().all(|(_, audit)| audit.problems.is_empty());
    let exit = if whole { Exit::Pass } else { Exit::Fail };
    if args.json {
        let audits: Vec<Value> = audits
            .iter()
            .map(|(task, audit)| json!({ "task": task.id, "title": task.brief.title, "audit": audit }))
            .collect();
        let result = json!({ "schema": "tribunal.audit.v1", "whole": whole, "audits": audits });
        invocation.print_json(&result)?;
        return Ok(exit);
    }
    let mut text = String::new();
    for (task, audit) in &audits {
        let _ = writeln!(text, "{} {}", task.id, task.brief.title);
        for entry in &audit.entries {
            let _ = writeln!(text, "  {}", entry_line(entry));
        }
        for problem in &audit.problems {
            let _ = writeln!(text, "  problem: {problem}");
        }
    }
    invocation.print(&for_terminal(&text))?;
    let broken = audits
        .iter()
        .filter(|(_, audit)| !audit.problems.is_empty());
    match (broken.count(), audits.len()) {
        (0, 1) => invocation.say("The story is whole."),
        (0, n) => invocation.say(&format!("{n} stories, all whole.")),
        (broken, n) => invocation.say(&format!("{broken} of {n} stories do not add up.")),
    }
    Ok(exit)
}

fn entry_line(entry: &Entry) -> String {
    let at = report::stamp(entry.at);
    let to = entry.to.marker();
    let what = match (entry.what, entry.from) {
        (What::Edited, _) => format!("    [{to}] changed"),
        (What::Noted, _) => format!("    [{to}] minor dispute noted"),
        (What::Added | What::Moved, None) => format!("    [{to}] added"),
        (What::Added | What::Moved, Some(from)) => {
            let done = entry.done.map_or("moved", |done| done.participle());
            format!("[{}]→[{to}] {done}", from.marker())
        }
    };
    let note = entry.note.as_ref();
    let note = note.map(|note| format!(": {}", truncate_chars(note, 200).replace('\n', " ")));
    format!(
        "{at}  {what} by {}{}",
        entry.actor,
        note.unwrap_or_default()
    )
}

async fn find(invocation: &Invocation, text: &str) -> Result<TaskRecord, CliError> {
    match invocation.existing_store().await? {
        Some(store) => Ok(store.find_task(text).await?),
        None => Err(StoreError::NoSuchTask {
            text: text.to_owned(),
        }
        .into()),
    }
}

/// Returns a task as machine-readable output shows it.
pub(super) fn task_json(task: &Task) -> Value {
    let mut json = json!(task);
    if let Some(object) = json.as_object_mut() {
        object.insert("marker".to_owned(), json!(task.state.marker()));
    }
    json
}

fn record_json(record: &TaskRecord) -> Value {
    let mut json = task_json(&record.task);
    if let Some(object) = json.as_object_mut() {
        object.insert("holder".to_owned(), json!(record.holder));
        object.insert("agents".to_owned(), json!(record.agents));
        object.insert("spend".to_owned(), json!(record.spend));
        object.insert("added_at".to_owned(), json!(record.added_at));
        object.insert("changed_at".to_owned(), json!(record.changed_at));
    }
    json
}
