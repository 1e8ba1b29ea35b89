//! The stall rule: what came to nothing twice in a row is not done a third time.
//!
//! Nobody decides here. The way out follows from what is on record: another coder, the review, a
//! question to a person, or the task is left for later.

use std::collections::BTreeMap;

use tribunal_core::arbiter::{Execution, ExecutionResult, Work};
use tribunal_core::event::RunResult;
use tribunal_core::ids::AgentName;
use tribunal_core::task::Task;

use super::cast::Cast;
use super::progress::Progress;
use crate::Engine;
use crate::case::CaseError;

/// So often something may come to nothing in a row.
const TWICE: u32 = 2;

/// What follows from executions that came to nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum WayOut {
    /// This one works next.
    Work {
        /// The name of a candidate.
        mode: String,
        /// What it is told.
        hint: String,
    },
    /// What there is goes to the review.
    Submit(String),
    /// A person has to look.
    Ask(String),
    /// The task cannot be done.
    Fail(String),
    /// The agents are broken, not the task: the next run tries again.
    Leave(String),
}

/// How often agents were called for executions that failed, by the numbers of these.
pub(super) type Calls = BTreeMap<u32, u32>;

/// A round in which nothing goes on, perhaps.
pub(super) struct Standstill<'a> {
    pub(super) progress: &'a Progress,
    pub(super) cast: &'a Cast,
    pub(super) calls: &'a Calls,
}

impl Standstill<'_> {
    /// Returns what follows when the same came to nothing twice; nothing while there is hope.
    pub(super) fn way_out(&self) -> Option<WayOut> {
        let tail = self.progress.fruitless();
        let last = tail.last()?;
        match (&last.result, self.cast.does(&last.mode)) {
            (ExecutionResult::Unchanged, Some(Work::Develop)) => self.nothing_changed(&tail),
            (ExecutionResult::Unchanged, _) => self.idle(&tail),
            (ExecutionResult::Failed { .. }, Some(Work::Plan)) => self.without_plan(last),
            (ExecutionResult::Failed { .. }, _) => self.broken(last),
            _ => None,
        }
    }

    /// Returns who works in place of `mode`, where that one has come to nothing twice.
    pub(super) fn stand_in(&self, mode: &str) -> String {
        let is_spent = match self.cast.does(mode) {
            Some(Work::Plan) => self.failures(mode) >= TWICE,
            Some(Work::Develop) => self.is_broken(mode),
            Some(Work::Test | Work::Review) | None => false,
        };
        match self.other_coder(&[]).filter(|_| is_spent) {
            Some(other) => other,
            None => mode.to_owned(),
        }
    }

    /// Tells whether there is new work to review that no test speaks against.
    fn is_ready(&self) -> bool {
        can_be_reviewed(self.progress)
    }

    fn nothing_changed(&self, tail: &[&Execution]) -> Option<WayOut> {
        let unchanged = self.unchanged_by_coders(tail);
        let plan = self.progress.plan.as_ref();
        let has_open_step = plan.is_some_and(|plan| !plan.is_done());
        if self.is_ready() && (unchanged.len() >= 2 || !has_open_step) {
            let why = "Nothing more was changed, so what there is goes to the review.";
            return Some(WayOut::Submit(why.to_owned()));
        }
        if unchanged.len() < 2 {
            return None;
        }
        let last = tail.last().map_or("", |last| last.summary.as_str());
        if !self.progress.has_new_work() {
            return Some(WayOut::Ask(format!(
                "Nothing was changed twice in a row. Either the task is done already, or the coder \
                 cannot do it. {} The coder says: {last}",
                self.tests_in_words()
            )));
        }
        let hint = "The tests fail with this work, and another coder found nothing to change.";
        Some(match self.other_coder(&unchanged) {
            Some(mode) => WayOut::Work {
                mode,
                hint: hint.to_owned(),
            },
            None => WayOut::Fail(format!(
                "The tests fail, and nothing was changed about it twice in a row. {last}"
            )),
        })
    }

    /// An arbiter that twice chose somebody who has nothing to do does not choose a third time.
    fn idle(&self, tail: &[&Execution]) -> Option<WayOut> {
        let idle = |one: &&&Execution| self.cast.does(&one.mode) != Some(Work::Develop);
        if tail.iter().filter(idle).count() < 2 {
            return None;
        }
        let hint = "There is nothing yet that could be reviewed or tested.".to_owned();
        let mode = self.other_coder(&[])?;
        Some(WayOut::Work { mode, hint })
    }

    fn without_plan(&self, last: &Execution) -> Option<WayOut> {
        if self.failures(&last.mode) < TWICE {
            return None;
        }
        let hint = "No plan could be made; work without one.".to_owned();
        Some(match self.other_coder(&[]) {
            Some(mode) => WayOut::Work { mode, hint },
            None => self.left_for_later(last),
        })
    }

    fn broken(&self, last: &Execution) -> Option<WayOut> {
        if !self.is_broken(&last.mode) {
            return None;
        }
        let hint = format!("Another coder failed: {}", last.summary);
        Some(match self.other_coder(&[]) {
            Some(mode) => WayOut::Work { mode, hint },
            None if self.is_ready() => WayOut::Submit(format!(
                "The coder failed twice in a row, so what there is goes to the review. {}",
                last.summary
            )),
            None => self.left_for_later(last),
        })
    }

    fn left_for_later(&self, last: &Execution) -> WayOut {
        let who = self.cast.agent(&last.mode);
        let who = who.map_or(last.mode.as_str(), AgentName::as_str);
        WayOut::Leave(format!(
            "{who} failed twice in a row, and no other coder is there; the next run tries again. The \
             last failure: {}",
            last.summary
        ))
    }

    /// Returns the first coder that is neither broken nor one of these.
    fn other_coder(&self, not: &[&AgentName]) -> Option<String> {
        let mut candidates = self.cast.candidates.iter();
        let other = candidates.find(|one| {
            let agent = self.cast.agent(&one.name);
            one.does == Work::Develop
                && !self.is_broken(&one.name)
                && agent.is_some_and(|agent| !not.contains(&agent))
        });
        other.map(|one| one.name.clone())
    }

    /// Tells whether a coder was called twice in vain since something last came of anything.
    fn is_broken(&self, mode: &str) -> bool {
        let agent = self.cast.agent(mode);
        let tail = self.progress.fruitless();
        let own = tail.iter().filter(|one| {
            matches!(one.result, ExecutionResult::Failed { .. })
                && self.cast.does(&one.mode) == Some(Work::Develop)
                && self.cast.agent(&one.mode) == agent
        });
        own.map(|one| self.calls_for(one)).sum::<u32>() >= TWICE
    }

    /// Returns how often somebody was called in vain in this round of the visit.
    fn failures(&self, mode: &str) -> u32 {
        let round = self.progress.round_of_visit().iter();
        let failed = round
            .filter(|one| one.mode == mode && matches!(one.result, ExecutionResult::Failed { .. }));
        failed.map(|one| self.calls_for(one)).sum()
    }

    fn calls_for(&self, execution: &Execution) -> u32 {
        let calls = self.calls.get(&execution.iteration);
        calls.copied().unwrap_or(1).max(1)
    }

    fn unchanged_by_coders(&self, tail: &[&Execution]) -> Vec<&AgentName> {
        let unchanged = tail.iter().filter(|one| {
            one.result == ExecutionResult::Unchanged
                && self.cast.does(&one.mode) == Some(Work::Develop)
        });
        unchanged
            .filter_map(|one| self.cast.agent(&one.mode))
            .collect()
    }

    fn tests_in_words(&self) -> &'static str {
        match self.progress.test_result() {
            Some(true) => "The project's tests pass.",
            Some(false) => "The project's tests fail.",
            None => "No tests were run.",
        }
    }
}

