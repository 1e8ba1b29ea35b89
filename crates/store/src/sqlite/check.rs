//! The invariants of the whole ledger, checked on what lies on disk.
//!
//! The events are read once, in order. They are applied a second time, to temporary tables that
//! hide the real ones from the very functions that filled those; both must then be equal.

use std::collections::BTreeMap;

use sqlx::{AssertSqlSafe, Executor as _, Row as _, SqliteConnection};
use tribunal_core::event::{Event, EventKind};
use tribunal_core::ids::CaseId;
use tribunal_core::money::{Cost, MicroUsd, Spend, Usage};

use super::caps::Caps;
use super::ledger::{Head, hash_from_column};
use super::projection::{self, Stored, TABLES};
use super::runs;
use crate::{StoreError, Violation};

/// A ledger that is damaged throughout need not be described to the end.
const ENOUGH: usize = 1000;

/// Returns every violation found. `conn` is of no use for anything else afterwards.
pub(super) async fn check(conn: &mut SqliteConnection) -> Result<Vec<Violation>, StoreError> {
    let mut findings = Findings::default();
    hide_derived_tables(conn).await?;
    // One transaction, so that all questions are put to the same state.
    conn.execute("BEGIN").await?;
    check_file(conn, &mut findings).await?;
    let totals = check_events(conn, &mut findings).await?;
    check_derived_tables(conn, &mut findings).await?;
    check_leases(conn, &mut findings).await?;
    check_spend(conn, totals, &mut findings).await?;
    conn.execute("ROLLBACK").await?;
    Ok(findings.list)
}

#[derive(Default)]
struct Findings {
    list: Vec<Violation>,
}

impl Findings {
    fn add(&mut self, invariant: &'static str, found: impl Into<String>) {
        if self.list.len() < ENOUGH {
            let found = found.into();
            self.list.push(Violation { invariant, found });
        }
    }
}

/// Makes empty temporary tables like the derived ones. Names mean them first, from now on.
async fn hide_derived_tables(conn: &mut SqliteConnection) -> Result<(), StoreError> {
    const SQL: &str = "SELECT sql FROM main.sqlite_schema WHERE type = 'table' AND name = $1";
    for table in TABLES {
        let row: Option<(String,)> = sqlx::query_as(SQL)
            .bind(table)
            .fetch_optional(&mut *conn)
            .await?;
        let Some((definition,)) = row else {
            return Err(StoreError::Damaged {
                what: format!("the table {table} is missing"),
            });
        };
        // The definition is our own migration, as SQLite remembers it.
        let hiding = definition.replacen("CREATE TABLE", "CREATE TEMP TABLE", 1);
        conn.execute(AssertSqlSafe(hiding)).await?;
    }
    Ok(())
}

/// Lets SQLite check the structure of its file and the references between tables.
async fn check_file(
    conn: &mut SqliteConnection,
    findings: &mut Findings,
) -> Result<(), StoreError> {
    let lines: Vec<(String,)> = sqlx::query_as("PRAGMA main.quick_check(20)")
        .fetch_all(&mut *conn)
        .await?;
    for (line,) in lines.into_iter().filter(|(line,)| line != "ok") {
        findings.add("file", line);
    }
    let rows = conn.fetch_all("PRAGMA main.foreign_key_check").await?;
    for row in rows {
        let (from, to): (String, String) = (row.try_get(0)?, row.try_get(2)?);
        findings.add("file", format!("a row of {from} refers to nothing in {to}"));
    }
    Ok(())
}

/// How far the story of one case has been read.
struct Progress {
    head: Head,
    generation: i64,
}

