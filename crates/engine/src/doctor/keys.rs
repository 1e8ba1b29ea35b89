//! Keys of agents must stand in nothing that we keep or write.
//!
//! The raw output of a program is its own and is not looked at; what we make of it is.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use tribunal_core::dispute::file::FILE_NAME;
use tribunal_core::ids::{CaseId, RunId};
use tribunal_store::Violation;

use super::{Subject, found};
use crate::care::pack::{self, Pack, PackedFile};
use crate::care::prompt::{PROMPT_FILE, read_deflated};
use crate::config::Roster;

/// Shorter values are found everywhere by chance.
const SHORTEST_KEY: usize = 12;

/// Bytes that are looked at together.
const CHUNK: usize = 1 << 20;

/// Returns the files in which the key of a configured agent stands.
pub(super) fn exposed(subject: &Subject<'_>, runs: &BTreeSet<String>) -> Vec<Violation> {
    let roster = Roster::new(subject.settings);
    let named = roster
        .with_arbiter()
        .filter_map(|agent| agent.api_key_env.as_deref());
    let keys: Vec<(&str, &[u8])> = named
        .collect::<BTreeSet<&str>>()
        .into_iter()
        .filter_map(|name| Some((name, subject.env.get(name)?.trim().as_bytes())))
        .filter(|(_, key)| key.len() >= SHORTEST_KEY)
        .collect();
    if keys.is_empty() {
        return Vec::new();
    }
    let mut violations = Vec::new();
    for path in kept_files(subject, runs) {
        for (name, key) in &keys {
            if holds(&path, key) {
                let text = format!("the value of {name} stands in {}", path.display());
                violations.push(found("I11", text));
            }
        }
    }
    // One after the other: together they may be larger than memory.
    for file in packed_files(subject).chain(deflated_prompts(subject, runs)) {
        for (name, key) in &keys {
            if memmem(&file.bytes, key) {
                let (run, file) = (&file.run, &file.name);
                let text = format!("the value of {name} stands in the {file} of run {run}");
                violations.push(found("I11", text));
            }
        }
    }
    violations
}

/// Returns the files in packs that we wrote.
fn packed_files(subject: &Subject<'_>) -> impl Iterator<Item = PackedFile> {
    let packs = fs::read_dir(pack::directory(subject.dir))
        .into_iter()
        .flatten();
    let names = packs.flatten().map(|entry| entry.file_name());
    let cases = names.filter_map(|name| CaseId::new(name.to_string_lossy()).ok());
    let packs = cases.filter_map(|case| Pack::read(subject.dir, &case).ok().flatten());
    let files = packs.flat_map(|pack| pack.files().to_vec());
    files.filter(|file| ["prompt.md", "reply.json"].contains(&file.name.as_str()))
}

/// Returns the prompts that lie deflated among the files of runs.
fn deflated_prompts(
    subject: &Subject<'_>,
    runs: &BTreeSet<String>,
) -> impl Iterator<Item = PackedFile> {
    let runs = runs.iter().filter_map(|run| RunId::new(run.clone()).ok());
    runs.filter_map(|run| {
        Some(PackedFile {
            bytes: read_deflated(&subject.dir.run(&run)).ok()?,
            name: PROMPT_FILE.to_owned(),
            run,
        })
    })
}

/// Returns the files that we write.
fn kept_files(subject: &Subject<'_>, runs: &BTreeSet<String>) -> Vec<PathBuf> {
    let root = subject.dir.root();
    let mut files: Vec<PathBuf> = ["ledger.db", "ledger.db-wal"]
        .map(|name| root.join(name))
        .into();
    files.extend(subject.project.map(|project| project.join(FILE_NAME)));
    let blobs = fs::read_dir(root.join("blobs")).into_iter().flatten();
    files.extend(blobs.flatten().map(|entry| entry.path()));
    for run in runs {
        let of_run =
            ["prompt.md", "reply.json"].map(|name| subject.dir.runs().join(run).join(name));
        files.extend(of_run);
    }
    files
}

/// Tells whether `key` stands in a file. One that is not there holds nothing.
fn holds(path: &Path, key: &[u8]) -> bool {
    let Ok(mut file) = File::open(path) else {
        return false;
    };
    let mut window = Vec::with_capacity(CHUNK + key.len());
    loop {
        let read = file.by_ref().take(CHUNK as u64).read_to_end(&mut window);
        if memmem(&window, key) {
            return true;
        }
        if !read.is_ok_and(|length| length > 0) {
            return false;
        }
        // The key may begin in one chunk and end in the next.
        let from = window.len().saturating_sub(key.len() - 1);
        window.drain(..from);
    }
}

fn memmem(text: &[u8], key: &[u8]) -> bool {
    let Some((first, rest)) = key.split_first() else {
        return false;
    };
    let starts = text.iter().enumerate().filter(|(_, byte)| *byte == first);
    let mut tails = starts.filter_map(|(at, _)| text.get(at + 1..));
    tails.any(|tail| tail.starts_with(rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_found_wherever_it_stands_in_a_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("text");
        let key = b"sk-canary-4711";
        for before in [0, 1, CHUNK - 7, CHUNK, 2 * CHUNK - 1] {
            let text = [&vec![b's'; before][..], key, b"tail"].concat();
            fs::write(&path, &text).expect("a file");
            assert!(holds(&path, key), "after {before} bytes");
            fs::write(&path, text.strip_suffix(b"1tail").expect("its end")).expect("a file");
            assert!(!holds(&path, key), "cut after {before} bytes");
        }
        assert!(!holds(&folder.path().join("none"), key));
    }
}
