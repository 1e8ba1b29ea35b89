//! Writes that do not wait for the disk, for what is on the way of a call that somebody waits for.

use async_trait::async_trait;
use tribunal_core::event::{Event, EventKind};
use tribunal_core::ids::CaseId;

use crate::{Holder, Lease, StoreError};

/// Writes that survive the death of the process when they return, and power loss after the next
/// [`Soon::sync`] or ordinary write.
///
/// Nothing of them may be told to anybody before that.
#[async_trait]
pub trait Soon {
    /// Does what [`crate::Store::open_case`] does.
    async fn open_case_soon(
        &self,
        case: &CaseId,
        holder: &Holder,
        events: Vec<EventKind>,
    ) -> Result<(Lease, Vec<Event>), StoreError>;

    /// Does what [`crate::Store::append`] does.
    async fn append_soon(
        &self,
        lease: &Lease,
        events: Vec<EventKind>,
    ) -> Result<Vec<Event>, StoreError>;

    /// Waits until all that was stored survives power loss. After a failure nothing more is
    /// accepted, because nobody knows what is on disk.
    async fn sync(&self) -> Result<(), StoreError>;
}
