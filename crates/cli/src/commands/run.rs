//! `tribunal run`.

use std::collections::BTreeMap;

use serde_json::json;
use tribunal_core::case::{CaseState, Outcome};
use tribunal_core::ids::CaseId;
use tribunal_core::money::MicroUsd;
use tribunal_core::task::TaskState;
use tribunal_core::text::for_terminal;
use tribunal_engine::Engine;
use tribunal_engine::arbiter::Arbiter;
use tribunal_engine::case::CaseError;
use tribunal_engine::config::{Settings, Span, Usd};
use tribunal_engine::run::{LeftTask, Prospect, RunReport, RunWish, check_cast};
use tribunal_store::CaseRecord;

use super::arbiter::{explained_text, prospect_text};
use super::task::{held_up, one_line, summary, words};
use super::{dispute, ending, pushes};
use crate::args::parse_cost;
use crate::error::CliError;
use crate::exit::Exit;
use crate::invocation::{Format, Invocation};
use crate::report;

/// Work through the list of tasks
///
/// Each task is taken in order. The arbiter chooses who works, a coder works in a place of its own,
/// the project's tests and a review look at the work; what is approved is put on the branch
/// `tribunal/work`, one commit per task. Your files, your index and your branch stay as they are.
/// The loop moves on over disputed and failed tasks, and several runners may work on one list.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    tribunal run --dry-run\n  \
    tribunal run --once\n  \
    tribunal run --parallel 4 --max-cost 5\n  \
    tribunal run --task c-1a2b --max-time 30m\n\n\
    Exit codes: 0 every task it took is settled, 1 a task failed, 5 a task was left unsettled or \
    nothing could be done, 7 a limit ended the run, 130 stopped.")]
pub(crate) struct Args {
    /// Stop after one task
    #[arg(long)]
    once: bool,
    /// Work on this task alone
    #[arg(long, value_name = "TASK")]
    task: Option<String>,
    /// Most executions for one task between two reviews, runs of the tests included
    #[arg(long, value_name = "N")]
    max_iterations: Option<u32>,
    /// Begin nothing more once the run has cost this much
    #[arg(long, value_name = "USD", value_parser = parse_cost)]
    max_cost: Option<Usd>,
    /// Begin nothing more after this time, such as `30m`
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    max_time: Option<Span>,
    /// How many tasks are worked on at once
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=64))]
    parallel: u32,
    /// Say what would be done first, and why; do nothing
    #[arg(long)]
    dry_run: bool,
    /// How to print the result
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
    /// Short for `--format json`
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

fn parse_time(text: &str) -> Result<Span, String> {
    Span::parse(text).ok_or_else(|| "write a time such as `90s` or `1h30m`".to_owned())
}

/// Runs the loop.
pub(crate) async fn run(invocation: &Invocation, args: Args) -> Result<Exit, CliError> {
    let format = if args.json { Format::Json } else { args.format };
    let mut overrides = Vec::new();
    if let Some(most) = args.max_iterations {
        overrides.push(format!("run.max_iterations={most}"));
    }
    let settings = invocation.settings(&overrides)?.settings;
    check_cast(&settings).map_err(nobody_works)?;
    let engine = invocation.engine_with(&overrides).await?;
    let task = match &args.task {
        Some(text) => Some(engine.task(text).await?.task.id),
        None => None,
    };
    if args.dry_run {
        let asked = (task.as_ref(), args.once);
        return dry_run(invocation, &engine, &settings, asked, format).await;
    }
    let wish = RunWish {
        directory: invocation.cwd.clone(),
        once: args.once,
        task,
        max_cost: args.max_cost.map(|cost| cost.0),
        max_time_ms: args
            .max_time
            .map(|time| u64::try_from(time.0.as_millis()).unwrap_or(u64::MAX)),
        max_iterations: args.max_iterations,
        parallel: args.parallel,
    };
    let mut reporter = invocation.reporter(format);
    let stream = engine.ledger().subscribe();
    let work = invocation.stoppable(&engine, Box::pin(engine.run_tasks(&settings, wish)));
    let done = report::report_while(stream, reporter.as_mut(), work).await?;
    finish(invocation, &engine, &done, format).await
}

/// Returns what to do about a list that nobody could work on.
fn nobody_works(error: CaseError) -> CliError {
    match error {
        CaseError::NoCoder => CliError::new(Exit::Config, error.to_string())
            .hint("Add one with `tribunal connect <agent> --role coder`")
            .hint("`tribunal agents` lists who there is"),
        other => other.into(),
    }
}

/// Goes on with a run that was interrupted or ended by a limit.
pub(super) async fn resume(
    invocation: &Invocation,
    engine: &Engine,
    record: &CaseRecord,
    max_cost: Option<MicroUsd>,
    format: Format,
) -> Result<Exit, CliError> {
    let settings = invocation.settings(&[])?.settings;
    let mut reporter = invocation.reporter(format);
    let stream = engine.ledger().subscribe();
    let request = record.request.clone();
    let work = engine.resume_run(&settings, &record.id, request, max_cost);
    let work = invocation.stoppable(engine, Box::pin(work));
    let done = report::report_while(stream, reporter.as_mut(), work).await?;
    finish(invocation, engine, &done, format).await
}

