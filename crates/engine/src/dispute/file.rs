//! `dispute.md` on disk: written whole, only when it differs, and never over a file of the user's.

use std::cell::RefCell;
use std::fs::File;
use std::path::{Path, PathBuf};

use tribunal_core::dispute::Status;
use tribunal_core::dispute::file::{FILE_NAME, Page, is_ours};
use tribunal_core::event::EventKind;
use tribunal_core::ids::EffectKey;
use tribunal_store::{DisputeFilter, Store};

use super::carry::is_rendered;
use crate::Engine;
use crate::case::{Case, CaseError};
use crate::files;

/// What became of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Written {
    /// There is no project to put it into.
    Nowhere,
    /// It has these contents, by their hash.
    Holds(String),
    /// A file of that name is there that is not ours; it was left alone.
    NotOurs(PathBuf),
}

impl Engine {
    /// Brings `dispute.md` up to date, as an effect of `case`.
    pub(super) async fn render_file(&self, case: &Case, key: &EffectKey) -> Result<(), CaseError> {
        let written = RefCell::new(None);
        // Others may have changed it since, so whoever comes after a crash renders it anew; that
        // changes nothing if it is right.
        let probe = || async { Ok(written.borrow().as_ref().map(evidence)) };
        let act = || async {
            *written.borrow_mut() = Some(self.write_dispute_file().await?);
            Ok(())
        };
        case.effect(key, "bring dispute.md up to date", probe, act)
            .await?;
        let written = written.into_inner();
        if let Some(Written::NotOurs(path)) = written {
            let text = format!(
                "{} was not written by tribunal and is left alone; move it away to have the page",
                path.display()
            );
            case.note(EventKind::Noted { text }).await;
        }
        Ok(())
    }

    /// Brings `dispute.md` up to date after the ledger was replaced. Without any dispute in the ledger a
    /// page that is not there stays away.
    pub async fn refresh_dispute_file(&self) -> Result<(), CaseError> {
        let project = self.disputes.project.as_deref();
        let is_there = project.is_some_and(|project| project.join(FILE_NAME).exists());
        let all = DisputeFilter::default();
        let disputes = self.ledger.store().disputes(&all).await?;
        if is_there || !disputes.is_empty() {
            self.write_dispute_file().await?;
        }
        Ok(())
    }

    /// Writes `dispute.md` if it differs from what the ledger says.
    async fn write_dispute_file(&self) -> Result<Written, CaseError> {
        let Some(project) = &self.disputes.project else {
            return Ok(Written::Nowhere);
        };
        let path = project.join(FILE_NAME);
        let failed = |doing: &str| CaseError::file(format!("{doing} {}", path.display()));
        // Whoever renders last has seen all that was stored before: the lock puts them in order.
        let _lock = self.lock_file().await?;
        let writer = project.as_os_str().as_encoded_bytes();
        let noted = files::write_in_place(&lock_path(self.dir.root()), writer);
        noted.map_err(failed("note who writes"))?;
        let store = self.ledger.store();
        let text = rendered(store.as_ref(), self.disputes.shown_resolved).await?;
        match std::fs::read_to_string(&path) {
            Ok(there) if there == text => return Ok(holds(&text)),
            Ok(there) if !is_ours(&there) => return Ok(Written::NotOurs(path)),
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) if error.kind() == std::io::ErrorKind::InvalidData => {
                return Ok(Written::NotOurs(path));
            }
            Err(error) => return Err(failed("read")(error)),
        }
        // One name for all, because only one writes at a time: what a killed process left is replaced.
        let unfinished = project.join(format!(".{FILE_NAME}.unfinished"));
        files::write_shared_by(&unfinished, &path, text.as_bytes()).map_err(failed("write"))?;
        let there = std::fs::read(&path).map_err(failed("read"))?;
        if there != text.as_bytes() {
            let changed = std::io::Error::other("it holds something else than was written");
            return Err(failed("write")(changed));
        }
        Ok(holds(&text))
    }

    async fn lock_file(&self) -> Result<File, CaseError> {
        let path = lock_path(self.dir.root());
        let locked = tokio::task::spawn_blocking(move || lock(&path)).await;
        locked
            .unwrap_or_else(|error| Err(std::io::Error::other(error)))
            .map_err(CaseError::file("take the lock for dispute.md"))
    }
}

/// Returns what `dispute.md` must hold.
async fn rendered(store: &dyn Store, shown_resolved: u32) -> Result<String, CaseError> {
    let open = DisputeFilter {
        status: Some(Status::Open),
        ..DisputeFilter::default()
    };
    let open = store.disputes(&open).await?;
    let resolved = store.latest_rulings(shown_resolved).await?;
    let all = store.count_disputes(Status::Resolved).await?;
    let page = Page {
        open: &open,
        resolved: &resolved,
        earlier: all.saturating_sub(resolved.len() as u64),
    };
    Ok(page.render())
}

/// Returns the file of the lock. It names the working tree whose page was brought up to date last.
fn lock_path(ledger: &Path) -> PathBuf {
    ledger.join("dispute-md.lock")
}

/// Returns what is wrong with the `dispute.md` of a project, if something is.
///
/// One that waits to be rendered is not wrong: the next command about disputes does it. Of the working
/// trees that share the ledger, only the last one that changed a dispute has to have the latest page.
pub(crate) async fn fault_of_file(
    store: &dyn Store,
    ledger: &Path,
    project: &Path,
    shown_resolved: u32,
) -> Result<Option<String>, CaseError> {
    let here = project.as_os_str().as_encoded_bytes();
    let writer = std::fs::read(lock_path(ledger)).unwrap_or_default();
    if !writer.is_empty() && writer != here {
        return Ok(None);
    }
    let text = rendered(store, shown_resolved).await?;
    let fault = match std::fs::read_to_string(project.join(FILE_NAME)) {
        Ok(there) if there == text || !is_ours(&there) => return Ok(None),
        Ok(_) => {
            "does not hold what the ledger says: it was edited, is of another branch or of \
                  other settings"
        }
        Err(error) if error.kind() == std::io::ErrorKind::InvalidData => return Ok(None),
        Err(_) => "is missing or cannot be read",
    };
    let mut stands_there = false;
    for dispute in store.disputes(&DisputeFilter::default()).await? {
        match is_rendered(store, &dispute.id.case()).await? {
            Some(true) => stands_there = true,
            Some(false) => return Ok(None),
            None => {}
        }
    }
    let remedy = "it is written anew after the next change of a dispute";
    Ok(stands_there.then(|| format!("{FILE_NAME} {fault}; {remedy}")))
}

fn lock(path: &Path) -> std::io::Result<File> {
    let file = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(path)?;
    file.lock()?;
    Ok(file)
}

fn holds(text: &str) -> Written {
    Written::Holds(files::hash_of(text.as_bytes()))
}

fn evidence(written: &Written) -> String {
    match written {
        Written::Nowhere => "there is no project to put it into".to_owned(),
        Written::Holds(hash) => hash.clone(),
        Written::NotOurs(path) => format!("{} is not ours", path.display()),
    }
}
