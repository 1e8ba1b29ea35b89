//! The one task that writes. It commits what waits in groups and answers after the commit.
//!
//! Callers may go away at any time: the task neither waits for them nor stops with them.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use sqlx::{Connection as _, Executor as _, SqliteConnection};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tribunal_core::time::Timestamp;

use super::lease_clock::LeaseClock;
use super::site::{Patience, Purpose, Site, code, is_busy};
use crate::{Durability, StoreError, crashpoint};

/// How many writes may wait; beyond it, callers wait to hand theirs over.
const QUEUE: usize = 1024;

/// How many writes share a commit at most, so that the first of them is not kept waiting.
const GROUP: usize = 256;

/// A logical transaction: all of it is stored, or nothing.
#[async_trait]
pub(super) trait Write: Send + 'static {
    /// What the caller learns once it is on disk.
    type Answer: Send + 'static;

    /// Executes the statements. An error undoes this write and leaves its neighbours alone.
    async fn run(&mut self, tx: &mut Tx<'_>) -> Result<Self::Answer, StoreError>;
}

/// The transaction under way, as a [`Write`] sees it.
pub(super) struct Tx<'w> {
    /// The only connection that writes.
    pub(super) conn: &'w mut SqliteConnection,
    /// The time of everything stored in this transaction.
    pub(super) now: Timestamp,
    /// Where other processes have their lock files.
    pub(super) directory: &'w Path,
    /// The same time by the clocks of leases.
    pub(super) leases: LeaseClock,
}

/// Hands writes to the task, which starts with the first of them.
pub(super) struct Writer {
    site: Arc<Site>,
    state: Mutex<State>,
}

enum State {
    Idle,
    Running(mpsc::Sender<Box<dyn Job>>, JoinHandle<()>),
    Closed,
}

impl Writer {
    pub(super) fn new(site: Arc<Site>) -> Self {
        Self {
            site,
            state: Mutex::new(State::Idle),
        }
    }

    /// Returns the answer of `write` once it is on disk.
    pub(super) async fn submit<W: Write>(&self, write: W) -> Result<W::Answer, StoreError> {
        self.submit_for(write, Durability::PowerLoss).await
    }

    /// Returns the answer of `write` once it survives what `durability` says.
    pub(super) async fn submit_for<W: Write>(
        &self,
        write: W,
        durability: Durability,
    ) -> Result<W::Answer, StoreError> {
        self.site.refusal()?;
        let queue = self.queue()?;
        let (reply, answer) = oneshot::channel();
        let job = Pending {
            write,
            durability,
            outcome: None,
            reply,
        };
        // Both fail only when the task is gone, which ends with the runtime or by `close`.
        let sent = queue.send(Box::new(job)).await;
        sent.map_err(|_| self.stopped())?;
        answer.await.map_err(|_| self.stopped())?
    }

    /// Waits for all that was accepted and closes the connection.
    pub(super) async fn close(&self) {
        let state = std::mem::replace(&mut *self.state(), State::Closed);
        match state {
            State::Idle | State::Closed => {}
            State::Running(queue, task) => {
                drop(queue);
                // The task ends by itself when the last sender is gone.
                let _ = task.await;
            }
        }
    }

