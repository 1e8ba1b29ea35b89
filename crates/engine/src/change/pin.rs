//! Chooses what is reviewed and gives all of it an id.

use super::listing;
use super::paths;
use super::repository::Repository;
use super::revision::{self, Other};
use super::snapshot::{self, Snapshot};
use super::take::Intake;
use super::{ChangeError, ChangeRequest, ChangeSource, Pinned, patch};

/// Chooses what `request` asks for; what has no id yet is stored in our repository.
///
/// # Errors
///
/// There is nothing to review, a name means nothing, or git fails.
pub fn pin(repo: &Repository, request: &ChangeRequest) -> Result<Pinned, ChangeError> {
    let doing = format!("enter `{}`", request.directory.display());
    let directory = request.directory.canonicalize();
    let directory = directory.map_err(ChangeError::file(doing))?;
    let wanted = Wanted {
        repo,
        paths: paths::resolve(repo.root(), &directory, &request.paths)?,
        intake: Intake::new(request.limits, &request.ignore)?,
        request,
    };
    match &request.source {
        ChangeSource::Default => wanted.default(),
        ChangeSource::Files => wanted.files(),
        ChangeSource::Uncommitted => wanted.uncommitted(),
        ChangeSource::Staged => wanted.staged(),
        ChangeSource::Base(revision) => wanted.since(revision),
        ChangeSource::Commit(revision) => wanted.commit(revision),
        ChangeSource::Patch(path) => {
            let bytes = patch::load(&directory.join(path))?;
            wanted.patch(&bytes)
        }
        ChangeSource::PatchText(bytes) => wanted.patch(bytes),
    }
}

/// A request whose paths are understood.
struct Wanted<'a> {
    repo: &'a Repository,
    request: &'a ChangeRequest,
    paths: Vec<String>,
    intake: Intake,
}

