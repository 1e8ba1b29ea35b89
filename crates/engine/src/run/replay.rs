//! A recorded run decided again: which task was next, what the arbiter's rules say, what each review
//! means. Agents are not asked; what they answered is in the stories of the tasks and reviews.

use std::collections::BTreeMap;

use serde_json::Value;
use tribunal_core::arbiter::rules::{Rule, by_rule, fallback};
use tribunal_core::arbiter::{Candidate, Question, QuestionKind, Source};
use tribunal_core::event::{Event, EventKind, TaskEvent, WorkEvent};
use tribunal_core::ids::CaseId;
use tribunal_core::review::report::ReviewReport;
use tribunal_core::task::next::{Listed, Turn, queue};
use tribunal_core::task::reviewed::{Sequel, sequel};
use tribunal_core::task::transition::Move;
use tribunal_core::task::{Actor, Task, TaskState};
use tribunal_core::time::Timestamp;
use tribunal_store::{Store, StoreError};

use super::RunPolicy;
use super::cast::{evaluate_question, select_question};
use super::progress::Progress;
use crate::task::all_events;

/// A run with the stories of all tasks that were on the list.
pub(crate) struct RecordedRun {
    /// In the order of the list.
    tasks: Vec<(Task, Vec<Event>)>,
    policy: Option<RunPolicy>,
}

/// A visit of the run to a task.
struct Visited {
    task: CaseId,
    lane: u32,
    turn: Turn,
    /// When its lane was free to look for work.
    looked: Timestamp,
    taken: Timestamp,
    /// When it was left; nothing if the run was killed before.
    left: Option<Timestamp>,
    /// The tasks that the run had left before.
    before: Vec<CaseId>,
}

impl RecordedRun {
    /// Reads what is needed from the ledger.
    pub(crate) async fn read(store: &dyn Store, request: &Value) -> Result<Self, StoreError> {
        let mut tasks = Vec::new();
        for record in store.tasks().await? {
            let events = all_events(store, &record.task.id).await?;
            tasks.push((record.task, events));
        }
        let policy = request.get("policy").cloned();
        Ok(Self {
            tasks,
            policy: policy.and_then(|policy| serde_json::from_value(policy).ok()),
        })
    }

    /// Returns the reviews that the run had made, in the order of the tasks.
    pub(crate) fn reviews(&self, run: &[Event]) -> Vec<CaseId> {
        let visits = visits(run);
        let mut reviews = Vec::new();
        for (task, events) in &self.tasks {
            let own = events
                .iter()
                .filter(|event| is_within(&visits, task, event));
            reviews.extend(own.filter_map(|event| match &event.kind {
                EventKind::Work(WorkEvent::TaskReviewed { review, .. }) => Some(review.clone()),
                _ => None,
            }));
        }
        reviews
    }

    /// Returns what comes out differently when everything is decided again, one sentence each.
    pub(crate) fn differences(
        &self,
        run: &[Event],
        reports: &BTreeMap<CaseId, ReviewReport>,
    ) -> Vec<String> {
        let visits = visits(run);
        let mut found: Vec<String> = visits
            .iter()
            .filter_map(|visit| self.check_choice(visit, &visits))
            .collect();
        for (task, events) in &self.tasks {
            let mut progress = Progress::default();
            for (index, event) in events.iter().enumerate() {
                if is_within(&visits, task, event) {
                    let later = events.get(index..).unwrap_or_default();
                    found.extend(self.check_event(task, &progress, event, later, reports));
                }
                match &event.kind {
                    EventKind::Work(event) => progress.work(event),
                    EventKind::Task(event) => progress.task(event),
                    _ => {}
                }
            }
        }
        found
    }

