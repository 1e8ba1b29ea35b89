//! Chooses what is reviewed and gives all of it an id.

use tribunal_core::review::coverage::{LeftOut, Omission};

use super::listing::{self, Kind};
use super::omit::left_out;
use super::paths;
use super::repository::Repository;
use super::revision::{self, Other};
use super::snapshot::{self, Snapshot};
use super::take::Intake;
use super::{ChangeError, ChangeRequest, ChangeSource, Empty, Pinned, patch};

/// Chooses what `request` asks for; what has no id yet is stored in our repository.
///
/// # Errors
///
/// A name or a path means nothing, or git fails.
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
            empty: None,
            moved_is_new: false,
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
            let nothing = unread.unwrap_or_else(|| self.blank("uncommitted work"));
            return self.empty(nothing, "the repository has no commits yet", &[]);
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
        let mut pinned = self.blank("uncommitted work");
        pinned.left_out = self.submodules(&head)?;
        (pinned.base, pinned.head) = (Some(head.clone()), Some(head));
        let reason = "no uncommitted work, and the branch has nothing of its own";
        self.empty(pinned, reason, &hints)
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
        let mut pinned = self.uncommitted_pin()?;
        if self.differs(&pinned)? || !pinned.left_out.is_empty() {
            return Ok(pinned);
        }
        if let Some(head) = &pinned.base {
            pinned.left_out = self.submodules(head)?;
        }
        let hint = "Review the last commit with `--commit HEAD`";
        self.empty(pinned, "no uncommitted work", &[hint])
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
        self.empty(pinned, "nothing is staged", &[hint])
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
            return self.empty(pinned, &reason, &[]);
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
        self.empty(pinned, &reason, &[])
    }

    fn patch(&self, bytes: &[u8]) -> Result<Pinned, ChangeError> {
        // `git diff` prints nothing when nothing changed.
        if bytes.trim_ascii().is_empty() {
            return self.empty(self.blank("a patch"), "the patch is empty", &[]);
        }
        let pinned = patch::pin(self.repo, self.blank("a patch"), bytes)?;
        if pinned.loose_patch.is_some() || self.differs(&pinned)? {
            return Ok(pinned);
        }
        self.empty(pinned, "the patch changes no file", &[])
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

    /// Returns the submodules that are checked out: what is being typed there is not looked at, so
    /// nobody can say that nothing changed.
    fn submodules(&self, head: &str) -> Result<Vec<LeftOut>, ChangeError> {
        let nothing = self.repo.format.empty_tree();
        let entries = listing::compare(self.repo, nothing, head, &self.paths)?;
        let modules = entries
            .iter()
            .filter(|entry| entry.new.kind() == Kind::Submodule);
        let paths = modules.map(|entry| String::from_utf8_lossy(&entry.path));
        let root = self.repo.root();
        let filled = paths.filter(|path| root.join(&**path).join(".git").exists());
        let detail = "work inside it is not looked at";
        Ok(filled
            .map(|path| left_out(&path, Omission::Submodule, detail))
            .collect())
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
                false => Err(ChangeError::NoFiles),
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

    /// Returns a change without a file, which needs no reviewer. A path that names nothing at all
    /// is a mistake all the same.
    fn empty(
        &self,
        mut pinned: Pinned,
        reason: &str,
        hints: &[&str],
    ) -> Result<Pinned, ChangeError> {
        let mut reason = reason.to_owned();
        if !self.paths.is_empty() {
            self.check_known(&pinned)?;
            reason.push_str(" below the given paths");
        }
        pinned.empty = Some(Empty {
            reason,
            hints: hints.iter().map(ToString::to_string).collect(),
        });
        Ok(pinned)
    }

    /// Fails if a path that was typed exists neither in the working tree nor on a side of the change.
    fn check_known(&self, pinned: &Pinned) -> Result<(), ChangeError> {
        let root = self.repo.root();
        for path in &self.paths {
            if root.join(path).exists() {
                continue;
            }
            let nothing = self.repo.format.empty_tree();
            let sides = [pinned.base.as_deref(), pinned.head.as_deref()];
            let mut is_known = false;
            for side in sides.into_iter().flatten() {
                let scope = std::slice::from_ref(path);
                is_known |= !listing::compare(self.repo, nothing, side, scope)?.is_empty();
            }
            if !is_known {
                return Err(ChangeError::PathMatchesNothing {
                    path: path.clone(),
                    hint: paths::why_nothing(root, path),
                });
            }
        }
        Ok(())
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
