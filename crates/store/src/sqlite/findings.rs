//! Findings that are followed over several reviews.

use sqlx::SqliteConnection;
use tribunal_core::event::{Event, EventKind};
use tribunal_core::ids::CaseId;
use tribunal_core::review::history::TrackedFinding;
use tribunal_core::time::Timestamp;

use super::batch::Batch;
use crate::{FindingRecord, StoreError};

/// Applies an event to the table `findings`.
pub(super) fn apply(batch: &mut Batch, event: &Event) -> Result<(), StoreError> {
    const SQL: &str = "
        INSERT INTO findings
            (fingerprint, file, standing, body, first_case, first_at_ms, last_case, last_at_ms)
        VALUES ($1, $2, $3, $4, $5, $6, $5, $6)
        ON CONFLICT DO UPDATE
        SET file = $2, standing = $3, body = $4, last_case = $5, last_at_ms = $6";
    let EventKind::FindingsTracked { findings } = &event.kind else {
        return Ok(());
    };
    for finding in findings {
        let refused = |error: serde_json::Error| StoreError::Refused {
            what: error.to_string(),
        };
        let standing = serde_json::to_value(finding.standing).map_err(refused)?;
        batch
            .add(SQL)
            .bind(&finding.fingerprint)
            .bind(&finding.location.file)
            .bind(standing.as_str().unwrap_or_default())
            .bind(serde_json::to_string(finding).map_err(refused)?)
            .bind(event.case.as_str())
            .bind(event.at.0);
    }
    Ok(())
}

/// Returns all findings that were ever followed, by file and fingerprint.
pub(super) async fn all(conn: &mut SqliteConnection) -> Result<Vec<FindingRecord>, StoreError> {
    const SQL: &str = "
        SELECT body, first_case, first_at_ms, last_case, last_at_ms
        FROM findings
        ORDER BY file, fingerprint";
    let rows: Vec<(String, String, i64, String, i64)> = sqlx::query_as(SQL).fetch_all(conn).await?;
    rows.into_iter().map(read).collect()
}

fn read(
    (body, first_case, first_at, last_case, last_at): (String, String, i64, String, i64),
) -> Result<FindingRecord, StoreError> {
    let damaged = |error: &dyn std::fmt::Display| StoreError::Damaged {
        what: format!("a finding: {error}"),
    };
    let finding: TrackedFinding = serde_json::from_str(&body).map_err(|error| damaged(&error))?;
    let case = |text: String| CaseId::new(text).map_err(|error| damaged(&error));
    Ok(FindingRecord {
        finding,
        first_case: case(first_case)?,
        first_at: Timestamp(first_at),
        last_case: case(last_case)?,
        last_at: Timestamp(last_at),
    })
}
