//! Who owns a case, and when somebody else may.

use std::path::Path;

use async_trait::async_trait;
use sqlx::sqlite::SqliteRow;
use sqlx::{Row as _, SqliteConnection};
use tribunal_core::event::{Event, EventKind};
use tribunal_core::ids::CaseId;
use tribunal_core::time::Timestamp;

use super::batch::{Batch, Refusal};
use super::lease_clock::LeaseClock;
use super::ledger::{self, Draft, Head};
use super::writer::{Tx, Write};
use super::{from_column, to_column};
use crate::holder::may_live;
use crate::{Holder, Lease, StoreError};

/// Opens a case with its first events.
pub(super) struct OpenCase {
    case: CaseId,
    holder: Holder,
    drafts: Vec<Draft>,
}

impl OpenCase {
    pub(super) fn new(
        case: CaseId,
        holder: Holder,
        events: Vec<EventKind>,
    ) -> Result<Self, StoreError> {
        if !matches!(events.first(), Some(EventKind::CaseOpened { .. })) {
            return Err(StoreError::Refused {
                what: "a case begins with `case_opened`".to_owned(),
            });
        }
        let drafts = ledger::draft(events)?;
        Ok(Self {
            case,
            holder,
            drafts,
        })
    }
}

#[async_trait]
impl Write for OpenCase {
    type Answer = (Lease, Vec<Event>);

    async fn run(&mut self, tx: &mut Tx<'_>) -> Result<Self::Answer, StoreError> {
        const SQL: &str = "
            INSERT INTO leases
                (case_id, generation, holder_host, holder_pid, holder_nonce, expires_at_ms,
                 boot_expires_at_ms)
            VALUES ($1, 1, $2, $3, $4, $5, $6)
            ON CONFLICT DO NOTHING";
        let repeated = StoreError::Repeated {
            what: format!("case {}", self.case),
        };
        let (wall_end, boot_end) = tx.leases.ends();
        let mut batch = Batch::default();
        batch
            .add(SQL)
            .bind(self.case.as_str())
            .bind(&self.holder.host)
            .bind(self.holder.pid)
            .bind(&self.holder.nonce)
            .bind(wall_end.0)
            .bind(boot_end)
            .unless_changed(Refusal::Plain(repeated));
        let lease = Lease {
            case: self.case.clone(),
            holder: self.holder.clone(),
            generation: 1,
        };
        let drafts = std::mem::take(&mut self.drafts);
        let head = Head::start(&self.case);
        let events = ledger::store(&mut batch, tx.now, &lease, head, drafts)?;
        batch.run(tx.conn).await?;
        Ok((lease, events))
    }
}

/// Takes over a case whose owner is gone. Taking what one owns already changes nothing.
pub(super) struct Claim {
    pub(super) case: CaseId,
    pub(super) holder: Holder,
}

#[async_trait]
impl Write for Claim {
    type Answer = Lease;

    async fn run(&mut self, tx: &mut Tx<'_>) -> Result<Lease, StoreError> {
        const SQL: &str = "
            UPDATE leases
            SET holder_host = $2, holder_pid = $3, holder_nonce = $4,
                generation = $5, expires_at_ms = $6, boot_expires_at_ms = $7
            WHERE case_id = $1";
        let tenure = read(tx.conn, &self.case).await?;
        let mut generation = tenure.generation;
        match &tenure.holder {
            Some(holder) if *holder == self.holder => {}
            Some(holder) if tenure.is_alive(&tx.leases, tx.directory) => {
                return Err(StoreError::Busy {
                    case: self.case.clone(),
                    host: holder.host_name().to_owned(),
                    pid: holder.pid,
                });
            }
            Some(_) | None => generation += 1,
        }
        let (wall_end, boot_end) = tx.leases.ends();
        sqlx::query(SQL)
            .bind(self.case.as_str())
            .bind(&self.holder.host)
            .bind(self.holder.pid)
            .bind(&self.holder.nonce)
            .bind(to_column(generation))
            .bind(wall_end.0)
            .bind(boot_end)
            .execute(&mut *tx.conn)
            .await?;
        Ok(Lease {
            case: self.case.clone(),
            holder: self.holder.clone(),
            generation,
        })
    }
}

