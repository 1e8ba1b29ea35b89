//! The trait through which a person is asked.

use async_trait::async_trait;
use tribunal_core::dispute::{Decision, Dispute, Recourse};

/// A person who can be asked while the work goes on.
///
/// The engine never prints; whoever embeds it decides what a question looks like.
#[async_trait]
pub trait Human: Send + Sync {
    /// Asks how a dispute is to be settled. `has_judge` tells whether a judge can be chosen.
    async fn choose_recourse(
        &self,
        dispute: &Dispute,
        background: &DisputeBackground,
        has_judge: bool,
        preselected: Recourse,
    ) -> Result<Recourse, Interrupted>;

    /// Asks for a ruling and the notes that go with it.
    async fn rule(&self, dispute: &Dispute) -> Result<(Decision, String), Interrupted>;
}

/// What a person is shown beside the positions, as a judge is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DisputeBackground {
    /// The reviewer's tag and the severity, such as `MUST (high)`.
    pub weight: String,
    /// The code that the dispute is about; empty when none was recorded.
    pub code: String,
    /// Earlier rulings about the finding or ones like it, a sentence each.
    pub precedents: Vec<String>,
}

/// The person left without an answer. Nothing is decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interrupted;
