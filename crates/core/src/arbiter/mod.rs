//! The arbiter decides procedure: who works next on a task, and whether the work goes on.
//!
//! Rules decide first, then a decision that was made before on the same input, then a model; when
//! all of them are silent, [`rules::fallback`] decides. Whoever decided, and why, is recorded. An
//! arbiter never approves: what it calls complete goes to a review.

pub mod rules;

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::agent::ErrorClass;
use crate::task::plan::Plan;

/// Somebody who can be chosen.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Candidate {
    /// By which name; either that of a configured agent or that of what it does.
    pub name: String,
    /// What it does.
    pub does: Work,
    /// When to choose it, in a sentence.
    pub when_to_use: String,
}

/// What somebody who was chosen does.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Work {
    /// Makes a plan.
    Plan,
    /// Changes files.
    Develop,
    /// Runs the project's tests.
    Test,
    /// Submits the work to the review.
    Review,
}

/// One thing that was done for a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Execution {
    /// Its number among those of the task, from 1.
    pub iteration: u32,
    /// Who was chosen.
    pub mode: String,
    /// What came of it.
    #[serde(flatten)]
    pub result: ExecutionResult,
    /// What it says about it, shortened.
    pub summary: String,
}

/// What came of an execution.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "result", rename_all = "snake_case")]
pub enum ExecutionResult {
    /// There is a plan.
    Planned {
        /// How many steps it has.
        steps: u32,
    },
    /// Files were changed.
    Worked {
        /// Which ones.
        files: Vec<String>,
    },
    /// Nothing was changed.
    Unchanged,
    /// The project's tests were run.
    Tested {
        /// Whether they passed.
        passed: bool,
    },
    /// A review sent the work back.
    Rejected {
        /// How many findings stand in the way.
        open: u32,
    },
    /// No usable answer came.
    Failed {
        /// Why.
        class: ErrorClass,
    },
}

/// What is asked before somebody works.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SelectInput {
    /// The task with all that the coder has to observe.
    pub task: String,
    /// The plan, if there is one.
    pub plan: Option<Plan>,
    /// What was done so far, oldest first.
    pub history: Vec<Execution>,
    /// What went wrong last, if something did.
    pub last_error: Option<String>,
    /// Who can be chosen.
    pub agents: Vec<Candidate>,
}

/// What is asked after somebody worked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EvaluateInput {
    /// The task with all that the coder has to observe.
    pub task: String,
    /// The plan, if there is one.
    pub plan: Option<Plan>,
    /// What was done so far, oldest first.
    pub history: Vec<Execution>,
    /// What was done last.
    pub last_execution: Execution,
}

/// A question to the arbiter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "question", rename_all = "snake_case")]
pub enum Question {
    /// Who works next?
    SelectAgent(SelectInput),
    /// Does the work go on?
    EvaluateProgress(EvaluateInput),
}

/// Which question it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum QuestionKind {
    /// Who works next?
    SelectAgent,
    /// Does the work go on?
    EvaluateProgress,
}

impl fmt::Display for QuestionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::SelectAgent => "select_agent",
            Self::EvaluateProgress => "evaluate_progress",
        })
    }
}

/// What the arbiter decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "decision", rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Decision {
    /// This one works next.
    SelectMode {
        /// The name of a candidate.
        mode: String,
        /// Why.
        reason: String,
    },
    /// The work goes on.
    Continue {
        /// Why.
        reason: String,
    },
    /// There is nothing left to do but the review.
    Complete {
        /// What was done.
        summary: String,
    },
    /// The one who worked last tries again, in another way.
    Retry {
        /// Why.
        reason: String,
    },
}

impl Decision {
    /// Returns the word that a model answers with.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::SelectMode { .. } => "SELECT_MODE",
            Self::Continue { .. } => "CONTINUE",
            Self::Complete { .. } => "COMPLETE",
            Self::Retry { .. } => "RETRY",
        }
    }

    /// Returns why it was decided, or what was done.
    #[must_use]
    pub fn reason(&self) -> &str {
        match self {
            Self::SelectMode { reason, .. }
            | Self::Continue { reason }
            | Self::Retry { reason } => reason,
            Self::Complete { summary } => summary,
        }
    }
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SelectMode { mode, .. } => write!(f, "SELECT_MODE {mode}"),
            Self::Continue { .. } | Self::Complete { .. } | Self::Retry { .. } => {
                f.write_str(self.word())
            }
        }
    }
}

/// Who decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "source", rename_all = "snake_case")]
pub enum Source {
    /// A rule.
    Rule {
        /// Its number in the list, from 1.
        rule: u32,
        /// The rule in words.
        says: String,
    },
    /// A model that was asked the same before.
    Cache,
    /// A model.
    Model {
        /// Which attempt it was, from 1.
        attempt: u32,
    },
    /// The program, because nobody else could.
    Fallback {
        /// Why nobody else could.
        because: String,
    },
}

impl Source {
    /// Returns the word for statistics.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Rule { .. } => "rule",
            Self::Cache => "cache",
            Self::Model { .. } => "model",
            Self::Fallback { .. } => "fallback",
        }
    }
}

impl Question {
    /// Returns which question it is.
    #[must_use]
    pub fn kind(&self) -> QuestionKind {
        match self {
            Self::SelectAgent(_) => QuestionKind::SelectAgent,
            Self::EvaluateProgress(_) => QuestionKind::EvaluateProgress,
        }
    }

    /// Returns what was done so far.
    #[must_use]
    pub fn history(&self) -> &[Execution] {
        match self {
            Self::SelectAgent(input) => &input.history,
            Self::EvaluateProgress(input) => &input.history,
        }
    }

    /// Returns the plan, if there is one.
    #[must_use]
    pub fn plan(&self) -> Option<&Plan> {
        match self {
            Self::SelectAgent(input) => input.plan.as_ref(),
            Self::EvaluateProgress(input) => input.plan.as_ref(),
        }
    }

    /// Returns what was done last.
    #[must_use]
    pub fn last(&self) -> Option<&Execution> {
        match self {
            Self::SelectAgent(input) => input.history.last(),
            Self::EvaluateProgress(input) => Some(&input.last_execution),
        }
    }

    /// Returns the names that may be chosen; none when that is not the question.
    #[must_use]
    pub fn candidates(&self) -> &[Candidate] {
        match self {
            Self::SelectAgent(input) => &input.agents,
            Self::EvaluateProgress(_) => &[],
        }
    }

    /// Returns the text by which the same question is recognised: all of the input, with blanks at
    /// the ends of lines and the order of candidates made the same.
    #[must_use]
    pub fn normalized(&self) -> String {
        let tidy = |text: &str| {
            let lines: Vec<&str> = text.trim().lines().map(str::trim_end).collect();
            lines.join("\n")
        };
        let mut question = self.clone();
        match &mut question {
            Self::SelectAgent(input) => {
                input.task = tidy(&input.task);
                input.last_error = input.last_error.as_deref().map(tidy);
                input.agents.sort();
            }
            Self::EvaluateProgress(input) => input.task = tidy(&input.task),
        }
        serde_json::to_string(&question).unwrap_or_default()
    }
}
