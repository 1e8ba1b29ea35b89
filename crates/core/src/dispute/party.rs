//! The two sides of a dispute: what each argues, and what it brings forward.

use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::scale::UnknownWord;
use crate::word::shown_as_word;

/// A side of a dispute. It is stated, never told from the name of a model.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Party {
    /// Who made the change.
    Coder,
    /// Who found something wrong with it.
    Reviewer,
}

impl Party {
    /// Returns the word used in the ledger and by commands.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Coder => "coder",
            Self::Reviewer => "reviewer",
        }
    }

    /// Returns the other side.
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Self::Coder => Self::Reviewer,
            Self::Reviewer => Self::Coder,
        }
    }
}

shown_as_word!(Party);

impl FromStr for Party {
    type Err = UnknownWord;

    fn from_str(text: &str) -> Result<Self, UnknownWord> {
        match text {
            "coder" => Ok(Self::Coder),
            "reviewer" => Ok(Self::Reviewer),
            _ => Err(UnknownWord::new("side", text, "coder, reviewer")),
        }
    }
}

/// What one side argues.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Position {
    /// Who says it: the name of an agent, or `human`.
    pub author: String,
    /// The author's model, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The model's family, where it is known; a judge should be of another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub family: Option<String>,
    /// The argument.
    pub text: String,
}

impl Position {
    /// Returns the name shown beside the position: the author, and the model where it is known and is
    /// not the name.
    #[must_use]
    pub fn shown_author(&self) -> String {
        match &self.model {
            Some(model) if *model != self.author => format!("{}, {model}", self.author),
            Some(_) | None => self.author.clone(),
        }
    }
}

/// Why the coder objects to a finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Objection {
    /// The reviewer misread the code.
    FactualError,
    /// Doing it would break what works.
    BreaksFunctionality,
    /// It conflicts with an explicit requirement of the project.
    ConflictsWithRequirement,
    /// The reviewer misunderstood context or intent.
    MisunderstoodContext,
    /// A ground that does not count; a judge is told so.
    Invalid {
        /// What was given as the reason.
        said: String,
    },
}

impl Objection {
    /// Returns it in a few words.
    #[must_use]
    pub fn phrase(&self) -> String {
        match self {
            Self::FactualError => "factual error in the review".to_owned(),
            Self::BreaksFunctionality => "it would break what works".to_owned(),
            Self::ConflictsWithRequirement => {
                "it conflicts with a requirement of the project".to_owned()
            }
            Self::MisunderstoodContext => "the context or intent was misunderstood".to_owned(),
            Self::Invalid { said } => format!("no valid ground: {said}"),
        }
    }

    /// Tells whether it is one of the grounds that count.
    #[must_use]
    pub(crate) fn is_valid(&self) -> bool {
        !matches!(self, Self::Invalid { .. })
    }
}

/// Something that a side brings forward.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Evidence {
    /// Who brings it.
    pub from: Party,
    /// What it is.
    pub kind: EvidenceKind,
    /// Where it can be found, such as `src/db.rs:10` or a file of requirements; may be empty.
    pub reference: String,
    /// What it says.
    pub text: String,
    /// What the program found when it looked.
    pub check: EvidenceCheck,
}

/// What a piece of evidence is.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum EvidenceKind {
    /// A place in the code.
    Code,
    /// A requirement of the project.
    Requirement,
    /// What a test printed.
    TestOutput,
    /// Anything else.
    Other,
}

impl EvidenceKind {
    /// Returns it in words.
    #[must_use]
    pub fn phrase(self) -> &'static str {
        match self {
            Self::Code => "code",
            Self::Requirement => "requirement",
            Self::TestOutput => "test output",
            Self::Other => "other",
        }
    }
}

/// What the program found when it looked at a piece of evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "result", rename_all = "snake_case")]
pub enum EvidenceCheck {
    /// It cannot be checked, or nobody did.
    Unchecked,
    /// It is as stated.
    Confirmed,
    /// It is as stated, and says nothing about what is in dispute.
    Unrelated {
        /// Why not.
        why: String,
    },
    /// It is not as stated.
    Refuted {
        /// What is there instead.
        why: String,
    },
}

impl EvidenceCheck {
    /// Returns it as part of a sentence.
    #[must_use]
    pub fn phrase(&self) -> String {
        match self {
            Self::Unchecked => "not checked".to_owned(),
            Self::Confirmed => "checked: it is there".to_owned(),
            Self::Unrelated { why } => format!("checked: it does not bear on the place ({why})"),
            Self::Refuted { why } => format!("checked: it is not so ({why})"),
        }
    }
}
