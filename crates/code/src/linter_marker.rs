//! Markers that silence linters: comments such as `# noqa`, attributes such as `#[allow(…)]`.
//!
//! Every tool has its own. The table says which tool heeds which, so that a linter can be run on a
//! text without the markers that the change under review has added.

use std::ops::Range;
use std::sync::OnceLock;

use regex::Regex;
use tribunal_core::text::truncate_chars;

use crate::lines::LineSet;

/// The longest text of a marker that is shown, in characters.
const MAX_SHOWN: usize = 60;

/// A marker that silences a linter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinterMarker {
    /// Its first line, counted from 1.
    pub line: u32,
    /// What is written there, shortened.
    pub text: String,
}

/// How far a marker reaches in the text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Extent {
    /// The words that the pattern names: its first group, or all of it.
    Words,
    /// From there to the bracket that closes the first one.
    Bracket,
}

struct Row {
    /// The tools that heed it, by their names in reports.
    tools: &'static [&'static str],
    extent: Extent,
    pattern: &'static str,
}

const fn words(tools: &'static [&'static str], pattern: &'static str) -> Row {
    Row {
        tools,
        extent: Extent::Words,
        pattern,
    }
}

const fn bracket(tools: &'static [&'static str], pattern: &'static str) -> Row {
    Row {
        tools,
        extent: Extent::Bracket,
        pattern,
    }
}

const ROWS: &[Row] = &[
    words(
        &["ruff", "flake8"],
        r"(?i)\b(?:(?:flake8|ruff)\s*:\s*)?noqa\b",
    ),
    words(
        &["ruff"],
        r"(?i)\bruff\s*:\s*(?:file-)?(?:ignore|disable)\b",
    ),
    words(&["ruff", "isort"], r"(?i)\bisort\s*:\s*(?:skip|off)"),
    words(&["pylint"], r"(?i)\bpylint\s*:\s*(?:disable|skip)"),
    words(&["bandit", "golangci-lint", "gosec"], r"(?i)\bnosec\b"),
    words(&["mypy", "pyright"], r"(?i)\btype\s*:\s*ignore\b"),
    words(&["mypy"], r"(?i)#\s*(mypy)\s*:"),
    words(&["pyright"], r"(?i)#\s*(pyright)\s*:"),
    words(&["semgrep"], r"(?i)\bnosem(?:grep)?\b"),
    words(&["codeql"], r"(?i)\b(?:codeql|lgtm)\s*\["),
    words(&["eslint", "oxlint"], r"(?i)\beslint-(?:disable|env)"),
    words(
        &["eslint", "oxlint"],
        r"(?i)/\*\s*(eslint|globals?|exported)\s",
    ),
    words(&["oxlint"], r"(?i)\boxlint-disable"),
    words(&["biome"], r"(?i)\b(?:biome|rome)-ignore"),
    words(&["tslint"], r"(?i)\btslint\s*:\s*disable"),
    words(&["tsc"], r"(?i)@ts-(?:ignore|nocheck|expect-error)\b"),
    words(&["stylelint"], r"(?i)\bstylelint-disable"),
    words(&["golangci-lint"], r"(?i)\bnolint\b"),
    words(
        &["golangci-lint", "staticcheck"],
        r"(?i)\blint\s*:\s*(?:file-)?ignore\b",
    ),
    words(&["golangci-lint", "revive"], r"(?i)\brevive\s*:\s*disable"),
    bracket(&["clippy", "rustc"], r"#!?\s*\[\s*(?:allow|expect)\b"),
    bracket(
        &["clippy", "rustc"],
        r"#!?\s*\[\s*cfg_attr\b[^\]]*\b(?:allow|expect)\s*\(",
    ),
    bracket(
        &["javac", "checkstyle", "pmd", "spotbugs", "errorprone"],
        r"@(?:java\.lang\.)?Suppress(?:FB)?Warnings\s*\(",
    ),
    bracket(&["detekt", "ktlint"], r"@(?:file\s*:\s*)?Suppress\s*\("),
    words(&["pmd"], r"\bNOPMD\b"),
    words(&["sonarqube", "sonarlint"], r"\bNOSONAR\b"),
    words(&["checkstyle"], r"(?i)\bcheckstyle\s*:\s*off\b"),
    words(&["clang-tidy", "cpplint"], r"\bNOLINT(?:NEXTLINE|BEGIN)?\b"),
    words(&["cppcheck"], r"(?i)\bcppcheck-suppress"),
    words(&["rubocop"], r"(?i)\brubocop\s*:\s*(?:disable|todo)"),
    words(&["shellcheck"], r"(?i)\bshellcheck\s+disable"),
    words(&["hadolint"], r"(?i)\bhadolint\s+(?:global\s+)?ignore"),
    words(&["swiftlint"], r"(?i)\bswiftlint\s*:\s*disable"),
    words(&["phpcs"], r"(?i)\bphpcs\s*:\s*(?:ignore|disable)"),
    words(&["phpstan"], r"(?i)@phpstan-ignore"),
    words(&["psalm"], r"(?i)@psalm-suppress"),
    words(&["checkov"], r"(?i)\bcheckov\s*:\s*skip"),
    words(&["trivy", "tfsec"], r"(?i)\b(?:trivy|tfsec)\s*:\s*ignore"),
    words(&["gitleaks"], r"(?i)\bgitleaks\s*:\s*allow"),
];

