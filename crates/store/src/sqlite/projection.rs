//! The derived tables as a whole: which events concern which of them, and making them again.

use async_trait::async_trait;
use sqlx::{Executor as _, SqliteConnection};
use tribunal_core::event::{Event, EventKind};
use tribunal_core::ids::CaseId;
use tribunal_core::time::Timestamp;

use super::batch::Batch;
use super::writer::{Tx, Write};
use super::{
    cases, decisions, disputes, effects, findings, from_column, ledger, providers, runs, steps,
    tasks,
};
use crate::StoreError;

/// The derived tables. Those that others refer to come first.
pub(super) const TABLES: [&str; 11] = [
    "cases",
    "steps",
    "runs",
    "effects",
    "providers",
    "findings",
    "sections",
    "tasks",
    "arbiter_cache",
    "arbiter_counts",
    "disputes",
];

/// How many events are read at once.
pub(super) const PAGE: i64 = 1000;

/// Applies one stored event to the derived tables.
pub(super) async fn apply(conn: &mut SqliteConnection, event: &Event) -> Result<(), StoreError> {
    let mut batch = Batch::default();
    add(&mut batch, event)?;
    batch.run(conn).await
}

/// Adds the statements that apply one stored event to the derived tables.
pub(super) fn add(batch: &mut Batch, event: &Event) -> Result<(), StoreError> {
    match &event.kind {
        EventKind::CaseOpened { .. }
        | EventKind::CaseResumed { .. }
        | EventKind::CaseParked { .. }
        | EventKind::CaseClosed { .. } => cases::apply(batch, event),
        EventKind::StepStarted { .. } | EventKind::StepFinished { .. } => {
            steps::apply(batch, event)
        }
        EventKind::RunStarted { .. }
        | EventKind::RunProgressed { .. }
        | EventKind::RunFinished { .. } => runs::apply(batch, event),
        EventKind::ProviderParked { .. } | EventKind::ProviderFreed { .. } => {
            providers::apply(batch, event)
        }
        EventKind::EffectIntended { .. } | EventKind::EffectDone { .. } => {
            effects::apply(batch, event)
        }
        EventKind::FindingsTracked { .. } => findings::apply(batch, event),
        EventKind::Task(_) => tasks::apply(batch, event),
        EventKind::Work(_) => decisions::apply(batch, event),
        EventKind::Dispute(dispute) => disputes::apply(batch, event, dispute),
        EventKind::Arbitration(_)
        | EventKind::RunRetried { .. }
        | EventKind::RepositoryDisturbed { .. }
        | EventKind::ReviewOpened { .. }
        | EventKind::ReviewerHeard { .. }
        | EventKind::ReviewerMissed { .. }
        | EventKind::RoundOpened { .. }
        | EventKind::DebaterHeard { .. }
        | EventKind::DebaterMissed { .. }
        | EventKind::EvidenceWeighed { .. }
        | EventKind::ReviewSettled { .. }
        | EventKind::Trial(_)
        | EventKind::FilesCollected { .. }
        | EventKind::Noted { .. } => Ok(()),
    }
}

/// Drops what was derived and derives it again.
pub(super) struct Rebuild;

#[async_trait]
impl Write for Rebuild {
    type Answer = ();

    async fn run(&mut self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        const CLEAR: &str = "
            DELETE FROM arbiter_counts;
            DELETE FROM arbiter_cache;
            DELETE FROM tasks;
            DELETE FROM sections;
            DELETE FROM disputes;
            DELETE FROM findings;
            DELETE FROM providers;
            DELETE FROM effects;
            DELETE FROM runs;
            DELETE FROM steps;
            DELETE FROM cases;";
        tx.conn.execute(CLEAR).await?;
        let mut after = 0;
        loop {
            let page = page(tx.conn, after).await?;
            for stored in &page {
                apply(tx.conn, &stored.event()?).await?;
                after = stored.position;
            }
            if page.is_empty() {
                return Ok(());
            }
        }
    }
}

/// An event as it lies in its table.
pub(super) struct Stored {
    pub(super) position: i64,
    pub(super) case: CaseId,
    pub(super) seq: i64,
    pub(super) at: Timestamp,
    pub(super) generation: i64,
    pub(super) body: String,
    pub(super) prev_hash: Vec<u8>,
    pub(super) hash: Vec<u8>,
}

impl Stored {
    /// Returns the event, if it can be read.
    pub(super) fn event(&self) -> Result<Event, StoreError> {
        Ok(Event {
            case: self.case.clone(),
            seq: from_column("the number of an event", self.seq)?,
            at: self.at,
            kind: ledger::kind_from_column(&self.case, self.seq, &self.body)?,
        })
    }
}

/// Returns the next events in the order in which they were stored.
pub(super) async fn page(
    conn: &mut SqliteConnection,
    after: i64,
) -> Result<Vec<Stored>, StoreError> {
    type Row = (i64, String, i64, i64, i64, String, Vec<u8>, Vec<u8>);
    const SQL: &str = "
        SELECT position, case_id, seq, at_ms, generation, body, prev_hash, hash
        FROM events
        WHERE position > $1
        ORDER BY position
        LIMIT $2";
    let rows: Vec<Row> = sqlx::query_as(SQL)
        .bind(after)
        .bind(PAGE)
        .fetch_all(conn)
        .await?;
    let read = |(position, case, seq, at, generation, body, prev_hash, hash): Row| {
        Ok(Stored {
            position,
            case: case_from_column(case)?,
            seq,
            at: Timestamp(at),
            generation,
            body,
            prev_hash,
            hash,
        })
    };
    rows.into_iter().map(read).collect()
}

/// Returns a case id that was stored by us.
pub(super) fn case_from_column(text: String) -> Result<CaseId, StoreError> {
    CaseId::new(text).map_err(|error| StoreError::Damaged {
        what: error.to_string(),
    })
}
