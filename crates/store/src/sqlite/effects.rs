//! Changes outside the ledger: announced first, then done, once.

use sqlx::SqliteConnection;
use tribunal_core::event::{Event, EventKind};
use tribunal_core::ids::{CaseId, EffectKey};

use crate::{EffectState, StoreError};

/// Applies an event to the table `effects`.
pub(super) async fn apply(conn: &mut SqliteConnection, event: &Event) -> Result<(), StoreError> {
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
    let changed = sqlx::query(sql)
        .bind(event.case.as_str())
        .bind(effect.as_str())
        .bind(text)
        .execute(&mut *conn)
        .await?;
    if changed.rows_affected() > 0 {
        return Ok(());
    }
    match state(conn, &event.case, effect).await? {
        EffectState::Done { .. } => Err(StoreError::Repeated {
            what: format!("effect `{effect}` of case {}", event.case),
        }),
        EffectState::Unknown | EffectState::Intended => Err(StoreError::Refused {
            what: format!(
                "effect `{effect}` of case {} was never announced",
                event.case
            ),
        }),
    }
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
