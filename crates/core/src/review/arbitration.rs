//! What came of putting findings to a coder: the part of a report that an arbitrated review adds.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::consensus::Verdict;
use crate::dispute::{Decision, Origin};
use crate::finding::{Category, Label, Location};
use crate::review::coverage::FileStatus;
use crate::review::gate::{GateWord, Obligation};
use crate::review::response::Response;
use crate::scale::Severity;

/// The arbitration of a review, from the coder's first answer to the offer of its work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Arbitration {
    /// Who was asked to carry the findings out; empty when nobody had to be.
    pub coder: String,
    /// What became of each finding, the late ones last.
    pub findings: Vec<ArbitratedFinding>,
    /// What the coder did, round by round.
    pub rounds: Vec<CoderRound>,
    /// Where its work can be had; nothing when there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offer: Option<Offer>,
    /// Why it ended.
    pub end: End,
}

/// What became of one finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ArbitratedFinding {
    /// Short name by which commands call it.
    pub id: String,
    /// Identity that survives moved lines and other words.
    pub fingerprint: String,
    /// The finding in one line.
    pub title: String,
    /// Where it was when it was raised.
    pub location: Location,
    /// Its tag.
    pub label: Label,
    /// How bad it is.
    pub severity: Severity,
    /// What kind of problem it is.
    pub category: Category,
    /// Whether it bound the coder.
    pub obligation: Obligation,
    /// After which round of the coder it was raised; 0 for the review itself.
    pub raised_in: u32,
    /// How it stands in the end.
    #[serde(flatten)]
    pub state: FindingState,
    /// What the coder answered, round by round.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub responses: Vec<RoundResponse>,
    /// The disputes about it, the last one last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disputes: Vec<DisputeSummary>,
    /// What whoever checked the coder's work said.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<Verification>,
}

/// How a finding stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum FindingState {
    /// The coder is to work on it.
    ToDo,
    /// The coder says that it is done, and nobody has checked yet.
    Claimed,
    /// There is a dispute about it that nobody has ruled on yet.
    Contested,
    /// Whoever could tell says that it is gone.
    Fixed,
    /// The coder left it, as it may with what is optional.
    Discarded,
    /// A ruling says that it falls.
    Dismissed,
    /// A ruling is needed and has not come.
    AwaitingRuling,
    /// It was raised too late to bind, and is only told.
    Logged,
    /// It is not settled, and nobody works on it any more.
    Open {
        /// Why.
        why: OpenReason,
    },
}

impl FindingState {
    /// Returns in which list the gate sees the finding now.
    ///
    /// What nobody has worked on or ruled on is neither approval nor refusal.
    #[must_use]
    pub fn verdict_for_gate(self) -> Verdict {
        match self {
            Self::ToDo | Self::Claimed | Self::Contested | Self::AwaitingRuling => {
                Verdict::Disputed
            }
            Self::Fixed | Self::Discarded | Self::Dismissed | Self::Logged | Self::Open { .. } => {
                Verdict::Accepted
            }
        }
    }

    /// Returns it in a few words.
    #[must_use]
    pub fn phrase(self) -> &'static str {
        match self {
            Self::ToDo => "to be done",
            Self::Claimed => "said to be done",
            Self::Contested => "contested",
            Self::Fixed => "fixed",
            Self::Discarded => "discarded",
            Self::Dismissed => "dismissed",
            Self::AwaitingRuling => "awaits a ruling",
            Self::Logged => "raised late, only noted",
            Self::Open { why } => why.phrase(),
        }
    }
}

/// Why a finding stays open.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum OpenReason {
    /// The coder did not answer it.
    Unanswered,
    /// The coder says that it did it, and changed nothing.
    NotBelieved,
    /// It was worked on as often as allowed, and is still there.
    NotFixed,
    /// Nobody who could tell said whether it is gone.
    Unverified,
    /// A ruling locked it, and the coder refuses it all the same.
    Refused,
    /// The rounds were used up.
    RoundsUsedUp,
    /// It was fixed, and came back.
    Reopened,
}

impl OpenReason {
    /// Returns it in a few words.
    #[must_use]
    pub fn phrase(self) -> &'static str {
        match self {
            Self::Unanswered => "open: the coder did not answer",
            Self::NotBelieved => "open: called implemented, but nothing changed",
            Self::NotFixed => "open: not fixed",
            Self::Unverified => "open: nobody could say that it is fixed",
            Self::Refused => "open: locked by a ruling and refused",
            Self::RoundsUsedUp => "open: the rounds were used up",
            Self::Reopened => "open: it was fixed and came back",
        }
    }
}

/// The coder's answer in one round.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RoundResponse {
    /// Which round, from 1.
    pub round: u32,
    /// What it answered; nothing when no answer could be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<Response>,
}

