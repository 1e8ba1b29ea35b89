//! The code under review as reviewers see it: numbered lines, with marks where it changed, cut
//! into parts that fit one question.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use tribunal_core::review::coverage::FileStatus;
use tribunal_core::text::{shown_name, with_hidden_written_out};

use crate::change::{Change, ChangedFile};

/// Lines around a change that are shown when a file is too long to be shown whole.
const CONTEXT: u32 = 30;

/// Most characters of one row. A longer line that is under review goes on in further rows, because whoever
/// pads a line must not hide code behind the padding; one that only surrounds the change is cut.
const LONGEST_ROW: usize = 2_000;

/// What one question is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Part {
    /// The files of the part, by path.
    pub(crate) paths: Vec<String>,
    /// Their text, ready to be put into a question.
    pub(crate) material: String,
    /// The pieces, so that a part that is too long for a model can be halved.
    pieces: Vec<Piece>,
}

/// One file, or a section of one, as it is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Piece {
    path: String,
    text: String,
}

impl Part {
    fn of(pieces: Vec<Piece>) -> Self {
        let mut paths: Vec<String> = pieces.iter().map(|piece| piece.path.clone()).collect();
        paths.dedup();
        let texts: Vec<&str> = pieces.iter().map(|piece| piece.text.as_str()).collect();
        Self {
            paths,
            material: texts.join("\n"),
            pieces,
        }
    }

    /// Returns the two halves of the part; nothing if it cannot be made smaller.
    pub(crate) fn halves(&self) -> Option<(Self, Self)> {
        let mut pieces = self.pieces.clone();
        if pieces.len() == 1 {
            pieces = pieces.iter().flat_map(split_in_two).collect();
        }
        if pieces.len() < 2 {
            return None;
        }
        let rest = pieces.split_off(pieces.len() / 2);
        Some((Self::of(pieces), Self::of(rest)))
    }
}

/// Returns the change in parts of at most about `limit` characters.
pub(crate) fn parts(change: &Change, limit: usize) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut pieces: Vec<Piece> = Vec::new();
    let mut size = 0;
    let asked = change.files.iter().filter(|file| !file.is_large);
    for piece in asked.flat_map(|file| pieces_of(file, limit)) {
        let length = piece.text.chars().count();
        if size + length > limit && !pieces.is_empty() {
            parts.push(Part::of(std::mem::take(&mut pieces)));
            size = 0;
        }
        size += length;
        pieces.push(piece);
    }
    if !pieces.is_empty() {
        parts.push(Part::of(pieces));
    }
    parts
}

/// Returns the file whole, else the surroundings of its changes, each piece within the limit.
fn pieces_of(file: &ChangedFile, limit: usize) -> Vec<Piece> {
    let rows = rows(file);
    let whole: usize = rows.iter().map(|row| row.text.len() + 10).sum();
    let shown: Vec<&Row> = if whole <= limit || file.status == FileStatus::Whole {
        rows.iter().collect()
    } else {
        near_changes(&rows)
    };
    let heading = heading(file);
    let mut pieces = Vec::new();
    let mut text = heading.clone();
    let mut last: Option<u32> = None;
    for row in shown {
        let skipped = row
            .number
            .is_some_and(|now| last.is_some_and(|last| now > last + 1));
        if skipped {
            text.push_str("      …\n");
        }
        if text.len() + row.text.len() + 10 > limit && text.len() > heading.len() {
            pieces.push(std::mem::replace(&mut text, heading.clone()));
        }
        row.write(&mut text);
        last = row.number.or(last);
    }
    pieces.push(text);
    let piece = |text| Piece {
        path: file.path.clone(),
        text,
    };
    pieces.into_iter().map(piece).collect()
}

pub(super) fn heading(file: &ChangedFile) -> String {
    let what = match (file.status, &file.old_path) {
        (FileStatus::Added, _) => "new file".to_owned(),
        (FileStatus::Modified, _) => "changed".to_owned(),
        (FileStatus::Renamed, Some(old)) => format!("renamed from {}", shown_name(old)),
        (FileStatus::Renamed, None) => "renamed".to_owned(),
        (FileStatus::Deleted, _) => "deleted".to_owned(),
        (FileStatus::Whole, _) => "whole file".to_owned(),
    };
    format!("\n=== {} ({what})\n", shown_name(&file.path))
}

/// One line as it is shown, or a part of a long one. Removed lines have no number.
pub(super) struct Row {
    number: Option<u32>,
    mark: char,
    text: String,
    goes_on: bool,
}

impl Row {
    pub(super) fn number(&self) -> Option<u32> {
        self.number
    }

