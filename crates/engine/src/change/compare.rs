//! The unified diff of one file.
//!
//! We compare the texts that reviewers see, so that line numbers agree even where git would call
//! a file binary, and so that neither settings nor versions of git change the result.

use std::fmt::Write as _;
use std::ops::Range;

use imara_diff::{Algorithm, Diff as LineDiff, Hunk, InternedInput, Token};
use tribunal_code::diff::{Diff, FileChange, FileDiff};
use tribunal_core::review::coverage::FileStatus;

/// How many unchanged lines are shown around a change.
const CONTEXT: u32 = 3;

/// A file before and after.
pub(super) struct Pair<'a> {
    pub(super) path: &'a str,
    pub(super) old_path: Option<&'a str>,
    pub(super) status: FileStatus,
    pub(super) old: Option<&'a str>,
    pub(super) new: Option<&'a str>,
    pub(super) old_mode: u32,
    pub(super) new_mode: u32,
}

/// How much comparing is left for the files of a change.
///
/// Texts that repeat or shuffle their lines without end make comparing quadratic. What counts is
/// an estimate of the work, rather than seconds, so that the same texts always give the same diff.
/// A file beyond the limit is shown as one region, from its first to its last difference.
pub(super) struct Effort {
    left: u64,
}

impl Effort {
    /// About five seconds; source code of fifty thousand lines stays well below.
    const PER_FILE: u64 = 4_000_000_000;
    const PER_CHANGE: u64 = 5 * Self::PER_FILE;

    pub(super) fn new() -> Self {
        Self {
            left: Self::PER_CHANGE,
        }
    }

    fn allows(&mut self, input: &InternedInput<&str>, region: &Hunk) -> bool {
        let count = |tokens: &[Token], region: &Range<u32>| {
            let mut counts = vec![0_u64; input.interner.num_tokens() as usize];
            let region = region.start as usize..region.end as usize;
            for token in tokens.get(region).unwrap_or_default() {
                if let Some(count) = counts.get_mut(token.0 as usize) {
                    *count += 1;
                }
            }
            counts
        };
        let old = count(&input.before, &region.before);
        let new = count(&input.after, &region.after);
        // Lines that only one side has are set aside before anything is compared.
        let common = || {
            old.iter()
                .zip(&new)
                .filter(|(old, new)| **old > 0 && **new > 0)
        };
        let pairs: u64 = common().map(|(old, new)| old * new).sum();
        let (old, new) = common().fold((0, 0), |sum, (old, new)| (sum.0 + old, sum.1 + new));
        // The weights were measured with permuted, random and periodic texts.
        let cost = pairs.saturating_mul(10).saturating_add(old * new / 16);
        if cost > self.left.min(Self::PER_FILE) {
            return false;
        }
        self.left -= cost;
        true
    }
}

impl Pair<'_> {
    /// Returns the diff as text and as facts.
    pub(super) fn compare(&self, effort: &mut Effort) -> (String, FileDiff) {
        if self.status == FileStatus::Whole {
            return (String::new(), self.facts(&self.all_lines()));
        }
        let mut patch = self.header();
        let input = InternedInput::new(self.old.unwrap_or_default(), self.new.unwrap_or_default());
        push_hunks(&mut patch, &input, hunks(&input, effort));
        let facts = self.facts(&patch);
        (patch, facts)
    }

    fn facts(&self, patch: &str) -> FileDiff {
        let mut files = Diff::parse(patch).files;
        let mut facts = if files.is_empty() {
            FileDiff::default()
        } else {
            files.swap_remove(0)
        };
        // We know the names; reading them back from the text could only lose something.
        self.path.clone_into(&mut facts.path);
        let (change, old_path) = match self.status {
            FileStatus::Added => (FileChange::Added, None),
            FileStatus::Deleted => (FileChange::Deleted, Some(self.path)),
            FileStatus::Renamed => (FileChange::Renamed, self.old_path),
            FileStatus::Modified | FileStatus::Whole => (FileChange::Modified, Some(self.path)),
        };
        facts.change = change;
        facts.old_path = old_path.map(str::to_owned);
        facts
    }

    /// Returns a diff in which all lines are new, with nothing on them.
    fn all_lines(&self) -> String {
        let count = self.new.unwrap_or_default().lines().count();
        let mut patch = String::from("--- /dev/null\n+++ b/x\n");
        if count > 0 {
            let _ = writeln!(patch, "@@ -0,0 +1,{count} @@");
            patch.push_str(&"+\n".repeat(count));
        }
        patch
    }

    fn header(&self) -> String {
        let new = quote("b/", self.path);
        let old = quote("a/", self.old_path.unwrap_or(self.path));
        let mut text = format!("diff --git {old} {new}\n");
        let _ = match self.status {
            FileStatus::Added => writeln!(text, "new file mode {:o}", self.new_mode),
            FileStatus::Deleted => writeln!(text, "deleted file mode {:o}", self.old_mode),
            _ if self.old_mode != self.new_mode => writeln!(
                text,
                "old mode {:o}\nnew mode {:o}",
                self.old_mode, self.new_mode
            ),
            _ => Ok(()),
        };
        if let (FileStatus::Renamed, Some(old_path)) = (self.status, self.old_path) {
            let (from, to) = (quote("", old_path), quote("", self.path));
            let _ = writeln!(text, "rename from {from}\nrename to {to}");
        }
        if self.old != self.new {
            let absent = "/dev/null";
            let old = if self.old.is_some() { &old } else { absent };
            let new = if self.new.is_some() { &new } else { absent };
            let _ = writeln!(text, "--- {old}\n+++ {new}");
        }
        text
    }
}

