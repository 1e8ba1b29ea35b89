//! Looks at what an objection cites: does the line stand there, does the file say so.

use std::collections::BTreeSet;

use tribunal_code::ground::Sheet;
use tribunal_core::dispute::{Evidence, EvidenceCheck, EvidenceKind};
use tribunal_core::review::evidence::{compact, words};
use tribunal_core::review::report::ReviewedFinding;

use super::Bench;
use crate::case::{CaseError, blocking};
use crate::worktree::file_at;

/// A quoted line may be so many lines away from the one that is named.
const NEAR: usize = 3;

/// Code that is so many lines away from a finding outside of all functions is near it.
const NEAR_PLACE: u32 = 10;

impl Bench<'_> {
    /// Returns what the program finds when it looks at a piece of evidence about a finding.
    pub(super) async fn look_at(
        &self,
        evidence: &Evidence,
        finding: &ReviewedFinding,
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
            EvidenceKind::Code => match check_line(&text, &path, line, &evidence.text) {
                EvidenceCheck::Confirmed => {
                    let cited = Cited::new(&path, &text, line, &evidence.text);
                    cited.bears_on(finding)
                }
                other => other,
            },
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

/// Code that holds as it is cited.
struct Cited<'a> {
    path: &'a str,
    text: &'a str,
    /// The line as cited, or the one where the quoted code begins.
    line: Option<u32>,
    /// The quoted code, or the cited line.
    code: &'a str,
}

impl<'a> Cited<'a> {
    fn new(path: &'a str, text: &'a str, line: Option<usize>, quote: &'a str) -> Self {
        let cited = line.and_then(|line| text.lines().nth(line.checked_sub(1)?));
        let first = compact(quote.trim().lines().next().unwrap_or_default());
        let found = text.lines().position(|line| compact(line).contains(&first));
        let number = line.or(found.map(|index| index + 1));
        Self {
            path,
            text,
            line: number.and_then(|line| u32::try_from(line).ok()),
            code: match quote.trim() {
                "" => cited.unwrap_or_default(),
                quote => quote,
            },
        }
    }

    /// Tells whether it says anything about a finding: it stands in the same function, near the
    /// place where nobody knows the function, or it has a name that the finding speaks of.
    fn bears_on(&self, finding: &ReviewedFinding) -> EvidenceCheck {
        let place = &finding.location;
        if self.repeats_what_a_rule_found(finding) {
            return EvidenceCheck::Unrelated {
                why: format!("it is the code at {place} that the rule objects to"),
            };
        }
        if place.file.is_empty() || self.is_near(finding) {
            return EvidenceCheck::Confirmed;
        }
        let names = names_of(finding);
        let mut words = words(self.code);
        if words.any(|word| names.contains(word)) {
            return EvidenceCheck::Confirmed;
        }
        EvidenceCheck::Unrelated {
            why: format!("it is outside of the function at {place} and names nothing of it"),
        }
    }

    /// Tells whether it is nothing but the lines of which a rule says that they are wrong. A reviewer may
    /// have misread a line, so that showing it proves something; a rule has matched it.
    fn repeats_what_a_rule_found(&self, finding: &ReviewedFinding) -> bool {
        let of_rule = finding.voices.iter().any(|voice| !voice.rule.is_empty());
        let (Some(cited), Some((first, last))) = (self.line, finding.location.lines()) else {
            return false;
        };
        let lines = self.text.lines().skip(first.saturating_sub(1) as usize);
        let accused: Vec<&str> = lines.take((last - first) as usize + 1).collect();
        let is_there = self.path == finding.location.file && (first..=last).contains(&cited);
        of_rule && is_there && compact(&accused.join("\n")).contains(&compact(self.code))
    }

    fn is_near(&self, finding: &ReviewedFinding) -> bool {
        let place = &finding.location;
        let (Some(cited), Some((first, last))) = (self.line, place.lines()) else {
            return self.path == place.file;
        };
        if self.path != place.file {
            return false;
        }
        let is_close = || {
            let after = cited.saturating_sub(last);
            after.max(first.saturating_sub(cited)) <= NEAR_PLACE
        };
        match &place.function {
            // Lines may have moved since, the function keeps its name.
            Some(function) => {
                let sheet = Sheet::new(self.path, self.text);
                let around = sheet.outline().function(cited);
                (first..=last).contains(&cited) || around.is_some_and(|one| one.name == *function)
            }
            None => is_close(),
        }
    }
}