    /// Checks that a task was next when it was taken.
    fn check_choice(&self, visit: &Visited, all: &[Visited]) -> Option<String> {
        let then: Vec<(Task, bool)> = self
            .tasks
            .iter()
            .filter(|(task, events)| {
                task.id == visit.task || !was_others(&task.id, events, visit, all)
            })
            .filter_map(|(task, events)| self.as_it_stood(task, events, visit))
            .collect();
        let listed: Vec<Listed<'_>> = then
            .iter()
            .map(|(task, taken)| Listed {
                task,
                taken: *taken,
            })
            .collect();
        let ready = queue(&listed).ready;
        let mut wanted = ready.iter().filter(|(id, _)| !visit.before.contains(id));
        let id = &visit.task;
        match wanted.next() {
            Some((first, turn)) if first == id && *turn == visit.turn => None,
            Some((first, turn)) if first == id => Some(format!(
                "task {id} was taken to {}, and is to {turn} now",
                visit.turn
            )),
            Some((first, _)) => Some(format!("task {id} was taken, and {first} was next")),
            None => Some(format!("task {id} was taken, and could not be")),
        }
    }

    /// Returns a task as it stood when another was chosen, and whether somebody held it; nothing if
    /// it changed while the choice was made, so that nobody can tell what was seen.
    fn as_it_stood(&self, task: &Task, events: &[Event], visit: &Visited) -> Option<(Task, bool)> {
        let is_chosen = task.id == visit.task;
        let mut state = None;
        let mut held = false;
        for event in events {
            if event.at > visit.taken || (is_chosen && event.at >= visit.taken) {
                break;
            }
            if event.at >= visit.looked && !is_chosen {
                return None;
            }
            match &event.kind {
                EventKind::CaseOpened { .. } => state = Some(TaskState::Pending),
                EventKind::CaseResumed { .. } => held = true,
                EventKind::CaseParked { .. } | EventKind::CaseClosed { .. } => held = false,
                EventKind::Task(TaskEvent::TaskMoved { to, .. }) => state = Some(*to),
                _ => {}
            }
        }
        let task = Task {
            state: state?,
            ..task.clone()
        };
        Some((task, held && !is_chosen))
    }

    fn check_event(
        &self,
        task: &Task,
        progress: &Progress,
        event: &Event,
        later: &[Event],
        reports: &BTreeMap<CaseId, ReviewReport>,
    ) -> Option<String> {
        match &event.kind {
            EventKind::Work(WorkEvent::ArbiterDecided {
                question,
                decision,
                source,
                ..
            }) => {
                let policy = self.policy.as_ref()?;
                let (rules, candidates) = (&policy.rules, &policy.candidates);
                let asked = asked(*question, task, progress, candidates)?;
                let again = decided(rules, &asked, source);
                let same = match &again {
                    Some((again, by)) => again == decision && by == source,
                    None => matches!(source, Source::Cache | Source::Model { .. }),
                };
                (!same).then(|| {
                    format!(
                        "event {} of task {}: the rules decide {question} differently",
                        event.seq, task.id
                    )
                })
            }
            EventKind::Work(WorkEvent::TaskReviewed { review, gate, .. }) => {
                let report = reports.get(review)?;
                if report.gate != *gate {
                    return Some(format!("the gate of review {review} was another one"));
                }
                let moved = next_move(later)?;
                let fits = match sequel(report) {
                    // Tests that fail, and work that contradicts other work, send it back.
                    Sequel::Approve => {
                        matches!(moved, Move::Approve | Move::Reject | Move::StartOver)
                    }
                    Sequel::Reject { .. } => moved == Move::Reject,
                    Sequel::Dispute { .. } => moved == Move::Dispute,
                    Sequel::Leave { .. } => false,
                };
                (!fits).then(|| {
                    format!(
                        "task {} was {} after review {review}, which says something else",
                        task.id,
                        moved.participle()
                    )
                })
            }
            _ => None,
        }
    }
}

