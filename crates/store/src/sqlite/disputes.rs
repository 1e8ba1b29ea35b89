//! Disputes as they stand.

use sqlx::sqlite::SqliteRow;
use sqlx::{AssertSqlSafe, QueryBuilder, Row as _, Sqlite, SqliteConnection};
use tribunal_core::case::CaseKind;
use tribunal_core::dispute::{
    Alerts, Chooser, Dispute, DisputeState, Opening, Party, Position, Recourse, Referral, Ruling,
    Status,
};
use tribunal_core::event::{DisputeEvent, Event};
use tribunal_core::ids::{CaseId, DisputeId};
use tribunal_core::time::Timestamp;

use super::batch::{Batch, Refusal};
use super::from_column;
use super::lookup::{Meant, Table, look_up};
use super::projection::case_from_column;
use crate::{DisputeFilter, PrecedentFilter, StoreError};

/// Applies an event of a dispute to the table `disputes`.
pub(super) fn apply(
    batch: &mut Batch,
    event: &Event,
    dispute: &DisputeEvent,
) -> Result<(), StoreError> {
    let id = DisputeId::of_case(&event.case);
    match dispute {
        DisputeEvent::DisputeOpened { opening, .. } => open(batch, event, &id, opening),
        DisputeEvent::PositionStated {
            party,
            position,
            files,
            material,
        } => state_position(batch, &id, *party, position, (files, material.as_deref())),
        DisputeEvent::RecourseChosen { recourse, by } => choose(batch, &id, *recourse, *by),
        DisputeEvent::JudgeHeard { hearing } => {
            const SQL: &str = "
                UPDATE disputes SET hearings = json_insert(hearings, '$[#]', json($2))
                WHERE id = $1 AND state ->> '$.state' = 'before_judge'";
            batch
                .add(SQL)
                .bind(id.as_str())
                .bind(to_json(hearing)?)
                .unless_changed(misplaced(&id, "a judge's answer"));
            Ok(())
        }
        DisputeEvent::DisputeEscalated { question } => {
            const SQL: &str = "
                UPDATE disputes SET state = $2
                WHERE id = $1 AND state ->> '$.state' = 'before_judge'";
            let question = question.clone();
            batch
                .add(SQL)
                .bind(id.as_str())
                .bind(to_json(&DisputeState::AwaitingHuman { question })?)
                .unless_changed(misplaced(&id, "an escalation"));
            Ok(())
        }
        DisputeEvent::DisputeRuled {
            decision,
            reason,
            reversal,
            ruler,
            terms,
            overrules,
        } => {
            let ruling = Ruling {
                decision: decision.clone(),
                reason: reason.clone(),
                reversal: reversal.clone(),
                ruler: ruler.clone(),
                terms: terms.clone(),
                at: event.at,
            };
            rule(batch, &id, &ruling, *overrules)
        }
        DisputeEvent::DisputeReferred { referral } => refer(batch, &id, referral),
        DisputeEvent::AlertAttempted { delivered, .. } => {
            const SQL: &str = "
                UPDATE disputes
                SET attempts = attempts + 1, attempted_ms = $2, delivered = MAX(delivered, $3)
                WHERE id = $1 AND status = 'open'";
            batch
                .add(SQL)
                .bind(id.as_str())
                .bind(event.at.0)
                .bind(i64::from(*delivered))
                .unless_changed(misplaced(&id, "an alert"));
            Ok(())
        }
        DisputeEvent::PrecedentDropped { .. } => {
            const SQL: &str = "
                UPDATE disputes SET dropped = 1
                WHERE id = $1 AND dropped = 0 AND status = 'resolved'";
            batch
                .add(SQL)
                .bind(id.as_str())
                .unless_changed(misplaced(&id, "dropping a precedent"));
            Ok(())
        }
    }
}

