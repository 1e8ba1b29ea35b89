//! Printers of a review: pure functions from its report to one format each.
//!
//! Whatever a report says comes from models and repositories, so every printer passes it through
//! [`shown`] and the escapes of its format before it writes.

mod arbitrated;
mod blocks;
mod facts;
mod frame;
mod github;
mod html;
mod json;
mod junit;
pub(crate) mod markdown;
mod next;
mod said;
mod sarif;
mod shown;
mod text;

#[cfg(test)]
mod tests;

pub(crate) use arbitrated::told_of;
pub(crate) use facts::{labelled_severity, rule_of};
pub(crate) use frame::plain as plain_frame;
pub(crate) use github::review_json;
pub(crate) use json::schema;
pub(crate) use shown::shown as legible;

use tribunal_core::review::report::ReviewReport;

use crate::report::wrap::stdout_width;

/// How a review is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ReviewFormat {
    /// For people
    Text,
    /// The whole report as one JSON object
    Json,
    /// The events as JSON lines, while they happen, and the report as the last line
    Jsonl,
    /// For comments on pull requests and step summaries
    Markdown,
    /// A page that needs nothing else
    Html,
    /// For code scanning, SARIF 2.1.0
    Sarif,
    /// For test reports of CI servers
    Junit,
    /// Annotations of a GitHub workflow
    Github,
}

/// What printing depends on besides the report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Options {
    /// How many columns a line of text may have.
    pub(crate) width: usize,
    /// Whether everything is shown that is else folded into one line or left out.
    pub(crate) details: bool,
    /// Whether text carries the escape sequences of colours, for a stream that knows to drop them.
    pub(crate) styled: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            width: 100,
            details: false,
            styled: false,
        }
    }
}

impl Options {
    /// Returns what suits standard output: the width of the terminal, and colours.
    pub(crate) fn for_stdout(details: bool) -> Self {
        Self {
            width: stdout_width(),
            details,
            styled: true,
        }
    }
}

/// Returns `report` in `format`, with a newline at the end.
pub(crate) fn render(report: &ReviewReport, format: ReviewFormat, options: &Options) -> String {
    match format {
        ReviewFormat::Text if options.styled => text::render(report, options),
        ReviewFormat::Text => {
            anstream::adapter::strip_str(&text::render(report, options)).to_string()
        }
        ReviewFormat::Json => json::render(report),
        ReviewFormat::Jsonl => json::line(report),
        ReviewFormat::Markdown => markdown::render(report, options),
        ReviewFormat::Html => html::render(report),
        ReviewFormat::Sarif => sarif::render(report, options),
        ReviewFormat::Junit => junit::render(report),
        ReviewFormat::Github => github::annotations(report),
    }
}
