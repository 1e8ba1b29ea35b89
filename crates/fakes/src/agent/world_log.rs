//! The world log: one line per invocation, by which tests count what was really executed.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::options::Options;

/// One invocation of the agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogEntry {
    /// Wall-clock time in milliseconds since 1970.
    pub time_ms: u64,
    /// Process id of the agent.
    pub pid: u32,
    /// Behaviour that was carried out.
    pub behave: String,
    /// [`crate::checksum`] of the prompt in hexadecimal.
    pub prompt_hash: String,
    /// Length of the prompt in bytes.
    pub prompt_bytes: usize,
    /// First line of the prompt, at most 200 characters of it.
    pub first_line: String,
    /// Working directory.
    pub cwd: String,
}

/// Reads a world log; a missing file means that nothing was executed.
///
/// # Errors
///
/// Fails when the file cannot be read or has a line that is no entry.
pub fn read_log(path: &Path) -> io::Result<Vec<LogEntry>> {
    let text = match std::fs::read_to_string(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        read => read?,
    };
    text.lines()
        .map(|line| serde_json::from_str(line).map_err(io::Error::from))
        .collect()
}

/// Returns how many invocations the log already has.
pub(crate) fn count(path: Option<&Path>) -> io::Result<usize> {
    path.map_or(Ok(0), |path| read_log(path).map(|entries| entries.len()))
}

/// Adds this invocation with a single write, so that lines of parallel agents never mix.
pub(crate) fn append(options: &Options, prompt: &str) -> io::Result<()> {
    let Some(path) = &options.log else {
        return Ok(());
    };
    let entry = LogEntry {
        time_ms: crate::now_ms(),
        pid: std::process::id(),
        behave: options.behave.clone(),
        prompt_hash: format!("{:016x}", crate::checksum(prompt.as_bytes())),
        prompt_bytes: prompt.len(),
        first_line: prompt
            .lines()
            .next()
            .unwrap_or_default()
            .chars()
            .take(200)
            .collect(),
        cwd: std::env::current_dir()?.display().to_string(),
    };
    let mut line = serde_json::to_vec(&entry)?;
    line.push(b'\n');
    OpenOptions::new()
        .create(true)
        .append(true)
        .open(path)?
        .write_all(&line)
}
