//! Runs: their files hold what the ledger says, and nothing of them is left running.

use std::collections::BTreeSet;
use std::path::Path;

use tribunal_core::event::RunResult;
use tribunal_store::{CaseRecord, Store, StoreError, Violation};

use super::found;
use crate::files::{self, LedgerDir};

/// Examines the runs of a case, adds them to those that are known, and returns how many there are.
pub(super) async fn examine_runs(
    store: &dyn Store,
    dir: &LedgerDir,
    case: &CaseRecord,
    alive: &BTreeSet<String>,
    known: &mut BTreeSet<String>,
    violations: &mut Vec<Violation>,
) -> Result<usize, StoreError> {
    let runs = store.runs(&case.id).await?;
    for run in &runs {
        known.insert(run.id.to_string());
        let files = dir.run(&run.id);
        if let Some(RunResult::Answered { reply_hash, .. }) = &run.result {
            let stored =
                std::fs::read(files.join("reply.json")).map(|bytes| files::hash_of(&bytes));
            if !stored.is_ok_and(|hash| hash == *reply_hash) {
                violations.push(found(
                    "I5",
                    format!("the reply of run {} is missing or changed", run.id),
                ));
            }
        }
        let prompt = std::fs::read(files.join("prompt.md")).map(|bytes| files::hash_of(&bytes));
        if !prompt.is_ok_and(|hash| hash == run.prompt_hash) {
            violations.push(found(
                "I5",
                format!("the prompt of run {} is missing or changed", run.id),
            ));
        }
        let ended = run.result.is_some() || !case.owned;
        if ended && alive.contains(run.id.as_str()) {
            violations.push(found(
                "I8",
                format!("run {} has ended but left processes behind", run.id),
            ));
        }
    }
    Ok(runs.len())
}

/// Returns directories of runs that the ledger does not know. A run that was about to be registered
/// when its process died leaves a trace of this kind; it holds nothing but a prompt, or an answer
/// that nobody was paid for.
pub(super) fn stray_run_dirs(runs: &Path, known: &BTreeSet<String>) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(runs) else {
        return Vec::new();
    };
    let mut names: Vec<_> = entries
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = entry.path();
            let spoke = files::holds_paid_answer(&path) || path.join("exit.json").exists();
            (spoke && !known.contains(&name)).then_some(name)
        })
        .collect();
    names.sort();
    names
}
