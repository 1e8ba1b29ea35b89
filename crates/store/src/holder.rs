//! Processes that own cases, and how one learns that another is gone.
//!
//! Each process keeps an OS lock on a file of its own. The lock ends with the process, however it
//! ends, and is never inherited by a process that happens to get the same number. A child that has
//! not yet become another program holds it too, so a process whose number is gone is gone as well.

use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use uuid::Uuid;

use crate::{StoreError, private};

/// How many files left by other processes are looked at when a process announces itself.
const SWEEP: usize = 64;

/// The length of what the system calls its last start: a UUID.
const BOOT_CHARS: usize = 36;

/// This machine since its last start, and the space in which its processes are numbered.
static THIS_HOST: LazyLock<String> = LazyLock::new(|| {
    let name = read_line("/proc/sys/kernel/hostname").or_else(|| read_line("/etc/hostname"));
    let name = name.or_else(|| std::env::var("HOSTNAME").ok());
    let boot = read_line("/proc/sys/kernel/random/boot_id");
    let name = name.unwrap_or_else(|| "localhost".to_owned());
    let space = std::fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    format!("{name}#{}{}", boot.unwrap_or_default(), space.display())
});

/// A process that owns cases: `host`, `pid` and a random part make it unique.
#[derive(Debug, Clone)]
pub struct Holder {
    /// The machine, the time since its last start and the space of process numbers, as
    /// `name#boot space`.
    pub host: String,
    /// The process on that machine.
    pub pid: u32,
    /// Random, so that a reused pid is another holder.
    pub nonce: String,
    /// Shared by all copies: the process counts as alive until the last of them is dropped.
    _announced: Option<Arc<Announcement>>,
}

impl PartialEq for Holder {
    fn eq(&self, other: &Self) -> bool {
        (&self.host, self.pid, &self.nonce) == (&other.host, other.pid, &other.nonce)
    }
}

impl Eq for Holder {}

impl Holder {
    /// Announces this process to all that use the ledger in `directory`.
    ///
    /// It counts as alive until the returned value and all its copies are dropped, or the process
    /// ends.
    pub fn for_this_process(directory: &Path) -> Result<Self, StoreError> {
        let holders = holders_in(directory);
        let announcement = Announcement::new(&holders)
            .map_err(|error| StoreError::of_file("announce this process to", &holders, &error))?;
        sweep(&holders);
        Ok(Self {
            host: THIS_HOST.clone(),
            pid: std::process::id(),
            nonce: announcement.nonce.clone(),
            _announced: Some(Arc::new(announcement)),
        })
    }

    /// Returns this process without announcing it, for what nobody else gets to see.
    #[must_use]
    pub fn unannounced() -> Self {
        Self::named("", std::process::id(), "")
    }

    /// Returns a holder that is only spoken of; this process does not vouch for its life.
    #[must_use]
    pub fn named(host: impl Into<String>, pid: u32, nonce: impl Into<String>) -> Self {
        Self {
            host: host.into(),
            pid,
            nonce: nonce.into(),
            _announced: None,
        }
    }

    /// Tells whether its machine is this one since the same start: then both have one clock that
    /// nobody can set.
    pub(crate) fn is_of_this_boot(&self) -> bool {
        let boot = boot_of(&self.host);
        boot.is_some() && boot == boot_of(&THIS_HOST)
    }

    /// Returns the machine's name as a person knows it.
    #[must_use]
    pub fn host_name(&self) -> &str {
        self.host
            .split_once('#')
            .map_or(&self.host, |(name, _)| name)
    }
}

/// Returns the machine's start from a host as `name#boot space`; nothing where it is not known.
fn boot_of(host: &str) -> Option<&str> {
    let (_, boot) = host.split_once('#')?;
    let boot = boot.get(..BOOT_CHARS)?;
    let is_id = |byte: u8| byte.is_ascii_hexdigit() || byte == b'-';
    boot.bytes().all(is_id).then_some(boot)
}

/// Tells whether the process of `holder` may still be running.
///
/// Of another machine nothing is known, so the answer is yes and the lease's end must decide.
pub(crate) fn may_live(directory: &Path, holder: &Holder) -> bool {
    let is_name = holder
        .nonce
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric());
    if holder.host != *THIS_HOST || !is_name {
        return true;
    }
    is_locked(&lock_file(&holders_in(directory), &holder.nonce)) && exists(holder.pid)
}

