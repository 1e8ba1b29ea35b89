//! Files of which only a patch is known: the lines it shows, at the places where it says they are.

use std::sync::Arc;

use tribunal_code::diff::{Diff, FileChange, FileDiff};
use tribunal_code::language::Language;
use tribunal_core::review::coverage::{FileStatus, LeftOut, Omission};

use super::omit::{Ignored, left_out, too_many};
use super::patch::sections;
use super::repository::Repository;
use super::settled::all_lines;
use super::{ChangeError, ChangedFile, Pinned, blobs, names, paths};

/// The last line that a patch may speak of; lines in between are held as empty ones.
const MAX_LINE: u32 = 200_000;

/// Adds the files of a patch that could not be applied.
pub(super) fn read(
    repo: &Repository,
    pinned: &Pinned,
    patch: &str,
    files: &mut Vec<ChangedFile>,
    omitted: &mut Vec<LeftOut>,
) -> Result<(), ChangeError> {
    let ignored = Ignored::new(&pinned.ignore)?;
    let bytes = blobs::content(repo, patch)?;
    for section in sections(&bytes) {
        let Some(diff) = Diff::read(&section).files.into_iter().next() else {
            continue;
        };
        if !paths::is_within(&pinned.paths, &diff.path) {
            continue;
        }
        let path = diff.path.clone();
        if !paths::stays_inside(&path) {
            let detail = "its path leads out of the tree";
            omitted.push(left_out(&path, Omission::Unreadable, detail));
        } else if let Some(why) = omission(pinned, &ignored, &diff, &section) {
            // Only the patch knows whether such a file was there before.
            let is_claim = matches!(
                why,
                Omission::Vendored | Omission::Generated | Omission::Own
            ) && diff.change != FileChange::Modified;
            omitted.push(LeftOut {
                claimed: is_claim,
                ..left_out(&path, why, "")
            });
        } else if files.len() >= pinned.limits.max_files {
            omitted.push(too_many(&path, pinned.limits.max_files));
        } else {
            files.push(file(diff, &section));
            if pinned.head.is_some() {
                let detail = "the patch does not apply; only its own lines were read";
                omitted.push(left_out(&path, Omission::Unreadable, detail));
            }
        }
    }
    Ok(())
}

fn omission(
    pinned: &Pinned,
    ignored: &Ignored,
    diff: &FileDiff,
    section: &[u8],
) -> Option<Omission> {
    let old_path = diff.old_path.as_deref();
    let last = diff.hunks.iter().flat_map(|hunk| {
        [
            hunk.old_start.saturating_add(hunk.old_count),
            hunk.new_start.saturating_add(hunk.new_count),
        ]
    });
    if ignored.contains(&diff.path) {
        Some(Omission::Ignored)
    } else if names::is_own(&diff.path) {
        Some(Omission::Own)
    } else if old_path.is_some_and(names::may_hold_credentials) {
        Some(Omission::Credentials)
    } else if let Some(why) = names::omission(&diff.path) {
        Some(why)
    } else if diff.is_binary {
        Some(Omission::Binary)
    } else if section.len() as u64 > pinned.limits.max_file_bytes || last.max() > Some(MAX_LINE) {
        Some(Omission::Oversized)
    } else {
        let [old, new] = texts(&String::from_utf8_lossy(section), diff);
        let is_key = [old, new]
            .iter()
            .any(|text| names::starts_as_key(text.as_bytes()));
        is_key.then_some(Omission::Credentials)
    }
}

fn file(diff: FileDiff, section: &[u8]) -> ChangedFile {
    let patch = String::from_utf8_lossy(section).into_owned();
    let [old, new] = texts(&patch, &diff);
    let (status, text, base_text) = match diff.change {
        FileChange::Added | FileChange::Copied => (FileStatus::Added, new, None),
        FileChange::Deleted => (FileStatus::Deleted, old.clone(), Some(old)),
        FileChange::Renamed => (FileStatus::Renamed, new, Some(old)),
        FileChange::Modified => (FileStatus::Modified, new, Some(old)),
    };
    let is_lossy = str::from_utf8(section).is_err();
    ChangedFile {
        path: diff.path.clone(),
        old_path: match status {
            FileStatus::Renamed => diff.old_path.clone(),
            _ => None,
        },
        status,
        language: Language::detect(&diff.path, &text),
        // Only the patch says what was there before.
        unsettled: all_lines(&text),
        text: Arc::from(text),
        base_text: base_text.map(Arc::from),
        patch,
        diff,
        is_lossy,
        is_large: false,
    }
}

/// Returns the text before and after, as far as the patch shows it.
fn texts(patch: &str, diff: &FileDiff) -> [String; 2] {
    let (mut old, mut new) = (Sparse::default(), Sparse::default());
    let mut hunks = diff.hunks.iter();
    let (mut old_left, mut new_left) = (0, 0);
    for line in patch.split('\n') {
        if old_left == 0 && new_left == 0 {
            if line.starts_with("@@ -")
                && let Some(hunk) = hunks.next()
            {
                (old_left, new_left) = (hunk.old_count, hunk.new_count);
                old.go_to(hunk.old_start);
                new.go_to(hunk.new_start);
            }
            continue;
        }
        let (sign, text) = line.split_at_checked(1).unwrap_or((" ", ""));
        if matches!(sign, "-" | " ") && old_left > 0 {
            old.push(text);
            old_left -= 1;
        }
        if matches!(sign, "+" | " ") && new_left > 0 {
            new.push(text);
            new_left -= 1;
        }
        if !matches!(sign, "+" | "-" | " " | "\\") {
            (old_left, new_left) = (0, 0);
        }
    }
    [old.text, new.text]
}

/// A text of which some lines are known.
#[derive(Default)]
struct Sparse {
    text: String,
    lines: u32,
}

impl Sparse {
    /// Fills up with empty lines, so that the next one is `line`.
    fn go_to(&mut self, line: u32) {
        while self.lines + 1 < line.min(MAX_LINE) {
            self.push("");
        }
    }

    fn push(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
        self.lines += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_stand_where_the_patch_says() {
        let patch = "--- a/x\n+++ b/x\n@@ -3,2 +4,2 @@\n a\n-b\n+c\n@@ -9,0 +9 @@\n+d\n";
        let diff = Diff::parse(patch).files.remove(0);
        let [old, new] = texts(patch, &diff);
        assert_eq!(old, "\n\na\nb\n\n\n\n\n");
        assert_eq!(new, "\n\n\na\nc\n\n\n\nd\n");
    }
}