fn open(
    batch: &mut Batch,
    event: &Event,
    id: &DisputeId,
    opening: &Opening,
) -> Result<(), StoreError> {
    const SQL: &str = "
        INSERT INTO disputes
            (id, case_id, key, task, fingerprint, category, file, gravity, status, opened_at_ms,
             opening, coder, reviewer, state, hearings, rulings, dropped, attempts, delivered)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, '[]', '[]', 0, 0, 0)
        ON CONFLICT DO NOTHING";
    let began = Dispute::open(id.clone(), opening.clone(), event.at);
    let (began, _) = began.map_err(|refusal| StoreError::Refused {
        what: refusal.to_string(),
    })?;
    let finding = opening.subject.finding();
    let file = match finding {
        Some(finding) => Some(finding.location.file.clone()).filter(|file| !file.is_empty()),
        None => opening.files.first().cloned(),
    };
    let refusal = Refusal::Depends {
        sql: "SELECT 1 FROM disputes WHERE key = $1",
        keys: vec![opening.key.clone()],
        found: StoreError::Repeated {
            what: format!("the dispute `{}`", opening.key),
        },
        missing: StoreError::OpenDispute {
            task: opening.subject.task().unwrap_or_default().to_owned(),
        },
    };
    batch
        .add(SQL)
        .bind(id.as_str())
        .bind(event.case.as_str())
        .bind(&opening.key)
        .bind(opening.subject.task())
        .bind(finding.map(|one| one.fingerprint.as_str()))
        .bind(finding.map(|one| one.category.as_str()))
        .bind(file)
        .bind(opening.gravity.as_str())
        .bind(began.status().as_str())
        .bind(event.at.0)
        .bind(to_json(&without_positions(opening))?)
        .bind(opening.coder.as_ref().map(to_json).transpose()?)
        .bind(opening.reviewer.as_ref().map(to_json).transpose()?)
        .bind(to_json(&began.state)?)
        .unless_changed(refusal);
    Ok(())
}

/// The positions have columns of their own, because one of them may come later.
fn without_positions(opening: &Opening) -> Opening {
    Opening {
        coder: None,
        reviewer: None,
        ..opening.clone()
    }
}

fn state_position(
    batch: &mut Batch,
    id: &DisputeId,
    party: Party,
    position: &Position,
    (files, material): (&[String], Option<&str>),
) -> Result<(), StoreError> {
    macro_rules! sql {
        ($party:literal, $other:literal) => {
            concat!(
                "UPDATE disputes SET ",
                $party,
                " = $2,
                 opening = CASE WHEN json_array_length($4) = 0 THEN opening
                                ELSE json_set(opening, '$.files', json($4), '$.material', $5) END,
                 state = CASE WHEN ",
                $other,
                " IS NOT NULL AND state ->> '$.state' = 'awaiting_position'
                              THEN $3 ELSE state END
                 WHERE id = $1 AND status = 'open' AND ",
                $party,
                " IS NULL"
            )
        };
    }
    let sql = match party {
        Party::Coder => sql!("coder", "reviewer"),
        Party::Reviewer => sql!("reviewer", "coder"),
    };
    batch
        .add(sql)
        .bind(id.as_str())
        .bind(to_json(position)?)
        .bind(to_json(&DisputeState::Open)?)
        .bind(to_json(&files)?)
        .bind(material)
        .unless_changed(misplaced(id, "a second position"));
    Ok(())
}

fn choose(
    batch: &mut Batch,
    id: &DisputeId,
    recourse: Recourse,
    by: Chooser,
) -> Result<(), StoreError> {
    const SQL: &str = "
        UPDATE disputes SET recourse = $2, state = COALESCE($3, state)
        WHERE id = $1 AND status = 'open'";
    let state = match recourse {
        Recourse::Judge => Some(DisputeState::BeforeJudge),
        Recourse::Human => Some(DisputeState::AwaitingHuman {
            question: by.why_human().to_owned(),
        }),
        Recourse::Discard => None,
    };
    batch
        .add(SQL)
        .bind(id.as_str())
        .bind(to_json(&recourse)?)
        .bind(state.as_ref().map(to_json).transpose()?)
        .unless_changed(misplaced(id, "a choice of recourse"));
    Ok(())
}