/// Tells whether a process has this number, as far as the system says.
fn exists(process: u32) -> bool {
    let Ok(process) = i32::try_from(process) else {
        return true;
    };
    let asked = nix::sys::signal::kill(nix::unistd::Pid::from_raw(process), None);
    asked != Err(nix::errno::Errno::ESRCH)
}

/// The lock file of this process, held as long as this value lives.
#[derive(Debug)]
struct Announcement {
    nonce: String,
    path: PathBuf,
    _file: File,
}

impl Announcement {
    fn new(holders: &Path) -> io::Result<Self> {
        private::create_directory(holders)?;
        loop {
            let nonce = Uuid::new_v4().simple().to_string();
            let path = lock_file(holders, &nonce);
            let file = private::create_file(&path)?;
            file.lock()?;
            // Between creating and locking, a sweep may have taken us for dead.
            if path.exists() {
                return Ok(Self {
                    nonce,
                    path,
                    _file: file,
                });
            }
        }
    }
}

impl Drop for Announcement {
    fn drop(&mut self) {
        // A file that stays behind is removed by the next sweep.
        let _ = std::fs::remove_file(&self.path);
    }
}

fn holders_in(directory: &Path) -> PathBuf {
    directory.join("holders")
}

fn lock_file(holders: &Path, nonce: &str) -> PathBuf {
    holders.join(format!("{nonce}.lock"))
}

/// Tells whether a process holds the lock on `path`, and removes the file when none does.
fn is_locked(path: &Path) -> bool {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) => return error.kind() != io::ErrorKind::NotFound,
    };
    // A shared lock, so that two processes asking at once do not take each other for the holder.
    match file.try_lock_shared() {
        Ok(()) => {
            let _ = std::fs::remove_file(path);
            false
        }
        // Where we cannot tell, the end of the lease decides.
        Err(TryLockError::WouldBlock | TryLockError::Error(_)) => true,
    }
}

/// Removes lock files of processes that are gone.
fn sweep(holders: &Path) {
    let Ok(entries) = std::fs::read_dir(holders) else {
        return;
    };
    for entry in entries.flatten().take(SWEEP) {
        if entry.path().extension().is_some_and(|ext| ext == "lock") {
            is_locked(&entry.path());
        }
    }
}

fn read_line(path: &str) -> Option<String> {
    let text = std::fs::read_to_string(path).ok()?;
    let line = text.trim().to_owned();
    (!line.is_empty()).then_some(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_holder_lives_until_its_last_copy_is_dropped() {
        let dir = tempfile::tempdir().unwrap();
        let holder = Holder::for_this_process(dir.path()).unwrap();
        let copy = holder.clone();
        let named = Holder::named(holder.host.clone(), holder.pid, holder.nonce.clone());
        assert_eq!(named, holder);
        drop(holder);
        assert!(may_live(dir.path(), &named));
        drop(copy);
        assert!(!may_live(dir.path(), &named));
    }

    #[test]
    fn a_holder_is_gone_with_its_process_even_if_a_child_still_has_its_lock() {
        let dir = tempfile::tempdir().unwrap();
        let holder = Holder::for_this_process(dir.path()).unwrap();
        let mut child = std::process::Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        let killed = Holder::named(holder.host.clone(), child.id(), holder.nonce.clone());
        assert!(!may_live(dir.path(), &killed));
        assert!(may_live(dir.path(), &holder));
    }

    #[test]
    fn a_holder_elsewhere_may_always_live() {
        let dir = tempfile::tempdir().unwrap();
        assert!(may_live(dir.path(), &Holder::named("moon#1", 7, "abc")));
        let outside = Holder::named(THIS_HOST.clone(), 7, "../../abc");
        assert!(may_live(dir.path(), &outside));
    }

    #[test]
    fn files_of_the_dead_are_swept() {
        let dir = tempfile::tempdir().unwrap();
        let holders = holders_in(dir.path());
        private::create_directory(&holders).unwrap();
        private::create_file(&lock_file(&holders, "dead")).unwrap();
        let _holder = Holder::for_this_process(dir.path()).unwrap();
        assert_eq!(std::fs::read_dir(&holders).unwrap().count(), 1);
    }
}
