//! The runs of agents and what they cost.

use sqlx::sqlite::SqliteRow;
use sqlx::{Row as _, SqliteConnection};
use tribunal_core::event::{Event, EventKind, RunResult};
use tribunal_core::ids::{AgentName, CaseId, InvalidId, RunId, StepKey};
use tribunal_core::money::{Cost, MicroUsd, Spend, Usage};
use tribunal_core::time::Timestamp;

use super::batch::{Batch, Refusal};
use super::{from_column, to_column};
use crate::{RunRecord, StoreError};

/// The largest number of tokens or millionths of a dollar that is kept for one run.
///
/// Agents report these numbers; a nonsensical one must not make the sums overflow.
pub(super) const LARGEST: u64 = 1 << 50;

/// Applies an event to the table `runs`.
pub(super) fn apply(batch: &mut Batch, event: &Event) -> Result<(), StoreError> {
    match &event.kind {
        EventKind::RunStarted { .. } => start(batch, event),
        EventKind::RunProgressed { run, usage, .. } => progress(batch, event, run, *usage),
        EventKind::RunFinished { .. } => finish(batch, event)?,
        _ => {}
    }
    Ok(())
}

fn start(batch: &mut Batch, event: &Event) {
    // Nothing is spawned or paid for on behalf of a step that has its result.
    const SQL: &str = "
        INSERT INTO runs
            (id, case_id, step, agent, provider, model, attempt, prompt_hash,
             started_seq, started_at_ms)
        SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10
        WHERE NOT EXISTS (
            SELECT 1 FROM steps
            WHERE case_id = $2 AND step = $3 AND finished_seq IS NOT NULL)
        ON CONFLICT DO NOTHING";
    let EventKind::RunStarted {
        run,
        step,
        agent,
        provider,
        model,
        attempt,
        prompt_hash,
        ..
    } = &event.kind
    else {
        return;
    };
    batch
        .add(SQL)
        .bind(run.as_str())
        .bind(event.case.as_str())
        .bind(step.as_str())
        .bind(agent.as_str())
        .bind(provider)
        .bind(model)
        .bind(i64::from(*attempt))
        .bind(prompt_hash)
        .bind(to_column(event.seq))
        .bind(event.at.0)
        .unless_changed(refusal(
            run,
            StoreError::Repeated {
                what: format!("run {run}"),
            },
            StoreError::Refused {
                what: format!("step `{step}` of case {} is finished", event.case),
            },
        ));
}

fn progress(batch: &mut Batch, event: &Event, run: &RunId, usage: Usage) {
    // A sign of life may come after the end; the end is what counts.
    const SQL: &str = "
        UPDATE runs
        SET input = $3, cache_read = $4, cache_write = $5, output = $6
        WHERE id = $1 AND case_id = $2 AND result IS NULL";
    batch
        .add(SQL)
        .bind(run.as_str())
        .bind(event.case.as_str())
        .bind(amount_to_column(usage.input))
        .bind(amount_to_column(usage.cache_read))
        .bind(amount_to_column(usage.cache_write))
        .bind(amount_to_column(usage.output));
}

fn finish(batch: &mut Batch, event: &Event) -> Result<(), StoreError> {
    const SQL: &str = "
        UPDATE runs
        SET input = $3, cache_read = $4, cache_write = $5, output = $6,
            result = $7, cost_micros = $8, elapsed_ms = $9
        WHERE id = $1 AND case_id = $2 AND result IS NULL";
    let EventKind::RunFinished {
        run,
        result,
        usage,
        cost,
        elapsed_ms,
        ..
    } = &event.kind
    else {
        return Ok(());
    };
    let result = serde_json::to_string(result).map_err(|error| StoreError::Refused {
        what: error.to_string(),
    })?;
    batch
        .add(SQL)
        .bind(run.as_str())
        .bind(event.case.as_str())
        .bind(amount_to_column(usage.input))
        .bind(amount_to_column(usage.cache_read))
        .bind(amount_to_column(usage.cache_write))
        .bind(amount_to_column(usage.output))
        .bind(result)
        .bind(match cost {
            Cost::Known(amount) => Some(amount_to_column(amount.0)),
            Cost::Unknown => None,
        })
        .bind(to_column(*elapsed_ms))
        .unless_changed(refusal(
            run,
            StoreError::Repeated {
                what: format!("the end of run {run}"),
            },
            StoreError::Refused {
                what: format!("run {run} never started"),
            },
        ));
    Ok(())
}

