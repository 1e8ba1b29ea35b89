//! The header lines of a diff, and the paths in them.

use super::Hunk;

/// One header line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Header<'a> {
    Git(Option<String>, Option<String>),
    Old(Option<String>),
    New(Option<String>),
    Added,
    Deleted,
    RenameFrom(&'a str),
    RenameTo(&'a str),
    CopyFrom(&'a str),
    CopyTo(&'a str),
    Binary,
    Hunk(Hunk),
}

impl<'a> Header<'a> {
    pub(super) fn read(line: &'a str) -> Option<Self> {
        if let Some(rest) = line.strip_prefix("diff --git ") {
            let (old, new) = git_paths(rest);
            return Some(Self::Git(old, new));
        }
        if let Some(rest) = line.strip_prefix("--- ") {
            return Some(Self::Old(named_path(rest, "a/")));
        }
        if let Some(rest) = line.strip_prefix("+++ ") {
            return Some(Self::New(named_path(rest, "b/")));
        }
        if let Some(rest) = line.strip_prefix("@@ ") {
            return hunk(rest).map(Self::Hunk);
        }
        let simple = [
            ("rename from ", Self::RenameFrom as fn(&'a str) -> Self),
            ("rename to ", Self::RenameTo),
            ("copy from ", Self::CopyFrom),
            ("copy to ", Self::CopyTo),
        ];
        for (prefix, make) in simple {
            if let Some(rest) = line.strip_prefix(prefix) {
                return Some(make(rest));
            }
        }
        if line.starts_with("new file mode ") {
            Some(Self::Added)
        } else if line.starts_with("deleted file mode ") {
            Some(Self::Deleted)
        } else if line == "GIT binary patch"
            || (line.starts_with("Binary files ") && line.ends_with(" differ"))
        {
            Some(Self::Binary)
        } else {
            None
        }
    }
}

/// Returns the path of a `---` or `+++` line; nothing for `/dev/null`.
fn named_path(text: &str, prefix: &str) -> Option<String> {
    // Other tools put a time after a tab.
    let text = text.split('\t').next().unwrap_or_default().trim_end();
    if text == "/dev/null" {
        return None;
    }
    let path = unquote(text);
    Some(match path.strip_prefix(prefix) {
        Some(stripped) => stripped.to_owned(),
        None => path,
    })
}

/// Returns both paths of a `diff --git` line; names with spaces are told apart by being equal.
fn git_paths(text: &str) -> (Option<String>, Option<String>) {
    let strip = |path: String, prefix: &str| match path.strip_prefix(prefix) {
        Some(stripped) => stripped.to_owned(),
        None => path,
    };
    let pairs = text.match_indices(' ').filter_map(|(at, _)| {
        let (old, new) = text.split_at_checked(at)?;
        Some((
            strip(unquote(old), "a/"),
            strip(unquote(new.strip_prefix(' ')?), "b/"),
        ))
    });
    // The header is checked against later lines; a bounded number of guesses is enough.
    let mut pairs = pairs.take(64).peekable();
    let first = pairs.peek().cloned();
    let equal = pairs.find(|(old, new)| old == new);
    match equal.or(first) {
        Some((old, new)) => (Some(old), Some(new)),
        None => (None, None),
    }
}

/// Reads `-1,2 +3,4 @@ …`.
fn hunk(text: &str) -> Option<Hunk> {
    let mut words = text.split(' ');
    let (old_start, old_count) = range(words.next()?.strip_prefix('-')?)?;
    let (new_start, new_count) = range(words.next()?.strip_prefix('+')?)?;
    if words.next()? != "@@" {
        return None;
    }
    Some(Hunk {
        old_start,
        old_count,
        new_start,
        new_count,
    })
}

fn range(text: &str) -> Option<(u32, u32)> {
    match text.split_once(',') {
        Some((start, count)) => Some((start.parse().ok()?, count.parse().ok()?)),
        None => Some((text.parse().ok()?, 1)),
    }
}

/// Undoes git's quoting of unusual paths.
pub(super) fn unquote(text: &str) -> String {
    let inner = text
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'));
    let Some(inner) = inner else {
        return text.to_owned();
    };
    let mut bytes = Vec::with_capacity(inner.len());
    let mut rest = inner.bytes().peekable();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        match rest.next() {
            Some(b'n') => bytes.push(b'\n'),
            Some(b't') => bytes.push(b'\t'),
            Some(b'r') => bytes.push(b'\r'),
            Some(first @ b'0'..=b'3') => {
                let mut value = first - b'0';
                for _ in 0..2 {
                    if let Some(digit) = rest.next_if(|digit| (b'0'..=b'7').contains(digit)) {
                        value = value.wrapping_mul(8).wrapping_add(digit - b'0');
                    }
                }
                bytes.push(value);
            }
            Some(other) => bytes.push(other),
            None => {}
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
