//! Moves a ledger to its place so that a kill at any moment loses nothing.
//!
//! The old directory gets another name first, so that no older version opens it meanwhile. Its entries
//! follow one by one, `ledger.db` last: as long as it is not in the place, the old directory has
//! everything that is not there. The old directory is removed in the end.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use nix::fcntl::{FcntlArg, fcntl};

use super::PlaceError;
use crate::files::{create_private_dir, hash_of};
use crate::worktree::remove_tree;

/// The database, which is moved after everything else.
const DATABASE: &str = "ledger.db";

/// Where SQLite's locks on the database file begin, and how many bytes they take.
const SQLITE_LOCKS: (i64, i64) = (0x4000_0000, 512);

/// Returns the name that the directory has while it is moved. Nobody can guess it and put something else
/// there.
fn aside_of(from: &Path, place: &Path) -> PathBuf {
    let id = place.file_name().unwrap_or_default().to_string_lossy();
    from.with_file_name(format!("ledger.moving-{id}"))
}

/// Moves the ledger in `from` to `place`, or goes on where that was interrupted.
pub(super) fn move_to_place(from: &Path, place: &Path, state_dir: &Path) -> Result<(), PlaceError> {
    let aside = aside_of(from, place);
    let failed = || PlaceError::of_file("move the ledger", from);
    if !place.join(DATABASE).exists() {
        if !aside.exists() {
            put_aside(from, &aside)?;
        }
        move_entries(&aside, place).map_err(failed())?;
    }
    tribunal_store::crashpoint!("place.move.copied");
    // All of it is in the place now.
    remove_tree(&aside).map_err(failed())?;
    move_work_places(from, place, state_dir).map_err(failed())
}

/// Gives the directory its other name, unless somebody uses the ledger.
fn put_aside(from: &Path, aside: &Path) -> Result<(), PlaceError> {
    let failed = || PlaceError::of_file("move the ledger", from);
    if is_in_use(from).map_err(failed())? {
        let path = from.to_owned();
        return Err(PlaceError::InUse { path });
    }
    fs::rename(from, aside).map_err(failed())?;
    tribunal_store::crashpoint!("place.move.aside");
    // Somebody may have opened it in the moment between.
    if is_in_use(aside).map_err(failed())? {
        fs::rename(aside, from).map_err(failed())?;
        let path = from.to_owned();
        return Err(PlaceError::InUse { path });
    }
    Ok(())
}

/// Tells whether a process has the ledger open or announced itself there.
fn is_in_use(ledger: &Path) -> io::Result<bool> {
    for entry in fs::read_dir(ledger.join("holders")).into_iter().flatten() {
        match File::open(entry?.path())?.try_lock() {
            Ok(()) => {}
            Err(fs::TryLockError::WouldBlock) => return Ok(true),
            Err(fs::TryLockError::Error(error)) => return Err(error),
        }
    }
    let database = File::options()
        .read(true)
        .write(true)
        .open(ledger.join(DATABASE))?;
    // Every connection keeps a lock on some of these bytes.
    let mut lock = nix::libc::flock {
        l_type: nix::libc::F_WRLCK as nix::libc::c_short,
        l_whence: nix::libc::SEEK_SET as nix::libc::c_short,
        l_start: SQLITE_LOCKS.0,
        l_len: SQLITE_LOCKS.1,
        l_pid: 0,
    };
    fcntl(&database, FcntlArg::F_OFD_GETLK(&mut lock))?;
    Ok(i32::from(lock.l_type) != nix::libc::F_UNLCK)
}

fn move_entries(aside: &Path, place: &Path) -> io::Result<()> {
    let mut names: Vec<_> = fs::read_dir(aside)?
        .map(|entry| entry.map(|entry| entry.file_name()))
        .collect::<io::Result<_>>()?;
    // The index of the log is made anew by whoever opens the database.
    names.retain(|name| name != "ledger.db-shm" && name != ".gitignore");
    names.sort_by_key(|name| (name == DATABASE, name.clone()));
    for name in names {
        let (old, new) = (aside.join(&name), place.join(&name));
        if name == DATABASE {
            File::open(place)?.sync_all()?;
        }
        move_entry(&old, &new)?;
        tribunal_store::crashpoint!("place.move.entry");
    }
    File::open(place)?.sync_all()
}

/// Moves a file or directory; copies it first if it is on another file system.
fn move_entry(old: &Path, new: &Path) -> io::Result<()> {
    match fs::rename(old, new) {
        Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {}
        // A place without a database has nothing that anybody refers to.
        Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => {
            remove_tree(new)?;
            return fs::rename(old, new);
        }
        result => return result,
    }
    if fs::symlink_metadata(new).is_ok() {
        // An earlier attempt copied it completely.
        return Ok(());
    }
    let name = new.file_name().unwrap_or_default().to_string_lossy();
    let unfinished = new.with_file_name(format!(".{name}.moving"));
    match fs::symlink_metadata(&unfinished) {
        Ok(found) if found.is_dir() => remove_tree(&unfinished)?,
        Ok(_) => fs::remove_file(&unfinished)?,
        Err(_) => {}
    }
    copy(old, &unfinished)?;
    fs::rename(&unfinished, new)
}

/// Copies a file, a link or a whole directory, and waits until the copy is on disk.
fn copy(old: &Path, new: &Path) -> io::Result<()> {
    let kind = fs::symlink_metadata(old)?;
    if kind.is_symlink() {
        return std::os::unix::fs::symlink(fs::read_link(old)?, new);
    }
    if kind.is_dir() {
        create_private_dir(new)?;
        for entry in fs::read_dir(old)? {
            let entry = entry?;
            copy(&entry.path(), &new.join(entry.file_name()))?;
        }
        let mode = kind.permissions().mode();
        fs::set_permissions(new, fs::Permissions::from_mode(mode))?;
        return File::open(new)?.sync_all();
    }
    // Sockets and pipes of programs that ended mean nothing.
    if kind.is_file() {
        fs::copy(old, new)?;
        File::open(new)?.sync_all()?;
    }
    Ok(())
}

/// Renames the places of agents, whose names are made from the path of the ledger.
fn move_work_places(from: &Path, place: &Path, state_dir: &Path) -> io::Result<()> {
    let place = place.canonicalize()?;
    for kind in ["worktrees", "work"] {
        let named = |ledger: &Path| state_dir.join(kind).join(name_of_places(ledger));
        let (old, new) = (named(from), named(&place));
        if old.is_dir() && !new.exists() {
            fs::rename(old, new)?;
        }
    }
    Ok(())
}

/// Returns the name of the directory in which the agents of a ledger have their places.
pub(crate) fn name_of_places(ledger: &Path) -> String {
    let hash = hash_of(ledger.as_os_str().as_encoded_bytes());
    hash.chars().take(16).collect()
}
