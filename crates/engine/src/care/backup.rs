//! `tribunal backup`: the ledger as it stands at one moment, in one file.
//!
//! First the database is copied, then the files that the copy names. They are there, because files are
//! written before the events that tell of them, and `gc` waits until the backup is done.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use serde::Serialize;
use tribunal_core::ids::{CaseId, RunId};
use tribunal_core::retention::Mentions;
use tribunal_store::{Location, Store};

use super::archive::ArchiveWriter;
use super::pack::{self, CaseFiles};
use super::{Share, collected_at, lock};
use crate::case::CaseError;
use crate::export;
use crate::files::{self, LedgerDir};
use crate::place::RECORD_FILE;

/// What was backed up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BackupReport {
    /// The file.
    pub file: PathBuf,
    /// Its size.
    pub bytes: u64,
    /// How many cases are in it.
    pub cases: usize,
    /// How many runs.
    pub runs: usize,
}

/// What the copied database names.
struct Named {
    /// Its cases with their runs.
    cases: Vec<(CaseId, Vec<RunId>)>,
    /// Texts that its events name, or what looks like one.
    texts: BTreeSet<String>,
}

/// Writes the ledger into a new file, while others may work with it.
pub async fn back_up(
    store: &dyn Store,
    dir: &LedgerDir,
    file: &Path,
) -> Result<BackupReport, CaseError> {
    let doing = || format!("write the backup {}", file.display());
    if file.symlink_metadata().is_ok() {
        let text = format!("{} is there already; name a new file", file.display());
        return Err(CaseError::Request(text));
    }
    let root = dir.root().to_owned();
    let locking = tokio::task::spawn_blocking(move || lock(&root, Share::Reading));
    let locked = locking.await.map_err(io::Error::other);
    let _lock = locked
        .and_then(|lock| lock)
        .map_err(CaseError::file("take the lock of the ledger"))?;
    let place = file.parent().filter(|place| *place != Path::new(""));
    // Beside the file, so that it can be renamed, and private, because prompts are.
    let temporary = tempfile::Builder::new()
        .prefix(".tribunal-backup-")
        .permissions(fs::Permissions::from_mode(0o700))
        .tempdir_in(place.unwrap_or(Path::new(".")))
        .map_err(CaseError::file(doing()))?;
    let copy = temporary.path().join("ledger.db");
    store.copy_to(&copy).await?;
    tribunal_store::crashpoint!("backup.copied");
    let named = read_copy(&copy, temporary.path()).await?;
    let (dir, target) = (dir.clone(), file.to_owned());
    let writing = tokio::task::spawn_blocking(move || {
        let report = write(&dir, &copy, &named, temporary.path(), &target);
        drop(temporary);
        report
    });
    let written = writing.await.map_err(io::Error::other);
    written
        .and_then(|written| written)
        .map_err(CaseError::file(doing()))
}

/// Returns what the copied database names. It is opened from another copy: opening writes.
async fn read_copy(copy: &Path, temporary: &Path) -> Result<Named, CaseError> {
    let place = temporary.join("read");
    let failed = || CaseError::file("look into the copy of the ledger");
    files::create_private_dir(&place).map_err(failed())?;
    let path = place.join("ledger.db");
    fs::copy(copy, &path).map_err(failed())?;
    let store = tribunal_store::open(&Location::File(path)).await?;
    let mut named = Named {
        cases: Vec::new(),
        texts: BTreeSet::new(),
    };
    for record in store.recent_cases(u32::MAX).await? {
        let events = export::events(store.as_ref(), &record.id).await?;
        let mut mentions = Mentions::default();
        for event in &events {
            mentions.add(&serde_json::to_string(&event.kind).unwrap_or_default());
        }
        named.texts.extend(mentions.texts);
        let collected = collected_at(&events);
        let runs = store.runs(&record.id).await?.into_iter();
        // Of those that were collected some may still be there; nobody expects them.
        let runs = runs.filter(|run| collected.is_none_or(|at| run.started_at > at));
        let runs: Vec<RunId> = runs.map(|run| run.id).collect();
        named.cases.push((record.id, runs));
    }
    store.close().await;
    Ok(named)
}

fn write(
    dir: &LedgerDir,
    copy: &Path,
    named: &Named,
    temporary: &Path,
    target: &Path,
) -> io::Result<BackupReport> {
    let unfinished = temporary.join("backup");
    let mut archive = ArchiveWriter::new(files::create_private(&unfinished)?);
    for name in own_files(dir)? {
        let bytes = fs::read(dir.root().join(&name))?;
        archive.add(&name, bytes.as_slice(), bytes.len() as u64)?;
    }
    let database = File::open(copy)?;
    let length = database.metadata()?.len();
    archive.add("ledger.db", database, length)?;
    let mut runs = 0;
    for (case, of_case) in &named.cases {
        runs += of_case.len();
        add_case(&mut archive, dir, case, of_case)?;
    }
    for hash in &named.texts {
        // Most of what looks like a hash is that of a prompt or a reply, which lie elsewhere.
        match fs::read(dir.root().join("blobs").join(hash)) {
            Ok(bytes) => archive.add(
                &format!("blobs/{hash}"),
                bytes.as_slice(),
                bytes.len() as u64,
            )?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    let bytes = archive.finish()?.metadata()?.len();
    tribunal_store::crashpoint!("backup.written");
    // A file that came meanwhile is not ours to replace.
    fs::hard_link(&unfinished, target).or_else(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => Err(error),
        _ => fs::rename(&unfinished, target),
    })?;
    File::open(temporary.parent().unwrap_or(temporary))?.sync_all()?;
    Ok(BackupReport {
        file: target.to_owned(),
        bytes,
        cases: named.cases.len(),
        runs,
    })
}

/// Adds the files of a case: those that lie by themselves, and those in its pack.
fn add_case(
    archive: &mut ArchiveWriter,
    dir: &LedgerDir,
    case: &CaseId,
    runs: &[RunId],
) -> io::Result<()> {
    let all_packed = !runs.iter().any(|run| dir.run(run).is_dir());
    if all_packed && let Ok(bytes) = fs::read(pack::path_of(dir, case)) {
        // As it is: there is no need to make it large and small again.
        let name = format!("packs/{case}");
        return archive.add(&name, bytes.as_slice(), bytes.len() as u64);
    }
    let files = CaseFiles::new(dir, case);
    for run in runs {
        for name in files.names(run)? {
            // The program's input, which is the prompt once more.
            if name == "prompt.txt" {
                continue;
            }
            let bytes = match files.read(run, &name) {
                Ok(bytes) => bytes,
                // Names of a moment: a run that is under way replaces its files.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(error),
            };
            let name = format!("runs/{run}/{name}");
            archive.add(&name, bytes.as_slice(), bytes.len() as u64)?;
        }
    }
    Ok(())
}

/// Returns the files in the ledger's directory that belong to it as a whole. Its place is not part of a
/// backup.
fn own_files(dir: &LedgerDir) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in pack::list(dir.root())? {
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_place = name == RECORD_FILE;
        let is_other = is_place || name.starts_with("ledger.db") || name.ends_with(".lock");
        let is_small = entry.metadata()?.is_file() && entry.metadata()?.len() < 1 << 16;
        if is_small && !is_other && !pack::is_temporary(&name) && name != ".gitignore" {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}
