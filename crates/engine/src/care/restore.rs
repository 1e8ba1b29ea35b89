//! `tribunal restore`: a ledger out of a backup, checked before it takes its place.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use serde::Serialize;
use tribunal_core::ids::{CaseId, RunId};
use tribunal_core::time::Timestamp;
use tribunal_store::{LedgerAccess, StoreError};

use super::archive;
use super::pack::is_plain_name;
use crate::case::CaseError;
use crate::config::Synchronous;
use crate::doctor;
use crate::files::{self, LedgerDir};
use crate::open_store;
use crate::place::RECORD_FILE;
use crate::worktree::remove_tree;

/// What a backup does not have and a restored ledger takes over from the one whose place it
/// takes.
const TAKEN_OVER: [&str; 4] = [RECORD_FILE, "homes", "repository.git", "proofs"];

/// What is to be restored, and where.
#[derive(Debug, Clone)]
pub struct RestoreWish {
    /// The backup.
    pub file: PathBuf,
    /// The directory of the ledger.
    pub into: PathBuf,
    /// Whether a ledger that is there is moved aside.
    pub force: bool,
    /// The time, for the name of what is moved aside.
    pub now: Timestamp,
}

/// What was restored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RestoreReport {
    /// The directory of the ledger.
    pub ledger: PathBuf,
    /// How many cases it has.
    pub cases: usize,
    /// How many runs.
    pub runs: usize,
    /// Where the ledger lies that was there before.
    pub moved_to: Option<PathBuf>,
}

/// Makes a ledger out of a backup. Nothing that is there changes before all of it was checked.
pub async fn restore(wish: &RestoreWish) -> Result<RestoreReport, CaseError> {
    let RestoreWish { file, into, .. } = wish;
    let doing = || format!("restore {}", file.display());
    let into = absolute(into).map_err(CaseError::file(doing()))?;
    check_place(&into, wish.force).await?;
    let parent = into.parent().unwrap_or(Path::new("/"));
    files::create_private_dir(parent).map_err(CaseError::file(doing()))?;
    // Beside its place, so that it can be renamed; removed again unless it was.
    let temporary = tempfile::Builder::new()
        .prefix(".tribunal-restore-")
        .permissions(fs::Permissions::from_mode(0o700))
        .tempdir_in(parent)
        .map_err(CaseError::file(doing()))?;
    let place = temporary.path().join("ledger");
    let (archive, target) = (file.clone(), place.clone());
    let unpacking = tokio::task::spawn_blocking(move || unpack(&archive, &target));
    let unpacked = unpacking.await.map_err(io::Error::other);
    unpacked
        .and_then(|unpacked| unpacked)
        .map_err(CaseError::file(doing()))?;
    let (cases, runs) = examine(&place).await?;
    tribunal_store::crashpoint!("restore.checked");
    let moved_to = put_in_place(&place, &into, wish.now).map_err(CaseError::file(doing()))?;
    Ok(RestoreReport {
        ledger: into,
        cases,
        runs,
        moved_to,
    })
}

/// Refuses a place where there is a ledger with cases that somebody may still want or use.
async fn check_place(into: &Path, force: bool) -> Result<(), CaseError> {
    let shown = into.display();
    if !into.exists() {
        return Ok(());
    }
    if !into.join("ledger.db").exists() {
        let mut entries = fs::read_dir(into).map_err(CaseError::file("look at the place"))?;
        let is_ours = |name: &str| name == ".gitignore" || TAKEN_OVER.contains(&name);
        let foreign = entries.find_map(|entry| {
            let name = entry.ok()?.file_name().to_string_lossy().into_owned();
            (!is_ours(&name)).then_some(name)
        });
        return match foreign {
            Some(_) if force => Ok(()),
            Some(name) => Err(CaseError::Request(format!(
                "{shown} holds `{name}` and is not a ledger; `--force` moves it aside"
            ))),
            None => Ok(()),
        };
    }
    let dir = LedgerDir::create(into.to_owned()).map_err(CaseError::file("look at the place"))?;
    let store = match open_store(&dir, Synchronous::Full, LedgerAccess::Writing).await {
        Ok(store) => store,
        // A ledger that is damaged is what somebody restores a backup for.
        Err(error) if force && is_broken(&error) => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    let cases = store.recent_cases(u32::MAX).await?;
    store.close().await;
    if let Some(busy) = cases.iter().find(|case| case.owned) {
        let text = format!("somebody works on case {} of the ledger {shown}", busy.id);
        return Err(CaseError::Request(text));
    }
    if !cases.is_empty() && !force {
        let count = cases.len();
        return Err(CaseError::Request(format!(
            "the ledger {shown} has {count} cases; `--force` moves it aside, `--into DIRECTORY` restores \
             elsewhere"
        )));
    }
    Ok(())
}

fn is_broken(error: &StoreError) -> bool {
    matches!(
        error,
        StoreError::Incomplete { .. } | StoreError::Foreign { .. } | StoreError::Damaged { .. }
    )
}

/// Puts the files of a backup below `place`.
fn unpack(backup: &Path, place: &Path) -> io::Result<()> {
    files::create_private_dir(place)?;
    let file = File::open(backup)?;
    let count = archive::read(file, |name| {
        let path = place_of(place, name).ok_or_else(|| {
            let text = format!("it holds `{name}`, which is no part of a ledger");
            io::Error::new(io::ErrorKind::InvalidData, text)
        })?;
        files::create_private_dir(path.parent().unwrap_or(place))?;
        files::create_private(&path)
    })?;
    if count == 0 || !place.join("ledger.db").is_file() {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "it holds no ledger",
        ));
    }
    sync_all(place)
}

