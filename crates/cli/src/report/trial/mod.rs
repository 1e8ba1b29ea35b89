//! A trial in the forms in which people and programs want it.

mod html;
mod markdown;
mod text;

use tribunal_core::trial::report::{TrialReport, report_schema};

use crate::report::wrap::{stdout_width, wrapped};

pub(crate) use markdown::issue;

/// How a trial is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum TrialFormat {
    /// For people
    Text,
    /// One JSON object
    Json,
    /// The events as JSON lines, while they happen
    Jsonl,
    /// A report in Markdown
    Markdown,
    /// One page that needs nothing else
    Html,
}

/// Returns the report in this form; nothing of events.
pub(crate) fn render(report: &TrialReport, format: TrialFormat, details: bool) -> String {
    match format {
        TrialFormat::Text => wrapped(&text::render(report, details), stdout_width()),
        TrialFormat::Json => {
            let json = serde_json::to_string_pretty(report);
            json.map_or_else(|_| String::new(), |json| json + "\n")
        }
        TrialFormat::Jsonl => String::new(),
        TrialFormat::Markdown => markdown::render(report),
        TrialFormat::Html => html::render(report),
    }
}

/// Returns the JSON schema of the report.
pub(crate) fn schema() -> serde_json::Value {
    report_schema().to_value()
}

#[cfg(test)]
mod tests;
