//! `tribunal ask`.

use std::io::{IsTerminal as _, Read as _};
use std::path::{Path, PathBuf};

use serde_json::json;
use tribunal_core::agent::{Access, Role};
use tribunal_core::case::{CaseState, Outcome};
use tribunal_core::ids::AgentName;
use tribunal_core::text::for_terminal;
use tribunal_engine::ask::{AskAnswer, AskReport, AskRequest, Prompt};
use tribunal_engine::config::Usd;

use crate::args::parse_cost;
use crate::commands::ending;
use crate::error::CliError;
use crate::exit::Exit;
use crate::invocation::{Format, Invocation};
use crate::report;

/// Put a prompt to one agent and print its answer
///
/// The answer goes to standard output, what happened on the way to standard error. Everything is
/// recorded in the ledger: `tribunal show` tells it again. A batch is resumable: an answered prompt
/// is never put or paid for again.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    tribunal ask scripted \"Is anybody there?\"\n  \
    git diff | tribunal ask claude -\n  \
    tribunal ask codex --batch prompts.jsonl --output answers/")]
pub(crate) struct Args {
    /// The agent, as named by `tribunal agents`
    agent: String,
    /// The prompt; `-` or nothing reads it from standard input
    prompt: Option<String>,
    /// Put every line of this file: plain text, or JSON with `prompt` and perhaps `id`
    #[arg(long, value_name = "FILE", conflicts_with = "prompt")]
    batch: Option<PathBuf>,
    /// Write each answer to a file in this directory
    #[arg(long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// How many prompts of a batch are put at once
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=256))]
    parallel: u16,
    /// The role in which the agent is asked; decides nothing but the record
    #[arg(long, value_name = "ROLE", default_value = "reviewer", value_parser = parse_role)]
    role: Role,
    /// Text for the system prompt
    #[arg(long, value_name = "TEXT")]
    system: Option<String>,
    /// File with a JSON schema that the answer must follow
    #[arg(long, value_name = "FILE")]
    schema: Option<PathBuf>,
    /// The directory in which the agent works; an empty one if not given
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Let the agent change files in that directory
    #[arg(long, requires = "dir")]
    write: bool,
    /// Stop before the next call once the case has cost this much
    #[arg(long, value_name = "USD", value_parser = parse_cost)]
    max_cost: Option<Usd>,
    /// How to print the answer
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
    /// Short for `--format json`
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

/// Reads a role as typed.
pub(super) fn parse_role(text: &str) -> Result<Role, String> {
    let known = || Role::ALL.map(Role::as_str).join(", ");
    Role::ALL
        .into_iter()
        .find(|role| role.as_str() == text)
        .ok_or_else(|| format!("the roles are: {}", known()))
}

/// Asks and prints.
pub(crate) async fn run(invocation: &Invocation, args: Args) -> Result<Exit, CliError> {
    let format = if args.json { Format::Json } else { args.format };
    let mut overrides = Vec::new();
    if let Some(cost) = &args.max_cost {
        overrides.push(format!("budget.per_case={cost}"));
    }
    let request = request(invocation, args)?;
    let engine = invocation.engine_with(&overrides).await?;
    let mut reporter = invocation.reporter(format);
    let stream = engine.ledger().subscribe();
    let work = invocation.stoppable(&engine, Box::pin(engine.ask(request)));
    let result = report::report_while(stream, reporter.as_mut(), work).await;
    finish(invocation, format, &result?)
}

/// Prints what came of the prompts and returns the exit code.
pub(crate) fn finish(
    invocation: &Invocation,
    format: Format,
    report: &AskReport,
) -> Result<Exit, CliError> {
    match format {
        Format::Json => invocation.print_json(&as_json(report))?,
        Format::Text => print_text(invocation, report)?,
        Format::Jsonl => {}
    }
    exit_of(report)
}

fn request(invocation: &Invocation, args: Args) -> Result<AskRequest, CliError> {
    let agent = AgentName::new(&args.agent)
        .map_err(|error| CliError::new(Exit::Usage, error.to_string()))?;
    let prompts = match &args.batch {
        Some(file) => read_batch(&invocation.path(file))?,
        None => vec![Prompt {
            id: "answer".to_owned(),
            text: read_prompt(args.prompt)?,
        }],
    };
    let schema = args
        .schema
        .as_deref()
        .map(|file| read_schema(&invocation.path(file)))
        .transpose()?;
    let absolute = |path: Option<PathBuf>| path.map(|path| invocation.path(&path));
    let directory = absolute(args.dir);
    if let Some(missing) = directory.as_ref().filter(|dir| !dir.is_dir()) {
        let text = format!("there is no directory {}", missing.display());
        return Err(CliError::new(Exit::NotFound, text));
    }
    Ok(AskRequest {
        agent,
        role: args.role,
        prompts,
        system: args.system,
        schema,
        access: if args.write {
            Access::Write
        } else {
            Access::ReadOnly
        },
        directory,
        output: absolute(args.output),
        parallel: args.parallel.into(),
    })
}

