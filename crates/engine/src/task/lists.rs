//! Lists in Markdown files: imported into the ledger, and written with the markers of today.

use std::collections::BTreeSet;

use tribunal_core::ids::CaseId;
use tribunal_core::task::list::{Change, Ids, List, plan_import};
use tribunal_core::task::{Actor, ListLine, Task};

use super::{MoveRequest, NewTask, Place, TaskError};
use crate::Engine;

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
    /// What could not be done, in sentences.
    pub problems: Vec<String>,
}

impl Engine {
    /// Takes over a list from the text of a file. Doing it again changes nothing.
    pub async fn import_list(
        &self,
        file: &str,
        text: &str,
        actor: Actor,
    ) -> Result<Imported, TaskError> {
        let list = List::read(text);
        self.make_sections(&list).await?;
        let known: Vec<Task> = self.plain_tasks().await?;
        let plan = plan_import(&list, file, &known);
        let mut done = Imported {
            missing: plan.missing,
            problems: plan.problems,
            ..Imported::default()
        };
        let mut ids = Vec::new();
        for change in plan.changes {
            ids.push(self.carry_over(change, file, &actor, &mut done).await?);
        }
        self.order_tasks(&list, &ids, &actor, &mut done).await?;
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
        let plan = plan_import(&List::read(text), file, &tasks);
        for change in plan.changes {
            let Change::Update { id, .. } = change else {
                continue;
            };
            let Some(task) = tasks.iter().find(|task| task.id == id) else {
                continue;
            };
            let list = Some(ListLine {
                file: file.to_owned(),
                shown: task.state,
            });
            if task.brief.list != list {
                let mut brief = task.brief.clone();
                brief.list = list;
                self.edit_task(&id, brief, actor.clone()).await?;
            }
        }
        Ok(())
    }

    async fn plain_tasks(&self) -> Result<Vec<Task>, TaskError> {
        let records = self.tasks().await?;
        Ok(records.into_iter().map(|record| record.task).collect())
    }

    async fn make_sections(&self, list: &List) -> Result<(), TaskError> {
        let sections = self.sections().await?;
        let mut known: BTreeSet<String> = sections.into_iter().map(|one| one.name).collect();
        for name in list.items.iter().filter_map(|item| item.section.as_ref()) {
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
            Change::Add { brief, state } => {
                let actor = actor.clone();
                let new = NewTask {
                    brief,
                    state,
                    actor,
                };
                let id = self.add_task(new).await?.id;
                done.added.push(id.clone());
                return Ok(id);
            }
            Change::Update { id, brief, moves } => (id, brief, moves),
        };
        if brief.is_none() && moves.is_empty() {
            done.unchanged += 1;
        }
        if let Some(brief) = brief {
            self.edit_task(&id, brief, actor.clone()).await?;
            done.edited.push(id.clone());
        }
        for &step in &moves {
            let request = MoveRequest {
                done: step,
                actor: actor.clone(),
                note: Some(format!("marked in {file}")),
            };
            self.move_task(&id, request).await?;
        }
        if !moves.is_empty() {
            done.moved.push(id.clone());
        }
        Ok(id)
    }

    /// Carries out what the list says about tasks that come after others.
    async fn order_tasks(
        &self,
        list: &List,
        ids: &[CaseId],
        actor: &Actor,
        done: &mut Imported,
    ) -> Result<(), TaskError> {
        for (item, id) in list.items.iter().zip(ids) {
            if item.after.is_empty() {
                continue;
            }
            let mut wanted = BTreeSet::new();
            for title in &item.after {
                let named = |other: &CaseId| other.as_str() == title;
                let by_title = list.items.iter().position(|other| other.title == *title);
                match by_title.or_else(|| ids.iter().position(named)) {
                    Some(index) => wanted.extend(ids.get(index).cloned()),
                    None => done.problems.push(format!(
                        "`{}` comes after `{title}`, which is not in the list",
                        item.title
                    )),
                }
            }
            let mut brief = self.task(id.as_str()).await?.task.brief;
            let wanted: Vec<CaseId> = wanted.into_iter().collect();
            if brief.depends_on != wanted {
                brief.depends_on = wanted;
                match self.edit_task(id, brief, actor.clone()).await {
                    Ok(_) if done.added.contains(id) => {}
                    Ok(_) => done.edited.push(id.clone()),
                    Err(TaskError::Unfit(why)) => done.problems.push(why),
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(())
    }
}
