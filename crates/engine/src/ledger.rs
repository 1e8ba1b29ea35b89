//! The ledger as the engine uses it: events are stored, then published to whoever listens.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::mpsc;
use tribunal_core::event::{Event, EventKind};
use tribunal_core::ids::CaseId;
use tribunal_store::{Holder, Lease, Store, StoreError};

use crate::unsynced::Unsynced;

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
/// Nobody hears of an event before it is on disk, or before those of its case that were stored
/// before it. Events that were stored without waiting for the disk are kept until a task beside the
/// work, or the next ordinary write, has done the waiting. Files that they refer to are waited for
/// first.
#[derive(Clone)]
pub struct Ledger {
    store: Arc<dyn Store>,
    files: Arc<Unsynced>,
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
    /// Returns a ledger on top of `store`, whose events refer to `files`.
    #[must_use]
    pub(crate) fn new(store: Arc<dyn Store>, files: Arc<Unsynced>) -> Self {
        Self {
            store,
            files,
            audience: Arc::default(),
        }
    }

    /// Returns the store, for questions.
    #[must_use]
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// Returns all events stored from now on, those of a case in the order in which they were stored.
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
        let before = self.audience().put;
        self.sync_files_for(wait).await?;
        let (lease, events) = match wait {
            Wait::Disk => self.store.open_case(case, holder, events).await?,
            Wait::Process => self.store.open_case_soon(case, holder, events).await?,
        };
        self.publish(events, wait, before);
        Ok(lease)
    }

    /// Appends events to a case.
    pub(crate) async fn append(
        &self,
        lease: &Lease,
        events: Vec<EventKind>,
        wait: Wait,
    ) -> Result<(), StoreError> {
        let before = self.audience().put;
        self.sync_files_for(wait).await?;
        let events = match wait {
            Wait::Disk => self.store.append(lease, events).await?,
            Wait::Process => self.store.append_soon(lease, events).await?,
        };
        self.publish(events, wait, before);
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
        self.sync_files_for(Wait::Disk).await?;
        self.store.sync().await?;
        self.audience().tell_first(put);
        Ok(())
    }

    /// Waits for the files that events refer to, before a write that waits for the disk.
    async fn sync_files_for(&self, wait: Wait) -> Result<(), StoreError> {
        match wait {
            Wait::Disk => self.files.sync().await,
            Wait::Process => Ok(()),
        }
    }

    /// Tells of events that were stored, or keeps them until they are on disk. `before` is how many
    /// had been put there when they were handed to the store.
    fn publish(&self, events: Vec<Event>, wait: Wait, before: u64) {
        let mut audience = self.audience();
        match wait {
            // An ordinary write waits for all before it. What others put there meanwhile waits for
            // the disk by itself: it belongs to other cases, so each case is heard in order.
            Wait::Disk => {
                audience.tell_first(before);
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
    use std::path::Path;
    use std::pin::pin;

    use futures_util::FutureExt as _;
    use tribunal_core::case::CaseKind;
    use tribunal_store::Location;

    use super::*;

    fn noted(text: &str) -> EventKind {
        EventKind::Noted {
            text: text.to_owned(),
        }
    }

    fn opened(title: &str) -> EventKind {
        EventKind::CaseOpened {
            kind: CaseKind::Ask,
            title: title.to_owned(),
            request: serde_json::Value::Null,
        }
    }

    /// Returns a ledger on disk, and this process as somebody who may write to it.
    async fn ledger(directory: &Path) -> (Ledger, Holder) {
        let location = Location::File(directory.join("ledger.db"));
        let store = tribunal_store::open(&location).await.unwrap();
        let ledger = Ledger::new(store, Arc::default());
        (ledger, Holder::for_this_process(directory).unwrap())
    }

    #[tokio::test]
    async fn nobody_hears_of_an_event_before_it_is_on_disk_and_all_hear_in_order() {
        let temp = tempfile::tempdir().unwrap();
        let (ledger, holder) = ledger(temp.path()).await;
        let mut heard = ledger.subscribe();
        let case = CaseId::from_bits(1);
        let opening = ledger.open_case(&case, &holder, vec![opened("one")], Wait::Process);
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

    #[tokio::test]
    async fn what_came_after_an_ordinary_write_waits_for_the_disk_by_itself() {
        let temp = tempfile::tempdir().unwrap();
        let (ledger, holder) = ledger(temp.path()).await;
        let mut leases = Vec::new();
        for (bits, title) in [(1, "one"), (2, "two")] {
            let case = CaseId::from_bits(bits);
            let opening = ledger.open_case(&case, &holder, vec![opened(title)], Wait::Disk);
            leases.push(opening.await.unwrap());
        }
        let mut heard = ledger.subscribe();

        let mut lasting = pin!(ledger.append(&leases[0], vec![noted("lasting")], Wait::Disk));
        let handed_over = lasting.as_mut().now_or_never();
        assert!(handed_over.is_none(), "nobody has written it yet");
        // Writes are done one after the other: now the first one is on disk, and its writer has
        // not been told.
        ledger.store().renew(&leases[0]).await.unwrap();
        let soon = ledger.append(&leases[1], vec![noted("soon")], Wait::Process);
        soon.await.unwrap();
        // Nothing else runs until the next time we wait, and so nobody has waited for the disk.
        lasting
            .now_or_never()
            .expect("its answer lies there")
            .unwrap();

        assert_eq!(heard.try_recv().unwrap().kind, noted("lasting"));
        assert!(heard.try_recv().is_err(), "the other may not be on disk");
        assert_eq!(heard.recv().await.unwrap().kind, noted("soon"));
    }
    #[tokio::test]
    async fn nobody_hears_of_an_event_whose_file_may_be_lost() {
        let temp = tempfile::tempdir().unwrap();
        let (ledger, holder) = ledger(temp.path()).await;
        let case = CaseId::from_bits(1);
        let opening = ledger.open_case(&case, &holder, vec![opened("one")], Wait::Disk);
        let lease = opening.await.unwrap();
        let mut heard = ledger.subscribe();

        let file = temp.path().join("reply");
        std::fs::write(&file, "x").unwrap();
        ledger.files.add(file.clone());
        let lasting = ledger.append(&lease, vec![noted("a")], Wait::Disk);
        lasting.await.unwrap();
        assert_eq!(heard.try_recv().unwrap().kind, noted("a"));

        // Nobody can wait for a file that lies below another.
        ledger.files.add(file.join("below"));
        let soon = ledger.append(&lease, vec![noted("b")], Wait::Process);
        soon.await.unwrap();
        ledger.sync().await.unwrap_err();
        let lasting = ledger.append(&lease, vec![noted("c")], Wait::Disk);
        lasting.await.unwrap_err();
        assert!(heard.try_recv().is_err());
    }
}
