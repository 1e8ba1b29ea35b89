//! Which files differ between two trees.

use super::repository::Repository;
use super::{ChangeError, paths};

/// How many files are compared with each other when looking for renames. Beyond this, only files
/// that moved unchanged are found, which takes no comparing.
const RENAME_LIMIT: &str = "-l400";

/// One file that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    /// The path after the change, or before it if the file is gone.
    pub(crate) path: Vec<u8>,
    /// The path before the change, if it was another.
    pub(crate) old_path: Option<Vec<u8>>,
    pub(crate) old: Side,
    pub(crate) new: Side,
}

/// A file on one side of the comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Side {
    pub(crate) mode: u32,
    pub(crate) id: String,
}

/// What an entry of a tree is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Missing,
    File,
    Link,
    Submodule,
}

impl Side {
    pub(crate) fn kind(&self) -> Kind {
        match self.mode & 0o170_000 {
            0 => Kind::Missing,
            0o120_000 => Kind::Link,
            0o160_000 => Kind::Submodule,
            _ => Kind::File,
        }
    }
}

/// Returns the files below `paths` that differ between two trees, in the order of their paths.
///
/// Git is not told the paths: there may be more of them than fit on a command line, and what
/// moved in from elsewhere is known as such only if elsewhere is looked at too.
pub(crate) fn compare(
    repo: &Repository,
    base: &str,
    head: &str,
    paths: &[String],
) -> Result<Vec<Entry>, ChangeError> {
    compare_with(repo, base, head, paths, true)
}

/// Returns the same; a file that moved is one that is gone and one that is new unless
/// `finds_renames`.
pub(crate) fn compare_with(
    repo: &Repository,
    base: &str,
    head: &str,
    paths: &[String],
    finds_renames: bool,
) -> Result<Vec<Entry>, ChangeError> {
    let call = |renames: &[&str]| {
        let call = repo
            .call()
            .args(["diff-tree", "-r", "-z", "--raw", "--no-abbrev"]);
        let call = call.args(["--no-ext-diff", "--no-textconv", "--ignore-submodules=none"]);
        call.args(renames).args([base, head, "--"]).output()
    };
    let renames = match finds_renames {
        true => vec!["--find-renames=50%", RENAME_LIMIT],
        false => vec!["--no-renames"],
    };
    let output = match call(&renames) {
        // A partial clone lacks contents that would have to be compared; the names are there.
        Err(ChangeError::GitFailed { .. }) => call(&["--no-renames"])?,
        output => output?,
    };
    let mut entries = parse(&output).ok_or_else(|| ChangeError::GitUnreadable {
        command: "diff-tree".to_owned(),
    })?;
    let is_within = |path: &[u8]| paths::is_within(paths, &String::from_utf8_lossy(path));
    if !paths.is_empty() {
        entries.retain(|entry| {
            is_within(&entry.path) || entry.old_path.as_deref().is_some_and(is_within)
        });
    }
    Ok(entries)
}

/// Returns all files of a tree, as if they were new.
pub(crate) fn all_files(repo: &Repository, head: &str) -> Result<Vec<Entry>, ChangeError> {
    compare(repo, repo.format.empty_tree(), head, &[])
}

/// Returns the paths of all files of a tree.
pub(crate) fn all_paths(repo: &Repository, tree: &str) -> Result<Vec<String>, ChangeError> {
    let files = all_files(repo, tree)?.into_iter();
    let name = |entry: Entry| String::from_utf8_lossy(&entry.path).into_owned();
    Ok(files.map(name).collect())
}

/// Reads `:mode mode id id status NUL path NUL [path NUL]`, over and over.
fn parse(output: &[u8]) -> Option<Vec<Entry>> {
    let mut fields = output.split(|byte| *byte == 0);
    let mut entries = Vec::new();
    loop {
        let Some(head) = fields.next().filter(|field| !field.is_empty()) else {
            return Some(entries);
        };
        let head = str::from_utf8(head.strip_prefix(b":")?).ok()?;
        let mut words = head.split(' ');
        let old_mode = u32::from_str_radix(words.next()?, 8).ok()?;
        let new_mode = u32::from_str_radix(words.next()?, 8).ok()?;
        let (old_id, new_id) = (words.next()?, words.next()?);
        let status = words.next()?;
        let mut path = || fields.next().filter(|path| !path.is_empty());
        let first = path()?.to_vec();
        let (path, old_path) = match status.as_bytes().first()? {
            b'R' | b'C' => (path()?.to_vec(), Some(first)),
            _ => (first, None),
        };
        let side = |mode, id: &str| Side {
            mode,
            id: id.to_owned(),
        };
        entries.push(Entry {
            path,
            old_path,
            old: side(old_mode, old_id),
            new: side(new_mode, new_id),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_is_read_and_nonsense_is_refused() {
        let raw = b":100644 000000 aa 00 D\0gone\0:100644 120000 aa bb R090\0old\nname\0new\0";
        let entries = parse(raw).unwrap();
        let shown: Vec<_> = entries
            .iter()
            .map(|entry| {
                let path = String::from_utf8_lossy(&entry.path);
                (path, entry.old.kind(), entry.new.kind())
            })
            .collect();
        assert_eq!(
            shown,
            [
                ("gone".into(), Kind::File, Kind::Missing),
                ("new".into(), Kind::File, Kind::Link)
            ]
        );
        assert_eq!(entries[1].old_path.as_deref(), Some(&b"old\nname"[..]));
        for broken in [&b"x\0"[..], b":1 2\0a\0", b":100644 100644 a b M\0"] {
            assert_eq!(parse(broken), None);
        }
    }
}
