//! Changes outside the ledger: announced first, then done, once.

use sqlx::SqliteConnection;
use tribunal_core::event::{Event, EventKind};
use tribunal_core::ids::{CaseId, EffectKey};

use super::batch::{Batch, Refusal};
use crate::{EffectState, StoreError};

/// Applies an event to the table `effects`.
pub(super) fn apply(batch: &mut Batch, event: &Event) -> Result<(), StoreError> {
    // An owner that took over may announce again what it cannot find done.
    const INTEND: &str = "
        INSERT INTO effects (case_id, effect, what)
        VALUES ($1, $2, $3)
        ON CONFLICT DO UPDATE SET what = $3
        WHERE evidence IS NULL";
    const DO: &str = "
        UPDATE effects
        SET evidence = $3
        WHERE case_id = $1 AND effect = $2 AND evidence IS NULL";
    let (sql, effect, text) = match &event.kind {
        EventKind::EffectIntended { effect, what } => (INTEND, effect, what),
        EventKind::EffectDone { effect, evidence } => (DO, effect, evidence),
        _ => return Ok(()),
    };
    let refusal = Refusal::Depends {
        sql: "SELECT 1 FROM effects WHERE case_id = $1 AND effect = $2 AND evidence IS NOT NULL",
        keys: vec![event.case.to_string(), effect.to_string()],
        found: StoreError::Repeated {
            what: format!("effect `{effect}` of case {}", event.case),
        },
        missing: StoreError::Refused {
            what: format!(
                "effect `{effect}` of case {} was never announced",
                event.case
            ),
        },
    };
    batch
        .add(sql)
        .bind(event.case.as_str())
        .bind(effect.as_str())
        .bind(text)
        .unless_changed(refusal);
    Ok(())
}

/// Returns what an effect has come to.
pub(super) async fn state(
    conn: &mut SqliteConnection,
    case: &CaseId,
    effect: &EffectKey,
) -> Result<EffectState, StoreError> {
    const SQL: &str = "SELECT evidence FROM effects WHERE case_id = $1 AND effect = $2";
    let row: Option<(Option<String>,)> = sqlx::query_as(SQL)
        .bind(case.as_str())
        .bind(effect.as_str())
        .fetch_optional(conn)
        .await?;
    Ok(match row {
        None => EffectState::Unknown,
        Some((None,)) => EffectState::Intended,
        Some((Some(evidence),)) => EffectState::Done { evidence },
    })
}
