//! What came of putting the findings to a coder, in a terminal.

use anstyle::{AnsiColor, Style};
use tribunal_core::review::arbitration::{Arbitration, FindingState};

use super::super::arbitrated::{stories, summary};
use super::Page;

impl Page<'_> {
    /// Writes what became of each finding, where the work is and why it ended.
    pub(super) fn arbitration(&mut self) {
        let report = self.report;
        let Some(arbitration) = &report.arbitration else {
            return;
        };
        self.heading("Arbitration");
        for (story, style) in stories(arbitration).zip(styles(arbitration)) {
            let bold = Style::new().bold();
            self.line(
                &format!(
                    "{bold}{}{bold:#}  {}  {}",
                    story.id, story.place, story.title
                ),
                "  ",
            );
            self.line(&format!("{style}{}{style:#}", story.state), "      ");
            for (who, says) in story.steps {
                self.line(&format!("{who}: {says}"), "      ");
            }
        }
        for line in summary(report) {
            self.line(&format!("{}.", super::super::facts::sentence(&line)), "  ");
        }
    }
}

fn styles(arbitration: &Arbitration) -> impl Iterator<Item = Style> + '_ {
    arbitration.findings.iter().map(|finding| {
        let colour = match finding.state {
            FindingState::Fixed | FindingState::Dismissed | FindingState::Discarded => {
                AnsiColor::Green
            }
            FindingState::Open { .. } => AnsiColor::Red,
            FindingState::ToDo
            | FindingState::Claimed
            | FindingState::Contested
            | FindingState::AwaitingRuling
            | FindingState::Logged => AnsiColor::Yellow,
        };
        colour.on_default()
    })
}