impl Engine {
    /// Returns how often agents were called for executions that failed.
    pub(super) async fn calls_in_vain(
        &self,
        task: &Task,
        progress: &Progress,
    ) -> Result<Calls, CaseError> {
        let mut calls = Calls::new();
        let failed = |one: &&Execution| matches!(one.result, ExecutionResult::Failed { .. });
        let round = progress.round_of_visit().iter().filter(failed);
        let round: Vec<u32> = round.map(|one| one.iteration).collect();
        if round.is_empty() {
            return Ok(calls);
        }
        for run in self.ledger.store().runs(&task.id).await? {
            // A run that was cut off says nothing about its agent.
            if matches!(run.result, None | Some(RunResult::Abandoned)) {
                continue;
            }
            let number = iteration_of(run.step.as_str());
            if let Some(number) = number.filter(|number| round.contains(number)) {
                *calls.entry(number).or_default() += 1;
            }
        }
        Ok(calls)
    }
}

/// Returns the number of the execution in which an agent works or plans, from the name of its step.
fn iteration_of(step: &str) -> Option<u32> {
    let mut words = step.split(' ');
    let first = words.next()?;
    let number = words.next()?;
    matches!(first, "work" | "plan")
        .then_some(number)?
        .parse()
        .ok()
}

/// Tells whether work can go to the review: nobody has sent it back, and no test speaks against it.
pub(super) fn can_be_reviewed(progress: &Progress) -> bool {
    progress.has_new_work() && !progress.tests_failed()
}

/// Tells whether the project's tests are to be run now: on new work, and on the state as it is when a
/// coder finds nothing to change.
pub(super) fn tests_are_due(engine: &Engine, progress: &Progress) -> bool {
    let last = progress.round().last().map(|last| &last.result);
    let is_open = progress.has_new_work() || last == Some(&ExecutionResult::Unchanged);
    engine.tests.is_some() && is_open && progress.test_result().is_none()
}

/// Tells whether the project's tests were not run yet on work that is to be reviewed or approved.
pub(super) fn is_untested(engine: &Engine, progress: &Progress) -> bool {
    engine.tests.is_some() && progress.has_work() && progress.test_result().is_none()
}
