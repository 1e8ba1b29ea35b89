//! The cases as they stand.

use sqlx::sqlite::SqliteRow;
use sqlx::{Row as _, SqliteConnection};
use tribunal_core::case::{CaseKind, CaseState, Outcome};
use tribunal_core::event::{Event, EventKind};
use tribunal_core::ids::CaseId;
use tribunal_core::time::Timestamp;

use super::batch::{Batch, Refusal};
use super::leases::Tenure;
use super::lookup::{Meant, Table, look_up};
use super::projection::case_from_column;
use super::site::Site;
use super::{from_column, ledger, runs};
use crate::{CaseRecord, StoreError};

/// Applies an event to the table `cases`.
pub(super) fn apply(batch: &mut Batch, event: &Event) -> Result<(), StoreError> {
    match &event.kind {
        EventKind::CaseOpened {
            kind,
            title,
            request,
        } => {
            let parent = request.get("parent").and_then(|parent| parent.as_str());
            open(batch, event, kind.as_str(), title, parent)
        }
        EventKind::CaseResumed { .. } => set_state(batch, event, &CaseState::Open),
        EventKind::CaseParked { why, until } => {
            let (why, until) = (why.clone(), *until);
            close_or_park(batch, event, &CaseState::Parked { why, until })
        }
        EventKind::CaseClosed { outcome } => {
            close_or_park(batch, event, &CaseState::Closed(outcome.clone()))
        }
        _ => Ok(()),
    }
}

fn open(
    batch: &mut Batch,
    event: &Event,
    kind: &str,
    title: &str,
    parent: Option<&str>,
) -> Result<(), StoreError> {
    const SQL: &str = "
        INSERT INTO cases (id, kind, title, state, opened_at_ms, parent)
        VALUES ($1, $2, $3, $4, $5, $6)
        ON CONFLICT DO NOTHING";
    let repeated = StoreError::Repeated {
        what: format!("the opening of case {}", event.case),
    };
    batch
        .add(SQL)
        .bind(event.case.as_str())
        .bind(kind)
        .bind(title)
        .bind(state_to_column(&CaseState::Open)?)
        .bind(event.at.0)
        .bind(parent)
        .unless_changed(Refusal::Plain(repeated));
    Ok(())
}

/// A closed case may be resumed, but it neither closes again nor waits.
fn close_or_park(batch: &mut Batch, event: &Event, state: &CaseState) -> Result<(), StoreError> {
    const SQL: &str = "
        UPDATE cases
        SET state = $2
        WHERE id = $1 AND state ->> '$.state' <> 'closed'";
    let refusal = match state {
        CaseState::Closed(
            Outcome::Completed | Outcome::Failed { .. } | Outcome::Inconclusive { .. },
        ) => StoreError::Repeated {
            what: format!("the end of case {}", event.case),
        },
        CaseState::Open | CaseState::Parked { .. } => StoreError::Refused {
            what: format!("case {} is closed and cannot wait", event.case),
        },
    };
    batch
        .add(SQL)
        .bind(event.case.as_str())
        .bind(state_to_column(state)?)
        .unless_changed(Refusal::Plain(refusal));
    Ok(())
}

fn set_state(batch: &mut Batch, event: &Event, state: &CaseState) -> Result<(), StoreError> {
    const SQL: &str = "UPDATE cases SET state = $2 WHERE id = $1";
    batch
        .add(SQL)
        .bind(event.case.as_str())
        .bind(state_to_column(state)?);
    Ok(())
}

/// Returns the case with exactly this id, or the only one whose id starts or ends with `text`.
pub(super) async fn find(
    conn: &mut SqliteConnection,
    site: &Site,
    text: &str,
) -> Result<CaseRecord, StoreError> {
    let text = text.to_owned();
    match look_up(conn, Table::Cases, &text).await? {
        Meant::One(id) => record(conn, site, &id).await,
        Meant::Several(count) => Err(StoreError::AmbiguousCase { text, count }),
        Meant::Nothing => Err(StoreError::NoSuchCase { text }),
    }
}

