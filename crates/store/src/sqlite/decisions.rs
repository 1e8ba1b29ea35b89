//! Decisions of the arbiter that may be reused.

use std::collections::BTreeMap;

use async_trait::async_trait;
use sqlx::SqliteConnection;
use tribunal_core::arbiter::{Decision, Source};
use tribunal_core::event::{Event, EventKind, WorkEvent};
use tribunal_core::money::Spend;

use super::batch::Batch;
use super::runs;
use super::{SqliteStore, from_column, read};
use crate::{Decisions, StoreError};

/// How many decisions are kept, whatever the config asks for.
const KEPT: i64 = 10_000;

#[async_trait]
impl Decisions for SqliteStore {
    async fn cached_decision(
        &self,
        key: &str,
        newest: u32,
    ) -> Result<Option<Decision>, StoreError> {
        read!(self, conn => cached(conn, key, newest))
    }

    async fn spend_of_steps(&self, beginning: &str) -> Result<Spend, StoreError> {
        read!(self, conn => runs::spend_of_steps(conn, beginning))
    }

    async fn decision_counts(&self) -> Result<BTreeMap<String, u64>, StoreError> {
        read!(self, conn => counts(conn))
    }
}

/// Applies an event to the tables of decisions.
pub(super) fn apply(batch: &mut Batch, event: &Event) -> Result<(), StoreError> {
    const COUNT: &str = "
        INSERT INTO arbiter_counts (source, count) VALUES ($1, 1)
        ON CONFLICT DO UPDATE SET count = count + 1";
    const KEEP: &str = "
        INSERT INTO arbiter_cache (key, number, decision)
        VALUES ($1, (SELECT COALESCE(MAX(number), 0) + 1 FROM arbiter_cache), $2)
        ON CONFLICT DO UPDATE SET number = excluded.number, decision = excluded.decision";
    const DROP: &str = "
        DELETE FROM arbiter_cache
        WHERE number <= (SELECT MAX(number) FROM arbiter_cache) - $1";
    let EventKind::Work(WorkEvent::ArbiterDecided {
        decision,
        source,
        key,
        ..
    }) = &event.kind
    else {
        return Ok(());
    };
    batch.add(COUNT).bind(source.as_str());
    if let Source::Model { .. } = source {
        let body = serde_json::to_string(decision).map_err(|error| StoreError::Refused {
            what: error.to_string(),
        })?;
        batch.add(KEEP).bind(key).bind(body);
        batch.add(DROP).bind(KEPT);
    }
    Ok(())
}

async fn cached(
    conn: &mut SqliteConnection,
    key: &str,
    newest: u32,
) -> Result<Option<Decision>, StoreError> {
    const SQL: &str = "
        SELECT decision FROM arbiter_cache
        WHERE key = $1 AND number > (SELECT MAX(number) FROM arbiter_cache) - $2";
    let row: Option<(String,)> = sqlx::query_as(SQL)
        .bind(key)
        .bind(i64::from(newest))
        .fetch_optional(conn)
        .await?;
    let read = |(body,): (String,)| {
        serde_json::from_str(&body).map_err(|error| StoreError::Damaged {
            what: format!("a decision of the arbiter: {error}"),
        })
    };
    row.map(read).transpose()
}

async fn counts(conn: &mut SqliteConnection) -> Result<BTreeMap<String, u64>, StoreError> {
    const SQL: &str = "SELECT source, count FROM arbiter_counts ORDER BY source";
    let rows: Vec<(String, i64)> = sqlx::query_as(SQL).fetch_all(conn).await?;
    let read = |(source, count)| Ok((source, from_column("a count", count)?));
    rows.into_iter().map(read).collect()
}
