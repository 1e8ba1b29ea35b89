//! Decisions of the arbiter as the ledger keeps them.

use std::collections::BTreeMap;

use async_trait::async_trait;
use tribunal_core::arbiter::Decision;
use tribunal_core::money::Spend;

use crate::StoreError;

/// Questions about what the arbiter decided.
#[async_trait]
pub trait Decisions {
    /// Returns what a model decided on the input with this hash, if that is among the `newest`.
    async fn cached_decision(&self, key: &str, newest: u32)
    -> Result<Option<Decision>, StoreError>;

    /// Returns what was spent by the steps whose names begin so.
    async fn spend_of_steps(&self, beginning: &str) -> Result<Spend, StoreError>;

    /// Returns how often each source decided.
    async fn decision_counts(&self) -> Result<BTreeMap<String, u64>, StoreError>;
}
