//! What is under review: paths, a diff, a commit or a patch, read by immutable ids.
//!
//! `pin` chooses once and stores whatever has no id yet in a repository of our own; `read` follows
//! from what was chosen and gives the same answer however often it is asked. The user's
//! repository is a place to read objects and names from: no command works in it, nothing in it is
//! written, and no program named in it is started.

pub(crate) mod agent_names;
mod assets;
mod attributes;
mod before;
pub(crate) mod blobs;
pub(crate) mod checkout;
mod compare;
pub(crate) mod discover;
mod dot_names;
mod error;
pub(crate) mod git;
mod links;
mod linter_settings;
pub(crate) mod listing;
mod locks;
pub(crate) mod names;
mod omit;
pub(crate) mod own;
mod partial;
mod patch;
mod paths;
mod pin;
mod process;
mod read;
mod repository;
mod revision;
mod settings;
mod settled;
mod snapshot;
mod take;

use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tribunal_code::diff::{Diff, FileDiff};
use tribunal_code::language::Language;
use tribunal_code::lines::LineSet;
use tribunal_core::review::coverage::{FileStatus, LeftOut};

pub use before::{Before, settings_before};
pub(crate) use checkout::withheld_from_reviewers;
pub use checkout::{AgentFiles, checkout};
pub use error::ChangeError;
pub(crate) use linter_settings::{
    EarlierSettings, earlier_linter_settings, restore_linter_settings,
};
pub(crate) use listing::all_paths;
pub use locks::LockFile;
pub(crate) use locks::lock_files;
pub(crate) use own::ObjectFormat;
pub(crate) use pin::STAGED_TITLE;
pub use pin::pin;
pub use read::read;
pub(crate) use repository::Known;
pub use repository::{Home, Repository};
pub(crate) use revision::{branch as head_branch, head as head_commit, tree as tree_of};
pub(crate) use revision::{fork_point, resolve as resolve_commit, work_start};
pub(crate) use revision::{head, knows_default_branch};
pub(crate) use settled::settled;

/// What somebody asks to have reviewed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeRequest {
    /// Where the user stands; absolute.
    pub directory: PathBuf,
    /// Where the change comes from.
    pub source: ChangeSource,
    /// Paths as typed, relative to `directory`; they restrict any source, none means all.
    pub paths: Vec<String>,
    /// How much is taken at most.
    pub limits: ChangeLimits,
    /// Files that the config says to ignore, written as in a `.gitignore`.
    pub ignore: Vec<String>,
}

/// Where a change comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChangeSource {
    /// Uncommitted work; without any, the branch against its upstream or the default branch.
    Default,
    /// Whole files as they are now.
    Files,
    /// All that differs from the last commit, untracked files included.
    Uncommitted,
    /// What the next commit would hold.
    Staged,
    /// The commits since the branch left this revision.
    Base(String),
    /// One commit against its first parent.
    Commit(String),
    /// A unified diff in a file.
    Patch(PathBuf),
    /// A unified diff that the caller read.
    PatchText(Vec<u8>),
}

/// How much of a change is taken at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeLimits {
    /// The largest file, in bytes.
    pub max_file_bytes: u64,
    /// The most files.
    pub max_files: usize,
    /// The most bytes over all files, both sides of a change counted.
    pub max_total_bytes: u64,
}

impl ChangeLimits {
    /// Returns how large a file may be that nobody reviews and that is only searched for what must
    /// not be in any file.
    pub(crate) fn max_searched_bytes(&self) -> u64 {
        self.max_file_bytes.saturating_mul(16)
    }
}

impl Default for ChangeLimits {
    fn default() -> Self {
        Self {
            max_file_bytes: 2 << 20,
            max_files: 5_000,
            max_total_bytes: 256 << 20,
        }
    }
}

