//! The ledger as the engine uses it: events are stored, then published to whoever listens.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::mpsc;
use tribunal_core::event::{Event, EventKind};
use tribunal_core::ids::CaseId;
use tribunal_store::{Holder, Lease, Store, StoreError};

/// Stores events and publishes them.
#[derive(Clone)]
pub struct Ledger {
    store: Arc<dyn Store>,
    listeners: Arc<Mutex<Vec<mpsc::UnboundedSender<Event>>>>,
}

impl Ledger {
    /// Returns a ledger on top of `store`.
    #[must_use]
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self {
            store,
            listeners: Arc::default(),
        }
    }

    /// Returns the store, for questions.
    #[must_use]
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// Returns all events stored from now on, in the order in which they were stored.
    #[must_use]
    pub fn subscribe(&self) -> mpsc::UnboundedReceiver<Event> {
        let (sender, receiver) = mpsc::unbounded_channel();
        self.listeners
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(sender);
        receiver
    }

    /// Opens a case with its first events.
    pub(crate) async fn open_case(
        &self,
        case: &CaseId,
        holder: &Holder,
        events: Vec<EventKind>,
    ) -> Result<Lease, StoreError> {
        let (lease, events) = self.store.open_case(case, holder, events).await?;
        self.publish(&events);
        Ok(lease)
    }

    /// Appends events to a case.
    pub(crate) async fn append(
        &self,
        lease: &Lease,
        events: Vec<EventKind>,
    ) -> Result<(), StoreError> {
        let events = self.store.append(lease, events).await?;
        self.publish(&events);
        Ok(())
    }

    fn publish(&self, events: &[Event]) {
        let mut listeners = self
            .listeners
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        listeners.retain(|listener| {
            events
                .iter()
                .all(|event| listener.send(event.clone()).is_ok())
        });
    }
}
