//! Reads the growing stdout of an agent, in pieces and with bounded memory.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

/// Bytes read at once.
const CHUNK: usize = 256 * 1024;

/// Bytes of stderr that are looked at for messages.
const LAST_WORDS: u64 = 8 * 1024;

/// A file that is read while it grows.
pub(super) struct Tail {
    file: Option<File>,
    chunk: Vec<u8>,
    read: u64,
    cut_back: bool,
}

impl Tail {
    /// Returns a tail that has read nothing yet.
    pub(super) fn new() -> Self {
        Self {
            file: None,
            chunk: vec![0; CHUNK],
            read: 0,
            cut_back: false,
        }
    }

    /// Returns the next piece of the file at `path`; an empty one when there is nothing new.
    ///
    /// Reads are not handed to another thread: they are small, and come from memory because the
    /// file has just been written.
    pub(super) fn next(&mut self, path: &Path) -> io::Result<&[u8]> {
        if self.file.is_none() {
            match File::open(path) {
                Ok(file) => self.file = Some(file),
                // The supervisor has not come to it yet.
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(&[]),
                Err(error) => return Err(error),
            }
        }
        let Some(file) = &mut self.file else {
            return Ok(&[]);
        };
        let length = file.read(&mut self.chunk)?;
        self.read += length as u64;
        if length == 0 && file.metadata()?.len() < self.read {
            self.cut_back = true;
        }
        Ok(&self.chunk[..length])
    }

    /// Tells whether the file became shorter than what had been read of it, so that what was read
    /// is not what is there.
    pub(super) fn cut_back(&self) -> bool {
        self.cut_back
    }
}

/// Returns the end of a text file, bounded; nothing when it cannot be read.
pub(super) fn last_words(path: &Path) -> String {
    let read = || -> io::Result<Vec<u8>> {
        let mut file = File::open(path)?;
        let size = file.metadata()?.len();
        file.seek(SeekFrom::Start(size.saturating_sub(LAST_WORDS)))?;
        let mut bytes = Vec::new();
        file.take(LAST_WORDS).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    String::from_utf8_lossy(&read().unwrap_or_default()).into_owned()
}
