//! Security findings held against a local export of advisories.

use std::path::{Path, PathBuf};

use tribunal_core::consensus::Advisory;
use tribunal_core::finding::Finding;
use tribunal_engine::advisories::{self, InUse};

use crate::error::CliError;
use crate::invocation::Invocation;

/// Returns what the records in `export` say about `findings`, and what could not be read.
pub(super) fn consult(
    invocation: &Invocation,
    export: &Path,
    locks: &[PathBuf],
    findings: &[Finding],
) -> Result<(Vec<Advisory>, Vec<String>), CliError> {
    let mut read = Vec::new();
    for lock in locks {
        let bytes = std::fs::read(invocation.path(lock))
            .map_err(|error| CliError::unreadable(lock, &error))?;
        read.push((lock.display().to_string(), bytes));
    }
    let files = read
        .iter()
        .map(|(name, bytes)| (name.as_str(), bytes.as_slice()));
    let in_use = InUse::of(files);
    let path = invocation.path(export);
    let found = advisories::from_export(&path, &in_use.packages);
    let (index, problems) = found.map_err(|error| CliError::unreadable(export, &error))?;
    let consulted = advisories::consult(findings, &index, &in_use.packages);
    Ok((consulted, [in_use.problems, problems].concat()))
}
