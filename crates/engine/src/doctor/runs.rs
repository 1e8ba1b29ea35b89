//! Runs: their files hold what the ledger says, and nothing of them is left running.

use std::collections::BTreeSet;
use std::path::Path;

use tribunal_core::event::RunResult;
use tribunal_core::ids::RunId;
use tribunal_store::{CaseRecord, Store, StoreError, Violation};

use super::found;
use crate::care::collected_at;
use crate::care::pack::CaseFiles;
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
    let files = CaseFiles::new(dir, &case.id);
    let mut missing = Vec::new();
    for run in &runs {
        known.insert(run.id.to_string());
        if let Some(RunResult::Answered { reply_hash, .. }) = &run.result
            && !holds(&files, &run.id, "reply.json", reply_hash)
        {
            missing.push(("reply", run));
        }
        if !holds(&files, &run.id, "prompt.md", &run.prompt_hash) {
            missing.push(("prompt", run));
        }
        let ended = run.result.is_some() || !case.owned;
        if ended && alive.contains(run.id.as_str()) {
            violations.push(found(
                "I8",
                format!("run {} has ended but left processes behind", run.id),
            ));
        }
    }
    if missing.is_empty() {
        return Ok(runs.len());
    }
    let collected = collected_at(&crate::export::events(store, &case.id).await?);
    for (what, run) in missing {
        // What was collected may be missing; what is there must still be what it was.
        let may_miss = collected.is_some_and(|at| run.started_at <= at);
        let name = if what == "reply" {
            "reply.json"
        } else {
            "prompt.md"
        };
        if may_miss && files.read(&run.id, name).is_err() {
            continue;
        }
        let text = format!("the {what} of run {} is missing or changed", run.id);
        violations.push(found("I5", text));
    }
    Ok(runs.len())
}

/// Tells whether a file of a run holds what the ledger says.
fn holds(files: &CaseFiles<'_>, run: &RunId, name: &str, hash: &str) -> bool {
    let there = files.read(run, name).map(|bytes| files::hash_of(&bytes));
    there.is_ok_and(|there| there == hash)
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
            (!is_left_prompt(&path) && !known.contains(&name)).then_some(name)
        })
        .collect();
    names.sort();
    names
}

/// Tells whether a run's directory holds nothing that anybody was paid for.
pub(crate) fn is_left_prompt(run_dir: &Path) -> bool {
    !files::holds_paid_answer(run_dir) && !run_dir.join("exit.json").exists()
}
