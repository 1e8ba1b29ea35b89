//! Which file of the change a reviewer means, however it spells the path.
//!
//! The exact name comes first: a name may begin with a blank or hold a line break. Then come the
//! spellings that differ from it, and of these only one that fits a single file.

use tribunal_core::text::shown_name;

use crate::change::{Change, ChangedFile};

/// Returns the path as the change has it, for a path as a tool writes it: exactly, as it is shown,
/// with other slashes, with what a diff puts in front, or absolute.
pub(super) fn known_path(change: &Change, given: &str) -> Option<String> {
    let known = |path: &str| {
        let file = change.file(path).or_else(|| shown_as(change, path));
        Some(file?.path.clone())
    };
    if let Some(path) = known(given) {
        return Some(path);
    }
    let mut given = given.trim().trim_matches('`').replace('\\', "/");
    while given.contains("//") {
        given = given.replace("//", "/");
    }
    let bare = given.trim_start_matches("./");
    let without_prefix = || {
        let prefixes = ["a/", "b/"];
        prefixes
            .iter()
            .find_map(|prefix| known(bare.strip_prefix(prefix)?))
    };
    // An absolute path ends in the one we know; of two, the longer one says more.
    let by_ending = || {
        let ends = |file: &&ChangedFile| bare.ends_with(&format!("/{}", file.path));
        let files = change.files.iter().filter(ends);
        files
            .max_by_key(|file| file.path.len())
            .map(|file| file.path.clone())
    };
    known(bare).or_else(without_prefix).or_else(by_ending)
}

/// Returns the path of the file that a tool names: as it stands, or the only one that differs from it
/// by nothing but the case.
pub(super) fn tools_path(change: &Change, given: &str) -> Option<String> {
    let in_case = || {
        the_only_one(change, |path| {
            folded(path) == folded(given.trim_start_matches("./"))
        })
    };
    known_path(change, given).or_else(in_case)
}

/// Returns the path of the one file that a reviewer may mean by `given`: written as in the heading,
/// with a line behind it, without its folders, or in another case.
pub(super) fn path_meant(change: &Change, given: &str) -> Option<String> {
    let bare = without_marks(given);
    let title = without_state(bare);
    let decoded = decoded(bare);
    let spellings = [
        bare,
        title,
        without_line(bare),
        without_line(title),
        &decoded,
        without_line(&decoded),
        before_remark(bare),
    ];
    let mut meant = spellings.iter().filter(|one| !one.is_empty());
    meant.find_map(|spelling| {
        known_path(change, spelling)
            .or_else(|| the_only_one(change, |path| folded(path) == folded(spelling)))
            .or_else(|| {
                let ending = format!("/{}", folded(spelling).trim_start_matches("./"));
                the_only_one(change, |path| folded(path).ends_with(&ending))
            })
    })
}

/// Tells whether `given` may be another spelling of a file of the change, or names no file at all,
/// rather than a file that was made up.
///
/// The author of a change chooses the names of its files, and reviewers write words where a path is
/// asked for. Only the clear name of another file is a place that does not exist.
pub(super) fn may_mean_changed_file(change: &Change, given: &str) -> bool {
    let name = name_of(given);
    let is_path = is_plain(given) && name.rfind('.').is_some_and(|dot| dot > 0);
    let is_near = |file: &ChangedFile| {
        let (changed, cited) = (folded(name_of(&file.path)), folded(name));
        let distance = strsim::osa_distance(&changed, &cited);
        match is_plain(&file.path) {
            true => distance <= 1 && stem_of(&cited).len() >= SHORTEST_STEM,
            false => distance <= MOST_ODD_SIGNS,
        }
    };
    !is_path || change.files.iter().any(is_near)
}

/// A shorter name that differs by one sign is another name, such as `a.py` and `b.py`.
const SHORTEST_STEM: usize = 5;

/// So many signs of a name that nobody can type may be missing or written otherwise.
const MOST_ODD_SIGNS: usize = 3;

