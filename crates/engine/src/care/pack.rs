//! The files of all runs of one case in one small file.
//!
//! A pack is a line that tells what it is, the hash of its contents, and the contents squeezed: a
//! list of files, then their bytes. It lies in `packs/` under the name of the case. Whoever goes on with the case
//! unpacks it first, so that only readers need to know packs.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tribunal_core::ids::{CaseId, RunId};

use super::prompt::{DEFLATED_FILE, PROMPT_FILE, read_deflated};
use super::squeeze::{MOST_BYTES, damaged, expand, squeeze};
use crate::files::{self, Durability, LedgerDir};

/// What a pack begins with.
const MAGIC: &[u8] = b"tribunal pack 1\n";

/// Bytes of the hash of the contents.
const HASH: usize = 32;

/// Files of runs, as they lie in a pack.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Pack {
    files: Vec<PackedFile>,
}

/// One file of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PackedFile {
    /// The run it belongs to.
    pub(crate) run: RunId,
    /// Its name in the directory of the run.
    pub(crate) name: String,
    /// What it holds.
    pub(crate) bytes: Vec<u8>,
}

/// An entry of the list at the beginning of the contents.
#[derive(Serialize, Deserialize)]
struct Listed {
    run: RunId,
    name: String,
    length: usize,
}

