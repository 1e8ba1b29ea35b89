//! The file in a clone's git directory that names the clone's ledger.
//!
//! It has one id on each line, because a clone may be used with several state directories. Nothing in
//! it is believed by itself: an archive can bring any file along.

use std::fs;
use std::io;
use std::path::Path;

use crate::files::write_shared;

/// More than this was not written by us.
const MAX_BYTES: u64 = 4096;

/// Returns the ids in the pointer; none if it is not a file of ours.
pub(super) fn read(path: &Path) -> Vec<String> {
    let is_plain =
        fs::symlink_metadata(path).is_ok_and(|found| found.is_file() && found.len() <= MAX_BYTES);
    let text = match is_plain {
        true => fs::read_to_string(path).unwrap_or_default(),
        false => String::new(),
    };
    text.lines()
        .filter(|line| is_id(line))
        .map(str::to_owned)
        .collect()
}

/// Replaces the ids in the pointer.
pub(super) fn write(path: &Path, ids: &[String]) -> io::Result<()> {
    let lines: Vec<&str> = ids.iter().map(String::as_str).take(64).collect();
    write_shared(path, format!("{}\n", lines.join("\n")).as_bytes())
}

/// Tells whether `text` can be the id of a ledger, and so the name of its directory.
pub(super) fn is_id(text: &str) -> bool {
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    text.len() == 32 && text.bytes().all(is_digit)
}
