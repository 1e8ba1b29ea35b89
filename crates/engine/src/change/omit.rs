//! Which files of a change are left out, and why.

use std::collections::{BTreeMap, BTreeSet};

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use tribunal_code::nature::Nature;
use tribunal_code::place;
use tribunal_core::review::coverage::{LeftOut, Omission};

use super::attributes::{self, Attributes};
use super::listing::{Entry, Kind};
use super::names;
use super::repository::Repository;
use super::settled::is_plain;
use super::{ChangeError, Pinned, blobs};

/// The files that the config says to ignore.
pub(super) struct Ignored {
    globs: Gitignore,
}

impl Ignored {
    /// Reads globs written as in a `.gitignore`.
    pub(super) fn new(globs: &[String]) -> Result<Self, ChangeError> {
        let mut builder = GitignoreBuilder::new("");
        for glob in globs {
            let bad = |error: ignore::Error| ChangeError::BadGlob {
                glob: glob.clone(),
                reason: error.to_string(),
            };
            builder.add_line(None, glob).map_err(bad)?;
        }
        let globs = builder.build().map_err(|error| ChangeError::BadGlob {
            glob: globs.join(", "),
            reason: error.to_string(),
        })?;
        Ok(Self { globs })
    }

    pub(super) fn contains(&self, path: &str) -> bool {
        let matched = self.globs.matched_path_or_any_parents(path, false);
        matched.is_ignore()
    }
}

/// A file whose name is no reason to leave it out.
pub(super) struct Kept<'a> {
    pub(super) path: &'a str,
    pub(super) old_path: Option<&'a str>,
    /// Whether `.gitattributes` calls it binary.
    pub(super) is_binary: bool,
    /// Why nobody reviews it, although it is searched for what must not be in any file.
    pub(super) excused: Option<LeftOut>,
}

/// All that decides whether a file is left out before its content is read.
pub(super) struct Rules {
    ignored: Ignored,
    attributes: BTreeMap<Vec<u8>, Attributes>,
    is_whole: bool,
    /// Of the files whose name makes them somebody else's, those that the settled side has; nothing
    /// where that side is the one before the change.
    settled: Option<BTreeSet<String>>,
}