    pub(super) fn write(&self, out: &mut String) {
        let Self {
            number, mark, text, ..
        } = self;
        let text = match self.goes_on {
            true => format!("(the same line goes on) {text}"),
            false => text.clone(),
        };
        let _ = match number {
            Some(number) => writeln!(out, "{number:>6} {mark} {text}"),
            None => writeln!(out, "       {mark} {text}"),
        };
    }
}

/// Returns all lines of a file after the change, with the removed ones where they stood.
pub(super) fn rows(file: &ChangedFile) -> Vec<Row> {
    if file.status == FileStatus::Deleted {
        let gone = |text| rows_of_line(None, '-', text);
        return file.text.lines().flat_map(gone).collect();
    }
    let mut removed = removed_lines(&file.patch);
    let mut rows = Vec::new();
    for (number, text) in (1_u32..).zip(file.text.lines()) {
        rows.extend(removed.remove(&number).unwrap_or_default());
        let is_new = file.status != FileStatus::Whole && file.diff.is_changed(number);
        let mark = if is_new { '+' } else { ' ' };
        match is_new || file.status == FileStatus::Whole {
            true => rows.extend(rows_of_line(Some(number), mark, text)),
            false => {
                let mut all = rows_of_line(Some(number), mark, text);
                let mut first = all.next();
                if let (Some(row), Some(_)) = (&mut first, all.next()) {
                    row.text.push('…');
                }
                rows.extend(first);
            }
        }
    }
    // What was removed at the end stands before a line that is not there.
    rows.extend(removed.into_values().flatten());
    rows
}

/// Returns a line as a model sees it: in rows, and with what is hidden in it written out.
fn rows_of_line(number: Option<u32>, mark: char, line: &str) -> impl Iterator<Item = Row> {
    let mut rest = Some(line.trim_end_matches('\r'));
    let mut goes_on = false;
    std::iter::from_fn(move || {
        let text = rest.take()?;
        let cut = text.char_indices().nth(LONGEST_ROW).map(|(at, _)| at);
        let (shown, left) = text.split_at(cut.unwrap_or(text.len()));
        rest = cut.map(|_| left);
        let row = Row {
            number,
            mark,
            text: with_hidden_written_out(shown).into_owned(),
            goes_on,
        };
        goes_on = true;
        Some(row)
    })
}

/// Returns the removed lines by the number of the line before which they stood.
fn removed_lines(patch: &str) -> BTreeMap<u32, Vec<Row>> {
    let mut removed: BTreeMap<u32, Vec<Row>> = BTreeMap::new();
    let mut at: Option<u32> = None;
    for line in patch.lines() {
        if let Some(header) = line.strip_prefix("@@ ") {
            at = new_start(header);
            continue;
        }
        let Some(number) = &mut at else { continue };
        match line.as_bytes().first() {
            Some(b'-') => {
                let line = line.get(1..).unwrap_or("");
                let rows = removed.entry(*number).or_default();
                rows.extend(rows_of_line(None, '-', line));
            }
            Some(b'\\') => {}
            _ => *number += 1,
        }
    }
    removed
}

/// Returns the first new line of a hunk from its header, which is `-1,2 +3,4 @@`.
fn new_start(header: &str) -> Option<u32> {
    let new = header.split(' ').find_map(|word| word.strip_prefix('+'))?;
    let (start, count) = new.split_once(',').unwrap_or((new, "1"));
    let start: u32 = start.parse().ok()?;
    // A hunk without new lines names the line before the gap.
    Some(if count == "0" { start + 1 } else { start })
}

/// Returns the rows within reach of a change.
fn near_changes(rows: &[Row]) -> Vec<&Row> {
    let context = CONTEXT as usize;
    let mut keep = vec![false; rows.len()];
    for (index, row) in rows.iter().enumerate() {
        if row.mark != ' ' {
            let end = rows.len().min(index + context + 1);
            keep[index.saturating_sub(context)..end].fill(true);
        }
    }
    let kept = rows.iter().zip(keep).filter(|(_, keep)| *keep);
    kept.map(|(row, _)| row).collect()
}

/// Cuts a piece at the line in its middle; the heading stands on both halves.
fn split_in_two(piece: &Piece) -> Vec<Piece> {
    let lines: Vec<&str> = piece.text.lines().collect();
    // The heading is an empty line and the line with the path.
    let (heading, body) = lines.split_at(lines.len().min(2));
    if body.len() < 2 {
        return vec![piece.clone()];
    }
    let half = |body: &[&str]| Piece {
        path: piece.path.clone(),
        text: [heading, body].concat().join("\n") + "\n",
    };
    let (first, second) = body.split_at(body.len() / 2);
    vec![half(first), half(second)]
}