/// Returns the refusal of what concerns `run`, which depends on whether there is such a run.
fn refusal(run: &RunId, found: StoreError, missing: StoreError) -> Refusal {
    Refusal::Depends {
        sql: "SELECT 1 FROM runs WHERE id = $1",
        keys: vec![run.to_string()],
        found,
        missing,
    }
}

/// Returns the runs of a case in the order of their start.
pub(super) async fn of_case(
    conn: &mut SqliteConnection,
    case: &CaseId,
) -> Result<Vec<RunRecord>, StoreError> {
    const SQL: &str = "
        SELECT id, step, agent, provider, model, attempt, prompt_hash, started_at_ms,
               result, input, cache_read, cache_write, output, cost_micros, elapsed_ms
        FROM runs
        WHERE case_id = $1
        ORDER BY started_seq";
    let rows = sqlx::query(SQL).bind(case.as_str()).fetch_all(conn).await?;
    rows.iter().map(|row| read(row, case)).collect()
}

fn read(row: &SqliteRow, case: &CaseId) -> Result<RunRecord, StoreError> {
    let invalid = |error: InvalidId| StoreError::Damaged {
        what: format!("a run of case {case}: {error}"),
    };
    let id = RunId::new(row.try_get::<String, _>("id")?).map_err(invalid)?;
    let result: Option<String> = row.try_get("result")?;
    let result: Option<RunResult> = result
        .map(|text| serde_json::from_str(&text))
        .transpose()
        .map_err(|error| StoreError::Damaged {
            what: format!("the result of run {id}: {error}"),
        })?;
    Ok(RunRecord {
        id,
        case: case.clone(),
        step: StepKey::new(row.try_get::<String, _>("step")?).map_err(invalid)?,
        agent: AgentName::new(row.try_get::<String, _>("agent")?).map_err(invalid)?,
        provider: row.try_get("provider")?,
        model: row.try_get("model")?,
        attempt: row.try_get("attempt")?,
        prompt_hash: row.try_get("prompt_hash")?,
        started_at: Timestamp(row.try_get("started_at_ms")?),
        result,
        usage: usage_from_row(row)?,
        cost: match row.try_get::<Option<i64>, _>("cost_micros")? {
            Some(micros) => Cost::Known(MicroUsd(from_column("a cost", micros)?)),
            None => Cost::Unknown,
        },
        elapsed_ms: from_column("a duration", row.try_get("elapsed_ms")?)?,
    })
}

/// Sums up the runs that the rest of the statement selects.
macro_rules! sum_of_runs {
    ($condition:expr) => {
        concat!(
            "SELECT COUNT(*) AS runs,
                    COUNT(*) - COUNT(cost_micros) AS unknown_runs,
                    COALESCE(SUM(cost_micros), 0) AS known,
                    COALESCE(SUM(input), 0) AS input,
                    COALESCE(SUM(cache_read), 0) AS cache_read,
                    COALESCE(SUM(cache_write), 0) AS cache_write,
                    COALESCE(SUM(output), 0) AS output
             FROM ",
            $condition
        )
    };
}

/// Returns what was spent by one case.
pub(super) async fn case_spend(
    conn: &mut SqliteConnection,
    case: &CaseId,
) -> Result<Spend, StoreError> {
    const SQL: &str = sum_of_runs!("runs WHERE case_id = $1");
    let row = sqlx::query(SQL).bind(case.as_str()).fetch_one(conn).await?;
    read_spend(&row)
}

