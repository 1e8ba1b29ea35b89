//! Starts a program with a few words and reads its short answer; no model is asked.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::Command;

use super::environment::Variables;

/// Longest time that a program may take to answer; the slowest start in some seconds.
const PATIENCE: Duration = Duration::from_secs(30);

/// Bytes of its answer that are read.
const LONGEST: u64 = 4096;

/// What a program printed, and whether it ended well.
pub(super) struct ShortAnswer {
    /// The beginning of its output.
    pub(super) stdout: String,
    /// The beginning of its complaints.
    pub(super) stderr: String,
    /// Whether its exit code was 0.
    pub(super) success: bool,
}

/// Runs the program `argv` with `words` in `directory`, or says what went wrong: "did not answer …".
pub(super) async fn ask(
    argv: &[String],
    words: &[&str],
    directory: &Path,
    variables: &Variables,
) -> Result<ShortAnswer, String> {
    let program = argv.first().map_or("", String::as_str);
    let mut child = Command::new(program)
        .args(argv.iter().skip(1))
        .args(words)
        .env_clear()
        .envs(variables)
        .current_dir(directory)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| format!("could not be started: {error}"))?;
    let group = child.id().and_then(|id| i32::try_from(id).ok());
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let answer = async { tokio::join!(read(stdout), read(stderr), child.wait()) };
    let outcome = tokio::time::timeout(PATIENCE, answer).await;
    if let Some(group) = group {
        // Whether it answered or not, nothing of it may stay; mostly there is nothing left.
        let _ = killpg(Pid::from_raw(group), Signal::SIGKILL);
    }
    let (stdout, stderr, status) =
        outcome.map_err(|_| format!("did not answer within {} s", PATIENCE.as_secs()))?;
    Ok(ShortAnswer {
        stdout,
        stderr,
        success: status.is_ok_and(|status| status.success()),
    })
}

async fn read(stream: Option<impl AsyncRead + Unpin>) -> String {
    let mut bytes = Vec::new();
    if let Some(stream) = stream {
        // What came before a fault is worth showing.
        let _ = stream.take(LONGEST).read_to_end(&mut bytes).await;
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
