//! What was said about a finding after the first round, and what a judge made of it.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::reply::Side;
use crate::review::{Plea, Stance};
use crate::scale::{Adjustment, Severity};

/// What one reviewer said in round 2 or 3.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Statement {
    /// In which round.
    pub round: u8,
    /// Who.
    pub reviewer: String,
    /// Of which family.
    pub family: String,
    /// What it does with the finding.
    pub action: Action,
    /// How far it wants to move the confidence.
    pub adjustment: Adjustment,
    /// Why.
    pub reasoning: String,
    /// The severity after second thoughts of the author.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revised_severity: Option<Severity>,
    /// The description after second thoughts of the author.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revised_description: Option<String>,
    /// Why it was not counted; nothing when it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_counted: Option<String>,
}

/// What a reviewer does with a finding in a debate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Action {
    /// Round 2: it examines the finding of another.
    Examined(Stance),
    /// Round 3: it answers for its own.
    Pleaded(Plea),
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Examined(stance) => stance.fmt(f),
            Self::Pleaded(plea) => plea.fmt(f),
        }
    }
}

/// What a judge made of a contested finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Weighed {
    /// Who.
    pub judge: String,
    /// Which side has the better evidence.
    pub side: Side,
    /// The severity that the evidence bears out, where that was the question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub severity: Option<Severity>,
    /// Why.
    pub reason: String,
}
