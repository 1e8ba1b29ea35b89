//! What happens to tasks and to the sections that order them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::task::transition::Move;
use crate::task::{Actor, Brief, TaskState};

/// What happened to a task or a section, in the past tense.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum TaskEvent {
    /// A task was put on the list.
    TaskAdded {
        /// What is to be done.
        task: Brief,
        /// Where it stood when it was added; an imported one may have been done before.
        state: TaskState,
        /// Who added it.
        #[serde(flatten)]
        actor: Actor,
    },
    /// What is to be done was changed.
    TaskEdited {
        /// What is to be done from now on.
        task: Brief,
        /// Who changed it.
        #[serde(flatten)]
        actor: Actor,
    },
    /// A task went from one state to another.
    TaskMoved {
        /// What was done with it.
        done: Move,
        /// Where it stood.
        from: TaskState,
        /// Where it stands now.
        to: TaskState,
        /// Who did it.
        #[serde(flatten)]
        actor: Actor,
        /// Why, or what the coder has to observe.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
        /// How often its work has been rejected, this time included.
        rejections: u32,
    },
    /// The work on a task was kept as a commit.
    WorkKept {
        /// The commit.
        commit: String,
        /// The ref of our own repository that holds it.
        branch: String,
        /// The files that it changes.
        files: Vec<String>,
    },
    /// A section was made.
    SectionAdded {
        /// Its name.
        name: String,
        /// Its place among sections.
        position: u64,
    },
    /// A section got another name or place.
    SectionChanged {
        /// Its name from now on.
        name: String,
        /// Its place from now on.
        position: u64,
    },
    /// A section was removed; no task stood in it.
    SectionRemoved {
        /// The name it had.
        name: String,
    },
}

impl TaskEvent {
    /// The words in `type` that belong to this family.
    pub const TYPES: [&'static str; 7] = [
        "task_added",
        "task_edited",
        "task_moved",
        "work_kept",
        "section_added",
        "section_changed",
        "section_removed",
    ];
}