fn rule(
    batch: &mut Batch,
    id: &DisputeId,
    ruling: &Ruling,
    overrules: bool,
) -> Result<(), StoreError> {
    const SQL: &str = "
        UPDATE disputes
        SET rulings = json_insert(rulings, '$[#]', json($2)), state = $3,
            status = 'resolved', ruled_at_ms = $4
        WHERE id = $1 AND status = $5";
    let before = if overrules {
        Status::Resolved
    } else {
        Status::Open
    };
    let refusal = Refusal::Depends {
        sql: "SELECT 1 FROM disputes WHERE id = $1 AND status = 'resolved'",
        keys: vec![id.to_string()],
        found: StoreError::Repeated {
            what: format!("the ruling of dispute {id}"),
        },
        missing: StoreError::Refused {
            what: format!("dispute {id} cannot be ruled"),
        },
    };
    batch
        .add(SQL)
        .bind(id.as_str())
        .bind(to_json(ruling)?)
        .bind(to_json(&DisputeState::Ruled)?)
        .bind(ruling.at.0)
        .bind(before.as_str())
        .unless_changed(refusal);
    Ok(())
}

fn refer(batch: &mut Batch, id: &DisputeId, referral: &Referral) -> Result<(), StoreError> {
    const SQL: &str = "
        UPDATE OR IGNORE disputes SET task = $2, referral = $3
        WHERE id = $1 AND gravity = 'major' AND (task IS NULL OR referral IS NOT NULL)";
    batch
        .add(SQL)
        .bind(id.as_str())
        .bind(referral.task.as_str())
        .bind(to_json(referral)?)
        .unless_changed(Refusal::Plain(StoreError::OpenDispute {
            task: referral.task.clone(),
        }));
    Ok(())
}

fn misplaced(id: &DisputeId, what: &str) -> Refusal {
    Refusal::Plain(StoreError::Refused {
        what: format!("dispute {id} does not take {what} as it stands"),
    })
}

fn to_json<T: serde::Serialize>(value: &T) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|error| StoreError::Refused {
        what: error.to_string(),
    })
}

const COLUMNS: &str = "
    SELECT id, opened_at_ms, opening, coder, reviewer, state, recourse, hearings, rulings, dropped,
           attempts, attempted_ms, delivered, referral
    FROM disputes ";

/// Returns the dispute with exactly this id, or the only one whose id starts or ends with `text`.
pub(super) async fn find(conn: &mut SqliteConnection, text: &str) -> Result<Dispute, StoreError> {
    let text = text.to_owned();
    match look_up(conn, Table::Disputes, &text).await? {
        Meant::One(id) => by_id(conn, &id)
            .await?
            .ok_or(StoreError::NoSuchDispute { text }),
        Meant::Several(count) => Err(StoreError::AmbiguousDispute { text, count }),
        Meant::Nothing => Err(StoreError::NoSuchDispute { text }),
    }
}

async fn by_id(conn: &mut SqliteConnection, id: &str) -> Result<Option<Dispute>, StoreError> {
    one(conn, "WHERE id = $1", id).await
}

/// Returns the dispute that was opened under the caller's name `key`.
pub(super) async fn by_key(
    conn: &mut SqliteConnection,
    key: &str,
) -> Result<Option<Dispute>, StoreError> {
    one(conn, "WHERE key = $1", key).await
}

/// Returns the open major dispute of a task.
pub(super) async fn open_of(
    conn: &mut SqliteConnection,
    task: &str,
) -> Result<Option<Dispute>, StoreError> {
    let condition = "WHERE task = $1 AND gravity = 'major' AND status = 'open'";
    one(conn, condition, task).await
}

