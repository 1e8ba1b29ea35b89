//! The closed words of disputes: where from, how grave, on which grounds, where it stands.

use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::scale::UnknownWord;
use crate::word::shown_as_word;

/// Where a dispute came from.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// The coder's side refuses a finding or a rejection.
    Objection,
    /// The reviewer's side refuses the work.
    Rejection,
    /// Rounds were used up, or the same finding came back.
    Deadlock,
    /// The consensus could not settle a finding.
    SplitReview,
    /// The program opened it.
    System,
    /// A disagreement that was only noted.
    Minor,
}

impl Origin {
    /// Returns the word used in the ledger and by commands.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Objection => "objection",
            Self::Rejection => "rejection",
            Self::Deadlock => "deadlock",
            Self::SplitReview => "split_review",
            Self::System => "system",
            Self::Minor => "minor",
        }
    }
}

shown_as_word!(Origin);

/// Whether a dispute needs a ruling.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Gravity {
    /// It needs a ruling, and its task waits for that.
    Major,
    /// It is only noted; the coder's way holds.
    Minor,
}

impl Gravity {
    /// Returns the word used in the ledger and by commands.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Major => "major",
            Self::Minor => "minor",
        }
    }
}

shown_as_word!(Gravity);

/// The kind of reason for a dispute.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Grounds {
    /// There are two technical approaches.
    ArchitectureDisagreement,
    /// The requirements can be read in two ways.
    SpecificationAmbiguity,
    /// Two guidelines contradict each other.
    GuidelineConflict,
    /// Somebody sees a vulnerability.
    SecurityConcern,
    /// It is unclear what belongs to the work.
    ScopeDisagreement,
    /// Something else; the positions say what.
    Other,
}

impl Grounds {
    /// All grounds, in the order in which they are listed.
    pub const ALL: [Self; 6] = [
        Self::ArchitectureDisagreement,
        Self::SpecificationAmbiguity,
        Self::GuidelineConflict,
        Self::SecurityConcern,
        Self::ScopeDisagreement,
        Self::Other,
    ];

    /// Returns the word used in the ledger and by commands.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ArchitectureDisagreement => "architecture_disagreement",
            Self::SpecificationAmbiguity => "specification_ambiguity",
            Self::GuidelineConflict => "guideline_conflict",
            Self::SecurityConcern => "security_concern",
            Self::ScopeDisagreement => "scope_disagreement",
            Self::Other => "other",
        }
    }

    /// Returns the first word alone, for tables.
    #[must_use]
    pub fn short(self) -> &'static str {
        self.as_str().split('_').next().unwrap_or_default()
    }

    /// Returns it as people write it: `Architecture disagreement`.
    #[must_use]
    pub fn phrase(self) -> &'static str {
        match self {
            Self::ArchitectureDisagreement => "Architecture disagreement",
            Self::SpecificationAmbiguity => "Specification ambiguity",
            Self::GuidelineConflict => "Guideline conflict",
            Self::SecurityConcern => "Security concern",
            Self::ScopeDisagreement => "Scope disagreement",
            Self::Other => "Other",
        }
    }
}

shown_as_word!(Grounds);

impl FromStr for Grounds {
    type Err = UnknownWord;

    fn from_str(text: &str) -> Result<Self, UnknownWord> {
        let word = text.trim().to_ascii_lowercase().replace(['-', ' '], "_");
        if word == "specification_interpretation" {
            return Ok(Self::SpecificationAmbiguity);
        }
        let known = Self::ALL.into_iter().find(|one| one.as_str() == word);
        known.ok_or_else(|| {
            UnknownWord::new(
                "reason",
                text,
                "architecture_disagreement, specification_ambiguity, guideline_conflict, \
                 security_concern, scope_disagreement, other",
            )
        })
    }
}

/// Where a dispute stands, in one word.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It waits for a ruling.
    Open,
    /// It was ruled.
    Resolved,
    /// It was only noted.
    Noted,
}

impl Status {
    /// Returns the word used in the ledger and by commands.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Resolved => "resolved",
            Self::Noted => "noted",
        }
    }
}

shown_as_word!(Status);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grounds_are_read_as_people_type_them() {
        for (text, expected) in [
            (
                "architecture_disagreement",
                Ok(Grounds::ArchitectureDisagreement),
            ),
            (
                "specification_interpretation",
                Ok(Grounds::SpecificationAmbiguity),
            ),
            ("Security-Concern", Ok(Grounds::SecurityConcern)),
            ("other", Ok(Grounds::Other)),
            ("taste", Err(())),
            ("", Err(())),
        ] {
            assert_eq!(text.parse::<Grounds>().map_err(|_| ()), expected, "{text}");
        }
        for grounds in Grounds::ALL {
            assert_eq!(grounds.as_str().parse(), Ok(grounds));
            let json = serde_json::to_string(&grounds).expect("a unit variant serializes");
            assert_eq!(json, format!("\"{grounds}\""));
        }
    }
}
