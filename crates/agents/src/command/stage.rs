//! The second stage of a start: a process that ties its life to the supervisor, then becomes the
//! agent.
//!
//! The parent-death signal must be set by the process it concerns, between fork and exec. Safe
//! code cannot run there, but it can start this program once more: the setting survives exec.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use nix::sys::signal::SigSet;
use nix::unistd::getppid;
use serde::{Deserialize, Serialize};

use super::files;
use super::order::{self, EXEC_ERROR_FILE};

/// Name of the hidden subcommand.
pub(super) const SUBCOMMAND: &str = "supervise-exec";

/// Exit code when the agent could not be started; the reason is in a file.
const NOT_STARTED: i32 = 127;

/// Runs the hidden subcommand `supervise-exec`: becomes the agent, or returns an exit code.
///
/// `arguments` are those after the subcommand: the supervisor's process id, the run directory, an
/// optional `--`, the program and its arguments.
#[must_use]
pub fn exec_main(arguments: impl IntoIterator<Item = OsString>) -> i32 {
    let mut arguments = arguments.into_iter();
    let supervisor = arguments
        .next()
        .and_then(|text| text.to_str()?.parse::<i32>().ok());
    let (Some(supervisor), Some(run_dir)) = (supervisor, arguments.next()) else {
        return NOT_STARTED;
    };
    let mut argv = arguments.skip_while(|argument| argument == "--");
    let Some(program) = argv.next() else {
        return NOT_STARTED;
    };
    let error = match tie_to(supervisor) {
        Ok(()) => Command::new(program).args(argv).exec(),
        Err(error) => error,
    };
    ExecError::new(&error).leave(&PathBuf::from(run_dir));
    NOT_STARTED
}

/// Makes the system kill this process when its parent dies, which must be `supervisor`.
fn tie_to(supervisor: i32) -> io::Result<()> {
    // The supervisor's blocked signals are inherited; the agent must be able to hear them.
    SigSet::empty().thread_set_mask()?;
    #[cfg(target_os = "linux")]
    nix::sys::prctl::set_pdeathsig(nix::sys::signal::Signal::SIGKILL)?;
    if getppid().as_raw() == supervisor {
        Ok(())
    } else {
        Err(io::Error::other("the supervisor is gone"))
    }
}

/// Why the agent could not be started, passed from the second stage to the supervisor.
///
/// An exit code cannot tell this: the agent may use every one of them itself.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ExecError {
    /// What the system says.
    pub(super) reason: String,
}

impl ExecError {
    pub(super) fn new(error: &io::Error) -> Self {
        Self {
            reason: error.to_string(),
        }
    }

    /// Leaves the reason in the run directory.
    pub(super) fn leave(&self, run_dir: &Path) {
        if let Ok(text) = serde_json::to_vec(self) {
            // Without the file the run still counts as failed, by its exit code.
            let _ = files::write(&order::file(run_dir, EXEC_ERROR_FILE), &text);
        }
    }

    /// Returns the reason left in the run directory, if any.
    pub(super) fn read(run_dir: &Path) -> Option<Self> {
        let text = std::fs::read(order::file(run_dir, EXEC_ERROR_FILE)).ok()?;
        serde_json::from_slice(&text).ok()
    }
}
