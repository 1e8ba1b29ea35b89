//! Tasks and sections: each is a case of its own, and each command is one entry in its story.
//!
//! Whoever holds the lease of a task's case works on it; everybody else is told so and waits.

mod depends;
mod lists;
mod sections;
mod standing;
mod submit;

pub use lists::Imported;
pub(crate) use lists::is_marked_in_list;
pub use sections::Place;
pub use standing::why_left;

use std::collections::BTreeSet;

use thiserror::Error;
use tribunal_core::case::{CaseKind, Outcome, Pause};
use tribunal_core::event::{Event, EventKind, TaskEvent};
use tribunal_core::ids::CaseId;
use tribunal_core::task::audit::{Audit, audit};
use tribunal_core::task::list::LONGEST_TITLE;
use tribunal_core::task::transition::{Move, Refusal, step};
use tribunal_core::task::{Actor, Brief, Task, TaskState};
use tribunal_core::text::truncate_chars;
use tribunal_store::{DisputeFilter, Store, StoreError, TaskRecord, crashpoint};

use self::depends::DependencyIndex;
use crate::Engine;
use crate::case::{Case, CaseError};
use crate::delivery::work::{Delivered, TaskWork};

/// Why something cannot be done with a task.
#[derive(Debug, Error)]
pub enum TaskError {
    /// The ledger failed, or another process works on the task.
    #[error(transparent)]
    Case(#[from] CaseError),
    /// The move is not possible from where the task stands.
    #[error("task {id} ({title}) cannot be {}: it is {}, and {}", refusal.done.participle(), refusal.from, refusal.why)]
    Refused {
        /// The task.
        id: CaseId,
        /// Its title.
        title: String,
        /// Why not.
        refusal: Refusal,
    },
    /// Approved work cannot be put with what was approved before it.
    #[error(
        "task {id} ({title}) cannot be approved: what was approved meanwhile contradicts its work in {files}"
    )]
    Contradicted {
        /// The task.
        id: CaseId,
        /// Its title.
        title: String,
        /// The files, one after the other.
        files: String,
    },
    /// A list cannot be taken over; nothing of it was.
    #[error("the list was not taken over: {}", faults.join("; "))]
    BadList {
        /// Each with its place.
        faults: Vec<String>,
    },
    /// What was asked for makes no sense.
    #[error("{0}")]
    Unfit(String),
    /// No section has this name.
    #[error("no section is called `{name}`")]
    NoSuchSection {
        /// The name asked for.
        name: String,
        /// The names that exist.
        known: Vec<String>,
    },
}

impl From<StoreError> for TaskError {
    fn from(error: StoreError) -> Self {
        Self::Case(error.into())
    }
}

/// A task to be added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewTask {
    /// What is to be done. It comes last in its section when its place is zero.
    pub brief: Brief,
    /// Where it stands; an imported one may have been done before.
    pub state: TaskState,
    /// Who adds it.
    pub actor: Actor,
}

/// How a task is moved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MoveRequest {
    /// What is done with it.
    pub done: Move,
    /// Who does it.
    pub actor: Actor,
    /// Why, or what the coder has to observe.
    pub note: Option<String>,
}

/// A task that was moved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MovedTask {
    /// As it stands now.
    pub task: Task,
    /// What was done with its work, in sentences without an end.
    pub said: Vec<String>,
}

impl Engine {
    /// Returns the task whose id is, begins or ends with `text`.
    pub async fn task(&self, text: &str) -> Result<TaskRecord, TaskError> {
        Ok(self.ledger.store().find_task(text).await?)
    }

    /// Returns all tasks in the order of the list.
    pub async fn tasks(&self) -> Result<Vec<TaskRecord>, TaskError> {
        Ok(self.ledger.store().tasks().await?)
    }

    /// Adds a task at the end of its section and returns it.
    pub async fn add_task(&self, new: NewTask) -> Result<Task, TaskError> {
        let NewTask {
            brief,
            state,
            actor,
        } = new;
        let brief = self.checked(brief, None).await?;
        // From the seed the nonces of all questions about the task are made.
        let seed = format!("{:016x}{:016x}", crate::random_bits(), crate::random_bits());
        let request = serde_json::json!({ "title": brief.title, "seed": seed });
        let case = self.new_case(CaseKind::Task, brief.title.clone(), request);
        let added = TaskEvent::TaskAdded {
            task: brief.clone(),
            state,
            actor,
        };
        let id = case.id().clone();
        case.record([added.into(), rest(state)]).await?;
        Ok(Task {
            id,
            brief,
            state,
            rejections: 0,
            instructions: None,
            commit: None,
        })
    }

