//! What ends a run before the list is done: money, time, and a person who has had enough.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use tribunal_core::event::{Event, EventKind, WorkEvent};
use tribunal_core::ids::CaseId;
use tribunal_core::money::{MicroUsd, Spend};

use crate::Engine;
use crate::case::CaseError;

/// The limits of one run, and what it has used of them.
pub(super) struct Limits {
    max_cost: Option<MicroUsd>,
    until: Option<Instant>,
    /// What a run of unknown cost counts as.
    assumed: MicroUsd,
    account: Mutex<Account>,
    warnings: Mutex<Vec<String>>,
    reached: Mutex<Option<Reached>>,
}

/// Which limit ended a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reached {
    /// The name of the cap, as in "budget of the …".
    pub(super) cap: &'static str,
    /// What was reached, in a sentence without an end.
    pub(super) why: String,
}

/// What a run has cost, by its own events and those of whoever began it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Account {
    /// The visits that ended.
    ended: Spend,
    /// The tasks of the others, with what they had cost before.
    open: BTreeMap<CaseId, Spend>,
}

impl Account {
    fn take(&mut self, task: &CaseId, before: Spend) {
        // One that was killed in the middle of a visit is counted from its beginning.
        self.open.entry(task.clone()).or_insert(before);
    }

    fn leave(&mut self, task: &CaseId, after: Spend) {
        if let Some(before) = self.open.remove(task) {
            self.ended = sum(self.ended, between(before, after));
        }
    }
}

impl Limits {
    /// Returns the limits of a run with these events so far. Going on resets nothing but the time.
    pub(super) fn new(
        max_cost: Option<MicroUsd>,
        until: Option<Instant>,
        assumed: MicroUsd,
        earlier: &[Event],
    ) -> Self {
        let mut account = Account::default();
        let mut cap = max_cost;
        for event in earlier {
            match &event.kind {
                EventKind::Work(WorkEvent::TaskTaken { task, before, .. }) => {
                    account.take(task, *before);
                }
                EventKind::Work(WorkEvent::TaskLeft { task, after, .. }) => {
                    account.leave(task, *after);
                }
                EventKind::Work(WorkEvent::CapSet { max_cost }) => cap = Some(*max_cost),
                _ => {}
            }
        }
        Self {
            max_cost: cap,
            until,
            assumed,
            account: Mutex::new(account),
            warnings: Mutex::default(),
            reached: Mutex::default(),
        }
    }

    /// Keeps something that the user should know at the end.
    pub(super) fn warn(&self, text: &str) {
        let mut warnings = self.warnings.lock().unwrap_or_else(PoisonError::into_inner);
        warnings.push(text.to_owned());
    }

    /// Returns what the user should know.
    pub(super) fn warnings(&self) -> Vec<String> {
        let warnings = self.warnings.lock().unwrap_or_else(PoisonError::into_inner);
        warnings.clone()
    }

    /// Returns which limit ended the run, if one did.
    pub(super) fn reason(&self) -> Option<Reached> {
        let reached = self.reached.lock().unwrap_or_else(PoisonError::into_inner);
        reached.clone()
    }

    /// Returns why nothing more is to be begun, if that is so.
    pub(super) async fn reached(&self, engine: &Engine) -> Result<Option<String>, CaseError> {
        if self.until.is_some_and(|until| Instant::now() >= until) {
            let why = "the time of this run is over".to_owned();
            return Ok(Some(self.end("run's time", why)));
        }
        if engine.stop.is_asked() {
            return Ok(Some("stopped as asked".to_owned()));
        }
        let Some(cap) = self.max_cost else {
            return Ok(None);
        };
        let spent = self.spent(engine).await?.against_cap(self.assumed);
        let over = spent >= cap;
        Ok(over.then(|| self.end("run", format!("{spent} of {cap} of this run are spent"))))
    }

    fn end(&self, cap: &'static str, why: String) -> String {
        let mut reached = self.reached.lock().unwrap_or_else(PoisonError::into_inner);
        reached.get_or_insert_with(|| Reached {
            cap,
            why: why.clone(),
        });
        why
    }

    /// Returns what this run has cost so far, whoever began it.
    pub(super) async fn spent(&self, engine: &Engine) -> Result<Spend, CaseError> {
        let Account { ended, open } = {
            let account = self.account.lock().unwrap_or_else(PoisonError::into_inner);
            account.clone()
        };
        let mut total = ended;
        for (task, before) in open {
            let now = engine.ledger.store().family_spend(&task).await?;
            total = sum(total, between(before, now));
        }
        Ok(total)
    }

