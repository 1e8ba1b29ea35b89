//! Watches a growing output file for signs of life.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// Bytes looked at in one step.
const CHUNK: usize = 64 * 1024;

/// Steps per look: a flood of blanks must not keep the supervisor from its clock.
const STEPS: usize = 16;

/// One output file and how far it has been looked at.
///
/// A byte is a sign of life unless it is white space: a program that prints blanks for ever is as
/// silent as one that prints nothing. Only what is new is read, and only until the first byte that
/// counts, so that a look costs little whatever the amount of output.
pub(super) struct Watch {
    file: File,
    seen: u64,
}

impl Watch {
    /// Returns a watch over `file`, which must be open for reading.
    pub(super) fn new(file: File) -> Self {
        Self { file, seen: 0 }
    }

    /// Returns the size of the file.
    pub(super) fn size(&self) -> u64 {
        self.file.metadata().map_or(0, |metadata| metadata.len())
    }

    /// Tells whether a sign of life has been added since the last look.
    pub(super) fn stirred(&mut self) -> bool {
        let size = self.size();
        // The program may have cut its own output back.
        self.seen = self.seen.min(size);
        let mut chunk = [0; CHUNK];
        for _ in 0..STEPS {
            if self.seen == size {
                return false;
            }
            let Ok(length @ 1..) = self.file.read_at(&mut chunk, self.seen) else {
                return false;
            };
            let new = &chunk[..length];
            if !new.iter().all(u8::is_ascii_whitespace) {
                self.seen = size;
                return true;
            }
            self.seen += length as u64;
        }
        false
    }

    /// Cuts the file to `most` bytes and returns its size.
    pub(super) fn cut(&self, most: u64) -> io::Result<u64> {
        if self.size() > most {
            self.file.set_len(most)?;
        }
        self.file.sync_data()?;
        Ok(self.size())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn blanks_are_no_sign_of_life() {
        let mut writer = tempfile::tempfile().unwrap();
        let mut watch = Watch::new(writer.try_clone().unwrap());
        assert!(!watch.stirred());
        for (text, stirred) in [(" \n\t", false), ("x", true), ("", false), ("\n", false)] {
            writer.write_all(text.as_bytes()).unwrap();
            assert_eq!(watch.stirred(), stirred, "{text:?}");
        }
        assert_eq!(watch.cut(2).unwrap(), 2);
        assert!(!watch.stirred());
    }
}
