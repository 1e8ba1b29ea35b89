//! The ledger as the engine uses it: events are stored, then published to whoever listens.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::mpsc;
use tribunal_core::event::{Event, EventKind};
use tribunal_core::ids::CaseId;
use tribunal_store::{Holder, Lease, Store, StoreError};

/// What a write waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wait {
    /// It survives power loss.
    Disk,
    /// It survives the death of this process; the disk is waited for beside the work.
    Process,
}

/// Stores events and publishes them.
///
/// Nobody hears of an event before it is on disk. Those that were stored without waiting for it are
/// kept until a task beside the work, or the next ordinary write, has done the waiting.
#[derive(Clone)]
pub struct Ledger {
    store: Arc<dyn Store>,
    audience: Arc<Mutex<Audience>>,
}

/// Who listens, and what they have not heard yet.
#[derive(Default)]
struct Audience {
    listeners: Vec<mpsc::UnboundedSender<Event>>,
    /// Stored, but perhaps not on disk.
    unheard: VecDeque<Event>,
    /// How many events were ever put there.
    put: u64,
    /// Whether a task waits for the disk.
    waited_for: bool,
}

impl Audience {
    /// Tells everything that was put there as one of the first `put`.
    fn tell_first(&mut self, put: u64) {
        let kept = self.put.saturating_sub(put);
        while self.unheard.len() as u64 > kept {
            let Some(event) = self.unheard.pop_front() else {
                break;
            };
            self.tell(event);
        }
    }

    fn tell(&mut self, event: Event) {
        self.listeners
            .retain(|listener| listener.send(event.clone()).is_ok());
    }
}

impl Ledger {
    /// Returns a ledger on top of `store`.
    #[must_use]
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self {
            store,
            audience: Arc::default(),
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
        self.audience().listeners.push(sender);
        receiver
    }

    /// Opens a case with its first events.
    pub(crate) async fn open_case(
        &self,
        case: &CaseId,
        holder: &Holder,
        events: Vec<EventKind>,
        wait: Wait,
    ) -> Result<Lease, StoreError> {
        let (lease, events) = match wait {
            Wait::Disk => self.store.open_case(case, holder, events).await?,
            Wait::Process => self.store.open_case_soon(case, holder, events).await?,
        };
        self.publish(events, wait);
        Ok(lease)
    }

    /// Appends events to a case.
    pub(crate) async fn append(
        &self,
        lease: &Lease,
        events: Vec<EventKind>,
        wait: Wait,
    ) -> Result<(), StoreError> {
        let events = match wait {
            Wait::Disk => self.store.append(lease, events).await?,
            Wait::Process => self.store.append_soon(lease, events).await?,
        };
        self.publish(events, wait);
        Ok(())
    }

    /// Waits until all that was stored is on disk.
    pub(crate) async fn sync(&self) -> Result<(), StoreError> {
        let put = {
            let audience = self.audience();
            if audience.unheard.is_empty() {
                return Ok(());
            }
            audience.put
        };
        self.store.sync().await?;
        self.audience().tell_first(put);
        Ok(())
    }

    fn publish(&self, events: Vec<Event>, wait: Wait) {
        let mut audience = self.audience();
        match wait {
            // An ordinary write waits for all before it.
            Wait::Disk => {
                let put = audience.put;
                audience.tell_first(put);
                events.into_iter().for_each(|event| audience.tell(event));
            }
            Wait::Process => {
                audience.put += events.len() as u64;
                audience.unheard.extend(events);
                if !std::mem::replace(&mut audience.waited_for, true) {
                    tokio::spawn(self.clone().wait_for_disk());
                }
            }
        }
    }

    /// Waits for the disk until nothing is unheard.
    async fn wait_for_disk(self) {
        loop {
            {
                let mut audience = self.audience();
                if audience.unheard.is_empty() {
                    audience.waited_for = false;
                    return;
                }
            }
            if let Err(error) = self.sync().await {
                // The store accepts nothing more; whoever writes next is told so.
                tracing::error!(%error, "what was stored may not be on disk");
                return;
            }
        }
    }

    fn audience(&self) -> MutexGuard<'_, Audience> {
        self.audience.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use tribunal_core::case::CaseKind;
    use tribunal_store::Location;

    use super::*;

    fn noted(text: &str) -> EventKind {
        EventKind::Noted {
            text: text.to_owned(),
        }
    }

    #[tokio::test]
    async fn nobody_hears_of_an_event_before_it_is_on_disk_and_all_hear_in_order() {
        let temp = tempfile::tempdir().unwrap();
        let location = Location::File(temp.path().join("ledger.db"));
        let ledger = Ledger::new(tribunal_store::open(&location).await.unwrap());
        let holder = Holder::for_this_process(temp.path()).unwrap();
        let mut heard = ledger.subscribe();
        let opened = EventKind::CaseOpened {
            kind: CaseKind::Ask,
            title: "one".to_owned(),
            request: serde_json::Value::Null,
        };
        let case = CaseId::from_bits(1);
        let opening = ledger.open_case(&case, &holder, vec![opened], Wait::Process);
        let lease = opening.await.unwrap();
        assert!(heard.try_recv().is_err(), "the disk was not waited for yet");
        assert_eq!(heard.recv().await.unwrap().seq, 1, "it is beside the work");

        let soon = ledger.append(&lease, vec![noted("a")], Wait::Process);
        soon.await.unwrap();
        let lasting = ledger.append(&lease, vec![noted("b")], Wait::Disk);
        lasting.await.unwrap();
        let order = [heard.try_recv(), heard.try_recv()].map(|event| event.unwrap().seq);
        assert_eq!(order, [2, 3], "an ordinary write waits for all before it");
        ledger.sync().await.unwrap();
        assert!(heard.try_recv().is_err());
    }
}
