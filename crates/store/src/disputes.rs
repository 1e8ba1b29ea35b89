//! Disputes and the precedents that their rulings make, in domain words.

use async_trait::async_trait;
use tribunal_core::case::CaseKind;
use tribunal_core::dispute::{Dispute, Status};
use tribunal_core::finding::Category;
use tribunal_core::ids::{CaseId, DisputeId};
use tribunal_core::time::Timestamp;

use crate::StoreError;

/// The part of a store that knows disputes.
#[async_trait]
pub trait Disputes: Send + Sync {
    /// Returns the dispute with exactly this id, or the only one whose id starts or ends with
    /// `text`; a trailing `…` or `...` is not part of it.
    async fn find_dispute(&self, text: &str) -> Result<Dispute, StoreError>;

    /// Returns the dispute that was opened under the caller's name `key`.
    async fn dispute_by_key(&self, key: &str) -> Result<Option<Dispute>, StoreError>;

    /// Returns the open major dispute of a task.
    async fn open_dispute_of(&self, task: &str) -> Result<Option<Dispute>, StoreError>;

    /// Returns the disputes that `wanted` describes, newest first.
    async fn disputes(&self, wanted: &DisputeFilter) -> Result<Vec<Dispute>, StoreError>;

    /// Returns the major disputes that were ruled last, the latest ruling first.
    async fn latest_rulings(&self, limit: u32) -> Result<Vec<Dispute>, StoreError>;

    /// Returns how many major disputes have a status.
    async fn count_disputes(&self, status: Status) -> Result<u64, StoreError>;

    /// Returns the rulings that hold for `wanted`, newest first, without those that were dropped.
    /// Whether one has expired, the store's clock decides.
    async fn precedents(&self, wanted: &PrecedentFilter) -> Result<Vec<Dispute>, StoreError>;

    /// Returns the cases of a kind that were opened at or after `since`, the oldest first.
    async fn cases_of(
        &self,
        kind: CaseKind,
        since: Option<Timestamp>,
    ) -> Result<Vec<CaseId>, StoreError>;

    /// Returns the cases of a kind in which an event of one of these types stands, the oldest first.
    async fn cases_with(&self, kind: CaseKind, types: &[&str]) -> Result<Vec<CaseId>, StoreError>;

    /// Returns the cases of a kind that are neither closed nor parked: somebody works on them, or
    /// was interrupted.
    async fn unfinished_cases(&self, kind: CaseKind) -> Result<Vec<CaseId>, StoreError>;
}

/// Which disputes are wanted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DisputeFilter {
    /// Only those with this status.
    pub status: Option<Status>,
    /// Only those about this task.
    pub task: Option<String>,
    /// Only those about the finding with this identity.
    pub fingerprint: Option<String>,
    /// Only those opened before.
    pub opened_before: Option<Timestamp>,
    /// The one that was seen last, for the next page.
    pub after: Option<DisputeId>,
    /// At most so many.
    pub limit: Option<u32>,
}

/// Which precedents are wanted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PrecedentFilter {
    /// Those about the finding with this identity.
    pub fingerprint: Option<String>,
    /// And those about this file, of the category where one is given.
    pub place: Option<(String, Option<Category>)>,
    /// Those as well that a person limited to a time that is over.
    pub expired: bool,
    /// Only those ruled at or after.
    pub since: Option<Timestamp>,
    /// At most so many.
    pub limit: Option<u32>,
}
