//! A case: anything that is recorded as one stream of numbered events and can be resumed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::agent::ErrorClass;
use crate::time::Timestamp;
use crate::word::shown_as_word;

/// What kind of work a case records.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum CaseKind {
    /// One or more prompts put to one agent.
    Ask,
    /// A panel of reviewers on one change.
    Review,
    /// Contestants who answer one challenge before judges.
    Trial,
    /// A piece of work on the list.
    Task,
    /// A heading of the list.
    Section,
    /// The loop over the tasks.
    Run,
    /// A disagreement on record, about a finding or a task.
    Dispute,
}

impl CaseKind {
    /// Returns the word used in the ledger and by commands.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ask => "ask",
            Self::Review => "review",
            Self::Trial => "trial",
            Self::Task => "task",
            Self::Section => "section",
            Self::Run => "run",
            Self::Dispute => "dispute",
        }
    }
}

shown_as_word!(CaseKind);

/// How a case ended. Only `Completed` is good news; nothing else is ever read as approval.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Outcome {
    /// All of its steps gave their answers; a review passed its gate.
    Completed,
    /// A review came to its end, and the gate says no.
    Failed {
        /// How many findings that bind are open.
        open: u32,
    },
    /// At least one step ended without an answer, and trying again is up to the user.
    Inconclusive {
        /// The class of the first failure; nothing when no run failed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        class: Option<ErrorClass>,
        /// What happened, in one sentence.
        cause: String,
    },
}

/// Where a case stands, as told by its events.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum CaseState {
    /// Somebody works on it, or did and was interrupted.
    Open,
    /// It waits, and can be resumed.
    Parked {
        /// Why it waits.
        why: Pause,
        /// When going on makes sense, if that is known.
        until: Option<Timestamp>,
    },
    /// It has ended.
    Closed(Outcome),
}

/// Why a case was parked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "reason", rename_all = "snake_case")]
pub enum Pause {
    /// The provider cannot answer now.
    Provider {
        /// Whose API or tool it is.
        provider: String,
        /// Why it cannot answer.
        class: ErrorClass,
    },
    /// A cap on money, tokens or runs would have been exceeded by the next call.
    Budget {
        /// Which cap it was, such as `case` or `day`.
        cap: String,
        /// The cap and what was spent, in one sentence.
        detail: String,
    },
    /// A person has to decide; nothing goes on by itself.
    Human {
        /// What is waited for, in one line.
        question: String,
    },
    /// The user stopped it.
    Interrupted,
    /// It is a task that waits for its turn, or for a ruling.
    Turn,
}
