//! Files of the ledger: private, written whole or not at all.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tribunal_agents::Reply;
use tribunal_core::ids::{AgentName, CaseId, RunId};

use crate::change::ObjectFormat;
use crate::git_dir::make_git_dir;
use crate::place::{RECORD_FILE, all_ledgers, name_of_places};
use crate::unsynced::Unsynced;
use crate::worktree::remove_tree;

/// Whether a file must survive a power cut the moment its writing returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// Survives the death of the process.
    Process,
    /// Survives the death of the machine.
    Machine,
}

/// The directory of a ledger and the names of what lies in it.
#[derive(Debug, Clone)]
pub struct LedgerDir {
    root: PathBuf,
    /// Where agents write; the ledger itself may lie in the user's tree.
    worktrees: PathBuf,
    /// Where agents work that only read.
    workplaces: PathBuf,
    unsynced: Arc<Unsynced>,
}

impl LedgerDir {
    /// Makes the directory if it is missing. It tells git to ignore itself, unless it is a place outside
    /// of every project.
    pub fn create(root: PathBuf) -> io::Result<Self> {
        create_private_dir(&root)?;
        let ignore = root.join(".gitignore");
        if !ignore.exists() && !root.join(RECORD_FILE).exists() {
            write_private(&ignore, b"*\n", Durability::Process)?;
        }
        Ok(Self::existing(root))
    }

    /// Returns a directory that is there, and writes nothing.
    #[must_use]
    pub fn existing(root: PathBuf) -> Self {
        let (worktrees, workplaces) = (root.join("worktrees"), root.join("work"));
        Self {
            root,
            worktrees,
            workplaces,
            unsynced: Arc::default(),
        }
    }

    /// Lets agents work below `directory`, in places of this ledger's own. It is outside of the
    /// user's tree, whose files could instruct them, and below no directory that git ignores.
    #[must_use]
    pub fn with_places_in(mut self, directory: &Path) -> Self {
        let root = self.root.canonicalize().unwrap_or(self.root.clone());
        let name = name_of_places(&root);
        self.worktrees = directory.join("worktrees").join(&name);
        self.workplaces = directory.join("work").join(name);
        self
    }

    /// Returns where the agents of a case write, each in a directory of its own.
    #[must_use]
    pub fn worktrees(&self, case: &CaseId) -> PathBuf {
        self.worktrees.join(case.as_str())
    }

    /// Returns the cases of which something lies where agents write, whoever left it.
    #[must_use]
    pub(crate) fn cases_with_worktrees(&self) -> Vec<CaseId> {
        cases_in(&self.worktrees)
    }

    /// Returns the cases of which something lies where agents read, whoever left it.
    #[must_use]
    pub(crate) fn cases_with_workplaces(&self) -> Vec<CaseId> {
        cases_in(&self.workplaces)
    }

    /// Returns the directory itself.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns what other programs must not see: the ledger, and all others of this user.
    #[must_use]
    pub(crate) fn hidden(&self) -> Vec<PathBuf> {
        let all = all_ledgers(&self.root).map(Path::to_owned);
        std::iter::once(self.root.clone()).chain(all).collect()
    }

    /// Returns the database file.
    #[must_use]
    pub fn database(&self) -> PathBuf {
        self.root.join("ledger.db")
    }

    /// Tells whether there are files that a ledger has only after its first event.
    #[must_use]
    pub fn was_used(&self) -> bool {
        let holds = |name: &str| {
            let entries = fs::read_dir(self.root.join(name));
            entries.is_ok_and(|mut entries| entries.next().is_some())
        };
        self.root.join("ledger.db-first").exists() || holds("runs") || holds("packs")
    }

    /// Returns where the files of one run lie.
    #[must_use]
    pub fn run(&self, run: &RunId) -> PathBuf {
        self.runs().join(run.as_str())
    }

    /// Returns where the files of all runs lie.
    #[must_use]
    pub fn runs(&self) -> PathBuf {
        self.root.join("runs")
    }

    /// Returns where it is remembered that linters report what they should.
    #[must_use]
    pub(crate) fn proofs(&self) -> PathBuf {
        self.root.join("proofs")
    }

    /// Returns the isolated home directory of one agent.
    #[must_use]
    pub fn home(&self, agent: &AgentName) -> PathBuf {
        self.homes().join(agent.as_str())
    }

    /// Returns where the isolated home directories lie.
    #[must_use]
    pub fn homes(&self) -> PathBuf {
        self.root.join("homes")
    }

    /// Returns the directory in which the agents of a case work when they are given no other.
    #[must_use]
    pub fn workplace(&self, case: &CaseId) -> PathBuf {
        self.workplaces.join(case.as_str())
    }

