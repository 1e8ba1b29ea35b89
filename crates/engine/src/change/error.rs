//! Why a change cannot be had.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use thiserror::Error;
use tribunal_core::ids::CaseId;

/// Why a change could not be chosen, read or written out.
#[derive(Debug, Error)]
pub enum ChangeError {
    /// There is no git program.
    #[error("the program `git` was not found in `PATH`")]
    GitMissing,
    /// The git program lacks what we need.
    #[error("git {found} is too old; {needed} or newer is needed")]
    GitTooOld {
        /// Its version.
        found: String,
        /// The oldest that will do.
        needed: String,
    },
    /// The directory is not part of a repository, and the request needs one.
    #[error("`{}` is not in a git repository", directory.display())]
    NotARepository {
        /// Where the user stands.
        directory: PathBuf,
    },
    /// There is a repository, but not as git leaves it.
    #[error("the repository at `{}` cannot be used: {reason}", path.display())]
    BrokenRepository {
        /// Where it is.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// The repository has no files outside of its history.
    #[error("a bare repository has no working tree; name commits to review")]
    NoWorkingTree,
    /// A branch cannot be merged into the user's.
    #[error("nothing was merged: {why}")]
    MergeRefused {
        /// Why not.
        why: String,
    },
    /// There are no files at all.
    #[error("there are no files to review")]
    NoFiles,
    /// A revision names nothing.
    #[error("no commit is called `{revision}`")]
    UnknownRevision {
        /// As it was typed.
        revision: String,
        /// The nearest name there is.
        suggestion: Option<String>,
    },
    /// Several references of one name lead to different commits; whoever may push one could choose.
    #[error("`{revision}` names several commits: {}", names.join(", "))]
    AmbiguousRevision {
        /// As it was typed.
        revision: String,
        /// The references in full.
        names: Vec<String>,
    },
    /// Two commits have no ancestor in common that we can see.
    #[error("`{revision}` and `HEAD` have no common history")]
    NoCommonHistory {
        /// As it was typed.
        revision: String,
        /// Whether the history is cut off, so that fetching more of it may help.
        is_shallow: bool,
    },
    /// There is no commit yet.
    #[error("the repository has no commits yet")]
    NoCommits,
    /// The index holds a conflict.
    #[error("the index has unresolved conflicts")]
    Unmerged,
    /// A path matches no file.
    #[error("`{path}` matches no file")]
    PathMatchesNothing {
        /// As it was typed.
        path: String,
        /// Why that may be, in a sentence; empty when unknown.
        hint: String,
    },
    /// A path leads out of what is reviewed.
    #[error("`{path}` is outside of `{}`", root.display())]
    PathOutside {
        /// As it was typed.
        path: String,
        /// The root of the repository, or the directory.
        root: PathBuf,
    },
    /// A glob of the config cannot be read.
    #[error("the glob `{glob}` cannot be read: {reason}")]
    BadGlob {
        /// As configured.
        glob: String,
        /// What is wrong.
        reason: String,
    },
    /// A patch holds no change to a file.
    #[error("the patch holds no change to a file")]
    EmptyPatch,
    /// A patch or a listing is larger than the limit.
    #[error("{what} is larger than {limit} bytes")]
    TooLarge {
        /// What.
        what: String,
        /// The limit in force.
        limit: u64,
    },
    /// An object is not there any more.
    #[error("the object {id} is missing from the repository")]
    ObjectMissing {
        /// Its id.
        id: String,
    },
    /// The directory to write to holds something.
    #[error("`{}` exists and is not empty", path.display())]
    TargetExists {
        /// The directory.
        path: PathBuf,
    },
    /// There are no files to work on.
    #[error("a patch without a repository has no files to work on")]
    NoTree,
    /// There is no commit from which work could start.
    #[error("the repository has no commits yet, so there is nothing that work could start from")]
    NothingToStartFrom,
    /// A branch of this name is there and is another.
    #[error("the branch `{branch}` exists and points at something else")]
    BranchTaken {
        /// Its name.
        branch: String,
    },
    /// A branch is checked out somewhere, so that moving it would change what lies there.
    #[error("the branch `{branch}` is checked out in `{}`, where moving it would change your files", at.display())]
    BranchCheckedOut {
        /// Its name.
        branch: String,
        /// Where.
        at: PathBuf,
    },
    /// A branch was moved by others each time that we wanted to move it.
    #[error("the branch `{branch}` was moved by others again and again")]
    BranchBusy {
        /// Its name.
        branch: String,
    },
    /// The work of the loop on a task is out of reach of the command that concerns it.
    #[error("the work on task {task} {}", match project {
        Some(project) => format!("does not lie in `{}`", project.display()),
        None => "lies in its project, and this directory is in none".to_owned(),
    })]
    WorkElsewhere {
        /// The task.
        task: CaseId,
        /// The commit with the work.
        commit: String,
        /// The project in which the command was given.
        project: Option<PathBuf>,
    },
    /// Files of the user are not as they were.
    #[error("{} not as reviewed: {}", if paths.len() == 1 { "a file is" } else { "files are" }, paths.join(", "))]
    FilesDiffer {
        /// Their paths.
        paths: Vec<String>,
    },
    /// Git took too long.
    #[error("`git {command}` took longer than {} s", limit.as_secs())]
    GitTooSlow {
        /// The git command.
        command: String,
        /// The limit in force.
        limit: Duration,
    },
    /// Git failed in a way we do not know.
    #[error("`git {command}` failed: {message}")]
    GitFailed {
        /// The git command.
        command: String,
        /// The first line of what it said.
        message: String,
    },
    /// Git answered something we cannot read.
    #[error("`git {command}` answered something unexpected")]
    GitUnreadable {
        /// The git command.
        command: String,
    },
    /// A file could not be read or written.
    #[error("cannot {doing}")]
    File {
        /// What was tried.
        doing: String,
        /// What the system says.
        #[source]
        source: io::Error,
    },
}

