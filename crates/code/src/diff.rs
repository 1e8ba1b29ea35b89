//! Reads unified and git diffs: files, renames, binaries, hunks and changed lines.
//!
//! The reader is lenient, because a diff that is partly understood still says which lines
//! changed: what it cannot make sense of is counted, not an error. It never looks further than
//! the counts of a hunk allow, so a line of code that looks like a header stays code.

mod header;

use std::borrow::Cow;

use crate::lines::LineSet;
use header::{Header, unquote};

/// The most files that are read; a larger diff is cut off.
const MAX_FILES: usize = 50_000;
/// The most hunks that are read over all files.
const MAX_HUNKS: usize = 500_000;

/// A change to several files.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Diff {
    /// The files, in the order of the diff.
    pub files: Vec<FileDiff>,
    /// How many lines made no sense where they stood.
    pub unread_lines: usize,
    /// Whether files or hunks were left out because there were too many.
    pub is_cut_off: bool,
}

/// What happened to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FileChange {
    /// It was there before and is still there.
    #[default]
    Modified,
    /// It is new.
    Added,
    /// It is gone.
    Deleted,
    /// It has another name.
    Renamed,
    /// It is a copy of another file.
    Copied,
}

/// The change to one file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FileDiff {
    /// Path after the change; the former path when the file was deleted.
    pub path: String,
    /// Path before the change; none when the file is new.
    pub old_path: Option<String>,
    /// What happened to it.
    pub change: FileChange,
    /// Whether the content is binary, so that there are no hunks.
    pub is_binary: bool,
    /// The hunks, in order.
    pub hunks: Vec<Hunk>,
    added: LineSet,
    removed: LineSet,
    touched: LineSet,
}

/// One changed region.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Hunk {
    /// First line before the change.
    pub old_start: u32,
    /// How many lines it has before the change.
    pub old_count: u32,
    /// First line after the change.
    pub new_start: u32,
    /// How many lines it has after the change.
    pub new_count: u32,
}

impl Diff {
    /// Reads a diff; bytes that are no UTF-8 are replaced.
    #[must_use]
    pub fn read(bytes: &[u8]) -> Self {
        let text: Cow<'_, str> = String::from_utf8_lossy(bytes);
        Self::parse(&text)
    }

    /// Reads the text of a diff.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let mut reader = Reader::default();
        for line in text.split('\n') {
            if reader.diff.is_cut_off {
                break;
            }
            reader.line(line);
        }
        reader.close_file();
        reader.diff
    }

    /// Returns the change to the file that has this path now, else to the one that had it.
    #[must_use]
    pub fn file(&self, path: &str) -> Option<&FileDiff> {
        let now = self.files.iter().find(|file| file.path == path);
        now.or_else(|| {
            self.files
                .iter()
                .find(|file| file.old_path.as_deref() == Some(path))
        })
    }
}

impl FileDiff {
    /// Returns the lines of the new text that were added or changed.
    #[must_use]
    pub fn added(&self) -> &LineSet {
        &self.added
    }

    /// Returns the lines of the old text that were removed or changed.
    #[must_use]
    pub fn removed(&self) -> &LineSet {
        &self.removed
    }

    /// Tells whether a line of the new text was added or changed.
    #[must_use]
    pub fn is_changed(&self, line: u32) -> bool {
        self.added.contains(line)
    }

    /// Returns which line of the old text a line of the new text was; nothing if it is new.
    #[must_use]
    pub fn old_line(&self, line: u32) -> Option<u32> {
        if self.added.contains(line) {
            return None;
        }
        let before = self.added.ranges().iter().filter(|range| range.1 < line);
        let new: u32 = before.map(|(first, last)| last - first + 1).sum();
        let mut old = line.checked_sub(new)?;
        for (first, last) in self.removed.ranges() {
            if *first > old {
                break;
            }
            old += last - first + 1;
        }
        Some(old)
    }

    /// Tells whether a line of the new text lies within `distance` lines of a change.
    ///
    /// Where lines were only removed, the change is at the lines around the gap.
    #[must_use]
    pub fn near(&self, line: u32, distance: u32) -> bool {
        self.distance(line).is_some_and(|found| found <= distance)
    }

    /// Returns how many lines away the nearest change is; nothing if no line changed.
    #[must_use]
    pub fn distance(&self, line: u32) -> Option<u32> {
        self.touched.distance(line)
    }
}

#[derive(Default)]
struct Reader {
    diff: Diff,
    file: Option<FileDiff>,
    /// Whether the file was opened by `diff --git`, so that `---` does not open another.
    has_git_header: bool,
    hunks: usize,
    position: Position,
    added: Vec<(u32, u32)>,
    removed: Vec<(u32, u32)>,
    touched: Vec<(u32, u32)>,
}

/// Where the reader is inside a hunk.
#[derive(Default)]
struct Position {
    old_line: u32,
    old_left: u32,
    new_line: u32,
    new_left: u32,
}

impl Position {
    fn is_inside(&self) -> bool {
        self.old_left > 0 || self.new_left > 0
    }
}

