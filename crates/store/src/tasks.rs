//! Tasks and sections as the ledger lists them.

use async_trait::async_trait;
use tribunal_core::money::Spend;
use tribunal_core::task::{Section, Task};
use tribunal_core::time::Timestamp;

use crate::StoreError;

/// Questions about tasks and sections. What happens to them is appended to their cases.
#[async_trait]
pub trait Tasks {
    /// Returns the task with exactly this id, or the only one whose id starts or ends with `text`.
    async fn find_task(&self, text: &str) -> Result<TaskRecord, StoreError>;

    /// Returns all tasks in the order of the list: by section, priority and place.
    async fn tasks(&self) -> Result<Vec<TaskRecord>, StoreError>;

    /// Returns the tasks that may stand in the way of others, in the order of the list: those that
    /// are not settled and those that failed. What they have cost is not counted.
    async fn tasks_in_the_way(&self) -> Result<Vec<TaskRecord>, StoreError>;

    /// Returns the place after the last task of a section.
    async fn next_position(&self, section: Option<&str>) -> Result<u64, StoreError>;

    /// Returns the sections in order.
    async fn sections(&self) -> Result<Vec<Section>, StoreError>;
}

/// A task as the ledger lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskRecord {
    /// The task.
    pub task: Task,
    /// The process that works on it now, as `host:pid`.
    pub holder: Option<String>,
    /// The agents that it waits for now.
    pub agents: Vec<String>,
    /// What it has cost, its reviews and their disputes included.
    pub spend: Spend,
    /// When it was added.
    pub added_at: Timestamp,
    /// When it was last moved or changed.
    pub changed_at: Timestamp,
}
