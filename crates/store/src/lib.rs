//! The ledger on disk: the home of every SQL statement. Callers speak in domain words.
//!
//! Events are the truth. [`Store::append`] writes them and, in the same transaction, the tables
//! derived from them (cases, steps, runs, effects, providers), which can be rebuilt at any time.

pub mod crash;
mod decisions;
mod disk;
mod disputes;
mod holder;
mod location;
mod private;
mod soon;
mod sqlite;
mod tasks;

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use thiserror::Error;
use tribunal_core::agent::ErrorClass;
use tribunal_core::case::{CaseKind, CaseState};
use tribunal_core::event::{Event, EventKind, RunResult};
use tribunal_core::ids::{AgentName, CaseId, EffectKey, RunId, StepKey};
use tribunal_core::money::{Cost, Spend, Usage};
use tribunal_core::review::history::TrackedFinding;
use tribunal_core::time::Timestamp;

pub use crate::decisions::Decisions;
pub use crate::disk::{has_no_room, is_full};
pub use crate::disputes::{DisputeFilter, Disputes, PrecedentFilter};
pub use crate::holder::Holder;
pub use crate::location::{ClockSkew, Durability, LedgerAccess, Location, Options};
pub use crate::soon::Soon;
pub use crate::tasks::{TaskRecord, Tasks};

/// Opens the ledger at `location`, and creates it or brings it up to date when needed.
pub async fn open(location: &Location) -> Result<Arc<dyn Store>, StoreError> {
    open_with(location, Options::default()).await
}

/// Opens a ledger with other than the default options.
pub async fn open_with(
    location: &Location,
    options: Options,
) -> Result<Arc<dyn Store>, StoreError> {
    match location {
        Location::File(path) => Ok(Arc::new(sqlite::SqliteStore::open(path, options).await?)),
    }
}

/// Persists the ledger. All methods are one transaction each.
#[async_trait]
pub trait Store: Decisions + Disputes + Soon + Tasks + Send + Sync {
    /// Opens a case with its first events and returns the lease of its owner.
    ///
    /// The first event must be [`EventKind::CaseOpened`].
    async fn open_case(
        &self,
        case: &CaseId,
        holder: &Holder,
        events: Vec<EventKind>,
    ) -> Result<(Lease, Vec<Event>), StoreError>;

    /// Takes over a case whose owner is gone, and returns the lease with the next generation.
    ///
    /// Fails with [`StoreError::Busy`] while another holder is alive: its lease has not run out by
    /// the store's clock and, on this machine, its process lives.
    async fn claim_case(&self, case: &CaseId, holder: &Holder) -> Result<Lease, StoreError>;

    /// Prolongs a lease. Fails with [`StoreError::LeaseLost`] when somebody else owns the case.
    async fn renew(&self, lease: &Lease) -> Result<(), StoreError>;

    /// Gives a lease back. A lost lease is no error: there is nothing left to give back.
    async fn release(&self, lease: &Lease) -> Result<(), StoreError>;

    /// Appends events to the case of `lease` and applies them to the derived tables.
    ///
    /// All or none are stored; they are on disk when this returns. Fails, and stores nothing, with
    /// [`StoreError::LeaseLost`] when the lease's generation is not the latest (a late result
    /// changes nothing), with [`StoreError::Repeated`] when a step, run or effect would end twice,
    /// and with [`StoreError::Refused`] when an event has no place in the case.
    async fn append(&self, lease: &Lease, events: Vec<EventKind>)
    -> Result<Vec<Event>, StoreError>;

    /// Returns at most `limit` events of a case, those after number `after`, in order.
    async fn events(&self, case: &CaseId, after: u64, limit: u32)
    -> Result<Vec<Event>, StoreError>;

    /// Returns the case with exactly this id, or the only one whose id starts or ends with `text`.
    async fn find_case(&self, text: &str) -> Result<CaseRecord, StoreError>;

    /// Returns the newest cases, newest first.
    async fn recent_cases(&self, limit: u32) -> Result<Vec<CaseRecord>, StoreError>;

    /// Returns the newest cases of one kind, newest first.
    async fn recent_cases_of(
        &self,
        kind: CaseKind,
        limit: u32,
    ) -> Result<Vec<CaseRecord>, StoreError>;

    /// Returns the result of a finished step.
    async fn step(
        &self,
        case: &CaseId,
        step: &StepKey,
    ) -> Result<Option<serde_json::Value>, StoreError>;

    /// Returns the runs of a case in the order of their start.
    async fn runs(&self, case: &CaseId) -> Result<Vec<RunRecord>, StoreError>;

    /// Returns what an effect has come to.
    async fn effect(&self, case: &CaseId, effect: &EffectKey) -> Result<EffectState, StoreError>;

