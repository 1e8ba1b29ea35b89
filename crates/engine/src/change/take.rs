//! Which files of the working tree are stored, and which are only noted.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use tribunal_core::review::coverage::{LeftOut, Omission};

use super::assets::{is_asset, opening_of};
use super::names;
use super::omit::{Ignored, left_out};
use super::{ChangeError, ChangeLimits};

/// How many changed files of one directory with somebody else's code are stored.
const MOST_VENDORED: usize = 200;

/// How large a file may be that is looked at because its name speaks of keys: a bundle of certificates.
const LARGEST_PUBLIC: u64 = 2 << 20;

/// Decides about files of the working tree.
pub(super) struct Intake {
    limits: ChangeLimits,
    ignored: Ignored,
}

/// What was decided.
#[derive(Default)]
pub(super) struct Taken {
    /// Files to store.
    pub(super) paths: Vec<Vec<u8>>,
    /// Files that are not there any more.
    pub(super) gone: Vec<Vec<u8>>,
    pub(super) left_out: Vec<LeftOut>,
}

impl Intake {
    pub(super) fn new(limits: ChangeLimits, ignore: &[String]) -> Result<Self, ChangeError> {
        Ok(Self {
            limits,
            ignored: Ignored::new(ignore)?,
        })
    }

    /// Chooses among `candidates`, none of which was read yet.
    ///
    /// Secrets are not copied, and neither is what nobody will review: an unignored directory of
    /// packages or a dump of a database must not fill our repository.
    pub(super) fn choose(
        &self,
        root: &Path,
        (own, common): (&Path, Option<&Path>),
        candidates: Vec<Vec<u8>>,
    ) -> Taken {
        let mut taken = Taken::default();
        let mut folders: BTreeMap<String, usize> = BTreeMap::new();
        let mut total: u64 = 0;
        // More than are reviewed, because some will turn out to be binary or generated.
        let most = self.limits.max_files.saturating_mul(4);
        let mut beyond: Option<(String, usize)> = None;
        let crowded = crowded_folders(&candidates);
        for path in candidates {
            if taken.paths.len() >= most {
                let first = || (String::from_utf8_lossy(&path).into_owned(), 0);
                beyond.get_or_insert_with(first).1 += 1;
                continue;
            }
            let full = root.join(OsStr::from_bytes(&path));
            // The ledger may lie in the working tree.
            if full.starts_with(own) {
                continue;
            }
            if is_beyond_link(root, &path) {
                taken.gone.push(path);
                continue;
            }
            let shown = String::from_utf8_lossy(&path);
            if let Some(folder) = names::vendored_folder(&shown).filter(|it| crowded.contains(*it))
            {
                *folders.entry(folder.to_owned()).or_default() += 1;
                continue;
            }
            // Work on another branch, which is under review where it is.
            if path.ends_with(b"/") && common.is_some_and(|common| is_worktree_of(&full, common)) {
                let detail = "a worktree of this repository";
                let left = left_out(&shown, Omission::Ignored, detail);
                taken.left_out.push(left);
                continue;
            }
            match self.look(&full, &path, &mut total) {
                Look::Take => taken.paths.push(path),
                Look::Gone => taken.gone.push(path),
                Look::Omit(left) => taken.left_out.push(left),
            }
        }
        if let Some((path, count)) = beyond {
            let detail = format!("the first of {count} beyond the limit");
            taken
                .left_out
                .push(left_out(&path, Omission::TooMany, detail));
        }
        for (folder, count) in folders {
            let detail = format!("{count} changed files");
            taken.left_out.push(LeftOut {
                // Nobody looked whether these files were there before.
                claimed: true,
                ..left_out(&folder, Omission::Vendored, detail)
            });
        }
        taken
    }

