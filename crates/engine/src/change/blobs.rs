//! Contents by id, from one process for all of them.

use std::io::{self, BufRead, Read, Write};
use std::time::Duration;

use super::ChangeError;
use super::repository::Repository;

/// How long reading all contents of a change may take.
const TIME_LIMIT: Duration = Duration::from_secs(300);

/// Returns how large each object is; nothing for those that are missing.
pub(crate) fn sizes<S: AsRef<str>>(
    repo: &Repository,
    ids: &[S],
) -> Result<Vec<Option<u64>>, ChangeError> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    Ok(looked_up(repo, ids)?
        .iter()
        .map(|line| size(line))
        .collect())
}

/// Returns the id of each named object; nothing for those that are missing.
pub(crate) fn ids<S: AsRef<str>>(
    repo: &Repository,
    names: &[S],
) -> Result<Vec<Option<String>>, ChangeError> {
    word_of_each(repo, names, 0)
}

/// Returns the kind of each named object, such as `tree`; nothing for those that are missing.
pub(crate) fn kinds<S: AsRef<str>>(
    repo: &Repository,
    names: &[S],
) -> Result<Vec<Option<String>>, ChangeError> {
    word_of_each(repo, names, 1)
}

fn word_of_each<S: AsRef<str>>(
    repo: &Repository,
    names: &[S],
    index: usize,
) -> Result<Vec<Option<String>>, ChangeError> {
    let lines = looked_up(repo, names)?;
    let word = |line: &String| {
        size(line)?;
        line.split(' ').nth(index).map(str::to_owned)
    };
    Ok(lines.iter().map(word).collect())
}

/// Returns `ID TYPE SIZE` for each name, or another line for what is missing.
fn looked_up<S: AsRef<str>>(repo: &Repository, names: &[S]) -> Result<Vec<String>, ChangeError> {
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let format = "--batch-check=%(objectname) %(objecttype) %(objectsize)";
    let call = repo.call().args(["cat-file", format]).input(lines(names));
    let output = String::from_utf8_lossy(&call.output()?).into_owned();
    let found: Vec<String> = output.lines().map(str::to_owned).collect();
    if found.len() != names.len() {
        return Err(unreadable());
    }
    Ok(found)
}

/// Fails if one of the objects is missing.
pub(crate) fn expect(repo: &Repository, ids: &[&str]) -> Result<(), ChangeError> {
    let sizes = sizes(repo, ids)?;
    let missing = ids.iter().zip(sizes).find(|(_, size)| size.is_none());
    match missing {
        Some((id, _)) => Err(ChangeError::ObjectMissing {
            id: (*id).to_owned(),
        }),
        None => Ok(()),
    }
}

/// Lets `take` have the content of each object that is there, by its position in `ids`.
///
/// What it does not read is passed over.
pub(crate) fn each<S: AsRef<str>>(
    repo: &Repository,
    ids: &[S],
    mut take: impl FnMut(usize, &mut dyn Read) -> io::Result<()>,
) -> Result<(), ChangeError> {
    if ids.is_empty() {
        return Ok(());
    }
    let call = repo.call().args(["cat-file", "--batch"]);
    let call = call.input(lines(ids)).limit(TIME_LIMIT);
    call.stream(|stdout| {
        let mut line = String::new();
        for index in 0..ids.len() {
            line.clear();
            stdout.by_ref().take(1 << 10).read_line(&mut line)?;
            let Some(size) = size(line.trim_end()) else {
                if line.ends_with(" missing\n") {
                    continue;
                }
                return Err(io::Error::from(io::ErrorKind::InvalidData));
            };
            let mut content = stdout.by_ref().take(size);
            take(index, &mut content)?;
            io::copy(&mut content, &mut io::sink())?;
            let mut end = [0];
            stdout.read_exact(&mut end)?;
        }
        Ok(())
    })
}

/// Stores `bytes` in our repository and returns their id.
pub(crate) fn store(repo: &Repository, bytes: Vec<u8>) -> Result<String, ChangeError> {
    let call = repo.call().args(["hash-object", "-w", "--stdin"]);
    call.input(bytes).line()
}

/// Returns the content of one object, which must be there.
pub(crate) fn content(repo: &Repository, id: &str) -> Result<Vec<u8>, ChangeError> {
    let mut bytes = None;
    each(repo, &[id], |_, content| {
        content.read_to_end(bytes.insert(Vec::new())).map(|_| ())
    })?;
    bytes.ok_or_else(|| ChangeError::ObjectMissing { id: id.to_owned() })
}

fn lines<S: AsRef<str>>(ids: &[S]) -> Vec<u8> {
    let mut input = Vec::new();
    for id in ids {
        // Writing to memory does not fail.
        let _ = writeln!(input, "{}", id.as_ref());
    }
    input
}

/// Reads `ID TYPE SIZE`.
fn size(line: &str) -> Option<u64> {
    let mut words = line.split(' ');
    let (_id, _kind) = (words.next()?, words.next()?);
    words.next()?.parse().ok()
}

fn unreadable() -> ChangeError {
    ChangeError::GitUnreadable {
        command: "cat-file".to_owned(),
    }
}
