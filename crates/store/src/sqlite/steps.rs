//! The durable steps of cases. A finished step is never begun or finished again.

use sqlx::SqliteConnection;
use tribunal_core::event::{Event, EventKind};
use tribunal_core::ids::{CaseId, StepKey};

use super::batch::{Batch, Refusal};
use super::{ledger, to_column};
use crate::StoreError;

/// Applies an event to the table `steps`.
pub(super) fn apply(batch: &mut Batch, event: &Event) -> Result<(), StoreError> {
    const START: &str = "
        INSERT INTO steps (case_id, step, starts)
        VALUES ($1, $2, 1)
        ON CONFLICT DO UPDATE SET starts = starts + 1
        WHERE finished_seq IS NULL";
    const FINISH: &str = "
        INSERT INTO steps (case_id, step, starts, finished_seq)
        VALUES ($1, $2, 0, $3)
        ON CONFLICT DO UPDATE SET finished_seq = $3
        WHERE finished_seq IS NULL";
    let (sql, step) = match &event.kind {
        EventKind::StepStarted { step } => (START, step),
        EventKind::StepFinished { step, .. } => (FINISH, step),
        _ => return Ok(()),
    };
    let repeated = StoreError::Repeated {
        what: format!("the result of step `{step}` of case {}", event.case),
    };
    batch
        .add(sql)
        .bind(event.case.as_str())
        .bind(step.as_str())
        .bind(to_column(event.seq))
        .unless_changed(Refusal::Plain(repeated));
    Ok(())
}

/// Returns the result of a finished step, which lies in the event that finished it.
pub(super) async fn output(
    conn: &mut SqliteConnection,
    case: &CaseId,
    step: &StepKey,
) -> Result<Option<serde_json::Value>, StoreError> {
    const SQL: &str = "
        SELECT events.seq, events.body
        FROM steps
        JOIN events ON events.case_id = steps.case_id AND events.seq = steps.finished_seq
        WHERE steps.case_id = $1 AND steps.step = $2";
    let row: Option<(i64, String)> = sqlx::query_as(SQL)
        .bind(case.as_str())
        .bind(step.as_str())
        .fetch_optional(conn)
        .await?;
    let Some((seq, body)) = row else {
        return Ok(None);
    };
    match ledger::kind_from_column(case, seq, &body)? {
        EventKind::StepFinished { output, .. } => Ok(Some(output)),
        _ => Err(StoreError::Damaged {
            what: format!("event {seq} of case {case} does not finish step `{step}`"),
        }),
    }
}
