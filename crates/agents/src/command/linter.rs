//! A linter: no prompt, a report on stdout or in a file, an exit code that proves nothing.
//!
//! Linters exit with a code that says whether they found something, and each has codes of its own.
//! So the evidence is a report that is whole and in a known format. A code other than 0 with a
//! report that finds nothing is a contradiction, and no answer.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use nix::fcntl::OFlag;
use tribunal_core::agent::ErrorClass;
use tribunal_core::money::{Cost, MicroUsd, Usage};
use tribunal_core::reply::tool_report_of;
use tribunal_core::text::truncate_chars;

use super::plan::{Context, Plan};
use super::reader::{Ending, LONGEST_MESSAGE, Reader};
use super::whole::Form;
use super::{endings, order};
use crate::spec::{Cli, CommandSpec};
use crate::{AgentError, Reply, tool};

/// Stands in an argument for the file that the report goes to.
const PLACEHOLDER: &str = "{output}";

/// Bytes of a report that are read.
const LONGEST_REPORT: usize = 64 * 1024 * 1024;

/// Nobody charges for running a program.
pub(super) const COST: Cost = Cost::Known(MicroUsd(0));

/// Returns how to run the linter. It takes no prompt, so a prompt is a mistake of the asker.
pub(super) fn plan(context: &Context<'_>) -> Result<Plan, AgentError> {
    if context.call.prompt.trim().is_empty() {
        return Ok(Plan {
            env: settings(context.spec.cli),
            ..Plan::default()
        });
    }
    let name = tool::name_of(&context.spec.argv);
    let message = format!(
        "`{name}` is a tool that reports by itself and takes no prompt; it takes part in reviews."
    );
    Err(AgentError::new(ErrorClass::BadRequest, message))
}

/// Returns the variables for a linter: without them Semgrep asks for a newer version of itself and
/// waits, where there is no network, for more than half a minute.
pub(super) fn settings(cli: Cli) -> BTreeMap<String, String> {
    let quiet = [("SEMGREP_ENABLE_VERSION_CHECK", "0"), ("NO_COLOR", "1")];
    let owned = quiet.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let is_linter = cli == Cli::Linter;
    owned.into_iter().filter(|_| is_linter).collect()
}

/// Returns the file that holds the report, where that is not stdout.
pub(super) fn report_file(spec: &CommandSpec) -> Option<&'static str> {
    let placed = |argument: &String| argument.contains(PLACEHOLDER);
    let placed = spec.argv.iter().skip(1).any(placed);
    (spec.cli == Cli::Linter && placed).then_some(order::OUTPUT_FILE)
}

/// Puts the path of the report into the arguments that ask for it.
pub(super) fn fill_in(spec: &CommandSpec, argv: &mut [String], run_dir: &Path) {
    if let Some(name) = report_file(spec) {
        let path = order::file(run_dir, name).to_string_lossy().into_owned();
        for argument in argv.iter_mut().skip(1) {
            *argument = argument.replace(PLACEHOLDER, &path);
        }
    }
}

/// Opens the report that a linter left in the file `path`.
pub(super) fn open_report(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .read(true)
        // A link would lead to a file of somebody else, and a pipe to nowhere.
        .custom_flags((OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK).bits())
        .open(path)
}

/// Reads the report that a linter left in the file `path`. A missing one is an empty one.
pub(super) fn read_report(path: &Path, reader: &mut dyn Reader) {
    let Ok(file) = open_report(path) else { return };
    let mut bytes = Vec::new();
    let most = LONGEST_REPORT as u64 + 1;
    // What could not be read is missing, and the report then not whole.
    let _ = file.take(most).read_to_end(&mut bytes);
    reader.feed(&bytes);
}

/// A report in a format that is known.
pub(super) struct Report;

impl Form for Report {
    const NAME: &'static str = "The tool";
    const OUTPUT: &'static str = "report";
    const MOST: usize = LONGEST_REPORT;
    const COST: Cost = COST;

    fn may_answer(code: Option<i32>) -> bool {
        code.is_some()
    }

    fn text(bytes: &[u8], end: &Ending<'_>) -> Result<String, AgentError> {
        match tool_report_of(bytes) {
            Ok(report) if report.is_empty && end.exit.code != Some(0) => {
                Err(no_report(bytes, end, "it has no findings"))
            }
            Ok(_) => Ok(String::from_utf8_lossy(bytes).into_owned()),
            Err(problem) => Err(no_report(bytes, end, &problem.to_string())),
        }
    }
}

/// Returns the report of a tool that had nothing to say, where that is how it says so.
///
/// The class tells that it exited with code 0 and printed nothing.
pub(super) fn report_of_silence(spec: &CommandSpec, error: &AgentError) -> Option<Reply> {
    let silent = error.class == ErrorClass::Empty && report_file(spec).is_none();
    let speaks = spec.cli == Cli::Linter && tool::is_silent_when_content(&spec.argv);
    (silent && speaks).then(|| Reply {
        text: "[]".to_owned(),
        structured: None,
        usage: Usage::default(),
        cost: COST,
        session: None,
        model: None,
        version: None,
    })
}

/// Says why there is no report. The same command would fail in the same way again.
fn no_report(bytes: &[u8], end: &Ending<'_>, why: &str) -> AgentError {
    if end.exit.code != Some(0) {
        let broken = endings::broken_run(Report::NAME, end, None).message;
        let message = match end.stderr.trim() {
            "" => format!("{broken} Its report: {why}."),
            _ => broken,
        };
        return AgentError::new(ErrorClass::Setup, message);
    }
    let class = match bytes.trim_ascii() {
        [] => ErrorClass::Empty,
        _ => ErrorClass::Garbled,
    };
    let why = truncate_chars(why, LONGEST_MESSAGE);
    let message = format!("The tool exited normally, but there is no report to read: {why}.");
    AgentError::new(class, message)
}
