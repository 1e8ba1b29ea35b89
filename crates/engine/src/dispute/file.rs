//! `dispute.md` on disk: written whole, only when it differs, and never over a file of the user's.

use std::cell::RefCell;
use std::fs::File;
use std::path::{Path, PathBuf};

use tribunal_core::dispute::Status;
use tribunal_core::dispute::file::{FILE_NAME, Page, is_ours};
use tribunal_core::event::EventKind;
use tribunal_core::ids::EffectKey;
use tribunal_store::DisputeFilter;

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

    /// Writes `dispute.md` if it differs from what the ledger says.
    async fn write_dispute_file(&self) -> Result<Written, CaseError> {
        let Some(project) = &self.disputes.project else {
            return Ok(Written::Nowhere);
        };
        let path = project.join(FILE_NAME);
        let failed = |doing: &str| CaseError::file(format!("{doing} {}", path.display()));
        // Whoever renders last has seen all that was stored before: the lock puts them in order.
        let _lock = self.lock_file().await?;
        let text = self.rendered_disputes().await?;
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
        files::write_shared(&path, text.as_bytes()).map_err(failed("write"))?;
        let there = std::fs::read(&path).map_err(failed("read"))?;
        if there != text.as_bytes() {
            let changed = std::io::Error::other("it holds something else than was written");
            return Err(failed("write")(changed));
        }
        Ok(holds(&text))
    }

    /// Returns what `dispute.md` must hold.
    pub(crate) async fn rendered_disputes(&self) -> Result<String, CaseError> {
        let store = self.ledger.store();
        let open = DisputeFilter {
            status: Some(Status::Open),
            ..DisputeFilter::default()
        };
        let open = store.disputes(&open).await?;
        let shown = self.disputes.shown_resolved;
        let resolved = store.latest_rulings(shown).await?;
        let all = store.count_disputes(Status::Resolved).await?;
        let page = Page {
            open: &open,
            resolved: &resolved,
            earlier: all.saturating_sub(resolved.len() as u64),
        };
        Ok(page.render())
    }

    async fn lock_file(&self) -> Result<File, CaseError> {
        let path = self.dir.root().join("dispute-md.lock");
        let locked = tokio::task::spawn_blocking(move || lock(&path)).await;
        locked
            .unwrap_or_else(|error| Err(std::io::Error::other(error)))
            .map_err(CaseError::file("take the lock for dispute.md"))
    }
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
