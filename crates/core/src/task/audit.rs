//! The story of a task as its events tell it, and whether that story is whole.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::transition::{Move, step};
use super::{Actor, Brief, TaskState};
use crate::dispute::{Dispute, Gravity};
use crate::event::{Event, EventKind, TaskEvent};
use crate::time::Timestamp;

/// What an entry of the audit tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum What {
    /// The task was put on the list.
    Added,
    /// It went from one state to another.
    Moved,
    /// What is to be done was changed.
    Edited,
    /// A minor dispute about it was noted, which moves nothing.
    Noted,
}

/// One entry of a task's audit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Entry {
    /// Number of the event in the task's case; zero for what stands in the story of a dispute.
    pub seq: u64,
    /// When it was stored.
    pub at: Timestamp,
    /// What it tells.
    pub what: What,
    /// What was done with the task, if it was moved.
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
    let mut brief: Option<&Brief> = None;
    for event in events {
        let EventKind::Task(told) = &event.kind else {
            continue;
        };
        let entry = match told {
            TaskEvent::TaskAdded { state, actor, .. } => {
                entry(event, What::Added, None, *state, actor)
            }
            TaskEvent::TaskMoved {
                done,
                from,
                to,
                actor,
                note,
                ..
            } => Entry {
                done: Some(*done),
                note: note.clone(),
                ..entry(event, What::Moved, Some(*from), *to, actor)
            },
            TaskEvent::TaskEdited { task, actor } => {
                let changed = brief.map_or_else(Vec::new, |before| changes(before, task));
                brief = Some(task);
                // The place of a task and the file it stands in follow from the list.
                let (Some(last), false) = (audit.entries.last(), changed.is_empty()) else {
                    continue;
                };
                let now = last.to;
                Entry {
                    note: Some(changed.join("; ")),
                    ..entry(event, What::Edited, Some(now), now, actor)
                }
            }
            TaskEvent::WorkKept { .. }
            | TaskEvent::SectionAdded { .. }
            | TaskEvent::SectionChanged { .. }
            | TaskEvent::SectionRemoved { .. } => continue,
        };
        if let TaskEvent::TaskAdded { task, .. } = told {
            brief = Some(task);
        }
        audit.check(&entry);
        audit.entries.push(entry);
    }
    if audit.entries.is_empty() {
        audit.problems.push("nobody added it".to_owned());
    }
    audit
}

fn entry(
    event: &Event,
    what: What,
    from: Option<TaskState>,
    to: TaskState,
    actor: &Actor,
) -> Entry {
    Entry {
        seq: event.seq,
        at: event.at,
        what,
        done: None,
        from,
        to,
        actor: actor.clone(),
        note: None,
    }
}

/// Returns what differs between two briefs, as far as a person asked for it.
fn changes(old: &Brief, new: &Brief) -> Vec<String> {
    let or_none = |text: &Option<String>| text.clone().unwrap_or_else(|| "none".to_owned());
    let depends = |brief: &Brief| {
        let ids: Vec<&str> = brief.depends_on.iter().map(|id| id.as_str()).collect();
        match ids.is_empty() {
            true => "none".to_owned(),
            false => ids.join(", "),
        }
    };
    let mut changed = Vec::new();
    for (name, before, after) in [
        ("title", old.title.clone(), new.title.clone()),
        ("section", or_none(&old.section), or_none(&new.section)),
        ("source", or_none(&old.source), or_none(&new.source)),
        (
            "priority",
            old.priority.to_string(),
            new.priority.to_string(),
        ),
        ("depends on", depends(old), depends(new)),
        ("domain", or_none(&old.domain), or_none(&new.domain)),
    ] {
        if before != after {
            changed.push(format!("{name}: {before} → {after}"));
        }
    }
    if old.details != new.details {
        changed.push("details".to_owned());
    }
    changed
}

impl Audit {
    /// Adds the minor disputes among these in their places. They move nothing.
    #[must_use]
    pub fn with_disputes(mut self, disputes: &[Dispute]) -> Self {
        let minor = disputes
            .iter()
            .filter(|dispute| dispute.opening.gravity == Gravity::Minor);
        for dispute in minor {
            let at = dispute.opened_at;
            let place = self.entries.partition_point(|entry| entry.at <= at);
            let Some(before) = place.checked_sub(1).and_then(|last| self.entries.get(last)) else {
                continue;
            };
            let noted = Entry {
                seq: 0,
                at,
                what: What::Noted,
                done: None,
                from: Some(before.to),
                to: before.to,
                actor: dispute.opening.opener(),
                note: Some(format!("{}: {}", dispute.id, dispute.opening.notes)),
            };
            self.entries.insert(place, noted);
        }
        self
    }

    fn check(&mut self, entry: &Entry) {
        if entry.what == What::Edited {
            return;
        }
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
    use crate::task::Priority;

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

    #[test]
    fn edits_are_told_by_what_they_change() {
        let before = Brief {
            title: "a".to_owned(),
            depends_on: vec![CaseId::from_bits(7)],
            ..Brief::default()
        };
        for (change, expected) in [
            (
                Brief::default(),
                "title: a → ; depends on: c-0000000007 → none",
            ),
            (
                Brief {
                    priority: Priority::High,
                    details: "more".to_owned(),
                    section: Some("S".to_owned()),
                    ..before.clone()
                },
                "section: none → S; priority: normal → high; details",
            ),
            // Its place is no change of the task.
            (
                Brief {
                    position: 9,
                    ..before.clone()
                },
                "",
            ),
        ] {
            assert_eq!(changes(&before, &change).join("; "), expected);
        }
    }
}
