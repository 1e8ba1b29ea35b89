//! Tasks and sections as they stand.

use async_trait::async_trait;
use sqlx::sqlite::SqliteRow;
use sqlx::{AssertSqlSafe, Row as _, SqliteConnection};
use tribunal_core::event::{Event, EventKind, TaskEvent};
use tribunal_core::money::Spend;
use tribunal_core::task::{Brief, Priority, Section, Task, TaskState};
use tribunal_core::time::Timestamp;

use super::batch::{Batch, Refusal};
use super::leases::Tenure;
use super::lookup::{Meant, Table, look_up};
use super::projection::case_from_column;
use super::site::Site;
use super::{SqliteStore, from_column, read, runs, to_column};
use crate::{StoreError, TaskRecord, Tasks};

#[async_trait]
impl Tasks for SqliteStore {
    async fn find_task(&self, text: &str) -> Result<TaskRecord, StoreError> {
        read!(self, conn => find(conn, &self.site, text))
    }

    async fn tasks(&self) -> Result<Vec<TaskRecord>, StoreError> {
        read!(self, conn => all(conn, &self.site))
    }

    async fn tasks_in_the_way(&self) -> Result<Vec<TaskRecord>, StoreError> {
        read!(self, conn => in_the_way(conn, &self.site))
    }

    async fn next_position(&self, section: Option<&str>) -> Result<u64, StoreError> {
        read!(self, conn => next_position(conn, section))
    }

    async fn sections(&self) -> Result<Vec<Section>, StoreError> {
        read!(self, conn => sections(conn))
    }
}

/// Applies an event to the tables `tasks` and `sections`.
pub(super) fn apply(batch: &mut Batch, event: &Event) -> Result<(), StoreError> {
    let EventKind::Task(kind) = &event.kind else {
        return Ok(());
    };
    match kind {
        TaskEvent::TaskAdded { task, state, .. } => add(batch, event, task, *state),
        TaskEvent::TaskEdited { task, .. } => edit(batch, event, task),
        TaskEvent::TaskMoved {
            from,
            to,
            note,
            rejections,
            ..
        } => {
            set_state(batch, event, *from, *to, note.as_deref(), *rejections);
            Ok(())
        }
        TaskEvent::WorkKept { commit, .. } => {
            const SQL: &str = "UPDATE tasks SET commit_id = $2 WHERE id = $1";
            batch.add(SQL).bind(event.case.as_str()).bind(commit);
            Ok(())
        }
        TaskEvent::SectionAdded { name, position } => {
            add_section(batch, event, name, *position);
            Ok(())
        }
        TaskEvent::SectionChanged { name, position } => {
            change_section(batch, event, name, *position);
            Ok(())
        }
        TaskEvent::SectionRemoved { .. } => {
            const SQL: &str = "DELETE FROM sections WHERE id = $1";
            batch.add(SQL).bind(event.case.as_str());
            Ok(())
        }
    }
}

fn add(
    batch: &mut Batch,
    event: &Event,
    brief: &Brief,
    state: TaskState,
) -> Result<(), StoreError> {
    const SQL: &str = "
        INSERT INTO tasks
            (id, state, settled, section, priority, position, body, rejections,
             added_at_ms, changed_at_ms)
        VALUES ($1, $2, $3, $4, $5, $6, $7, 0, $8, $8)
        ON CONFLICT DO NOTHING";
    let repeated = StoreError::Repeated {
        what: format!("task {}", event.case),
    };
    batch
        .add(SQL)
        .bind(event.case.as_str())
        .bind(state.as_str())
        .bind(state.is_settled())
        .bind(brief.section.as_deref())
        .bind(rank(brief.priority))
        .bind(to_column(brief.position))
        .bind(body(brief)?)
        .bind(event.at.0)
        .unless_changed(Refusal::Plain(repeated));
    Ok(())
}

