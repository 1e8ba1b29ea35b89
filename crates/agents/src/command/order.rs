//! What the parent tells a supervisor: the order to start with, and the words that follow it.
//!
//! Both travel over the supervisor's stdin, one line each. The order carries the complete
//! environment of the agent, keys included, so it never becomes a file or an argument; and since
//! the parent holds the other end of the pipe for as long as it lives, its death shows as the end
//! of that input.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::Limits;
use crate::network::NetworkOrder;
use crate::sandbox::SelfHolds;

/// Environment variable that marks every process of a run with the run's identity.
pub const MARKER: &str = "TRIBUNAL_RUN";

/// Name of the file in the run directory in which whoever calls us keeps the prompt.
pub(super) const KEPT_PROMPT_FILE: &str = "prompt.md";
/// Name of the file in the run directory that the agent reads as its stdin, while it runs.
pub(super) const PROMPT_FILE: &str = "prompt.txt";
/// Name of the file in the run directory that holds the agent's stdout.
pub(super) const STDOUT_FILE: &str = "stdout";
/// Name of the file in the run directory that holds the agent's stderr.
pub(super) const STDERR_FILE: &str = "stderr";
/// Name of the file in the run directory that a linter may be told to write its report to.
pub(super) const OUTPUT_FILE: &str = "output.json";
/// Name of the directory in the run directory for temporary files, while the program runs.
pub(super) const TEMPORARY_DIRECTORY: &str = "tmp";
/// Name of the file in the run directory that tells how the run ended.
pub(super) const EXIT_FILE: &str = "exit.json";
/// Name of the file in which the second stage leaves the reason when it cannot become the agent.
pub(super) const EXEC_ERROR_FILE: &str = "exec-error.json";
/// Name of the file from which the second stage reads what it lays upon itself.
pub(super) const HOLDS_FILE: &str = "holds.json";
/// Name of the file that catches what the supervisor itself has to complain about.
pub(super) const SUPERVISOR_LOG: &str = "supervisor.log";

/// Name of the file that tells that the supervisor died before the run did, with the number of processes that were killed then.
pub(super) const SUPERVISOR_DIED_FILE: &str = "supervisor-died";

/// Longest order that a supervisor accepts; arguments and environment are far smaller.
pub(super) const LONGEST_ORDER: u64 = 16 * 1024 * 1024;

/// Everything a supervisor needs to know about one run.
///
/// It has no `Debug`: the environment holds keys.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Order {
    /// The identity of the run.
    pub(super) run: String,
    /// Process id of the parent, to notice that it was gone before we could watch it.
    pub(super) parent: i32,
    /// Program and arguments.
    pub(super) argv: Vec<String>,
    /// The whole environment, marker included.
    pub(super) env: Vec<(String, String)>,
    /// Working directory.
    pub(super) directory: PathBuf,
    /// Where the files of the run lie.
    pub(super) run_dir: PathBuf,
    /// What ends the run.
    pub(super) limits: OrderLimits,
    /// Program and arguments that come before those of the agent and confine it; none where nothing does.
    pub(super) cage: Vec<String>,
    /// What keeps it to some hosts, where something does.
    pub(super) network: Option<NetworkOrder>,
    /// What the process of the agent lays upon itself before it starts anything.
    pub(super) holds: SelfHolds,
}

/// The limits of a run as they travel to the supervisor.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OrderLimits {
    first_byte_ms: u64,
    idle_ms: u64,
    wall_ms: u64,
    after_result_ms: u64,
    /// Bytes of stdout, and of stderr.
    pub(super) output_bytes: u64,
}

impl OrderLimits {
    pub(super) fn first_byte(&self) -> Duration {
        Duration::from_millis(self.first_byte_ms)
    }

    pub(super) fn idle(&self) -> Duration {
        Duration::from_millis(self.idle_ms)
    }

    pub(super) fn wall(&self) -> Duration {
        Duration::from_millis(self.wall_ms)
    }

    pub(super) fn after_result(&self) -> Duration {
        Duration::from_millis(self.after_result_ms)
    }
}

impl From<Limits> for OrderLimits {
    fn from(limits: Limits) -> Self {
        let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        Self {
            first_byte_ms: millis(limits.first_byte),
            idle_ms: millis(limits.idle),
            wall_ms: millis(limits.wall),
            after_result_ms: millis(limits.after_result),
            output_bytes: limits.output_bytes,
        }
    }
}

/// What the parent says after the order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Word {
    /// The result was seen: the agent has little time left to exit.
    Result,
    /// What looked like the result was not the last word after all.
    More,
    /// End the run.
    Cancel,
}

impl Word {
    /// Returns the line that carries the word.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Result => "result",
            Self::More => "more",
            Self::Cancel => "cancel",
        }
    }

    /// Returns the word of a line, or nothing for a line of a newer parent.
    pub(super) fn read(line: &str) -> Option<Self> {
        [Self::Result, Self::More, Self::Cancel]
            .into_iter()
            .find(|word| word.as_str() == line)
    }
}

/// Returns where `name` lies in the directory of a run.
pub(super) fn file(run_dir: &Path, name: &str) -> PathBuf {
    run_dir.join(name)
}
