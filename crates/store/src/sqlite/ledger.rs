//! The events: numbered and chained within each case, fenced by the lease's generation.

use async_trait::async_trait;
use sqlx::SqliteConnection;
use tribunal_core::event::{Event, EventKind};
use tribunal_core::ids::CaseId;
use tribunal_core::time::Timestamp;

use super::batch::Batch;
use super::writer::{Tx, Write};
use super::{from_column, to_column};
use super::{leases, projection};
use crate::{Lease, StoreError};

/// How many events one statement inserts at most: a long one takes much room while it is prepared.
const ROWS: usize = 64;

/// Appends events to a case that its caller owns.
pub(super) struct Append {
    lease: Lease,
    drafts: Vec<Draft>,
}

impl Append {
    pub(super) fn new(lease: Lease, events: Vec<EventKind>) -> Result<Self, StoreError> {
        let drafts = draft(events)?;
        Ok(Self { lease, drafts })
    }
}

#[async_trait]
impl Write for Append {
    type Answer = Vec<Event>;

    async fn run(&mut self, tx: &mut Tx<'_>) -> Result<Vec<Event>, StoreError> {
        let head = head_for(tx.conn, &self.lease).await?;
        let drafts = std::mem::take(&mut self.drafts);
        let mut batch = Batch::default();
        let events = store(&mut batch, tx.now, &self.lease, head, drafts)?;
        batch.run(tx.conn).await?;
        Ok(events)
    }
}

/// An event with the text that will be stored, made before the writer is troubled with it.
pub(super) struct Draft {
    kind: EventKind,
    body: String,
}

/// Returns the texts of `events`, after proving that they can be read again.
pub(super) fn draft(events: Vec<EventKind>) -> Result<Vec<Draft>, StoreError> {
    let encode = |kind: EventKind| {
        let body = serde_json::to_string(&kind).and_then(|body| {
            // Values may be nested deeper than the reader follows.
            serde_json::from_str::<EventKind>(&body).map(|_| body)
        });
        match body {
            Ok(body) => Ok(Draft { kind, body }),
            Err(error) => Err(StoreError::Refused {
                what: format!("it could not be read again: {error}"),
            }),
        }
    };
    events.into_iter().map(encode).collect()
}

/// The end of a case's chain of events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) seq: u64,
    pub(super) at: Timestamp,
    pub(super) hash: [u8; 32],
}

impl Head {
    /// Returns what the first event of `case` follows. It names the case, so that no chain can be
    /// passed off as that of another.
    pub(super) fn start(case: &CaseId) -> Self {
        Self {
            seq: 0,
            at: Timestamp(i64::MIN),
            hash: *blake3::hash(case.as_str().as_bytes()).as_bytes(),
        }
    }

    /// Returns the hash of the event that follows this one.
    pub(super) fn hash_of_next(&self, at: Timestamp, generation: u64, body: &str) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.hash);
        hasher.update(&(self.seq + 1).to_le_bytes());
        hasher.update(&at.0.to_le_bytes());
        hasher.update(&generation.to_le_bytes());
        hasher.update(body.as_bytes());
        *hasher.finalize().as_bytes()
    }
}

/// Adds the statements that store `drafts` after `head` and apply them to the derived tables.
///
/// Returns the events as they will be stored.
pub(super) fn store(
    batch: &mut Batch,
    now: Timestamp,
    lease: &Lease,
    mut head: Head,
    drafts: Vec<Draft>,
) -> Result<Vec<Event>, StoreError> {
    let mut rows = Vec::with_capacity(drafts.len());
    for Draft { kind, body } in drafts {
        // A clock that was set back must not turn the story around.
        let at = now.max(head.at);
        let hash = head.hash_of_next(at, lease.generation, &body);
        let prev_hash = std::mem::replace(&mut head.hash, hash);
        (head.seq, head.at) = (head.seq + 1, at);
        let event = Event {
            case: lease.case.clone(),
            seq: head.seq,
            at,
            kind,
        };
        rows.push((event, body, prev_hash, hash));
    }
    for some in rows.chunks(ROWS) {
        let mut statement = batch.add(&insert(some.len()));
        for (event, body, prev_hash, hash) in some {
            statement = statement
                .bind(event.case.as_str())
                .bind(to_column(event.seq))
                .bind(event.at.0)
                .bind(to_column(lease.generation))
                .bind(body)
                .bind(prev_hash.to_vec())
                .bind(hash.to_vec());
        }
    }
    let events: Vec<_> = rows.into_iter().map(|(event, ..)| event).collect();
    for event in &events {
        projection::add(batch, event)?;
    }
    if events.last().is_some_and(|event| ends_work(&event.kind)) {
        leases::give_back(batch, lease);
    }
    Ok(events)
}