    /// Makes that directory, with nothing in it at first but a repository without files: whoever
    /// looks upwards for one finds no other.
    pub(crate) fn make_workplace(&self, case: &CaseId) -> io::Result<PathBuf> {
        let path = self.workplace(case);
        let dot_git = path.join(".git");
        if !dot_git.join("HEAD").exists() {
            make_git_dir(&dot_git, ObjectFormat::Sha1, None)?;
        }
        Ok(path)
    }

    /// Removes that directory with all that agents left in it.
    pub(crate) fn clear_workplace(&self, case: &CaseId) -> io::Result<()> {
        remove_tree(&self.workplace(case))
    }

    /// Returns our own clone of the user's repository, from which changes are read.
    #[must_use]
    pub(crate) fn clone_of_repository(&self) -> PathBuf {
        self.root.join("repository.git")
    }

    /// Returns the files that are to be on disk before anybody is told of what refers to them.
    pub(crate) fn unsynced(&self) -> &Arc<Unsynced> {
        &self.unsynced
    }

    /// Stores `bytes` under their hash, which is returned. They are on disk before anybody is told of
    /// an event that was stored after this.
    pub(crate) fn put_blob(&self, bytes: &[u8]) -> io::Result<String> {
        let hash = self.put_passing_blob(bytes)?;
        // Whoever stored the same before may not have waited for it.
        self.unsynced.add(self.blob(&hash));
        Ok(hash)
    }

    /// Does the same for what may be lost with the machine, because the user has it too.
    pub(crate) fn put_passing_blob(&self, bytes: &[u8]) -> io::Result<String> {
        let hash = hash_of(bytes);
        let path = self.blob(&hash);
        if path.exists() {
            // Nobody may have referred to it for long; `gc` must see that somebody is about to.
            let _lock = self.lock_texts(false)?;
            match OpenOptions::new().write(true).open(&path) {
                Ok(file) => {
                    file.set_modified(std::time::SystemTime::now())?;
                    return Ok(hash);
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        create_private_dir(path.parent().unwrap_or(&self.root))?;
        write_private(&path, bytes, Durability::Process)?;
        Ok(hash)
    }

    /// Keeps everybody else from storing a text that is there already, until the returned file is
    /// dropped.
    pub(crate) fn lock_texts_alone(&self) -> io::Result<File> {
        self.lock_texts(true)
    }

    fn lock_texts(&self, alone: bool) -> io::Result<File> {
        let file = open_private(&self.root.join("texts.lock"))?;
        match alone {
            true => file.lock()?,
            false => file.lock_shared()?,
        }
        Ok(file)
    }

    /// Writes a file of a run that is registered, in place: nobody reads it before the ledger tells of
    /// it. It is on disk before anybody is told of an event that was stored after this.
    pub(crate) fn write_lasting(&self, path: PathBuf, bytes: &[u8]) -> io::Result<()> {
        write_in_place(&path, bytes)?;
        self.unsynced.add(path);
        Ok(())
    }

    /// Returns the bytes stored under `hash`, after checking that they are still those.
    pub(crate) fn get_blob(&self, hash: &str) -> io::Result<Vec<u8>> {
        let bytes = fs::read(self.blob(hash))?;
        if hash_of(&bytes) == hash {
            return Ok(bytes);
        }
        let text = format!("the stored text {hash} was changed");
        Err(io::Error::new(io::ErrorKind::InvalidData, text))
    }

    fn blob(&self, hash: &str) -> PathBuf {
        self.root.join("blobs").join(hash)
    }
}

/// A reply as it lies among the files of its run.
#[derive(serde::Serialize)]
pub(crate) struct KeptReply<'r> {
    /// Whether nobody was paid for it: then it may be there before its run is registered.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) free: bool,
    #[serde(flatten)]
    pub(crate) reply: &'r Reply,
}

/// Tells whether `run_dir` holds an answer that somebody was paid for, as far as anybody knows.
pub(crate) fn holds_paid_answer(run_dir: &Path) -> bool {
    #[derive(serde::Deserialize)]
    struct Mark {
        #[serde(default)]
        free: bool,
    }
    match fs::read(run_dir.join("reply.json")) {
        Ok(bytes) => !serde_json::from_slice(&bytes).is_ok_and(|mark: Mark| mark.free),
        Err(error) => error.kind() != io::ErrorKind::NotFound,
    }
}

/// Returns the hash by which contents are known in the ledger.
#[must_use]
pub fn hash_of(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}

/// Returns the cases that have a directory of their name in `directory`.
fn cases_in(directory: &Path) -> Vec<CaseId> {
    let entries = fs::read_dir(directory).into_iter().flatten();
    let names = entries.flatten().map(|entry| entry.file_name());
    let mut cases: Vec<CaseId> = names
        .filter_map(|name| CaseId::new(name.to_string_lossy()).ok())
        .collect();
    cases.sort();
    cases
}

/// Makes a directory and its parents, readable by the user alone.
pub(crate) fn create_private_dir(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Writes a private file: a reader sees the old contents or the new, never a part.
pub(crate) fn write_private(path: &Path, bytes: &[u8], durability: Durability) -> io::Result<()> {
    write_atomically(path, bytes, 0o600, durability)
}

/// Writes a private file that nobody reads before they are told of it: it needs no other name
/// meanwhile.
pub(crate) fn write_in_place(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600);
    options.open(path)?.write_all(bytes)
}

/// Creates an empty private file; fails where something has the name.
pub(crate) fn create_private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(0o600);
    options.open(path)
}

/// Opens a private file for a lock, and makes it where it is missing.
pub(crate) fn open_private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false).mode(0o600);
    options.open(path)
}

