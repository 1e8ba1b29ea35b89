//! A patch: applied to the last commit as far as it applies, kept as it is where it does not.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use tempfile::TempDir;
use tribunal_code::diff::{Diff, FileDiff};
use tribunal_core::review::coverage::{LeftOut, Omission};

use super::git::Call;
use super::omit::left_out;
use super::repository::Repository;
use super::{ChangeError, Pinned, blobs, listing, paths, revision};

/// The largest patch that is read.
const MAX_BYTES: u64 = 64 << 20;
/// How many parts are tried one by one when the patch does not apply as a whole.
const MAX_TRIES: usize = 500;

/// Reads a patch from a file.
pub(super) fn load(path: &Path) -> Result<Vec<u8>, ChangeError> {
    let doing = || ChangeError::file(format!("read `{}`", path.display()));
    let file = File::open(path).map_err(doing())?;
    let mut bytes = Vec::new();
    let read = file.take(MAX_BYTES + 1).read_to_end(&mut bytes);
    read.map_err(doing())?;
    Ok(bytes)
}

/// Stores the patch, and the tree it leads to.
pub(super) fn pin(
    repo: &Repository,
    mut pinned: Pinned,
    bytes: &[u8],
) -> Result<Pinned, ChangeError> {
    if bytes.len() as u64 > MAX_BYTES {
        return Err(ChangeError::TooLarge {
            what: "the patch".to_owned(),
            limit: MAX_BYTES,
        });
    }
    pinned.left_out = unreadable(bytes)
        .into_iter()
        .filter(|left| paths::is_within(&pinned.paths, &left.path))
        .collect();
    if Diff::read(bytes).files.is_empty() && pinned.left_out.is_empty() {
        return Err(ChangeError::EmptyPatch);
    }
    let head = match repo.found {
        Some(_) => revision::head(repo)?,
        None => None,
    };
    let loose = match head {
        None => bytes.to_vec(),
        Some(head) => apply(repo, &mut pinned, head, bytes)?,
    };
    let skipped = skipped(repo, &pinned, bytes, &loose)?;
    pinned.left_out.extend(skipped);
    if !loose.is_empty() {
        pinned.loose_patch = Some(blobs::store(repo, loose)?);
    }
    Ok(pinned)
}

/// Returns the files of a patch that git passed over, as it does with damaged binary parts behind
/// others.
fn skipped(
    repo: &Repository,
    pinned: &Pinned,
    patch: &[u8],
    loose: &[u8],
) -> Result<Vec<LeftOut>, ChangeError> {
    let (Some(base), Some(head)) = (&pinned.base, &pinned.head) else {
        return Ok(Vec::new());
    };
    let mut known: BTreeSet<Vec<u8>> = BTreeSet::new();
    for entry in listing::compare(repo, base, head, &[])? {
        known.insert(entry.path);
        known.extend(entry.old_path);
    }
    let loose = Diff::read(loose).files.into_iter();
    known.extend(loose.map(|file| file.path.into_bytes()));
    let files = Diff::read(patch).files.into_iter();
    let skipped = files.filter(|file| {
        !known.contains(file.path.as_bytes()) && paths::is_within(&pinned.paths, &file.path)
    });
    let note = |file: FileDiff| LeftOut {
        claimed: true,
        ..left_out(
            &file.path,
            Omission::Unreadable,
            "git did not apply this part of the patch",
        )
    };
    Ok(skipped.map(note).collect())
}

/// Sets both sides of the change as far as the patch applies, and returns the rest of it.
fn apply(
    repo: &Repository,
    pinned: &mut Pinned,
    head: String,
    patch: &[u8],
) -> Result<Vec<u8>, ChangeError> {
    let mut bench = Bench::new(repo, &head)?;
    let mut loose = Vec::new();
    if !bench.applies(patch, Direction::Forward)? {
        // The patch of a branch is often read where that branch is checked out.
        if bench.applies(patch, Direction::Backward)? {
            pinned.base = Some(bench.tree()?);
            pinned.head = Some(head);
            pinned.title.push_str(" that is part of HEAD");
            return Ok(loose);
        }
        for (number, part) in sections(patch).iter().enumerate() {
            if number >= MAX_TRIES || !bench.applies(part, Direction::Forward)? {
                loose.extend_from_slice(part);
            }
        }
    }
    pinned.base = Some(head);
    pinned.head = Some(bench.tree()?);
    Ok(loose)
}