/// The case `$1` and all that were opened on its behalf.
macro_rules! family {
    ($condition:literal) => {
        concat!(
            "runs WHERE case_id IN (
                 WITH RECURSIVE family (id) AS (
                     SELECT $1 UNION SELECT cases.id FROM cases, family
                     WHERE cases.parent = family.id)
                 SELECT id FROM family)",
            $condition
        )
    };
}

/// Returns what was spent by a case and by all that were opened on its behalf.
pub(super) async fn family_spend(
    conn: &mut SqliteConnection,
    case: &CaseId,
) -> Result<Spend, StoreError> {
    const SQL: &str = sum_of_runs!(family!(""));
    let row = sqlx::query(SQL).bind(case.as_str()).fetch_one(conn).await?;
    read_spend(&row)
}

/// Returns the same without what `member` has spent itself.
pub(super) async fn relatives_spend(
    conn: &mut SqliteConnection,
    case: &CaseId,
    member: &CaseId,
) -> Result<Spend, StoreError> {
    const SQL: &str = sum_of_runs!(family!(" AND case_id <> $2"));
    let query = sqlx::query(SQL).bind(case.as_str()).bind(member.as_str());
    let row = query.fetch_one(conn).await?;
    read_spend(&row)
}

/// Returns the agents that have been asked for a case or on its behalf and have not answered.
pub(super) async fn at_work(
    conn: &mut SqliteConnection,
    case: &CaseId,
) -> Result<Vec<String>, StoreError> {
    const SQL: &str = concat!(
        "SELECT DISTINCT agent FROM ",
        family!(" AND result IS NULL ORDER BY agent")
    );
    let rows: Vec<(String,)> = sqlx::query_as(SQL)
        .bind(case.as_str())
        .fetch_all(conn)
        .await?;
    Ok(rows.into_iter().map(|(agent,)| agent).collect())
}

/// Returns what was spent by all runs that started at or after `since`.
pub(super) async fn spend_since(
    conn: &mut SqliteConnection,
    since: Timestamp,
) -> Result<Spend, StoreError> {
    const SQL: &str = sum_of_runs!("runs WHERE started_at_ms >= $1");
    let row = sqlx::query(SQL).bind(since.0).fetch_one(conn).await?;
    read_spend(&row)
}

/// Returns what was spent by the steps whose names begin so.
pub(super) async fn spend_of_steps(
    conn: &mut SqliteConnection,
    beginning: &str,
) -> Result<Spend, StoreError> {
    const SQL: &str = sum_of_runs!("runs WHERE substr(step, 1, length($1)) = $1");
    let row = sqlx::query(SQL).bind(beginning).fetch_one(conn).await?;
    read_spend(&row)
}

/// Returns what was spent by all runs that ended, even where other tables hide `runs`.
pub(super) async fn spend_of_finished(conn: &mut SqliteConnection) -> Result<Spend, StoreError> {
    const SQL: &str = sum_of_runs!("main.runs WHERE result IS NOT NULL");
    let row = sqlx::query(SQL).fetch_one(conn).await?;
    read_spend(&row)
}

fn read_spend(row: &SqliteRow) -> Result<Spend, StoreError> {
    Ok(Spend {
        known: MicroUsd(from_column("a cost", row.try_get("known")?)?),
        unknown_runs: from_column("a count", row.try_get("unknown_runs")?)?,
        runs: from_column("a count", row.try_get("runs")?)?,
        usage: usage_from_row(row)?,
    })
}

fn usage_from_row(row: &SqliteRow) -> Result<Usage, StoreError> {
    Ok(Usage {
        input: from_column("a number of tokens", row.try_get("input")?)?,
        cache_read: from_column("a number of tokens", row.try_get("cache_read")?)?,
        cache_write: from_column("a number of tokens", row.try_get("cache_write")?)?,
        output: from_column("a number of tokens", row.try_get("output")?)?,
    })
}

/// Returns an amount as it is kept and summed.
fn amount_to_column(amount: u64) -> i64 {
    to_column(amount.min(LARGEST))
}