/// Checks each event against the one before it, and applies it to the temporary tables.
///
/// Returns the sum over all finished runs.
async fn check_events(
    conn: &mut SqliteConnection,
    findings: &mut Findings,
) -> Result<Spend, StoreError> {
    let mut cases: BTreeMap<CaseId, Progress> = BTreeMap::new();
    let mut totals = Spend::default();
    let mut caps = Caps::default();
    let mut after = 0;
    loop {
        let page = projection::page(conn, after).await?;
        for stored in &page {
            after = stored.position;
            let progress = cases
                .entry(stored.case.clone())
                .or_insert_with(|| Progress {
                    head: Head::start(&stored.case),
                    generation: 1,
                });
            check_link(stored, progress, findings);
            let event = match stored.event() {
                Ok(event) => event,
                Err(error) => {
                    findings.add("I2", error.to_string());
                    continue;
                }
            };
            if (event.seq == 1) != matches!(event.kind, EventKind::CaseOpened { .. }) {
                let (case, seq) = (&event.case, event.seq);
                findings.add("I1", format!("event {seq} of case {case} is out of place"));
            }
            count_run(&event, &mut totals);
            if let Some(found) = caps.check(&event) {
                let (case, seq) = (&event.case, event.seq);
                findings.add("I10", format!("event {seq} of case {case}: {found}"));
            }
            apply(conn, &event, findings).await?;
        }
        if page.is_empty() {
            return Ok(totals);
        }
    }
}

/// Checks number, chain, time and generation of one event.
fn check_link(stored: &Stored, progress: &mut Progress, findings: &mut Findings) {
    let name = format!("event {} of case {}", stored.seq, stored.case);
    let Progress { head, generation } = progress;
    if stored.seq != super::to_column(head.seq + 1) {
        findings.add("I2", format!("{name} follows number {}", head.seq));
    }
    if stored.at < head.at {
        findings.add("I2", format!("{name} is older than the one before it"));
    }
    if stored.generation < *generation {
        let found = format!("{name} was written by generation {}", stored.generation);
        findings.add("I3", format!("{found} after {generation}"));
    }
    let unsigned = u64::try_from(stored.generation).unwrap_or(0);
    let expected = head.hash_of_next(stored.at, unsigned, &stored.body);
    if stored.prev_hash != head.hash || stored.hash != expected {
        findings.add("I2", format!("{name} breaks the chain"));
    }
    // Go on from what is there, so that one fault is reported once.
    *generation = stored.generation.max(*generation);
    head.seq = u64::try_from(stored.seq).unwrap_or(head.seq + 1);
    head.at = stored.at;
    head.hash = hash_from_column(&stored.case, stored.seq, stored.hash.clone()).unwrap_or(expected);
}

/// Applies an event to the temporary tables. What the writer would refuse is a violation.
async fn apply(
    conn: &mut SqliteConnection,
    event: &Event,
    findings: &mut Findings,
) -> Result<(), StoreError> {
    let found = match projection::apply(conn, event).await {
        Ok(()) => return Ok(()),
        Err(StoreError::Repeated { what }) => format!("{what} is stored twice"),
        Err(StoreError::Refused { what }) => what,
        Err(StoreError::Database(error)) if super::site::code(&error) == Some(19) => {
            format!("it refers to nothing ({error})")
        }
        Err(error) => return Err(error),
    };
    let (case, seq) = (&event.case, event.seq);
    let found = format!("event {seq} of case {case}: {found}");
    findings.add(invariant_of(&event.kind), found);
    Ok(())
}

/// Returns which invariant an event breaks that has no place where it stands.
fn invariant_of(kind: &EventKind) -> &'static str {
    match kind {
        EventKind::CaseOpened { .. }
        | EventKind::RunStarted { .. }
        | EventKind::RunProgressed { .. }
        | EventKind::RunFinished { .. }
        | EventKind::RunRetried { .. }
        | EventKind::RepositoryDisturbed { .. } => "I1",
        EventKind::CaseResumed { .. }
        | EventKind::CaseParked { .. }
        | EventKind::CaseClosed { .. } => "I4",
        EventKind::StepStarted { .. } | EventKind::StepFinished { .. } => "P3",
        EventKind::EffectIntended { .. } | EventKind::EffectDone { .. } => "I6",
        EventKind::Arbitration(_)
        | EventKind::Task(_)
        | EventKind::Work(_)
        | EventKind::ProviderParked { .. }
        | EventKind::ProviderFreed { .. }
        | EventKind::ReviewOpened { .. }
        | EventKind::ReviewerHeard { .. }
        | EventKind::ReviewerMissed { .. }
        | EventKind::RoundOpened { .. }
        | EventKind::DebaterHeard { .. }
        | EventKind::DebaterMissed { .. }
        | EventKind::EvidenceWeighed { .. }
        | EventKind::ReviewSettled { .. }
        | EventKind::FindingsTracked { .. }
        | EventKind::Dispute(_)
        | EventKind::Trial(_)
        | EventKind::FilesCollected { .. }
        | EventKind::Noted { .. } => "derived",
    }
}

