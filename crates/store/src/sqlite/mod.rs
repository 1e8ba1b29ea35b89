//! The ledger in one SQLite file.
//!
//! One task writes; readers are opened when somebody reads. Each aggregate has a file with its
//! statements and with the function that applies events to its table.

mod batch;
mod caps;
mod cases;
mod check;
mod copy;
mod decisions;
mod disputes;
mod effects;
mod findings;
mod identity;
mod lease_clock;
mod leases;
mod ledger;
mod lookup;
mod projection;
mod providers;
mod readers;
mod runs;
mod schema;
mod site;
mod soon;
mod steps;
mod tasks;
mod writer;

use std::path::Path;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use tribunal_core::case::CaseKind;
use tribunal_core::dispute::{Dispute, Status};
use tribunal_core::event::{Event, EventKind};
use tribunal_core::ids::{CaseId, EffectKey, StepKey};
use tribunal_core::money::Spend;
use tribunal_core::time::Timestamp;

use self::readers::Readers;
use self::site::Site;
use self::writer::Writer;
use crate::{
    CaseRecord, DisputeFilter, Disputes, EffectState, FindingRecord, Holder, Lease, Options,
    ParkedProvider, PrecedentFilter, RunRecord, Store, StoreError, Violation,
};

/// A [`Store`] in one SQLite file.
pub(crate) struct SqliteStore {
    site: Arc<Site>,
    writer: Writer,
    readers: Readers,
}

impl SqliteStore {
    /// Opens the ledger at `path`, and creates it or brings it up to date when needed.
    pub(crate) async fn open(path: &Path, options: Options) -> Result<Self, StoreError> {
        let site = Arc::new(Site::open(path, options).await?);
        Ok(Self {
            writer: Writer::new(Arc::clone(&site)),
            readers: Readers::new(Arc::clone(&site)),
            site,
        })
    }
}

/// Runs a read on a connection of its own, again when another process was in the way.
macro_rules! read {
    ($store:expr, $conn:ident => $work:expr) => {{
        let mut reader = $store.readers.reader().await?;
        loop {
            let $conn = &mut reader.conn;
            match $work.await {
                Err(error) if reader.may_retry(&error).await => {}
                result => break reader.finish(result),
            }
        }
    }};
}

use read;

#[async_trait]
impl Store for SqliteStore {
    async fn open_case(
        &self,
        case: &CaseId,
        holder: &Holder,
        events: Vec<EventKind>,
    ) -> Result<(Lease, Vec<Event>), StoreError> {
        let write = leases::OpenCase::new(case.clone(), holder.clone(), events)?;
        self.writer.submit(write).await
    }

    async fn claim_case(&self, case: &CaseId, holder: &Holder) -> Result<Lease, StoreError> {
        let (case, holder) = (case.clone(), holder.clone());
        self.writer.submit(leases::Claim { case, holder }).await
    }

    async fn renew(&self, lease: &Lease) -> Result<(), StoreError> {
        let lease = lease.clone();
        self.writer.submit(leases::Renew { lease }).await
    }

    async fn release(&self, lease: &Lease) -> Result<(), StoreError> {
        let lease = lease.clone();
        self.writer.submit(leases::Release { lease }).await
    }

    async fn append(
        &self,
        lease: &Lease,
        events: Vec<EventKind>,
    ) -> Result<Vec<Event>, StoreError> {
        let write = ledger::Append::new(lease.clone(), events)?;
        self.writer.submit(write).await
    }

    async fn events(
        &self,
        case: &CaseId,
        after: u64,
        limit: u32,
    ) -> Result<Vec<Event>, StoreError> {
        read!(self, conn => ledger::events(conn, case, after, limit))
    }

    async fn find_case(&self, text: &str) -> Result<CaseRecord, StoreError> {
        read!(self, conn => cases::find(conn, &self.site, text))
    }

    async fn recent_cases(&self, limit: u32) -> Result<Vec<CaseRecord>, StoreError> {
        read!(self, conn => cases::recent(conn, &self.site, None, limit))
    }

    async fn recent_cases_of(
        &self,
        kind: CaseKind,
        limit: u32,
    ) -> Result<Vec<CaseRecord>, StoreError> {
        read!(self, conn => cases::recent(conn, &self.site, Some(kind), limit))
    }

    async fn step(
        &self,
        case: &CaseId,
        step: &StepKey,
    ) -> Result<Option<serde_json::Value>, StoreError> {
        read!(self, conn => steps::output(conn, case, step))
    }

    async fn runs(&self, case: &CaseId) -> Result<Vec<RunRecord>, StoreError> {
        read!(self, conn => runs::of_case(conn, case))
    }

