//! Checks the ledger and its files, and what the machine offers to agents.

use std::collections::BTreeSet;
use std::path::Path;

use serde::Serialize;
use tribunal_core::case::CaseState;
use tribunal_core::event::RunResult;
use tribunal_core::ids::CaseId;
use tribunal_store::{CaseRecord, Store, StoreError, Violation};

use crate::files::{self, LedgerDir};

/// What the examination of a ledger showed.
#[derive(Debug, Clone, Serialize)]
pub struct LedgerHealth {
    /// Number of cases examined.
    pub cases: usize,
    /// Number of runs examined.
    pub runs: usize,
    /// Everything that is not as it should be.
    pub violations: Vec<Violation>,
}

/// Examines a whole ledger: its records, its files, and the processes that it should not have.
pub async fn examine(store: &dyn Store, dir: &LedgerDir) -> Result<LedgerHealth, StoreError> {
    let mut violations = store.check().await?;
    let cases = store.recent_cases(u32::MAX).await?;
    let mut runs = 0;
    let mut known = BTreeSet::new();
    let alive = tribunal_agents::command::marked_runs();
    for case in &cases {
        runs += examine_runs(store, dir, case, &alive, &mut known, &mut violations).await?;
    }
    for name in stray_run_dirs(&dir.runs(), &known) {
        violations.push(found(
            "I8",
            format!("directory runs/{name} belongs to no run"),
        ));
    }
    for case in ownerless_worktrees(dir, &cases) {
        let text = format!("files of an agent are left although case {case} has ended");
        violations.push(found("I8", text));
    }
    violations.extend(wrong_modes(dir.root()));
    Ok(LedgerHealth {
        cases: cases.len(),
        runs,
        violations,
    })
}

/// Returns the cases of which agents' files are left although they have ended, or nobody knows them.
fn ownerless_worktrees(dir: &LedgerDir, cases: &[CaseRecord]) -> Vec<CaseId> {
    let is_at_work = |id: &CaseId| {
        let known = cases.iter().find(|case| case.id == *id);
        known.is_some_and(|case| case.owned || !matches!(case.state, CaseState::Closed(_)))
    };
    let mut left = dir.cases_with_worktrees();
    left.retain(|id| !is_at_work(id));
    left
}

async fn examine_runs(
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
fn stray_run_dirs(runs: &Path, known: &BTreeSet<String>) -> Vec<String> {
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

fn wrong_modes(root: &Path) -> Vec<Violation> {
    use std::os::unix::fs::PermissionsExt as _;
    let mut wrong = Vec::new();
    for name in ["", "ledger.db", "runs", "blobs", "homes"] {
        let path = root.join(name);
        let Ok(data) = std::fs::metadata(&path) else {
            continue;
        };
        let mode = data.permissions().mode() & 0o777;
        if mode & 0o077 != 0 {
            wrong.push(found(
                "R38",
                format!("{} is readable by others (mode {mode:o})", path.display()),
            ));
        }
    }
    wrong
}

fn found(invariant: &'static str, found: String) -> Violation {
    Violation { invariant, found }
}