/// Returns where an entry goes; nothing for one that has no place in a ledger.
fn place_of(place: &Path, name: &str) -> Option<PathBuf> {
    let parts: Vec<&str> = name.split('/').collect();
    let fits = match parts.as_slice() {
        [own] => is_plain_name(own) && !own.ends_with(".lock") && *own != RECORD_FILE,
        ["runs", run, file] => RunId::new(*run).is_ok() && is_plain_name(file),
        ["packs", case] => CaseId::new(*case).is_ok(),
        ["blobs", hash] => hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()),
        _ => false,
    };
    fits.then(|| place.join(name))
}

/// Waits until everything below `place` is on disk.
fn sync_all(place: &Path) -> io::Result<()> {
    for entry in fs::read_dir(place)? {
        let entry = entry?;
        match entry.file_type()?.is_dir() {
            true => sync_all(&entry.path())?,
            false => File::open(entry.path())?.sync_all()?,
        }
    }
    File::open(place)?.sync_all()
}

/// Lets the doctor look at the new ledger, and returns how many cases and runs it has.
async fn examine(place: &Path) -> Result<(usize, usize), CaseError> {
    let failed = CaseError::file("look at the restored ledger");
    let dir = LedgerDir::create(place.to_owned()).map_err(failed)?;
    let store = open_store(&dir, Synchronous::Full, LedgerAccess::Writing).await?;
    let health = doctor::examine_ledger(store.as_ref(), &dir).await;
    store.close().await;
    let health = health?;
    match health.violations.first() {
        None => Ok((health.cases, health.runs)),
        Some(first) => Err(CaseError::Request(format!(
            "the backup is damaged ({} faults; {}: {}); nothing was restored",
            health.violations.len(),
            first.invariant,
            first.found
        ))),
    }
}

/// Lets the new ledger take its place, and returns where the one lies that was there.
fn put_in_place(place: &Path, into: &Path, now: Timestamp) -> io::Result<Option<PathBuf>> {
    let parent = into.parent().unwrap_or(Path::new("/"));
    if !into.exists() {
        fs::rename(place, into)?;
        File::open(parent)?.sync_all()?;
        return Ok(None);
    }
    let aside = name_aside(into, now);
    fs::rename(into, &aside)?;
    tribunal_store::crashpoint!("restore.moved");
    fs::rename(place, into)?;
    for name in TAKEN_OVER {
        if aside.join(name).exists() {
            fs::rename(aside.join(name), into.join(name))?;
        }
    }
    File::open(parent)?.sync_all()?;
    let was_ledger = aside.join("ledger.db").exists();
    if !was_ledger
        && fs::read_dir(&aside)?
            .flatten()
            .all(|one| one.file_name() == ".gitignore")
    {
        remove_tree(&aside)?;
        return Ok(None);
    }
    Ok(Some(aside))
}

/// Returns a name beside the ledger's own that nothing has yet.
fn name_aside(into: &Path, now: Timestamp) -> PathBuf {
    let name = into.file_name().unwrap_or_default().to_string_lossy();
    let mut number = 1;
    loop {
        let mark = match number {
            1 => String::new(),
            number => format!("-{number}"),
        };
        let aside = into.with_file_name(format!("{name}.before-{}{mark}", now.date()));
        if !aside.exists() {
            return aside;
        }
        number += 1;
    }
}

fn absolute(path: &Path) -> io::Result<PathBuf> {
    // The last part may be missing, but where it is to be must be known.
    std::path::absolute(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_parts_of_a_ledger_have_a_place() {
        let place = Path::new("/x");
        let hash = "0123456789abcdef".repeat(4);
        for good in [
            "ledger.db".to_owned(),
            "note".to_owned(),
            "runs/r-0000000000000001/reply.json".to_owned(),
            "packs/c-0000000001".to_owned(),
            format!("blobs/{hash}"),
        ] {
            assert_eq!(place_of(place, &good), Some(place.join(&good)));
        }
        for bad in [
            "",
            "..",
            "/etc/passwd",
            "../x",
            "runs/../x",
            "runs/r-0000000000000001/../x",
            "runs/r-0000000000000001/a/b",
            "blobs/short",
            "homes/ann/key",
            "care.lock",
            "identity.json",
            "runs/x/y",
        ] {
            assert_eq!(place_of(place, bad), None, "{bad}");
        }
    }
}
