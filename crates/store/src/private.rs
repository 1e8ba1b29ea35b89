//! Files and directories that only their owner may read, whatever the umask says.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::path::Path;

/// Creates `path` and its parents. Directories that exist stay as they are.
pub(crate) fn create_directory(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    if let Some(parent) = path.parent()
        && parent != Path::new("")
    {
        create_directory(parent)?;
    }
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match builder.create(path) {
        // A umask may have taken away even the owner's rights.
        #[cfg(unix)]
        Ok(()) => {
            std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o700))
        }
        #[cfg(not(unix))]
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            // Another process was faster, or a file has the name.
            if path.is_dir() {
                return Ok(());
            }
            let reason = format!("{} is not a directory", path.display());
            Err(io::Error::new(io::ErrorKind::NotADirectory, reason))
        }
        Err(error) => Err(error),
    }
}

/// Creates an empty file; fails when something of that name exists.
pub(crate) fn create_file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path)?;
    // By its handle, because another process may already have renamed or removed it.
    #[cfg(unix)]
    file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
    Ok(file)
}

/// Opens a file for writing, and creates it empty when it is missing.
pub(crate) fn open_or_create_file(path: &Path) -> io::Result<File> {
    match create_file(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            OpenOptions::new().read(true).write(true).open(path)
        }
        result => result,
    }
}

/// Tells why this process may not write to `path`, without opening it.
///
/// Closing any handle of a file drops the locks that SQLite holds on it in the same process.
#[cfg(unix)]
pub(crate) fn check_writable(path: &Path) -> io::Result<()> {
    use nix::unistd::{AccessFlags, access};
    if path.is_dir() {
        return Err(io::Error::new(
            io::ErrorKind::IsADirectory,
            "it is a directory",
        ));
    }
    Ok(access(path, AccessFlags::R_OK | AccessFlags::W_OK)?)
}

#[cfg(not(unix))]
pub(crate) fn check_writable(path: &Path) -> io::Result<()> {
    if path.metadata()?.permissions().readonly() {
        return Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            "it is read-only",
        ));
    }
    Ok(())
}

/// Lets nobody but the owner read or write a file, and the owner both.
pub(crate) fn make_private(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
    Ok(())
}
