//! What a trial may cost: said when it was opened, kept with it, and raised by a person only.

use tribunal_core::event::{EventKind, WorkEvent};
use tribunal_core::money::MicroUsd;
use tribunal_store::CaseRecord;

use super::read_request;
use crate::Engine;
use crate::case::{Case, CaseError};

impl Engine {
    /// Returns this engine so that it spends no more on a trial than was said: `allowed` from now on,
    /// else what was said last.
    pub async fn within_cap_of(
        mut self,
        record: &CaseRecord,
        allowed: Option<MicroUsd>,
    ) -> Result<Self, CaseError> {
        if let Some(max_cost) = allowed {
            let (ledger, holder) = (self.ledger.clone(), self.holder.clone());
            let case = Case::tend(ledger, holder, record.id.clone(), self.stop.clone()).await?;
            case.record([EventKind::from(WorkEvent::CapSet { max_cost })])
                .await?;
            case.release().await?;
            self.caps.case = Some(max_cost);
            return Ok(self);
        }
        let events = self.events_of(&record.id).await?;
        let raised = events.iter().rev().find_map(|event| match &event.kind {
            EventKind::Work(WorkEvent::CapSet { max_cost }) => Some(*max_cost),
            _ => None,
        });
        let said = read_request(record.request.clone())?.max_cost;
        self.caps.case = raised.or(said).or(self.caps.case);
        Ok(self)
    }
}