/// Returns the statement that inserts so many events.
fn insert(count: usize) -> String {
    let row = |row: usize| {
        let first = row * 7;
        let parameters: Vec<_> = (1..=7).map(|n| format!("${}", first + n)).collect();
        format!("({})", parameters.join(", "))
    };
    let rows: Vec<_> = (0..count).map(row).collect();
    format!(
        "INSERT INTO events (case_id, seq, at_ms, generation, body, prev_hash, hash) VALUES {}",
        rows.join(", ")
    )
}

/// Tells whether nobody works on a case after this event.
fn ends_work(kind: &EventKind) -> bool {
    matches!(
        kind,
        EventKind::CaseClosed { .. } | EventKind::CaseParked { .. }
    )
}

/// Returns the end of the case's chain, if `lease` still gives the right to add to it.
async fn head_for(conn: &mut SqliteConnection, lease: &Lease) -> Result<Head, StoreError> {
    const SQL: &str = "
        SELECT events.seq, events.at_ms, events.hash
        FROM leases JOIN events USING (case_id)
        WHERE case_id = $1 AND leases.generation = $2 AND holder_nonce = $3
        ORDER BY events.seq DESC
        LIMIT 1";
    let row: Option<(i64, i64, Vec<u8>)> = sqlx::query_as(SQL)
        .bind(lease.case.as_str())
        .bind(to_column(lease.generation))
        .bind(&lease.holder.nonce)
        .fetch_optional(conn)
        .await?;
    let Some((seq, at, hash)) = row else {
        return Err(StoreError::LeaseLost {
            case: lease.case.clone(),
        });
    };
    Ok(Head {
        seq: from_column("the number of an event", seq)?,
        at: Timestamp(at),
        hash: hash_from_column(&lease.case, seq, hash)?,
    })
}

/// Returns at most `limit` events of a case after number `after`.
pub(super) async fn events(
    conn: &mut SqliteConnection,
    case: &CaseId,
    after: u64,
    limit: u32,
) -> Result<Vec<Event>, StoreError> {
    const SQL: &str = "
        SELECT seq, at_ms, body
        FROM events
        WHERE case_id = $1 AND seq > $2
        ORDER BY seq
        LIMIT $3";
    let rows: Vec<(i64, i64, String)> = sqlx::query_as(SQL)
        .bind(case.as_str())
        .bind(to_column(after))
        .bind(i64::from(limit))
        .fetch_all(conn)
        .await?;
    let read = |(seq, at, body): (i64, i64, String)| {
        Ok(Event {
            case: case.clone(),
            seq: from_column("the number of an event", seq)?,
            at: Timestamp(at),
            kind: kind_from_column(case, seq, &body)?,
        })
    };
    rows.into_iter().map(read).collect()
}

/// Returns what an event says; a word that we do not know is named in the error.
pub(super) fn kind_from_column(
    case: &CaseId,
    seq: i64,
    body: &str,
) -> Result<EventKind, StoreError> {
    serde_json::from_str(body).map_err(|error| StoreError::Damaged {
        what: format!("event {seq} of case {case}: {error}"),
    })
}

/// Returns a hash of the right length.
pub(super) fn hash_from_column(
    case: &CaseId,
    seq: i64,
    hash: Vec<u8>,
) -> Result<[u8; 32], StoreError> {
    hash.try_into().map_err(|_| StoreError::Damaged {
        what: format!("event {seq} of case {case} has no valid hash"),
    })
}
