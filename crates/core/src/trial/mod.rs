//! A trial: contestants answer one challenge, judges designed for their answers score them.
//!
//! Here are the parties and what they hand in; `state` says what must happen next, `archetype` what
//! stands in when the arbiter fails, `report` what a person reads in the end.

pub mod archetype;
mod faults;
mod mask;
pub mod report;
mod state;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use faults::faults;
pub use mask::AnswerMask;
pub use state::{Heard, Next, OutOfOrder, Phase, Scored, Setbacks, State, Trial};

use crate::ids::{AgentName, CaseId};
use crate::verdict::Points;

/// Fewest contestants that can be designed; one alone is no contest.
pub const FEWEST_CONTESTANTS: usize = 2;
/// Most contestants that the arbiter designs.
pub const MOST_DESIGNED: usize = 6;
/// Most contestants of a trial.
pub const MOST_CONTESTANTS: usize = 8;
/// Most judges of a trial.
pub const MOST_JUDGES: usize = 5;
/// Most criteria of one judge.
pub(crate) const MOST_CRITERIA: usize = 10;

/// What contestants hand in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// A text.
    Text,
    /// Changes to the project's files, each in a worktree of its own.
    Code,
}

/// Who takes part, and as whom.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Contestant {
    /// Its name within the trial, fit for keys and branches.
    pub id: String,
    /// Its name for people.
    pub name: String,
    /// As whom it answers; empty for an agent as it is.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub persona: String,
    /// What it cares about most.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub focus: String,
    /// The agent that answers.
    pub agent: AgentName,
    /// The family of its model.
    pub family: String,
    /// The sampling temperature in thousandths, when not the agent's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature_milli: Option<u32>,
}

/// Who decided about the procedure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "by", rename_all = "snake_case")]
pub enum DesignedBy {
    /// The user named them.
    User,
    /// An agent in the role of the arbiter.
    Arbiter {
        /// Which one.
        agent: AgentName,
    },
    /// Fixed rules, because there is no arbiter or it failed.
    Rules {
        /// Why.
        why: String,
    },
}

/// A judge, made for the answers at hand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Judge {
    /// Its name within the trial, fit for keys.
    pub id: String,
    /// Its name for people.
    pub name: String,
    /// What it looks at.
    pub focus: String,
    /// By what it scores, one to ten of them.
    pub criteria: Vec<String>,
    /// Why these answers need it.
    pub reasoning: String,
    /// The agent that judges.
    pub agent: AgentName,
    /// The family of its model.
    pub family: String,
    /// Whether a contestant is of the same family, because no other judge was to be had.
    #[serde(default)]
    pub related: bool,
}

/// The judges of a trial.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Panel {
    /// Why it is composed so.
    pub reasoning: String,
    /// Who sits.
    pub judges: Vec<Judge>,
    /// Who designed it.
    #[serde(flatten)]
    pub by: DesignedBy,
}

/// What one judge says about one contestant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Scorecard {
    /// The contestant's id.
    pub contestant: String,
    /// From 0 to 100.
    pub score: Points,
    /// What is good about the answer.
    pub strengths: Vec<String>,
    /// What is not.
    pub weaknesses: Vec<String>,
    /// Why this score.
    pub reasoning: String,
}

/// What one judge says about all contestants.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Evaluation {
    /// One card per contestant.
    pub cards: Vec<Scorecard>,
    /// What it comes to.
    pub summary: String,
}

impl Evaluation {
    /// Returns the scores by contestant.
    #[must_use]
    pub fn scores(&self) -> BTreeMap<String, Points> {
        let cards = self.cards.iter();
        cards
            .map(|card| (card.contestant.clone(), card.score))
            .collect()
    }
}

/// What came of the project's test command in a contestant's worktree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Tested {
    /// The command as it was run.
    pub command: String,
    /// Whether it ended by itself with exit code 0.
    pub passed: bool,
    /// How it ended, in a few words.
    pub ending: String,
    /// The end of what it printed.
    pub output: String,
}

/// What a contestant handed in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Output {
    /// Its answer, or what it says about its changes.
    pub text: String,
    /// Its changes; nothing in a trial of texts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work: Option<Work>,
}

