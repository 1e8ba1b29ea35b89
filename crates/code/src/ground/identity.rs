//! An identity for findings that survives moved lines and other words.

use tribunal_core::finding::Category;

use crate::language::{Language, Limits};
use crate::outline::Outline;

/// What makes two findings the same one: where it is in the structure of the code, not on which
/// line, and which code it is about, not how that was put.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// Path from the root of the repository.
    pub file: String,
    /// What kind of problem it is.
    pub category: Category,
    /// Names of the scopes around it, joined by dots.
    pub scope: String,
    /// The first line of the cited code, without its whitespace.
    pub code: String,
    /// Which of several equal lines of the scope it is, counted from 0.
    pub occurrence: u32,
}

/// Returns the identity of a finding at `line` of a file with the given text.
#[must_use]
pub fn identify(file: &str, text: &str, category: Category, line: Option<u32>) -> Identity {
    let language = Language::detect(file, text);
    let outline = language
        .and_then(|language| Some((language, language.parse(text, Limits::default()).ok()?)))
        .map(|(language, tree)| Outline::new(language, &tree, text))
        .unwrap_or_default();
    let line = line.unwrap_or(0);
    let code = line_of(text, line);
    let scope = outline.path(line);
    let first = outline.enclosing(line).last().map_or(1, |scope| scope.line);
    let equal_before = (first..line)
        .zip(
            text.lines()
                .skip(usize::try_from(first - 1).unwrap_or(usize::MAX)),
        )
        .filter(|(_, other)| !code.is_empty() && compact(other) == code)
        .count();
    Identity {
        file: file.to_owned(),
        category,
        scope,
        code,
        occurrence: u32::try_from(equal_before).unwrap_or(u32::MAX),
    }
}

/// Returns a short, stable name for an identity.
#[must_use]
pub fn fingerprint(identity: &Identity) -> String {
    let mut hasher = blake3::Hasher::new();
    let occurrence = identity.occurrence.to_string();
    let parts = [
        identity.file.as_str(),
        identity.category.as_str(),
        &identity.scope,
        &identity.code,
        &occurrence,
    ];
    for part in parts {
        // The length keeps the borders between the parts.
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    hasher.finalize().to_hex().chars().take(24).collect()
}

fn line_of(text: &str, line: u32) -> String {
    let index = line
        .checked_sub(1)
        .and_then(|row| usize::try_from(row).ok());
    let found = index.and_then(|index| text.lines().nth(index));
    compact(found.unwrap_or_default())
}

fn compact(line: &str) -> String {
    line.chars().filter(|c| !c.is_whitespace()).collect()
}
