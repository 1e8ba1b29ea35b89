//! Where a ledger lies and how patient its users are.

use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long a lease lasts without being renewed. Owners renew three times as often.
const LEASE_TTL: Duration = Duration::from_secs(30);

/// Where a ledger lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location {
    /// A SQLite file. Its directory also holds the lock files of the processes that use it.
    File(PathBuf),
}

impl Location {
    /// Returns the directory in which processes announce themselves.
    #[must_use]
    pub fn directory(&self) -> &Path {
        match self {
            Self::File(path) => directory_of(path),
        }
    }
}

/// Returns the directory that `path` lies in; the working directory for a bare file name.
pub(crate) fn directory_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        Some(_) | None => Path::new("."),
    }
}

/// How the ledger is used; the defaults are right outside of tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// How long a lease lasts without being renewed.
    pub lease_ttl: Duration,
    /// How long to wait altogether while other processes write.
    pub patience: Duration,
    /// What an acknowledged record survives.
    pub durability: Durability,
    /// What to do with a ledger that cannot be written.
    pub access: LedgerAccess,
    /// By how much the clocks are wrong, for tests.
    pub skew: ClockSkew,
}

/// By how much the clocks are wrong, in milliseconds; not at all outside of tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ClockSkew {
    /// The clock that people set.
    pub wall_ms: i64,
    /// The clock that begins with the machine.
    pub boot_ms: i64,
}

/// What to do with a ledger that cannot be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LedgerAccess {
    /// Refuse it.
    #[default]
    Writing,
    /// Read it, and refuse every write.
    ReadingIfMust,
}

/// What an acknowledged record survives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// Power loss.
    #[default]
    PowerLoss,
    /// The death of the process.
    Crash,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            lease_ttl: LEASE_TTL,
            patience: Duration::from_secs(60),
            durability: Durability::default(),
            access: LedgerAccess::default(),
            skew: ClockSkew::default(),
        }
    }
}