/// Returns the names of code that a finding speaks of: those of the lines that it is about or
/// quotes, those that it marks as code, and the function around it.
fn names_of(finding: &ReviewedFinding) -> BTreeSet<&str> {
    let marked = finding.frame.iter().filter(|line| line.marked);
    let code = marked.map(|line| line.text.as_str());
    let quotes = finding.voices.iter().map(|voice| voice.quote.as_str());
    let function = finding.location.function.as_deref();
    let mut names: BTreeSet<&str> = code.chain(quotes).chain(function).flat_map(words).collect();
    for text in [&finding.title, &finding.description] {
        names.extend(text.split('`').skip(1).step_by(2).flat_map(words));
    }
    names.retain(|name| !KEYWORDS.contains(name));
    names
}

/// Words that stand in code of any matter.
const KEYWORDS: [&str; 46] = [
    "and", "as", "async", "await", "bool", "break", "case", "class", "const", "continue", "def",
    "do", "else", "false", "fn", "for", "from", "func", "function", "if", "import", "in", "int",
    "is", "let", "mut", "new", "nil", "None", "not", "null", "or", "pub", "return", "self",
    "static", "str", "string", "this", "true", "try", "use", "var", "void", "while", "with",
];

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
    fn true_code_about_something_else_does_not_bear_on_a_finding() {
        let mut finding: ReviewedFinding = serde_json::from_value(serde_json::json!({
            "id": "f-1", "fingerprint": "1", "verdict": "accepted", "standing": "new", "counts": true,
            "obligation": "mandatory", "label": "HIGH", "severity": "high", "category": "security",
            "confidence": 65, "agreement": "single-source-validated", "in_diff": true,
            "location": {"file": "app.py", "line": 4, "function": "run"},
            "title": "Text is evaluated", "description": "`eval` runs what a visitor types.",
            "suggestion": "", "trigger": "", "voices": [], "dissent": [], "trace": [], "reasons": [],
            "frame": [{"number": 4, "text": "    return eval(formula)", "marked": true}],
            "reversal": "",
        }))
        .expect("it is a finding");
        let text = "import os\n\ndef run(formula):\n    return eval(formula)\n\ndef main():\n    \
                    print(os.name)\n    run('1')\n";
        let mut of_rule = finding.clone();
        let voice = serde_json::json!({
            "reviewer": "security", "family": "builtin", "id": "f-1", "rule": "python-eval",
            "title": "Text is evaluated", "description": "", "location": {"file": "app.py", "line": 4}, "severity": null,
            "confidence": null, "grounding": "confirmed", "doubts": [],
        });
        of_rule.voices = vec![serde_json::from_value(voice).expect("it is a voice")];
        for (line, quote, bears) in [
            (Some(4), "return eval(formula)", false),
            (Some(4), "eval(formula)", false),
            (Some(4), "", false),
            (None, "return eval(formula)", false),
            (Some(3), "def run(formula):", true),
            (Some(3), "def run(formula):\n    return eval(formula)", true),
            (Some(8), "run('1')", true),
        ] {
            let check = Cited::new("app.py", text, line, quote).bears_on(&of_rule);
            assert_eq!(check == EvidenceCheck::Confirmed, bears, "{line:?} {quote}");
        }
        for (path, line, quote, bears) in [
            ("app.py", Some(4), "return eval(formula)", true),
            ("app.py", Some(3), "def run(formula):", true),
            ("app.py", Some(1), "import os", false),
            ("app.py", Some(1), "", false),
            ("app.py", None, "print(os.name)", false),
            ("app.py", Some(8), "run('1')", true),
            ("app.py", None, "run('1')", true),
            ("other.py", Some(1), "import os", false),
            ("other.py", Some(1), "return run('2')", true),
        ] {
            let check = Cited::new(path, text, line, quote).bears_on(&finding);
            assert_eq!(
                check == EvidenceCheck::Confirmed,
                bears,
                "{path} {line:?} {quote}"
            );
        }
        finding.location.function = None;
        let check = Cited::new("app.py", text, Some(1), "import os").bears_on(&finding);
        assert_eq!(check, EvidenceCheck::Confirmed);
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
