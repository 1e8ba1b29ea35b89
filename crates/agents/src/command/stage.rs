//! The second stage of a start: a process that ties its life to the supervisor, then becomes the
//! agent.
//!
//! The parent-death signal must be set by the process it concerns, between fork and exec. Safe
//! code cannot run there, but it can start this program once more: the setting survives exec.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write as _};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use nix::sys::signal::SigSet;
use nix::unistd::getppid;
use serde::{Deserialize, Serialize};

use super::files;
use super::order::{self, EXEC_ERROR_FILE, HOLDS_FILE};
use crate::sandbox::SelfHolds;

/// Name of the hidden subcommand.
pub(super) const SUBCOMMAND: &str = "supervise-exec";

/// Tells the second stage to lay something upon itself.
const HELD: &str = "--held";

/// Exit code when the agent could not be started; the reason is in a file.
const NOT_STARTED: i32 = 127;

/// Runs the hidden subcommand `supervise-exec`: becomes the agent, or returns an exit code.
///
/// `arguments` are those after the subcommand: the supervisor's process id, the run directory, `--held` if
/// the process lays something upon itself first, an optional `--`, the program and its arguments.
#[must_use]
pub fn exec_main(arguments: impl IntoIterator<Item = OsString>) -> i32 {
    let mut arguments = arguments.into_iter();
    let supervisor = arguments
        .next()
        .and_then(|text| text.to_str()?.parse::<i32>().ok());
    let (Some(supervisor), Some(run_dir)) = (supervisor, arguments.next()) else {
        return NOT_STARTED;
    };
    let run_dir = PathBuf::from(run_dir);
    let mut arguments = arguments.peekable();
    let is_held = arguments.next_if(|argument| argument == HELD).is_some();
    let mut argv = arguments.skip_while(|argument| argument == "--");
    let Some(program) = argv.next() else {
        return NOT_STARTED;
    };
    // Whoever is held cannot open it any more.
    let report = match is_held {
        true => files::create(&order::file(&run_dir, EXEC_ERROR_FILE)).ok(),
        false => None,
    };
    let ready = tie_to(supervisor).and_then(|()| match is_held {
        true => lay_on(&run_dir),
        false => Ok(()),
    });
    let error = match ready {
        Ok(()) => Command::new(program).args(argv).exec(),
        Err(error) => error,
    };
    match report {
        Some(report) => ExecError::new(&error).write(report),
        None => ExecError::new(&error).leave(&run_dir),
    }
    NOT_STARTED
}

/// Leaves `holds` where the second stage finds them, and returns the arguments that tell it so.
pub(super) fn hand_over(holds: &SelfHolds, run_dir: &Path) -> io::Result<Option<&'static str>> {
    if holds.is_empty() {
        return Ok(None);
    }
    let text = serde_json::to_vec(holds).map_err(io::Error::other)?;
    files::write(&order::file(run_dir, HOLDS_FILE), &text)?;
    Ok(Some(HELD))
}

/// Lays upon this process what the supervisor has left for it.
fn lay_on(run_dir: &Path) -> io::Result<()> {
    let failed = |error: io::Error| io::Error::other(format!("the sandbox failed: {error}"));
    let file = order::file(run_dir, HOLDS_FILE);
    let holds = std::fs::read(&file).and_then(|text| {
        files::remove(&file)?;
        serde_json::from_slice::<SelfHolds>(&text).map_err(io::Error::other)
    });
    holds.and_then(|holds| holds.lay_on()).map_err(failed)
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

    /// Leaves the reason in a file that is open already.
    fn write(&self, mut report: File) {
        if let Ok(text) = serde_json::to_vec(self) {
            let _ = report.write_all(&text);
        }
    }

    /// Returns the reason left in the run directory, if any.
    pub(super) fn read(run_dir: &Path) -> Option<Self> {
        let text = std::fs::read(order::file(run_dir, EXEC_ERROR_FILE)).ok()?;
        serde_json::from_slice(&text).ok()
    }
}