/// Writes a file for the user, who decides by umask who else may read it. Nobody but the user's group
/// may ever write it.
pub fn write_shared(path: &Path, bytes: &[u8]) -> io::Result<()> {
    write_atomically(path, bytes, 0o664, Durability::Machine)
}

/// Does the same by way of a file of this name beside it, which must be the caller's alone: one that
/// is there was left behind.
pub(crate) fn write_shared_by(temporary: &Path, path: &Path, bytes: &[u8]) -> io::Result<()> {
    match fs::remove_file(temporary) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    write_by(temporary, path, bytes, 0o664, Durability::Machine)
}

fn write_atomically(
    path: &Path,
    bytes: &[u8],
    mode: u32,
    durability: Durability,
) -> io::Result<()> {
    let parent = path.parent().unwrap_or(Path::new("."));
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let temporary = parent.join(format!(".{name}.{}", uuid::Uuid::new_v4().simple()));
    write_by(&temporary, path, bytes, mode, durability)
}

fn write_by(
    temporary: &Path,
    path: &Path,
    bytes: &[u8],
    mode: u32,
    durability: Durability,
) -> io::Result<()> {
    let parent = path.parent().unwrap_or(Path::new("."));
    let written = write_new(temporary, bytes, mode, durability).and_then(|()| {
        tribunal_store::crashpoint!("files.rename.before");
        fs::rename(temporary, path)
    });
    if written.is_err() {
        // Best effort: the error that matters is the one we return.
        let _ = fs::remove_file(temporary);
    }
    written?;
    tribunal_store::crashpoint!("files.rename.after");
    if durability == Durability::Machine {
        File::open(parent)?.sync_all()?;
    }
    Ok(())
}

fn write_new(path: &Path, bytes: &[u8], mode: u32, durability: Durability) -> io::Result<()> {
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(mode)
        .open(path)?;
    file.write_all(bytes)?;
    if durability == Durability::Machine {
        file.sync_all()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn files_and_directories_are_private_whatever_the_umask() {
        let temp = tempfile::tempdir().unwrap();
        let dir = LedgerDir::create(temp.path().join("a/ledger")).unwrap();
        let hash = dir.put_blob(b"text").unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(dir.root()), 0o700);
        assert_eq!(mode(&dir.blob(&hash)), 0o600);
    }

    #[test]
    fn ledgers_of_other_projects_are_hidden_with_the_own_one() {
        let temp = tempfile::tempdir().unwrap();
        let all = temp.path().join("ledgers");
        let own = all.join("0123");
        create_private_dir(&own).unwrap();
        let dir = LedgerDir::existing(own.clone());
        assert_eq!(
            dir.hidden(),
            std::slice::from_ref(&own),
            "a directory of that name alone is not ours"
        );
        fs::write(own.join(RECORD_FILE), "{}").unwrap();
        assert_eq!(dir.hidden(), [own, all]);
    }

    #[test]
    fn a_changed_blob_is_noticed() {
        let temp = tempfile::tempdir().unwrap();
        let dir = LedgerDir::create(temp.path().to_owned()).unwrap();
        let hash = dir.put_blob(b"text").unwrap();
        assert_eq!(dir.get_blob(&hash).unwrap(), b"text");
        fs::write(dir.blob(&hash), b"other").unwrap();
        assert!(dir.get_blob(&hash).is_err());
    }

    #[test]
    fn an_overwritten_file_leaves_no_temporary_behind() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("x");
        write_private(&path, b"1", Durability::Process).unwrap();
        write_private(&path, b"2", Durability::Machine).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"2");
        assert_eq!(fs::read_dir(temp.path()).unwrap().count(), 1);
    }
}
