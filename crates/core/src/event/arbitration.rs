//! What happens between the panel's findings and the end of an arbitrated review.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::dispute::{Decision, Origin};
use crate::review::arbitration::{End, Offer};

/// What happened in the arbitration of a review, in the past tense.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ArbitrationEvent {
    /// Findings were put to a coder.
    CoderAssigned {
        /// Who.
        coder: String,
        /// Which round of its work, from 1.
        round: u32,
        /// How many findings it has to answer.
        findings: u32,
        /// How many of them bind.
        binding: u32,
    },
    /// The coder's answers were read and its work was stored.
    CoderAnswered {
        /// Who.
        coder: String,
        /// Which round.
        round: u32,
        /// How many findings it calls implemented.
        implemented: u32,
        /// How many it left.
        discarded: u32,
        /// How many it contradicts.
        objected: u32,
        /// How many have no answer that could be read.
        unanswered: u32,
        /// How many files it changed.
        files: u32,
        /// The commit with its work so far, in our own clone.
        commit: String,
        /// What of the answer could not be used.
        problems: Vec<String>,
    },
    /// There is a dispute about a finding.
    FindingContested {
        /// Short name of the finding.
        finding: String,
        /// The finding in one line.
        title: String,
        /// Id of the dispute.
        dispute: String,
        /// Where it came from.
        origin: Origin,
    },
    /// A dispute about a finding came to a ruling, or waits for one.
    ContestSettled {
        /// Short name of the finding.
        finding: String,
        /// Id of the dispute.
        dispute: String,
        /// What was decided; nothing as long as it is open.
        decision: Option<Decision>,
        /// Why, or why nobody has decided.
        reason: String,
    },
    /// Somebody checked whether a finding is gone.
    FixChecked {
        /// Short name of the finding.
        finding: String,
        /// Who checked.
        by: String,
        /// Whether it is gone; nothing when no answer came.
        fixed: Option<bool>,
        /// What the code shows, or why there is no answer.
        reason: String,
    },
    /// The panel looked at the coder's work.
    WorkReviewed {
        /// After which round.
        round: u32,
        /// How many new findings bind.
        binding: u32,
        /// How many new ones are only told.
        logged: u32,
        /// How many had been fixed and are back.
        reopened: u32,
    },
    /// The coder's work was handed over, or could not be.
    WorkOffered {
        /// How.
        #[serde(flatten)]
        offer: Offer,
    },
    /// The arbitration came to its end.
    ArbitrationEnded {
        /// Why.
        #[serde(flatten)]
        end: End,
        /// How many rounds the coder had.
        held: u32,
    },
}

impl ArbitrationEvent {
    /// The words by which events of this family are known.
    pub const TYPES: [&'static str; 8] = [
        "coder_assigned",
        "coder_answered",
        "finding_contested",
        "contest_settled",
        "fix_checked",
        "work_reviewed",
        "work_offered",
        "arbitration_ended",
    ];
}
