//! The rule of new evidence: who changes a vote must cite something that was not there before.
//!
//! Models give way to whoever speaks last. A reviewer that turns against what it reported, or an
//! author that takes a finding back, is counted only if it cites a line, a piece of code or a name
//! that exists and that its first statement did not have. Otherwise the first vote stays.

use std::collections::BTreeSet;
use std::fmt;

use crate::consensus::{Group, Settlement};
use crate::finding::Finding;
use crate::review::{Defense, Examination, Plea, Stance};

/// Why a changed vote was not counted, as told in reports.
pub const FIRST_VOTE_STAYS: &str = "no new evidence, the first vote stays";

/// A quoted fragment must have so many characters besides spaces to prove anything.
const SHORTEST_FRAGMENT: usize = 8;

/// Names of fewer characters prove nothing.
const SHORTEST_NAME: usize = 3;

/// What can be looked up in the code under review.
pub trait Code {
    /// Tells whether `file` is there and has the line.
    fn has_line(&self, file: &str, line: u32) -> bool;
    /// Tells whether the code contains `fragment`, spaces aside.
    fn contains(&self, fragment: &str) -> bool;
    /// Tells whether `name` occurs in the code as a whole word.
    fn has_name(&self, name: &str) -> bool;
}

/// Evidence that holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Citation {
    /// A line that exists.
    Line(String, u32),
    /// A piece of code that stands there.
    Fragment(String),
    /// A name that the code has.
    Name(String),
}

impl fmt::Display for Citation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(file, line) => write!(f, "{file}:{line}"),
            Self::Fragment(text) | Self::Name(text) => write!(f, "`{text}`"),
        }
    }
}

/// Returns what `says` cites from the code that `before` does not.
#[must_use]
pub(crate) fn new_evidence(before: &str, says: &str, code: &impl Code) -> Option<Citation> {
    new_line(before, says, code)
        .or_else(|| new_fragment(before, says, code))
        .or_else(|| new_name(before, says, code))
}

/// Tells whether `examination` turns against what its author reported itself without anything new.
#[must_use]
pub fn unfounded_examination(
    settlement: &Settlement,
    group: &Group,
    examination: &Examination,
    code: &impl Code,
) -> bool {
    if examination.stance != Stance::Disagree {
        return false;
    }
    let own = own_statements(settlement, group, &examination.reviewer);
    !own.is_empty() && new_evidence(&own, &examination.reasoning, code).is_none()
}

/// Tells whether `defense` takes back or changes what its author reported without anything new.
#[must_use]
pub fn unfounded_defense(
    settlement: &Settlement,
    group: &Group,
    defense: &Defense,
    code: &impl Code,
) -> bool {
    match defense.plea {
        Plea::Defend => false,
        Plea::Concede | Plea::Modify => {
            let own = own_statements(settlement, group, &defense.reviewer);
            let revised = defense.revised_description.as_deref().unwrap_or("");
            let says = format!("{}\n{revised}", defense.reasoning);
            new_evidence(&own, &says, code).is_none()
        }
    }
}

/// Returns all that `reviewer` said about a group in round 1.
fn own_statements(settlement: &Settlement, group: &Group, reviewer: &str) -> String {
    let members = group.members.iter();
    let members = members.map(|&member| &settlement.findings[member as usize]);
    let own = members.filter(|finding| finding.reviewer == reviewer);
    own.map(statement).collect::<Vec<_>>().join("\n")
}

fn statement(finding: &Finding) -> String {
    [
        &finding.location.to_string(),
        finding.location.function.as_deref().unwrap_or(""),
        &finding.title,
        &finding.description,
        &finding.quote,
        &finding.trigger,
        &finding.suggestion,
    ]
    .join("\n")
}

/// Looks for `path:line`.
fn new_line(before: &str, says: &str, code: &impl Code) -> Option<Citation> {
    let known: BTreeSet<(String, u32)> = places(before).collect();
    places(says)
        .find(|(file, line)| !known.contains(&(file.clone(), *line)) && code.has_line(file, *line))
        .map(|(file, line)| Citation::Line(file, line))
}

fn places(text: &str) -> impl Iterator<Item = (String, u32)> {
    let edges = |c: char| !(c.is_alphanumeric() || matches!(c, '/' | '.' | '_' | '-' | ':'));
    text.split(edges).filter_map(|word| {
        let word = word.trim_matches(['.', ':', '-', '/']);
        let (file, lines) = word.split_once(':')?;
        let lines = lines.trim_start_matches(['L', 'l']);
        let digits = lines.split(|c: char| !c.is_ascii_digit()).next()?;
        let is_path = file.contains(['.', '/']);
        is_path.then(|| Some((file.to_owned(), digits.parse().ok()?)))?
    })
}