async fn one(
    conn: &mut SqliteConnection,
    condition: &'static str,
    value: &str,
) -> Result<Option<Dispute>, StoreError> {
    let sql = format!("{COLUMNS}{condition}");
    let row = sqlx::query(AssertSqlSafe(sql))
        .bind(value)
        .fetch_optional(conn)
        .await?;
    row.as_ref().map(read).transpose()
}

/// Returns the disputes that `wanted` describes, newest first.
pub(super) async fn list(
    conn: &mut SqliteConnection,
    wanted: &DisputeFilter,
) -> Result<Vec<Dispute>, StoreError> {
    let mut sql: QueryBuilder<Sqlite> = QueryBuilder::new(COLUMNS);
    sql.push("WHERE 1");
    if let Some(status) = wanted.status {
        sql.push(" AND status = ").push_bind(status.as_str());
    }
    if let Some(task) = &wanted.task {
        sql.push(" AND task = ").push_bind(task.clone());
    }
    if let Some(fingerprint) = &wanted.fingerprint {
        sql.push(" AND fingerprint = ")
            .push_bind(fingerprint.clone());
    }
    if let Some(before) = wanted.opened_before {
        sql.push(" AND opened_at_ms < ").push_bind(before.0);
    }
    if let Some(after) = &wanted.after {
        sql.push(" AND (opened_at_ms, id) < (SELECT opened_at_ms, id FROM disputes WHERE id = ")
            .push_bind(after.to_string())
            .push(")");
    }
    sql.push(" ORDER BY opened_at_ms DESC, id DESC");
    if let Some(limit) = wanted.limit {
        sql.push(" LIMIT ").push_bind(i64::from(limit));
    }
    let rows = sql.build().fetch_all(conn).await?;
    rows.iter().map(read).collect()
}

/// Returns the major disputes that were ruled last.
pub(super) async fn latest_rulings(
    conn: &mut SqliteConnection,
    limit: u32,
) -> Result<Vec<Dispute>, StoreError> {
    let sql =
        format!("{COLUMNS}WHERE status = 'resolved' ORDER BY ruled_at_ms DESC, id DESC LIMIT $1");
    let rows = sqlx::query(AssertSqlSafe(sql))
        .bind(i64::from(limit))
        .fetch_all(conn)
        .await?;
    rows.iter().map(read).collect()
}

/// Returns how many disputes have a status.
pub(super) async fn count(conn: &mut SqliteConnection, status: Status) -> Result<u64, StoreError> {
    const SQL: &str = "SELECT COUNT(*) FROM disputes WHERE status = $1 AND gravity = 'major'";
    let (count,): (i64,) = sqlx::query_as(SQL)
        .bind(status.as_str())
        .fetch_one(conn)
        .await?;
    from_column("a count", count)
}

/// Returns the rulings that hold for `wanted` at `now`, newest first.
pub(super) async fn precedents(
    conn: &mut SqliteConnection,
    wanted: &PrecedentFilter,
    now: Timestamp,
) -> Result<Vec<Dispute>, StoreError> {
    let mut sql: QueryBuilder<Sqlite> = QueryBuilder::new(COLUMNS);
    sql.push("WHERE status = 'resolved' AND dropped = 0");
    if !wanted.expired {
        // The last ruling is the one that holds. Time weakens dismissals alone.
        sql.push(" AND (rulings ->> '$[#-1].decision' <> 'dismiss'")
            .push(" OR COALESCE(rulings ->> '$[#-1].expires' > ")
            .push_bind(now.0)
            .push(", 1))");
    }
    if let Some(since) = wanted.since {
        sql.push(" AND ruled_at_ms >= ").push_bind(since.0);
    }
    match (&wanted.fingerprint, &wanted.place) {
        (None, None) => {}
        (Some(fingerprint), None) => {
            sql.push(" AND fingerprint = ")
                .push_bind(fingerprint.clone());
        }
        (fingerprint, Some((file, category))) => {
            sql.push(" AND (fingerprint = ")
                .push_bind(fingerprint.clone())
                .push(" OR (file = ")
                .push_bind(file.clone());
            if let Some(category) = category {
                sql.push(" AND category = ").push_bind(category.as_str());
            }
            sql.push("))");
        }
    }
    sql.push(" ORDER BY ruled_at_ms DESC, id DESC");
    if let Some(limit) = wanted.limit {
        sql.push(" LIMIT ").push_bind(i64::from(limit));
    }
    let rows = sql.build().fetch_all(conn).await?;
    rows.iter().map(read).collect()
}

