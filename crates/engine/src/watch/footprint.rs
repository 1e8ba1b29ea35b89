//! One look at a repository: cheap enough for every run, and exact enough to name what changed.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Disturbance;
use crate::change::discover::{Found, discover};
use crate::change::git::Git;
use crate::files::hash_of;

/// Files of the git directory that decide what git runs or believes.
const GIT_FILES: [&str; 7] = [
    "config",
    "info/attributes",
    "info/exclude",
    "info/grafts",
    "info/sparse-checkout",
    "objects/info/alternates",
    "shallow",
];

/// Most files that are looked at; a tree with more is looked at in part.
const MOST_FILES: usize = 500_000;

/// Most refs that are looked at.
const MOST_REFS: usize = 200_000;

/// Where to look.
pub(super) struct WatchedPlace {
    git: Git,
    found: Found,
    /// Where our own clones lie.
    clone_dir: PathBuf,
}

impl WatchedPlace {
    /// Returns the repository around a directory; nothing where there is none.
    pub(super) fn find(project: &Path, clone_dir: PathBuf) -> Option<Self> {
        let directory = project.canonicalize().ok()?;
        Some(Self {
            git: Git::find().ok()?,
            found: discover(&directory).ok()??,
            clone_dir,
        })
    }

    /// Tells whether a commit is one that we made or keep: it lies by itself in a clone of ours, or a
    /// ref of ours there names it.
    fn is_ours(&self, commit: &str) -> bool {
        let Some((start, rest)) = commit.split_at_checked(2) else {
            return false;
        };
        let clones = fs::read_dir(&self.clone_dir)
            .into_iter()
            .flatten()
            .flatten();
        clones.map(|clone| clone.path()).any(|clone| {
            clone.join("objects").join(start).join(rest).is_file()
                || loose_refs(&clone, &["refs/tribunal"]).any(|(_, value)| value == commit)
        })
    }

    fn ask(&self, args: &[&str]) -> Option<Vec<u8>> {
        let root = self.found.work_tree.as_deref()?;
        let call = self.git.on(&self.found.git_dir).work_tree(root);
        call.args(args).output().ok()
    }
}

/// What tells one state of a file from another without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
    inode: u64,
    mode: u32,
}

impl Stamp {
    fn of(metadata: &Metadata) -> Self {
        Self {
            size: metadata.size(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
            inode: metadata.ino(),
            mode: metadata.mode(),
        }
    }

    fn at(path: &Path) -> Option<Self> {
        fs::symlink_metadata(path).ok().as_ref().map(Self::of)
    }
}

/// The index as git understands it. Its file also changes when git only refreshes what it knows of
/// the files.
#[derive(Default)]
struct IndexLook {
    stamp: Option<Stamp>,
    hash: String,
    paths: Vec<Vec<u8>>,
}

/// One look at a repository.
#[derive(Default)]
pub(super) struct Footprint {
    /// Files of the git directory, by the name under which people know them.
    git_files: BTreeMap<String, String>,
    refs: BTreeMap<String, String>,
    index: Arc<IndexLook>,
    /// Tracked files, and those that are neither tracked nor ignored. What git ignores is left out:
    /// builds write there all the time, and it is no part of anybody's work.
    files: BTreeMap<Vec<u8>, Stamp>,
}

impl Footprint {
    /// Looks at the repository.
    pub(super) fn take(place: &WatchedPlace, before: Option<&Self>) -> Self {
        let index = index_look(place, before.map(|before| &before.index));
        let mut files = BTreeMap::new();
        if let Some(root) = &place.found.work_tree {
            let others = place.ask(&["ls-files", "-z", "--others", "--exclude-standard"]);
            let others = others.unwrap_or_default();
            let others = others
                .split(|byte| *byte == 0)
                .filter(|path| is_theirs(path));
            let tracked = index.paths.iter().map(Vec::as_slice);
            for path in tracked.chain(others).take(MOST_FILES) {
                if let Some(stamp) = Stamp::at(&root.join(OsStr::from_bytes(path))) {
                    files.insert(path.to_vec(), stamp);
                }
            }
        }
        Self {
            git_files: git_files(&place.found),
            refs: refs(&place.found),
            index,
            files,
        }
    }

