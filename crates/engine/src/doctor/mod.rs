//! Checks the ledger, its files, and what was made of it outside.
//!
//! The store checks what it can tell from its own tables (I1 to I4, I6, I10). Here is what lies
//! beside them: the evidence of answers and outcomes (I5), what is left behind (I8), the scores of
//! trials (I9), keys that must stand nowhere (I11), and `dispute.md` (I12).

mod evidence;
mod keys;
mod runs;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::Serialize;
use tribunal_core::case::CaseState;
use tribunal_core::ids::CaseId;
use tribunal_store::{CaseRecord, Store, Violation};

use crate::care::{Leftover, find_leftovers, places_of};
use crate::case::CaseError;
use crate::config::Settings;
use crate::dispute::fault_of_file;
use crate::files::LedgerDir;
use crate::worktree::is_new;

pub(crate) use evidence::texts_of;
pub(crate) use runs::is_left_prompt;

/// What is examined.
pub struct Subject<'a> {
    /// The ledger.
    pub store: &'a dyn Store,
    /// Where its files lie.
    pub dir: &'a LedgerDir,
    /// The project to which it belongs, where there is one.
    pub project: Option<&'a Path>,
    /// The settings that hold there.
    pub settings: &'a Settings,
    /// The variables from which agents take their keys.
    pub env: &'a BTreeMap<String, String>,
}

/// What the examination of a ledger showed.
#[derive(Debug, Clone, Serialize)]
pub struct LedgerHealth {
    /// Number of cases examined.
    pub cases: usize,
    /// Number of runs examined.
    pub runs: usize,
    /// Everything that is not as it should be.
    pub violations: Vec<Violation>,
    /// What killed processes left behind and `tribunal gc` removes.
    pub leftovers: Vec<Leftover>,
    /// Runs whose supervisor died before they ended.
    pub unsupervised: Vec<UnsupervisedRun>,
}

/// A run whose supervisor died before it ended.
#[derive(Debug, Clone, Serialize)]
pub struct UnsupervisedRun {
    /// The run.
    pub run: String,
    /// How many of its processes were killed then.
    pub killed: u64,
}

/// Examines a whole ledger: its records, its files, and the processes that it should not have.
pub async fn examine(subject: &Subject<'_>) -> Result<LedgerHealth, CaseError> {
    let Subject { store, dir, .. } = *subject;
    let (mut health, cases, known) = examine_records(store, dir).await?;
    let violations = &mut health.violations;
    let ownerless = ownerless_places(dir, &cases);
    for case in &ownerless {
        let text = format!("files of an agent are left although case {case} has ended");
        violations.push(found("I8", text));
    }
    violations.extend(keys::exposed(subject, &known));
    if let Some(project) = subject.project {
        let shown = subject.settings.disputes.shown_resolved;
        let fault = fault_of_file(store, dir.root(), project, shown).await?;
        violations.extend(fault.map(|fault| found("I12", fault)));
    }
    violations.extend(wrong_modes(dir.root()));
    let ids = cases.iter().map(|case| case.id.to_string()).collect();
    let left = find_leftovers(dir, subject.project, &known, &ids);
    health.leftovers = left.into_iter().map(|(leftover, _)| leftover).collect();
    health.leftovers.extend(places_of(dir, &ownerless));
    let unsupervised = known.iter().filter_map(|run| {
        let killed = tribunal_agents::command::killed_after_supervisor(&dir.runs().join(run))?;
        let run = run.clone();
        Some(UnsupervisedRun { run, killed })
    });
    health.unsupervised = unsupervised.collect();
    Ok(health)
}

/// Examines the records of a ledger and the files that belong to them, wherever it lies.
pub(crate) async fn examine_ledger(
    store: &dyn Store,
    dir: &LedgerDir,
) -> Result<LedgerHealth, CaseError> {
    let (health, ..) = examine_records(store, dir).await?;
    Ok(health)
}

/// Returns what the records and their files show, with the cases and the runs that the ledger knows.
async fn examine_records(
    store: &dyn Store,
    dir: &LedgerDir,
) -> Result<(LedgerHealth, Vec<CaseRecord>, BTreeSet<String>), CaseError> {
    let mut violations = store.check().await?;
    let cases = store.recent_cases(u32::MAX).await?;
    let mut runs = 0;
    let mut known = BTreeSet::new();
    let alive = tribunal_agents::command::marked_runs();
    for case in &cases {
        runs += runs::examine_runs(store, dir, case, &alive, &mut known, &mut violations).await?;
        evidence::examine_story(store, dir, case, &mut violations).await?;
    }
    for name in runs::stray_run_dirs(&dir.runs(), &known) {
        violations.push(found(
            "I8",
            format!("directory runs/{name} belongs to no run"),
        ));
    }
    let health = LedgerHealth {
        cases: cases.len(),
        runs,
        violations,
        leftovers: Vec::new(),
        unsupervised: Vec::new(),
    };
    Ok((health, cases, known))
}

/// Returns the cases of which agents' files are left although they have ended, or nobody knows them.
pub(crate) fn ownerless_places(dir: &LedgerDir, cases: &[CaseRecord]) -> Vec<CaseId> {
    let record = |id: &CaseId| cases.iter().find(|case| case.id == *id);
    let is_at_work = |case: &CaseRecord| case.owned || !matches!(case.state, CaseState::Closed(_));
    let mut left = dir.cases_with_worktrees();
    left.retain(|id| !record(id).is_some_and(is_at_work));
    let mut looked = dir.cases_with_workplaces();
    // The case of a new place may not be stored yet.
    looked.retain(|id| match record(id) {
        Some(case) => !is_at_work(case),
        None => !is_new(&dir.workplace(id)),
    });
    left.extend(looked);
    left.sort();
    left.dedup();
    left
}

fn wrong_modes(root: &Path) -> Vec<Violation> {
    use std::os::unix::fs::PermissionsExt as _;
    let mut wrong = Vec::new();
    for name in ["", "ledger.db", "runs", "packs", "blobs", "homes"] {
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