impl Reader {
    fn line(&mut self, raw: &str) {
        if self.position.is_inside() && self.body(raw) {
            return;
        }
        let line = raw.strip_suffix('\r').unwrap_or(raw);
        match Header::read(line) {
            Some(header) => self.header(header),
            // Index lines, mail headers and a commit message may stand between files.
            None => {
                let is_known = line.is_empty()
                    || line.starts_with('\\')
                    || self.file.as_ref().is_none_or(|file| file.hunks.is_empty());
                if !is_known {
                    self.diff.unread_lines += 1;
                }
            }
        }
    }

    /// Takes one line of a hunk; returns false if it cannot be one.
    fn body(&mut self, raw: &str) -> bool {
        let at = &mut self.position;
        match raw.as_bytes().first() {
            Some(b'+') if at.new_left > 0 => {
                self.added.push((at.new_line, at.new_line));
                self.touched.push((at.new_line, at.new_line));
                at.new_line = at.new_line.saturating_add(1);
                at.new_left -= 1;
            }
            Some(b'-') if at.old_left > 0 => {
                self.removed.push((at.old_line, at.old_line));
                let before = at.new_line.saturating_sub(1);
                self.touched.push((before, at.new_line));
                at.old_line = at.old_line.saturating_add(1);
                at.old_left -= 1;
            }
            // Some tools drop the space of an empty line.
            Some(b' ' | b'\r') | None if at.old_left > 0 && at.new_left > 0 => {
                at.old_line = at.old_line.saturating_add(1);
                at.new_line = at.new_line.saturating_add(1);
                at.old_left -= 1;
                at.new_left -= 1;
            }
            Some(b'\\') => {}
            _ => {
                *at = Position::default();
                self.diff.unread_lines += 1;
                return false;
            }
        }
        true
    }

    fn header(&mut self, header: Header<'_>) {
        match header {
            Header::Git(old, new) => {
                self.open_file();
                self.has_git_header = true;
                let file = self.file.get_or_insert_default();
                file.path = new.unwrap_or_default();
                file.old_path = old;
            }
            Header::Old(path) => self.old_name(path),
            Header::New(path) => self.new_name(path),
            Header::Added => self.set(FileChange::Added),
            Header::Deleted => self.set(FileChange::Deleted),
            Header::RenameFrom(path) | Header::CopyFrom(path) => {
                self.file.get_or_insert_default().old_path = Some(unquote(path));
            }
            Header::RenameTo(path) => self.moved(FileChange::Renamed, path),
            Header::CopyTo(path) => self.moved(FileChange::Copied, path),
            Header::Binary => {
                if let Some(file) = &mut self.file {
                    file.is_binary = true;
                }
            }
            Header::Hunk(hunk) => self.hunk(hunk),
        }
    }

    fn old_name(&mut self, path: Option<String>) {
        let is_open = self.file.as_ref().is_some_and(|file| file.hunks.is_empty());
        if !(self.has_git_header && is_open) {
            self.open_file();
        }
        let file = self.file.get_or_insert_default();
        match path {
            Some(path) => file.old_path = Some(path),
            None => {
                file.old_path = None;
                file.change = FileChange::Added;
            }
        }
    }

    fn new_name(&mut self, path: Option<String>) {
        let file = self.file.get_or_insert_default();
        match path {
            Some(path) => file.path = path,
            None => {
                file.change = FileChange::Deleted;
                file.path = file.old_path.clone().unwrap_or_default();
            }
        }
    }

    fn set(&mut self, change: FileChange) {
        if let Some(file) = &mut self.file {
            file.change = change;
        }
    }

    fn moved(&mut self, change: FileChange, path: &str) {
        if let Some(file) = &mut self.file {
            file.change = change;
            file.path = unquote(path);
        }
    }

    fn hunk(&mut self, hunk: Hunk) {
        let Some(file) = &mut self.file else {
            self.diff.unread_lines += 1;
            return;
        };
        self.hunks += 1;
        if self.hunks > MAX_HUNKS {
            self.diff.is_cut_off = true;
            return;
        }
        file.hunks.push(hunk);
        self.position = Position {
            old_line: hunk.old_start.max(1),
            old_left: hunk.old_count,
            new_line: if hunk.new_count == 0 {
                hunk.new_start.saturating_add(1)
            } else {
                hunk.new_start.max(1)
            },
            new_left: hunk.new_count,
        };
    }

    fn open_file(&mut self) {
        self.close_file();
        if self.diff.files.len() >= MAX_FILES {
            self.diff.is_cut_off = true;
            return;
        }
        self.file = Some(FileDiff::default());
    }

    fn close_file(&mut self) {
        self.position = Position::default();
        self.has_git_header = false;
        let Some(mut file) = self.file.take() else {
            return;
        };
        file.added = LineSet::from_ranges(self.added.drain(..));
        file.removed = LineSet::from_ranges(self.removed.drain(..));
        file.touched = LineSet::from_ranges(self.touched.drain(..));
        if file.change == FileChange::Added {
            file.old_path = None;
        }
        if file.change == FileChange::Modified
            && file.old_path.as_ref().is_some_and(|old| *old != file.path)
        {
            file.change = FileChange::Renamed;
        }
        if !file.path.is_empty() {
            self.diff.files.push(file);
        }
    }
}

#[cfg(test)]
mod tests;
