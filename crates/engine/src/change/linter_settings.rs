//! Settings of linters as they were before a change, and how they get into a checkout.

use std::fs::Permissions;
use std::io::{self, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use tribunal_code::linter_settings::{RestoredSettings, holds_linter_settings, with_settings_of};

use super::agent_names::speaks_to_agents;
use super::checkout::place;
use super::listing::{self, Entry, Kind, Side};
use super::repository::Repository;
use super::{ChangeError, blobs};

/// Larger files are no settings.
const LARGEST: u64 = 8 << 20;

/// A file that is another one with the settings of linters from before the change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EarlierSettings {
    /// Path from the root.
    pub(crate) path: String,
    /// What stands in it then; nothing when it is not there.
    content: Option<Vec<u8>>,
    /// Whether it can be started.
    is_program: bool,
}

/// Returns what has to be written over the files of `head`, so that linters find the settings of
/// `before`. `named` are more files that hold settings: those on the command line of the linter.
///
/// # Errors
///
/// Git fails, or an object was pruned.
pub(crate) fn earlier_linter_settings(
    repo: &Repository,
    before: &str,
    head: &str,
    named: &[String],
) -> Result<Vec<EarlierSettings>, ChangeError> {
    let entries = listing::compare_with(repo, before, head, &[], false)?;
    let mut found = Vec::new();
    for Entry { path, old, new, .. } in entries {
        let path = String::from_utf8_lossy(&path).into_owned();
        if !holds_linter_settings(&path) && !named.contains(&path) {
            continue;
        }
        let is_program = old.mode & 0o100 != 0;
        let (old, new) = (content(repo, &old)?, content(repo, &new)?);
        let content = match (text(new.as_ref()), text(old.as_ref())) {
            (Ok(now), Ok(before)) => {
                match with_settings_of(&path, now.as_deref(), before.as_deref()) {
                    RestoredSettings::Same => continue,
                    RestoredSettings::Text(text) => Some(text.into_bytes()),
                    RestoredSettings::Absent => None,
                }
            }
            // What is no text is taken as it was.
            _ => old,
        };
        found.push(EarlierSettings {
            path,
            content,
            is_program,
        });
    }
    Ok(found)
}

/// Writes the settings into a checkout.
pub(crate) fn restore_linter_settings(root: &Path, files: &[EarlierSettings]) -> io::Result<()> {
    for file in files {
        let Some(path) = place(file.path.as_bytes()) else {
            continue;
        };
        if speaks_to_agents(&file.path) {
            continue;
        }
        let path = root.join(path);
        if std::fs::symlink_metadata(&path).is_ok_and(|data| !data.is_dir()) {
            std::fs::remove_file(&path)?;
        }
        if let Some(content) = &file.content {
            if let Some(parent) = path.parent() {
                std::fs::create_dir_all(parent)?;
            }
            std::fs::write(&path, content)?;
            let mode = if file.is_program { 0o700 } else { 0o600 };
            std::fs::set_permissions(&path, Permissions::from_mode(mode))?;
        }
    }
    Ok(())
}

/// Returns what a side of a comparison holds; a link leads to nothing that could be written.
fn content(repo: &Repository, side: &Side) -> Result<Option<Vec<u8>>, ChangeError> {
    if side.kind() != Kind::File {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    blobs::each(repo, &[&side.id], |_, content| {
        content.take(LARGEST).read_to_end(&mut bytes).map(|_| ())
    })?;
    Ok(Some(bytes))
}

fn text(bytes: Option<&Vec<u8>>) -> Result<Option<String>, std::string::FromUtf8Error> {
    bytes
        .map(|bytes| String::from_utf8(bytes.clone()))
        .transpose()
}
