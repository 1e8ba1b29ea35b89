//! Asks a program for its version, once.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{LazyLock, Mutex, PoisonError};

use tribunal_core::agent::ErrorClass;
use tribunal_core::text::headline;

use super::environment::Variables;
use super::short_question::{self, ShortAnswer};
use crate::AgentError;

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
    let answer = short_question::ask(argv, &["--version"], directory, variables).await;
    let ShortAnswer {
        stdout,
        stderr,
        success,
    } = answer.map_err(setup)?;
    let version = headline(&stdout, 80);
    if !success || version.is_empty() {
        let why = headline(&stderr, 200);
        return Err(setup(format!("failed: {why}")));
    }
    Ok(version.into_owned())
}