impl Rules {
    /// Returns the rules for the files of a change.
    ///
    /// Attributes come from before the change, so that a change cannot hide itself. They are also
    /// read for the files that links of the change lead to.
    pub(super) fn new<'a>(
        repo: &Repository,
        pinned: &Pinned,
        entries: &'a [Entry],
        linked: impl Iterator<Item = &'a [u8]>,
    ) -> Result<Self, ChangeError> {
        let before = pinned.settled.as_deref().or(pinned.base.as_deref());
        let tree = match pinned.whole_files {
            true => before.or(pinned.head.as_deref()),
            false => before,
        };
        let paths = entries.iter().map(|entry| entry.path.as_slice());
        let paths: Vec<&[u8]> = paths.chain(linked).collect();
        let attributes = match tree {
            Some(tree) => attributes::read(repo, tree, &paths)?,
            None => BTreeMap::new(),
        };
        Ok(Self {
            ignored: Ignored::new(&pinned.ignore)?,
            attributes,
            is_whole: pinned.whole_files,
            settled: settled_claims(repo, pinned, entries)?,
        })
    }

    /// Returns the paths of a file, or why it is left out by its name, kind or attributes.
    pub(super) fn paths<'a>(&self, entry: &'a Entry) -> Result<Kept<'a>, LeftOut> {
        let shown = String::from_utf8_lossy(&entry.path);
        let Ok(path) = str::from_utf8(&entry.path) else {
            return Err(left_out(
                &shown,
                Omission::Unreadable,
                "its name is not UTF-8",
            ));
        };
        let Ok(old_path) = entry.old_path.as_deref().map(str::from_utf8).transpose() else {
            let detail = "its former name is not UTF-8";
            return Err(left_out(path, Omission::Unreadable, detail));
        };
        if self.ignored.contains(path) {
            return Err(left_out(path, Omission::Ignored, ""));
        }
        if names::is_own(path) {
            return Err(own(path, entry));
        }
        if let Some(why) = kind_omission(entry) {
            return Err(self.other_kind(path, why, entry));
        }
        // What was in a file of keys is still secret when the file is called otherwise.
        if old_path.is_some_and(names::may_hold_credentials) {
            return Err(left_out(path, Omission::Credentials, ""));
        }
        let mut excused = match names::omission(path) {
            Some(why) if is_gone(entry) => {
                return Err(left_out(path, Omission::Deleted, why.phrase()));
            }
            Some(why) if self.was_so_before(why, entry, old_path) => Some(left_out(path, why, "")),
            // A new file is not vendored because the change says so: it is read like any other.
            Some(_) | None => None,
        };
        let attributes = self
            .attributes
            .get(&entry.path)
            .copied()
            .unwrap_or_default();
        if let Some((why, detail)) = attribute_omission(attributes) {
            let is_stronger = why == Omission::Credentials;
            excused = excused.filter(|_| !is_stronger);
            excused = excused.or_else(|| Some(left_out(path, why, detail)));
        }
        // Keys are given to nobody, and what is gone cannot be searched.
        match excused {
            Some(left) if is_secret(&left) || is_gone(entry) => Err(left),
            excused => Ok(Kept {
                path,
                old_path,
                is_binary: attributes.is_binary,
                excused,
            }),
        }
    }

    /// Tells whether the settings say to ignore a file.
    pub(super) fn is_ignored(&self, path: &str) -> bool {
        self.ignored.contains(path)
    }

    /// Tells whether git stores a file encrypted.
    pub(super) fn is_encrypted(&self, path: &str) -> bool {
        let attributes = self.attributes.get(path.as_bytes());
        attributes.is_some_and(|attributes| attributes.is_encrypted)
    }

    /// Tells whether a file has the same excuse for not being reviewed under both names.
    pub(super) fn excuses_alike(&self, path: &str, other: &str) -> bool {
        let attributes = self.attributes.get(path.as_bytes()).copied();
        let attributes = attributes.unwrap_or_default();
        names::omission(path) == names::omission(other)
            && attribute_omission(attributes).is_none()
            && !attributes.is_binary
    }

    /// Tells whether the name of a file said before the change what it says now.
    ///
    /// What keys and lists of versions are, nobody has to say; what is somebody else's code, or
    /// that of a program, the change could say of anything.
    fn was_so_before(&self, why: Omission, entry: &Entry, old_path: Option<&str>) -> bool {
        let is_claim = matches!(why, Omission::Vendored | Omission::Generated);
        let was = match old_path {
            Some(old) => names::omission(old) == Some(why),
            None => entry.old.kind() == Kind::File,
        };
        let former = old_path.map_or(entry.path.as_slice(), str::as_bytes);
        let settled = self.settled.as_ref();
        // An earlier commit of the branch could have said it, too.
        let is_settled = settled.is_none_or(|all| {
            let former = str::from_utf8(former);
            former.is_ok_and(|former| all.contains(former))
        });
        !is_claim || self.is_whole || (was && is_settled)
    }

    fn other_kind(&self, path: &str, why: Omission, entry: &Entry) -> LeftOut {
        if is_gone(entry) {
            return left_out(path, Omission::Deleted, why.phrase());
        }
        let is_new = why == Omission::Submodule && entry.old.kind() != Kind::Submodule;
        LeftOut {
            claimed: is_new && !self.is_whole,
            ..left_out(path, why, "")
        }
    }
}

