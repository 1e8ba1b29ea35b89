//! Removes whatever an agent left, also what it made hard to remove.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

/// Removes a directory with all that is in it; one that is missing is removed.
///
/// Some tools protect their caches by taking the right to write away from directories. It is given
/// back where needed. Links are removed, never followed.
///
/// # Errors
///
/// The system refuses although the right was given.
pub fn remove_tree(path: &Path) -> io::Result<()> {
    match fs::remove_dir_all(path) {
        Ok(()) => return Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(_) => {}
    }
    unlock(path)?;
    fs::remove_dir_all(path)
}

/// Gives us back the right to change all directories below `path`.
fn unlock(path: &Path) -> io::Result<()> {
    let mut folders = vec![path.to_owned()];
    while let Some(folder) = folders.pop() {
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o700))?;
        for entry in fs::read_dir(&folder)?.flatten() {
            if entry.file_type()?.is_dir() {
                folders.push(entry.path());
            }
        }
    }
    Ok(())
}
