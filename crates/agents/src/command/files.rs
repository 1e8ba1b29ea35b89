//! Files and directories that only their owner can read, whatever the umask.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// Creates or empties the file at `path`; what is written is always appended, so that a file
/// which is cut back while its writer lives does not grow a hole.
pub(super) fn create(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new()
        .create(true)
        .append(true)
        .mode(0o600)
        .open(path)?;
    file.set_permissions(Permissions::from_mode(0o600))?;
    file.set_len(0)?;
    Ok(file)
}

/// Writes `content` to a private file at `path`.
pub(super) fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    create(path)?.write_all(content)
}

/// Makes sure that the file at `path` holds `content`, at every moment whole for other readers.
pub(super) fn keep(path: &Path, content: &str) -> io::Result<()> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    if fs::read(path).is_ok_and(|present| present == content.as_bytes()) {
        return Ok(());
    }
    if let Some(parent) = path.parent() {
        directory(parent)?;
    }
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let new = path.with_extension(format!("{}-{number}.new", std::process::id()));
    write(&new, content.as_bytes())?;
    fs::rename(&new, path)
}

/// Makes sure that `path` is a private directory.
pub(super) fn directory(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)?;
    fs::set_permissions(path, Permissions::from_mode(0o700))
}

/// Removes the file at `path` if there is one.
pub(super) fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
