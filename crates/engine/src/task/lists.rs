//! Lists in Markdown files: imported into the ledger, and written with the markers of today.

use std::collections::BTreeSet;

use tribunal_core::dispute::{Gravity, Grounds, Origin, Subject};
use tribunal_core::ids::CaseId;
use tribunal_core::task::list::{Change, Ids, List, plan_import};
use tribunal_core::task::transition::Move;
use tribunal_core::task::{Actor, Task, TaskState};

use super::depends::DependencyIndex;
use super::{MoveRequest, NewTask, Place, TaskError};
use crate::Engine;
use crate::case::CaseError;
use crate::dispute::NewDispute;

/// What an import did.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Serialize)]
pub struct Imported {
    /// New tasks.
    pub added: Vec<CaseId>,
    /// Tasks whose brief was changed.
    pub edited: Vec<CaseId>,
    /// Tasks that were moved to where their markers say.
    pub moved: Vec<CaseId>,
    /// Tasks that came from the file and stand there no longer. They stay as they are.
    pub missing: Vec<CaseId>,
    /// How many were as they are.
    pub unchanged: usize,
    /// What was done with the work of tasks that were approved, in sentences without an end.
    pub notices: Vec<String>,
    /// What could not be done, in sentences.
    pub problems: Vec<String>,
}

/// What stands in the key of a dispute that a list's marker opened.
const MARKED: &str = " as marked in ";

/// Tells whether this is the key of a dispute that a list's marker opened.
pub(crate) fn is_marked_in_list(key: &str) -> bool {
    key.starts_with("task ") && key.contains(MARKED)
}

impl Engine {
    /// Takes over a list from the text of a file. Doing it again changes nothing, and a list that
    /// cannot be taken over as a whole is not taken over at all.
    pub async fn import_list(
        &self,
        file: &str,
        text: &str,
        actor: Actor,
    ) -> Result<Imported, TaskError> {
        let list = List::read(text);
        let faults = list.faults(file);
        if !faults.is_empty() {
            return Err(TaskError::BadList { faults });
        }
        let known: Vec<Task> = self.plain_tasks().await?;
        let plan = plan_import(&list, file, &known);
        self.make_sections(&plan.changes).await?;
        let mut done = Imported {
            missing: plan.missing,
            problems: plan.problems,
            ..Imported::default()
        };
        let mut ids = Vec::new();
        for change in plan.changes {
            ids.push(self.carry_over(change, file, &actor, &mut done).await?);
        }
        self.order_tasks(&list, &ids, (file, &actor), &mut done)
            .await?;
        self.open_marked(&list, file, &ids, &actor, &mut done)
            .await?;
        done.edited.dedup();
        Ok(done)
    }

    /// Returns the list in `text` with the markers of today, tasks that are missing added.
    pub async fn export_list(&self, file: &str, text: &str, ids: Ids) -> Result<String, TaskError> {
        let tasks = self.plain_tasks().await?;
        Ok(List::read(text).with_tasks(file, &tasks, ids))
    }

    /// Remembers that `file` now shows the tasks as they stand.
    pub async fn note_exported(
        &self,
        file: &str,
        text: &str,
        actor: Actor,
    ) -> Result<(), TaskError> {
        let tasks = self.plain_tasks().await?;
        for (id, line) in List::read(text).written_lines(file, &tasks) {
            if let Some(task) = tasks.iter().find(|task| task.id == id) {
                let mut brief = task.brief.clone();
                brief.set_line(line);
                self.edit_task(&id, brief, actor.clone()).await?;
            }
        }
        Ok(())
    }

    async fn plain_tasks(&self) -> Result<Vec<Task>, TaskError> {
        let records = self.tasks().await?;
        Ok(records.into_iter().map(|record| record.task).collect())
    }

    async fn make_sections(&self, changes: &[Change]) -> Result<(), TaskError> {
        let sections = self.sections().await?;
        let mut known: BTreeSet<String> = sections.into_iter().map(|one| one.name).collect();
        let briefs = changes.iter().filter_map(|change| match change {
            Change::Add { brief, .. } => Some(brief),
            Change::Update { brief, .. } => brief.as_ref(),
        });
        for name in briefs.filter_map(|brief| brief.section.as_ref()) {
            if known.insert(name.clone()) {
                self.add_section(name, Place::Last).await?;
            }
        }
        Ok(())
    }

    async fn carry_over(
        &self,
        change: Change,
        file: &str,
        actor: &Actor,
        done: &mut Imported,
    ) -> Result<CaseId, TaskError> {
        let (id, brief, moves) = match change {
            Change::Add { mut brief, state } => {
                let actor = actor.clone();
                // A dispute is what makes a task disputed; it is opened once the list is there.
                let state = match state {
                    TaskState::Disputed => TaskState::Pending,
                    other => other,
                };
                if let Some(list) = &mut brief.list {
                    list.shown = state;
                }
                let new = NewTask {
                    brief,
                    state,
                    actor,
                };
                let id = self.add_task(new).await?.id;
                done.added.push(id.clone());
                return Ok(id);
            }
            Change::Update {
                id,
                brief,
                edited,
                moves,
            } => {
                if edited {
                    done.edited.push(id.clone());
                } else if moves.is_empty() {
                    done.unchanged += 1;
                }
                (id, brief, moves)
            }
        };
        if let Some(brief) = brief {
            self.edit_task(&id, brief, actor.clone()).await?;
        }
        if !moves.is_empty() {
            self.move_as_marked(&id, &moves, (file, actor), done)
                .await?;
        }
        Ok(id)
    }