impl ChangeError {
    /// Returns the error for a file operation, described as in "cannot …".
    pub(crate) fn file(doing: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let doing = doing.into();
        move |source| Self::File { doing, source }
    }

    /// Returns what the user could try, one sentence each.
    #[must_use]
    pub fn hints(&self) -> Vec<String> {
        match self {
            Self::GitMissing | Self::GitTooOld { .. } => {
                vec!["Install git from your system's packages".to_owned()]
            }
            Self::NotARepository { .. } => vec![
                "Name the files to review, as in `tribunal review src`".to_owned(),
                "Or make it a repository with `git init`".to_owned(),
            ],
            Self::UnknownRevision { suggestion, .. } => suggestion
                .iter()
                .map(|name| format!("Did you mean `{name}`?"))
                .collect(),
            Self::AmbiguousRevision { names, .. } => {
                let named = names.iter().map(|name| format!("`{name}`"));
                let named: Vec<String> = named.collect();
                vec![format!(
                    "Name the one you mean in full: {}",
                    named.join(" or ")
                )]
            }
            Self::NoCommonHistory { is_shallow, .. } if *is_shallow => {
                vec!["The clone is shallow: get more of it with `git fetch --unshallow`".to_owned()]
            }
            Self::NoCommits => vec!["Review files by naming them, or `--staged`".to_owned()],
            Self::Unmerged => vec!["Resolve them, or review without `--staged`".to_owned()],
            Self::PathMatchesNothing { hint, .. } if !hint.is_empty() => vec![hint.clone()],
            Self::ObjectMissing { .. } => {
                vec!["It may have been pruned; start the review again".to_owned()]
            }
            Self::NoWorkingTree => vec!["Use `--commit REV` or `--base REV`".to_owned()],
            Self::NoTree => vec!["Review in the repository that the patch is for".to_owned()],
            Self::NothingToStartFrom => {
                vec!["Commit something first: `git add . && git commit -m begin`".to_owned()]
            }
            Self::BranchTaken { branch } => {
                vec![format!(
                    "Remove it with `git branch -D {branch}`, or take the patch"
                )]
            }
            Self::BranchCheckedOut { at, .. } => vec![
                format!(
                    "Check out another branch there: `git -C {} switch main`",
                    at.display()
                ),
                "Or collect approved work elsewhere: `--set run.branch=NAME` or in the config"
                    .to_owned(),
            ],
            Self::BranchBusy { .. } => vec!["Nothing is lost; try again".to_owned()],
            Self::MergeRefused { .. } => vec![
                "Commit or stash your changes, or merge the branch yourself with `git merge`"
                    .to_owned(),
            ],
            Self::WorkElsewhere { .. } => vec![
                "Nothing was changed; give the command in the project, or add `-C PROJECT`"
                    .to_owned(),
            ],
            Self::FilesDiffer { .. } => {
                vec!["Nothing was changed; merge the offered branch instead".to_owned()]
            }
            Self::BrokenRepository { .. }
            | Self::NoCommonHistory { .. }
            | Self::PathMatchesNothing { .. }
            | Self::PathOutside { .. }
            | Self::BadGlob { .. }
            | Self::EmptyPatch
            | Self::NoFiles
            | Self::TooLarge { .. }
            | Self::TargetExists { .. }
            | Self::GitTooSlow { .. }
            | Self::GitFailed { .. }
            | Self::GitUnreadable { .. }
            | Self::File { .. } => Vec::new(),
        }
    }
}
