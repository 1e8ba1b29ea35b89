//! How a run ended, as the supervisor leaves it in the run directory.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};
use tribunal_core::sandbox::RefusedConnection;

use super::files;
use super::order::EXIT_FILE;

/// How a run ended, with what the supervisor measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exit {
    /// The identity of the run.
    pub run: String,
    /// Why it ended.
    pub ended: Ended,
    /// The agent's exit code, unless a signal ended it.
    pub code: Option<i32>,
    /// The signal that ended the agent.
    pub signal: Option<i32>,
    /// Time from start to the end of the last process.
    pub wall_ms: u64,
    /// Time until the first sign of life, if there was one.
    pub first_byte_ms: Option<u64>,
    /// Size of stdout as kept.
    pub stdout_bytes: u64,
    /// Size of stderr as kept.
    pub stderr_bytes: u64,
    /// Processes that outlived the agent and were killed.
    pub survivors: u64,
    /// Processes that could not be killed in time.
    pub left: u64,
    /// What it asked the network for and did not get.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<RefusedConnection>,
}

/// Why a run ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// The agent exited by itself.
    Exited,
    /// It gave no sign of life in time.
    FirstByte,
    /// It fell silent.
    Idle,
    /// Its time was over.
    Wall,
    /// It did not exit after its result.
    AfterResult,
    /// It wrote too much.
    OutputCap,
    /// The parent, or somebody else, asked for the end.
    Cancelled,
    /// The parent is gone.
    ParentGone,
    /// It could not be started.
    SpawnFailed {
        /// What the system says.
        reason: String,
    },
}

impl Exit {
    /// Returns the end of a run of which nothing was measured, for tests and re-readings.
    #[must_use]
    pub fn of(run: impl Into<String>, ended: Ended, code: Option<i32>) -> Self {
        Self {
            run: run.into(),
            ended,
            code,
            signal: None,
            wall_ms: 0,
            first_byte_ms: None,
            stdout_bytes: 0,
            stderr_bytes: 0,
            survivors: 0,
            left: 0,
            refused: Vec::new(),
        }
    }

    /// Returns the end that the files of a run tell of, or nothing when the run is not over.
    #[must_use]
    pub fn read(run_dir: &Path) -> Option<Self> {
        let text = fs::read_to_string(run_dir.join(EXIT_FILE)).ok()?;
        serde_json::from_str(&text).ok()
    }

    /// Leaves the end in the run directory, whole or not at all.
    pub(super) fn write(&self, run_dir: &Path) -> io::Result<()> {
        let text = serde_json::to_vec(self).map_err(io::Error::other)?;
        let unfinished = run_dir.join(format!("{EXIT_FILE}.new"));
        let mut file = files::create(&unfinished)?;
        file.write_all(&text)?;
        file.sync_all()?;
        fs::rename(&unfinished, run_dir.join(EXIT_FILE))?;
        File::open(run_dir)?.sync_all()
    }
}
