//! The story of a task as its events tell it, and whether that story is whole.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::transition::{Move, step};
use super::{Actor, TaskState};
use crate::event::{Event, EventKind, TaskEvent};
use crate::time::Timestamp;

/// One entry of a task's audit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Entry {
    /// Number of the event in the task's case.
    pub seq: u64,
    /// When it was stored.
    pub at: Timestamp,
    /// What was done; nothing when the task was added.
    pub done: Option<Move>,
    /// Where the task stood before.
    pub from: Option<TaskState>,
    /// Where it stood after.
    pub to: TaskState,
    /// Who did it.
    #[serde(flatten)]
    pub actor: Actor,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// A task's audit: what happened to it, and what does not add up.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Audit {
    /// Its moves, in order.
    pub entries: Vec<Entry>,
    /// Where the story breaks, in sentences.
    pub problems: Vec<String>,
}

/// Returns the audit of the task with these events, which is said to be in the state `now`.
#[must_use]
pub fn audit(events: &[Event], now: TaskState) -> Audit {
    let mut audit = audit_events(events);
    if let Some(last) = audit.entries.last().filter(|last| last.to != now) {
        let problem = format!("its story ends in {}, but it is {now}", last.to);
        audit.problems.push(problem);
    }
    audit
}

/// Returns the audit of the task with these events, wherever it stands.
#[must_use]
pub fn audit_events(events: &[Event]) -> Audit {
    let mut audit = Audit::default();
    for event in events {
        let entry = match &event.kind {
            EventKind::Task(TaskEvent::TaskAdded { state, actor, .. }) => Entry {
                seq: event.seq,
                at: event.at,
                done: None,
                from: None,
                to: *state,
                actor: actor.clone(),
                note: None,
            },
            EventKind::Task(TaskEvent::TaskMoved {
                done,
                from,
                to,
                actor,
                note,
                ..
            }) => Entry {
                seq: event.seq,
                at: event.at,
                done: Some(*done),
                from: Some(*from),
                to: *to,
                actor: actor.clone(),
                note: note.clone(),
            },
            _ => continue,
        };
        audit.check(&entry);
        audit.entries.push(entry);
    }
    if audit.entries.is_empty() {
        audit.problems.push("nobody added it".to_owned());
    }
    audit
}

impl Audit {
    fn check(&mut self, entry: &Entry) {
        let before = self.entries.last().map(|last| last.to);
        let seq = entry.seq;
        let problem = match (before, entry.done, entry.from) {
            (None, None, None) => None,
            (Some(before), Some(done), Some(from)) => match step(from, done) {
                _ if from != before => Some(format!(
                    "event {seq} moves it from {from}, where it did not stand"
                )),
                Ok(to) if to == entry.to => None,
                Ok(to) => Some(format!(
                    "event {seq} leads to {}, and not to {to}",
                    entry.to
                )),
                Err(refusal) => Some(format!("event {seq}: {refusal}")),
            },
            (Some(_), None, _) => Some(format!("event {seq} adds it once more")),
            _ => Some(format!("event {seq} moves it before it was added")),
        };
        self.problems.extend(problem);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::CaseId;
    use crate::task::Brief;

    fn events(moves: &[(Move, TaskState, TaskState)]) -> Vec<Event> {
        let added = TaskEvent::TaskAdded {
            task: Brief::default(),
            state: TaskState::Pending,
            actor: Actor::System,
        };
        let moved = |(done, from, to): &(Move, TaskState, TaskState)| TaskEvent::TaskMoved {
            done: *done,
            from: *from,
            to: *to,
            actor: Actor::System,
            note: None,
            rejections: 0,
        };
        let kinds = std::iter::once(added).chain(moves.iter().map(moved));
        let event = |(index, kind): (usize, TaskEvent)| Event {
            case: CaseId::from_bits(1),
            seq: index as u64 + 1,
            at: Timestamp(0),
            kind: kind.into(),
        };
        kinds.enumerate().map(event).collect()
    }

    #[test]
    fn a_story_adds_up_or_says_where_it_breaks() {
        use TaskState::{Completed, InProgress, InReview, Pending};
        let whole = [
            (Move::Start, Pending, InProgress),
            (Move::Submit, InProgress, InReview),
            (Move::Approve, InReview, Completed),
        ];
        assert_eq!(audit(&events(&whole), Completed).problems, [""; 0]);
        for (story, now, problem) in [
            (
                &whole[..2],
                Completed,
                "its story ends in in_review, but it is completed",
            ),
            (
                &whole[1..2],
                InReview,
                "event 2 moves it from in_progress, where it did not stand",
            ),
            (
                &[(Move::Approve, Pending, Completed)][..],
                Completed,
                "event 2: a task that is pending cannot be approved: no work was submitted",
            ),
            (
                &[(Move::Start, Pending, Completed)][..],
                Completed,
                "event 2 leads to completed, and not to in_progress",
            ),
        ] {
            assert_eq!(audit(&events(story), now).problems, [problem]);
        }
        assert_eq!(audit(&[], Pending).problems, ["nobody added it"]);
    }
}
