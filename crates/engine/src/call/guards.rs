//! What stands between a question and a call: budgets and parked providers.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::Mutex;
use tribunal_core::case::Pause;
use tribunal_core::event::EventKind;
use tribunal_core::ids::AgentName;
use tribunal_core::money::{MicroUsd, Spend};
use tribunal_core::time::Timestamp;
use tribunal_store::{ParkedProvider, Store};

use super::Seat;
use crate::Engine;
use crate::budget;
use crate::case::{Case, CaseError};

/// How old an answer about parked providers may be.
const FRESH: Duration = Duration::from_millis(100);

impl Engine {
    /// Refuses the next call when a cap has been reached.
    pub(super) async fn check_budget(
        &self,
        case: &Case,
        agent: &AgentName,
        seat: &Seat,
    ) -> Result<(), CaseError> {
        let mut caps = self.caps;
        if seat.is_free() && !seat.agent.states_a_cost().await {
            // What others have cost today is no reason against a call that nobody is paid for.
            caps.day = None;
        }
        if !caps.bind() && seat.max_cost_in_case.is_none() {
            return Ok(());
        }
        let store = self.ledger.store();
        let day_spend = match caps.day {
            Some(_) => {
                let now = store.now().await?;
                let midnight = Timestamp(now.0 - now.0.rem_euclid(86_400_000));
                store.spend_since(midnight).await?
            }
            None => Spend::default(),
        };
        // What the case itself has spent is looked at last: nobody else can start a run of it between
        // here and the start of this one.
        let case_spend = case.spend_of_budget().await?;
        let of_agent = |cap| budget::exceeded_by(agent, cap, caps.assumed, &case.spend_of(agent));
        let exceeded = budget::exceeded(&caps, &case_spend, &day_spend)
            .or_else(|| seat.max_cost_in_case.and_then(of_agent));
        match exceeded {
            Some(why) => Err(CaseError::Parked { why, until: None }),
            None => Ok(()),
        }
    }

    /// Returns the most that the next run may cost, for agents that can be told: what one call may
    /// cost, or what its agent has left in the case.
    pub(super) fn most_for_next_run(
        &self,
        case: &Case,
        agent: &AgentName,
        seat: &Seat,
    ) -> Option<MicroUsd> {
        let left = seat.max_cost_in_case.map(|cap| {
            let spent = case.spend_of(agent).against_cap(self.caps.assumed);
            MicroUsd(cap.0.saturating_sub(spent.0))
        });
        seat.max_cost_of_call.into_iter().chain(left).min()
    }

    /// Refuses to call a provider that is parked, be it for a time or until a person frees it.
    pub(super) async fn check_provider(&self, seat: &Seat) -> Result<(), CaseError> {
        match self.park_of(seat).await? {
            None => Ok(()),
            Some(park) if park.until.is_none() && self.tries_parked => Ok(()),
            Some(ParkedProvider {
                provider,
                class,
                until,
                ..
            }) => {
                let why = Pause::Provider { provider, class };
                Err(CaseError::Parked { why, until })
            }
        }
    }

    /// Notes that a parked provider has answered.
    pub(super) async fn free_if_parked(&self, case: &Case, seat: &Seat) -> Result<(), CaseError> {
        if let Some(ParkedProvider {
            provider, model, ..
        }) = self.park_of(seat).await?
        {
            case.note(EventKind::ProviderFreed { provider, model })
                .await;
            self.parks.forget().await;
        }
        Ok(())
    }

    async fn park_of(&self, seat: &Seat) -> Result<Option<ParkedProvider>, CaseError> {
        let profile = seat.agent.profile();
        if seat.is_free() {
            return Ok(None);
        }
        let account = seat.account();
        let ours = |park: &&ParkedProvider| park.provider == account && park.model == profile.model;
        let parked = self.parks.read(self.ledger.store().as_ref()).await?;
        Ok(parked.iter().find(ours).cloned())
    }
}

/// The parked providers as they were a moment ago, so that those who call at the same time ask the
/// ledger once. A park that another process sets in between might as well have come after the call.
#[derive(Default)]
pub(crate) struct Parks {
    read: Mutex<Option<(Instant, Arc<[ParkedProvider]>)>>,
}

impl Parks {
    async fn read(&self, store: &dyn Store) -> Result<Arc<[ParkedProvider]>, CaseError> {
        let mut read = self.read.lock().await;
        match &*read {
            Some((at, parked)) if at.elapsed() < FRESH => Ok(Arc::clone(parked)),
            _ => {
                let parked: Arc<[ParkedProvider]> = store.parked_providers().await?.into();
                *read = Some((Instant::now(), Arc::clone(&parked)));
                Ok(parked)
            }
        }
    }

    /// Makes the next question go to the ledger.
    pub(super) async fn forget(&self) {
        *self.read.lock().await = None;
    }
}
