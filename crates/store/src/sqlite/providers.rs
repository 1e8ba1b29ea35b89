//! Providers that are not to be called for a while.

use async_trait::async_trait;
use sqlx::SqliteConnection;
use tribunal_core::agent::ErrorClass;
use tribunal_core::event::{Event, EventKind};
use tribunal_core::time::Timestamp;

use super::batch::Batch;
use super::to_column;
use super::writer::{Tx, Write};
use crate::{ParkedProvider, StoreError};

const REMOVE: &str = "DELETE FROM providers WHERE provider = $1 AND model = $2";

/// Applies an event to the table `providers`.
pub(super) fn apply(batch: &mut Batch, event: &Event) -> Result<(), StoreError> {
    match &event.kind {
        EventKind::ProviderParked {
            provider,
            model,
            class,
            until,
        } => {
            const SQL: &str = "
                INSERT INTO providers (provider, model, class, until_ms)
                SELECT $1, $2, $3, $4
                WHERE NOT EXISTS (
                    SELECT 1
                    FROM provider_frees
                    JOIN events ON events.position <= after_position
                    WHERE provider = $1 AND model = $2
                      AND events.case_id = $5 AND events.seq = $6)
                ON CONFLICT DO UPDATE SET class = $3, until_ms = $4";
            batch
                .add(SQL)
                .bind(provider)
                .bind(model_to_column(model.as_deref()))
                .bind(class.as_str())
                .bind(until.map(|until| until.0))
                .bind(event.case.as_str())
                .bind(to_column(event.seq));
        }
        EventKind::ProviderFreed { provider, model } => {
            batch
                .add(REMOVE)
                .bind(provider)
                .bind(model_to_column(model.as_deref()));
        }
        _ => {}
    }
    Ok(())
}

/// Frees a provider outside of any case.
pub(super) struct Free {
    provider: String,
    model: String,
}

impl Free {
    pub(super) fn new(provider: &str, model: Option<&str>) -> Self {
        Self {
            provider: provider.to_owned(),
            model: model_to_column(model).to_owned(),
        }
    }
}

#[async_trait]
impl Write for Free {
    type Answer = bool;

    async fn run(&mut self, tx: &mut Tx<'_>) -> Result<bool, StoreError> {
        const SQL: &str = "
            INSERT INTO provider_frees (provider, model, after_position, at_ms)
            VALUES ($1, $2, (SELECT COALESCE(MAX(position), 0) FROM events), $3)
            ON CONFLICT DO UPDATE
            SET after_position = excluded.after_position, at_ms = excluded.at_ms";
        let removed = sqlx::query(REMOVE)
            .bind(&self.provider)
            .bind(&self.model)
            .execute(&mut *tx.conn)
            .await?;
        if removed.rows_affected() > 0 {
            sqlx::query(SQL)
                .bind(&self.provider)
                .bind(&self.model)
                .bind(tx.now.0)
                .execute(&mut *tx.conn)
                .await?;
        }
        Ok(removed.rows_affected() > 0)
    }
}

/// Returns the providers whose pause is not over at `now`.
pub(super) async fn parked(
    conn: &mut SqliteConnection,
    now: Timestamp,
) -> Result<Vec<ParkedProvider>, StoreError> {
    type Row = (String, String, String, Option<i64>);
    const SQL: &str = "
        SELECT provider, model, class, until_ms
        FROM providers
        WHERE until_ms IS NULL OR until_ms > $1
        ORDER BY provider, model";
    let rows: Vec<Row> = sqlx::query_as(SQL).bind(now.0).fetch_all(conn).await?;
    let read = |(provider, model, class, until): Row| {
        let class = class_from_column(&provider, &class)?;
        Ok(ParkedProvider {
            provider,
            model: (!model.is_empty()).then_some(model),
            class,
            until: until.map(Timestamp),
        })
    };
    rows.into_iter().map(read).collect()
}

fn class_from_column(provider: &str, text: &str) -> Result<ErrorClass, StoreError> {
    let known = ErrorClass::ALL
        .into_iter()
        .find(|class| class.as_str() == text);
    known.ok_or_else(|| StoreError::Damaged {
        what: format!("provider {provider} is parked for the unknown reason `{text}`"),
    })
}

/// Returns the model as part of a key, where an absent one must equal itself.
fn model_to_column(model: Option<&str>) -> &str {
    model.unwrap_or("")
}