/// Looks for code in backticks or quotation marks.
fn new_fragment(before: &str, says: &str, code: &impl Code) -> Option<Citation> {
    let before = compact(before);
    let mut quoted = quoted(says, '`').chain(quoted(says, '"'));
    let found = quoted.find(|fragment| {
        let bare = compact(fragment);
        bare.chars().count() >= SHORTEST_FRAGMENT
            && !before.contains(&bare)
            && code.contains(fragment)
    })?;
    Some(Citation::Fragment(found.trim().to_owned()))
}

/// Returns what stands between pairs of `mark`.
fn quoted(text: &str, mark: char) -> impl Iterator<Item = &str> {
    text.split(mark).skip(1).step_by(2)
}

/// Looks for names of the code: in backticks, called, or of a shape that prose does not have.
fn new_name(before: &str, says: &str, code: &impl Code) -> Option<Citation> {
    let known: BTreeSet<&str> = words(before).collect();
    let marked = quoted(says, '`').flat_map(words);
    let mut shaped = marked.chain(words(says).filter(|word| is_shaped(word)));
    let found = shaped.find(|name| {
        name.chars().count() >= SHORTEST_NAME && !known.contains(name) && code.has_name(name)
    })?;
    Some(Citation::Name(found.to_owned()))
}

/// Returns the identifiers of a text.
pub fn words(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !(c.is_alphanumeric() || c == '_'));
    words.filter(|word| word.starts_with(|c: char| c.is_alphabetic() || c == '_'))
}

/// Tells whether a word looks like an identifier rather than like prose: `snake_case`, `camelCase`.
fn is_shaped(word: &str) -> bool {
    let inner = word.trim_matches('_');
    let humps = inner
        .chars()
        .zip(inner.chars().skip(1))
        .any(|(a, b)| a.is_lowercase() && b.is_uppercase());
    humps || inner.contains('_')
}

/// Returns the text without white space, as fragments are compared.
#[must_use]
pub fn compact(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One file of three lines.
    struct File;

    const PATH: &str = "src/db.rs";
    const TEXT: &str = "fn find(name: &str) -> Rows {\n    let escaped = escape_sql(name);\n    \
                        conn.query(&escaped)\n}";

    impl Code for File {
        fn has_line(&self, file: &str, line: u32) -> bool {
            file == PATH && (1..=4).contains(&line)
        }

        fn contains(&self, fragment: &str) -> bool {
            compact(TEXT).contains(&compact(fragment))
        }

        fn has_name(&self, name: &str) -> bool {
            words(TEXT).any(|word| word == name)
        }
    }

    #[test]
    fn only_what_exists_and_was_not_said_before_is_new_evidence() {
        let before = "src/db.rs:3\nquery built by hand\n`conn.query(&escaped)` in find()";
        for (says, expected) in [
            ("You are right, I was wrong.", "nothing"),
            ("Three others disagree, so I take it back.", "nothing"),
            ("ROUND 3 COMPLETE. The lead has decided.", "nothing"),
            ("The value is escaped at src/db.rs:2.", "src/db.rs:2"),
            ("See (src/db.rs:2-3), it is escaped", "src/db.rs:2"),
            // The line that it reported itself.
            ("It is fine at src/db.rs:3", "nothing"),
            ("See src/db.rs:99", "nothing"),
            ("See src/other.rs:2", "nothing"),
            ("See 12:30 and a:1", "nothing"),
            (
                "`let escaped = escape_sql(name);` comes first",
                "`let escaped = escape_sql(name);`",
            ),
            ("\"escaped=escape_sql\" comes first", "`escaped=escape_sql`"),
            // Quoted before, or too short, or invented.
            ("`conn.query( &escaped )` is fine", "nothing"),
            ("`name` is fine", "`name`"),
            ("the name is fine", "nothing"),
            ("`validate(name, 12)` is called by all", "`name`"),
            ("escape_sql makes it safe", "`escape_sql`"),
            ("sanitize_all makes it safe", "nothing"),
            ("find is only called by tests", "nothing"),
            ("", "nothing"),
        ] {
            let found = new_evidence(before, says, &File);
            let found = found.map_or("nothing".to_owned(), |one| one.to_string());
            assert_eq!(found, expected, "{says}");
        }
    }
}