/// The changes that a contestant made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Work {
    /// The commit with them.
    pub commit: String,
    /// The branch of the user's repository that offers them.
    pub branch: String,
    /// The files that differ.
    pub files: Vec<String>,
    /// The differences.
    pub diff: String,
    /// What was written but not taken, with the reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
    /// What the project's tests say, where a command is configured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tested: Option<Tested>,
}

/// What turned out after a trial, as a person says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Hindsight {
    /// Whose answer proved the best; nothing when nobody's did.
    pub contestant: Option<String>,
    /// A word on it.
    pub note: Option<String>,
}

/// What is done about a verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "decree", rename_all = "snake_case")]
pub enum Decree {
    /// A contestant's branch was merged.
    Merge {
        /// Whose.
        contestant: String,
        /// Its commit.
        commit: String,
    },
    /// A text was adopted.
    Adopt {
        /// The text.
        text: String,
        /// Whose answer it is, or comes from, where that was said.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        contestant: Option<String>,
    },
    /// A new trial goes on from this one.
    Iterate {
        /// The new trial.
        trial: CaseId,
    },
    /// The result became an issue elsewhere.
    Issue {
        /// Its title.
        title: String,
    },
    /// Nothing more is done.
    Close,
}

impl Decree {
    /// Returns whose answer was taken by it.
    #[must_use]
    pub fn contestant(&self) -> Option<&str> {
        match self {
            Self::Merge { contestant, .. } => Some(contestant),
            Self::Adopt { contestant, .. } => contestant.as_deref(),
            Self::Iterate { .. } | Self::Issue { .. } | Self::Close => None,
        }
    }

    /// Returns the word that names it.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Merge { .. } => "merge",
            Self::Adopt { .. } => "adopt",
            Self::Iterate { .. } => "iterate",
            Self::Issue { .. } => "issue",
            Self::Close => "close",
        }
    }
}

/// Returns `name` as it fits keys and branches: lower-case letters, digits and hyphens.
///
/// `taken` are the ids that exist already; a number makes it another one.
#[must_use]
pub fn slug(name: &str, taken: &[String]) -> String {
    let mut slug = String::new();
    for c in name.chars().flat_map(char::to_lowercase) {
        if c.is_ascii_alphanumeric() {
            slug.push(c);
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
        if slug.len() >= 40 {
            break;
        }
    }
    let slug = slug.trim_matches('-');
    let slug = if slug.is_empty() { "nobody" } else { slug };
    let free = |id: &String| !taken.contains(id);
    let numbered = (2..).map(|number| format!("{slug}-{number}"));
    std::iter::once(slug.to_owned())
        .chain(numbered)
        .find(free)
        .unwrap_or_default()
}

/// Returns `text` with neutral labels such as `R2` replaced by the names behind them.
///
/// Judges never learn the names; whoever reads their reasons needs them.
#[must_use]
pub(crate) fn unmask(text: &str, names: &[(String, String)]) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut word = String::new();
    let flush = |word: &mut String, shown: &mut String| {
        let name = names.iter().find(|(label, _)| label == word);
        shown.push_str(name.map_or(word.as_str(), |(_, name)| name));
        word.clear();
    };
    for c in text.chars() {
        if c.is_alphanumeric() || c == '_' {
            word.push(c);
        } else {
            flush(&mut word, &mut shown);
            shown.push(c);
        }
    }
    flush(&mut word, &mut shown);
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_ids_of_their_own() {
        let taken = ["safety-first".to_owned(), "safety-first-2".to_owned()];
        assert_eq!(slug("Gas Optimizer", &taken), "gas-optimizer");
        assert_eq!(slug("  Safety/First! ", &taken), "safety-first-3");
        assert_eq!(slug("日本", &[]), "nobody");
        assert!(slug(&"very long ".repeat(20), &[]).len() <= 40);
    }

    #[test]
    fn labels_become_names_and_nothing_else_does() {
        let names = [
            ("R1".to_owned(), "Safety First".to_owned()),
            ("R2".to_owned(), "R1".to_owned()),
        ];
        assert_eq!(
            unmask("R1 beats R2; R11 and xR1 are others. (R1)", &names),
            "Safety First beats R1; R11 and xR1 are others. (Safety First)"
        );
    }
}