    /// Takes note of what a task had cost before this run took it.
    pub(super) fn take(&self, task: &CaseId, before: Spend) {
        let mut account = self.account.lock().unwrap_or_else(PoisonError::into_inner);
        account.take(task, before);
    }

    /// Takes note of what a task had cost when this run left it.
    pub(super) fn leave(&self, task: &CaseId, after: Spend) {
        let mut account = self.account.lock().unwrap_or_else(PoisonError::into_inner);
        account.leave(task, after);
    }
}

/// Returns what was spent between two looks at the same runs, tokens aside.
fn between(before: Spend, after: Spend) -> Spend {
    Spend {
        known: MicroUsd(after.known.0.saturating_sub(before.known.0)),
        unknown_runs: after.unknown_runs.saturating_sub(before.unknown_runs),
        runs: after.runs.saturating_sub(before.runs),
        ..Spend::default()
    }
}

fn sum(one: Spend, other: Spend) -> Spend {
    Spend {
        known: one.known + other.known,
        unknown_runs: one.unknown_runs + other.unknown_runs,
        runs: one.runs + other.runs,
        ..Spend::default()
    }
}

#[cfg(test)]
mod tests {
    use tribunal_core::task::TaskState;
    use tribunal_core::task::next::Turn;
    use tribunal_core::time::Timestamp;

    use super::*;

    fn spend(known: u64, unknown_runs: u64) -> Spend {
        Spend {
            known: MicroUsd(known),
            unknown_runs,
            ..Spend::default()
        }
    }

    fn taken(task: u64, before: Spend) -> WorkEvent {
        WorkEvent::TaskTaken {
            task: CaseId::from_bits(task),
            title: String::new(),
            turn: Turn::Start,
            lane: 1,
            before,
        }
    }

    fn left(task: u64, after: Spend) -> WorkEvent {
        WorkEvent::TaskLeft {
            task: CaseId::from_bits(task),
            title: String::new(),
            state: TaskState::Completed,
            why: None,
            after,
        }
    }

    #[test]
    fn whoever_goes_on_counts_what_was_spent_before() {
        let cap = |max_cost| WorkEvent::CapSet { max_cost };
        for (story, ended, open, max_cost) in [
            (vec![], 0, vec![], 9),
            (
                vec![taken(1, spend(5, 0)), left(1, spend(7, 0))],
                2,
                vec![],
                9,
            ),
            // A run of unknown cost counts as assumed.
            (
                vec![taken(1, spend(5, 0)), left(1, spend(5, 2))],
                200,
                vec![],
                9,
            ),
            // One that was killed during a visit is counted from its beginning.
            (
                vec![taken(1, spend(5, 0)), taken(1, spend(6, 0))],
                0,
                vec![(1, 5)],
                9,
            ),
            (
                vec![
                    taken(1, spend(5, 0)),
                    taken(1, spend(6, 0)),
                    left(1, spend(8, 0)),
                ],
                3,
                vec![],
                9,
            ),
            // What others spend on a task between two visits is not ours.
            (
                vec![
                    taken(1, spend(0, 0)),
                    left(1, spend(1, 0)),
                    taken(1, spend(50, 0)),
                    left(1, spend(51, 0)),
                ],
                2,
                vec![],
                9,
            ),
            (vec![cap(MicroUsd(20)), cap(MicroUsd(30))], 0, vec![], 30),
        ] {
            let event = |kind: WorkEvent| Event {
                case: CaseId::from_bits(9),
                seq: 1,
                at: Timestamp(0),
                kind: kind.into(),
            };
            let events: Vec<Event> = story.into_iter().map(event).collect();
            let limits = Limits::new(Some(MicroUsd(9)), None, MicroUsd(100), &events);
            let account = limits.account.lock().unwrap().clone();
            assert_eq!(account.ended.against_cap(limits.assumed), MicroUsd(ended));
            let found: Vec<(CaseId, u64)> = account
                .open
                .into_iter()
                .map(|(task, before)| (task, before.known.0))
                .collect();
            let open: Vec<(CaseId, u64)> = open
                .into_iter()
                .map(|(task, before)| (CaseId::from_bits(task), before))
                .collect();
            assert_eq!(found, open);
            assert_eq!(limits.max_cost, Some(MicroUsd(max_cost)));
        }
    }
}
