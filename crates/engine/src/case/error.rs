//! Why work on a case did not come to its end.

use thiserror::Error;
use tribunal_core::case::Pause;
use tribunal_core::ids::{AgentName, InvalidId, StepKey};
use tribunal_core::time::Timestamp;
use tribunal_store::StoreError;

use crate::change::ChangeError;

/// Why a step or an effect did not come to its end.
#[derive(Debug, Error)]
pub enum CaseError {
    /// The ledger failed, or another process owns the case now.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The case must wait; it can be resumed.
    #[error("the case was parked")]
    Parked {
        /// Why.
        why: Pause,
        /// Until when, if known.
        until: Option<Timestamp>,
    },
    /// A file of the case could not be read or written.
    #[error("cannot {doing}")]
    File {
        /// What was tried.
        doing: String,
        /// What the system says.
        #[source]
        source: std::io::Error,
    },
    /// A recorded result has not the form that this program writes.
    #[error("the recorded result of step `{step}` cannot be read: {reason}")]
    Unreadable {
        /// Which step.
        step: StepKey,
        /// Why.
        reason: String,
    },
    /// The change cannot be read.
    #[error(transparent)]
    Change(#[from] ChangeError),
    /// No configured agent has this name.
    #[error("no agent is called `{name}`")]
    UnknownAgent {
        /// The name asked for.
        name: AgentName,
        /// The names that exist, for a hint.
        known: String,
    },
    /// Nobody of this name reviews.
    #[error("no reviewer is called `{name}`")]
    UnknownReviewer {
        /// The name asked for.
        name: String,
        /// The names that exist, for a hint.
        known: String,
    },
    /// An agent cannot be used as it is configured.
    #[error("{reason}")]
    UnfitAgent {
        /// The agent.
        name: AgentName,
        /// Why.
        reason: String,
    },
    /// Nobody is configured who could rule.
    #[error("dispute {dispute} needs a judge, but none is configured")]
    NoJudge {
        /// The dispute.
        dispute: tribunal_core::ids::DisputeId,
    },
    /// A dispute does not take what was asked.
    #[error(transparent)]
    Dispute(#[from] tribunal_core::dispute::Refusal),
    /// A ruling for the coder whose work cannot be put with the approved work.
    #[error("dispute {dispute} cannot be ruled for the coder of task {task} ({title}): {why}")]
    Undeliverable {
        /// The dispute.
        dispute: tribunal_core::ids::DisputeId,
        /// The task.
        task: tribunal_core::ids::CaseId,
        /// Its title.
        title: String,
        /// Why not, as part of a sentence.
        why: String,
    },
    /// Nobody is configured to carry findings out.
    #[error("no coder is configured")]
    NoCoder,
    /// The request cannot be carried out as it stands.
    #[error("{0}")]
    Request(String),
}

impl From<InvalidId> for CaseError {
    fn from(error: InvalidId) -> Self {
        Self::Request(error.to_string())
    }
}

impl CaseError {
    /// Returns the error for a file operation, described as in "cannot …".
    pub(crate) fn file(doing: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        let doing = doing.into();
        move |source| Self::File { doing, source }
    }
}
