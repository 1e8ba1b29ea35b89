//! Why an event has no place in a dispute.

use thiserror::Error;

use super::Party;
use crate::ids::DisputeId;

/// Why an event has no place in a dispute.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Refusal {
    /// It was ruled before.
    #[error("dispute {id} was ruled before: {decision} by {by}")]
    AlreadyRuled {
        /// The dispute.
        id: DisputeId,
        /// What was decided.
        decision: &'static str,
        /// By whom.
        by: String,
    },
    /// Nothing was ruled that could be overruled.
    #[error("dispute {id} has no ruling that could be overruled")]
    NothingToOverrule {
        /// The dispute.
        id: DisputeId,
    },
    /// It has no ruling.
    #[error("dispute {id} has no ruling")]
    NoRuling {
        /// The dispute.
        id: DisputeId,
    },
    /// A minor dispute needs nobody.
    #[error("dispute {id} is minor: it was noted and needs no ruling")]
    Minor {
        /// The dispute.
        id: DisputeId,
    },
    /// A side has not spoken yet.
    #[error("dispute {id} lacks the position of the {from}")]
    MissingPosition {
        /// The dispute.
        id: DisputeId,
        /// Whose.
        from: Party,
    },
    /// A side has spoken before; positions stand as they were stated.
    #[error("the {party} has stated its position in dispute {id}")]
    AlreadyStated {
        /// The dispute.
        id: DisputeId,
        /// Which side.
        party: Party,
    },
    /// A position without words.
    #[error("the position of the {party} is empty")]
    EmptyPosition {
        /// Which side.
        party: Party,
    },
    /// No side has spoken.
    #[error("a major dispute needs the position of at least one side")]
    NoPosition,
    /// A minor dispute without a note.
    #[error("a minor dispute needs a note")]
    NoNotes,
    /// A ruling without a reason.
    #[error("a ruling needs a reason")]
    EmptyReason,
    /// Instructions without words.
    #[error("a ruling that amends needs instructions")]
    EmptyInstructions,
    /// It is not before a judge.
    #[error("dispute {id} is not before a judge")]
    NotBeforeJudge {
        /// The dispute.
        id: DisputeId,
    },
    /// A judge's ruling that its answer does not carry.
    #[error("the answers of the judges in dispute {id} do not carry this ruling")]
    Unsupported {
        /// The dispute.
        id: DisputeId,
    },
    /// The finding was enforced; only a human can change that.
    #[error("the finding was enforced in dispute {by}, and only a human can change that")]
    Locked {
        /// The dispute in which it was.
        by: DisputeId,
    },
    /// It is about a task already.
    #[error("dispute {id} is about a task already")]
    NotReferable {
        /// The dispute.
        id: DisputeId,
    },
    /// The precedent was dropped before.
    #[error("the precedent of dispute {id} was dropped before")]
    AlreadyDropped {
        /// The dispute.
        id: DisputeId,
    },
}
