//! The ledger in the project, where it was until version 0.1.0.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::PlaceError;
use super::owner::LedgerOwner;
use super::record::LedgerRecord;
use crate::change::ChangeError;
use crate::change::git::Git;
use crate::config::PROJECT_DIR;

/// The directory in which older versions kept the ledger of a project.
pub(super) struct OldLedger {
    path: PathBuf,
}

impl OldLedger {
    /// Returns where the old ledger of `project` was or would be.
    pub(super) fn of(project: &Path) -> Self {
        let project = project
            .canonicalize()
            .unwrap_or_else(|_| project.to_owned());
        Self {
            path: project.join(PROJECT_DIR).join("ledger"),
        }
    }

    /// Returns the directory.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Tells whether something has its name.
    pub(super) fn may_exist(&self) -> bool {
        fs::symlink_metadata(&self.path).is_ok()
    }

    /// Tells whether there is a ledger.
    pub(super) fn is_ledger(&self) -> bool {
        self.path.join("ledger.db").exists()
    }

    /// Returns why what is there is not believed, if it is not.
    pub(super) fn refusal(&self, owner: &LedgerOwner) -> Result<Option<String>, PlaceError> {
        let shown = self.path.display();
        let refused = |why: &str| {
            Ok(Some(format!(
                "The ledger {shown} is not used, because {why}. Delete it if you do not need it."
            )))
        };
        let parent = self.path.parent().unwrap_or(&self.path);
        let database = self.path.join("ledger.db");
        for path in [parent, &self.path, &database] {
            let Ok(found) = fs::symlink_metadata(path) else {
                return Ok(None);
            };
            if found.file_type().is_symlink() {
                return refused("it is reached through a symbolic link");
            }
            if found.uid() != nix::unistd::geteuid().as_raw() {
                return refused("it belongs to another user");
            }
        }
        match self.is_tracked(owner) {
            Ok(false) => Ok(None),
            Ok(true) => refused("git tracks it, so it came with a commit"),
            // Without git nobody can tell.
            Err(_) => refused("git cannot tell whether it came with a commit"),
        }
    }

    /// Tells whether the index or the last commit has a part of it.
    fn is_tracked(&self, owner: &LedgerOwner) -> Result<bool, ChangeError> {
        let Some(found) = owner.repository() else {
            return Ok(false);
        };
        let Some(tree) = &found.work_tree else {
            return Ok(false);
        };
        let Ok(below) = self.path.strip_prefix(tree) else {
            return Ok(false);
        };
        let git = Git::find()?;
        let index = git.on(&found.git_dir).work_tree(tree);
        let index = index.args(["ls-files", "-z", "--cached", "--"]);
        if !index.args([below]).output()?.is_empty() {
            return Ok(true);
        }
        let head = ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"];
        let Some(head) = git.on(&found.git_dir).args(head).answer()? else {
            return Ok(false);
        };
        let commit = git.on(&found.git_dir);
        let commit = commit.args(["ls-tree", "-z", &head, "--"]).args([below]);
        Ok(!commit.output()?.is_empty())
    }

    /// Returns what the user should know about an old ledger beside the one in `place`, once.
    pub(super) fn note_beside(
        &self,
        record: &mut LedgerRecord,
        place: &Path,
    ) -> Result<Option<String>, PlaceError> {
        let path = self.path.as_path().into();
        if record.told.contains(&path) {
            return Ok(None);
        }
        record.told.push(path);
        record.write(place)?;
        let shown = self.path.display();
        Ok(Some(format!(
            "This clone has its ledger in {}. Another one from an older version is in {shown}. It stays there \
             and is not used; look at it with `tribunal --ledger {shown} log`.",
            place.display()
        )))
    }
}
