//! Which task a line is about while several are worked on.

use std::collections::BTreeMap;

use tribunal_core::event::{Event, EventKind, WorkEvent};
use tribunal_core::ids::CaseId;
use tribunal_core::text::truncate_chars;

/// Longest title before a line, in characters.
const LONGEST: usize = 24;

/// The tasks that are worked on now.
#[derive(Debug, Default)]
pub(crate) struct Held {
    /// Titles by the cases of tasks.
    tasks: BTreeMap<CaseId, String>,
    /// The tasks on whose behalf other cases were opened.
    parents: BTreeMap<CaseId, CaseId>,
    /// Whether several were worked on at once, so that each line says which one it is about.
    has_lanes: bool,
}

impl Held {
    /// Takes note of what is begun and what is left.
    pub(crate) fn know(&mut self, event: &Event) {
        match &event.kind {
            EventKind::Work(WorkEvent::TaskTaken { task, title, .. }) => {
                let title = truncate_chars(title, LONGEST).into_owned();
                self.tasks.insert(task.clone(), title);
                self.has_lanes |= self.tasks.len() > 1;
            }
            EventKind::Work(WorkEvent::TaskLeft { task, .. }) => {
                self.tasks.remove(task);
            }
            EventKind::CaseOpened { request, .. } => {
                let parent = request.get("parent").and_then(|parent| parent.as_str());
                if let Some(Ok(parent)) = parent.map(CaseId::new) {
                    self.parents.insert(event.case.clone(), parent);
                }
            }
            _ => {}
        }
    }

    /// Returns the title of the task on whose behalf something happens in a case.
    pub(crate) fn title(&self, case: &CaseId) -> Option<&str> {
        // A dispute belongs to a review, and that to a task.
        let parent = self.parents.get(case);
        let above = parent.and_then(|parent| self.parents.get(parent));
        let known = [Some(case), parent, above].into_iter().flatten();
        let mut titles = known.filter_map(|case| self.tasks.get(case));
        titles.next().map(String::as_str)
    }

    /// Returns the same where it is needed: tasks that are worked on one after the other are not named in
    /// each line.
    pub(crate) fn title_among_others(&self, case: &CaseId) -> Option<&str> {
        self.title(case).filter(|_| self.has_lanes)
    }
}
