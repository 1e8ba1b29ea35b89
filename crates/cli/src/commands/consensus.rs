//! `tribunal consensus`.

mod advise;
mod batch;
mod explain;
mod sources;
mod text;

use std::path::{Path, PathBuf};

use serde_json::Value;
use tribunal_core::consensus::{Input, Policy, Record, Report, reversals, settle};
use tribunal_core::debate::consensus_schema;
use tribunal_core::scale::Severity;

use crate::error::CliError;
use crate::exit::Exit;
use crate::invocation::Invocation;
use crate::report::explain::one_line;
use sources::Gathered;
pub(super) use sources::read_text;

/// The policy of those who choose none.
pub(super) const DEFAULT_POLICY: &str = "tribunal";

/// Settle findings from anywhere: which stand, which fall, which stay open
///
/// A FILE holds the findings of a reviewer or of several: JSON of the debate's reviewers, of
/// `codex review` or our own, SARIF, or lines such as `[HIGH] src/db.rs:10 - text`; `-` is standard
/// input. The reviewer is called as NAME=FILE says, else as the content says (`model`, the tool of
/// SARIF), else like the file. Nobody is asked and nothing is stored: the same input gives the
/// same result.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Exit codes: 0 no finding of severity high or critical was accepted, 1 one \
    was, 2 usage, 4 a file is missing, 5 inconclusive: an input cannot be read, or a dispute about \
    a high or critical finding is open; a finding that can be read in part only spoils a 0. A batch ends with 0, or 5 if a line could not be read.\n\n\
    Examples:\n  \
    tribunal consensus claude.json codex.json semgrep.sarif\n  \
    tribunal consensus ann=first.md bob=second.md --rounds-file debate.jsonl\n  \
    tribunal consensus claude.json codex.json --explain src/db.rs:10:'query built by hand'\n  \
    tribunal consensus --batch reviews.jsonl > settled.jsonl"
)]
pub(crate) struct Args {
    /// Files with findings, each as FILE, NAME=FILE or `-`
    #[arg(value_name = "FILE", required_unless_present_any = ["batch", "schema"])]
    files: Vec<String>,
    /// File with messages of rounds 2 and 3, as JSON or JSON lines; can be given several times
    #[arg(long, value_name = "F", conflicts_with = "batch")]
    rounds_file: Vec<String>,
    /// The arithmetic: arena, tribunal, or a JSON file with the numbers to change
    #[arg(long, value_name = "POLICY", default_value = DEFAULT_POLICY)]
    policy: String,
    /// JSON file with past rulings on the reviewers' findings
    #[arg(long, value_name = "R")]
    record: Option<PathBuf>,
    /// Check security findings against OSV records: a directory, a zip file or a JSON file
    #[arg(long, value_name = "PATH", requires = "lock", conflicts_with = "batch")]
    advisories: Option<PathBuf>,
    /// Lock file that tells which packages are in use; can be given several times
    #[arg(long, value_name = "FILE", requires = "advisories")]
    lock: Vec<PathBuf>,
    /// Settle many reviews: one JSON line in, one out; `-` reads standard input
    #[arg(long, value_name = "FILE", conflicts_with = "files")]
    batch: Option<PathBuf>,
    /// Print everything about one finding: its id, REVIEWER:ID, file:line:title, or its number
    #[arg(long, value_name = "ID", conflicts_with = "batch")]
    explain: Option<String>,
    /// Print the JSON schema of the result
    #[arg(long, conflicts_with_all = ["files", "batch", "explain"])]
    schema: bool,
    /// How to print the result
    #[arg(
        long,
        value_name = "FORMAT",
        default_value = "text",
        conflicts_with = "batch"
    )]
    format: Output,
    /// Short for `--format json`
    #[arg(long, conflicts_with_all = ["format", "batch"])]
    json: bool,
}

/// How a consensus is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Output {
    /// For people
    Text,
    /// One JSON object
    Json,
}

