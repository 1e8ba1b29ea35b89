//! Whose files decide about a change: what a branch has written itself does not speak for it.

use std::collections::BTreeMap;
use std::sync::Arc;

use tribunal_code::lines::LineSet;
use tribunal_code::linter_marker::has_marker;
use tribunal_code::text::decode;
use tribunal_core::review::coverage::FileStatus;

use super::compare::{Effort, Pair};
use super::repository::Repository;
use super::revision;
use super::{ChangeError, ChangedFile, Pinned, blobs};

/// Returns `commit` if the default branch has it, else the commit at which its history left that
/// branch, and for a history of its own the default branch. Where no default branch is known it is
/// `commit`.
pub(crate) fn settled(repo: &Repository, commit: &str) -> Result<String, ChangeError> {
    let Some(default) = revision::default_branch(repo)? else {
        return Ok(commit.to_owned());
    };
    if default.commit == commit {
        return Ok(default.commit);
    }
    match revision::merge_base(repo, &default, commit) {
        Err(ChangeError::NoCommonHistory { .. }) => Ok(default.commit),
        base => base,
    }
}

/// Fills in which lines of the files the settled side does not have.
pub(super) fn mark(
    repo: &Repository,
    pinned: &Pinned,
    files: &mut [ChangedFile],
) -> Result<(), ChangeError> {
    let is_the_base = !pinned.whole_files && pinned.settled == pinned.base;
    let marked: Vec<usize> = (0..files.len())
        .filter(|index| has_marker(&files[*index].text))
        .collect();
    let texts = match &pinned.settled {
        Some(commit) if !is_the_base => texts(repo, commit, files, &marked)?,
        _ => BTreeMap::new(),
    };
    let mut effort = Effort::new();
    for index in marked {
        let file = &mut files[index];
        file.unsettled = match texts.get(&index) {
            Some(old) => added(old, file, &mut effort),
            None if is_the_base => file.diff.added().clone(),
            None => all_lines(&file.text),
        };
    }
    Ok(())
}

/// Returns the texts of these files on the settled side, as far as they are there.
fn texts(
    repo: &Repository,
    commit: &str,
    files: &[ChangedFile],
    marked: &[usize],
) -> Result<BTreeMap<usize, Arc<str>>, ChangeError> {
    let wanted: Vec<usize> = marked
        .iter()
        .copied()
        .filter(|index| is_plain(&files[*index].path))
        .collect();
    let names: Vec<String> = wanted
        .iter()
        .map(|index| format!("{commit}:{}", files[*index].path))
        .collect();
    let mut found = BTreeMap::new();
    blobs::each(repo, &names, |number, content| {
        let mut bytes = Vec::new();
        content.read_to_end(&mut bytes)?;
        if let (Some(index), Some(text)) = (wanted.get(number), decode(&bytes)) {
            found.insert(*index, Arc::from(&*text.text));
        }
        Ok(())
    })?;
    Ok(found)
}

/// Tells whether git can be asked for a path in one line of ordinary length.
pub(super) fn is_plain(path: &str) -> bool {
    path.len() < 900 && !path.contains('\n')
}

fn added(old: &str, file: &ChangedFile, effort: &mut Effort) -> LineSet {
    let pair = Pair {
        path: &file.path,
        old_path: None,
        status: FileStatus::Modified,
        old: Some(old),
        new: Some(&file.text),
        old_mode: 0o100_644,
        new_mode: 0o100_644,
    };
    let (_, diff) = pair.compare(effort);
    diff.added().clone()
}

pub(super) fn all_lines(text: &str) -> LineSet {
    (1..).zip(text.lines()).map(|(line, _)| line).collect()
}
