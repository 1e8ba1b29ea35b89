//! A disposable place in which an agent may write, and what becomes of what it wrote.
//!
//! The place lies outside of the user's tree. Files are written as for reviewers (see `checkout`):
//! no filter runs, no credentials are there, and no link leads out. The agent gets a repository of
//! its own with one commit, so that it can look at its work and even commit; it has neither the
//! history nor the settings of the user's. What counts in the end are the files: they are
//! stored raw, by a git directory of ours that lies beside them.

mod apply;
mod collect;
mod publish;
mod remove;
mod sweep;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tribunal_core::time::Timestamp;

use crate::change::checkout::{FileChoice, Written, index_info, write_tree};
use crate::change::git::Call;
use crate::change::listing::Kind;
use crate::change::{AgentFiles, ChangeError, Known, Pinned, Repository, tree_of};
use crate::files::{create_private_dir, write_in_place};
use crate::git_dir::make_git_dir;

pub use apply::{apply, in_the_way, is_applied};
pub use collect::{Collected, TouchedFile};
pub(crate) use publish::{advance, check_free, hand_over, publish_more, remove_branch};
pub use publish::{branch_commit, patch, publish, touched};
pub(crate) use publish::{file_at, touched_files};
pub use remove::remove_tree;
pub(crate) use sweep::is_new;

/// How long making a place or storing its files may take.
const TIME_LIMIT: Duration = Duration::from_secs(300);

/// Files are stored as they are, whatever the attributes of a stranger's tree say.
const RAW: &str = "* -text -filter -ident !eol !working-tree-encoding\n";

/// The file that stands in a place whose index lists all that the start has.
const WHOLE: &str = "whole";

/// A directory for an agent that writes.
#[derive(Debug)]
pub struct Worktree {
    repo: Repository,
    place: PathBuf,
    start: String,
    agent_files: AgentFiles,
}

/// Who wrote something, and what they say about it.
#[derive(Debug, Clone, Copy)]
pub struct Signature<'a> {
    /// The author's name.
    pub author: &'a str,
    /// What was done; the first line is the title.
    pub message: &'a str,
    /// When. The same work signed at the same time is the same commit.
    pub at: Timestamp,
}

/// Returns the commit to start from: that of the change, or one made of an uncommitted tree.
///
/// A plain directory and the first work of a repository have no commit before them.
///
/// # Errors
///
/// The change has no tree, as a patch without a repository, or it cannot be stored.
pub fn start_of(
    repo: &Repository,
    pinned: &Pinned,
    signature: Signature<'_>,
) -> Result<String, ChangeError> {
    let head = pinned.head.as_deref().ok_or(ChangeError::NoTree)?;
    if kind_of(repo, head)?.as_deref() == Some("commit") {
        return Ok(head.to_owned());
    }
    let parent = match pinned.base.as_deref() {
        Some(base) if kind_of(repo, base)?.as_deref() == Some("commit") => Some(base),
        _ => None,
    };
    commit(repo, head, parent, signature)
}

impl Worktree {
    /// Makes the place `place` with the files of the commit `start`, or takes up the one that an
    /// interrupted run left there, with all that was written in it.
    ///
    /// # Errors
    ///
    /// An object was pruned, or a file cannot be written.
    pub fn create(
        repo: &Repository,
        place: &Path,
        start: &str,
        agent_files: AgentFiles,
    ) -> Result<Self, ChangeError> {
        let worktree = Self {
            repo: repo.clone(),
            place: place.to_owned(),
            start: start.to_owned(),
            agent_files,
        };
        let doing = || ChangeError::file(format!("make `{}`", place.display()));
        if fs::read_to_string(place.join("start")).is_ok_and(|text| text == start) {
            return Ok(worktree);
        }
        remove_tree(place).map_err(doing())?;
        let parent = place.parent().unwrap_or(Path::new("/"));
        create_private_dir(parent).map_err(doing())?;
        let new = tempfile::Builder::new()
            .prefix(".worktree-")
            .tempdir_in(parent)
            .map_err(doing())?;
        worktree.furnish(new.path())?;
        tribunal_store::crashpoint!("worktree.rename.before");
        fs::rename(new.keep(), place).map_err(doing())?;
        tribunal_store::crashpoint!("worktree.rename.after");
        Ok(worktree)
    }