    fn queue(&self) -> Result<mpsc::Sender<Box<dyn Job>>, StoreError> {
        let mut state = self.state();
        match &*state {
            State::Closed => Err(self.stopped()),
            State::Running(queue, _) => Ok(queue.clone()),
            State::Idle => {
                let (queue, waiting) = mpsc::channel(QUEUE);
                let task = Task {
                    site: Arc::clone(&self.site),
                    conn: None,
                    waits_for: self.site.options.durability,
                    broken: None,
                };
                *state = State::Running(queue.clone(), tokio::spawn(task.run(waiting)));
                Ok(queue)
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn stopped(&self) -> StoreError {
        StoreError::Unusable {
            doing: "write",
            path: self.site.path.clone(),
            reason: "it was closed".to_owned(),
        }
    }
}

/// A write of any kind, with the caller that waits for it.
#[async_trait]
trait Job: Send {
    /// Executes the write and keeps its outcome. An error is one of the database, and ends the
    /// whole group; whether the write itself went well is in the answer.
    async fn run(&mut self, tx: &mut Tx<'_>) -> Result<Applied, StoreError>;

    /// Tells what the caller wants to be safe from.
    fn durability(&self) -> Durability;

    /// Tells the caller the outcome, or why nothing of the group was stored.
    fn settle(self: Box<Self>, committed: Result<(), StoreError>);
}

/// Whether a write has changed anything that must be kept.
enum Applied {
    Yes,
    Undo,
}

struct Pending<W: Write> {
    write: W,
    durability: Durability,
    outcome: Option<Result<W::Answer, StoreError>>,
    reply: oneshot::Sender<Result<W::Answer, StoreError>>,
}

#[async_trait]
impl<W: Write> Job for Pending<W> {
    async fn run(&mut self, tx: &mut Tx<'_>) -> Result<Applied, StoreError> {
        let outcome = self.write.run(tx).await;
        let applied = match outcome {
            Err(StoreError::Database(error)) if !concerns_one_write(&error) => {
                return Err(error.into());
            }
            Err(_) => Applied::Undo,
            Ok(_) => Applied::Yes,
        };
        self.outcome = Some(outcome);
        Ok(applied)
    }

    fn durability(&self) -> Durability {
        self.durability
    }

    fn settle(self: Box<Self>, committed: Result<(), StoreError>) {
        let outcome = match (committed, self.outcome) {
            (Ok(()), Some(outcome)) => outcome,
            (Err(error), _) => Err(error),
            (Ok(()), None) => unreachable!("a committed group has run all its writes"),
        };
        // A caller that went away has no use for the answer.
        let _ = self.reply.send(outcome);
    }
}

/// A broken constraint or an oversized value is the fault of one write, all else is the file's.
fn concerns_one_write(error: &sqlx::Error) -> bool {
    matches!(code(error), Some(18 | 19))
}

/// The task's own state.
struct Task {
    site: Arc<Site>,
    conn: Option<SqliteConnection>,
    /// What a commit on the connection waits for.
    waits_for: Durability,
    /// Set when a commit failed. What is on disk is then unknown, so nothing more is accepted.
    broken: Option<StoreError>,
}

impl Task {
    async fn run(mut self, mut waiting: mpsc::Receiver<Box<dyn Job>>) {
        let mut group = Vec::new();
        while waiting.recv_many(&mut group, GROUP).await > 0 {
            let durability = wanted(&group);
            if self.site.has_given_up() {
                self.broken.get_or_insert_with(|| StoreError::DiskFailed {
                    doing: "write",
                    path: self.site.path.clone(),
                    reason: "the disk failed before".to_owned(),
                });
            }
            let committed = match &self.broken {
                Some(error) => Err(again(error, &self.site.path)),
                None => self.commit(&mut group).await,
            };
            for job in group.drain(..) {
                let committed = match &committed {
                    Ok(()) => Ok(()),
                    Err(error) => Err(again(error, &self.site.path)),
                };
                job.settle(committed);
            }
            // Whoever does not wait for the disk does not wait for tidying up either.
            if let (Durability::Crash, Some(conn)) = (durability, &mut self.conn)
                && let Err(error) = self.site.shorten_log(conn).await
            {
                tracing::debug!(%error, "the log stays long");
            }
        }
        if let Some(conn) = self.conn {
            // Closing can only fail to tidy up, which the next process does.
            let _ = conn.close().await;
        }
    }

    /// Runs the group in one transaction and commits it.
    async fn commit(&mut self, group: &mut [Box<dyn Job>]) -> Result<(), StoreError> {
        let mut conn = match self.conn.take() {
            Some(conn) => conn,
            None => {
                self.waits_for = self.site.options.durability;
                self.site.take_or_connect(Purpose::Writing).await?
            }
        };
        let result = self.commit_on(&mut conn, group).await;
        let result = result.map_err(|error| self.site.explain("write", error));
        // After any other failure the next group gets a connection without a past.
        if matches!(result, Ok(()) | Err(StoreError::Locked { .. })) {
            self.conn = Some(conn);
        }
        result
    }

    async fn commit_on(
        &mut self,
        conn: &mut SqliteConnection,
        group: &mut [Box<dyn Job>],
    ) -> Result<(), StoreError> {
        let durability = wanted(group);
        if durability == Durability::PowerLoss {
            self.site.shorten_log(conn).await?;
        }
        self.begin(conn, durability).await?;
        match self.run_group(conn, group).await {
            Ok(Applied::Yes) => {}
            Ok(Applied::Undo) => {
                conn.execute("ROLLBACK").await?;
                return Ok(());
            }
            Err(error) => {
                // SQLite may have rolled back by itself; the first error is the one worth telling.
                let _ = conn.execute("ROLLBACK").await;
                return Err(error);
            }
        }
        crashpoint!("store.commit.before");
        if let Err(error) = conn.execute("COMMIT").await {
            let _ = conn.execute("ROLLBACK").await;
            let error = self.site.explain("write", error.into());
            tracing::error!(%error, "a commit failed; nothing more is written");
            self.broken = Some(again(&error, &self.site.path));
            return Err(error);
        }
        crashpoint!("store.commit.after");
        Ok(())
    }

    /// Begins a transaction that may write, however long other processes take within reason.
    async fn begin(
        &mut self,
        conn: &mut SqliteConnection,
        durability: Durability,
    ) -> Result<(), StoreError> {
        let mut patience = Patience::new(self.site.options.patience);
        let (wanted, sql) = match (self.site.options.durability, durability) {
            (Durability::Crash, _) => (Durability::Crash, "BEGIN IMMEDIATE"),
            (Durability::PowerLoss, wanted) if wanted == self.waits_for => {
                (wanted, "BEGIN IMMEDIATE")
            }
            (Durability::PowerLoss, Durability::Crash) => (
                Durability::Crash,
                "PRAGMA synchronous = NORMAL; BEGIN IMMEDIATE",
            ),
            (Durability::PowerLoss, Durability::PowerLoss) => (
                Durability::PowerLoss,
                "PRAGMA synchronous = FULL; BEGIN IMMEDIATE",
            ),
        };
        while let Err(error) = conn.execute(sql).await {
            if !is_busy(&error) || !patience.wait().await {
                return Err(error.into());
            }
        }
        self.waits_for = wanted;
        Ok(())
    }

    /// Runs the writes, and tells whether there is anything to commit.
    async fn run_group(
        &self,
        conn: &mut SqliteConnection,
        group: &mut [Box<dyn Job>],
    ) -> Result<Applied, StoreError> {
        let leases = self.site.leases();
        let mut tx = Tx {
            conn,
            now: leases.wall,
            directory: self.site.directory(),
            leases,
        };
        if let [job] = group {
            return job.run(&mut tx).await;
        }
        // Each statement costs a change of threads, so two of them go together where they can.
        tx.conn.execute(sqlx::query("SAVEPOINT one_write")).await?;
        for job in group {
            let next = match job.run(&mut tx).await? {
                Applied::Yes => "RELEASE one_write; SAVEPOINT one_write",
                Applied::Undo => "ROLLBACK TO one_write",
            };
            tx.conn.execute(sqlx::query(next)).await?;
        }
        Ok(Applied::Yes)
    }
}

/// Returns what a group must be safe from: the most that one of it wants.
fn wanted(group: &[Box<dyn Job>]) -> Durability {
    let mut wanted = group.iter().map(|job| job.durability());
    match wanted.all(|one| one == Durability::Crash) {
        true => Durability::Crash,
        false => Durability::PowerLoss,
    }
}

/// Returns an error for the next of several callers that fail for the same reason.
fn again(error: &StoreError, path: &Path) -> StoreError {
    match error {
        StoreError::Locked { path } => StoreError::Locked { path: path.clone() },
        StoreError::Damaged { what } => StoreError::Damaged { what: what.clone() },
        StoreError::Unusable {
            doing,
            path,
            reason,
        } => StoreError::Unusable {
            doing,
            path: path.clone(),
            reason: reason.clone(),
        },
        StoreError::DiskFull { doing, path } => StoreError::DiskFull {
            doing,
            path: path.clone(),
        },
        StoreError::DiskFailed {
            doing,
            path,
            reason,
        } => StoreError::DiskFailed {
            doing,
            path: path.clone(),
            reason: reason.clone(),
        },
        error => StoreError::Unusable {
            doing: "write",
            path: path.to_owned(),
            reason: std::error::Error::source(error)
                .map_or_else(|| error.to_string(), ToString::to_string),
        },
    }
}