/// Returns a path as git writes it, in quotes if a character of it could be misread.
fn quote(prefix: &str, path: &str) -> String {
    if !path
        .chars()
        .any(|c| c.is_control() || c == '"' || c == '\\')
    {
        return format!("{prefix}{path}");
    }
    let mut text = format!("\"{prefix}");
    for c in path.chars() {
        match c {
            '"' | '\\' => text.extend(['\\', c]),
            '\n' => text.push_str("\\n"),
            '\t' => text.push_str("\\t"),
            _ if c.is_control() => {
                for byte in c.encode_utf8(&mut [0; 4]).bytes() {
                    let _ = write!(text, "\\{byte:03o}");
                }
            }
            _ => text.push(c),
        }
    }
    text.push('"');
    text
}

/// Returns the regions that differ.
fn hunks(input: &InternedInput<&str>, effort: &mut Effort) -> Vec<Hunk> {
    let region = one_hunk(input);
    if !effort.allows(input, &region) {
        return vec![region];
    }
    let mut diff = LineDiff::compute(Algorithm::Myers, input);
    diff.postprocess_lines(input);
    diff.hunks().collect()
}

/// Returns everything between the first and the last line that differ.
fn one_hunk(input: &InternedInput<&str>) -> Hunk {
    let (old, new) = (&input.before, &input.after);
    let same = |pair: &(&Token, &Token)| pair.0 == pair.1;
    let start = old.iter().zip(new).take_while(same).count();
    let rest = old.len().min(new.len()) - start;
    let both = old.iter().rev().zip(new.iter().rev());
    let end = both.take(rest).take_while(same).count();
    Hunk {
        before: start as u32..(old.len() - end) as u32,
        after: start as u32..(new.len() - end) as u32,
    }
}

fn push_hunks(patch: &mut String, input: &InternedInput<&str>, hunks: Vec<Hunk>) {
    let (old_count, new_count) = (input.before.len() as u32, input.after.len() as u32);
    let mut group: Vec<Hunk> = Vec::new();
    let mut groups = Vec::new();
    for hunk in hunks {
        let is_apart = |last: &Hunk| hunk.before.start - last.before.end > 2 * CONTEXT;
        if group.last().is_some_and(is_apart) {
            groups.push(std::mem::take(&mut group));
        }
        group.push(hunk);
    }
    groups.push(group);

    let old_lines = |range: Range<u32>| lines(input, &input.before, range);
    let new_lines = |range: Range<u32>| lines(input, &input.after, range);
    for group in groups {
        let (Some(first), Some(last)) = (group.first(), group.last()) else {
            continue;
        };
        let lead = first.before.start.min(CONTEXT);
        let tail = (old_count - last.before.end).min(CONTEXT);
        debug_assert!(
            last.after.end + tail <= new_count,
            "context is common to both"
        );
        let old = first.before.start - lead..last.before.end + tail;
        let new = first.after.start - lead..last.after.end + tail;
        let _ = writeln!(patch, "@@ -{} +{} @@", span(&old), span(&new));
        let mut at = old.start;
        for hunk in &group {
            push_lines(patch, ' ', old_lines(at..hunk.before.start));
            push_lines(patch, '-', old_lines(hunk.before.clone()));
            push_lines(patch, '+', new_lines(hunk.after.clone()));
            at = hunk.before.end;
        }
        push_lines(patch, ' ', old_lines(at..old.end));
    }
}

fn lines<'a>(
    input: &'a InternedInput<&'a str>,
    tokens: &'a [Token],
    range: Range<u32>,
) -> impl Iterator<Item = &'a str> {
    let range = range.start as usize..range.end as usize;
    let tokens = tokens.get(range).unwrap_or_default();
    tokens.iter().map(|token| input.interner[*token])
}

fn push_lines<'a>(patch: &mut String, sign: char, lines: impl Iterator<Item = &'a str>) {
    for line in lines {
        patch.push(sign);
        patch.push_str(line);
        if !line.ends_with('\n') {
            patch.push_str("\n\\ No newline at end of file\n");
        }
    }
}

/// Writes a range of lines as hunk headers do, counted from 1.
fn span(range: &Range<u32>) -> String {
    let count = range.end - range.start;
    // An empty range names the line before it.
    let start = range.start + u32::from(count > 0);
    match count {
        1 => start.to_string(),
        _ => format!("{start},{count}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endless_repetition_is_one_region() {
        let old = format!("start\n{}end\n", "a\nb\n".repeat(100_000));
        let new = format!("start\n{}end\n", "b\nc\na\n".repeat(60_000));
        let input = InternedInput::new(old.as_str(), new.as_str());
        let hunk = hunks(&input, &mut Effort::new());
        assert_eq!(hunk, [one_hunk(&input)]);
        assert_eq!((hunk[0].before.start, hunk[0].after.end), (1, 180_001));
    }

    #[test]
    fn one_region_is_what_lies_between_equal_ends() {
        let cases = [
            ("a\nb\nc\n", "a\nx\ny\nc\n", 1..2, 1..3),
            ("a\na\n", "a\na\na\n", 2..2, 2..3),
            ("", "a\n", 0..0, 0..1),
            ("a\n", "", 0..1, 0..0),
        ];
        for (old, new, before, after) in cases {
            let found = one_hunk(&InternedInput::new(old, new));
            assert_eq!(found, Hunk { before, after }, "{old:?} {new:?}");
        }
    }
}