/// What was chosen, by immutable ids: all that is needed to read the change again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pinned {
    /// What is under review, for people; names from the repository may stand in it.
    pub title: String,
    /// The commit or tree before the change; none if there was nothing.
    pub base: Option<String>,
    /// The commit or tree whose files decide about the change, such as rulings and markers: the base,
    /// unless that is a commit of the branch under review itself. None if there is nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settled: Option<String>,
    /// The commit or tree after the change; none for a patch without a repository.
    pub head: Option<String>,
    /// Whether files are reviewed as a whole, whatever changed.
    pub whole_files: bool,
    /// The blob with those parts of a patch that could not be applied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loose_patch: Option<String>,
    /// The restriction, as paths from the root; empty means all.
    #[serde(default)]
    pub paths: Vec<String>,
    /// The limits in force.
    pub limits: ChangeLimits,
    /// The globs of files to ignore.
    #[serde(default)]
    pub ignore: Vec<String>,
    /// Files of the working tree that were not even stored, such as untracked keys.
    #[serde(default)]
    pub left_out: Vec<LeftOut>,
    /// Files that are read, and of which there is something else that nobody reads.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub partly_left_out: Vec<LeftOut>,
    /// Why there is nothing to review, when nothing changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub empty: Option<Empty>,
    /// Whether a file that moved is read as one that is new, because whoever moved it says that
    /// something in it is gone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub moved_is_new: bool,
}

/// A change without a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Empty {
    /// What was looked at, such as `nothing is staged`.
    pub reason: String,
    /// What could be tried instead, one sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hints: Vec<String>,
}

/// A change with the texts of its files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// From what it was read.
    pub pinned: Pinned,
    /// The files to review, by path.
    pub files: Vec<ChangedFile>,
    /// The files that are not handed out, by path.
    pub left_out: Vec<LeftOut>,
    /// Those of `left_out` that nobody reviews, and that are searched for what must not be in any
    /// file: lock files, generated and vendored ones.
    pub searched: Vec<ChangedFile>,
    diff: Diff,
}

/// One file of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedFile {
    /// Path from the root; the former path when the file was deleted.
    pub path: String,
    /// Path before the change, when it was another.
    pub old_path: Option<String>,
    /// What happened to it.
    pub status: FileStatus,
    /// The new text; the old text of a deleted file.
    pub text: Arc<str>,
    /// The text before the change, if there was one.
    pub base_text: Option<Arc<str>>,
    /// The unified diff of this file; empty for whole files.
    pub patch: String,
    /// The same, read: which lines changed. All lines did where whole files are reviewed.
    pub diff: FileDiff,
    /// Lines that the settled files do not have, where the text has a marker that silences a rule or
    /// a linter: none of these counts there.
    pub unsettled: LineSet,
    /// The programming language, if it is one of those understood.
    pub language: Option<Language>,
    /// Whether bytes of the text had to be replaced.
    pub is_lossy: bool,
    /// Whether it is too large to be put into a question, so that only rules read it.
    pub is_large: bool,
}

impl Change {
    pub(super) fn new(
        pinned: Pinned,
        mut files: Vec<ChangedFile>,
        mut left_out: Vec<LeftOut>,
        searched: Vec<ChangedFile>,
    ) -> Self {
        files.sort_by(|a, b| a.path.cmp(&b.path));
        left_out.sort_by(|a, b| (&a.path, a.why).cmp(&(&b.path, b.why)));
        left_out.dedup();
        let diff = Diff {
            files: files.iter().map(|file| file.diff.clone()).collect(),
            ..Diff::default()
        };
        Self {
            pinned,
            files,
            left_out,
            searched,
            diff,
        }
    }

    /// Returns which lines changed, over all files to review.
    #[must_use]
    pub fn diff(&self) -> &Diff {
        &self.diff
    }

    /// Returns the file that has this path now, else the one that had it, else one that is only
    /// searched.
    #[must_use]
    pub fn file(&self, path: &str) -> Option<&ChangedFile> {
        let now = self.files.iter().find(|file| file.path == path);
        let before = || {
            let mut files = self.files.iter();
            files.find(|file| file.old_path.as_deref() == Some(path))
        };
        let searched = || self.searched.iter().find(|file| file.path == path);
        now.or_else(before).or_else(searched)
    }
}