/// An index of ours on which patches are tried.
struct Bench<'a> {
    repo: &'a Repository,
    temp: TempDir,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Forward,
    Backward,
}

impl<'a> Bench<'a> {
    fn new(repo: &'a Repository, commit: &str) -> Result<Self, ChangeError> {
        let bench = Self {
            repo,
            temp: repo.temporary()?,
        };
        bench.call().args(["read-tree", commit]).output()?;
        Ok(bench)
    }

    /// Applies a patch, all or nothing.
    fn applies(&mut self, patch: &[u8], direction: Direction) -> Result<bool, ChangeError> {
        let depth = if has_prefixes(patch) { "-p1" } else { "-p0" };
        let call = self.call().input(patch.to_vec());
        // That paths stay inside the tree is git's default.
        let mut call = call.args(["apply", "--cached", "--whitespace=nowarn", depth]);
        if direction == Direction::Backward {
            call = call.args(["--reverse"]);
        }
        match call.args(["-"]).output() {
            Ok(_) => Ok(true),
            Err(ChangeError::GitFailed { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn tree(&self) -> Result<String, ChangeError> {
        self.call().args(["write-tree", "--missing-ok"]).line()
    }

    fn call(&self) -> Call<'a> {
        self.repo.call().index(&self.temp.path().join("index"))
    }
}

/// Tells whether paths begin with `a/` and `b/`, as git writes them.
fn has_prefixes(patch: &[u8]) -> bool {
    let mut lines = patch.split(|byte| *byte == b'\n');
    let named = lines.find_map(|line| {
        let name = line.strip_prefix(b"--- ").or(line.strip_prefix(b"+++ "))?;
        (!name.starts_with(b"/dev/null")).then_some(name)
    });
    named.is_none_or(|name| {
        let name = name.strip_prefix(b"\"").unwrap_or(name);
        name.starts_with(b"a/") || name.starts_with(b"b/")
    })
}

/// Returns the files that a patch says to have changed without showing how, outside of the parts
/// that git wrote: `diff -r` says so of binary files and of files on one side only.
fn unreadable(patch: &[u8]) -> Vec<LeftOut> {
    let mut all = Vec::new();
    let mut file = "a file of the patch".to_owned();
    each_line(patch, |line, place| {
        let line = String::from_utf8_lossy(line.trim_ascii_end());
        if let Some(name) = line.strip_prefix("+++ ") {
            let name = name.split('\t').next().unwrap_or_default();
            file = without_prefix(name);
        }
        let is_binary = line == "GIT binary patch"
            || (line.starts_with("Binary files ") && line.ends_with(" differ"));
        let differs = is_binary || (line.starts_with("Files ") && line.ends_with(" differ"));
        let left = match (place, line.strip_prefix("Only in ")) {
            (Place::GitHeader | Place::Hunk, _) => return,
            (_, Some(rest)) => rest.split_once(": ").map(|(folder, name)| {
                let folder = format!("{folder}/");
                let path = format!("{}{name}", without_prefix(&folder));
                (path, Omission::Unreadable, "the patch only names it")
            }),
            (_, None) if differs => {
                let names = line.strip_suffix(" differ").unwrap_or_default();
                let named = names.rsplit_once(" and ").map(|(_, name)| name);
                let path = named.map_or_else(|| file.clone(), without_prefix);
                (!path.is_empty()).then_some((path, Omission::Binary, "the patch only names it"))
            }
            (_, None) => None,
        };
        all.extend(left.map(|(path, why, detail)| LeftOut {
            // Only the patch says so.
            claimed: true,
            ..left_out(&path, why, detail)
        }));
    });
    all
}

/// Returns a path without the `a/` or `b/` before it.
fn without_prefix(path: &str) -> String {
    let inner = path.strip_prefix("a/").or(path.strip_prefix("b/"));
    inner.unwrap_or(path).to_owned()
}

/// Where a line of a patch is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Behind `diff --git`, before the first hunk.
    GitHeader,
    /// The first line about a file.
    Start,
    Hunk,
    Elsewhere,
}

/// Cuts a patch into the parts about one file each.
///
/// Lines of a hunk are counted, so that a removed line which looks like a header stays where it is.
pub(super) fn sections(patch: &[u8]) -> Vec<Vec<u8>> {
    let mut sections: Vec<Vec<u8>> = Vec::new();
    let mut current = Vec::new();
    each_line(patch, |line, place| {
        if place == Place::Start {
            sections.push(std::mem::take(&mut current));
        }
        current.extend_from_slice(line);
    });
    sections.push(current);
    // What stands before the first file is a message.
    sections.remove(0);
    sections
}

/// Calls `look` with every line of a patch and where it is.
fn each_line(patch: &[u8], mut look: impl FnMut(&[u8], Place)) {
    let (mut old_left, mut new_left) = (0_u64, 0_u64);
    // Whether a file was opened by `diff --git`, so that `---` does not open another.
    let mut has_hunks = true;
    let mut is_git = false;
    for line in patch.split_inclusive(|byte| *byte == b'\n') {
        let mut place = Place::Elsewhere;
        if old_left > 0 || new_left > 0 {
            place = Place::Hunk;
            match line.first() {
                Some(b'+') => new_left = new_left.saturating_sub(1),
                Some(b'-') => old_left = old_left.saturating_sub(1),
                Some(b'\\') => {}
                _ => {
                    old_left = old_left.saturating_sub(1);
                    new_left = new_left.saturating_sub(1);
                }
            }
        } else if line.starts_with(b"diff --git ") || (line.starts_with(b"--- ") && has_hunks) {
            place = Place::Start;
            has_hunks = false;
            is_git = line.starts_with(b"diff --git ");
        } else if let Some((old, new)) = hunk_counts(line) {
            (old_left, new_left) = (old, new);
            has_hunks = true;
        } else if is_git && !has_hunks {
            place = Place::GitHeader;
        }
        look(line, place);
    }
}

/// Reads how many lines a hunk has on each side.
fn hunk_counts(line: &[u8]) -> Option<(u64, u64)> {
    let text = str::from_utf8(line.split(|byte| *byte == b'\r' || *byte == b'\n').next()?);
    let mut words = text.ok()?.strip_prefix("@@ -")?.split(' ');
    let count = |range: &str| match range.split_once(',') {
        Some((_, count)) => count.parse().ok(),
        None => Some(1),
    };
    let old = count(words.next()?)?;
    let new = count(words.next()?.strip_prefix('+')?)?;
    Some((old, new))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_is_cut_at_its_files() {
        let expected = [
            "diff --git a/a b/a\nindex 1..2\n--- a/a\n+++ b/a\n\
             @@ -1,2 +1 @@\n--- not a header\n one\n@@ -9 +8 @@\n-x\n+y\n",
            "--- b.txt\n+++ b.txt\n@@ -1 +1 @@\n-q\n+r\n\\ No newline at end of file\n",
            "diff --git a/c b/d\nrename from c\nrename to d\n",
        ];
        let patch = format!("Subject: x\n\n{}", expected.concat());
        let parts = sections(patch.as_bytes());
        let parts: Vec<_> = parts
            .iter()
            .map(|part| String::from_utf8_lossy(part))
            .collect();
        assert_eq!(parts, expected);
        assert_eq!(sections(b"no patch\n"), Vec::<Vec<u8>>::new());
    }

    #[test]
    fn what_a_patch_only_names_is_listed() {
        let text = "diff -ru a/README b/README\n--- a/README\n+++ b/README\n@@ -1 +1,2 @@\n-x\n\
                    +Only in b: no\n+Binary files a/no and b/no differ\n\
                    Binary files a/tool and b/tool differ\nOnly in b/sub: z.py\nOnly in b: y.py\n\
                    GIT binary patch\n";
        let git = "diff --git a/p b/p\nBinary files a/p and b/p differ\n";
        let listed = unreadable(format!("{text}{git}").as_bytes());
        let listed: Vec<_> = listed
            .iter()
            .map(|left| (left.path.as_str(), left.why, left.claimed))
            .collect();
        assert_eq!(
            listed,
            [
                ("tool", Omission::Binary, true),
                ("sub/z.py", Omission::Unreadable, true),
                ("y.py", Omission::Unreadable, true),
                ("README", Omission::Binary, true),
            ]
        );
    }
}
