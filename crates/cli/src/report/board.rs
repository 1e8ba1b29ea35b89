//! The board of a trial on a terminal: a line for each contestant and each judge, until the end.

use std::collections::BTreeMap;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use tribunal_core::event::{EventKind, TrialEvent};
use tribunal_core::ids::{AgentName, RunId};
use tribunal_core::money::Spend;
use tribunal_core::text::for_terminal;

use super::{columns, words};

/// Columns of a name, so that the lines stand below each other.
const NAME: usize = 24;

/// Columns of what somebody is doing; with name, time, tokens and cost that fits into 80.
const DOING: usize = 22;

/// The lines of a trial.
#[derive(Default)]
pub(super) struct Board {
    lines: BTreeMap<String, Line>,
    runs: BTreeMap<RunId, String>,
}

/// The line of a contestant or a judge.
struct Line {
    bar: ProgressBar,
    spend: Spend,
}

/// What an event means for the board.
pub(super) enum Told {
    /// Nothing.
    Nothing,
    /// The board shows it; nobody else needs to.
    Shown,
    /// These lines are to be added.
    Lines(Vec<ProgressBar>),
}

impl Board {
    /// Takes note of an event.
    pub(super) fn tell(&mut self, event: &EventKind) -> Told {
        match event {
            EventKind::Trial(event) => self.tell_trial(event),
            EventKind::RunStarted { run, step, .. } => {
                let Some(who) = whose(step.as_str()).filter(|who| self.lines.contains_key(who))
                else {
                    return Told::Nothing;
                };
                self.runs.insert(run.clone(), who);
                Told::Shown
            }
            EventKind::RunProgressed {
                run,
                activity,
                usage,
                ..
            } => {
                let Some(line) = self.runs.get(run).and_then(|who| self.lines.get(who)) else {
                    return Told::Nothing;
                };
                let mut spend = line.spend;
                spend.usage += *usage;
                line.say(activity, &spend);
                Told::Shown
            }
            EventKind::RunFinished {
                run, usage, cost, ..
            } => {
                let Some(who) = self.runs.remove(run) else {
                    return Told::Nothing;
                };
                if let Some(line) = self.lines.get_mut(&who) {
                    line.spend.count(*usage, *cost);
                    line.say("answered", &line.spend);
                }
                Told::Shown
            }
            _ => Told::Nothing,
        }
    }

    /// Returns how many runs are under way that the board shows.
    pub(super) fn at_work(&self) -> usize {
        self.runs.len()
    }

    /// Takes the lines away.
    pub(super) fn clear(&mut self) {
        for line in std::mem::take(&mut self.lines).into_values() {
            line.bar.finish_and_clear();
        }
    }

    fn tell_trial(&mut self, event: &TrialEvent) -> Told {
        match event {
            TrialEvent::ContestantsDesigned { contestants, .. } => {
                let new = contestants
                    .iter()
                    .map(|one| self.add(format!("contend {}", one.id), &one.name, &one.agent));
                Told::Lines(new.collect())
            }
            TrialEvent::PanelDesigned { panel, .. } => {
                let new = panel
                    .judges
                    .iter()
                    .map(|one| self.add(format!("judge {}", one.id), &one.name, &one.agent));
                Told::Lines(new.collect())
            }
            TrialEvent::ContestantStarted { contestant, .. } => {
                self.begin(&format!("contend {contestant}"), "answers")
            }
            TrialEvent::JudgeStarted { judge, .. } => {
                self.begin(&format!("judge {judge}"), "judges")
            }
            TrialEvent::ContestantFinished {
                contestant, chars, ..
            } => self.end(
                &format!("contend {contestant}"),
                &format!("✓ {chars} characters"),
            ),
            TrialEvent::JudgeFinished { judge, scores, .. } => {
                let best = scores.iter().max_by_key(|(_, score)| **score);
                let best = best.map_or_else(String::new, |(id, score)| format!("✓ {score} {id}"));
                self.end(&format!("judge {judge}"), &best)
            }
            TrialEvent::ContestantFailed {
                contestant, why, ..
            } => {
                self.end(&format!("contend {contestant}"), &format!("✗ {why}"));
                Told::Nothing
            }
            TrialEvent::JudgeFailed { judge, why, .. } => {
                self.end(&format!("judge {judge}"), &format!("✗ {why}"));
                Told::Nothing
            }
            TrialEvent::TrialOpened { .. }
            | TrialEvent::ArbiterStarted { .. }
            | TrialEvent::JudgingStarted { .. }
            | TrialEvent::VerdictReached { .. }
            | TrialEvent::TrialFailed { .. }
            | TrialEvent::DecreeIssued { .. }
            | TrialEvent::HindsightStated { .. } => Told::Nothing,
        }
    }

    fn add(&mut self, who: String, name: &str, agent: &AgentName) -> ProgressBar {
        let label = match name == agent.as_str() {
            true => name.to_owned(),
            false => format!("{name} ({agent})"),
        };
        // It is drawn only once it is among the others, so nothing is set on it before.
        let bar = ProgressBar::new_spinner()
            .with_style(style("{spinner} {prefix}  {elapsed:>4}  {msg}"))
            .with_prefix(fitted(&label, NAME))
            .with_message("waits");
        let line = Line {
            bar: bar.clone(),
            spend: Spend::default(),
        };
        self.lines.insert(who, line);
        bar
    }

    fn begin(&self, who: &str, doing: &str) -> Told {
        let Some(line) = self.lines.get(who) else {
            return Told::Nothing;
        };
        line.bar.reset_elapsed();
        line.bar.enable_steady_tick(Duration::from_millis(120));
        line.say(doing, &line.spend);
        Told::Shown
    }

    /// Lets a line stand as it is.
    fn end(&self, who: &str, what: &str) -> Told {
        let Some(line) = self.lines.get(who) else {
            return Told::Nothing;
        };
        // A finished bar would scroll away with the sentences above; this one only stands still.
        line.bar.disable_steady_tick();
        let took = format!("{}s", line.bar.elapsed().as_secs());
        let still = format!("  {{prefix}}  {took:>4}  {{msg}}");
        line.bar.set_style(style(&still));
        line.say(what, &line.spend);
        Told::Shown
    }
}

impl Line {
    fn say(&self, doing: &str, spend: &Spend) {
        let doing = for_terminal(doing).replace('\n', " ");
        let doing = fitted(&doing, DOING);
        let tokens = words::tokens(spend.usage);
        let cost = words::spend(spend);
        self.bar
            .set_message(format!("{doing}  {tokens}, {cost}").trim_end().to_owned());
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_spinner())
}

/// Returns whose line a step belongs to: asking again and the reversed order are no lines.
fn whose(step: &str) -> Option<String> {
    let mut words = step.split(' ');
    match (words.next()?, words.next()?) {
        (what @ ("contend" | "judge"), id) => Some(format!("{what} {id}")),
        _ => None,
    }
}

/// Returns `text` in exactly so many columns.
fn fitted(text: &str, columns: usize) -> String {
    columns::fitted(&for_terminal(text), columns)
}
