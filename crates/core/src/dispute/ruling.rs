//! What settles a dispute: recourse, what judges answer, rulings and who made them.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Terms;
use crate::scale::UnknownWord;
use crate::task::Actor;
use crate::time::Timestamp;
use crate::word::shown_as_word;

/// How a dispute is to be resolved.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Recourse {
    /// A judge rules; without one the dispute waits for a human.
    Judge,
    /// A human rules; until then the dispute stays open.
    Human,
    /// The finding is dismissed at once.
    Discard,
}

impl Recourse {
    /// Returns the word used in config, the ledger and by commands.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Judge => "judge",
            Self::Human => "human",
            Self::Discard => "discard",
        }
    }
}

shown_as_word!(Recourse);

/// Who chose a recourse.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Chooser {
    /// A person.
    #[default]
    Human,
    /// `review.on_dispute.default`.
    Config,
    /// Nobody: a judge was wanted and none is configured, so that a person remains.
    Nobody,
}

impl Chooser {
    /// Returns why a person is asked to rule when this one chose it.
    #[must_use]
    pub fn why_human(self) -> &'static str {
        match self {
            Self::Human => "a person chose to decide",
            Self::Config => "the config leaves it to a person",
            Self::Nobody => "no judge is configured",
        }
    }
}

/// What settles the matter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "decision", rename_all = "snake_case")]
pub enum Decision {
    /// The reviewer's side is right: the finding is to be carried out.
    Enforce,
    /// The coder's side is right: the finding falls.
    Dismiss,
    /// Neither as it stands: these instructions take their place.
    Amend {
        /// What the coder is to do.
        instructions: String,
    },
}

impl Decision {
    /// Returns the word for whose side it takes: `reviewer`, `coder`, `custom`.
    #[must_use]
    pub fn side(&self) -> &'static str {
        match self {
            Self::Enforce => "reviewer",
            Self::Dismiss => "coder",
            Self::Amend { .. } => "custom",
        }
    }

    /// Returns it in the words of judges and in those of people, side by side.
    #[must_use]
    pub fn phrase(&self) -> &'static str {
        match self {
            Self::Enforce => "ENFORCE, for the reviewer",
            Self::Dismiss => "DISMISS, for the coder",
            Self::Amend { .. } => "AMEND, custom instructions",
        }
    }

    /// Returns the word that judges use.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::Enforce => "ENFORCE",
            Self::Dismiss => "DISMISS",
            Self::Amend { .. } => "AMEND",
        }
    }
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// What a judge can answer.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// The finding is to be carried out.
    Enforce,
    /// The finding falls.
    Dismiss,
    /// A human must rule; this settles nothing.
    Escalate,
}

impl Answer {
    /// All answers.
    pub const ALL: [Self; 3] = [Self::Enforce, Self::Dismiss, Self::Escalate];

    /// Returns the word that a judge answers with.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Enforce => "ENFORCE",
            Self::Dismiss => "DISMISS",
            Self::Escalate => "ESCALATE",
        }
    }

    /// Returns the decision that it stands for; an escalation is none.
    #[must_use]
    pub fn decision(self) -> Option<Decision> {
        match self {
            Self::Enforce => Some(Decision::Enforce),
            Self::Dismiss => Some(Decision::Dismiss),
            Self::Escalate => None,
        }
    }
}

shown_as_word!(Answer);

impl FromStr for Answer {
    type Err = UnknownWord;

    /// Reads the word exactly as it was asked for; no other spelling counts.
    fn from_str(text: &str) -> Result<Self, UnknownWord> {
        let known = Self::ALL.into_iter().find(|one| one.as_str() == text);
        known.ok_or_else(|| UnknownWord::new("ruling", text, "ENFORCE, DISMISS, ESCALATE"))
    }
}

/// A judge as the record names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JudgeNamed {
    /// The agent.
    pub agent: String,
    /// Its model, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The family of its model.
    pub family: String,
    /// Whether a party is of the same family, because no other judge was to be had.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub kin: bool,
}

/// What one judge answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Hearing {
    /// Who.
    pub judge: JudgeNamed,
    /// The answer; nothing when none that counts came.
    pub answer: Option<Answer>,
    /// Why; without an answer, what was wrong.
    pub reason: String,
    /// What would reverse it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reversal: String,
}

/// Who ruled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "by", rename_all = "snake_case")]
pub enum Ruler {
    /// One judge.
    Judge {
        /// Who.
        judge: JudgeNamed,
    },
    /// The majority of several judges.
    Jury {
        /// How many of them agree.
        votes: u32,
        /// How many sat.
        seats: u32,
    },
    /// A person.
    Human,
    /// A person chose to discard the finding at once.
    Discard,
    /// The config says that such findings are discarded at once.
    Config,
}

impl Ruler {
    /// Returns who it was, in a few words.
    #[must_use]
    pub fn phrase(&self) -> String {
        match self {
            Self::Judge { judge } => format!("judge {}", judge.agent),
            Self::Jury { votes, seats } => format!("{votes} of {seats} judges"),
            Self::Human => "human".to_owned(),
            Self::Discard => "human, discarded without a hearing".to_owned(),
            Self::Config => "config, `review.on_dispute.default: discard`".to_owned(),
        }
    }

    /// Returns who it was, as the record of a task names it.
    #[must_use]
    pub fn actor(&self) -> Actor {
        match self {
            Self::Judge { judge } => Actor::named("judge", &judge.agent, judge.model.as_deref()),
            Self::Jury { votes, seats } => {
                Actor::named("jury", &format!("{votes} of {seats} judges"), None)
            }
            Self::Human | Self::Discard => Actor::Human { name: None },
            Self::Config => Actor::System,
        }
    }

    /// Tells whether a person decided.
    #[must_use]
    pub fn is_human(&self) -> bool {
        match self {
            Self::Human | Self::Discard => true,
            Self::Judge { .. } | Self::Jury { .. } | Self::Config => false,
        }
    }
}

/// What settles a dispute.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Ruling {
    /// What was decided.
    #[serde(flatten)]
    pub decision: Decision,
    /// Why.
    pub reason: String,
    /// What would reverse it; empty when nobody said.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reversal: String,
    /// By whom.
    #[serde(flatten)]
    pub ruler: Ruler,
    /// What a person added to it.
    #[serde(flatten)]
    pub terms: Terms,
    /// When.
    pub at: Timestamp,
}

impl Ruling {
    /// Returns who ruled, with the name where it is known: `human (Ann)`.
    #[must_use]
    pub fn by(&self) -> String {
        match self.terms.person.as_str() {
            "" => self.ruler.phrase(),
            name => format!("{} ({name})", self.ruler.phrase()),
        }
    }

    /// Returns what sets it apart from a plain ruling, such as `risk accepted until 2026-12-31`;
    /// nothing when nothing does.
    #[must_use]
    pub fn limits(&self) -> Option<String> {
        let Terms { basis, expires, .. } = &self.terms;
        let limited = *basis != super::Basis::default() || expires.is_some();
        limited.then(|| format!("{}{}", basis.phrase(), self.terms.until()))
    }
}
