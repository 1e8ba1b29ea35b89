//! Records from a local export: a directory, a zip file, or one JSON file.

use std::fs::File;
use std::io::{self, BufReader, Read as _};
use std::path::Path;

use tribunal_code::advisory::{Index, IndexBuilder, Package};

/// So many files of a directory are read.
const MOST_FILES: usize = 2_000_000;

/// Directories are nested no deeper.
const DEEPEST: usize = 16;

/// No record is larger.
const LARGEST_RECORD: u64 = 32 << 20;

/// Returns the records in `path` that concern `packages`, and what could not be read.
///
/// # Errors
///
/// `path` itself cannot be read.
pub fn from_export(path: &Path, packages: &[Package]) -> io::Result<(Index, Vec<String>)> {
    let mut builder = IndexBuilder::for_packages(packages);
    if path.metadata()?.is_dir() {
        let mut left = MOST_FILES;
        add_directory(&mut builder, path, 0, &mut left)?;
    } else {
        add_file(&mut builder, path)?;
    }
    let (index, problems) = builder.finish();
    Ok((index, problems.iter().map(super::sentence).collect()))
}

fn add_directory(
    builder: &mut IndexBuilder,
    directory: &Path,
    depth: usize,
    left: &mut usize,
) -> io::Result<()> {
    let mut entries: Vec<_> = std::fs::read_dir(directory)?.collect::<io::Result<_>>()?;
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        // The kind of the entry itself: links lead elsewhere and are not followed.
        let kind = entry.file_type()?;
        if kind.is_dir() && depth < DEEPEST {
            add_directory(builder, &entry.path(), depth + 1, left)?;
        } else if kind.is_file() && *left > 0 {
            *left -= 1;
            add_file(builder, &entry.path())?;
        }
    }
    Ok(())
}

fn add_file(builder: &mut IndexBuilder, path: &Path) -> io::Result<()> {
    let name = path.display().to_string();
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("zip") => builder.add_zip(&name, BufReader::new(File::open(path)?)),
        Some("json") => {
            let mut bytes = Vec::new();
            File::open(path)?
                .take(LARGEST_RECORD)
                .read_to_end(&mut bytes)?;
            builder.add_json(&name, &bytes);
        }
        _ => {}
    }
    Ok(())
}