/// Comments that silence the rules of the built-in reviewers and of the project.
const OWN: [&str; 3] = ["tribunal-ignore", "tribunal:ignore", "ast-grep-ignore"];

/// Tells whether any marker is in `text`, for a linter or for rules.
#[must_use]
pub fn has_marker(text: &str) -> bool {
    OWN.iter().any(|word| text.contains(word)) || patterns().iter().any(|one| one.is_match(text))
}

/// Returns `text` without the markers on `lines` that `tool` heeds, and these markers. Lines keep
/// their numbers. A tool that the table does not name may heed any marker.
#[must_use]
pub fn without_markers(tool: &str, text: &str, lines: &LineSet) -> (String, Vec<LinterMarker>) {
    let is_known = ROWS.iter().any(|row| row.tools.contains(&tool));
    let mut spans: Vec<Range<usize>> = Vec::new();
    for (row, pattern) in ROWS.iter().zip(patterns()) {
        if is_known && !row.tools.contains(&tool) {
            continue;
        }
        for found in pattern.captures_iter(text) {
            let Some(found) = found.get(1).or_else(|| found.get(0)) else {
                continue;
            };
            let end = match row.extent {
                Extent::Words => found.end(),
                Extent::Bracket => closing(text, found.start()),
            };
            spans.push(found.start()..end);
        }
    }
    spans.sort_by_key(|span| (span.start, span.end));
    let mut markers = Vec::new();
    let mut left = String::with_capacity(text.len());
    let mut done = 0;
    let (mut line, mut counted) = (1, 0);
    for span in spans {
        line += breaks(&text[counted..span.start]);
        counted = span.start;
        let last = line + breaks(&text[span.clone()]);
        if !lines.touches(line, last) || span.end <= done {
            continue;
        }
        let start = span.start.max(done);
        left.push_str(&text[done..start]);
        let blank = |sign: char| {
            if matches!(sign, '\n' | '\r') {
                sign
            } else {
                ' '
            }
        };
        left.extend(text[start..span.end].chars().map(blank));
        done = span.end;
        let shown: Vec<&str> = text[span].split_whitespace().collect();
        markers.push(LinterMarker {
            line,
            text: truncate_chars(&shown.join(" "), MAX_SHOWN).into_owned(),
        });
    }
    left.push_str(&text[done..]);
    (left, markers)
}

fn breaks(text: &str) -> u32 {
    u32::try_from(text.matches('\n').count()).unwrap_or(u32::MAX)
}