    fn look(&self, full: &Path, path: &[u8], total: &mut u64) -> Look {
        let shown = String::from_utf8_lossy(path);
        let omit = |why, detail: &str| Look::Omit(left_out(&shown, why, detail));
        let metadata = match fs::symlink_metadata(full) {
            Ok(metadata) => metadata,
            Err(error) if is_gone(&error) => return Look::Gone,
            Err(error) => return omit(Omission::Unreadable, &error.to_string()),
        };
        if metadata.is_symlink() {
            return Look::Take;
        }
        if metadata.is_dir() {
            // Git lists a directory only if it is a repository of its own: one that it knows, or
            // one that happens to lie there.
            return match path.ends_with(b"/") {
                // The name of a directory matches as one only through what is below it.
                true if self.ignored.contains(&format!("{shown}.git")) => {
                    omit(Omission::Ignored, "")
                }
                true => omit(
                    Omission::Unreadable,
                    "a repository that git does not track here; name it to review its files",
                ),
                false => Look::Take,
            };
        }
        if !metadata.is_file() {
            return omit(Omission::Unreadable, "neither a file nor a link");
        }
        if self.ignored.contains(&shown) {
            return omit(Omission::Ignored, "");
        }
        if names::omission(&shown) == Some(Omission::Credentials) && !is_public(full, &shown) {
            return omit(Omission::Credentials, "");
        }
        let size = metadata.len();
        let is_large = names::is_only_searched(&shown) || names::is_read_when_large(&shown);
        let largest = match is_large {
            true => self.limits.max_searched_bytes(),
            false => self.limits.max_file_bytes,
        };
        if size > largest {
            let why = match opening(full) {
                Ok(bytes) if is_asset(&shown, &bytes) => Omission::Asset,
                _ => Omission::Oversized,
            };
            return omit(why, &format!("{size} bytes"));
        }
        if total.saturating_add(size) > self.limits.max_total_bytes {
            let limit = self.limits.max_total_bytes;
            return omit(
                Omission::TooMany,
                &format!("more than {limit} bytes changed"),
            );
        }
        // One file that cannot be read would make git give up on all of them.
        if let Err(error) = File::open(full) {
            return omit(Omission::Unreadable, &error.to_string());
        }
        *total += size;
        Look::Take
    }
}

enum Look {
    Take,
    Gone,
    Omit(LeftOut),
}

/// Returns the directories with so much of somebody else's code that it is not even stored.
fn crowded_folders(candidates: &[Vec<u8>]) -> BTreeSet<String> {
    let mut folders: BTreeMap<String, usize> = BTreeMap::new();
    for path in candidates {
        let shown = String::from_utf8_lossy(path);
        if let Some(folder) = names::vendored_folder(&shown) {
            *folders.entry(folder.to_owned()).or_default() += 1;
        }
    }
    let crowded = folders
        .into_iter()
        .filter(|(_, count)| *count > MOST_VENDORED);
    crowded.map(|(folder, _)| folder).collect()
}

/// Tells whether a file holds what everybody may see, although its name speaks of keys.
fn is_public(full: &Path, path: &str) -> bool {
    let read = || {
        let mut bytes = Vec::new();
        let mut file = File::open(full)?.take(LARGEST_PUBLIC + 1);
        file.read_to_end(&mut bytes)?;
        io::Result::Ok(bytes)
    };
    let is_short = |bytes: &Vec<u8>| bytes.len() as u64 <= LARGEST_PUBLIC;
    names::content_decides(path)
        && read().is_ok_and(|bytes| is_short(&bytes) && names::is_public(path, &bytes))
}

/// Returns the first bytes of a file that is too large to be stored.
fn opening(path: &Path) -> io::Result<Vec<u8>> {
    opening_of(File::open(path)?)
}

/// Tells whether a directory is a linked worktree of the repository with this common directory.
fn is_worktree_of(directory: &Path, common: &Path) -> bool {
    let read = || {
        let mut text = String::new();
        let file = File::open(directory.join(".git"))?;
        file.take(4096).read_to_string(&mut text)?;
        let place = text.trim_end().strip_prefix("gitdir: ").map(str::to_owned);
        directory.join(place.unwrap_or_default()).canonicalize()
    };
    let is_file = directory.join(".git").is_file();
    let worktrees = common.join("worktrees").canonicalize();
    match (is_file.then(read), worktrees) {
        (Some(Ok(place)), Ok(worktrees)) => place.parent() == Some(worktrees.as_path()),
        _ => false,
    }
}

/// Tells whether a directory on the way to a file is now a link, so that the file is elsewhere.
fn is_beyond_link(root: &Path, path: &[u8]) -> bool {
    let relative = Path::new(OsStr::from_bytes(path));
    let folders = relative.ancestors().skip(1);
    folders
        .filter(|folder| !folder.as_os_str().is_empty())
        .any(|folder| root.join(folder).is_symlink())
}

fn is_gone(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}
