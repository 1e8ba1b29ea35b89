//! Chooses what is reviewed and gives all of it an id.

use std::collections::BTreeSet;

use tribunal_core::review::coverage::{LeftOut, Omission};

use super::listing::{self, Entry, Kind};
use super::names;
use super::omit::{Ignored, left_out};
use super::paths;
use super::repository::Repository;
use super::revision::{self, Other};
use super::settled::settled;
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
    let mut pinned = match &request.source {
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
    }?;
    pinned.settled = settled_side(repo, &request.source, &pinned)?;
    Ok(pinned)
}

/// Returns whose files decide about what was chosen. Whoever names a base means that one.
fn settled_side(
    repo: &Repository,
    source: &ChangeSource,
    pinned: &Pinned,
) -> Result<Option<String>, ChangeError> {
    let base = pinned.base.clone();
    if !repo.is_versioned() || matches!(source, ChangeSource::Base(_)) {
        return Ok(base);
    }
    let Some(head) = revision::head(repo)? else {
        return Ok(base);
    };
    match (source, base) {
        (ChangeSource::Files, _) => settled(repo, &head).map(Some),
        // A patch that is part of HEAD has a tree for its base, without a history.
        (ChangeSource::Patch(_) | ChangeSource::PatchText(_), Some(base)) if base != head => {
            let settled = settled(repo, &head)?;
            Ok(Some(if settled == head { base } else { settled }))
        }
        (_, Some(base)) => settled(repo, &base).map(Some),
        (_, None) => Ok(None),
    }
}

/// Tells whether a file has its former content under another name to which the same rules apply.
fn is_only_renamed(entry: &Entry) -> bool {
    let Some(old_path) = &entry.old_path else {
        return false;
    };
    let ending = |path: &[u8]| {
        let name = path.rsplit(|byte| *byte == b'/').next()?;
        let dot = name.iter().rposition(|byte| *byte == b'.')?;
        Some(name[dot..].to_ascii_lowercase())
    };
    let same_ending = ending(old_path).is_some() && ending(old_path) == ending(&entry.path);
    entry.old.id == entry.new.id && entry.old.mode == entry.new.mode && same_ending
}

/// What a review of the index is called.
pub(crate) const STAGED_TITLE: &str = "staged changes";

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
            settled: None,
            head: None,
            whole_files: false,
            loose_patch: None,
            paths: self.paths.clone(),
            limits: self.request.limits,
            ignore: self.request.ignore.clone(),
            left_out: Vec::new(),
            partly_left_out: Vec::new(),
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
            // The files are as they were, and the next commit would not be.
            if !pinned.partly_left_out.is_empty() {
                return self.staged();
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
            let mut named = Vec::new();
            for path in &self.paths {
                match paths::repository_around(root, path) {
                    None if root.join(path).is_file() => named.push(path.clone()),
                    Some(folder) if !self.is_submodule(folder)? => {
                        named.extend(paths::files_below(root, path));
                    }
                    None | Some(_) => {}
                }
            }
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
        if self.differs(&pinned)? {
            return Ok(pinned);
        }
        if !pinned.partly_left_out.is_empty() {
            return self.staged();
        }
        if !pinned.left_out.is_empty() {
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
        pinned.partly_left_out = self.staged_apart(&pinned)?;
        Ok(pinned)
    }

    /// Returns the files whose staged content is neither that of the last commit nor that of the
    /// working tree: the next commit would hold it, and the files do not show it.
    fn staged_apart(&self, pinned: &Pinned) -> Result<Vec<LeftOut>, ChangeError> {
        let staged = match snapshot::staged(self.repo) {
            // Nothing can be committed before the conflicts are resolved in the files, nor from an
            // index that git cannot read.
            Err(ChangeError::Unmerged | ChangeError::GitFailed { .. }) => return Ok(Vec::new()),
            staged => staged?,
        };
        let nothing = self.repo.format.empty_tree();
        let base = pinned.base.as_deref().unwrap_or(nothing);
        let head = pinned.head.as_deref().unwrap_or(nothing);
        let changed = listing::compare(self.repo, base, &staged, &self.paths)?;
        if changed.is_empty() {
            return Ok(Vec::new());
        }
        let mut apart: BTreeSet<Vec<u8>> = BTreeSet::new();
        for entry in listing::compare(self.repo, &staged, head, &self.paths)? {
            apart.insert(entry.path);
            apart.extend(entry.old_path);
        }
        let ignored = Ignored::new(&self.request.ignore)?;
        let changed = changed.into_iter().filter(|entry| {
            let is_apart = apart.contains(entry.path.as_slice());
            entry.new.kind() != Kind::Missing && is_apart && !is_only_renamed(entry)
        });
        let names = changed.map(|entry| String::from_utf8_lossy(&entry.path).into_owned());
        let names = names.filter(|path| !ignored.contains(path) && !names::is_own(path));
        Ok(names
            .map(|path| left_out(&path, Omission::PartlyStaged, ""))
            .collect())
    }

    fn staged(&self) -> Result<Pinned, ChangeError> {
        self.repo.versioned()?;
        let mut pinned = self.blank(STAGED_TITLE);
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
        let is_read = pinned.loose_patch.is_some() || !pinned.left_out.is_empty();
        if is_read || self.differs(&pinned)? {
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

    /// Tells whether the last commit has a submodule at this path.
    fn is_submodule(&self, path: &str) -> Result<bool, ChangeError> {
        let head = match self.repo.found {
            Some(_) => revision::head(self.repo)?,
            None => None,
        };
        let Some(head) = head else {
            return Ok(false);
        };
        let (nothing, scope) = (self.repo.format.empty_tree(), [path.to_owned()]);
        let entries = listing::compare(self.repo, nothing, &head, &scope)?;
        Ok(entries
            .iter()
            .any(|entry| entry.new.kind() == Kind::Submodule))
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