    /// Changes what is to be done.
    pub async fn edit_task(
        &self,
        id: &CaseId,
        brief: Brief,
        actor: Actor,
    ) -> Result<Task, TaskError> {
        let brief = self.checked(brief, Some(id)).await?;
        self.edit_checked(id, brief, actor).await
    }

    /// Changes what is to be done, among tasks whose dependencies were read before.
    async fn edit_among(
        &self,
        known: &mut DependencyIndex,
        id: &CaseId,
        mut brief: Brief,
        actor: Actor,
    ) -> Result<Task, TaskError> {
        let depends = std::mem::take(&mut brief.depends_on);
        let mut brief = self.checked(brief, Some(id)).await?;
        known.check(&depends, Some(id))?;
        brief.depends_on = depends;
        let task = self.edit_checked(id, brief, actor).await?;
        known.set(id, &task.brief.title, &task.brief.depends_on);
        Ok(task)
    }

    async fn edit_checked(
        &self,
        id: &CaseId,
        brief: Brief,
        actor: Actor,
    ) -> Result<Task, TaskError> {
        let (case, task) = self.hold_task(id).await?;
        let edited = TaskEvent::TaskEdited {
            task: brief.clone(),
            actor,
        };
        case.record([edited.into(), rest(task.state)]).await?;
        Ok(Task { brief, ..task })
    }

    /// Moves a task that nobody works on, and returns it as it stands then.
    ///
    /// Approved work of the loop is put with the other approved work first, and pushed as
    /// configured; where that cannot be, the task stays as it is.
    pub async fn move_task(
        &self,
        id: &CaseId,
        mut request: MoveRequest,
    ) -> Result<MovedTask, TaskError> {
        let (case, task) = self.hold_task(id).await?;
        let work = match self.work_to_move(&task, &request).await {
            Ok(work) => work,
            Err(error) => {
                // Nothing happened, so nothing is told; the lease alone goes back.
                case.release().await?;
                return Err(error);
            }
        };
        let mut said = Vec::new();
        if let Some(work) = work {
            let delivered = self.deliver_approved(&case, &task, &work).await;
            let place = match delivered {
                Ok(place) => place,
                Err(error) => {
                    case.record([rest(task.state)]).await?;
                    return Err(error);
                }
            };
            said.push(format!("Its work is {place}"));
            let why = request.note.take();
            request.note = Some(why.map_or_else(
                || place.clone(),
                |why| format!("{}; {place}", why.trim().trim_end_matches('.')),
            ));
        }
        if request.done == Move::Fail {
            said.extend(self.keep_given_up(&case, &task).await?);
        }
        let (event, task) = moved(&task, request)?;
        crashpoint!("task.move.before");
        case.record([event.into(), rest(task.state)]).await?;
        crashpoint!("task.move.after");
        Ok(MovedTask { task, said })
    }

    /// Returns the work of the loop that a move delivers, if the move is possible at all.
    async fn work_to_move(
        &self,
        task: &Task,
        request: &MoveRequest,
    ) -> Result<Option<TaskWork>, TaskError> {
        moved(task, request.clone())?;
        match request.done {
            Move::Approve => Ok(self.work_of_task(&task.id).await?),
            Move::Start
            | Move::Submit
            | Move::Reject
            | Move::StartOver
            | Move::Dispute
            | Move::RuleForCoder
            | Move::RuleAgainstCoder
            | Move::PutBack
            | Move::Skip
            | Move::Fail
            | Move::Reopen => Ok(None),
        }
    }

    /// Puts the work of the loop on a task with the approved work, and returns where it is.
    async fn deliver_approved(
        &self,
        case: &Case,
        task: &Task,
        work: &TaskWork,
    ) -> Result<String, TaskError> {
        let at = self.ledger.store().now().await?;
        match self.deliver_work(case, task, work, at).await? {
            Delivered::There { branch, commit } => {
                Ok(format!("on {branch} as {}", truncate_chars(&commit, 12)))
            }
            Delivered::Conflict(files) => Err(TaskError::Contradicted {
                id: task.id.clone(),
                title: task.brief.title.clone(),
                files: files.join(", "),
            }),
        }
    }

