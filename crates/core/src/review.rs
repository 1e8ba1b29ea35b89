//! The rounds after the first: how reviewers examine each other's findings and defend their own.

pub mod arbitration;
pub mod contest;
pub mod coverage;
pub mod docket;
pub mod evidence;
pub mod gate;
pub mod history;
pub mod identity;
pub mod report;
pub mod response;
pub mod rule_level;
#[cfg(test)]
pub(crate) mod sample;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::finding::Finding;
use crate::scale::{Adjustment, Severity};
use crate::word::shown_as_word;

/// Round 2: what one reviewer says about a finding of another.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Examination {
    /// The name of the examining reviewer.
    pub reviewer: String,
    /// Its model family; empty when nobody said.
    #[serde(default)]
    pub family: String,
    /// The finding, by its id or as `file:line:title`.
    pub finding_id: String,
    /// Whose finding it is, when ids alone do not tell.
    #[serde(default)]
    pub original_model: Option<String>,
    /// What the examiner thinks of it.
    pub stance: Stance,
    /// How far the confidence should move.
    #[serde(default)]
    pub adjustment: Adjustment,
    /// Why.
    #[serde(default)]
    pub reasoning: String,
    /// What the examiner found on the way.
    #[serde(default)]
    pub new_observations: Vec<Finding>,
}

/// What an examiner thinks of a finding. No answer is no stance.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Stance {
    /// It is true.
    Agree,
    /// Part of it is true.
    Partial,
    /// It is not true.
    Disagree,
}

impl Stance {
    /// Returns the word used in messages and reports.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Agree => "agree",
            Self::Partial => "partial",
            Self::Disagree => "disagree",
        }
    }
}

shown_as_word!(Stance);

/// Round 3: what the author of a finding says after the examination.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Defense {
    /// The name of the author.
    pub reviewer: String,
    /// The finding, by its id or as `file:line:title`.
    pub finding_id: String,
    /// What the author does with it.
    pub plea: Plea,
    /// How far the confidence should move; counts for `Modify` alone.
    #[serde(default)]
    pub adjustment: Adjustment,
    /// Why.
    #[serde(default)]
    pub reasoning: String,
    /// The severity after second thoughts.
    #[serde(default)]
    pub revised_severity: Option<Severity>,
    /// The description after second thoughts.
    #[serde(default)]
    pub revised_description: Option<String>,
}

/// What an author does with a finding that was examined. No answer is no plea.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Plea {
    /// Stands by it.
    Defend,
    /// Takes it back.
    Concede,
    /// Changes it.
    Modify,
}

impl Plea {
    /// Returns the word used in messages and reports.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Defend => "defend",
            Self::Concede => "concede",
            Self::Modify => "modify",
        }
    }
}

shown_as_word!(Plea);