/// Returns the cases of a kind that were opened at or after `since`, the oldest first.
pub(super) async fn cases_of(
    conn: &mut SqliteConnection,
    kind: CaseKind,
    since: Option<Timestamp>,
) -> Result<Vec<CaseId>, StoreError> {
    const SQL: &str = "
        SELECT id FROM cases
        WHERE opened_at_ms >= $2 AND kind = $1
        ORDER BY opened_at_ms, id";
    let rows: Vec<(String,)> = sqlx::query_as(SQL)
        .bind(kind.as_str())
        .bind(since.map_or(i64::MIN, |since| since.0))
        .fetch_all(conn)
        .await?;
    rows.into_iter().map(|(id,)| case_from_column(id)).collect()
}

/// Returns the cases of a kind that are neither closed nor parked.
pub(super) async fn unfinished(
    conn: &mut SqliteConnection,
    kind: CaseKind,
) -> Result<Vec<CaseId>, StoreError> {
    const SQL: &str = r#"SELECT id FROM cases WHERE kind = $1 AND state = '{"state":"open"}'"#;
    let rows: Vec<(String,)> = sqlx::query_as(SQL)
        .bind(kind.as_str())
        .fetch_all(conn)
        .await?;
    rows.into_iter().map(|(id,)| case_from_column(id)).collect()
}

fn read(row: &SqliteRow) -> Result<Dispute, StoreError> {
    let id: String = row.try_get("id")?;
    let damaged = |error: &dyn std::fmt::Display| StoreError::Damaged {
        what: format!("dispute {id}: {error}"),
    };
    let text = |column: &str| -> Result<Option<String>, StoreError> { Ok(row.try_get(column)?) };
    fn parse<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, serde_json::Error> {
        serde_json::from_str(text)
    }
    let required = |column: &str| text(column).map(Option::unwrap_or_default);
    let mut opening: Opening = parse(&required("opening")?).map_err(|error| damaged(&error))?;
    let position = |column: &str| -> Result<Option<Position>, StoreError> {
        let text = text(column)?;
        text.map(|text| parse(&text).map_err(|error| damaged(&error)))
            .transpose()
    };
    (opening.coder, opening.reviewer) = (position("coder")?, position("reviewer")?);
    let recourse = text("recourse")?.map(|text| parse(&text).map_err(|error| damaged(&error)));
    let referral = text("referral")?.map(|text| parse(&text).map_err(|error| damaged(&error)));
    let dropped: i64 = row.try_get("dropped")?;
    let (attempts, delivered): (i64, i64) = (row.try_get("attempts")?, row.try_get("delivered")?);
    let attempted: Option<i64> = row.try_get("attempted_ms")?;
    Ok(Dispute {
        opening,
        state: parse(&required("state")?).map_err(|error| damaged(&error))?,
        recourse: recourse.transpose()?,
        hearings: parse(&required("hearings")?).map_err(|error| damaged(&error))?,
        rulings: parse(&required("rulings")?).map_err(|error| damaged(&error))?,
        opened_at: Timestamp(row.try_get("opened_at_ms")?),
        referral: referral.transpose()?,
        precedent_dropped: dropped != 0,
        alerts: Alerts {
            attempts: u32::try_from(attempts).unwrap_or(u32::MAX),
            last_at: attempted.map(Timestamp),
            delivered: delivered != 0,
        },
        id: DisputeId::new(id.clone()).map_err(|error| damaged(&error))?,
    })
}