    /// Takes the lease of a task that nobody works on.
    pub(crate) async fn hold_task(&self, id: &CaseId) -> Result<(Case, Task), TaskError> {
        let case = self.take_over(id).await?;
        // Read under the lease: what others did before is seen, and they do nothing now.
        let record = self.ledger.store().find_task(id.as_str()).await?;
        Ok((case, record.task))
    }

    /// Returns the brief as it may be stored.
    async fn checked(&self, mut brief: Brief, of: Option<&CaseId>) -> Result<Brief, TaskError> {
        brief.title = self.redactor.redact(&one_line("title", &brief.title)?);
        brief.details = self.redactor.redact(brief.details.trim());
        if let Some(name) = &brief.section {
            self.known_section(name).await?;
        }
        if brief.position == 0 {
            let section = brief.section.as_deref();
            brief.position = self.ledger.store().next_position(section).await?;
        }
        let depends: BTreeSet<CaseId> = brief.depends_on.iter().cloned().collect();
        brief.depends_on = depends.into_iter().collect();
        if !brief.depends_on.is_empty() {
            let tasks = self.ledger.store().tasks().await?;
            DependencyIndex::of(&tasks).check(&brief.depends_on, of)?;
        }
        Ok(brief)
    }
}

/// Returns the audit of a task from its events.
pub async fn audit_of(store: &dyn Store, task: &Task) -> Result<Audit, TaskError> {
    let audit = audit(&all_events(store, &task.id).await?, task.state);
    let about = DisputeFilter {
        task: Some(task.id.to_string()),
        ..DisputeFilter::default()
    };
    Ok(audit.with_disputes(&store.disputes(&about).await?))
}

/// Returns the event of a move, and the task as it stands after it.
pub(crate) fn moved(task: &Task, request: MoveRequest) -> Result<(TaskEvent, Task), TaskError> {
    let MoveRequest { done, actor, note } = request;
    let to = step(task.state, done).map_err(|refusal| TaskError::Refused {
        id: task.id.clone(),
        title: task.brief.title.clone(),
        refusal,
    })?;
    let note = note.map(|note| note.trim().to_owned());
    let note = note.filter(|note| !note.is_empty());
    let rejections = task.rejections + u32::from(done == Move::Reject);
    let event = TaskEvent::TaskMoved {
        done,
        from: task.state,
        to,
        actor,
        note: note.clone(),
        rejections,
    };
    let mut task = task.clone();
    (task.state, task.rejections) = (to, rejections);
    if to == TaskState::InProgress {
        task.instructions = note.or(task.instructions);
    }
    Ok((event, task))
}

/// Returns how the case of a task in this state waits or ends when nobody works on it.
pub(crate) fn rest(state: TaskState) -> EventKind {
    let inconclusive = |cause: &str| Outcome::Inconclusive {
        class: None,
        cause: cause.to_owned(),
    };
    let outcome = match state {
        TaskState::Pending | TaskState::InProgress | TaskState::InReview | TaskState::Disputed => {
            let (why, until) = (Pause::Turn, None);
            return EventKind::CaseParked { why, until };
        }
        TaskState::Completed => Outcome::Completed,
        TaskState::Failed => inconclusive("the task failed"),
        TaskState::Skipped => inconclusive("the task was skipped"),
    };
    EventKind::CaseClosed { outcome }
}

/// Returns all events of a case.
pub(crate) async fn all_events(store: &dyn Store, case: &CaseId) -> Result<Vec<Event>, StoreError> {
    const PAGE: u32 = 1000;
    let mut events: Vec<Event> = Vec::new();
    loop {
        let after = events.last().map_or(0, |event| event.seq);
        let page = store.events(case, after, PAGE).await?;
        if page.is_empty() {
            return Ok(events);
        }
        events.extend(page);
    }
}

/// Returns a name that fits in one line.
fn one_line(what: &str, text: &str) -> Result<String, TaskError> {
    let text = text.trim();
    if text.is_empty() {
        return Err(TaskError::Unfit(format!("the {what} is empty")));
    }
    if text.chars().any(char::is_control) {
        let why = format!("the {what} holds a control character or more than one line");
        return Err(TaskError::Unfit(why));
    }
    if text.chars().count() > LONGEST_TITLE {
        let why = format!("the {what} is longer than {LONGEST_TITLE} characters");
        return Err(TaskError::Unfit(why));
    }
    Ok(text.to_owned())
}