fn read_prompt(given: Option<String>) -> Result<String, CliError> {
    match given {
        Some(text) if text != "-" => Ok(text),
        None if std::io::stdin().is_terminal() => {
            Err(CliError::new(Exit::Usage, "there is no prompt")
                .hint("Give it as an argument, or `-` to read it from standard input"))
        }
        _ => {
            let mut bytes = Vec::new();
            std::io::stdin().read_to_end(&mut bytes).map_err(|error| {
                CliError::new(Exit::Internal, "cannot read standard input").caused_by(&error)
            })?;
            String::from_utf8(bytes).map_err(|_| {
                CliError::new(Exit::Usage, "the prompt on standard input is not UTF-8")
            })
        }
    }
}

fn read_file(path: &Path) -> Result<String, CliError> {
    std::fs::read_to_string(path).map_err(|error| CliError::unreadable(path, &error))
}

fn read_schema(path: &Path) -> Result<serde_json::Value, CliError> {
    serde_json::from_str(&read_file(path)?).map_err(|error| {
        CliError::new(
            Exit::Usage,
            format!("{} is not JSON: {error}", path.display()),
        )
    })
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct BatchLine {
    id: Option<String>,
    prompt: String,
}

/// Reads a batch: a line is JSON when it begins with a brace, plain text otherwise.
fn read_batch(path: &Path) -> Result<Vec<Prompt>, CliError> {
    let text = read_file(path)?;
    let filled = text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty());
    let prompts: Vec<_> = filled
        .map(|(index, line)| {
            let number = index + 1;
            let default_id = format!("{number:04}");
            if !line.trim_start().starts_with('{') {
                return Ok(Prompt {
                    id: default_id,
                    text: line.to_owned(),
                });
            }
            let parsed: BatchLine = serde_json::from_str(line).map_err(|error| {
                let text = format!("{}:{number}: {error}", path.display());
                CliError::new(Exit::Usage, text)
                    .hint(r#"A line of a batch is plain text, or `{"id": "a", "prompt": "…"}`"#)
            })?;
            Ok(Prompt {
                id: parsed.id.unwrap_or(default_id),
                text: parsed.prompt,
            })
        })
        .collect::<Result<_, CliError>>()?;
    if prompts.is_empty() {
        return Err(CliError::new(
            Exit::Usage,
            format!("{} holds no prompt", path.display()),
        ));
    }
    Ok(prompts)
}

fn print_text(invocation: &Invocation, report: &AskReport) -> Result<(), CliError> {
    let many = report.answers.len() > 1;
    for answer in &report.answers {
        let Ok((_, reply)) = &answer.result else {
            continue;
        };
        if let Some(file) = &answer.file {
            invocation.print(&format!("{}\n", file.display()))?;
            continue;
        }
        if many {
            invocation.print(&format!("## {}\n\n", answer.id))?;
        }
        let gap = if many { "\n" } else { "" };
        invocation.print(&format!("{}\n{gap}", for_terminal(reply.text.trim_end())))?;
    }
    Ok(())
}

fn as_json(report: &AskReport) -> serde_json::Value {
    json!({
        "schema": "tribunal.ask.v1",
        "case": report.case,
        "state": report.state,
        "answers": report.answers.iter().map(answer_json).collect::<Vec<_>>(),
    })
}

fn answer_json(answer: &AskAnswer) -> serde_json::Value {
    match &answer.result {
        Ok((run, reply)) => json!({
            "id": answer.id, "run": run, "text": reply.text, "structured": reply.structured,
            "usage": reply.usage, "cost": reply.cost, "session": reply.session,
            "model": reply.model, "version": reply.version, "file": answer.file,
        }),
        Err(error) => json!({
            "id": answer.id,
            "error": { "class": error.class, "message": error.message },
        }),
    }
}

/// Returns the exit code for where the case stands, or the error to show.
fn exit_of(report: &AskReport) -> Result<Exit, CliError> {
    match &report.state {
        CaseState::Closed(Outcome::Completed) => Ok(Exit::Pass),
        CaseState::Closed(Outcome::Failed { .. }) => Ok(Exit::Fail),
        CaseState::Closed(Outcome::Inconclusive { class, cause }) => {
            let failed = report
                .answers
                .iter()
                .filter(|answer| answer.result.is_err())
                .count();
            let class = class.map_or(String::new(), |class| format!(" ({class})"));
            let text = match report.answers.len() {
                1 => format!("there is no answer{class}: {cause}"),
                n => format!("{failed} of {n} prompts have no answer; the first{class}: {cause}"),
            };
            Err(CliError::new(Exit::Inconclusive, text).hint(format!(
                "Try the open prompts again with `tribunal resume {}`",
                report.case
            )))
        }
        CaseState::Parked { why, until } => Err(ending::parked(&report.case, why, *until)),
        CaseState::Open => Err(ending::left_open(&report.case)),
    }
}