/// Returns which of the files that a name calls somebody else's the settled side has; nothing where the
/// side before the change is the settled one.
fn settled_claims(
    repo: &Repository,
    pinned: &Pinned,
    entries: &[Entry],
) -> Result<Option<BTreeSet<String>>, ChangeError> {
    let Some(settled) = settled_apart(pinned) else {
        return Ok(None);
    };
    let former = entries
        .iter()
        .map(|entry| entry.old_path.as_deref().unwrap_or(&entry.path));
    let former = former.filter_map(|path| str::from_utf8(path).ok());
    let is_claim = |path: &&str| {
        let why = names::omission(path);
        matches!(why, Some(Omission::Vendored | Omission::Generated)) && is_plain(path)
    };
    let paths: Vec<&str> = former.filter(is_claim).collect();
    let names: Vec<String> = paths
        .iter()
        .map(|path| format!("{settled}:{path}"))
        .collect();
    let kinds = blobs::kinds(repo, &names)?;
    let there = paths.iter().zip(kinds);
    let there = there.filter(|(_, kind)| kind.as_deref() == Some("blob"));
    Ok(Some(there.map(|(path, _)| (*path).to_owned()).collect()))
}

/// Returns the settled side of a change, where it is not the one before the change.
pub(super) fn settled_apart(pinned: &Pinned) -> Option<&str> {
    let settled = pinned.settled.as_deref()?;
    let is_apart = !pinned.whole_files && pinned.base.as_deref() != Some(settled);
    is_apart.then_some(settled)
}

/// Tells whether a file is left out as one that holds keys, whatever is in it.
fn is_secret(left: &LeftOut) -> bool {
    let by_attribute = !left.detail.is_empty();
    left.why == Omission::Credentials && (by_attribute || !names::content_decides(&left.path))
}

fn is_gone(entry: &Entry) -> bool {
    entry.new.kind() == Kind::Missing
}

/// Returns the note about a file of Tribunal. Nobody gets to see it; a program among them excuses
/// itself with its place, which does not count.
fn own(path: &str, entry: &Entry) -> LeftOut {
    let is_file = matches!(entry.new.kind(), Kind::File | Kind::Missing);
    let may_run = entry.new.mode & 0o111 != 0 && entry.new.kind() == Kind::File;
    let nature = Nature::of(path, "");
    let is_plain = nature.is_prose_or_data() || matches!(nature, Nature::Config(_));
    LeftOut {
        claimed: !is_gone(entry) && (!is_file || may_run || !is_plain),
        ..left_out(path, Omission::Own, "")
    }
}

/// Returns the note about a file that is left out.
pub(super) fn left_out(path: &str, why: Omission, detail: impl Into<String>) -> LeftOut {
    LeftOut {
        path: path.to_owned(),
        why,
        detail: detail.into(),
        claimed: false,
    }
}

/// Returns the note about a file beyond the limit on their number.
pub(super) fn too_many(path: &str, limit: usize) -> LeftOut {
    let detail = format!("the change has more than {limit} files");
    left_out(path, Omission::TooMany, detail)
}

/// Tells whether a program wrote the file and a change may not have said so first.
///
/// `base` is the text before the change. Whole files have none; the settled side speaks for them.
pub(super) fn is_generated(is_whole: bool, base: Option<&str>, new: Option<&str>) -> bool {
    match (base, new) {
        (Some(base), Some(new)) => place::is_generated(base) && place::is_generated(new),
        (Some(base), None) => place::is_generated(base),
        (None, Some(new)) => is_whole && place::is_generated(new),
        (None, None) => false,
    }
}

fn kind_omission(entry: &Entry) -> Option<Omission> {
    let kinds = [entry.new.kind(), entry.old.kind()];
    // What it is now counts; what it was, only if it is gone.
    let kind = kinds.into_iter().find(|kind| *kind != Kind::Missing)?;
    match kind {
        Kind::Link => Some(Omission::Symlink),
        Kind::Submodule => Some(Omission::Submodule),
        Kind::File | Kind::Missing => None,
    }
}

fn attribute_omission(attributes: Attributes) -> Option<(Omission, &'static str)> {
    if attributes.is_encrypted {
        Some((Omission::Credentials, "stored encrypted"))
    } else if attributes.is_vendored {
        Some((Omission::Vendored, "by `.gitattributes`"))
    } else if attributes.is_generated {
        Some((Omission::Generated, "by `.gitattributes`"))
    } else {
        None
    }
}
