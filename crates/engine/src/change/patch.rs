//! A patch: applied to the last commit as far as it applies, kept as it is where it does not.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use tempfile::TempDir;
use tribunal_code::diff::Diff;

use super::git::Call;
use super::repository::Repository;
use super::{ChangeError, Pinned, blobs, revision};

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
    if Diff::read(bytes).files.is_empty() {
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
    if !loose.is_empty() {
        pinned.loose_patch = Some(blobs::store(repo, loose)?);
    }
    Ok(pinned)
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

/// Cuts a patch into the parts about one file each.
///
/// Lines of a hunk are counted, so that a removed line which looks like a header stays where it is.
pub(super) fn sections(patch: &[u8]) -> Vec<Vec<u8>> {
    let mut sections: Vec<Vec<u8>> = Vec::new();
    let mut current = Vec::new();
    let (mut old_left, mut new_left) = (0_u64, 0_u64);
    // Whether a file was opened by `diff --git`, so that `---` does not open another.
    let mut has_hunks = true;
    for line in patch.split_inclusive(|byte| *byte == b'\n') {
        if old_left > 0 || new_left > 0 {
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
            sections.push(std::mem::take(&mut current));
            has_hunks = false;
        } else if let Some((old, new)) = hunk_counts(line) {
            (old_left, new_left) = (old, new);
            has_hunks = true;
        }
        current.extend_from_slice(line);
    }
    sections.push(current);
    // What stands before the first file is a message.
    sections.remove(0);
    sections
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
}
