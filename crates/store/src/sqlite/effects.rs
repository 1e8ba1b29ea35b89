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

/// Returns the effects whose keys begin so and that are not done, the oldest first.
pub(super) async fn announced(
    conn: &mut SqliteConnection,
    beginning: &str,
) -> Result<Vec<(CaseId, EffectKey)>, StoreError> {
    const SQL: &str = "
        SELECT case_id, effect FROM effects
        WHERE evidence IS NULL AND substr(effect, 1, length($1)) = $1
        ORDER BY (
            SELECT max(at_ms) FROM events
            WHERE events.case_id = effects.case_id
                AND body ->> '$.effect' = effects.effect), case_id, effect";
    let rows: Vec<(String, String)> = sqlx::query_as(SQL).bind(beginning).fetch_all(conn).await?;
    let keys = rows.into_iter().filter_map(|(case, effect)| {
        let (case, effect) = (CaseId::new(case).ok()?, EffectKey::new(effect).ok()?);
        Some((case, effect))
    });
    Ok(keys.collect())
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