    async fn effect(&self, case: &CaseId, effect: &EffectKey) -> Result<EffectState, StoreError> {
        read!(self, conn => effects::state(conn, case, effect))
    }

    async fn announced_effects(
        &self,
        beginning: &str,
    ) -> Result<Vec<(CaseId, EffectKey)>, StoreError> {
        read!(self, conn => effects::announced(conn, beginning))
    }

    async fn findings(&self) -> Result<Vec<FindingRecord>, StoreError> {
        read!(self, conn => findings::all(conn))
    }

    async fn family_spend(&self, case: &CaseId) -> Result<Spend, StoreError> {
        read!(self, conn => runs::family_spend(conn, case))
    }

    async fn relatives_spend(&self, case: &CaseId, member: &CaseId) -> Result<Spend, StoreError> {
        read!(self, conn => runs::relatives_spend(conn, case, member))
    }

    async fn spend_since(&self, since: Timestamp) -> Result<Spend, StoreError> {
        read!(self, conn => runs::spend_since(conn, since))
    }

    async fn parked_providers(&self) -> Result<Vec<ParkedProvider>, StoreError> {
        read!(self, conn => providers::parked(conn, self.site.leases().wall))
    }

    async fn free_provider(&self, provider: &str, model: Option<&str>) -> Result<bool, StoreError> {
        self.writer
            .submit(providers::Free::new(provider, model))
            .await
    }

    async fn now(&self) -> Result<Timestamp, StoreError> {
        Ok(self.site.leases().wall)
    }

    async fn check(&self) -> Result<Vec<Violation>, StoreError> {
        // A connection of its own: it makes temporary tables that hide the real ones.
        let mut conn = self.site.connect().await?;
        let result = check::check(&mut conn).await;
        result.map_err(|error| self.site.explain("check", error))
    }

    async fn copy_to(&self, path: &Path) -> Result<(), StoreError> {
        copy::copy_to(&self.site, path).await
    }

    async fn rebuild(&self) -> Result<(), StoreError> {
        self.writer.submit(projection::Rebuild).await
    }

    async fn close(&self) {
        self.writer.close().await;
        self.readers.close().await;
        self.site.close().await;
    }
}

#[async_trait]
impl Disputes for SqliteStore {
    async fn find_dispute(&self, text: &str) -> Result<Dispute, StoreError> {
        read!(self, conn => disputes::find(conn, text))
    }

    async fn dispute_by_key(&self, key: &str) -> Result<Option<Dispute>, StoreError> {
        read!(self, conn => disputes::by_key(conn, key))
    }

    async fn open_dispute_of(&self, task: &str) -> Result<Option<Dispute>, StoreError> {
        read!(self, conn => disputes::open_of(conn, task))
    }

    async fn disputes(&self, wanted: &DisputeFilter) -> Result<Vec<Dispute>, StoreError> {
        read!(self, conn => disputes::list(conn, wanted))
    }

    async fn latest_rulings(&self, limit: u32) -> Result<Vec<Dispute>, StoreError> {
        read!(self, conn => disputes::latest_rulings(conn, limit))
    }

    async fn count_disputes(&self, status: Status) -> Result<u64, StoreError> {
        read!(self, conn => disputes::count(conn, status))
    }

    async fn precedents(&self, wanted: &PrecedentFilter) -> Result<Vec<Dispute>, StoreError> {
        read!(self, conn => disputes::precedents(conn, wanted, self.site.leases().wall))
    }

    async fn cases_of(
        &self,
        kind: CaseKind,
        since: Option<Timestamp>,
    ) -> Result<Vec<CaseId>, StoreError> {
        read!(self, conn => disputes::cases_of(conn, kind, since))
    }

    async fn cases_with(&self, kind: CaseKind, types: &[&str]) -> Result<Vec<CaseId>, StoreError> {
        read!(self, conn => cases::with(conn, kind, types))
    }

    async fn unfinished_cases(&self, kind: CaseKind) -> Result<Vec<CaseId>, StoreError> {
        read!(self, conn => disputes::unfinished(conn, kind))
    }
}

/// Returns the store's time: SQLite has no server, so its clock is this machine's.
fn clock() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let millis = since.map_or(0, |since| since.as_millis());
    let now = Timestamp(i64::try_from(millis).unwrap_or(i64::MAX));
    now.plus_millis(crate::crash::clock_ahead_ms())
}

/// Returns `value` as SQLite keeps it. Our counters never come near the bound.
fn to_column(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// Returns a number that is never negative in a sound ledger.
fn from_column(what: &'static str, value: i64) -> Result<u64, StoreError> {
    u64::try_from(value).map_err(|_| StoreError::Damaged {
        what: format!("{what} is {value}"),
    })
}