impl Wanted<'_> {
    fn blank(&self, title: impl Into<String>) -> Pinned {
        Pinned {
            title: title.into(),
            base: None,
            head: None,
            whole_files: false,
            loose_patch: None,
            paths: self.paths.clone(),
            limits: self.request.limits,
            ignore: self.request.ignore.clone(),
            left_out: Vec::new(),
        }
    }

    fn default(&self) -> Result<Pinned, ChangeError> {
        let found = self.repo.versioned()?;
        let mut unread = None;
        if found.work_tree.is_some() {
            let pinned = self.uncommitted_pin()?;
            if self.differs(&pinned)? {
                return Ok(pinned);
            }
            unread = Some(pinned).filter(|pinned| !pinned.left_out.is_empty());
        }
        let Some(head) = revision::head(self.repo)? else {
            return Err(self.nothing("the repository has no commits yet", &[]));
        };
        for other in revision::others(self.repo)? {
            let base = match revision::merge_base(self.repo, &other, &head) {
                // An unrelated branch is no reason to give up on the next.
                Err(ChangeError::NoCommonHistory { .. }) => continue,
                base => base?,
            };
            let mut pinned = self.blank(self.against(&other.name)?);
            (pinned.base, pinned.head) = (Some(base), Some(head.clone()));
            if self.differs(&pinned)? {
                return Ok(pinned);
            }
        }
        // Work that nobody may read is still work: the review will say that it saw nothing of it.
        if let Some(pinned) = unread {
            return Ok(pinned);
        }
        let hints = [
            "Name files to review them as a whole, as in `tribunal review src`",
            "Review the last commit with `--commit HEAD`",
            "Review what came after a revision with `--base REV`",
        ];
        let reason = "no uncommitted work, and the branch has nothing of its own";
        Err(self.nothing(reason, &hints))
    }

    fn files(&self) -> Result<Pinned, ChangeError> {
        let mut pinned = self.blank(title_of(&self.request.paths));
        pinned.whole_files = true;
        if self.repo.work_tree().is_ok() {
            let root = self.repo.root();
            let is_file = |path: &&String| {
                root.join(path).is_file() && paths::repository_around(root, path).is_none()
            };
            let named: Vec<String> = self.paths.iter().filter(is_file).cloned().collect();
            self.fill(
                &mut pinned,
                snapshot::take(self.repo, &self.intake, &self.paths, &named)?,
            );
        } else {
            let head = revision::head(self.repo)?.ok_or(ChangeError::NoCommits)?;
            pinned.head = Some(head);
        }
        self.check_paths(&pinned)?;
        Ok(pinned)
    }

    fn uncommitted(&self) -> Result<Pinned, ChangeError> {
        self.repo.versioned()?;
        let pinned = self.uncommitted_pin()?;
        if self.differs(&pinned)? || !pinned.left_out.is_empty() {
            return Ok(pinned);
        }
        let hint = "Review the last commit with `--commit HEAD`";
        Err(self.nothing("no uncommitted work", &[hint]))
    }

    fn uncommitted_pin(&self) -> Result<Pinned, ChangeError> {
        let title = match revision::branch(self.repo)? {
            Some(branch) => format!("uncommitted work on {branch}"),
            None => "uncommitted work".to_owned(),
        };
        let mut pinned = self.blank(title);
        pinned.base = revision::head(self.repo)?;
        self.fill(
            &mut pinned,
            snapshot::take(self.repo, &self.intake, &self.paths, &[])?,
        );
        Ok(pinned)
    }

    fn staged(&self) -> Result<Pinned, ChangeError> {
        self.repo.versioned()?;
        let mut pinned = self.blank("staged changes");
        pinned.base = revision::head(self.repo)?;
        pinned.head = Some(snapshot::staged(self.repo)?);
        if self.differs(&pinned)? {
            return Ok(pinned);
        }
        let hint = "Stage files with `git add`, or review without `--staged`";
        Err(self.nothing("nothing is staged", &[hint]))
    }

    fn since(&self, revision: &str) -> Result<Pinned, ChangeError> {
        self.repo.versioned()?;
        let head = revision::head(self.repo)?.ok_or(ChangeError::NoCommits)?;
        let other = Other {
            name: revision.to_owned(),
            commit: revision::resolve(self.repo, revision)?,
        };
        let base = revision::merge_base(self.repo, &other, &head)?;
        let mut pinned = self.blank(self.against(revision)?);
        (pinned.base, pinned.head) = (Some(base), Some(head.clone()));
        if !self.differs(&pinned)? {
            let reason = format!("no commit of the branch came after `{revision}`");
            return Err(self.nothing(&reason, &[]));
        }
        // What is being typed is no part of what the revision was asked about; say so instead.
        if self.has_uncommitted_work(&head) {
            pinned.title.push_str(", without uncommitted work");
        }
        Ok(pinned)
    }

    fn commit(&self, revision: &str) -> Result<Pinned, ChangeError> {
        self.repo.versioned()?;
        let commit = revision::resolve(self.repo, revision)?;
        let short = commit.get(..10).unwrap_or(&commit);
        let mut pinned = self.blank(format!("commit {short}"));
        pinned.base = revision::parent(self.repo, &commit)?;
        pinned.head = Some(commit.clone());
        if self.differs(&pinned)? {
            return Ok(pinned);
        }
        let reason = format!("the commit {short} changes no file");
        Err(self.nothing(&reason, &[]))
    }

    fn patch(&self, bytes: &[u8]) -> Result<Pinned, ChangeError> {
        let pinned = patch::pin(self.repo, self.blank("a patch"), bytes)?;
        if pinned.loose_patch.is_some() || self.differs(&pinned)? {
            return Ok(pinned);
        }
        Err(self.nothing("the patch changes no file", &[]))
    }

    fn fill(&self, pinned: &mut Pinned, snapshot: Snapshot) {
        pinned.head = Some(snapshot.tree);
        pinned.left_out = snapshot.left_out;
        let is_inside = |path: &str| paths::is_within(&self.paths, path);
        // A directory stands for what is below it.
        pinned.left_out.retain(|left| {
            let folder = left.path.strip_suffix('/');
            is_inside(folder.unwrap_or(&left.path))
                || folder.is_some_and(|folder| {
                    let mut typed = self.paths.iter();
                    typed.any(|path| paths::is_within(&[folder.to_owned()], path))
                })
        });
    }

    fn against(&self, other: &str) -> Result<String, ChangeError> {
        let branch = revision::branch(self.repo)?;
        let branch = branch.unwrap_or_else(|| "HEAD".to_owned());
        Ok(format!("{branch} against {other}"))
    }

    fn has_uncommitted_work(&self, head: &str) -> bool {
        let Ok(snapshot) = snapshot::take(self.repo, &self.intake, &self.paths, &[]) else {
            return false;
        };
        revision::tree(self.repo, head).is_ok_and(|tree| tree != snapshot.tree)
    }

    fn differs(&self, pinned: &Pinned) -> Result<bool, ChangeError> {
        let nothing = self.repo.format.empty_tree();
        let base = pinned.base.as_deref().unwrap_or(nothing);
        let head = pinned.head.as_deref().unwrap_or(nothing);
        let entries = listing::compare(self.repo, base, head, &self.paths)?;
        Ok(!entries.is_empty())
    }

    /// Fails if a path that was typed names nothing.
    fn check_paths(&self, pinned: &Pinned) -> Result<(), ChangeError> {
        let nothing = self.repo.format.empty_tree();
        let head = pinned.head.as_deref().unwrap_or(nothing);
        let entries = listing::compare(self.repo, nothing, head, &self.paths)?;
        let mut found = entries
            .iter()
            .map(|entry| String::from_utf8_lossy(&entry.path));
        if self.paths.is_empty() {
            return match found.next().is_some() || !pinned.left_out.is_empty() {
                true => Ok(()),
                false => Err(self.nothing("there are no files", &[])),
            };
        }
        let found: Vec<_> = found.collect();
        for path in &self.paths {
            let scope = [path.clone()];
            let is_found = found.iter().any(|file| paths::is_within(&scope, file))
                || pinned.left_out.iter().any(|left| {
                    let name = left.path.trim_end_matches('/');
                    paths::is_within(&scope, name) || paths::is_within(&[name.to_owned()], path)
                });
            if !is_found {
                return Err(ChangeError::PathMatchesNothing {
                    path: path.clone(),
                    hint: paths::why_nothing(self.repo.root(), path),
                });
            }
        }
        Ok(())
    }

    fn nothing(&self, reason: &str, hints: &[&str]) -> ChangeError {
        let mut reason = reason.to_owned();
        if !self.paths.is_empty() {
            reason.push_str(" below the given paths");
        }
        ChangeError::NothingToReview {
            reason,
            hints: hints.iter().map(ToString::to_string).collect(),
        }
    }
}

/// Returns a few of the typed paths, for people.
fn title_of(paths: &[String]) -> String {
    const SHOWN: usize = 3;
    match paths {
        [] => "all files".to_owned(),
        _ if paths.len() <= SHOWN => paths.join(", "),
        _ => {
            let first: Vec<&str> = paths.iter().take(SHOWN).map(String::as_str).collect();
            format!("{} and {} more", first.join(", "), paths.len() - SHOWN)
        }
    }
}
