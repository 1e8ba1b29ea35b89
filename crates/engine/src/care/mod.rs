//! Care for a ledger: what may go is collected, what stays takes up less room, and all of it can be
//! backed up and restored.
//!
//! Every change is safe beside running commands: files of a case are touched by whoever holds its lease, and
//! whatever is removed was announced or packed before. A process that is killed here loses nothing that is
//! kept; the next one goes on.

mod archive;
mod backup;
mod branches;
mod facts;
mod gc;
mod leftovers;
pub(crate) mod pack;
pub(crate) mod prompt;
mod restore;
mod squeeze;
mod texts;

use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use tribunal_core::event::{Event, EventKind};
use tribunal_core::time::Timestamp;

pub use backup::{BackupReport, back_up};
pub use gc::{CollectedCase, CollectionReport, GcMode};
pub use leftovers::{Leftover, LeftoverKind};
pub use restore::{RestoreReport, RestoreWish, restore};

pub(crate) use leftovers::{find as find_leftovers, places_of};

/// Returns when the files of a case were collected; nothing as long as they were not.
#[must_use]
pub fn collected_at(events: &[Event]) -> Option<Timestamp> {
    let last = events.iter().rev();
    let mut times = last.filter_map(|event| match event.kind {
        EventKind::FilesCollected { .. } => Some(event.at),
        _ => None,
    });
    times.next()
}

/// How those who look after a ledger share it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Share {
    /// Files may be read by several at once.
    Reading,
    /// Only one removes or replaces files.
    Alone,
}

/// Waits until nobody else looks after the ledger in `root` in a way that this one excludes. It ends with
/// the returned file.
fn lock(root: &Path, share: Share) -> io::Result<File> {
    let path = root.join("care.lock");
    let file = crate::files::open_private(&path)?;
    match share {
        Share::Reading => file.lock_shared()?,
        Share::Alone => file.lock()?,
    }
    Ok(file)
}

/// Returns the room that a file or a directory with all that is in it takes up on disk.
#[must_use]
pub fn room_of(path: &Path) -> u64 {
    let Ok(data) = std::fs::symlink_metadata(path) else {
        return 0;
    };
    let own = data.blocks() * 512;
    if !data.is_dir() {
        return own;
    }
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
    entries.map(|entry| room_of(&entry.path())).sum::<u64>() + own
}

/// Returns a number of bytes as people read it.
#[must_use]
pub fn in_words(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} bytes"),
        1_000..1_000_000 => format!("{} kB", bytes / 1_000),
        _ => format!("{}.{} MB", bytes / 1_000_000, bytes % 1_000_000 / 100_000),
    }
}
