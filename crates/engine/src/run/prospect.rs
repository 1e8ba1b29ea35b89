//! What the loop would do next about a task, as far as that can be said without doing it.

use tribunal_core::arbiter::{Decision, Question};
use tribunal_core::ids::StepKey;
use tribunal_core::task::{Task, TaskState};

use super::cast::{cast, evaluate_question, last_mode, select_question};
use super::progress::Progress;
use super::stall::{Standstill, WayOut, can_be_reviewed, tests_are_due};
use crate::Engine;
use crate::arbiter::Decided;
use crate::case::CaseError;
use crate::config::Settings;
use crate::task::all_events;

/// What comes next for a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Prospect {
    /// Nothing: it is settled.
    Settled,
    /// Its work is reviewed.
    Review,
    /// The project's tests are run on the work; the arbiter is asked afterwards.
    Tests,
    /// The arbiter has called the work complete, and it is submitted.
    Submit(Decided),
    /// The arbiter has decided that this one tries again.
    Again {
        /// Who.
        mode: String,
        /// The decision.
        decided: Decided,
    },
    /// Nothing goes on, so this happens without a decision, in a sentence without an end.
    WayOut(String),
    /// The limit of executions is reached, and the round ends.
    GiveUp,
    /// The arbiter is asked this.
    Ask(Question),
}

impl Engine {
    /// Returns what the loop would do next about a task.
    pub async fn prospect(&self, settings: &Settings, task: &Task) -> Result<Prospect, CaseError> {
        if task.state.is_settled() {
            return Ok(Prospect::Settled);
        }
        if task.state == TaskState::InReview {
            return Ok(Prospect::Review);
        }
        let events = all_events(self.ledger.store().as_ref(), &task.id).await?;
        let progress = Progress::of(&events);
        let cast = cast(self, settings, task.brief.domain.as_deref());
        if tests_are_due(self, &progress) {
            return Ok(Prospect::Tests);
        }
        let calls = self.calls_in_vain(task, &progress).await?;
        let standstill = Standstill {
            progress: &progress,
            cast: &cast,
            calls: &calls,
        };
        if let Some(way) = standstill.way_out() {
            return Ok(Prospect::WayOut(in_words(&way)));
        }
        let mut again = None;
        if let Some(last) = progress.round().last() {
            let step = StepKey::new(format!("arbiter evaluate {}", last.iteration))?;
            let store = self.ledger.store();
            let Some(decided) = store.step(&task.id, &step).await? else {
                return Ok(Prospect::Ask(evaluate_question(task, &progress, last)));
            };
            let decided: Option<Decided> = serde_json::from_value(decided).ok();
            again = decided;
        }
        if let Some(decided) = &again
            && matches!(decided.decision, Decision::Complete { .. })
            && can_be_reviewed(&progress)
        {
            return Ok(Prospect::Submit(decided.clone()));
        }
        if progress.spent() >= settings.run.max_iterations as usize {
            return Ok(Prospect::GiveUp);
        }
        if let Some(decided) = again
            && matches!(decided.decision, Decision::Retry { .. })
        {
            let mode = standstill.stand_in(&last_mode(&progress, &cast));
            return Ok(Prospect::Again { mode, decided });
        }
        Ok(Prospect::Ask(select_question(
            task,
            &progress,
            &cast.candidates,
        )))
    }
}

fn in_words(way: &WayOut) -> String {
    match way {
        WayOut::Work { mode, hint } => format!("{mode} works next: {hint}"),
        WayOut::Submit(why) => format!("its work is submitted to the review: {why}"),
        WayOut::Ask(why) => format!("a person is asked: {why}"),
        WayOut::Fail(why) => format!("the task fails: {why}"),
        WayOut::Leave(why) => format!("the task is left for later: {why}"),
    }
}