/// Tells whether somebody else may have had a task in hand while another was chosen: a lane of
/// this run that was choosing as well, or another runner, which tells of its lease only with the
/// first thing that it does.
fn was_others(task: &CaseId, events: &[Event], visit: &Visited, all: &[Visited]) -> bool {
    let mut own = all.iter().filter(|other| other.task == *task);
    let is_beside = |other: &Visited| {
        let ended = other.left.is_some_and(|left| left < visit.looked);
        other.lane != visit.lane && other.looked <= visit.taken && !ended
    };
    if own.clone().any(is_beside) {
        return true;
    }
    let mut later = events.iter().filter(|event| event.at > visit.taken);
    let taken = later.find(|event| matches!(event.kind, EventKind::CaseResumed { .. }));
    taken.is_some_and(|taken| {
        !own.any(|other| {
            let ended = other.left.is_some_and(|left| left < taken.at);
            other.taken <= taken.at && !ended
        })
    })
}

/// Returns the question that the arbiter was asked.
fn asked(
    kind: QuestionKind,
    task: &Task,
    progress: &Progress,
    candidates: &[Candidate],
) -> Option<Question> {
    Some(match kind {
        QuestionKind::SelectAgent => select_question(task, progress, candidates),
        QuestionKind::EvaluateProgress => {
            evaluate_question(task, progress, progress.round().last()?)
        }
    })
}

/// Returns what is decided without asking anybody; nothing where a model decides.
fn decided(
    rules: &[Rule],
    question: &Question,
    source: &Source,
) -> Option<(tribunal_core::arbiter::Decision, Source)> {
    match (by_rule(rules, question), source) {
        (Some(decided), _) => Some(decided),
        (None, Source::Fallback { because }) => Some(fallback(question, because)),
        (None, Source::Rule { .. } | Source::Cache | Source::Model { .. }) => None,
    }
}

/// Returns how the program moved the task next.
fn next_move(later: &[Event]) -> Option<Move> {
    later.iter().find_map(|event| match &event.kind {
        EventKind::Task(TaskEvent::TaskMoved { done, actor, .. }) => {
            Some((*actor == Actor::System).then_some(*done))
        }
        _ => None,
    })?
}

fn is_within(visits: &[Visited], task: &Task, event: &Event) -> bool {
    visits.iter().any(|visit| {
        let ended = visit.left.is_some_and(|left| event.at > left);
        visit.task == task.id && event.at >= visit.taken && !ended
    })
}

