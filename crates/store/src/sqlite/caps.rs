//! Whether what runs over the tasks say about their spending follows from the run log.
//!
//! A run compares its cap with what its tasks have cost since it took them. What it writes down about
//! that must not hide anything: never more before than there was, never less after than before.

use std::collections::BTreeMap;

use tribunal_core::event::{Event, EventKind, WorkEvent};
use tribunal_core::ids::CaseId;
use tribunal_core::money::{Cost, MicroUsd, Spend};

use super::runs::LARGEST;

/// What all cases have cost up to some event, each with those opened on its behalf.
#[derive(Default)]
pub(super) struct Caps {
    parents: BTreeMap<CaseId, CaseId>,
    known: BTreeMap<CaseId, u64>,
    /// The visits under way, by run and task.
    open: BTreeMap<(CaseId, CaseId), MicroUsd>,
}

impl Caps {
    /// Takes note of an event, and returns what is wrong with it.
    pub(super) fn check(&mut self, event: &Event) -> Option<String> {
        match &event.kind {
            EventKind::CaseOpened { request, .. } => {
                let parent = request.get("parent").and_then(|parent| parent.as_str());
                let parent = parent.and_then(|parent| CaseId::new(parent).ok());
                let case = event.case.clone();
                self.parents.extend(parent.map(|parent| (case, parent)));
                None
            }
            EventKind::RunFinished {
                cost: Cost::Known(amount),
                ..
            } => {
                self.count(&event.case, amount.0.min(LARGEST));
                None
            }
            EventKind::Work(WorkEvent::TaskTaken { task, before, .. }) => {
                let visit = (event.case.clone(), task.clone());
                self.open.insert(visit, before.known);
                self.is_more_than_spent(task, before)
            }
            EventKind::Work(WorkEvent::TaskLeft { task, after, .. }) => {
                let visit = (event.case.clone(), task.clone());
                let before = self.open.remove(&visit)?;
                let less = after.known < before;
                let less = less.then(|| {
                    let after = after.known;
                    format!("task {task} has cost {after} after a visit and {before} before it")
                });
                less.or_else(|| self.is_more_than_spent(task, after))
            }
            _ => None,
        }
    }

    fn count(&mut self, case: &CaseId, amount: u64) {
        let mut next = Some(case.clone());
        // No family is deeper; a circle of parents is no family.
        for _ in 0..32 {
            let Some(case) = next else {
                return;
            };
            next = self.parents.get(&case).cloned();
            let known = self.known.entry(case).or_default();
            *known = known.saturating_add(amount);
        }
    }

    fn is_more_than_spent(&self, task: &CaseId, said: &Spend) -> Option<String> {
        let spent = MicroUsd(self.known.get(task).copied().unwrap_or(0));
        let more = said.known > spent;
        more.then(|| {
            let said = said.known;
            format!("task {task} is said to have cost {said}, the runs say {spent}")
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tribunal_core::case::CaseKind;
    use tribunal_core::event::RunResult;
    use tribunal_core::ids::RunId;
    use tribunal_core::money::Usage;
    use tribunal_core::task::TaskState;
    use tribunal_core::task::next::Turn;
    use tribunal_core::time::Timestamp;

    use super::*;

    fn event(case: u64, kind: EventKind) -> Event {
        Event {
            case: CaseId::from_bits(case),
            seq: 1,
            at: Timestamp(0),
            kind,
        }
    }

    fn opened(case: u64, parent: Option<u64>) -> Event {
        let parent = parent.map(CaseId::from_bits);
        let opened = EventKind::CaseOpened {
            kind: CaseKind::Task,
            title: String::new(),
            request: json!({ "parent": parent }),
        };
        event(case, opened)
    }

    fn ran(case: u64, cost: u64) -> Event {
        let finished = EventKind::RunFinished {
            run: RunId::from_bits(cost),
            result: RunResult::Answered {
                reply_hash: String::new(),
                reply_chars: 0,
            },
            usage: Usage::default(),
            cost: Cost::Known(MicroUsd(cost)),
            elapsed_ms: 0,
            session: None,
            answered_by: None,
            version: None,
            refused: Vec::new(),
        };
        event(case, finished)
    }

    fn spend(known: u64) -> Spend {
        Spend {
            known: MicroUsd(known),
            ..Spend::default()
        }
    }

    fn taken(before: u64) -> Event {
        let taken = WorkEvent::TaskTaken {
            task: CaseId::from_bits(1),
            title: String::new(),
            turn: Turn::Start,
            lane: 1,
            before: spend(before),
        };
        event(9, taken.into())
    }

    fn left(after: u64) -> Event {
        let left = WorkEvent::TaskLeft {
            task: CaseId::from_bits(1),
            title: String::new(),
            state: TaskState::Completed,
            why: None,
            after: spend(after),
        };
        event(9, left.into())
    }

    #[test]
    fn what_a_run_says_about_its_spending_follows_from_the_run_log() {
        // The review of the task and the dispute about a finding of it count with the task.
        let family = || {
            vec![
                opened(1, None),
                opened(2, Some(1)),
                opened(3, Some(2)),
                ran(1, 5),
                ran(3, 20_000),
            ]
        };
        for (story, problem) in [
            (vec![taken(20_005), left(20_005)], None),
            (vec![taken(5), ran(2, 10_000), left(30_005)], None),
            // A look that was a moment earlier than its event.
            (vec![taken(0), left(5)], None),
            (
                vec![taken(30_000)],
                Some("task c-0000000001 is said to have cost $0.03, the runs say $0.0200"),
            ),
            (
                vec![taken(20_005), left(10_000)],
                Some("task c-0000000001 has cost $0.01 after a visit and $0.0200 before it"),
            ),
            (
                vec![taken(0), left(40_000)],
                Some("task c-0000000001 is said to have cost $0.04, the runs say $0.0200"),
            ),
        ] {
            let mut caps = Caps::default();
            let events = family().into_iter().chain(story);
            let found: Vec<String> = events.filter_map(|event| caps.check(&event)).collect();
            let expected: Vec<String> = problem.map(str::to_owned).into_iter().collect();
            assert_eq!(found, expected);
        }
    }
}
