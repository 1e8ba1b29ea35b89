//! The repository of our own: it holds what has no id yet and sees the objects of the user's.
//!
//! The user's objects are reached through `objects/info/alternates` rather than fetched. A fetch
//! runs `git upload-pack` in the user's repository, under its config, and copies gigabytes; a
//! directory of objects is only data. The price is that objects which the user's history no
//! longer reaches vanish when git prunes them, after two weeks by default; reading then says so.
//! Git renews the time of an object it has rather than write it again, in the user's store too:
//! that is all that ever changes there, and it only puts pruning off.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use super::ChangeError;
use super::discover::{Found, object_stores};
use crate::files::{Durability, create_private_dir, hash_of, write_private};

/// After how long a temporary directory belongs to nobody.
const LEFTOVER_AGE: Duration = Duration::from_secs(24 * 60 * 60);

/// How objects are named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ObjectFormat {
    Sha1,
    Sha256,
}

impl ObjectFormat {
    /// Returns the id of the tree without entries, which git knows without having it.
    pub(crate) fn empty_tree(self) -> &'static str {
        match self {
            Self::Sha1 => "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
            Self::Sha256 => "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
        }
    }
}

/// Returns our repository for what lies at `place`, made if it is missing.
///
/// It has a directory of its own in `clone_dir`, because several projects may share a ledger.
pub(crate) fn prepare(
    clone_dir: &Path,
    place: &Path,
    found: Option<&Found>,
    format: ObjectFormat,
) -> Result<PathBuf, ChangeError> {
    let doing = || format!("make a repository in `{}`", clone_dir.display());
    create_private_dir(clone_dir).map_err(ChangeError::file(doing()))?;
    let clone_dir = clone_dir
        .canonicalize()
        .map_err(ChangeError::file(doing()))?;
    let own = clone_dir.join(name(&clone_dir, place));
    if !own.is_dir() {
        make(&clone_dir, &own, format).map_err(ChangeError::file(doing()))?;
    }
    sweep(&clone_dir, ".new-");
    sweep(&own, "temporary-");
    if let Some(found) = found {
        let stores = object_stores(found);
        let list: Vec<u8> = stores.iter().flat_map(|path| alternate(path)).collect();
        refresh(&own.join("objects/info/alternates"), Some(list)).map_err(doing_refresh())?;
        // Without it, git would look for the parents of the oldest commits.
        let shallow = fs::read(found.common_dir.join("shallow")).ok();
        refresh(&own.join("shallow"), shallow).map_err(doing_refresh())?;
    }
    Ok(own)
}

fn doing_refresh() -> impl FnOnce(io::Error) -> ChangeError {
    ChangeError::file("bring our repository up to date")
}

/// Returns a name that stays the same when project and ledger are moved together.
fn name(clone_dir: &Path, place: &Path) -> String {
    let mut from = clone_dir.components().peekable();
    let mut to = place.components().peekable();
    while from.peek().is_some() && from.peek() == to.peek() {
        from.next();
        to.next();
    }
    let mut relative: PathBuf = from.map(|_| Component::ParentDir).collect();
    relative.extend(to);
    let hash = hash_of(relative.as_os_str().as_encoded_bytes());
    format!("{}.git", hash.get(..16).unwrap_or(&hash))
}

/// Makes an empty bare repository; readers see it whole or not at all.
fn make(clone_dir: &Path, own: &Path, format: ObjectFormat) -> io::Result<()> {
    let new = clone_dir.join(format!(".new-{}", uuid::Uuid::new_v4().simple()));
    for directory in ["objects/info", "objects/pack", "refs", "info"] {
        create_private_dir(&new.join(directory))?;
    }
    let (version, extension) = match format {
        ObjectFormat::Sha1 => (0, ""),
        ObjectFormat::Sha256 => (1, "[extensions]\n\tobjectFormat = sha256\n"),
    };
    let config = format!(
        "[core]\n\trepositoryformatversion = {version}\n\tbare = true\n\
         \tsharedRepository = 0600\n{extension}"
    );
    let write = |file: &str, text: &str| {
        write_private(&new.join(file), text.as_bytes(), Durability::Process)
    };
    write("HEAD", "ref: refs/heads/none\n")?;
    write("config", &config)?;
    match fs::rename(&new, own) {
        Err(_) if own.is_dir() => fs::remove_dir_all(&new),
        result => result,
    }
}

/// Removes what a process that died left behind, once nobody can be using it any more.
fn sweep(directory: &Path, prefix: &str) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let is_ours = entry.file_name().to_string_lossy().starts_with(prefix);
        let modified = entry.metadata().and_then(|metadata| metadata.modified());
        let age = modified.ok().and_then(|time| time.elapsed().ok());
        if is_ours && age > Some(LEFTOVER_AGE) {
            // Best effort: what cannot be removed today may be tomorrow.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Brings a file up to date, so that two processes doing the same do not disturb each other.
fn refresh(path: &Path, wanted: Option<Vec<u8>>) -> io::Result<()> {
    let is = fs::read(path).ok();
    match wanted {
        wanted if is == wanted => Ok(()),
        Some(bytes) => write_private(path, &bytes, Durability::Process),
        None => match fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        },
    }
}

/// Returns the line that refers to a directory of objects.
fn alternate(path: &Path) -> Vec<u8> {
    let bytes = path.as_os_str().as_encoded_bytes();
    if !bytes
        .iter()
        .any(|byte| matches!(byte, b'\n' | b'"' | b'\\'))
    {
        return [bytes, b"\n"].concat();
    }
    let mut line = vec![b'"'];
    for byte in bytes {
        match byte {
            b'\n' => line.extend(b"\\n"),
            b'"' | b'\\' => line.extend([b'\\', *byte]),
            other => line.push(*other),
        }
    }
    line.extend(b"\"\n");
    line
}