/// Returns the visits of a run, in order.
fn visits(run: &[Event]) -> Vec<Visited> {
    let began = run.first().map_or(Timestamp(0), |event| event.at);
    let mut free: BTreeMap<u32, Timestamp> = BTreeMap::new();
    let mut by: BTreeMap<CaseId, u32> = BTreeMap::new();
    let mut visits: Vec<Visited> = Vec::new();
    let mut gone: Vec<CaseId> = Vec::new();
    for event in run {
        match &event.kind {
            EventKind::Work(WorkEvent::TaskTaken {
                task, turn, lane, ..
            }) => {
                by.insert(task.clone(), *lane);
                visits.push(Visited {
                    task: task.clone(),
                    lane: *lane,
                    turn: *turn,
                    looked: free.get(lane).copied().unwrap_or(began),
                    taken: event.at,
                    left: None,
                    before: gone.clone(),
                });
            }
            EventKind::Work(WorkEvent::TaskLeft { task, .. }) => {
                if let Some(lane) = by.get(task) {
                    free.insert(*lane, event.at);
                }
                let mut open = visits.iter_mut().rev();
                if let Some(visit) = open.find(|visit| visit.task == *task) {
                    visit.left = Some(event.at);
                }
                gone.push(task.clone());
            }
            // Another process goes on, with nothing left yet.
            EventKind::CaseResumed { .. } => {
                free.clear();
                gone.clear();
            }
            _ => {}
        }
    }
    visits
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tribunal_core::arbiter::Work;
    use tribunal_core::case::CaseKind;
    use tribunal_core::task::Brief;

    use tribunal_core::money::Spend;

    use super::*;

    fn id(bits: u64) -> CaseId {
        CaseId::from_bits(bits)
    }

    fn events(case: u64, kinds: Vec<(i64, EventKind)>) -> Vec<Event> {
        let numbered = kinds.into_iter().zip(1..);
        numbered
            .map(|((at, kind), seq)| Event {
                case: id(case),
                seq,
                at: Timestamp(at),
                kind,
            })
            .collect()
    }

    fn opened(kind: CaseKind) -> EventKind {
        EventKind::CaseOpened {
            kind,
            title: "x".to_owned(),
            request: json!({}),
        }
    }

    /// A task that was added at 1, with what happened to it later.
    fn task(bits: u64, more: Vec<(i64, EventKind)>) -> (Task, Vec<Event>) {
        let brief = Brief {
            title: format!("task {bits}"),
            ..Brief::default()
        };
        let task = Task {
            id: id(bits),
            brief,
            state: TaskState::Completed,
            rejections: 0,
            instructions: None,
            commit: None,
        };
        let mut all = vec![(1, opened(CaseKind::Task))];
        all.extend(more);
        (task, events(bits, all))
    }

    fn moved(done: Move, from: TaskState, to: TaskState) -> EventKind {
        EventKind::Task(TaskEvent::TaskMoved {
            done,
            from,
            to,
            actor: Actor::System,
            note: None,
            rejections: 0,
        })
    }

    fn select(mode: &str) -> EventKind {
        EventKind::Work(WorkEvent::ArbiterDecided {
            question: QuestionKind::SelectAgent,
            decision: tribunal_core::arbiter::Decision::SelectMode {
                mode: mode.to_owned(),
                reason: "nothing was done yet".to_owned(),
            },
            source: Source::Rule {
                rule: 1,
                says: "nothing was done yet: developer".to_owned(),
            },
            key: String::new(),
        })
    }

    /// Returns what comes out differently when a run took one of two tasks at 20 and somebody who is
    /// called `mode` was chosen.
    fn check(taken: u64, turn: Turn, mode: &str) -> Vec<String> {
        let work = vec![
            (
                21,
                moved(Move::Start, TaskState::Pending, TaskState::InProgress),
            ),
            (22, select(mode)),
        ];
        let untouched = |bits: u64| {
            if bits == taken {
                work.clone()
            } else {
                Vec::new()
            }
        };
        let rules = json!([{"on": "select_agent", "when": ["no_history"],
            "then": {"select": "developer"}}]);
        let recorded = RecordedRun {
            tasks: vec![task(1, untouched(1)), task(2, untouched(2))],
            policy: Some(RunPolicy {
                rules: serde_json::from_value(rules).unwrap(),
                candidates: vec![Candidate {
                    name: "developer".to_owned(),
                    does: Work::Develop,
                    when_to_use: String::new(),
                }],
            }),
        };
        let run = events(
            9,
            vec![
                (10, opened(CaseKind::Run)),
                (
                    20,
                    EventKind::Work(WorkEvent::TaskTaken {
                        task: id(taken),
                        title: "x".to_owned(),
                        turn,
                        lane: 1,
                        before: Spend::default(),
                    }),
                ),
            ],
        );
        recorded.differences(&run, &BTreeMap::new())
    }

    #[test]
    fn a_recorded_choice_is_made_again_from_what_was_known() {
        let (one, two) = (id(1), id(2));
        for (taken, turn, mode, expected) in [
            (1, Turn::Start, "developer", vec![]),
            (
                2,
                Turn::Start,
                "developer",
                vec![format!("task {two} was taken, and {one} was next")],
            ),
            (
                1,
                Turn::Review,
                "developer",
                vec![format!(
                    "task {one} was taken to review, and is to start now"
                )],
            ),
            (
                1,
                Turn::Start,
                "somebody",
                vec![format!(
                    "event 3 of task {one}: the rules decide select_agent differently"
                )],
            ),
        ] {
            assert_eq!(check(taken, turn, mode), expected);
        }
    }
}