impl Pack {
    /// Returns the pack of a case; nothing where it has none.
    pub(crate) fn read(dir: &LedgerDir, case: &CaseId) -> io::Result<Option<Self>> {
        match fs::read(path_of(dir, case)) {
            Ok(bytes) => Self::decode(&bytes).map(Some),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns a file of a run.
    pub(crate) fn file(&self, run: &RunId, name: &str) -> Option<&[u8]> {
        let is_it = |file: &&PackedFile| file.run == *run && file.name == name;
        self.files
            .iter()
            .find(is_it)
            .map(|file| file.bytes.as_slice())
    }

    /// Returns all files.
    pub(crate) fn files(&self) -> &[PackedFile] {
        &self.files
    }

    /// Puts a file there, in place of one of the same name.
    pub(super) fn put(&mut self, file: PackedFile) {
        self.files
            .retain(|one| one.run != file.run || one.name != file.name);
        self.files.push(file);
    }

    /// Returns the bytes that a pack file holds.
    pub(super) fn encode(&self) -> io::Result<Vec<u8>> {
        let listed = self.files.iter().map(|file| Listed {
            run: file.run.clone(),
            name: file.name.clone(),
            length: file.bytes.len(),
        });
        let list = serde_json::to_vec(&listed.collect::<Vec<_>>())?;
        let mut contents = (list.len() as u64).to_le_bytes().to_vec();
        contents.extend(list);
        for file in &self.files {
            contents.extend_from_slice(&file.bytes);
        }
        let hash = blake3::hash(&contents);
        Ok([MAGIC, hash.as_bytes().as_slice(), &squeeze(&contents)?].concat())
    }

    /// Returns the pack that these bytes hold, after checking that they are as they were written.
    pub(super) fn decode(bytes: &[u8]) -> io::Result<Self> {
        let rest = bytes.strip_prefix(MAGIC).ok_or_else(damaged)?;
        let (hash, squeezed) = rest.split_at_checked(HASH).ok_or_else(damaged)?;
        let contents = expand(squeezed)?;
        if blake3::hash(&contents).as_bytes().as_slice() != hash {
            return Err(damaged());
        }
        Self::parse(&contents).ok_or_else(damaged)
    }

    fn parse(mut contents: &[u8]) -> Option<Self> {
        let length = contents.split_off(..8)?;
        let length = u64::from_le_bytes(length.try_into().ok()?);
        let list = contents.split_off(..usize::try_from(length).ok()?)?;
        let list: Vec<Listed> = serde_json::from_slice(list).ok()?;
        let mut files = Vec::with_capacity(list.len());
        for listed in list {
            if !is_plain_name(&listed.name) {
                return None;
            }
            files.push(PackedFile {
                bytes: contents.split_off(..listed.length)?.to_vec(),
                run: listed.run,
                name: listed.name,
            });
        }
        contents.is_empty().then_some(Self { files })
    }
}

/// Returns where the pack of a case lies.
pub(crate) fn path_of(dir: &LedgerDir, case: &CaseId) -> PathBuf {
    directory(dir).join(case.as_str())
}

/// Returns where packs lie.
pub(crate) fn directory(dir: &LedgerDir) -> PathBuf {
    dir.root().join("packs")
}

/// Tells whether a name is that of a file and leads nowhere else.
pub(super) fn is_plain_name(name: &str) -> bool {
    !name.is_empty() && name != "." && name != ".." && !name.contains(['/', '\0'])
}

/// Puts the files of `runs` into the pack of their case, with what is in it already. The files are
/// still there afterwards. Returns false where they are too large to be handled as one.
pub(super) fn write_pack(dir: &LedgerDir, case: &CaseId, runs: &[RunId]) -> io::Result<bool> {
    let mut pack = Pack::read(dir, case)?.unwrap_or_default();
    let mut total: usize = pack.files.iter().map(|file| file.bytes.len()).sum();
    for run in runs {
        let loose = match loose_files(dir, run, MOST_BYTES.saturating_sub(total)) {
            Err(error) if error.kind() == io::ErrorKind::FileTooLarge => return Ok(false),
            loose => loose?,
        };
        for file in loose {
            total = total.saturating_add(file.bytes.len());
            pack.put(file);
        }
        if total >= MOST_BYTES / 2 {
            return Ok(false);
        }
    }
    let bytes = pack.encode()?;
    // Before files are removed it must be certain that they can be had again.
    if Pack::decode(&bytes)? != pack {
        return Err(damaged());
    }
    files::create_private_dir(&directory(dir))?;
    files::write_private(&path_of(dir, case), &bytes, Durability::Machine)?;
    Ok(true)
}

/// Puts the files of a packed case back where they were, and removes the pack.
pub(crate) fn unpack(dir: &LedgerDir, case: &CaseId) -> io::Result<()> {
    let Some(pack) = Pack::read(dir, case)? else {
        return Ok(());
    };
    for file in &pack.files {
        let place = dir.run(&file.run);
        files::create_private_dir(&place)?;
        let path = place.join(&file.name);
        // What lies there is newer: somebody was stopped half-way.
        if !path.exists() {
            files::write_private(&path, &file.bytes, Durability::Machine)?;
        }
    }
    fs::remove_file(path_of(dir, case))
}

/// Returns the files that lie in the directory of a run.
fn loose_files(dir: &LedgerDir, run: &RunId, most: usize) -> io::Result<Vec<PackedFile>> {
    let place = dir.run(run);
    let mut found = Vec::new();
    let mut left = most;
    for entry in list(&place)? {
        let Some(name) = entry.file_name().to_str().map(str::to_owned) else {
            continue;
        };
        // What the program read as its input is the prompt once more.
        if !entry.file_type()?.is_file() || name == "prompt.txt" || is_temporary(&name) {
            continue;
        }
        let length = usize::try_from(entry.metadata()?.len()).unwrap_or(usize::MAX);
        left = match left.checked_sub(length) {
            Some(left) => left,
            None => {
                let text = format!("the files of run {run} are too large");
                return Err(io::Error::new(io::ErrorKind::FileTooLarge, text));
            }
        };
        let file = match name == DEFLATED_FILE {
            // As it is, its likeness to others could not be seen.
            true => (PROMPT_FILE.to_owned(), read_deflated(&place)?),
            false => (name, fs::read(entry.path())?),
        };
        found.push(PackedFile {
            run: run.clone(),
            name: file.0,
            bytes: file.1,
        });
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(found)
}

/// Returns what lies in a directory; nothing where there is none.
pub(super) fn list(place: &Path) -> io::Result<Vec<fs::DirEntry>> {
    match fs::read_dir(place) {
        Ok(entries) => entries.collect(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// Tells the name of a file that was being written: a point, the name, a point, 32 digits.
pub(super) fn is_temporary(name: &str) -> bool {
    let Some((before, digits)) = name.rsplit_once('.') else {
        return false;
    };
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    before.len() > 1
        && before.starts_with('.')
        && digits.len() == 32
        && digits.bytes().all(is_digit)
}

/// Reads files of the runs of one case, wherever they lie.
pub(crate) struct CaseFiles<'d> {
    dir: &'d LedgerDir,
    case: &'d CaseId,
    /// Read when a file is missed for the first time.
    pack: std::cell::OnceCell<Option<Pack>>,
}

impl<'d> CaseFiles<'d> {
    pub(crate) fn new(dir: &'d LedgerDir, case: &'d CaseId) -> Self {
        Self {
            dir,
            case,
            pack: std::cell::OnceCell::new(),
        }
    }

    /// Returns a file of a run.
    pub(crate) fn read(&self, run: &RunId, name: &str) -> io::Result<Vec<u8>> {
        let path = self.dir.run(run).join(name);
        let missed = match fs::read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => error,
            read => return read,
        };
        if name == PROMPT_FILE
            && let Ok(bytes) = read_deflated(&self.dir.run(run))
        {
            return Ok(bytes);
        }
        if let Some(bytes) = self.pack()?.and_then(|pack| pack.file(run, name)) {
            return Ok(bytes.to_vec());
        }
        // Whoever went on with the case meanwhile has unpacked it.
        fs::read(&path).map_err(|_| missed)
    }

    /// Returns the names of the files of a run.
    pub(super) fn names(&self, run: &RunId) -> io::Result<Vec<String>> {
        let entries = list(&self.dir.run(run))?;
        let plain = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_file());
        let loose = entries.iter().filter(|entry| plain(entry));
        let mut names: Vec<String> = loose
            .filter_map(|entry| entry.file_name().to_str().map(str::to_owned))
            .filter(|name| !is_temporary(name))
            .collect();
        let packed = self.pack()?.map_or(&[][..], |pack| pack.files());
        let packed = packed.iter().filter(|file| file.run == *run);
        names.extend(packed.map(|file| file.name.clone()));
        names.sort();
        names.dedup();
        Ok(names)
    }

    fn pack(&self) -> io::Result<Option<&Pack>> {
        if let Some(pack) = self.pack.get() {
            return Ok(pack.as_ref());
        }
        let pack = Pack::read(self.dir, self.case)?;
        Ok(self.pack.get_or_init(|| pack).as_ref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ledger() -> (tempfile::TempDir, LedgerDir) {
        let temp = tempfile::tempdir().expect("a folder");
        let dir = LedgerDir::create(temp.path().join("ledger")).expect("a ledger");
        (temp, dir)
    }

    fn put(dir: &LedgerDir, run: &RunId, name: &str, text: &str) {
        let place = dir.run(run);
        files::create_private_dir(&place).expect("a place");
        fs::write(place.join(name), text).expect("a file");
    }

    #[test]
    fn packed_files_are_read_as_before_and_come_back() {
        let (_temp, dir) = ledger();
        let case = CaseId::from_bits(1);
        let runs = [RunId::from_bits(1), RunId::from_bits(2)];
        for run in &runs {
            put(&dir, run, "prompt.md", &format!("prompt of {run}\n"));
            put(&dir, run, "prompt.txt", "again");
            put(
                &dir,
                run,
                ".reply.json.0123456789abcdef0123456789abcdef",
                "half",
            );
        }
        put(&dir, &runs[0], "reply.json", "{}");
        assert!(write_pack(&dir, &case, &runs).expect("a pack"));
        for run in &runs {
            fs::remove_dir_all(dir.run(run)).expect("removed");
        }
        let files = CaseFiles::new(&dir, &case);
        assert_eq!(files.read(&runs[0], "reply.json").expect("a file"), b"{}");
        let prompt = files.read(&runs[1], "prompt.md").expect("a file");
        assert_eq!(prompt, format!("prompt of {}\n", runs[1]).into_bytes());
        assert!(files.read(&runs[1], "reply.json").is_err());
        assert_eq!(
            files.names(&runs[0]).expect("names"),
            ["prompt.md", "reply.json"]
        );

        unpack(&dir, &case).expect("unpacked");
        assert!(!path_of(&dir, &case).exists());
        assert_eq!(
            fs::read(dir.run(&runs[0]).join("reply.json")).expect("a file"),
            b"{}"
        );
        assert!(!dir.run(&runs[0]).join("prompt.txt").exists());
    }

    #[test]
    fn packing_again_keeps_what_was_packed_and_prefers_what_is_newer() {
        let (_temp, dir) = ledger();
        let case = CaseId::from_bits(1);
        let (old, new) = (RunId::from_bits(1), RunId::from_bits(2));
        put(&dir, &old, "reply.json", "old");
        assert!(write_pack(&dir, &case, std::slice::from_ref(&old)).expect("a pack"));
        fs::remove_dir_all(dir.run(&old)).expect("removed");
        put(&dir, &new, "reply.json", "first");
        assert!(write_pack(&dir, &case, &[old.clone(), new.clone()]).expect("a pack"));
        put(&dir, &new, "reply.json", "second");
        assert!(write_pack(&dir, &case, &[old.clone(), new.clone()]).expect("a pack"));
        let pack = Pack::read(&dir, &case).expect("a pack").expect("a pack");
        assert_eq!(pack.file(&old, "reply.json"), Some(&b"old"[..]));
        assert_eq!(pack.file(&new, "reply.json"), Some(&b"second"[..]));
    }

    #[test]
    fn a_changed_pack_is_noticed_at_every_byte() {
        let mut pack = Pack::default();
        pack.put(PackedFile {
            run: RunId::from_bits(1),
            name: "prompt.md".to_owned(),
            bytes: b"a question, another question, and yet another question\n".to_vec(),
        });
        let bytes = pack.encode().expect("bytes");
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 1;
            // Some bits of a deflate stream mean nothing; then the contents are the same.
            let read = Pack::decode(&changed);
            assert!(
                read.is_err() || read.is_ok_and(|read| read == pack),
                "byte {at}"
            );
        }
    }

    #[test]
    fn a_name_that_leads_elsewhere_is_refused() {
        for name in ["", ".", "..", "../x", "a/b"] {
            let mut pack = Pack::default();
            pack.put(PackedFile {
                run: RunId::from_bits(1),
                name: name.to_owned(),
                bytes: Vec::new(),
            });
            assert!(
                Pack::decode(&pack.encode().expect("bytes")).is_err(),
                "{name}"
            );
        }
    }

    #[test]
    fn temporary_files_are_told_by_their_names() {
        let digits = "0123456789abcdef0123456789abcdef";
        assert!(is_temporary(&format!(".dispute.md.{digits}")));
        for other in [
            ".gitignore",
            "reply.json",
            ".",
            digits,
            &format!("x.{digits}"),
            &format!("..{digits}"),
        ] {
            assert!(!is_temporary(other), "{other}");
        }
    }
}
