//! What killed processes left behind: temporary files, directories of runs that never began, places
//! where agents worked, and branches.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;
use tribunal_core::dispute::file::FILE_NAME;
use tribunal_core::ids::CaseId;

use super::pack::{self, is_temporary, list};
use crate::doctor::is_left_prompt;
use crate::files::LedgerDir;

/// Writing a file takes moments; one that is older than this is not being written any more.
const WRITTEN_FOR: Duration = Duration::from_secs(10 * 60);

/// What kind of thing was left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LeftoverKind {
    /// A file that was being written.
    TemporaryFile,
    /// Files of a run that never began.
    UnbegunRun,
    /// A pack of a case that the ledger does not know.
    StrayPack,
    /// A place where an agent worked.
    WorkPlace,
    /// A branch that was merged.
    MergedBranch,
}

/// Something that nobody needs any more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Leftover {
    /// What kind of thing it is.
    pub kind: LeftoverKind,
    /// Where it is: a path, or the name of a branch.
    pub place: String,
}

impl Leftover {
    pub(super) fn file(kind: LeftoverKind, path: &Path) -> Self {
        let place = path.display().to_string();
        Self { kind, place }
    }
}

/// Returns the files and directories that were left in a ledger and its project. `runs` and `cases`
/// are those that the ledger knows.
pub(crate) fn find(
    dir: &LedgerDir,
    project: Option<&Path>,
    runs: &BTreeSet<String>,
    cases: &BTreeSet<String>,
) -> Vec<(Leftover, PathBuf)> {
    let root = dir.root();
    let mut found = Vec::new();
    let mut add = |kind, path: PathBuf| found.push((Leftover::file(kind, &path), path));
    let places = [
        root.to_owned(),
        root.join("blobs"),
        dir.proofs(),
        pack::directory(dir),
    ];
    for place in places {
        for (name, path) in entries(&place) {
            if is_temporary(&name) && is_abandoned(&path) {
                add(LeftoverKind::TemporaryFile, path);
            }
        }
    }
    for (name, path) in entries(&pack::directory(dir)) {
        if !is_temporary(&name) && !cases.contains(&name) && is_abandoned(&path) {
            add(LeftoverKind::StrayPack, path);
        }
    }
    for (run, path) in entries(&dir.runs()) {
        if !runs.contains(&run) && is_left_prompt(&path) && is_abandoned(&path) {
            add(LeftoverKind::UnbegunRun, path);
            continue;
        }
        for (name, path) in entries(&path) {
            if is_temporary(&name) && is_abandoned(&path) {
                add(LeftoverKind::TemporaryFile, path);
            }
        }
    }
    let beginning = format!(".{FILE_NAME}.");
    for (name, path) in project.map(entries).unwrap_or_default() {
        let is_ours = is_temporary(&name) || name == format!("{beginning}unfinished");
        if name.starts_with(&beginning) && is_ours && is_abandoned(&path) {
            add(LeftoverKind::TemporaryFile, path);
        }
    }
    found.sort_by(|(a, _), (b, _)| (a.kind, &a.place).cmp(&(b.kind, &b.place)));
    found
}

/// Returns the places of agents that belong to these cases.
pub(crate) fn places_of(dir: &LedgerDir, cases: &[CaseId]) -> Vec<Leftover> {
    let places = cases
        .iter()
        .flat_map(|case| [dir.worktrees(case), dir.workplace(case)]);
    let there = places.filter(|place| place.exists());
    there
        .map(|place| Leftover::file(LeftoverKind::WorkPlace, &place))
        .collect()
}

fn entries(place: &Path) -> Vec<(String, PathBuf)> {
    let entries = list(place).unwrap_or_default().into_iter();
    let named = entries.filter_map(|entry| {
        let name = entry.file_name().to_str()?.to_owned();
        Some((name, entry.path()))
    });
    named.collect()
}

/// Tells whether nobody has written to something for a while. Links are not followed.
fn is_abandoned(path: &Path) -> bool {
    let changed = fs::symlink_metadata(path).and_then(|data| data.modified());
    changed.is_ok_and(|changed| changed.elapsed().is_ok_and(|age| age > WRITTEN_FOR))
}
