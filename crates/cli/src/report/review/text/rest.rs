//! What follows the findings in a terminal: who reviewed, what was seen, what else to know.

use anstyle::{AnsiColor, Style};
use tribunal_core::review::report::{ReviewerState, ReviewerSummary};
use unicode_width::UnicodeWidthStr as _;

use super::super::shown::{NAME, PROSE, one_line};
use super::{NAMED, Page, facts};
use crate::report::words;

impl Page<'_> {
    /// Writes who reviewed and what it took.
    pub(super) fn reviewers(&mut self) {
        let reviewers = &self.report.reviewers;
        let is_dull = facts::is_by_rules_only(self.report) || self.report.needed_nobody().is_some();
        if !self.options.details && is_dull && are_quiet(reviewers) {
            return;
        }
        self.heading("Reviewers");
        let rows: Vec<[String; 6]> = reviewers.iter().map(row).collect();
        let mut widths = [0; 6];
        for row in &rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = cell.width().max(*width);
            }
        }
        for (row, reviewer) in rows.iter().zip(reviewers) {
            let mut line = String::from("  ");
            for (column, (cell, width)) in row.iter().zip(widths).enumerate() {
                let blank = " ".repeat(width - cell.width());
                // Numbers are compared, so they end in the same column.
                line.push_str(&match column {
                    0 | 1 => format!("{cell}{blank}  "),
                    2 => format!("{}{blank}  ", state_styled(reviewer)),
                    _ => format!("{blank}{cell}  "),
                });
            }
            self.out.push_str(line.trim_end());
            self.out.push('\n');
            let (_, why) = facts::state(reviewer);
            if !why.is_empty() {
                self.line(&why, "      ");
            }
            for problem in &reviewer.problems {
                self.line(&one_line(problem, PROSE), "      ");
            }
        }
        if reviewers.is_empty() {
            self.line("Nobody was asked.", "  ");
        } else {
            let (tokens, cost) = (
                words::tokens(self.report.usage),
                words::cost(self.report.cost),
            );
            self.line(&format!("In all: {tokens}, {cost}."), "  ");
        }
    }

    /// Writes what was seen and what was not.
    pub(super) fn coverage(&mut self) {
        let coverage = &self.report.coverage;
        if coverage.left_out.is_empty() && !self.options.details {
            return;
        }
        self.heading("Coverage");
        let seen = facts::count(coverage.reviewed.len(), "file");
        let left = facts::count(coverage.left_out.len(), "file");
        if coverage.left_out.is_empty() {
            self.line(&format!("{seen} reviewed, none left out."), "  ");
            self.withheld();
            return;
        }
        self.line(&format!("{seen} reviewed, {left} left out:"), "  ");
        let most = if self.options.details {
            usize::MAX
        } else {
            NAMED
        };
        let (listed, more) = facts::left_out(coverage, most);
        for (why, files) in listed {
            let files: Vec<String> = files.into_iter().map(facts::left_out_file).collect();
            self.line(&format!("{why}: {}", files.join(", ")), "    ");
        }
        if more > 0 {
            self.line(&format!("and {more} more"), "    ");
        }
        self.withheld();
    }

    /// Writes what agents that look around were not given, for those who ask for details.
    fn withheld(&mut self) {
        if let Some(told) = facts::withheld(&self.report.coverage)
            && self.options.details
        {
            self.line(&told, "  ");
        }
    }

    /// Writes which earlier findings are gone.
    pub(super) fn fixed(&mut self) {
        if self.report.fixed.is_empty() {
            return;
        }
        self.heading(&format!("Fixed ({})", self.report.fixed.len()));
        for fixed in &self.report.fixed {
            let line = format!(
                "{}  {}  {}",
                one_line(&fixed.id, NAME),
                one_line(&fixed.location.to_string(), NAME),
                one_line(&fixed.title, NAME)
            );
            self.line(&line, "  ");
        }
    }

    /// Writes what does not count because a comment in the code suppresses it.
    pub(super) fn suppressed(&mut self) {
        let suppressed = &self.report.suppressed;
        if suppressed.is_empty() {
            return;
        }
        self.heading(&format!("Suppressed: {}", suppressed.len()));
        for one in suppressed {
            let line = one_line(&facts::suppressed(one), PROSE);
            self.line(&line, "  - ");
        }
    }

    /// Writes what else to know.
    pub(super) fn notes(&mut self) {
        if self.report.notes.is_empty() {
            return;
        }
        self.heading("Notes");
        for note in &self.report.notes {
            self.line(&one_line(note, PROSE), "  - ");
        }
    }
}

/// Tells whether there is nothing to say about any reviewer but that it answered.
fn are_quiet(reviewers: &[ReviewerSummary]) -> bool {
    let missing = |one: &ReviewerSummary| matches!(one.state, ReviewerState::Missing { .. });
    let loud = |one: &ReviewerSummary| missing(one) || !one.problems.is_empty();
    !reviewers.iter().any(loud)
}

fn row(reviewer: &ReviewerSummary) -> [String; 6] {
    let [time, tokens, cost] = facts::effort(reviewer);
    [
        one_line(&reviewer.name, NAME),
        one_line(&reviewer.family, NAME),
        facts::state(reviewer).0.to_owned(),
        format!("{} found", reviewer.findings),
        format!("{tokens}, {cost}"),
        time,
    ]
}

fn state_styled(reviewer: &ReviewerSummary) -> String {
    let style = match reviewer.state {
        ReviewerState::Answered => AnsiColor::Green.on_default(),
        ReviewerState::Missing { .. } => AnsiColor::Yellow.on_default(),
        ReviewerState::Idle => Style::new().dimmed(),
    };
    format!("{style}{}{style:#}", facts::state(reviewer).0)
}