/// Returns the cases of a kind in which an event of one of `types` stands, the oldest first.
pub(super) async fn with(
    conn: &mut SqliteConnection,
    kind: CaseKind,
    types: &[&str],
) -> Result<Vec<CaseId>, StoreError> {
    const SQL: &str = "
        SELECT id FROM cases
        WHERE kind = $1 AND EXISTS (
            SELECT 1 FROM events
            WHERE case_id = cases.id
                AND body ->> '$.type' IN (SELECT value FROM json_each($2)))
        ORDER BY opened_at_ms, id";
    let rows: Vec<(String,)> = sqlx::query_as(SQL)
        .bind(kind.as_str())
        .bind(serde_json::json!(types).to_string())
        .fetch_all(conn)
        .await?;
    rows.into_iter().map(|(id,)| case_from_column(id)).collect()
}

/// Returns the newest cases, newest first.
pub(super) async fn recent(
    conn: &mut SqliteConnection,
    site: &Site,
    kind: Option<CaseKind>,
    limit: u32,
) -> Result<Vec<CaseRecord>, StoreError> {
    const SQL: &str = "
        SELECT id FROM cases
        WHERE $1 IS NULL OR kind = $1
        ORDER BY opened_at_ms DESC, id DESC
        LIMIT $2";
    let ids: Vec<(String,)> = sqlx::query_as(SQL)
        .bind(kind.map(|kind| kind.to_string()))
        .bind(i64::from(limit))
        .fetch_all(&mut *conn)
        .await?;
    let mut records = Vec::with_capacity(ids.len());
    for (id,) in ids {
        records.push(record(conn, site, &id).await?);
    }
    Ok(records)
}

async fn record(
    conn: &mut SqliteConnection,
    site: &Site,
    id: &str,
) -> Result<CaseRecord, StoreError> {
    const SQL: &str = "
        SELECT cases.id, cases.state, cases.opened_at_ms,
               first.body AS opening,
               last.seq AS last_seq, last.at_ms AS updated_at_ms,
               leases.holder_host, leases.holder_pid, leases.holder_nonce,
               leases.generation, leases.expires_at_ms, leases.boot_expires_at_ms
        FROM cases
        JOIN leases ON leases.case_id = cases.id
        JOIN events AS first ON first.case_id = cases.id AND first.seq = 1
        JOIN events AS last ON last.case_id = cases.id
        WHERE cases.id = $1
        ORDER BY last.seq DESC
        LIMIT 1";
    let row = sqlx::query(SQL)
        .bind(id)
        .fetch_optional(&mut *conn)
        .await?
        .ok_or_else(|| StoreError::Damaged {
            what: format!("case {id} has no events or no lease"),
        })?;
    let mut record = read_record(&row, site)?;
    record.spend = runs::case_spend(conn, &record.id).await?;
    Ok(record)
}

fn read_record(row: &SqliteRow, site: &Site) -> Result<CaseRecord, StoreError> {
    let id = case_from_column(row.try_get("id")?)?;
    let opening: String = row.try_get("opening")?;
    let EventKind::CaseOpened {
        kind,
        title,
        request,
    } = ledger::kind_from_column(&id, 1, &opening)?
    else {
        return Err(StoreError::Damaged {
            what: format!("case {id} does not begin with `case_opened`"),
        });
    };
    let state: String = row.try_get("state")?;
    let state = serde_json::from_str(&state).map_err(|error| StoreError::Damaged {
        what: format!("the state of case {id}: {error}"),
    })?;
    Ok(CaseRecord {
        kind,
        title,
        request,
        state,
        opened_at: Timestamp(row.try_get("opened_at_ms")?),
        updated_at: Timestamp(row.try_get("updated_at_ms")?),
        last_seq: from_column("the number of an event", row.try_get("last_seq")?)?,
        spend: tribunal_core::money::Spend::default(),
        owned: Tenure::from_row(row)?.is_alive(&site.leases(), site.directory()),
        id,
    })
}

fn state_to_column(state: &CaseState) -> Result<String, StoreError> {
    serde_json::to_string(state).map_err(|error| StoreError::Refused {
        what: error.to_string(),
    })
}
