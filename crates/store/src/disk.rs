//! What the disk says when it does not do what it was asked.

use std::io;
use std::path::Path;

use crate::StoreError;

/// With less room than this, a file that SQLite needs beside the ledger finds no place.
const LITTLE: u64 = 64 * 1024;

/// Tells whether `error` means that there is no room left: on the disk, in a quota, or below a limit.
#[must_use]
pub fn is_full(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge
    )
}

/// Tells whether there is no room left where `directory` lies, as far as the system says.
#[cfg(unix)]
#[must_use]
pub fn has_no_room(directory: &Path) -> bool {
    let Ok(found) = nix::sys::statvfs::statvfs(directory) else {
        return false;
    };
    let is_read_only = (found.flags()).contains(nix::sys::statvfs::FsFlags::ST_RDONLY);
    let room = found
        .blocks_available()
        .saturating_mul(found.fragment_size());
    // Some file systems do not count files.
    let no_files = found.files() > 0 && found.files_available() == 0;
    !is_read_only && (room < LITTLE || no_files)
}

/// Tells whether there is no room left where `directory` lies, as far as the system says.
#[cfg(not(unix))]
#[must_use]
pub fn has_no_room(_directory: &Path) -> bool {
    false
}

impl StoreError {
    /// Returns the error for a file of the ledger that the system does not let us use.
    #[must_use]
    pub fn of_file(doing: &'static str, path: &Path, error: &io::Error) -> Self {
        let path = path.to_owned();
        if is_full(error) {
            return Self::DiskFull { doing, path };
        }
        let reason = error.to_string();
        match error.raw_os_error() {
            #[cfg(unix)]
            Some(code) if code == nix::errno::Errno::EIO as i32 => Self::DiskFailed {
                doing,
                path,
                reason,
            },
            Some(_) | None => Self::Unusable {
                doing,
                path,
                reason,
            },
        }
    }
}