/// Settles and prints.
pub(crate) fn run(invocation: &Invocation, args: &Args) -> Result<Exit, CliError> {
    if args.schema {
        invocation.print_json(&consensus_schema().to_value())?;
        return Ok(Exit::Pass);
    }
    let policy = policy_named(invocation, &args.policy)?;
    let record = record(invocation, args.record.as_deref())?;
    if let Some(file) = &args.batch {
        return batch::run(invocation, file, &policy, record.as_ref());
    }
    let Gathered {
        mut input,
        mut problems,
        all_read,
        in_part,
    } = sources::gather(invocation, &args.files, &args.rounds_file)?;
    input.record = record;
    if let Some(path) = &args.advisories {
        let consulted = advise::consult(invocation, path, &args.lock, &input.findings)?;
        input.advisories = consulted.0;
        problems.extend(consulted.1);
    }
    let again: Option<Input> = args.explain.is_some().then(|| input.clone());
    let settlement = settle(input, &policy);
    let mut report = settlement.report();
    report.problems.splice(0..0, problems);
    for problem in &report.problems {
        invocation.say(&one_line(&format!("{problem}.")));
    }
    let format = if args.json { Output::Json } else { args.format };
    match (args.explain.as_ref().zip(again), format) {
        (Some((id, again)), _) => {
            let reversals = reversals(again, &policy, &settlement);
            let explained = explain::find(id, &settlement, &report, &reversals)?;
            match format {
                Output::Json => invocation.print_json(&explain::json(&explained, &policy)?)?,
                Output::Text => invocation.print(&explain::text(&explained))?,
            }
        }
        (None, Output::Json) => invocation.print_json(&as_value(&report)?)?,
        (None, Output::Text) => invocation.print(&text::render(&settlement, &report))?,
    }
    Ok(match exit_of(&report) {
        // What could not be read might have been the finding that matters.
        Exit::Pass if in_part => Exit::Inconclusive,
        _ if !all_read => Exit::Inconclusive,
        exit => exit,
    })
}

/// Returns what a consensus means for a script.
pub(super) fn exit_of(report: &Report) -> Exit {
    let is_mandatory = |severity: Severity| severity >= Severity::High;
    let mut accepted = report.findings.iter().map(|one| one.severity);
    let mut disputed = report.consensus.disputed.iter();
    if accepted.any(is_mandatory) {
        Exit::Fail
    } else if disputed.any(|one| is_mandatory(one.details.severity))
        || !report.incomplete.is_empty()
    {
        Exit::Inconclusive
    } else {
        Exit::Pass
    }
}

/// Returns the policy of that name, or the one in the file of that name.
pub(super) fn policy_named(invocation: &Invocation, name: &str) -> Result<Policy, CliError> {
    if let Ok(preset) = Policy::preset(name) {
        return Ok(preset);
    }
    let path = invocation.path(Path::new(name));
    if !path.exists() {
        let text = format!("there is no policy `{name}`: neither a preset nor a file");
        return Err(CliError::new(Exit::NotFound, text).hint("The presets are arena and tribunal"));
    }
    let changes = json_file(&path)?;
    Policy::from_changes(&changes).map_err(|error| {
        CliError::new(Exit::Usage, format!("{}: {error}", path.display())).hint(
            "A policy file holds some of the keys of a policy, such as {\"rounds\": {\"floor\": 30}}",
        )
    })
}

/// Reads the file with past rulings.
pub(super) fn record(
    invocation: &Invocation,
    path: Option<&Path>,
) -> Result<Option<Record>, CliError> {
    let Some(path) = path else {
        return Ok(None);
    };
    let path = invocation.path(path);
    let no_record = |why: String| {
        let text = format!("{} is no record of rulings: {why}", path.display());
        CliError::new(Exit::Usage, text)
    };
    let value = json_file(&path)?;
    if !value.is_object() {
        return Err(no_record("it is no JSON object".to_owned()));
    }
    serde_json::from_value(value)
        .map(Some)
        .map_err(|error| no_record(error.to_string()))
}

pub(super) fn json_file(path: &Path) -> Result<Value, CliError> {
    let text = sources::read_text(path)?;
    serde_json::from_str(&text).map_err(|error| {
        CliError::new(
            Exit::Usage,
            format!("{} is not JSON: {error}", path.display()),
        )
    })
}

fn as_value(value: &impl serde::Serialize) -> Result<Value, CliError> {
    serde_json::to_value(value)
        .map_err(|error| CliError::new(Exit::Internal, "cannot write JSON").caused_by(&error))
}
