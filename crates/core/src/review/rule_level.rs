//! The level that settings give to a rule of the built-in reviewers.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::finding::Label;
use crate::scale::Severity;
use crate::word::shown_as_word;

/// Rules whose level the settings change, by id.
pub type RuleLevels = BTreeMap<String, RuleLevel>;

/// The level of a rule, in place of the one that it comes with.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum RuleLevel {
    /// The rule does not run.
    Off,
    /// Its findings are low.
    Low,
    /// Its findings are medium.
    Medium,
    /// Its findings are high.
    High,
}

impl RuleLevel {
    /// Returns the word used in config and reports.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }

    /// Returns the label of the rule's findings; nothing when the rule is off.
    #[must_use]
    pub fn label(self) -> Option<Label> {
        match self {
            Self::Off => None,
            Self::Low => Some(Label::Low),
            Self::Medium => Some(Label::Medium),
            Self::High => Some(Label::High),
        }
    }

    /// Returns the severity of the rule's findings; nothing when the rule is off.
    #[must_use]
    pub fn severity(self) -> Option<Severity> {
        self.label().map(Label::severity)
    }
}

shown_as_word!(RuleLevel);
