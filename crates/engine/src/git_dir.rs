//! The git directory in a place where agents work.
//!
//! Programs look upwards for the repository that they are in, and take instructions and rules about
//! ignored files from it. In a place of ours they find this one and stop.

use std::io;
use std::path::Path;

use crate::change::ObjectFormat;
use crate::files::{create_private_dir, write_in_place};

/// Makes an empty git directory, with attributes of its own where it keeps our books.
pub(crate) fn make_git_dir(
    path: &Path,
    format: ObjectFormat,
    attributes: Option<&str>,
) -> io::Result<()> {
    for directory in ["objects/info", "objects/pack", "refs/heads", "info"] {
        create_private_dir(&path.join(directory))?;
    }
    let write = |name: &str, text: &str| write_in_place(&path.join(name), text.as_bytes());
    let (version, extension) = match format {
        ObjectFormat::Sha1 => (0, ""),
        ObjectFormat::Sha256 => (1, "[extensions]\n\tobjectFormat = sha256\n"),
    };
    let config = format!(
        "[core]\n\trepositoryformatversion = {version}\n\tbare = false\n\
         \texcludesFile = /dev/null\n{extension}\
         [user]\n\tname = coder\n\temail = coder@tribunal.invalid\n"
    );
    write("HEAD", "ref: refs/heads/main\n")?;
    write("config", &config)?;
    match attributes {
        Some(text) => write("info/attributes", text),
        None => Ok(()),
    }
}