fn edit(batch: &mut Batch, event: &Event, brief: &Brief) -> Result<(), StoreError> {
    const SQL: &str = "
        UPDATE tasks
        SET section = $2, priority = $3, position = $4, body = $5, changed_at_ms = $6
        WHERE id = $1";
    batch
        .add(SQL)
        .bind(event.case.as_str())
        .bind(brief.section.as_deref())
        .bind(rank(brief.priority))
        .bind(to_column(brief.position))
        .bind(body(brief)?)
        .bind(event.at.0)
        .unless_changed(Refusal::Plain(no_task(event)));
    Ok(())
}

/// A move starts from where the task stands; one that was decided on older news is refused.
fn set_state(
    batch: &mut Batch,
    event: &Event,
    from: TaskState,
    to: TaskState,
    note: Option<&str>,
    rejections: u32,
) {
    const SQL: &str = "
        UPDATE tasks
        SET state = $3, settled = $4, instructions = COALESCE($5, instructions),
            rejections = $6, changed_at_ms = $7
        WHERE id = $1 AND state = $2";
    let refused = StoreError::Refused {
        what: format!("task {} is not {from}", event.case),
    };
    batch
        .add(SQL)
        .bind(event.case.as_str())
        .bind(from.as_str())
        .bind(to.as_str())
        .bind(to.is_settled())
        .bind(note.filter(|_| to == TaskState::InProgress))
        .bind(rejections)
        .bind(event.at.0)
        .unless_changed(Refusal::Plain(refused));
}

fn add_section(batch: &mut Batch, event: &Event, name: &str, position: u64) {
    const SQL: &str = "
        INSERT INTO sections (id, name, position)
        VALUES ($1, $2, $3)
        ON CONFLICT DO NOTHING";
    let repeated = StoreError::Repeated {
        what: format!("section `{name}`"),
    };
    batch
        .add(SQL)
        .bind(event.case.as_str())
        .bind(name)
        .bind(to_column(position))
        .unless_changed(Refusal::Plain(repeated));
}

/// The tasks of a section go with its name.
fn change_section(batch: &mut Batch, event: &Event, name: &str, position: u64) {
    const TASKS: &str = "
        UPDATE tasks
        SET section = $2, body = json_set(body, '$.section', $2)
        WHERE section = (SELECT name FROM sections WHERE id = $1)";
    const SECTION: &str = "
        UPDATE OR IGNORE sections SET name = $2, position = $3 WHERE id = $1";
    batch.add(TASKS).bind(event.case.as_str()).bind(name);
    let repeated = StoreError::Repeated {
        what: format!("section `{name}`"),
    };
    batch
        .add(SECTION)
        .bind(event.case.as_str())
        .bind(name)
        .bind(to_column(position))
        .unless_changed(Refusal::Plain(repeated));
}

fn no_task(event: &Event) -> StoreError {
    StoreError::Refused {
        what: format!("case {} is no task", event.case),
    }
}

fn body(brief: &Brief) -> Result<String, StoreError> {
    serde_json::to_string(brief).map_err(|error| StoreError::Refused {
        what: error.to_string(),
    })
}

fn rank(priority: Priority) -> i64 {
    match priority {
        Priority::High => 0,
        Priority::Normal => 1,
        Priority::Low => 2,
    }
}

/// What a task is read from, up to the condition.
const SELECT: &str = "
    SELECT tasks.id, tasks.state, tasks.body, tasks.rejections, tasks.instructions,
           tasks.commit_id, tasks.added_at_ms, tasks.changed_at_ms,
           leases.holder_host, leases.holder_pid, leases.holder_nonce,
           leases.generation, leases.expires_at_ms, leases.boot_expires_at_ms
    FROM tasks
    JOIN leases ON leases.case_id = tasks.id
    LEFT JOIN sections ON sections.name = tasks.section
    WHERE ";

/// The order of the list. Tasks without a section come first.
const ORDER: &str = "
    ORDER BY COALESCE(sections.position, -1), tasks.section, tasks.priority, tasks.position,
             tasks.added_at_ms, tasks.id";

