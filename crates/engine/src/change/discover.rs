//! Finds the repository a directory belongs to, without asking git.
//!
//! Git would read the config of whatever it finds and refuse what belongs to somebody else. We
//! only need to know where things lie, and trust none of it.

use std::fs;
use std::path::{Path, PathBuf};

use super::ChangeError;

/// How many stores of objects may refer to each other; git allows no more.
const MAX_ALTERNATES: usize = 64;

/// Where the things of a repository lie.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    /// The directory with `HEAD` and `index`.
    pub(crate) git_dir: PathBuf,
    /// The directory with objects, refs and config; another one for linked working trees.
    pub(crate) common_dir: PathBuf,
    /// The root of the working tree; none if the repository is bare.
    pub(crate) work_tree: Option<PathBuf>,
}

/// Returns the repository that `directory` belongs to, if any.
pub(crate) fn discover(directory: &Path) -> Result<Option<Found>, ChangeError> {
    for place in directory.ancestors() {
        let dot_git = place.join(".git");
        if let Some(git_dir) = git_dir_at(&dot_git)? {
            return found(git_dir, Some(place)).map(Some);
        }
        // Inside of `.git` itself, too, there is no working tree.
        if is_git_dir(place) {
            return found(place.to_owned(), None).map(Some);
        }
    }
    Ok(None)
}

/// Returns all directories in which objects of the repository may lie.
pub(crate) fn object_stores(found: &Found) -> Vec<PathBuf> {
    let mut stores = vec![found.common_dir.join("objects")];
    let mut next = 0;
    while let Some(store) = stores.get(next).cloned() {
        next += 1;
        let list = fs::read_to_string(store.join("info/alternates")).unwrap_or_default();
        for line in list.lines() {
            if line.is_empty() || line.starts_with(['#', '"']) {
                continue;
            }
            let other = store.join(line);
            let Ok(other) = other.canonicalize() else {
                continue;
            };
            if stores.len() < MAX_ALTERNATES && !stores.contains(&other) {
                stores.push(other);
            }
        }
    }
    stores
}

fn found(git_dir: PathBuf, work_tree: Option<&Path>) -> Result<Found, ChangeError> {
    let common_dir = match fs::read_to_string(git_dir.join("commondir")) {
        Ok(text) => {
            let path = git_dir.join(text.trim_end_matches(['\n', '\r']));
            path.canonicalize().map_err(|_| broken(&git_dir, &path))?
        }
        Err(_) => git_dir.clone(),
    };
    Ok(Found {
        git_dir,
        common_dir,
        work_tree: work_tree.map(Path::to_owned),
    })
}

/// Returns the git directory that `.git` is or refers to.
fn git_dir_at(dot_git: &Path) -> Result<Option<PathBuf>, ChangeError> {
    let Ok(metadata) = fs::metadata(dot_git) else {
        return Ok(None);
    };
    if metadata.is_dir() {
        return Ok(is_git_dir(dot_git).then(|| dot_git.to_owned()));
    }
    if !metadata.is_file() || metadata.len() > 1 << 16 {
        return Ok(None);
    }
    let text = fs::read_to_string(dot_git).unwrap_or_default();
    let Some(target) = text.strip_prefix("gitdir: ") else {
        return Ok(None);
    };
    let parent = dot_git.parent().unwrap_or(Path::new("/"));
    let target = parent.join(target.trim_end_matches(['\n', '\r']));
    match target.canonicalize() {
        Ok(path) if is_git_dir(&path) => Ok(Some(path)),
        _ => Err(broken(dot_git, &target)),
    }
}

fn broken(path: &Path, target: &Path) -> ChangeError {
    ChangeError::BrokenRepository {
        path: path.to_owned(),
        reason: format!(
            "it refers to `{}`, which is no repository",
            target.display()
        ),
    }
}

fn is_git_dir(path: &Path) -> bool {
    let has_objects = path.join("objects").is_dir() && path.join("refs").is_dir();
    let has_head = fs::symlink_metadata(path.join("HEAD")).is_ok_and(|head| !head.is_dir());
    has_head && (has_objects || path.join("commondir").is_file())
}
