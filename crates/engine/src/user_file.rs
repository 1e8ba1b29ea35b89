//! Files that the user named: written where the name leads to, with the mode that they have.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

use crate::files::write_shared;

/// Writes `bytes` to the file that the user named.
///
/// A reader of a plain file sees the old contents or the new, never a part. Whatever else has the name
/// stays what it is and is written to: a symbolic link leads on, a pipe or a device takes the bytes.
pub fn write_user_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let found = match path.metadata() {
        Ok(found) => found,
        // Where a link leads to nothing yet, the file is made there.
        Err(error) if error.kind() == io::ErrorKind::NotFound && path.is_symlink() => {
            return create_behind_link(path, bytes);
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return write_shared(path, bytes);
        }
        Err(error) => return Err(error),
    };
    if is_same(&found, fs::metadata("/dev/fd/1")) {
        return write_and_flush(io::stdout(), bytes);
    }
    if is_same(&found, fs::metadata("/dev/fd/2")) {
        return write_and_flush(io::stderr(), bytes);
    }
    if !found.is_file() {
        return OpenOptions::new().write(true).open(path)?.write_all(bytes);
    }
    replace(path, &found, bytes)
}

/// Replaces the contents of a plain file: whole where nothing of it would be lost, else in place.
fn replace(path: &Path, found: &fs::Metadata, bytes: &[u8]) -> io::Result<()> {
    let path = path.canonicalize()?;
    let parent = path.parent().unwrap_or(Path::new("/"));
    // Another name of the file, and its owner, would be left with the old contents.
    let is_plain = found.nlink() == 1 && found.uid() == nix::unistd::geteuid().as_raw();
    let temporary = match is_plain {
        true => create_beside(parent),
        false => Err(io::ErrorKind::Unsupported.into()),
    };
    let Ok((mut file, name)) = temporary else {
        let mut file = OpenOptions::new().write(true).truncate(true).open(&path)?;
        file.write_all(bytes)?;
        return file.sync_all();
    };
    let mode = fs::Permissions::from_mode(found.mode() & 0o7777);
    let written = file
        .write_all(bytes)
        .and_then(|()| file.set_permissions(mode))
        .and_then(|()| file.sync_all())
        .and_then(|()| fs::rename(&name, &path));
    if written.is_err() {
        // The error that matters is the one we return.
        let _ = fs::remove_file(&name);
    }
    written
}

fn create_beside(parent: &Path) -> io::Result<(File, std::path::PathBuf)> {
    let name = parent.join(format!(".tribunal.{}", uuid::Uuid::new_v4().simple()));
    let mut options = OpenOptions::new();
    let file = options.write(true).create_new(true).mode(0o600);
    Ok((file.open(&name)?, name))
}

fn create_behind_link(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o664);
    let mut file = options.open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// Tells whether `stream` is the file that was found.
fn is_same(found: &fs::Metadata, stream: io::Result<fs::Metadata>) -> bool {
    // A terminal or `/dev/null` takes the bytes by any way.
    stream.is_ok_and(|stream| (stream.dev(), stream.ino()) == (found.dev(), found.ino()))
}

fn write_and_flush(mut stream: impl io::Write, bytes: &[u8]) -> io::Result<()> {
    stream.write_all(bytes)?;
    stream.flush()
}