    /// Returns the effects whose keys begin so, which were announced and are not done, with their
    /// cases, the oldest first.
    async fn announced_effects(
        &self,
        beginning: &str,
    ) -> Result<Vec<(CaseId, EffectKey)>, StoreError>;

    /// Returns all findings that were ever followed, by file.
    async fn findings(&self) -> Result<Vec<FindingRecord>, StoreError>;

    /// Returns what was spent by a case and by all that were opened on its behalf.
    ///
    /// A run that has not ended counts as one of unknown cost, with the tokens it has told of: caps
    /// must hold for runs under way and for those whose owner died.
    async fn family_spend(&self, case: &CaseId) -> Result<Spend, StoreError>;

    /// Returns the same without what `member` has spent itself.
    async fn relatives_spend(&self, case: &CaseId, member: &CaseId) -> Result<Spend, StoreError>;

    /// Returns what was spent by all runs that started at or after `since`, counted as above.
    async fn spend_since(&self, since: Timestamp) -> Result<Spend, StoreError>;

    /// Returns the providers that are parked; one whose pause has passed is not.
    async fn parked_providers(&self) -> Result<Vec<ParkedProvider>, StoreError>;

    /// Frees a parked provider outside of any case, as `agents --free` does.
    ///
    /// Exactly this model, or the provider's default, is freed; the answer tells whether it was
    /// parked. A rebuild remembers it.
    async fn free_provider(&self, provider: &str, model: Option<&str>) -> Result<bool, StoreError>;

    /// Returns the current time by the store's clock.
    async fn now(&self) -> Result<Timestamp, StoreError>;

    /// Checks the invariants of the whole ledger and returns every violation found.
    async fn check(&self) -> Result<Vec<Violation>, StoreError>;

    /// Writes the ledger as it stands at one moment into a new file at `path`, while others may write
    /// on. Whoever reads the copy sees whole transactions: of every case the events up to one of them.
    async fn copy_to(&self, path: &std::path::Path) -> Result<(), StoreError>;

    /// Drops the derived tables and makes them again from the events.
    async fn rebuild(&self) -> Result<(), StoreError>;

    /// Waits for all that was accepted and closes the files.
    async fn close(&self);
}

/// The right to write to one case, fenced by its generation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// The case.
    pub case: CaseId,
    /// Who holds it.
    pub holder: Holder,
    /// Grows by one with every change of owner.
    pub generation: u64,
}

/// A case as the ledger lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseRecord {
    /// Its identity.
    pub id: CaseId,
    /// What kind of work.
    pub kind: CaseKind,
    /// One line about it.
    pub title: String,
    /// The request it was opened with.
    pub request: serde_json::Value,
    /// Where it stands.
    pub state: CaseState,
    /// When it was opened.
    pub opened_at: Timestamp,
    /// When its last event was stored.
    pub updated_at: Timestamp,
    /// Number of its last event.
    pub last_seq: u64,
    /// What it has cost, counted as in [`Store::family_spend`].
    pub spend: Spend,
    /// Whether its owner is alive now.
    pub owned: bool,
}

/// A run as the ledger lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunRecord {
    /// Its identity.
    pub id: RunId,
    /// The case.
    pub case: CaseId,
    /// The step it ran for.
    pub step: StepKey,
    /// Which agent.
    pub agent: AgentName,
    /// Whose tool or API.
    pub provider: String,
    /// Which model.
    pub model: Option<String>,
    /// Number among the runs of its call.
    pub attempt: u32,
    /// Hash of its prompt.
    pub prompt_hash: String,
    /// When it started.
    pub started_at: Timestamp,
    /// How it ended; nothing while it runs or when it was interrupted.
    pub result: Option<RunResult>,
    /// Tokens.
    pub usage: Usage,
    /// Cost.
    pub cost: Cost,
    /// How long it took.
    pub elapsed_ms: u64,
}

/// A finding that is followed over several reviews, as the ledger lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FindingRecord {
    /// The finding as it was seen last, with its standing.
    pub finding: TrackedFinding,
    /// The case that saw it first.
    pub first_case: CaseId,
    /// When that was.
    pub first_at: Timestamp,
    /// The case that spoke of it last.
    pub last_case: CaseId,
    /// When that was.
    pub last_at: Timestamp,
}

/// What an effect has come to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EffectState {
    /// Nobody has spoken of it.
    Unknown,
    /// It was announced; whether it happened must be asked of the world.
    Intended,
    /// It was made, and this is what was found.
    Done {
        /// What its postcondition showed.
        evidence: String,
    },
}

