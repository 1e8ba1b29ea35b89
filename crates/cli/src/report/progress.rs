//! Live progress on a terminal: one line per running agent, and a total.

use std::collections::BTreeMap;
use std::sync::LazyLock;
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use tribunal_core::case::CaseKind;
use tribunal_core::event::{Event, EventKind, RunResult};
use tribunal_core::ids::RunId;
use tribunal_core::money::{Cost, Spend, Usage};
use tribunal_core::text::for_terminal;

use super::board::{Board, Told};
use super::columns::cut;
use super::wrap::{stderr_width, wrapped};
use super::{Lines, Reporter, words};

/// The one place on the screen where progress is drawn.
static BARS: LazyLock<MultiProgress> = LazyLock::new(MultiProgress::new);

/// Does something with the screen while no progress is drawn on it.
pub(crate) fn without_progress<T>(work: impl FnOnce() -> T) -> T {
    BARS.suspend(work)
}

/// Shows a line per running agent below the sentences about what has happened.
pub(crate) struct LiveProgress {
    bars: MultiProgress,
    running: BTreeMap<RunId, ProgressBar>,
    board: Board,
    total: Option<ProgressBar>,
    spend: Spend,
    lines: Lines<Above>,
    /// What kind of case was opened first.
    kind: Option<CaseKind>,
}

impl LiveProgress {
    /// Returns a reporter that draws on standard error.
    pub(crate) fn new() -> Self {
        let bars = BARS.clone();
        let lines = Lines::live(Above {
            bars: bars.clone(),
            line: Vec::new(),
        });
        Self {
            bars,
            running: BTreeMap::new(),
            board: Board::default(),
            total: None,
            spend: Spend::default(),
            lines,
            kind: None,
        }
    }

    /// Tells whether the lines say themselves what an answer came to. In all cases but an `ask`,
    /// what was read in an answer follows, and the figures stand in the total and in the report.
    fn tells_answers(&self) -> bool {
        self.kind.is_some_and(|kind| kind != CaseKind::Ask)
    }

    fn start(&mut self, run: &RunId, label: String) {
        let style = ProgressStyle::with_template("{spinner} {prefix}  {elapsed}  {wide_msg}")
            .unwrap_or_else(|_| ProgressStyle::default_spinner());
        let bar = self.add(
            ProgressBar::new_spinner()
                .with_style(style)
                // Half of the screen is for what it is doing and what that has taken.
                .with_prefix(cut(&label, stderr_width() / 2)),
        );
        bar.set_message("waiting");
        bar.enable_steady_tick(Duration::from_millis(120));
        self.running.insert(run.clone(), bar);
        self.show_total();
    }

    /// Adds a line above the total, which stays the last.
    fn add(&self, bar: ProgressBar) -> ProgressBar {
        match &self.total {
            Some(total) => self.bars.insert_before(total, bar),
            None => self.bars.add(bar),
        }
    }

    /// Shows the total once there is more than one run to add up.
    fn show_total(&mut self) {
        let at_work = self.running.len() + self.board.at_work();
        if at_work < 2 && self.spend.runs == 0 {
            return;
        }
        let total = self.total.get_or_insert_with(|| {
            let style = ProgressStyle::with_template("  {msg}")
                .unwrap_or_else(|_| ProgressStyle::default_spinner());
            self.bars.add(ProgressBar::new_spinner().with_style(style))
        });
        total.set_message(format!(
            "{at_work} at work, {} ended, {}, cost: {}",
            self.spend.runs,
            words::tokens(self.spend.usage),
            words::spend(&self.spend)
        ));
    }
}

impl Reporter for LiveProgress {
    fn event(&mut self, event: &Event) {
        match self.board.tell(&event.kind) {
            Told::Nothing => {}
            Told::Shown => {
                if let EventKind::RunFinished { usage, cost, .. } = &event.kind {
                    self.spend.count(*usage, *cost);
                }
                self.show_total();
                return self.lines.know(event);
            }
            Told::Lines(lines) => {
                for line in lines {
                    let shown = self.add(line);
                    shown.tick();
                }
            }
        }
        match &event.kind {
            EventKind::RunStarted {
                run,
                agent,
                role,
                attempt,
                step,
                ..
            } => {
                let again = if *attempt > 1 {
                    format!(" #{attempt}")
                } else {
                    String::new()
                };
                let task = match self.lines.held.title(&event.case) {
                    Some(title) => format!("{}: ", for_terminal(title)),
                    None => String::new(),
                };
                self.start(run, format!("{agent} ({role}): {task}{step}{again}"));
                return self.lines.know(event);
            }
            EventKind::RunProgressed {
                run,
                activity,
                usage,
                cost,
                ..
            } => {
                if let Some(bar) = self.running.get(run) {
                    bar.set_message(at_work(activity, *usage, *cost));
                }
            }
            EventKind::RunFinished {
                run,
                result,
                usage,
                cost,
                ..
            } => {
                self.spend.count(*usage, *cost);
                if let Some(bar) = self.running.remove(run) {
                    bar.finish_and_clear();
                }
                self.show_total();
                if matches!(result, RunResult::Answered { .. }) && self.tells_answers() {
                    return;
                }
            }
            EventKind::CaseOpened { kind, .. } => {
                self.kind.get_or_insert(*kind);
            }
            _ => {}
        }
        self.lines.event(event);
    }

    fn finish(&mut self) {
        // The result begins apart from the story of how it came about.
        let _ = self.bars.println("");
        self.board.clear();
        for bar in std::mem::take(&mut self.running).into_values() {
            bar.finish_and_clear();
        }
        if let Some(total) = self.total.take() {
            total.finish_and_clear();
        }
    }
}

/// Returns what an agent is doing and what that has taken, as far as anybody knows.
fn at_work(activity: &str, usage: Usage, cost: Cost) -> String {
    let activity = for_terminal(activity).replace('\n', " ");
    match usage.total() {
        0 => activity,
        _ => format!(
            "{activity}  {}, {}",
            words::tokens(usage),
            words::cost(cost)
        ),
    }
}

/// Writes whole lines above the progress, so that neither spoils the other.
struct Above {
    bars: MultiProgress,
    line: Vec<u8>,
}

impl std::io::Write for Above {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        for &byte in bytes {
            if byte == b'\n' {
                let line = wrapped(&String::from_utf8_lossy(&self.line), stderr_width());
                self.bars.println(line.trim_end())?;
                self.line.clear();
            } else {
                self.line.push(byte);
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use tribunal_core::money::MicroUsd;

    use super::*;

    #[test]
    fn a_line_tells_tokens_and_cost_as_far_as_they_are_known() {
        let usage = Usage {
            input: 1_200,
            output: 85,
            ..Usage::default()
        };
        for (usage, cost, expected) in [
            (Usage::default(), Cost::Unknown, "writing"),
            (usage, Cost::Unknown, "writing  1,285 tokens, cost unknown"),
            (
                usage,
                Cost::Known(MicroUsd(7_100)),
                "writing  1,285 tokens, $0.0071",
            ),
        ] {
            assert_eq!(at_work("writing", usage, cost), expected);
        }
        assert_eq!(
            at_work("\u{1b}[2Ja\nb", usage, Cost::Unknown),
            "\u{fffd}[2Ja b  1,285 tokens, cost unknown"
        );
    }
}
