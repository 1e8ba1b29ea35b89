//! Many reviews at once, line by line.

use std::path::Path;

use tribunal_core::consensus::{Policy, Record, settle_line};

use crate::commands::lines::for_each_line;
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
    for_each_line(invocation, file, |number, text| {
        settle_one(invocation, number, text, policy, record)
    })
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