/// Prolongs a lease.
pub(super) struct Renew {
    pub(super) lease: Lease,
}

#[async_trait]
impl Write for Renew {
    type Answer = ();

    async fn run(&mut self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        const SQL: &str = "
            UPDATE leases
            SET expires_at_ms = $4, boot_expires_at_ms = $5
            WHERE case_id = $1 AND generation = $2 AND holder_nonce = $3";
        let (wall_end, boot_end) = tx.leases.ends();
        let renewed = sqlx::query(SQL)
            .bind(self.lease.case.as_str())
            .bind(to_column(self.lease.generation))
            .bind(&self.lease.holder.nonce)
            .bind(wall_end.0)
            .bind(boot_end)
            .execute(&mut *tx.conn)
            .await?;
        if renewed.rows_affected() == 0 {
            return Err(StoreError::LeaseLost {
                case: self.lease.case.clone(),
            });
        }
        Ok(())
    }
}

/// Gives a lease back.
pub(super) struct Release {
    pub(super) lease: Lease,
}

#[async_trait]
impl Write for Release {
    type Answer = ();

    async fn run(&mut self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        let mut batch = Batch::default();
        give_back(&mut batch, &self.lease);
        batch.run(tx.conn).await
    }
}

/// Leaves the case without an owner, if `lease` is still the one in force.
pub(super) fn give_back(batch: &mut Batch, lease: &Lease) {
    const SQL: &str = "
        UPDATE leases
        SET holder_host = NULL, holder_pid = NULL, holder_nonce = NULL
        WHERE case_id = $1 AND generation = $2 AND holder_nonce = $3";
    batch
        .add(SQL)
        .bind(lease.case.as_str())
        .bind(to_column(lease.generation))
        .bind(&lease.holder.nonce);
}

/// How a case is held, whoever asks.
pub(super) struct Tenure {
    holder: Option<Holder>,
    generation: u64,
    expires_at: Timestamp,
    /// The same since the start of the holder's machine.
    boot_expires_at_ms: Option<i64>,
}

impl Tenure {
    /// The columns from which a tenure is read.
    pub(super) fn from_row(row: &SqliteRow) -> Result<Self, StoreError> {
        let host: Option<String> = row.try_get("holder_host")?;
        let pid: Option<u32> = row.try_get("holder_pid")?;
        let nonce: Option<String> = row.try_get("holder_nonce")?;
        let holder = match (host, pid, nonce) {
            (Some(host), Some(pid), Some(nonce)) => Some(Holder::named(host, pid, nonce)),
            _ => None,
        };
        Ok(Self {
            holder,
            generation: from_column("a generation", row.try_get("generation")?)?,
            expires_at: Timestamp(row.try_get("expires_at_ms")?),
            boot_expires_at_ms: row.try_get("boot_expires_at_ms")?,
        })
    }

    /// Returns the owner as people are told of it.
    pub(super) fn holder_name(&self) -> Option<String> {
        let holder = self.holder.as_ref()?;
        Some(format!("{}:{}", holder.host_name(), holder.pid))
    }

    /// Tells whether the owner is alive. This is the only definition of it.
    ///
    /// Its lease has not run out and, on this machine, its process lives. On this machine the lease
    /// runs by the clock that nobody can set, on another by the store's.
    pub(super) fn is_alive(&self, clock: &LeaseClock, directory: &Path) -> bool {
        let Some(holder) = &self.holder else {
            return false;
        };
        let boot_end = self.boot_expires_at_ms.filter(|_| holder.is_of_this_boot());
        clock.runs(self.expires_at, boot_end) && may_live(directory, holder)
    }
}

async fn read(conn: &mut SqliteConnection, case: &CaseId) -> Result<Tenure, StoreError> {
    const SQL: &str = "
        SELECT holder_host, holder_pid, holder_nonce, generation, expires_at_ms,
               boot_expires_at_ms
        FROM leases
        WHERE case_id = $1";
    let row = sqlx::query(SQL)
        .bind(case.as_str())
        .fetch_optional(conn)
        .await?;
    match row {
        Some(row) => Tenure::from_row(&row),
        None => Err(StoreError::NoSuchCase {
            text: case.to_string(),
        }),
    }
}
