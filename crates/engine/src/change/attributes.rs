//! What the `.gitattributes` of a tree say about files.

use std::collections::{BTreeMap, BTreeSet};

use super::repository::Repository;
use super::{ChangeError, blobs};

/// What matters here, for one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Attributes {
    pub(super) is_binary: bool,
    pub(super) is_generated: bool,
    pub(super) is_vendored: bool,
    /// Whether the working tree holds in the clear what is stored encrypted.
    pub(super) is_encrypted: bool,
}

/// Returns what `tree` says about those of `paths` that it says anything about.
pub(super) fn read(
    repo: &Repository,
    tree: &str,
    paths: &[&[u8]],
) -> Result<BTreeMap<Vec<u8>, Attributes>, ChangeError> {
    let mut found: BTreeMap<Vec<u8>, Attributes> = BTreeMap::new();
    if paths.is_empty() {
        return Ok(found);
    }
    if !has_attributes(repo, tree, paths)? {
        return Ok(found);
    }
    // An index of the tree instead of `--source`, which only newer versions of git know.
    let temp = repo.temporary()?;
    let index = temp.path().join("index");
    repo.call()
        .index(&index)
        .args(["read-tree", tree])
        .output()?;
    let mut input = Vec::new();
    for path in paths {
        input.extend_from_slice(path);
        input.push(0);
    }
    let call = repo.call().index(&index);
    let call = call.args(["check-attr", "--cached", "--stdin", "-z"]);
    let names = ["diff", "linguist-generated", "linguist-vendored", "filter"];
    let output = call.args(names).input(input).output()?;

    let mut fields = output.split(|byte| *byte == 0);
    while let (Some(path), Some(name), Some(value)) = (fields.next(), fields.next(), fields.next())
    {
        let is_on = matches!(value, b"set" | b"true");
        let set: fn(&mut Attributes) = match name {
            b"diff" if value == b"unset" => |attributes| attributes.is_binary = true,
            b"linguist-generated" if is_on => |attributes| attributes.is_generated = true,
            b"linguist-vendored" if is_on => |attributes| attributes.is_vendored = true,
            b"filter" if value == b"git-crypt" => |attributes| attributes.is_encrypted = true,
            _ => continue,
        };
        set(found.entry(path.to_vec()).or_default());
    }
    Ok(found)
}

/// Tells whether a directory on the way to one of `paths` holds a file of attributes. Most have
/// none, and an index of a large tree takes long to make.
fn has_attributes(repo: &Repository, tree: &str, paths: &[&[u8]]) -> Result<bool, ChangeError> {
    let mut folders = BTreeSet::from([String::new()]);
    for path in paths {
        let Some(path) = str::from_utf8(path)
            .ok()
            .filter(|path| !path.contains('\n'))
        else {
            // It cannot be asked for in a line of text.
            return Ok(true);
        };
        let ends = path.match_indices('/').map(|(end, _)| end + 1);
        folders.extend(ends.filter_map(|end| path.get(..end).map(str::to_owned)));
    }
    let files: Vec<String> = folders
        .iter()
        .map(|folder| format!("{tree}:{folder}.gitattributes"))
        .collect();
    Ok(blobs::sizes(repo, &files)?.iter().any(Option::is_some))
}