/// A provider that is not to be called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParkedProvider {
    /// Whose tool or API.
    pub provider: String,
    /// Which model; the provider's default when absent.
    pub model: Option<String>,
    /// Why.
    pub class: ErrorClass,
    /// Until when; without it, until a human acts.
    pub until: Option<Timestamp>,
}

/// An invariant that does not hold.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Violation {
    /// Short name of the invariant, such as `I2`.
    pub invariant: &'static str,
    /// What was found, in one sentence.
    pub found: String,
}

/// Why the ledger could not do what was asked.
#[derive(Debug, Error)]
pub enum StoreError {
    /// No case has this id.
    #[error("no case has the id `{text}`")]
    NoSuchCase {
        /// What was asked for.
        text: String,
    },
    /// Several cases fit.
    #[error("`{text}` fits {count} cases")]
    AmbiguousCase {
        /// What was asked for.
        text: String,
        /// How many fit.
        count: u64,
    },
    /// No task has this id.
    #[error("no task has the id `{text}`")]
    NoSuchTask {
        /// What was asked for.
        text: String,
    },
    /// Several tasks fit.
    #[error("`{text}` fits {count} tasks")]
    AmbiguousTask {
        /// What was asked for.
        text: String,
        /// How many fit.
        count: u64,
    },
    /// No dispute has this id.
    #[error("no dispute has the id `{text}`")]
    NoSuchDispute {
        /// What was asked for.
        text: String,
    },
    /// Several disputes fit.
    #[error("`{text}` fits {count} disputes")]
    AmbiguousDispute {
        /// What was asked for.
        text: String,
        /// How many fit.
        count: u64,
    },
    /// A task has one open major dispute at most.
    #[error("task {task} has an open dispute")]
    OpenDispute {
        /// The task.
        task: String,
    },
    /// Another process works on the case.
    #[error("case {case} is being worked on by process {pid} on {host}")]
    Busy {
        /// The case.
        case: CaseId,
        /// The owner's machine.
        host: String,
        /// The owner's process.
        pid: u32,
    },
    /// It happened before; the ledger was left as it is.
    #[error("{what} stands in the ledger already")]
    Repeated {
        /// What would have been stored twice.
        what: String,
    },
    /// An event has no place in the case; nothing was stored.
    #[error("the ledger does not take the event: {what}")]
    Refused {
        /// Why it has none.
        what: String,
    },
    /// Another process took the case over; what we wanted to write was not written.
    #[error("case {case} was taken over by another process")]
    LeaseLost {
        /// The case.
        case: CaseId,
    },
    /// Somebody wrote for so long that we gave up.
    #[error("the ledger {path} stayed locked by another process")]
    Locked {
        /// The ledger's file.
        path: PathBuf,
    },
    /// The ledger was written by a newer version of the program.
    #[error("the ledger {path} has schema {found}, this program knows {known}")]
    NewerSchema {
        /// The ledger's file.
        path: PathBuf,
        /// Schema of the file.
        found: i64,
        /// Newest schema we know.
        known: i64,
    },
    /// The file cannot be opened, read or written.
    #[error("cannot {doing} the ledger {path}: {reason}")]
    Unusable {
        /// What was tried, as a verb.
        doing: &'static str,
        /// The ledger's file.
        path: PathBuf,
        /// What the system says.
        reason: String,
    },
    /// There is no room left; what was stored before is safe.
    #[error("the disk is full: cannot {doing} {}", path.display())]
    DiskFull {
        /// What was tried, as a verb.
        doing: &'static str,
        /// The file.
        path: PathBuf,
    },
    /// The disk does not do what it was asked.
    #[error("the disk failed: cannot {doing} {}: {reason}", path.display())]
    DiskFailed {
        /// What was tried, as a verb.
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system says.
        reason: String,
    },
    /// The schema's number is none that this program writes, or does not fit the tables.
    #[error("the ledger {} is damaged: {what}", path.display())]
    OddSchema {
        /// The ledger's file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// Files of the ledger are there, but its records are not.
    #[error("the ledger {} is incomplete: {what}", path.display())]
    Incomplete {
        /// The ledger's file.
        path: PathBuf,
        /// What is missing.
        what: String,
    },
    /// The database or its write-ahead log is of another ledger.
    #[error(
        "the database {0} or its write-ahead log {0}-wal belongs to another ledger",
        path.display()
    )]
    Foreign {
        /// The ledger's file.
        path: PathBuf,
    },
    /// A record is not what this program writes.
    #[error("the ledger holds a damaged record: {what}")]
    Damaged {
        /// Which one, and how.
        what: String,
    },
    /// A statement failed for another reason.
    #[error("the ledger's database failed")]
    Database(#[from] sqlx::Error),
}