async fn find(
    conn: &mut SqliteConnection,
    site: &Site,
    text: &str,
) -> Result<TaskRecord, StoreError> {
    let text = text.to_owned();
    let id = match look_up(conn, Table::Tasks, &text).await? {
        Meant::One(id) => id,
        Meant::Several(count) => return Err(StoreError::AmbiguousTask { text, count }),
        Meant::Nothing => return Err(StoreError::NoSuchTask { text }),
    };
    let row = sqlx::query(AssertSqlSafe(format!("{SELECT} tasks.id = $1")))
        .bind(&id)
        .fetch_one(&mut *conn)
        .await?;
    let mut record = record(&row, site)?;
    count(conn, &mut record).await?;
    Ok(record)
}

async fn all(conn: &mut SqliteConnection, site: &Site) -> Result<Vec<TaskRecord>, StoreError> {
    let rows = sqlx::query(AssertSqlSafe(format!("{SELECT} TRUE {ORDER}")))
        .fetch_all(&mut *conn)
        .await?;
    let mut records = Vec::with_capacity(rows.len());
    for row in &rows {
        let mut record = record(row, site)?;
        if record.task.state != TaskState::Pending {
            count(conn, &mut record).await?;
        }
        records.push(record);
    }
    Ok(records)
}

/// Adds what a task has cost, its reviews and disputes included, and who is at work on it.
async fn count(conn: &mut SqliteConnection, record: &mut TaskRecord) -> Result<(), StoreError> {
    record.spend = runs::family_spend(conn, &record.task.id).await?;
    if record.holder.is_some() {
        record.agents = runs::at_work(conn, &record.task.id).await?;
    }
    Ok(())
}

async fn in_the_way(
    conn: &mut SqliteConnection,
    site: &Site,
) -> Result<Vec<TaskRecord>, StoreError> {
    let sql = format!(
        "{SELECT} (tasks.settled = 0 OR (tasks.settled = 1 AND tasks.state = 'failed')) {ORDER}"
    );
    let rows = sqlx::query(AssertSqlSafe(sql)).fetch_all(conn).await?;
    rows.iter().map(|row| record(row, site)).collect()
}

async fn next_position(
    conn: &mut SqliteConnection,
    section: Option<&str>,
) -> Result<u64, StoreError> {
    const SQL: &str = "SELECT COALESCE(MAX(position) + 1, 1) FROM tasks WHERE section IS $1";
    let (next,): (i64,) = sqlx::query_as(SQL).bind(section).fetch_one(conn).await?;
    from_column("the place of a task", next)
}

async fn sections(conn: &mut SqliteConnection) -> Result<Vec<Section>, StoreError> {
    const SQL: &str = "SELECT id, name, position FROM sections ORDER BY position, name";
    let rows: Vec<(String, String, i64)> = sqlx::query_as(SQL).fetch_all(conn).await?;
    let read = |(id, name, position): (String, String, i64)| {
        Ok(Section {
            id: case_from_column(id)?,
            name,
            position: from_column("the place of a section", position)?,
        })
    };
    rows.into_iter().map(read).collect()
}

fn record(row: &SqliteRow, site: &Site) -> Result<TaskRecord, StoreError> {
    let id = case_from_column(row.try_get("id")?)?;
    let damaged = |error: &dyn std::fmt::Display| StoreError::Damaged {
        what: format!("task {id}: {error}"),
    };
    let (state, body): (String, String) = (row.try_get("state")?, row.try_get("body")?);
    let tenure = Tenure::from_row(row)?;
    let holder = tenure
        .is_alive(&site.leases(), site.directory())
        .then(|| tenure.holder_name())
        .flatten();
    Ok(TaskRecord {
        task: Task {
            brief: serde_json::from_str(&body).map_err(|error| damaged(&error))?,
            state: state.parse().map_err(|error| damaged(&error))?,
            rejections: row.try_get("rejections")?,
            instructions: row.try_get("instructions")?,
            commit: row.try_get("commit_id")?,
            id,
        },
        holder,
        agents: Vec::new(),
        spend: Spend::default(),
        added_at: Timestamp(row.try_get("added_at_ms")?),
        changed_at: Timestamp(row.try_get("changed_at_ms")?),
    })
}