    /// Moves a task to where its marker says. What cannot be done is told, and tried again by the
    /// next import.
    async fn move_as_marked(
        &self,
        id: &CaseId,
        moves: &[Move],
        (file, actor): (&str, &Actor),
        done: &mut Imported,
    ) -> Result<(), TaskError> {
        for &step in moves {
            let request = MoveRequest {
                done: step,
                actor: actor.clone(),
                note: Some(format!("marked in {file}")),
            };
            let problem = match self.move_task(id, request).await {
                Ok(moved) => {
                    done.notices.extend(moved.said);
                    continue;
                }
                Err(error @ TaskError::Contradicted { .. }) => error.to_string(),
                Err(TaskError::Case(CaseError::Change(error))) => {
                    format!("task {id} was not moved: {error}")
                }
                Err(error) => return Err(error),
            };
            done.problems.push(problem);
            return self.note_unmoved(id, file, actor).await;
        }
        done.moved.push(id.clone());
        Ok(())
    }

    /// Remembers that the list says something else of a task than is so: the next import tries again.
    async fn note_unmoved(&self, id: &CaseId, file: &str, actor: &Actor) -> Result<(), TaskError> {
        let Task {
            mut brief, state, ..
        } = self.task(id.as_str()).await?.task;
        match brief.line_in(file).cloned() {
            Some(mut line) if line.shown != state => {
                line.shown = state;
                brief.set_line(line);
            }
            _ => return Ok(()),
        }
        self.edit_task(id, brief, actor.clone()).await.map(|_| ())
    }

    /// Carries out what the list says about tasks that come after others. What it said before and
    /// says no longer holds no longer; what was said elsewhere stays.
    async fn order_tasks(
        &self,
        list: &List,
        ids: &[CaseId],
        (file, actor): (&str, &Actor),
        done: &mut Imported,
    ) -> Result<(), TaskError> {
        let mut known = DependencyIndex::of(&self.tasks().await?);
        for ((item, order), id) in list.items.iter().zip(list.orders()).zip(ids) {
            for text in order.unknown {
                done.problems.push(format!(
                    "`{}` comes after `{text}`, which is not in the list",
                    item.title
                ));
            }
            let wanted = order.after.iter().filter_map(|index| ids.get(*index));
            let wanted: BTreeSet<CaseId> = wanted.cloned().collect();
            let mut brief = self.task(id.as_str()).await?.task.brief;
            let Some(mut line) = brief.line_in(file).cloned() else {
                continue;
            };
            let said: Vec<CaseId> = wanted.iter().cloned().collect();
            if line.after == said && wanted.iter().all(|id| brief.depends_on.contains(id)) {
                continue;
            }
            let before = std::mem::replace(&mut line.after, said);
            brief.set_line(line);
            let own = brief.depends_on.iter().filter(|id| !before.contains(id));
            let depends: BTreeSet<CaseId> = own.cloned().chain(wanted).collect();
            let before = std::mem::replace(&mut brief.depends_on, depends.into_iter().collect());
            let is_noted_only = before == brief.depends_on;
            let edited = self.edit_among(&mut known, id, brief, actor.clone()).await;
            match edited {
                Ok(_) if is_noted_only => {}
                Ok(_) if done.added.contains(id) || done.edited.contains(id) => {}
                Ok(_) => {
                    let was_as_it_is = !done.moved.contains(id);
                    done.unchanged -= usize::from(was_as_it_is && done.unchanged > 0);
                    done.edited.push(id.clone());
                }
                Err(TaskError::Unfit(why)) => done.problems.push(why),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Opens a dispute for each new task that is marked as disputed.
    async fn open_marked(
        &self,
        list: &List,
        file: &str,
        ids: &[CaseId],
        actor: &Actor,
        done: &mut Imported,
    ) -> Result<(), TaskError> {
        for (item, id) in list.items.iter().zip(ids) {
            if item.state != TaskState::Disputed || !done.added.contains(id) {
                continue;
            }
            let dispute = NewDispute {
                key: format!("task {id}{MARKED}{file}"),
                subject: Subject::Task {
                    task: id.to_string(),
                    title: item.title.clone(),
                },
                origin: Origin::System,
                gravity: Gravity::Major,
                grounds: Grounds::Other,
                objection: None,
                coder: None,
                reviewer: None,
                rule: String::new(),
                evidence: Vec::new(),
                files: Vec::new(),
                material: None,
                notes: format!("It was marked as disputed in {file} when that was imported."),
                created_by: Some(actor.clone()),
            };
            let opened = self.open_dispute(dispute).await?;
            let mut brief = self.task(id.as_str()).await?.task.brief;
            if let Some(mut line) = brief.line_in(file).cloned() {
                line.shown = TaskState::Disputed;
                brief.set_line(line);
            }
            self.edit_task(id, brief, actor.clone()).await?;
            done.notices
                .push(format!("Task {id} is disputed ({})", opened.id));
        }
        Ok(())
    }
}