fn name_of(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

fn stem_of(name: &str) -> &str {
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

/// Tells whether a path has only signs that everybody writes in one way.
fn is_plain(path: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-/+@~".contains(c);
    path.chars().all(is_plain)
}

/// Returns a path with the signs that a link or git write as numbers: `%20`, `\303\251`, `\"`.
fn decoded(path: &str) -> String {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        let number = |digits: Option<&[u8]>, radix| {
            let digits = std::str::from_utf8(digits?).ok()?;
            u8::from_str_radix(digits, radix).ok()
        };
        let (byte, length) = match first {
            b'%' => match number(behind.get(..2), 16) {
                Some(byte) => (byte, 3),
                None => (*first, 1),
            },
            b'\\' => match (number(behind.get(..3), 8), behind.first()) {
                (Some(byte), _) => (byte, 4),
                (None, Some(sign @ (b'"' | b'\\'))) => (*sign, 2),
                (None, _) => (*first, 1),
            },
            _ => (*first, 1),
        };
        bytes.push(byte);
        rest = &rest[length..];
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Returns a path without what is remarked behind it, as in `a.rs (lines 1-2)`, `a.rs, line 2`,
/// `a.rs::f` and `[a.rs](a.rs)`.
fn before_remark(given: &str) -> &str {
    let bare = given.trim_start_matches(['[', '<', '(']);
    let marks = [
        " (", ", ", "::", " line", "](", "]", ">", " - ", " at ", ";",
    ];
    let ends = marks.iter().filter_map(|mark| bare.find(mark));
    without_marks(&bare[..ends.min().unwrap_or(bare.len())])
}

/// Returns the line that is written behind a path, as in `a.rs:3` and `a.rs#L3`.
pub(super) fn line_in_path(given: &str) -> Option<u32> {
    let bare = without_state(without_marks(given));
    let behind = bare.strip_prefix(without_line(bare))?;
    let digits = behind.trim_start_matches([':', '#', 'L']);
    let end = digits.find(|c: char| !c.is_ascii_digit());
    let line: u32 = digits[..end.unwrap_or(digits.len())].parse().ok()?;
    (line > 0).then_some(line)
}

fn shown_as<'c>(change: &'c Change, name: &str) -> Option<&'c ChangedFile> {
    let mut files = change.files.iter();
    files.find(|file| shown_name(&file.path) == name)
}

fn the_only_one(change: &Change, fits: impl Fn(&str) -> bool) -> Option<String> {
    let mut fitting = change.files.iter().filter(|file| fits(&file.path));
    let first = fitting.next()?;
    fitting.next().is_none().then(|| first.path.clone())
}

/// Returns a path without what a reviewer puts around it.
fn without_marks(given: &str) -> &str {
    let marks = |c: char| c.is_whitespace() || matches!(c, '`' | '"' | '\'' | '*');
    given.trim_matches(marks).trim_start_matches("=== ")
}

/// Returns a path without what the heading says about the file, such as `(new file)`.
fn without_state(path: &str) -> &str {
    let is_state = |state: &str| {
        let fixed = ["new file", "changed", "renamed", "deleted", "whole file"];
        fixed.contains(&state) || state.starts_with("renamed from ")
    };
    let found = path.match_indices(" (").find(|(at, _)| {
        let behind = path[at + 2..].strip_suffix(')');
        behind.is_some_and(is_state)
    });
    found.map_or(path, |(at, _)| &path[..at])
}

/// Returns a path without the lines behind it.
fn without_line(path: &str) -> &str {
    let is_lines = |text: &str| {
        let is_sign = |c: char| c.is_ascii_digit() || matches!(c, 'L' | '-' | ':');
        text.contains(|c: char| c.is_ascii_digit()) && text.chars().all(is_sign)
    };
    let found = path
        .match_indices([':', '#'])
        .find(|(at, _)| is_lines(&path[at + 1..]));
    found.map_or(path, |(at, _)| &path[..at])
}

/// Returns a path in small letters with ordinary blanks and slashes, none around it.
fn folded(path: &str) -> String {
    let sign = |c: char| match c {
        '\\' => '/',
        c if c.is_whitespace() => ' ',
        c => c,
    };
    let path: String = path.chars().map(sign).collect();
    path.trim().to_lowercase()
}
