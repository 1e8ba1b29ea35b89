//! Looks at what an objection cites: does the line stand there, does the file say so.

use tribunal_core::dispute::{Evidence, EvidenceCheck, EvidenceKind};
use tribunal_core::review::evidence::compact;

use super::Bench;
use crate::case::{CaseError, blocking};
use crate::worktree::file_at;

/// A quoted line may be so many lines away from the one that is named.
const NEAR: usize = 3;

impl Bench<'_> {
    /// Returns what the program finds when it looks at a piece of evidence.
    pub(super) async fn look_at(
        &self,
        evidence: &Evidence,
        commit: &str,
    ) -> Result<EvidenceCheck, CaseError> {
        let (path, line) = match evidence.kind {
            EvidenceKind::Code => split(&evidence.reference),
            EvidenceKind::Requirement => match split(&evidence.reference) {
                (path, Some(_)) => (path, None),
                _ => (evidence.reference.clone(), None),
            },
            EvidenceKind::TestOutput | EvidenceKind::Other => {
                return Ok(EvidenceCheck::Unchecked);
            }
        };
        let (repository, commit, wanted) =
            (self.repository.clone(), commit.to_owned(), path.clone());
        let text = blocking(move || file_at(&repository, &commit, &wanted)).await?;
        let Some(text) = text else {
            return Ok(refuted(format!("there is no file `{path}`")));
        };
        let text = String::from_utf8_lossy(&text);
        Ok(match evidence.kind {
            EvidenceKind::Code => check_line(&text, &path, line, &evidence.text),
            _ => check_quote(&text, &path, &evidence.text),
        })
    }
}

/// Cuts `path:line` or `path:first-last` in two.
fn split(reference: &str) -> (String, Option<usize>) {
    let bare = reference.trim().trim_start_matches("./");
    let Some((path, line)) = bare.rsplit_once(':') else {
        return (bare.to_owned(), None);
    };
    let first: String = line.chars().take_while(char::is_ascii_digit).collect();
    match first.parse() {
        Ok(line) => (path.to_owned(), Some(line)),
        Err(_) => (bare.to_owned(), None),
    }
}

fn check_line(text: &str, path: &str, line: Option<usize>, quote: &str) -> EvidenceCheck {
    let Some(line) = line else {
        return check_quote(text, path, quote);
    };
    let lines: Vec<&str> = text.lines().collect();
    if line == 0 || line > lines.len() {
        return refuted(format!("`{path}` has {} lines", lines.len()));
    }
    let wanted = compact(quote);
    if wanted.is_empty() {
        return EvidenceCheck::Confirmed;
    }
    let from = line.saturating_sub(1 + NEAR);
    let height = quote.lines().count().max(1);
    let to = (line + NEAR + height).min(lines.len());
    let near = compact(&lines[from..to].join("\n"));
    if near.contains(&wanted) {
        EvidenceCheck::Confirmed
    } else {
        refuted(format!("the quoted text does not stand near line {line}"))
    }
}

fn check_quote(text: &str, path: &str, quote: &str) -> EvidenceCheck {
    let wanted = compact(quote);
    if wanted.is_empty() {
        return refuted(format!("nothing is quoted from `{path}`"));
    }
    if compact(text).contains(&wanted) {
        EvidenceCheck::Confirmed
    } else {
        refuted(format!("`{path}` does not say so"))
    }
}

fn refuted(why: String) -> EvidenceCheck {
    EvidenceCheck::Refuted { why }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_a_path_and_a_line() {
        let cases = [
            ("src/a.rs:12", ("src/a.rs", Some(12))),
            ("./src/a.rs:12-14", ("src/a.rs", Some(12))),
            ("src/a.rs", ("src/a.rs", None)),
            ("odd:name", ("odd:name", None)),
        ];
        for (reference, (path, line)) in cases {
            assert_eq!(split(reference), (path.to_owned(), line), "{reference}");
        }
    }

    #[test]
    fn a_quote_must_stand_where_it_is_said_to() {
        let text = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n";
        let cases = [
            (Some(2), "two", "checked: it is there"),
            (Some(2), "  t w o ", "checked: it is there"),
            (Some(2), "three\nfour", "checked: it is there"),
            (Some(2), "", "checked: it is there"),
            (
                Some(1),
                "nine",
                "checked: it is not so (the quoted text does not stand near line 1)",
            ),
            (Some(99), "one", "checked: it is not so (`a` has 9 lines)"),
            (Some(0), "one", "checked: it is not so (`a` has 9 lines)"),
            (None, "nine", "checked: it is there"),
            (None, "ten", "checked: it is not so (`a` does not say so)"),
            (
                None,
                "",
                "checked: it is not so (nothing is quoted from `a`)",
            ),
        ];
        for (line, quote, expected) in cases {
            let check = check_line(text, "a", line, quote);
            assert_eq!(check.phrase(), expected, "{line:?} {quote}");
        }
    }
}