/// A dispute about a finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DisputeSummary {
    /// Its id.
    pub id: String,
    /// Where it came from.
    pub origin: Origin,
    /// What was decided; nothing as long as it is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<Decision>,
    /// Why, or why nobody has decided.
    pub reason: String,
    /// Who decided, in a few words; empty when nobody has.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub by: String,
}

/// What somebody who checked the coder's work said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Verification {
    /// After which round of the coder.
    pub round: u32,
    /// Who checked.
    pub by: String,
    /// Whether it is gone; nothing when no answer came.
    pub fixed: Option<bool>,
    /// What the code shows, or why there is no answer.
    pub reason: String,
}

/// What the coder did in one round.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CoderRound {
    /// Which round, from 1.
    pub round: u32,
    /// The commit with its work so far, in our own clone.
    pub commit: String,
    /// The files that it changed in this round.
    pub files: Vec<ChangedPath>,
    /// What it wrote and was not taken, with the reason, one sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_taken: Vec<String>,
    /// What of its answer could not be used, one sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
}

/// A file that the coder changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChangedPath {
    /// Path from the root.
    pub path: String,
    /// What happened to it.
    pub status: FileStatus,
}

/// Where the coder's work can be had.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "offered", rename_all = "snake_case")]
pub enum Offer {
    /// On a branch of the repository.
    Branch {
        /// Its name.
        branch: String,
        /// Its commit.
        commit: String,
        /// Why it is on this branch and not where it was asked for; empty when it is there.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        why: String,
    },
    /// In a file.
    Patch {
        /// Where it lies.
        file: String,
    },
    /// In the files of the working tree.
    Applied {
        /// Which were changed.
        files: Vec<String>,
    },
    /// Only in our own clone, because it could not be handed over or the loop goes on with it.
    Kept {
        /// Its commit there.
        commit: String,
        /// What stood in the way, or who goes on with it.
        why: String,
    },
}

/// What the gate would be if the user took the offered work over.
///
/// The gate of a report speaks of the user's own files. Work that is only offered does not count there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GateWithOffer {
    /// The gate with the work.
    #[serde(rename = "gate_with_offer")]
    pub gate: GateWord,
    /// The branch with the work.
    #[serde(
        default,
        rename = "offered_branch",
        skip_serializing_if = "Option::is_none"
    )]
    pub branch: Option<String>,
    /// The file with the work as a patch.
    #[serde(
        default,
        rename = "offered_patch",
        skip_serializing_if = "Option::is_none"
    )]
    pub patch: Option<String>,
    /// The command that takes the work over, for a shell.
    #[serde(rename = "offer_command")]
    pub command: String,
}

/// Why an arbitration ended. It always does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "reason", rename_all = "snake_case")]
pub enum End {
    /// There was nothing that a coder had to answer.
    NothingToDo,
    /// Nothing that binds is open.
    Settled,
    /// Somebody has to rule.
    AwaitingRuling {
        /// How many disputes wait.
        disputes: u32,
    },
    /// Findings that bind stay open.
    LeftOpen {
        /// How many.
        findings: u32,
    },
    /// All rounds were used and it did not converge; disputes are on record.
    RoundsUsedUp {
        /// How many rounds there were.
        rounds: u32,
    },
    /// What was fixed came back; disputes are on record.
    Stalled {
        /// How many findings came back.
        findings: u32,
    },
    /// The coder could not be heard.
    CoderMissing {
        /// Why, in one sentence.
        why: String,
    },
}

impl End {
    /// Returns it as a sentence without a full stop.
    #[must_use]
    pub fn sentence(&self) -> String {
        let several = |count: u32, one: &str, many: &str| match count {
            1 => format!("one {one}"),
            count => format!("{count} {many}"),
        };
        match self {
            Self::NothingToDo => "nothing had to be put to a coder".to_owned(),
            Self::Settled => "no blocking finding is open any more".to_owned(),
            Self::AwaitingRuling { disputes: 1 } => "one dispute waits for a ruling".to_owned(),
            Self::AwaitingRuling { disputes } => format!("{disputes} disputes wait for a ruling"),
            Self::LeftOpen { findings: 1 } => "one blocking finding stays open".to_owned(),
            Self::LeftOpen { findings } => format!("{findings} blocking findings stay open"),
            Self::RoundsUsedUp { rounds } => format!(
                "it did not converge within {}",
                several(*rounds, "round", "rounds")
            ),
            Self::Stalled { findings } => format!(
                "it did not converge: {} came back after the fix",
                several(*findings, "finding", "findings")
            ),
            Self::CoderMissing { why } => format!("the coder could not be heard: {why}"),
        }
    }
}
