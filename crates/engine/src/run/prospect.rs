//! What the loop would do next about a task, as far as that can be said without doing it.

use tribunal_core::arbiter::{Decision, Question};
use tribunal_core::ids::StepKey;
use tribunal_core::task::{Task, TaskState};

use super::cast::{cast, evaluate_question, select_question};
use super::progress::Progress;
use super::work::{can_be_reviewed, tests_are_due};
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
    /// The limit of executions is reached, and the task fails.
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
        let mut again = None;
        if let Some(last) = progress.round().last() {
            if tests_are_due(self, last) {
                return Ok(Prospect::Tests);
            }
            let step = StepKey::new(format!("arbiter evaluate {}", last.iteration))?;
            let store = self.ledger.store();
            let Some(decided) = store.step(&task.id, &step).await? else {
                return Ok(Prospect::Ask(evaluate_question(task, &progress, last)));
            };
            let decided: Option<Decided> = serde_json::from_value(decided).ok();
            again = decided.map(|decided| (decided, last));
        }
        if let Some((decided, last)) = &again
            && matches!(decided.decision, Decision::Complete { .. })
            && can_be_reviewed(&progress, last)
        {
            return Ok(Prospect::Submit(decided.clone()));
        }
        if progress.spent() >= settings.run.max_iterations as usize {
            return Ok(Prospect::GiveUp);
        }
        if let Some((decided, last)) = again
            && matches!(decided.decision, Decision::Retry { .. })
            && cast.does(&last.mode).is_some()
        {
            let mode = last.mode.clone();
            return Ok(Prospect::Again { mode, decided });
        }
        Ok(Prospect::Ask(select_question(
            task,
            &progress,
            &cast.candidates,
        )))
    }
}