    /// Returns the directory in which the agent works.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.place.join("tree")
    }

    /// Returns the commit whose files were written.
    #[must_use]
    pub fn start(&self) -> &str {
        &self.start
    }

    /// Removes the place with all that is in it.
    ///
    /// # Errors
    ///
    /// Something cannot be removed even after asking for the right to.
    pub fn discard(self) -> Result<(), ChangeError> {
        let doing = ChangeError::file(format!("remove `{}`", self.place.display()));
        remove_tree(&self.place).map_err(doing)
    }

    /// Writes all that belongs to the place.
    fn furnish(&self, place: &Path) -> Result<(), ChangeError> {
        let tree = place.join("tree");
        let doing = || ChangeError::file(format!("write `{}`", tree.display()));
        create_private_dir(&tree).map_err(doing())?;
        let choice = FileChoice::for_writers(&self.repo, &self.start, self.agent_files)?;
        let written = write_tree(&self.repo, &self.start, &tree, &choice)?;
        make_git_dir(&place.join("keep"), self.repo.format, Some(RAW)).map_err(doing())?;
        let mut withheld = written.withheld.join(&0);
        if !withheld.is_empty() {
            withheld.push(0);
        }
        write_in_place(&place.join("withheld"), &withheld).map_err(doing())?;

        let (listed, is_whole) = listed(&written);
        let update = |args: &[&str], input| {
            let call = self.call(place).limit(TIME_LIMIT).args(["update-index"]);
            call.args(args).input(input)
        };
        update(&["-z", "--index-info"], listed).output()?;
        // Its answer says what differs; nothing does, and if so, collecting looks again.
        let _ = update(&["-q", "--refresh"], Vec::new()).answer()?;
        let shown = match is_whole {
            true => tree_of(&self.repo, &self.start)?,
            false => {
                let call = self.call(place).args(["write-tree", "--missing-ok"]);
                call.line()?
            }
        };
        self.give_repository(place, &shown)?;
        if is_whole {
            write_in_place(&place.join(WHOLE), b"").map_err(doing())?;
        }
        write_in_place(&place.join("start"), self.start.as_bytes()).map_err(doing())
    }

    /// Tells whether the index of the place lists all that the start has.
    fn is_whole(&self) -> bool {
        self.place.join(WHOLE).exists()
    }

    /// Gives the agent a repository with one commit: what it was given.
    fn give_repository(&self, place: &Path, shown: &str) -> Result<(), ChangeError> {
        let signature = Signature {
            author: "Tribunal",
            message: "The files as they were handed over\n",
            at: Timestamp(0),
        };
        let commit = commit(&self.repo, shown, None, signature)?;
        let dot_git = place.join("tree/.git");
        let doing = || ChangeError::file(format!("make `{}`", dot_git.display()));
        make_git_dir(&dot_git, self.repo.format, None).map_err(doing())?;
        // Git makes a pack where new objects go and renames it then, which works on one file system
        // only. So the new repository is where they go, and ours is only read.
        let call = self.repo.call().limit(TIME_LIMIT);
        let call = call.objects(&dot_git.join("objects"));
        let call = call.borrowing(&self.repo.own.join("objects"));
        let call = call.args(["pack-objects", "--revs", "-q"]);
        let pack = dot_git.join("objects/pack/pack");
        call.args([pack.as_os_str()])
            .input(format!("{commit}\n").into_bytes())
            .output()?;
        let write =
            |name: &str, bytes: &[u8]| write_in_place(&dot_git.join(name), bytes).map_err(doing());
        write("refs/heads/main", format!("{commit}\n").as_bytes())?;
        let index = fs::read(place.join("keep/index")).map_err(doing())?;
        write("index", &index)
    }

    /// Returns a call on the files of the place, with our git directory and our objects.
    fn call(&self, place: &Path) -> Call<'_> {
        let keep = place.join("keep");
        let call = self.repo.git.on(&keep).work_tree(&place.join("tree"));
        let call = call.objects(&self.repo.own.join("objects"));
        call.index(&keep.join("index"))
    }
}

/// Returns what was written as `update-index --index-info` reads it, and whether that is all.
fn listed(written: &Written) -> (Vec<u8>, bool) {
    // Of nothing, git makes no index.
    let is_whole = written.withheld.is_empty()
        && !written.entries.is_empty()
        && written
            .entries
            .iter()
            .all(|entry| entry.new.kind() != Kind::Submodule);
    (index_info(&written.entries), is_whole)
}

/// Returns what kind of object this is; nothing when it is not there.
pub(crate) fn kind_of(repo: &Repository, id: &str) -> Result<Option<String>, ChangeError> {
    repo.call().args(["cat-file", "-t", id]).answer()
}

/// Stores a commit in our repository.
pub(crate) fn commit(
    repo: &Repository,
    tree: &str,
    parent: Option<&str>,
    signature: Signature<'_>,
) -> Result<String, ChangeError> {
    let name: String = signature
        .author
        .chars()
        .filter(|c| !c.is_control() && !matches!(c, '<' | '>'))
        .take(60)
        .collect();
    let name = match name.trim() {
        "" => "Tribunal",
        name => name,
    };
    let seconds = signature.at.0 / 1000;
    let mut text = format!("tree {tree}\n");
    if let Some(parent) = parent {
        let _ = writeln!(text, "parent {parent}");
    }
    for who in ["author", "committer"] {
        let _ = writeln!(
            text,
            "{who} {name} <coder@tribunal.invalid> {seconds} +0000"
        );
    }
    let message: String = signature
        .message
        .chars()
        .filter(|c| *c == '\n' || !c.is_control())
        .collect();
    let _ = write!(text, "\n{}\n", message.trim());
    let call = repo
        .call()
        .args(["hash-object", "-t", "commit", "-w", "--stdin"]);
    let commit = call.input(text.into_bytes()).line()?;
    let known = Known {
        tree: tree.to_owned(),
        parent: parent.map(str::to_owned),
    };
    repo.keep_known(&commit, known);
    Ok(commit)
}
