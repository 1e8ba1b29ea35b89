//! A review as people read it in a terminal: the gate, each finding in two lines, what to do next.
//!
//! Code, arithmetic and reasons come with the details.

mod arbitration;
mod finding;
mod rest;

use anstyle::{AnsiColor, Style};
use tribunal_core::consensus::Verdict;
use tribunal_core::review::gate::Gate;
use tribunal_core::review::report::{ReviewReport, ReviewedFinding};
use tribunal_core::scale::Severity;

use super::blocks::{Block, blocks};
use super::shown::{NAME, one_line};
use super::{Options, arbitrated, facts, next};
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
    page.verdict();
    page.head();
    page.arbitration();
    for section in sections(report, options) {
        page.heading(&format!("{} ({})", section.heading, section.findings.len()));
        for finding in section.findings {
            if options.details {
                page.finding(finding);
            } else if finding.verdict == Verdict::Rejected {
                page.rejected(finding);
            } else {
                page.brief(finding);
            }
        }
    }
    page.reviewers();
    page.coverage();
    page.fixed();
    page.suppressed();
    page.notes();
    page.next_steps();
    defused(&page.out)
}

/// Findings that mean the same for the reader, under one heading.
struct Section<'a> {
    heading: &'static str,
    /// In their order; there is at least one.
    findings: Vec<&'a ReviewedFinding>,
}

/// Returns the findings by what they mean for the gate: those that block it first.
///
/// What the arbitration tells of is told once, unless all details are asked for.
fn sections<'a>(
    report: &'a ReviewReport,
    options: &'a Options,
) -> impl Iterator<Item = Section<'a>> {
    let arbitrated = |finding: &ReviewedFinding| {
        let mut answered = report.arbitration.iter().flat_map(|one| &one.findings);
        answered.any(|one| one.id == finding.id)
    };
    let headings = ["Blocking", "Disputed", "Not blocking", "Rejected"];
    let heading_of = |finding: &ReviewedFinding| match finding.verdict {
        Verdict::Accepted if facts::fails(report, finding) => "Blocking",
        Verdict::Accepted => "Not blocking",
        Verdict::Disputed => "Disputed",
        Verdict::Rejected => "Rejected",
    };
    let sections = headings.into_iter().map(move |heading| {
        let of_heading = |one: &&ReviewedFinding| {
            heading_of(one) == heading && (options.details || !arbitrated(one))
        };
        Section {
            heading,
            findings: report.findings.iter().filter(of_heading).collect(),
        }
    });
    sections.filter(|section| !section.findings.is_empty())
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

    /// Writes what the review comes to, before everything else.
    fn verdict(&mut self) {
        let colour = match self.report.gate {
            Gate::Pass => AnsiColor::Green,
            Gate::Fail { .. } => AnsiColor::Red,
            Gate::Inconclusive { .. } => AnsiColor::Yellow,
        };
        let style = colour.on_default().bold();
        let word = facts::verdict(self.report);
        let first = format!("{style}{word}{style:#}: ");
        let rest = " ".repeat(word.len() + 2);
        let ids: Vec<String> = self
            .report
            .findings
            .iter()
            .filter(|finding| match self.report.gate {
                Gate::Inconclusive { .. } => facts::is_undecided(self.report, finding),
                Gate::Pass | Gate::Fail { .. } => facts::fails(self.report, finding),
            })
            .map(|finding| one_line(&finding.id, NAME))
            .collect();
        let mut words = facts::gate(self.report);
        if !ids.is_empty() {
            let more = match ids.len().saturating_sub(NAMED) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            let named: Vec<String> = ids.into_iter().take(NAMED).collect();
            let named = format!(" ({}{more})", named.join(", "));
            // What is disputed is the first of several causes.
            let end = words.find("; ").unwrap_or(words.len());
            words.insert_str(end, &named);
        }
        fill(&mut self.out, &words, self.options.width, &first, &rest);
    }

    /// Writes which commands lead on from a gate that did not pass.
    fn next_steps(&mut self) {
        let after_arbitration = arbitrated::next_steps(self.report);
        let others = match after_arbitration.is_empty() {
            true => next::steps(self.report),
            false => Vec::new(),
        };
        if after_arbitration.is_empty() && others.is_empty() {
            return;
        }
        self.heading("What next");
        for step in after_arbitration {
            self.line(&format!("{}:", step.says), "  - ");
            // A command stays in one line, so that it can be copied.
            self.out.push_str(&format!("      {}\n", step.command));
        }
        for step in others {
            self.line(&step, "  - ");
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
