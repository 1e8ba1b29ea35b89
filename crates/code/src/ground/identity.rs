//! The place of a finding in the structure of the code, which survives moved lines.

use tribunal_core::finding::Category;

use crate::language::{Language, Limits};
use crate::outline::Outline;

/// What makes two findings be about the same place: where it is in the structure of the code, not on
/// which line, and which code it is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// Path from the root of the repository.
    pub file: String,
    /// What kind of problem it is.
    pub category: Category,
    /// Names of the scopes around it, joined by dots.
    pub scope: String,
    /// What tells the innermost scope apart from others with these names: parameters, a trait, a
    /// number. It is no part of the name of the place, so that a function may get a parameter.
    pub signature: String,
    /// Whether no other scope of the file has these names.
    pub is_only: bool,
    /// Whether no other scope of the file has the name of the innermost one.
    pub is_only_name: bool,
    /// The names as version 0.1.0 wrote them, where they differ and mean one scope.
    pub plain_scope: Option<String>,
    /// The first line of the cited code, without its whitespace.
    pub code: String,
    /// Which of several equal lines of the scope it is, counted from 0.
    pub occurrence: u32,
}

/// A file as identities see it: its scopes and its lines without whitespace, worked out once.
#[derive(Debug, Clone, Default)]
pub struct Sheet {
    outline: Outline,
    lines: Vec<String>,
}

impl Sheet {
    /// Returns the sheet of a file with the given text.
    #[must_use]
    pub fn new(file: &str, text: &str) -> Self {
        let language = Language::detect(file, text);
        let outline = language
            .and_then(|language| Some((language, language.parse(text, Limits::default()).ok()?)))
            .map(|(language, tree)| Outline::new(language, &tree, text))
            .unwrap_or_default();
        Self {
            outline,
            lines: text.lines().map(compact).collect(),
        }
    }

    /// Returns the scopes of the file.
    #[must_use]
    pub fn outline(&self) -> &Outline {
        &self.outline
    }

    /// Returns the numbers of the lines that hold exactly this code, whitespace aside.
    pub fn lines_with<'a>(&'a self, code: &'a str) -> impl Iterator<Item = u32> + 'a {
        let lines = (1_u32..).zip(&self.lines);
        lines.filter_map(move |(number, line)| (line == code).then_some(number))
    }

    /// Returns the place of a finding at `line`.
    #[must_use]
    pub fn identify(&self, file: &str, category: Category, line: Option<u32>) -> Identity {
        let line = line.unwrap_or(0);
        let index = |line: u32| usize::try_from(line).unwrap_or(usize::MAX);
        let at = index(line).checked_sub(1);
        let code = at
            .and_then(|at| self.lines.get(at))
            .cloned()
            .unwrap_or_default();
        let first = self
            .outline
            .enclosing(line)
            .last()
            .map_or(1, |scope| scope.line);
        let before = self
            .lines
            .get(index(first).saturating_sub(1)..at.unwrap_or(0));
        let equal = before
            .unwrap_or_default()
            .iter()
            .filter(|other| **other == code);
        let equal_before = if code.is_empty() { 0 } else { equal.count() };
        let scope = self.outline.path(line);
        let mark = self.outline.mark(line);
        let plain_scope = Some(self.outline.plain_path(line));
        let plain_scope = plain_scope.filter(|plain| *plain != scope && mark.is_only_plain);
        Identity {
            file: file.to_owned(),
            category,
            scope,
            signature: mark.signature,
            is_only: mark.is_only,
            is_only_name: mark.is_only_name,
            plain_scope,
            code,
            occurrence: u32::try_from(equal_before).unwrap_or(u32::MAX),
        }
    }
}

/// Returns the place of a finding at `line` of a file with the given text.
#[must_use]
pub fn identify(file: &str, text: &str, category: Category, line: Option<u32>) -> Identity {
    Sheet::new(file, text).identify(file, category, line)
}

/// Returns a short, stable name for the place that an identity describes, whatever is said about it.
#[must_use]
pub fn place_name(identity: &Identity) -> String {
    let occurrence = identity.occurrence.to_string();
    hash(&[
        identity.file.as_str(),
        identity.category.as_str(),
        &identity.scope,
        &identity.code,
        &occurrence,
    ])
}

/// Returns the name that version 0.1.0 gave to the place, where it is another and means no other place.
#[must_use]
pub fn earlier_place_name(identity: &Identity) -> Option<String> {
    let scope = identity.plain_scope.clone()?;
    Some(place_name(&Identity {
        scope,
        ..identity.clone()
    }))
}

/// Returns a short, stable name for a claim about a place. Of names that are taken, the next
/// `number` has another one.
#[must_use]
pub fn fingerprint(place: &str, claim: &str, number: u32) -> String {
    match number {
        0 => hash(&[place, claim]),
        _ => hash(&[place, claim, &number.to_string()]),
    }
}

fn hash(parts: &[&str]) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        // The length keeps the borders between the parts.
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    hasher.finalize().to_hex().chars().take(24).collect()
}

fn compact(line: &str) -> String {
    line.chars().filter(|c| !c.is_whitespace()).collect()
}