/// Returns the end of the bracket that opens first after `start`; texts in it are passed over.
fn closing(text: &str, start: usize) -> usize {
    let mut depth = 0_u32;
    let mut in_text = false;
    let mut is_escaped = false;
    for (at, sign) in text[start..].char_indices() {
        match sign {
            _ if is_escaped => is_escaped = false,
            '\\' if in_text => is_escaped = true,
            '"' => in_text = !in_text,
            _ if in_text => {}
            '[' | '(' => depth += 1,
            ']' | ')' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return start + at + sign.len_utf8();
                }
            }
            _ => {}
        }
    }
    text.len()
}

fn patterns() -> &'static [Regex] {
    static COMPILED: OnceLock<Vec<Regex>> = OnceLock::new();
    COMPILED.get_or_init(|| {
        let compile = |row: &Row| {
            #[allow(clippy::expect_used, reason = "every pattern is compiled by the tests")]
            Regex::new(row.pattern).expect("a pattern of ours")
        };
        ROWS.iter().map(compile).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> LineSet {
        (1..=breaks(text) + 1).collect()
    }

    #[test]
    fn markers_of_a_tool_are_taken_out_and_lines_keep_their_numbers() {
        for (tool, text, expected) in [
            ("ruff", "eval(x)  # noqa: S307\n", "eval(x) # : S307"),
            ("ruff", "# ruff: NOQA\n", "#"),
            ("bandit", "eval(x)  #nosec\n", "eval(x) #"),
            ("semgrep", "f() // nosemgrep: a.b\n", "f() // : a.b"),
            ("eslint", "/* eslint-disable */\n", "/* */"),
            ("eslint", "/* eslint no-eval: 0 */\n", "/* no-eval: 0 */"),
            ("biome", "// biome-ignore lint/x: y\n", "// lint/x: y"),
            ("mypy", "x = y  # type: ignore\n", "x = y #"),
            ("golangci-lint", "f() //nolint\n", "f() //"),
            (
                "clippy",
                "#[allow(\n  a::b,\n  reason = \")]\"\n)]\nfn f() {}\n",
                "fn f() {}",
            ),
            (
                "rustc",
                "#![cfg_attr(test, allow(x))]\nfn f() {}\n",
                "fn f() {}",
            ),
            (
                "my-own-checker",
                "@SuppressWarnings(\"all\") class A {}\n",
                "class A {}",
            ),
        ] {
            let (left, markers) = without_markers(tool, text, &all(text));
            let words: Vec<&str> = left.split_whitespace().collect();
            assert_eq!(words.join(" "), expected, "{tool}");
            assert_eq!(left.lines().count(), text.lines().count(), "{tool}");
            assert_eq!((markers.len(), markers[0].line), (1, 1), "{tool}");
            assert!(has_marker(text), "{text}");
            let (same, none) = without_markers(tool, text, &LineSet::default());
            assert_eq!((same.as_str(), none.len()), (text, 0), "{tool}");
        }
    }

    #[test]
    fn markers_of_other_tools_and_other_lines_stay() {
        let text = "a  # noqa\nb  # type: ignore\nc  # noqa: X1\n";
        let (left, markers) = without_markers("ruff", text, &[2, 3].into_iter().collect());
        assert_eq!(left, "a  # noqa\nb  # type: ignore\nc  #     : X1\n");
        let found = LinterMarker {
            line: 3,
            text: "noqa".to_owned(),
        };
        assert_eq!(markers, [found]);
        assert!(!has_marker("fn f() { // plain é\n}\n"));
    }

    #[test]
    fn odd_texts_are_read_to_their_end() {
        for text in [
            "#[allow(",
            "é#[allow(é",
            "@SuppressWarnings(\"\\",
            "# noqa# noqa",
        ] {
            let (left, _) = without_markers("anything", text, &all(text));
            assert_eq!(left.chars().count(), text.chars().count(), "{text}");
        }
    }
}
