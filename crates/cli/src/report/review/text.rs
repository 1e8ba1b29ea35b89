//! A review as people read it in a terminal: what stands, what is open, who said so, the gate.

mod arbitration;
mod finding;
mod rest;

use anstyle::{AnsiColor, Style};
use tribunal_core::consensus::Verdict;
use tribunal_core::review::gate::Gate;
use tribunal_core::review::report::ReviewReport;
use tribunal_core::scale::Severity;

use super::blocks::{Block, blocks};
use super::shown::{NAME, one_line};
use super::{Options, arbitrated, facts};
use crate::report::wrap::{defused, fill, plain_width};

/// How many files or findings are named in a row.
const NAMED: usize = 10;

/// Returns the whole review, with the escape sequences of colours.
pub(super) fn render(report: &ReviewReport, options: &Options) -> String {
    let mut page = Page {
        out: String::new(),
        report,
        options,
    };
    page.head();
    for list in facts::lists(report) {
        page.heading(&format!("{} ({})", list.heading, list.findings.len()));
        for finding in list.findings {
            if list.verdict == Verdict::Rejected && !options.details {
                page.rejected(finding);
            } else {
                page.finding(finding);
            }
        }
    }
    page.arbitration();
    page.reviewers();
    page.coverage();
    page.fixed();
    page.notes();
    page.gate();
    defused(&page.out)
}

/// A page on which one part is written after the other.
struct Page<'a> {
    out: String,
    report: &'a ReviewReport,
    options: &'a Options,
}

impl Page<'_> {
    fn head(&mut self) {
        let report = self.report;
        let title = one_line(&report.change.title, NAME);
        let bold = Style::new().bold();
        self.line(&format!("{bold}Review of {title}{bold:#}"), "");
        self.line(&facts::tally(report), "");
        let dim = Style::new().dimmed();
        let (case, policy) = (&report.case, one_line(&report.policy, NAME));
        self.line(&format!("{dim}Case {case}, policy {policy}{dim:#}"), "");
    }

    fn gate(&mut self) {
        let colour = match self.report.gate {
            Gate::Pass => AnsiColor::Green,
            Gate::Fail { .. } => AnsiColor::Red,
            Gate::Inconclusive { .. } => AnsiColor::Yellow,
        };
        let style = colour.on_default().bold();
        let word = self.report.gate.as_str();
        let first = format!("{style}{word}{style:#}: ");
        let rest = " ".repeat(word.len() + 2);
        let ids: Vec<String> = self
            .report
            .findings
            .iter()
            .filter(|finding| facts::fails(self.report, finding))
            .map(|finding| one_line(&finding.id, NAME))
            .collect();
        let mut words = facts::gate(self.report);
        if !ids.is_empty() {
            let more = match ids.len().saturating_sub(NAMED) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            let named: Vec<String> = ids.into_iter().take(NAMED).collect();
            words = format!("{words} ({}{more})", named.join(", "));
        }
        self.out.push('\n');
        fill(&mut self.out, &words, self.options.width, &first, &rest);
        for step in arbitrated::next_steps(self.report) {
            self.line(&format!("{}:", step.says), "");
            // A command stays in one line, so that it can be copied.
            self.out.push_str(&format!("  {}\n", step.command));
        }
    }

    fn heading(&mut self, words: &str) {
        let bold = Style::new().bold().underline();
        self.out.push_str(&format!("\n{bold}{words}{bold:#}\n"));
    }

    /// Writes a longer text: paragraphs in lines of the width, code as it is.
    fn text(&mut self, given: &str, first: &str, rest: &str) {
        let mut indent = first;
        for (index, block) in blocks(given).iter().enumerate() {
            match block {
                Block::Prose(prose) => {
                    if index > 0 {
                        self.out.push('\n');
                    }
                    fill(&mut self.out, prose, self.options.width, indent, rest);
                }
                Block::Code(code) => {
                    if index == 0 {
                        self.out.push_str(&format!("{}\n", indent.trim_end()));
                    }
                    for line in code.lines() {
                        let line = format!("{rest}    {line}");
                        self.out.push_str(&format!("{}\n", line.trim_end()));
                    }
                }
            }
            indent = rest;
        }
    }

    /// Writes words that are shown already after an indent, which later lines get as blanks.
    fn line(&mut self, words: &str, indent: &str) {
        let rest = " ".repeat(plain_width(indent));
        fill(&mut self.out, words, self.options.width, indent, &rest);
    }
}

/// Returns how the word of a severity looks.
fn severity_style(severity: Severity) -> Style {
    match severity {
        Severity::Critical => AnsiColor::Red.on_default().bold(),
        Severity::High => AnsiColor::Red.on_default(),
        Severity::Medium => AnsiColor::Yellow.on_default(),
        Severity::Low => AnsiColor::Cyan.on_default(),
    }
}
