//! Output of linters and other analysis tools, recognised by its shape and read without settings.
//!
//! A tool has no words for "I found nothing": an empty list says so, an empty output does not. What
//! is cut off, in an unknown format, or says itself that it is incomplete is therefore never an
//! answer; what could be read of it is kept all the same.

mod cargo;
mod documents;
mod format;
mod javascript;
mod looked;
pub(super) mod metadata;
mod others;
pub(super) mod paths;
pub(super) mod places;
mod python;
pub(super) mod rules;
pub(super) mod sink;
mod tables;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_hostile;

use std::collections::BTreeSet;

use serde_json::Value;

use self::cargo::Build;
use self::documents::{Documents, text_of};
use self::format::{Format, format_of, unknown};
pub use self::looked::{
    Looked, family_of_tool_named, is_known_tool, planted_defect, tool_name, tool_reads,
};
use self::sink::{Sink, text};
use super::find::{Author, Findings, findings_in_value};
use super::{Problem, sarif};
use crate::finding::Finding;
use crate::text::headline;

/// The report of a tool, as far as it could be read.
#[derive(Debug, Default)]
pub struct ToolReport {
    /// What it says about the code.
    pub findings: Findings,
    /// The name of the tool, where the report tells.
    pub tool: Option<String>,
    /// What it says that it looked at.
    pub looked: Looked,
    /// Whether it reports nothing at all, not even what was suppressed.
    pub is_empty: bool,
}

/// Reads what a linter or another analysis tool printed, in any of the known formats.
///
/// Paths below `root`, the directory in which the tool ran, become relative to it.
#[must_use]
pub fn read_tool_output(output: &[u8], root: Option<&str>, author: &Author) -> Findings {
    read_tool_report(output, root, author).findings
}

/// Reads the same, with what the report says about the tool and its work.
#[must_use]
pub fn read_tool_report(output: &[u8], root: Option<&str>, author: &Author) -> ToolReport {
    let mut reading = Reading::new(author, root);
    reading.read(output);
    reading.finish()
}

/// Returns the report of a tool, or why this is not the whole output of a tool that is known.
pub fn tool_report_of(output: &[u8]) -> Result<ToolReport, Problem> {
    let author = Author::default();
    let mut reading = Reading::new(&author, None);
    reading.read(output);
    match reading.fault.take() {
        Some(what) => Err(Problem {
            at: String::new(),
            what,
        }),
        None => Ok(reading.finish()),
    }
}

/// Reads a value that is the whole output of a tool; nothing when it is something else.
pub(super) fn in_value(value: &Value, author: &Author) -> Option<Findings> {
    match format_of(value)? {
        Format::CargoEvent | Format::MypyLine | Format::Nothing | Format::Plain => None,
        format => {
            let mut reading = Reading::new(author, None);
            reading.document(format, value);
            let mut found = reading.sink.finish();
            first_of_each_result(&mut found.findings);
            Some(found)
        }
    }
}

impl Findings {
    /// Tells the results apart from those of another run, which numbers them alike.
    #[must_use]
    pub fn of_second_run(mut self) -> Self {
        let ids = self.findings.iter_mut().map(|one| &mut one.id);
        ids.filter(|id| !id.is_empty())
            .for_each(|id| id.insert_str(0, "second "));
        self
    }
}

/// Leaves of each result that names several places the first one that is still there.
pub fn first_of_each_result(findings: &mut Vec<Finding>) {
    let mut seen = BTreeSet::new();
    findings.retain_mut(|finding| {
        let result = std::mem::take(&mut finding.id);
        result.is_empty() || seen.insert(result)
    });
}

/// An output that is being read.
struct Reading<'a> {
    author: &'a Author,
    sink: Sink<'a>,
    build: Build,
    /// Lines of mypy so far.
    lines: usize,
    tool: Option<String>,
    /// Why this is not the whole output of a known tool.
    fault: Option<String>,
}

impl<'a> Reading<'a> {
    fn new(author: &'a Author, root: Option<&'a str>) -> Self {
        Self {
            author,
            sink: Sink::new(author, root),
            build: Build::default(),
            lines: 0,
            tool: None,
            fault: None,
        }
    }

    fn finish(self) -> ToolReport {
        ToolReport {
            tool: self.tool,
            looked: self.sink.looked().clone(),
            is_empty: self.sink.is_empty(),
            findings: self.sink.finish(),
        }
    }

    fn fail(&mut self, what: String) {
        self.sink.incomplete("", &what);
        self.fault.get_or_insert(what);
    }

    fn read(&mut self, output: &[u8]) {
        let text = match text_of(output) {
            Ok(text) => text,
            Err(what) => return self.fail(what),
        };
        let mut documents = 0_usize;
        for document in Documents::of(text) {
            documents += 1;
            match document {
                Err(what) => self.fail(what),
                Ok(value) => match format_of(&value) {
                    Some(Format::CargoEvent) => self.build.event(value),
                    Some(format) => self.document(format, &value),
                    None => self.fail(unknown(&value)),
                },
            }
        }
        if documents == 0 {
            let first = headline(text, 80);
            self.fail(if first.is_empty() {
                "the output is empty".to_owned()
            } else {
                format!("the output is no JSON; its first line is `{first}`")
            });
        }
        if self.build.is_cut_off() {
            self.fail("the output of cargo stops before `build-finished`".to_owned());
        }
        let build = std::mem::take(&mut self.build);
        if let Some(tool) = build.tool() {
            self.tool.get_or_insert(tool.to_owned());
        }
        build.finish(&mut self.sink);
    }

    /// Reads a whole document.
    fn document(&mut self, format: Format, value: &Value) {
        let sink = &mut self.sink;
        let items = value.as_array().map(Vec::as_slice).unwrap_or_default();
        let list = |name: &str| {
            let list = value.get(name).and_then(Value::as_array);
            list.map(Vec::as_slice).unwrap_or_default()
        };
        match format {
            Format::Sarif => sarif::read(value, sink),
            Format::Eslint => javascript::eslint(items, sink),
            Format::Ruff => python::ruff(items, sink),
            Format::Semgrep => others::semgrep(value, list("results"), sink),
            Format::Golangci => others::golangci(value, list("Issues"), sink),
            Format::MypyLine => {
                self.lines += 1;
                python::mypy(value, self.lines, sink);
            }
            Format::Pyright => python::pyright(value, list("generalDiagnostics"), sink),
            Format::Bandit => python::bandit(value, list("results"), sink),
            Format::Biome => javascript::biome(value, list("diagnostics"), sink),
            Format::Oxlint => javascript::oxlint(value, list("diagnostics"), sink),
            Format::CodeQuality => others::code_quality(items, sink),
            Format::OwnReport => others::own_report(value, self.author, sink),
            Format::Plain => sink.extend(findings_in_value(value, self.author)),
            Format::Nothing | Format::CargoEvent => {}
        }
        let tool = match format {
            Format::Sarif => text(value, "/runs/0/tool/driver/name"),
            format => format.tool(),
        };
        if self.tool.is_none() && !tool.trim().is_empty() {
            self.tool = Some(tool_name(tool));
        }
    }
}
