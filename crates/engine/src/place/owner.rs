//! To whom a ledger belongs: a clone with all its working trees, or a directory.

use std::fs;
use std::path::{Path, PathBuf};

use crate::change::discover::{Found, discover};
use crate::files::hash_of;

/// The name of the pointer in a clone's git directory.
const POINTER: &str = "tribunal-ledger";

/// The owner of a ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LedgerOwner {
    /// The clone's common git directory, or the directory of a project without git.
    pub(super) home: PathBuf,
    /// The folder of the project in the working tree; empty for the root.
    pub(super) folder: PathBuf,
    /// The root of the project.
    root: PathBuf,
    /// The pointer of a clone.
    pointer: Option<PathBuf>,
    /// The root of the working tree and its git directory, if there is a repository.
    repository: Option<Found>,
    /// Whether the working tree refers to a clone that does not know it.
    is_stray: bool,
}

impl PartialEq for Found {
    fn eq(&self, other: &Self) -> bool {
        (&self.git_dir, &self.work_tree) == (&other.git_dir, &other.work_tree)
    }
}

impl Eq for Found {}

impl LedgerOwner {
    /// Returns the owner of the ledger of `project`.
    pub(super) fn of(project: &Path) -> Self {
        let root = canonical(project);
        let found = discover(&root).ok().flatten();
        let alone = |repository: Option<Found>, is_stray| Self {
            home: root.clone(),
            folder: PathBuf::new(),
            root: root.clone(),
            pointer: None,
            repository,
            is_stray,
        };
        let Some(found) = found else {
            return alone(None, false);
        };
        let below = found
            .work_tree
            .as_deref()
            .map(|tree| root.strip_prefix(tree));
        let Some(Ok(folder)) = below else {
            return alone(Some(found), false);
        };
        if !belongs_to_clone(&found) {
            return alone(Some(found), true);
        }
        let home = canonical(&found.common_dir);
        let name = match folder == Path::new("") {
            true => POINTER.to_owned(),
            false => {
                let hash = hash_of(folder.as_os_str().as_encoded_bytes());
                format!("{POINTER}-{}", hash.get(..16).unwrap_or_default())
            }
        };
        Self {
            pointer: Some(home.join(name)),
            folder: folder.to_owned(),
            root: root.clone(),
            home,
            repository: Some(found),
            is_stray: false,
        }
    }

    /// Returns the owner that the project had before it was in a repository.
    pub(super) fn without_repository(&self) -> Self {
        Self {
            home: self.root.clone(),
            folder: PathBuf::new(),
            root: self.root.clone(),
            pointer: None,
            repository: None,
            is_stray: false,
        }
    }

    /// Returns the pointer of a clone, whether or not it exists.
    pub(super) fn pointer(&self) -> Option<&Path> {
        self.pointer.as_deref()
    }

    /// Returns the repository that the project is in.
    pub(super) fn repository(&self) -> Option<&Found> {
        self.repository.as_ref()
    }

    /// Returns the id of the ledger that is found by the path of its owner.
    pub(super) fn id_by_path(&self) -> String {
        let mut bytes = self.home.as_os_str().as_encoded_bytes().to_vec();
        bytes.push(0);
        bytes.extend_from_slice(self.folder.as_os_str().as_encoded_bytes());
        hash_of(&bytes).get(..32).unwrap_or_default().to_owned()
    }

    /// Returns what the user should know when the ledger is made.
    pub(super) fn note(&self) -> Option<String> {
        self.is_stray.then(|| {
            "`.git` refers to a clone that does not list this working tree, so it gets a ledger of its own. \
             `git worktree repair` in the clone lets a tree that was moved share the clone's ledger."
                .to_owned()
        })
    }
}

/// Tells whether the working tree is one of its clone's: an archive could refer to any clone.
fn belongs_to_clone(found: &Found) -> bool {
    let Some(tree) = &found.work_tree else {
        return false;
    };
    let dot_git = tree.join(".git");
    let Ok(kind) = fs::symlink_metadata(&dot_git) else {
        return false;
    };
    if kind.is_dir() {
        return canonical(&found.common_dir) == canonical(&dot_git);
    }
    // The clone lists its linked working trees: each has a file with the path of its `.git`.
    let listed = fs::read_to_string(found.git_dir.join("gitdir")).unwrap_or_default();
    let listed = found.git_dir.join(listed.trim_end_matches(['\n', '\r']));
    let is_linked = found.git_dir != found.common_dir;
    kind.is_file() && is_linked && canonical(&listed) == canonical(&dot_git)
}

fn canonical(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}
