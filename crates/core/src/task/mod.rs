//! Tasks: pieces of work that the loop drives to their end, and the sections that order them.
//!
//! A task is a case of its own, and its id is the id of that case. Where it stands is told by its
//! events; [`transition::step`] decides which moves are possible, [`next::queue`] which
//! task is next.

pub mod audit;
pub mod list;
pub mod next;
pub mod plan;
pub mod reviewed;
pub mod source;
pub mod transition;

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::{AgentName, CaseId};
use crate::scale::UnknownWord;
use crate::word::shown_as_word;

/// Where a task stands.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum TaskState {
    /// Nobody has begun: `[ ]`.
    Pending,
    /// A coder works on it, or is to go on with it: `[-]`.
    InProgress,
    /// The work waits for its review: `[o]`.
    InReview,
    /// The work was approved: `[x]`.
    Completed,
    /// Coder and reviewer disagree; it is done enough for the loop to move on: `[!]`.
    Disputed,
    /// It could not be done: `[F]`.
    Failed,
    /// Somebody decided that it is not to be done: `[S]`.
    Skipped,
}

impl TaskState {
    /// All states, in the order of a task's life.
    pub const ALL: [Self; 7] = [
        Self::Pending,
        Self::InProgress,
        Self::InReview,
        Self::Completed,
        Self::Disputed,
        Self::Failed,
        Self::Skipped,
    ];

    /// Returns the word used in the ledger and by commands.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::InProgress => "in_progress",
            Self::InReview => "in_review",
            Self::Completed => "completed",
            Self::Disputed => "disputed",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
        }
    }

    /// Returns the character between the brackets of a task's line in a list.
    #[must_use]
    pub fn marker(self) -> char {
        match self {
            Self::Pending => ' ',
            Self::InProgress => '-',
            Self::InReview => 'o',
            Self::Completed => 'x',
            Self::Disputed => '!',
            Self::Failed => 'F',
            Self::Skipped => 'S',
        }
    }

    /// Returns the state that a marker stands for; `X` and `O` are understood as well.
    #[must_use]
    pub(crate) fn from_marker(marker: char) -> Option<Self> {
        let marker = match marker {
            'X' => 'x',
            'O' => 'o',
            other => other,
        };
        Self::ALL.into_iter().find(|state| state.marker() == marker)
    }

    /// Tells whether the loop has nothing left to do for the task.
    #[must_use]
    pub fn is_settled(self) -> bool {
        match self {
            Self::Pending | Self::InProgress | Self::InReview => false,
            Self::Completed | Self::Disputed | Self::Failed | Self::Skipped => true,
        }
    }

    /// Tells whether a task that depends on this one may begin.
    ///
    /// A disputed task is done enough, and one that was skipped is not waited for.
    #[must_use]
    pub(crate) fn satisfies(self) -> bool {
        match self {
            Self::Completed | Self::Disputed | Self::Skipped => true,
            Self::Pending | Self::InProgress | Self::InReview | Self::Failed => false,
        }
    }
}

shown_as_word!(TaskState);

impl FromStr for TaskState {
    type Err = UnknownWord;

    fn from_str(text: &str) -> Result<Self, UnknownWord> {
        let known = Self::ALL.into_iter().find(|state| state.as_str() == text);
        let words = "pending, in_progress, in_review, completed, disputed, failed, skipped";
        known.ok_or_else(|| UnknownWord::new("state", text, words))
    }
}

/// How urgent a task is among those of its section.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Default,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Priority {
    /// Before all others of its section.
    High,
    /// In its place.
    #[default]
    Normal,
    /// After all others of its section.
    Low,
}

impl Priority {
    /// All priorities, the most urgent first.
    pub const ALL: [Self; 3] = [Self::High, Self::Normal, Self::Low];

    /// Returns the word used in the ledger and by commands.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::High => "high",
            Self::Normal => "normal",
            Self::Low => "low",
        }
    }
}

shown_as_word!(Priority);

impl FromStr for Priority {
    type Err = UnknownWord;

    fn from_str(text: &str) -> Result<Self, UnknownWord> {
        let known = Self::ALL.into_iter().find(|one| one.as_str() == text);
        known.ok_or_else(|| UnknownWord::new("priority", text, "high, normal, low"))
    }
}

