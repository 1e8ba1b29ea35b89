//! What the coder says to a finding.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::dispute::{Evidence, Objection};
use crate::word::shown_as_word;

/// The coder's answer to one finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Response {
    /// What it does about the finding.
    #[serde(flatten)]
    pub answer: Answer,
    /// What was changed, or why not.
    pub justification: String,
}

/// What the coder does about a finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "answer", rename_all = "snake_case")]
pub enum Answer {
    /// It says that it changed the files accordingly.
    Implemented,
    /// It leaves it; only what is optional can be left.
    Discarded,
    /// It contradicts.
    Objected {
        /// On what ground.
        objection: Objection,
        /// What it brings forward, with what the program found when it looked.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        evidence: Vec<Evidence>,
    },
}

impl Answer {
    /// Returns the word used in messages and reports.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Implemented => "implemented",
            Self::Discarded => "discarded",
            Self::Objected { .. } => "objected",
        }
    }
}

shown_as_word!(Answer);
