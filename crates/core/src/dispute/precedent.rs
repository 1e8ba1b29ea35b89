//! Rulings that are found again when their finding comes back.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Decision, Dispute};
use crate::ids::DisputeId;
use crate::time::Timestamp;

/// A ruling that was made about a finding before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Precedent {
    /// The dispute in which it was made.
    pub dispute: DisputeId,
    /// What was decided.
    #[serde(flatten)]
    pub decision: Decision,
    /// Why.
    pub reason: String,
    /// By whom, in a few words.
    pub ruler: String,
    /// When.
    pub at: Timestamp,
}

impl Precedent {
    /// Returns the ruling of a dispute as a precedent; nothing while there is none.
    #[must_use]
    pub fn of(dispute: &Dispute) -> Option<Self> {
        let ruling = dispute.ruling().filter(|_| !dispute.precedent_dropped)?;
        Some(Self {
            dispute: dispute.id.clone(),
            decision: ruling.decision.clone(),
            reason: ruling.reason.clone(),
            ruler: ruling.ruler.phrase(),
            at: ruling.at,
        })
    }

    /// Returns it as part of a sentence: `dismissed on 2026-01-15 (dispute d-1a2b): reason`.
    #[must_use]
    pub fn phrase(&self) -> String {
        let ruled = match self.decision {
            Decision::Enforce => "upheld",
            Decision::Dismiss => "dismissed",
            Decision::Amend { .. } => "amended",
        };
        let (date, dispute) = (self.at.date(), &self.dispute);
        format!("{ruled} on {date} (dispute {dispute}): {}", self.reason)
    }
}
