//! Many reviews at once, line by line.

use std::io::{BufRead, Write as _};
use std::path::Path;

use serde_json::json;
use tribunal_core::consensus::{Policy, Record, settle_line};

use crate::commands::lines::{Line, bounded};
use crate::error::CliError;
use crate::exit::Exit;
use crate::invocation::Invocation;
use crate::report::explain::one_line;

/// Settles one review per line. A line that is none gives a line with `error`.
pub(super) fn run(
    invocation: &Invocation,
    file: &Path,
    policy: &Policy,
    record: Option<&Record>,
) -> Result<Exit, CliError> {
    if file == Path::new("-") {
        return settle_all(invocation, std::io::stdin().lock(), policy, record);
    }
    let path = invocation.path(file);
    let opened = std::fs::File::open(&path).map_err(|error| {
        let exit = match error.kind() {
            std::io::ErrorKind::NotFound => Exit::NotFound,
            _ => Exit::Inconclusive,
        };
        CliError::new(exit, format!("cannot read {}", path.display())).caused_by(&error)
    })?;
    settle_all(invocation, std::io::BufReader::new(opened), policy, record)
}

fn settle_all(
    invocation: &Invocation,
    input: impl BufRead,
    policy: &Policy,
    record: Option<&Record>,
) -> Result<Exit, CliError> {
    let mut out = std::io::stdout().lock();
    let mut exit = Exit::Pass;
    for (number, line) in (1_u64..).zip(bounded(input)) {
        let line = line.map_err(|error| {
            CliError::new(Exit::Inconclusive, "cannot read the batch").caused_by(&error)
        })?;
        let settled = match line {
            Line::Text(text) if text.trim().is_empty() => continue,
            Line::Text(text) => settle_one(invocation, number, &text, policy, record),
            Line::Unreadable(why) => Err(why),
        };
        let printed = match settled {
            Ok(settled) => settled,
            Err(why) => {
                exit = Exit::Inconclusive;
                invocation.say(&one_line(&format!("line {number}: {why}.")));
                json!({ "line": number, "error": why }).to_string()
            }
        };
        // Each line leaves at once, so that whoever waits for it can go on.
        match writeln!(out, "{printed}").and_then(|()| out.flush()) {
            Ok(()) => {}
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => break,
            Err(error) => {
                return Err(
                    CliError::new(Exit::Internal, "cannot write the result").caused_by(&error)
                );
            }
        }
    }
    Ok(exit)
}

fn settle_one(
    invocation: &Invocation,
    number: u64,
    text: &str,
    policy: &Policy,
    record: Option<&Record>,
) -> Result<String, String> {
    let (settled, problems) =
        settle_line(text, policy, record).map_err(|error| error.to_string())?;
    for problem in problems {
        invocation.say(&one_line(&format!(
            "line {number} ({}): {problem}.",
            settled.pr_id
        )));
    }
    serde_json::to_string(&settled).map_err(|error| error.to_string())
}
