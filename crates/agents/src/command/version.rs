//! Asks a program for its version, once.

use std::collections::HashMap;
use std::path::Path;
use std::process::Stdio;
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::Duration;

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::Command;
use tribunal_core::agent::ErrorClass;
use tribunal_core::text::headline;

use super::environment::Variables;
use crate::AgentError;

/// Longest time that a program may take to say its version; the slowest start in some seconds.
const PATIENCE: Duration = Duration::from_secs(30);

/// Bytes of its answer that are read.
const LONGEST: u64 = 4096;

/// Versions by program and leading arguments: they do not change while we run.
static KNOWN: LazyLock<Mutex<HashMap<Vec<String>, String>>> = LazyLock::new(Mutex::default);

/// Returns the version of a program if it has been asked before.
pub(super) fn known(argv: &[String]) -> Option<String> {
    let known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    known.get(argv).cloned()
}

/// Returns the version of the program `argv`, which runs in `directory` with `variables`.
pub(super) async fn ask(
    argv: &[String],
    directory: &Path,
    variables: &Variables,
) -> Result<String, AgentError> {
    if let Some(version) = known(argv) {
        return Ok(version);
    }
    let version = probe(argv, directory, variables).await?;
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    known.insert(argv.to_vec(), version.clone());
    Ok(version)
}

async fn probe(
    argv: &[String],
    directory: &Path,
    variables: &Variables,
) -> Result<String, AgentError> {
    let program = argv.first().map_or("", String::as_str);
    let setup = |what: String| {
        let message = format!("`{program} --version` {what}.");
        AgentError::new(ErrorClass::Setup, message)
    };
    let mut child = Command::new(program)
        .args(argv.iter().skip(1))
        .arg("--version")
        .env_clear()
        .envs(variables)
        .current_dir(directory)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| setup(format!("could not be started: {error}")))?;
    let group = child.id().and_then(|id| i32::try_from(id).ok());
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let answer = async {
        let (said, complained, status) = tokio::join!(read(stdout), read(stderr), child.wait());
        (said, complained, status)
    };
    let outcome = tokio::time::timeout(PATIENCE, answer).await;
    if let Some(group) = group {
        // Whether it answered or not, nothing of it may stay; mostly there is nothing left.
        let _ = killpg(Pid::from_raw(group), Signal::SIGKILL);
    }
    let (said, complained, status) =
        outcome.map_err(|_| setup(format!("did not answer within {} s", PATIENCE.as_secs())))?;
    let version = headline(&said, 80);
    if !status.is_ok_and(|status| status.success()) || version.is_empty() {
        let why = headline(&complained, 200);
        return Err(setup(format!("failed: {why}")));
    }
    Ok(version.into_owned())
}

async fn read(stream: Option<impl AsyncRead + Unpin>) -> String {
    let mut bytes = Vec::new();
    if let Some(stream) = stream {
        // What came before a fault is worth showing.
        let _ = stream.take(LONGEST).read_to_end(&mut bytes).await;
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
