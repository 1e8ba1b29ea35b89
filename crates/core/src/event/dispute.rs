//! What happens in a dispute.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::dispute::{
    Chooser, Decision, Hearing, Opening, Party, Position, Recourse, Referral, Ruler, Terms,
};
use crate::ids::DisputeId;

/// What happened in a dispute, in the past tense.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum DisputeEvent {
    /// A disagreement was put on record.
    DisputeOpened {
        /// Its identity.
        dispute: DisputeId,
        /// With what it began.
        opening: Box<Opening>,
    },
    /// The side that had not spoken did.
    PositionStated {
        /// Which side.
        party: Party,
        /// What it argues.
        position: Position,
        /// All files that the dispute concerns from now on; none when they stay as they are.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        files: Vec<String>,
        /// Hash of the stored code that a judge is shown from now on, along with these files.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        material: Option<String>,
    },
    /// It was chosen how the dispute is to be settled.
    RecourseChosen {
        /// How.
        recourse: Recourse,
        /// By whom.
        #[serde(default)]
        by: Chooser,
    },
    /// A judge answered, or was asked twice without an answer that counts.
    JudgeHeard {
        /// Who, and what.
        hearing: Box<Hearing>,
    },
    /// A human must rule.
    DisputeEscalated {
        /// Why.
        question: String,
    },
    /// The dispute was settled, or settled anew by a human.
    DisputeRuled {
        /// What was decided.
        #[serde(flatten)]
        decision: Decision,
        /// Why.
        reason: String,
        /// What would reverse it; empty when nobody said.
        reversal: String,
        /// By whom.
        #[serde(flatten)]
        ruler: Ruler,
        /// What a person added to it.
        #[serde(flatten)]
        terms: Terms,
        /// Whether it takes the place of an earlier ruling.
        overrules: bool,
    },
    /// A task waits for this dispute about a finding of its work.
    DisputeReferred {
        /// Which, and with what.
        referral: Box<Referral>,
    },
    /// It was tried to tell the configured address that the dispute is stale.
    AlertAttempted {
        /// Identity of the message, by which its receiver knows a repeat.
        delivery: String,
        /// Number of the attempt, from 1.
        attempt: u32,
        /// Days for which the dispute had been open.
        days_open: u64,
        /// Whether it was received.
        delivered: bool,
        /// What the receiver or the network said.
        answer: String,
    },
    /// The ruling serves as a precedent no more.
    PrecedentDropped {
        /// Why.
        why: String,
    },
}

impl DisputeEvent {
    /// The words in `type` that belong to this family.
    pub const TYPES: [&'static str; 9] = [
        "dispute_opened",
        "position_stated",
        "recourse_chosen",
        "judge_heard",
        "dispute_escalated",
        "dispute_ruled",
        "dispute_referred",
        "alert_attempted",
        "precedent_dropped",
    ];
}