fn count_run(event: &Event, totals: &mut Spend) {
    if let EventKind::RunFinished { usage, cost, .. } = &event.kind {
        let kept = |amount: u64| amount.min(runs::LARGEST);
        let usage = Usage {
            input: kept(usage.input),
            cache_read: kept(usage.cache_read),
            cache_write: kept(usage.cache_write),
            output: kept(usage.output),
        };
        let cost = match cost {
            Cost::Known(amount) => Cost::Known(MicroUsd(kept(amount.0))),
            Cost::Unknown => Cost::Unknown,
        };
        totals.count(usage, cost);
    }
}

/// Compares the derived tables with what the events make of them.
async fn check_derived_tables(
    conn: &mut SqliteConnection,
    findings: &mut Findings,
) -> Result<(), StoreError> {
    for table in TABLES {
        // The names are constants; only whole rows are compared.
        let sql = format!(
            "SELECT
                (SELECT COUNT(*) FROM
                    (SELECT * FROM temp.{table} EXCEPT SELECT * FROM main.{table})),
                (SELECT COUNT(*) FROM
                    (SELECT * FROM main.{table} EXCEPT SELECT * FROM temp.{table}))"
        );
        let (missing, surplus): (i64, i64) = sqlx::query_as(AssertSqlSafe(sql))
            .fetch_one(&mut *conn)
            .await?;
        if missing > 0 || surplus > 0 {
            let found = format!("the table {table} lacks {missing} rows and has {surplus} wrong");
            findings.add("derived", found);
        }
    }
    Ok(())
}

/// Checks that every case can be owned, and that no owner wrote before its time.
async fn check_leases(
    conn: &mut SqliteConnection,
    findings: &mut Findings,
) -> Result<(), StoreError> {
    const AHEAD: &str = "
        SELECT leases.case_id
        FROM leases JOIN events USING (case_id)
        GROUP BY leases.case_id, leases.generation
        HAVING MAX(events.generation) > leases.generation";
    const HOMELESS: &str = "
        SELECT id FROM main.cases WHERE id NOT IN (SELECT case_id FROM leases)
        UNION ALL
        SELECT case_id FROM leases WHERE case_id NOT IN (SELECT id FROM main.cases)";
    let ahead: Vec<(String,)> = sqlx::query_as(AHEAD).fetch_all(&mut *conn).await?;
    for (case,) in ahead {
        findings.add("I3", format!("case {case} has events newer than its lease"));
    }
    let homeless: Vec<(String,)> = sqlx::query_as(HOMELESS).fetch_all(conn).await?;
    for (case,) in homeless {
        findings.add(
            "I4",
            format!("case {case} has no lease or no story: nobody can resume it"),
        );
    }
    Ok(())
}

/// Compares what the runs are said to have cost with the sum over the events.
async fn check_spend(
    conn: &mut SqliteConnection,
    expected: Spend,
    findings: &mut Findings,
) -> Result<(), StoreError> {
    let found = runs::spend_of_finished(conn).await?;
    if found != expected {
        let told = |spend: &Spend| {
            let (known, runs, unknown) = (spend.known, spend.runs, spend.unknown_runs);
            let tokens = spend.usage.total();
            format!("{known} and {tokens} tokens in {runs} runs, {unknown} of unknown cost")
        };
        let (found, expected) = (told(&found), told(&expected));
        findings.add(
            "I10",
            format!("spent is {found}; the events say {expected}"),
        );
    }
    Ok(())
}