    /// Returns what is different in `after`, without what we did ourselves.
    pub(super) fn changes(&self, after: &Self, place: &WatchedPlace) -> Disturbance {
        let mut noticed = Disturbance::default();
        noticed
            .grave
            .extend(differing(&self.git_files, &after.git_files));
        for name in differing(&self.refs, &after.refs) {
            let is_ours = match after.refs.get(&name) {
                Some(commit) => place.is_ours(commit),
                // Users remove the branches of ours that they have merged.
                None => name.starts_with("refs/heads/tribunal/"),
            };
            if !is_ours {
                noticed.grave.insert(name);
            }
        }
        if self.index.hash != after.index.hash {
            noticed.files.insert("the index".to_owned());
        }
        for path in differing(&self.files, &after.files) {
            noticed
                .files
                .insert(String::from_utf8_lossy(&path).into_owned());
        }
        noticed
    }
}

/// Returns the keys whose values differ.
fn differing<K: Ord + Clone, V: PartialEq>(
    before: &BTreeMap<K, V>,
    after: &BTreeMap<K, V>,
) -> BTreeSet<K> {
    let keys = before.keys().chain(after.keys());
    let differ = keys.filter(|key| before.get(key) != after.get(key));
    differ.cloned().collect()
}

/// Tells whether a file is none that we write ourselves.
fn is_theirs(path: &[u8]) -> bool {
    !path.is_empty() && path != b"dispute.md" && !path.starts_with(b".dispute.md.")
}

fn index_look(place: &WatchedPlace, before: Option<&Arc<IndexLook>>) -> Arc<IndexLook> {
    let stamp = Stamp::at(&place.found.git_dir.join("index"));
    if let Some(before) = before.filter(|before| before.stamp == stamp && stamp.is_some()) {
        return Arc::clone(before);
    }
    let listed = place.ask(&["ls-files", "-s", "-z"]).unwrap_or_default();
    let entries = listed.split(|byte| *byte == 0);
    let paths = entries.filter_map(|entry| {
        let mut halves = entry.splitn(2, |byte| *byte == b'\t');
        let (head, path) = (halves.next()?, halves.next()?);
        // A submodule is a repository of its own.
        (!head.starts_with(b"160000") && is_theirs(path)).then(|| path.to_vec())
    });
    Arc::new(IndexLook {
        stamp,
        paths: paths.collect(),
        hash: hash_of(&listed),
    })
}

/// Returns what git runs or believes, each with a hash.
fn git_files(found: &Found) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    let mut look = |name: String, path: &Path| {
        let Ok(metadata) = fs::symlink_metadata(path) else {
            return;
        };
        let link = fs::read_link(path).unwrap_or_default();
        let content = fs::read(path).unwrap_or_default();
        let told = format!(
            "{:o} {} {}",
            metadata.mode(),
            link.display(),
            hash_of(&content)
        );
        files.insert(name, told);
    };
    for name in GIT_FILES {
        look(format!(".git/{name}"), &found.common_dir.join(name));
    }
    let own = found.git_dir.join("config.worktree");
    look(".git/config.worktree".to_owned(), &own);
    let hooks = fs::read_dir(found.common_dir.join("hooks"));
    for hook in hooks.into_iter().flatten().flatten() {
        let name = hook.file_name().to_string_lossy().into_owned();
        look(format!(".git/hooks/{name}"), &hook.path());
    }
    files
}

/// Returns where branches, tags and `HEAD` point. Remote branches are left out: editors fetch by
/// themselves.
fn refs(found: &Found) -> BTreeMap<String, String> {
    let mut refs = BTreeMap::new();
    let is_watched = |name: &str| name.starts_with("refs/heads/") || name.starts_with("refs/tags/");
    let packed = fs::read_to_string(found.common_dir.join("packed-refs")).unwrap_or_default();
    for line in packed.lines() {
        if let Some((commit, name)) = line.split_once(' ')
            && is_watched(name)
        {
            refs.insert(name.to_owned(), commit.to_owned());
        }
    }
    refs.extend(loose_refs(&found.common_dir, &["refs/heads", "refs/tags"]));
    let head = fs::read_to_string(found.git_dir.join("HEAD")).unwrap_or_default();
    refs.insert("HEAD".to_owned(), head.trim().to_owned());
    refs
}

/// Returns the refs below these directories that have files of their own.
fn loose_refs(git_dir: &Path, below: &[&str]) -> impl Iterator<Item = (String, String)> {
    let mut refs = Vec::new();
    let mut folders: Vec<PathBuf> = below.iter().map(PathBuf::from).collect();
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(git_dir.join(&folder));
        for entry in entries.into_iter().flatten().flatten() {
            let name = folder.join(entry.file_name());
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push(name);
            } else if refs.len() < MOST_REFS && !entry.file_name().as_bytes().ends_with(b".lock") {
                let value = fs::read_to_string(entry.path()).unwrap_or_default();
                let name = name.to_string_lossy().into_owned();
                refs.push((name, value.trim().to_owned()));
            }
        }
    }
    refs.into_iter()
}
