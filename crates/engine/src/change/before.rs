//! The project's file of settings as it was before the change under review.

use std::io::Read as _;
use std::path::Path;

use super::repository::Repository;
use super::revision::{self, Other};
use super::settled::settled;
use super::{ChangeError, ChangeLimits, ChangeRequest, ChangeSource, blobs, pin};
use crate::config::{BaseFile, FILE_NAME, PROJECT_DIR};
use crate::files::LedgerDir;

/// More than this is never a file of settings.
const LONGEST: u64 = (1 << 20) + 1;

/// What the history says about the files that steer a review.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Before {
    /// The file of settings before the change.
    pub file: BaseFile,
    /// Whether the last commit holds a ledger, which nobody but its author would have written.
    pub has_ledger: bool,
}

/// Returns what counted for the project below `root` before the change; nothing when there is no
/// commit at all.
///
/// # Errors
///
/// A name means nothing, or git fails.
pub fn settings_before(
    directory: &Path,
    ledger: &LedgerDir,
    root: &Path,
    source: &ChangeSource,
) -> Result<Option<Before>, ChangeError> {
    let repo = &Repository::open(directory, ledger.clone_of_repository())?;
    if !repo.is_versioned() {
        return Ok(None);
    }
    let Some(head) = revision::head(repo)? else {
        return Ok(None);
    };
    let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    let folders = folders(repo.root(), &root);
    let Some(nearest) = folders.first().cloned() else {
        return Ok(None);
    };
    let files: Vec<String> = folders.iter().map(|folder| file_in(folder)).collect();
    let base = base_of(repo, source, &head, &files)?;
    let mut wanted: Vec<String> = Vec::new();
    if let Some(base) = &base {
        wanted.extend(files.iter().map(|file| format!("{base}:{file}")));
    }
    let committed = format!("{head}:{}", file_in(&nearest));
    wanted.push(committed);
    let mut contents = vec![None; wanted.len()];
    blobs::each(repo, &wanted, |index, content| {
        let bytes = contents[index].insert(Vec::new());
        content.take(LONGEST).read_to_end(bytes).map(|_| ())
    })?;
    let committed = contents.pop().flatten();
    // A change may not step out of the project's settings by settling below them.
    let found = contents.iter().position(Option::is_some);
    let place = files.get(found.unwrap_or(0)).cloned().unwrap_or_default();
    let short = |id: &str| id.get(..10).unwrap_or(id).to_owned();
    let ledger = [
        format!("{head}:{nearest}{PROJECT_DIR}/ledger"),
        format!("{head}:{nearest}{PROJECT_DIR}"),
    ];
    Ok(Some(Before {
        file: BaseFile {
            revision: base.as_deref().map_or("the empty base".to_owned(), short),
            path: repo.root().join(place),
            content: found.and_then(|index| contents.swap_remove(index)),
            committed,
        },
        has_ledger: holds_ledger(repo, &ledger)?,
    }))
}

/// Returns the folders from `root` up to that of the repository, each with a slash at its end.
fn folders(repository: &Path, root: &Path) -> Vec<String> {
    let Ok(below) = root.strip_prefix(repository) else {
        return Vec::new();
    };
    let name = |path: &Path| match path.to_str() {
        Some("") => Some(String::new()),
        Some(path) if !path.contains('\n') => Some(format!("{path}/")),
        _ => None,
    };
    below.ancestors().filter_map(name).collect()
}

fn file_in(folder: &str) -> String {
    format!("{folder}{PROJECT_DIR}/{FILE_NAME}")
}

/// Returns the commit before the change; none if there was nothing.
fn base_of(
    repo: &Repository,
    source: &ChangeSource,
    head: &str,
    files: &[String],
) -> Result<Option<String>, ChangeError> {
    let base = match source {
        ChangeSource::Base(name) => {
            let other = Other {
                name: name.clone(),
                commit: revision::resolve(repo, name)?,
            };
            return revision::merge_base(repo, &other, head).map(Some);
        }
        ChangeSource::Commit(name) => {
            let commit = revision::resolve(repo, name)?;
            revision::parent(repo, &commit)?
        }
        ChangeSource::Default => Some(default_base(repo, head, files)?),
        ChangeSource::Files
        | ChangeSource::Uncommitted
        | ChangeSource::Staged
        | ChangeSource::Patch(_)
        | ChangeSource::PatchText(_) => Some(head.to_owned()),
    };
    // An earlier commit of the branch under review is not the word of the project.
    base.map(|base| settled(repo, &base)).transpose()
}

/// Returns the base of uncommitted work or of the branch, whichever will be reviewed. Where all say
/// the same about the settings, nobody needs to know which.
fn default_base(repo: &Repository, head: &str, files: &[String]) -> Result<String, ChangeError> {
    let mut bases = vec![head.to_owned()];
    for other in revision::others(repo)? {
        match revision::merge_base(repo, &other, head) {
            Err(ChangeError::NoCommonHistory { .. }) => {}
            base => bases.push(base?),
        }
    }
    bases.dedup();
    let names: Vec<String> = bases
        .iter()
        .flat_map(|base| files.iter().map(move |file| format!("{base}:{file}")))
        .collect();
    let ids = blobs::ids(repo, &names)?;
    let mut each = ids.chunks(files.len().max(1));
    let first = each.next();
    if each.all(|one| Some(one) == first) {
        return Ok(head.to_owned());
    }
    let request = ChangeRequest {
        directory: repo.directory.clone(),
        source: ChangeSource::Default,
        paths: Vec::new(),
        limits: ChangeLimits::default(),
        ignore: Vec::new(),
    };
    let pinned = pin(repo, &request)?;
    Ok(pinned.base.unwrap_or_else(|| head.to_owned()))
}

/// Tells whether the last commit has a ledger at our place, or something that is not a folder where
/// our folder should be.
fn holds_ledger(repo: &Repository, names: &[String; 2]) -> Result<bool, ChangeError> {
    let kinds = blobs::kinds(repo, names)?;
    let [ledger, folder] = [kinds.first(), kinds.get(1)].map(|kind| kind.cloned().flatten());
    Ok(ledger.is_some() || folder.is_some_and(|kind| kind != "tree"))
}
