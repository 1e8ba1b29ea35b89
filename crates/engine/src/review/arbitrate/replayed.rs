//! What a replay takes from the record because no answer holds it: files, rulings, the offer.

use std::collections::BTreeMap;

use serde_json::Value;
use tribunal_core::event::{ArbitrationEvent, Event, EventKind};
use tribunal_core::review::arbitration::Offer;

/// What was decided outside of the answers when an arbitration was recorded.
#[derive(Debug, Clone, Default)]
pub(crate) struct RecordedArbitration {
    /// Results of the finished steps.
    steps: BTreeMap<String, Value>,
    /// Ids of disputes by finding and origin.
    disputes: BTreeMap<(String, &'static str), String>,
    /// Why disputes wait, by their ids.
    waiting: BTreeMap<String, String>,
    /// How the work was handed over.
    pub(super) offer: Option<Offer>,
}

impl RecordedArbitration {
    /// Returns it from the events of the recorded case.
    pub(crate) fn of(events: &[Event]) -> Self {
        let mut recorded = Self::default();
        for event in events {
            match &event.kind {
                EventKind::StepFinished { step, output } => {
                    let step = step.as_str().to_owned();
                    recorded.steps.insert(step, output.clone());
                }
                EventKind::Arbitration(ArbitrationEvent::FindingContested {
                    finding,
                    dispute,
                    origin,
                    ..
                }) => {
                    let key = (finding.clone(), origin.as_str());
                    recorded.disputes.insert(key, dispute.clone());
                }
                EventKind::Arbitration(ArbitrationEvent::ContestSettled {
                    dispute,
                    decision: None,
                    reason,
                    ..
                }) => {
                    recorded.waiting.insert(dispute.clone(), reason.clone());
                }
                EventKind::Arbitration(ArbitrationEvent::WorkOffered { offer }) => {
                    recorded.offer = Some(offer.clone());
                }
                _ => {}
            }
        }
        recorded
    }

    /// Returns the recorded result of a step.
    pub(super) fn step<T: serde::de::DeserializeOwned>(&self, key: &str) -> Option<T> {
        serde_json::from_value(self.steps.get(key)?.clone()).ok()
    }

    /// Returns the id of the recorded dispute about a finding, and why it waits if it does.
    pub(super) fn dispute(&self, finding: &str, origin: &'static str) -> (String, Option<String>) {
        let key = (finding.to_owned(), origin);
        let id = self.disputes.get(&key).cloned().unwrap_or_default();
        let why = self.waiting.get(&id).cloned();
        (id, why)
    }
}
