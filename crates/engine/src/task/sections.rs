//! The sections of the list.

use tribunal_core::case::{CaseKind, Pause};
use tribunal_core::event::{EventKind, TaskEvent};
use tribunal_core::task::Section;

use super::{TaskError, one_line};
use crate::Engine;
use crate::case::Case;

/// Where a section is put.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// After all others.
    Last,
    /// Before the section of this name.
    Before(String),
    /// Where it is.
    Same,
}

impl Engine {
    /// Returns the sections in order.
    pub async fn sections(&self) -> Result<Vec<Section>, TaskError> {
        Ok(self.ledger.store().sections().await?)
    }

    /// Adds a section.
    pub async fn add_section(&self, name: &str, place: Place) -> Result<Section, TaskError> {
        let name = self.redactor.redact(&one_line("name", name)?);
        let sections = self.sections().await?;
        if sections.iter().any(|one| one.name == name) {
            let why = format!("there is a section `{name}` already");
            return Err(TaskError::Unfit(why));
        }
        let position = self.make_room(&sections, &place).await?;
        let request = serde_json::json!({ "name": name });
        let case = self.new_case(CaseKind::Section, name.clone(), request);
        let added = TaskEvent::SectionAdded {
            name: name.clone(),
            position,
        };
        let id = case.id().clone();
        case.record([added.into(), at_rest()]).await?;
        Ok(Section { id, name, position })
    }

    /// Gives a section another name or place; its tasks go with it.
    pub async fn change_section(
        &self,
        section: &str,
        name: Option<&str>,
        place: Place,
    ) -> Result<Section, TaskError> {
        let section = self.known_section(section).await?;
        let name = match name {
            Some(name) => self.redactor.redact(&one_line("name", name)?),
            None => section.name.clone(),
        };
        let sections = self.sections().await?;
        let others: Vec<Section> = sections
            .into_iter()
            .filter(|one| one.id != section.id)
            .collect();
        if others.iter().any(|one| one.name == name) {
            let why = format!("there is a section `{name}` already");
            return Err(TaskError::Unfit(why));
        }
        let position = match place {
            Place::Same => section.position,
            place => self.make_room(&others, &place).await?,
        };
        self.set_section(&section, &name, position).await
    }

    /// Removes a section in which no task stands.
    pub async fn remove_section(&self, name: &str) -> Result<(), TaskError> {
        let section = self.known_section(name).await?;
        let tasks = self.tasks().await?;
        let inside = tasks
            .iter()
            .filter(|record| record.task.brief.section.as_deref() == Some(name));
        match inside.count() {
            0 => {}
            n => {
                let why = format!("section `{name}` is not empty: {n} of its tasks stand there");
                return Err(TaskError::Unfit(why));
            }
        }
        let case = self.hold_section(&section).await?;
        let removed = TaskEvent::SectionRemoved { name: section.name };
        case.record([removed.into(), at_rest()]).await?;
        Ok(())
    }

    /// Returns the section of this name.
    pub(super) async fn known_section(&self, name: &str) -> Result<Section, TaskError> {
        let sections = self.sections().await?;
        let known = sections.iter().map(|one| one.name.clone()).collect();
        let found = sections.into_iter().find(|one| one.name == name);
        found.ok_or_else(|| TaskError::NoSuchSection {
            name: name.to_owned(),
            known,
        })
    }

    /// Returns the place for a section, after moving up those that stand there and behind.
    async fn make_room(&self, others: &[Section], place: &Place) -> Result<u64, TaskError> {
        let after_last = others.iter().map(|one| one.position).max().unwrap_or(0) + 1;
        let Place::Before(name) = place else {
            return Ok(after_last);
        };
        let Some(next) = others.iter().find(|one| one.name == *name) else {
            return Err(TaskError::NoSuchSection {
                name: name.clone(),
                known: others.iter().map(|one| one.name.clone()).collect(),
            });
        };
        let position = next.position;
        // From the last on, so that no two ever share a place.
        for other in others
            .iter()
            .rev()
            .filter(|other| other.position >= position)
        {
            self.set_section(other, &other.name, other.position + 1)
                .await?;
        }
        Ok(position)
    }

    async fn set_section(
        &self,
        section: &Section,
        name: &str,
        position: u64,
    ) -> Result<Section, TaskError> {
        let case = self.hold_section(section).await?;
        let changed = TaskEvent::SectionChanged {
            name: name.to_owned(),
            position,
        };
        case.record([changed.into(), at_rest()]).await?;
        Ok(Section {
            id: section.id.clone(),
            name: name.to_owned(),
            position,
        })
    }

    async fn hold_section(&self, section: &Section) -> Result<Case, TaskError> {
        Ok(self.take_over(&section.id).await?)
    }
}

fn at_rest() -> EventKind {
    let (why, until) = (Pause::Turn, None);
    EventKind::CaseParked { why, until }
}
