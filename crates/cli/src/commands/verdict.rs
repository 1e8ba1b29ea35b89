//! `tribunal verdict`.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use serde_json::json;
use tribunal_core::consensus::Record;
use tribunal_core::verdict::{Method, NoLine, verdict_line, verdict_schema};

use super::consensus::record;
use super::lines::for_each_line;
use crate::error::CliError;
use crate::exit::Exit;
use crate::invocation::Invocation;
use crate::report::explain::one_line;
use crate::report::verdict::render;

/// The least that a comparison holds, as a hint.
const SHAPE: &str =
    "A comparison is {\"item_id\": 1, \"judges\": {\"ann\": {\"scores\": {\"x\": 80, \"y\": 60}}}}";

/// Make a verdict out of judges' scores from anywhere
///
/// FILE holds one comparison: `{"item_id": …, "judges": {NAME: {"scores": {CONTESTANT: 0 to 100}}}}`;
/// `-` is standard input. Only judges who scored every contestant count; those with the same
/// `"family"` beside their scores are one voice. The verdict comes with its doubt: intervals, margin,
/// agreement between judges, and who stands alone. Nobody is asked and nothing is stored: the same
/// scores give the same verdict.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Exit codes: 0 somebody won, 2 usage, 4 a file is missing, 5 a tie, or no judge \
    scored everybody. A batch ends with 0, or 5 if a line gave no verdict.\n\n\
    Examples:\n  \
    tribunal verdict scores.json\n  \
    tribunal verdict scores.json --method median --json\n  \
    tribunal verdict --batch comparisons.jsonl --record record.json > verdicts.jsonl"
)]
pub(crate) struct Args {
    /// File with one comparison, or `-`
    #[arg(value_name = "FILE", required_unless_present_any = ["batch", "schema"])]
    file: Option<PathBuf>,
    /// How scores become one: mean, median, trimmed, z-mean, pairwise; as `trial.method` says if not given
    #[arg(long, value_name = "M")]
    method: Option<Method>,
    /// JSON file with how often each judge was right; it weighs them
    #[arg(long, value_name = "R")]
    record: Option<PathBuf>,
    /// Decide many comparisons: one JSON line in, one out; `-` reads standard input
    #[arg(long, value_name = "FILE", conflicts_with = "file")]
    batch: Option<PathBuf>,
    /// Print JSON
    #[arg(long, conflicts_with = "batch")]
    json: bool,
    /// Print the JSON schema of the result and do nothing else
    #[arg(long, conflicts_with_all = ["file", "batch"])]
    schema: bool,
}

/// Decides and prints.
pub(crate) fn run(invocation: &Invocation, args: &Args) -> Result<Exit, CliError> {
    if args.schema {
        invocation.print_json(&verdict_schema().to_value())?;
        return Ok(Exit::Pass);
    }
    let record = record(invocation, args.record.as_deref())?;
    let method = match args.method {
        Some(method) => method,
        None => invocation.settings_without_trust()?.settings.trial.method,
    };
    match (&args.batch, &args.file) {
        (Some(batch), _) => for_each_line(invocation, batch, |number, line| {
            decide_line(invocation, number, line, method, record.as_ref())
        }),
        (None, Some(file)) => decide_file(invocation, file, args.json, method, record.as_ref()),
        (None, None) => Err(CliError::new(Exit::Usage, "there is no file with scores")),
    }
}

fn decide_file(
    invocation: &Invocation,
    file: &Path,
    json: bool,
    method: Method,
    record: Option<&Record>,
) -> Result<Exit, CliError> {
    let text = read(invocation, file)?;
    let decided = verdict_line(&text, method, record);
    let (settled, verdict, problems) = decided.map_err(|error| match &error {
        NoLine::Malformed(why) => {
            let text = format!("`{}` is no comparison", file.display());
            CliError::new(Exit::Usage, text).caused_by(why).hint(SHAPE)
        }
        NoLine::NoVerdict(why) => {
            CliError::new(Exit::Inconclusive, "there is no verdict").caused_by(why)
        }
    })?;
    for problem in problems {
        invocation.say(&one_line(&format!("{problem}.")));
    }
    if json {
        let mut json = json!(settled);
        json["verdict"] = json!(verdict);
        invocation.print_json(&json)?;
    } else {
        invocation.print(&render(&verdict, |id| id.to_owned()))?;
    }
    Ok(match verdict.winner {
        Some(_) => Exit::Pass,
        None => Exit::Inconclusive,
    })
}

fn decide_line(
    invocation: &Invocation,
    number: u64,
    line: &str,
    method: Method,
    record: Option<&Record>,
) -> Result<String, String> {
    let decided = verdict_line(line, method, record);
    let (settled, _, problems) = decided.map_err(|error| error.to_string())?;
    for problem in problems {
        invocation.say(&one_line(&format!("line {number}: {problem}.")));
    }
    serde_json::to_string(&settled).map_err(|error| error.to_string())
}

fn read(invocation: &Invocation, file: &Path) -> Result<String, CliError> {
    if file != Path::new("-") {
        return super::consensus::read_text(&invocation.path(file));
    }
    let mut text = String::new();
    match std::io::stdin().read_to_string(&mut text) {
        Ok(_) => Ok(text),
        Err(error) => {
            Err(CliError::new(Exit::Usage, "cannot read standard input").caused_by(&error))
        }
    }
}