/// What is to be done, as it was asked for. All of it may be edited later.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Brief {
    /// The task in one line.
    pub title: String,
    /// What more there is to say.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub details: String,
    /// The section it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub section: Option<String>,
    /// The file that specifies it, with an optional heading: `docs/SPEC.md#login`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// How urgent it is within its section.
    pub priority: Priority,
    /// Its place among those of its section and priority.
    pub position: u64,
    /// The tasks that must be done before.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<CaseId>,
    /// The field it belongs to, by which a coder is chosen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub domain: Option<String>,
    /// The line of the first list that it was imported from or exported to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub list: Option<ListLine>,
    /// Its lines in other lists.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub more_lists: Vec<ListLine>,
}

impl Brief {
    /// Returns its lines in lists.
    pub fn lines(&self) -> impl Iterator<Item = &ListLine> {
        self.list.iter().chain(&self.more_lists)
    }

    /// Returns its line in the list of this file.
    #[must_use]
    pub fn line_in(&self, file: &str) -> Option<&ListLine> {
        self.lines().find(|line| line.file == file)
    }

    /// Puts its line in place of the one in the same file.
    pub fn set_line(&mut self, line: ListLine) {
        let Some(first) = &mut self.list else {
            self.list = Some(line);
            return;
        };
        let mut lines = std::iter::once(first).chain(&mut self.more_lists);
        match lines.find(|known| known.file == line.file) {
            Some(known) => *known = line,
            None => self.more_lists.push(line),
        }
    }

    /// Tells whether both ask for the same, whatever lists they stand in.
    #[must_use]
    pub fn asks_the_same_as(&self, other: &Self) -> bool {
        let mut here = self.clone();
        here.list.clone_from(&other.list);
        here.more_lists.clone_from(&other.more_lists);
        here == *other
    }
}

/// The line of a Markdown list that means a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ListLine {
    /// The list's file, by its path within the project.
    pub file: String,
    /// The state that its marker showed when the list was last read or written.
    pub shown: TaskState,
    /// The tasks that it came after by then.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<CaseId>,
    /// Whether an export wrote the line. Other lines were imported.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub written: bool,
}

/// A task as it stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Task {
    /// Its identity, which is that of its case.
    pub id: CaseId,
    /// What is to be done.
    #[serde(flatten)]
    pub brief: Brief,
    /// Where it stands.
    pub state: TaskState,
    /// How often its work was rejected.
    pub rejections: u32,
    /// What the coder has to observe beyond the brief: the last rejection, or a ruling.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// The commit that holds its newest work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
}

/// A heading under which tasks stand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Section {
    /// Its identity, which is that of its case.
    pub id: CaseId,
    /// Its name, unique among sections.
    pub name: String,
    /// Its place among sections.
    pub position: u64,
}

/// Who moved a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "by", rename_all = "snake_case")]
pub enum Actor {
    /// A person at the command line, or a program on their behalf.
    Human {
        /// Who, where it was said.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
    },
    /// An agent whose answer was taken.
    Agent {
        /// Which one.
        agent: AgentName,
    },
    /// A side of a dispute, or who ruled on it.
    Named {
        /// As what: coder, reviewer, judge or jury.
        role: String,
        /// The name of an agent, a model or a person.
        name: String,
        /// The model, where it is known and is not the name.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
    },
    /// The loop, by its rules.
    System,
}

impl Actor {
    /// Returns somebody who acts in a role. A model that is the name as well is said once.
    #[must_use]
    pub fn named(role: &str, name: &str, model: Option<&str>) -> Self {
        Self::Named {
            role: role.to_owned(),
            name: name.to_owned(),
            model: model.filter(|model| *model != name).map(str::to_owned),
        }
    }
}

impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Human { name: Some(name) } => f.write_str(name),
            Self::Human { name: None } => f.write_str("human"),
            Self::Agent { agent } => write!(f, "{agent}"),
            Self::Named {
                role,
                name,
                model: Some(model),
            } => write!(f, "{role} {name} ({model})"),
            Self::Named { role, name, .. } => write!(f, "{role} {name}"),
            Self::System => f.write_str("system"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_state_has_a_marker_and_a_word_of_its_own() {
        for state in TaskState::ALL {
            assert_eq!(TaskState::from_marker(state.marker()), Some(state));
            assert_eq!(state.as_str().parse(), Ok(state));
        }
        assert_eq!(TaskState::from_marker('X'), Some(TaskState::Completed));
        assert_eq!(TaskState::from_marker('?'), None);
        assert!("done".parse::<TaskState>().is_err());
    }
}
