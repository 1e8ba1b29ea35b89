//! One finding in a terminal.

use anstyle::{AnsiColor, Style};
use tribunal_core::consensus::Verdict;
use tribunal_core::review::report::ReviewedFinding;
use tribunal_core::text::truncate_chars;
use unicode_width::UnicodeWidthStr as _;

use super::super::frame;
use super::super::said::said_of;
use super::super::shown::{NAME, TITLE, one_line};
use super::{Page, facts, severity_style};
use crate::report::wrap::fill;

/// Where the words of a field begin.
const FIELD: usize = 14;
/// Where the second line of a finding in brief begins.
const BRIEF: usize = 10;
/// How many lines who says so and what to do may take.
const BRIEF_LINES: usize = 2;

impl Page<'_> {
    /// Writes a finding with all that is known of it.
    pub(super) fn finding(&mut self, finding: &ReviewedFinding) {
        self.out.push('\n');
        self.header(finding);
        self.frame(finding);
        self.text(&finding.description, "  ", "  ");
        self.field("Trigger", &finding.trigger);
        self.field("Fix", &finding.suggestion);
        self.field("Said by", &facts::voices(finding));
        if self.options.details {
            self.statements(finding);
        }
        for said in said_of(finding) {
            self.field(said.name, &said.sentence());
        }
        for doubt in facts::doubts(finding) {
            self.field("Doubt", &doubt);
        }
        self.field("Confidence", &facts::calculation(&finding.trace));
        let why = match finding.verdict {
            Verdict::Accepted => "Why",
            Verdict::Disputed => "Open",
            Verdict::Rejected => "Rejected",
        };
        self.field(why, &reasons(finding));
        if finding.verdict != Verdict::Accepted {
            self.field("Settled by", &finding.reversal);
        }
        self.field("Standing", &facts::standing(self.report, finding));
    }

    /// Writes a finding in two lines: label, place and claim; who says so and what to do.
    pub(super) fn brief(&mut self, finding: &ReviewedFinding) {
        let (style, bold) = (severity_style(finding.severity), Style::new().bold());
        let label = finding.label.as_str();
        let place = one_line(&finding.location.to_string(), NAME);
        let first = format!("{style}{label:<8}{style:#}  {bold}{place}{bold:#}  ");
        let title = one_line(&finding.title, TITLE);
        let indent = " ".repeat(BRIEF);
        fill(&mut self.out, &title, self.options.width, &first, &indent);
        let room = (self.options.width.saturating_sub(BRIEF)).max(40) * BRIEF_LINES;
        let words = facts::in_brief(finding);
        self.line(&truncate_chars(&words, room), &indent);
    }

    /// Writes a rejected finding in a few lines.
    pub(super) fn rejected(&mut self, finding: &ReviewedFinding) {
        let dim = Style::new().dimmed();
        let first = format!(
            "  {dim}{} {}  {}  {}  ",
            facts::labelled_severity(finding),
            finding.confidence,
            one_line(&finding.id, NAME),
            one_line(&finding.location.to_string(), NAME),
        );
        let title = format!("{}{dim:#}", one_line(&finding.title, TITLE));
        fill(&mut self.out, &title, self.options.width, &first, "      ");
        let why = reasons(finding);
        if !why.is_empty() {
            self.line(&format!("{dim}{why}{dim:#}"), "      ");
        }
    }

    fn header(&mut self, finding: &ReviewedFinding) {
        let (style, bold) = (severity_style(finding.severity), Style::new().bold());
        let mark = if facts::fails(self.report, finding) {
            "! "
        } else {
            ""
        };
        let (id, place) = (
            one_line(&finding.id, NAME),
            one_line(&finding.location.to_string(), NAME),
        );
        let first = format!(
            "{style}{mark}{} {}{style:#}  {id}  {bold}{place}{bold:#}  ",
            facts::labelled_severity(finding),
            finding.confidence
        );
        let title = one_line(&finding.title, TITLE);
        fill(&mut self.out, &title, self.options.width, &first, "    ");
    }

    fn frame(&mut self, finding: &ReviewedFinding) {
        let lines = frame::lines(&finding.frame);
        let marked = lines.iter().filter(|line| line.marked).count();
        let (dim, red) = (Style::new().dimmed(), AnsiColor::Red.on_default());
        for line in &lines {
            let mark = if line.marked { '>' } else { ' ' };
            let room = self.options.width.saturating_sub(line.number.len() + 7);
            let code = truncate_chars(&line.text, room);
            let bar = if code.is_empty() { "│" } else { "│ " };
            self.out.push_str(&format!(
                "  {red}{mark}{red:#} {dim}{} {bar}{dim:#}{code}\n",
                line.number
            ));
            if line.marked && marked == 1 && !line.text.is_empty() {
                let blank = " ".repeat(line.number.len());
                let (indent, carets) = carets(&code);
                self.out.push_str(&format!(
                    "    {dim}{blank} │{dim:#} {indent}{red}{carets}{red:#}\n"
                ));
            }
        }
    }

    /// Writes what each reviewer said in its own words.
    fn statements(&mut self, finding: &ReviewedFinding) {
        for voice in finding.voices.iter().skip(1) {
            let said = format!(
                "{}: {}",
                one_line(&voice.reviewer, NAME),
                (if voice.description.is_empty() {
                    &voice.title
                } else {
                    &voice.description
                })
            );
            self.field("Also", &said);
        }
    }

    /// Writes a field unless it is empty.
    pub(super) fn field(&mut self, name: &str, words: &str) {
        let dim = Style::new().dimmed();
        let first = format!("  {dim}{name:<width$}{dim:#}", width = FIELD - 2);
        let rest = " ".repeat(FIELD);
        self.text(words, &first, &rest);
    }
}

/// Returns the blanks before a line of code and the marks under it.
fn carets(line: &str) -> (String, String) {
    let code = line.trim_start();
    let indent = line.width() - code.width();
    (" ".repeat(indent), "^".repeat(code.width()))
}

fn reasons(finding: &ReviewedFinding) -> String {
    let reasons: Vec<String> = finding
        .reasons
        .iter()
        .map(|reason| one_line(reason, super::super::shown::PROSE))
        .collect();
    reasons.join(" ")
}
