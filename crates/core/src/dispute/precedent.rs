//! Rulings that are found again when their finding comes back.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Decision, Dispute, Terms};
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
    /// What a person added to it.
    #[serde(flatten)]
    pub terms: Terms,
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
            terms: ruling.terms.clone(),
            at: ruling.at,
        })
    }

    /// Returns it as part of a sentence: `dismissed on 2026-01-15 (dispute d-1a2b): reason`. What
    /// a person added stands in it: `risk accepted on 2026-01-15 until 2026-12-31 by Ann (…): reason`.
    #[must_use]
    pub fn phrase(&self) -> String {
        let ruled = match self.decision {
            Decision::Enforce => "upheld",
            Decision::Dismiss => self.terms.basis.phrase(),
            Decision::Amend { .. } => "amended",
        };
        let (date, dispute) = (self.at.date(), &self.dispute);
        let (until, by) = (self.terms.until(), self.terms.by());
        format!(
            "{ruled} on {date}{until}{by} (dispute {dispute}): {}",
            self.reason
        )
    }
}