async fn finish(
    invocation: &Invocation,
    engine: &Engine,
    done: &RunReport,
    format: Format,
) -> Result<Exit, CliError> {
    let exit = exit_of(done);
    let unpushed = done.pushes.iter().filter_map(|push| push.problem.as_ref());
    let warnings: Vec<&String> = done.warnings.iter().chain(unpushed).collect();
    let tasks = engine.tasks().await?;
    match format {
        Format::Jsonl => {}
        Format::Json => invocation.print_json(&json!({
            "schema": "tribunal.run.v1",
            "case": done.case,
            "state": done.state,
            "why": done.why,
            "spend": done.spend,
            "tasks": done.left,
            "blocked": done.blocked,
            "warnings": warnings,
            "decisions": done.decisions,
            "pushes": done.pushes,
            "list": tasks.iter().fold(BTreeMap::<&str, usize>::new(), |mut counts, record| {
                *counts.entry(record.task.state.as_str()).or_default() += 1;
                counts
            }),
        }))?,
        Format::Text => {
            let row = |left: &LeftTask| {
                [
                    format!("[{}]", left.state.marker()),
                    left.task.to_string(),
                    left.rejections.to_string(),
                    report::spend(&left.spend),
                    one_line(&left.title),
                ]
            };
            if !done.left.is_empty() {
                let header = ["", "TASK", "REJECTED", "COST", "TITLE"];
                let rows = done.left.iter().map(row).collect();
                let table = invocation.fitted_table(&header, rows, &[4]);
                invocation.print(&format!("{table}\n"))?;
            }
            tell_left(invocation, engine, done).await?;
            for blocked in &done.blocked {
                let state = words(blocked.state);
                let (task, by) = (&blocked.task, &blocked.by);
                invocation.say(&format!(
                    "{task} waits for {by}, which is {state}. Next: `tribunal task show {by}`."
                ));
            }
            for warning in &done.warnings {
                invocation.say(&format!("Warning: {}.", for_terminal(warning)));
            }
            let list = summary(tasks.iter().map(|record| record.task.state));
            let (why, cost) = (for_terminal(&done.why), report::spend(&done.spend));
            let cost = match cost.as_str() {
                "unknown" => "What this run has cost is unknown.".to_owned(),
                known => format!("This run has cost {known}."),
            };
            invocation.say(&format!("Ended: {why}. {list} {cost}"));
        }
    }
    let pushed = pushes::tell(invocation, &done.pushes);
    pushes::tell_unpushed(invocation, engine);
    dispute::remind(invocation, engine).await?;
    let exit = match exit {
        Exit::Pass => pushed,
        other => other,
    };
    match (&done.state, exit) {
        (CaseState::Parked { why, until }, Exit::Quota | Exit::Interrupted) => {
            Err(ending::parked(&done.case, why, *until))
        }
        _ => Ok(exit),
    }
}

/// Says of each task that the run took and that is not completed why that is so, and what to type.
async fn tell_left(
    invocation: &Invocation,
    engine: &Engine,
    done: &RunReport,
) -> Result<(), CliError> {
    for left in &done.left {
        let task = engine.task(left.task.as_str()).await?.task;
        let held = held_up(engine.ledger().store().as_ref(), &task).await?;
        let why = left.why.as_ref().or(held.as_ref().map(|held| &held.why));
        let Some(why) = why else { continue };
        let why = one_line(why.trim_end_matches('.'));
        let next = match &held {
            Some(held) => format!(" Next: `{}`.", held.command),
            None => String::new(),
        };
        let state = words(task.state);
        invocation.say(&format!("{} is {state}: {why}.{next}", left.task));
    }
    Ok(())
}

fn exit_of(done: &RunReport) -> Exit {
    if let CaseState::Parked { .. } = done.state {
        return match done.limited {
            true => Exit::Quota,
            false => Exit::Interrupted,
        };
    }
    let states = || done.left.iter().map(|left| left.state);
    if let CaseState::Closed(Outcome::Inconclusive { .. }) = done.state {
        return Exit::Inconclusive;
    }
    if states().any(|state| state == TaskState::Failed) {
        Exit::Fail
    } else if states().all(TaskState::is_settled) {
        Exit::Pass
    } else {
        Exit::Inconclusive
    }
}

async fn dry_run(
    invocation: &Invocation,
    engine: &Engine,
    settings: &Settings,
    (only, once): (Option<&CaseId>, bool),
    format: Format,
) -> Result<Exit, CliError> {
    let halted = engine.halting_dispute(settings).await?;
    let mut outlook = engine.outlook(only).await?;
    if halted.is_some() {
        outlook.ready.clear();
    }
    if once {
        outlook.ready.truncate(1);
    }
    let arbiter = Arbiter::new(settings);
    let mut ready = Vec::new();
    let mut text = String::new();
    for (task, turn) in &outlook.ready {
        let first = match engine.prospect(settings, task).await? {
            Prospect::Ask(question) => {
                explained_text(&engine.explain_decision(&arbiter, &question).await?)
            }
            other => prospect_text(&other),
        };
        text += &format!("{turn} {}: {}\n  {first}\n", task.id, task.brief.title);
        ready.push(
            json!({ "task": task.id, "title": task.brief.title, "turn": turn,
            "first": first }),
        );
    }
    if format != Format::Text {
        invocation.print_json(&json!({
            "schema": "tribunal.outlook.v1", "ready": ready, "blocked": outlook.blocked,
            "taken": outlook.taken, "halted": halted,
        }))?;
        return Ok(Exit::Pass);
    }
    if outlook.ready.is_empty() {
        text = "idle\n".to_owned();
    }
    invocation.print(&for_terminal(&text))?;
    if let Some(why) = &halted {
        invocation.say(&format!("The loop waits: {}.", for_terminal(why)));
    }
    for blocked in &outlook.blocked {
        let state = words(blocked.state);
        let (task, by) = (&blocked.task, &blocked.by);
        invocation.say(&format!("{task} waits for {by}, which is {state}."));
    }
    for taken in &outlook.taken {
        invocation.say(&format!("{taken} is being worked on by another runner."));
    }
    Ok(Exit::Pass)
}
