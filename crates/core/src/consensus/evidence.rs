//! How good the evidence of a finding is, measured by what it says.

use super::phrases::{Lexicon, count};
use crate::finding::{Finding, Grounding};
use crate::scale::Severity;

/// What a finding brings along to be believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Evidence {
    /// It points at code that was not found to be missing.
    pub(super) cites_code: bool,
    /// It names input or a situation that makes the problem happen.
    pub(super) concrete_trigger: bool,
    /// It says why the problem is as bad as claimed.
    pub(super) justifies_severity: bool,
    /// It says what to do about the cause.
    pub(super) meets_cause: bool,
    /// Its title has more than one word.
    pub(super) names_problem: bool,
    /// It is about a problem that everybody knows.
    known_pattern: bool,
    /// It gives advice that makes things worse.
    bad_advice: bool,
}

/// Problems that everybody knows to be problems.
const KNOWN_PATTERNS: &[&str] = &[
    "buffer overflow",
    "cross-site",
    "csrf",
    "data race",
    "deadlock",
    "directory traversal",
    "division by zero",
    "double free",
    "hardcoded credential",
    "hardcoded password",
    "hardcoded secret",
    "injection",
    "insecure deserialization",
    "integer overflow",
    "memory leak",
    "n+1 quer",
    "nil pointer",
    "null pointer",
    "off-by-one",
    "open redirect",
    "path traversal",
    "race condition",
    "resource leak",
    "ssrf",
    "toctou",
    "use after free",
    "use-after-free",
    "xss",
];

/// Advice that makes things worse.
const AGAINST_PRACTICE: &[&str] = &[
    "catch all exceptions",
    "disable certificate",
    "disable the test",
    "disable tls",
    "ignore the error",
    "plain text password",
    "remove the test",
    "skip certificate",
    "swallow the",
    "use eval",
];

/// Words that open the description of a situation.
const CONDITIONS: &[&str] = &[
    "after ",
    "by passing ",
    "by sending ",
    "e.g. ",
    "given ",
    "if ",
    "once ",
    "when ",
    "whenever ",
];

/// Words of harm.
const HARM: &[&str] = &[
    "always",
    "attack",
    "block",
    "break",
    "bypass",
    "corrupt",
    "crash",
    "duplicate",
    "exception",
    "expos",
    "fail",
    "hang",
    "incorrect",
    "leak",
    "lose",
    "loss",
    "lost",
    "never",
    "null",
    "overflow",
    "overwrit",
    "panic",
    "throw",
    "wrong",
];

const DESCRIBED: [&[&str]; 3] = [KNOWN_PATTERNS, CONDITIONS, HARM];
const KNOWN: u8 = 1;
const CONDITION: u8 = 2;
const HARMFUL: u8 = 4;
static WORDS: Lexicon<{ count(&DESCRIBED) }> = Lexicon::new(&DESCRIBED);
static PATTERNS: Lexicon<{ KNOWN_PATTERNS.len() }> = Lexicon::new(&[KNOWN_PATTERNS]);
static BAD_ADVICE: Lexicon<{ AGAINST_PRACTICE.len() }> = Lexicon::new(&[AGAINST_PRACTICE]);

impl Evidence {
    /// Returns what `finding`, which counts as that severe, brings along.
    pub(super) fn of(finding: &Finding, severity: Severity) -> Self {
        let text = finding.description.as_str();
        let words = WORDS.sets_in(text);
        let described = has_two_words(&finding.trigger);
        let named = || words & CONDITION != 0 && is_exact(text);
        Self {
            cites_code: finding.grounding != Grounding::Refuted
                && (finding.location.line.is_some() || !finding.quote.is_empty()),
            concrete_trigger: described || named(),
            justifies_severity: severity <= Severity::Medium || words & HARMFUL != 0,
            meets_cause: has_two_words(&finding.suggestion),
            names_problem: has_two_words(&finding.title),
            known_pattern: words & KNOWN != 0 || PATTERNS.sets_in(&finding.title) != 0,
            bad_advice: BAD_ADVICE.sets_in(&finding.suggestion) != 0,
        }
    }

    /// Returns how many of the four qualities are there.
    pub(super) fn quality(self) -> u8 {
        u8::from(self.cites_code)
            + u8::from(self.concrete_trigger)
            + u8::from(self.justifies_severity)
            + u8::from(self.meets_cause)
    }

    /// Returns the points that the evidence is worth in the validation of a single voice.
    pub(super) fn points(self) -> i8 {
        match (self.cites_code, self.concrete_trigger) {
            (true, true) => 3,
            (true, false) => 2,
            (false, _) => 1,
        }
    }

    /// Returns the points for what everybody knows: +2 for a known pattern, −1 for bad advice.
    pub(super) fn practice_points(self) -> i8 {
        2 * i8::from(self.known_pattern) - i8::from(self.bad_advice)
    }

    /// Tells whether the evidence carries a critical claim of one voice.
    pub(super) fn is_concrete(self) -> bool {
        self.cites_code && self.concrete_trigger
    }
}

/// Tells whether a text has more than one word.
fn has_two_words(text: &str) -> bool {
    let rest = text.trim_ascii_start().as_bytes();
    let end = rest.iter().position(u8::is_ascii_whitespace);
    end.is_some_and(|end| rest[end..].iter().any(|byte| !byte.is_ascii_whitespace()))
}

/// Tells whether a text has a digit, a quotation or a call in it.
pub(super) fn is_exact(text: &str) -> bool {
    let exact = |byte: &u8| byte.is_ascii_digit() | matches!(byte, b'`' | b'\'' | b'"' | b'(');
    // Whole pieces without a way out in between are what a processor does at once.
    let pieces = text.as_bytes().chunks(32);
    let mut found = pieces.map(|piece| piece.iter().fold(false, |any, byte| any | exact(byte)));
    found.any(|any| any)
}

/// Returns the quality of an argument against a finding, on the scale of `Evidence::quality`.
pub(super) fn quality_of_reasoning(reasoning: &str, substance_words: u32) -> u8 {
    let text = reasoning.to_ascii_lowercase();
    let substantial = has_substance(reasoning, substance_words);
    let cites = text.contains('`') || text.contains("()") || has_line_reference(&text);
    let gives_reason = [
        "because",
        "since ",
        "already",
        "guard",
        "validated",
        "unreachable",
    ]
    .iter()
    .any(|word| text.contains(word));
    let concrete = substantial && cites && text.split_whitespace().count() >= 12;
    u8::from(substantial) + u8::from(cites) + u8::from(gives_reason) + u8::from(concrete)
}

/// Tells whether an argument has at least so many words.
pub(super) fn has_substance(reasoning: &str, words: u32) -> bool {
    let least = usize::try_from(words).unwrap_or(usize::MAX);
    least == 0 || reasoning.split_whitespace().nth(least - 1).is_some()
}

/// Tells whether the text refers to a line, as in `db.rs:12` or `line 12`.
fn has_line_reference(text: &str) -> bool {
    let mut before = "";
    text.split_whitespace().any(|word| {
        let digits = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
        let found = (matches!(before, "line" | "lines") && digits(word))
            || word
                .split_once(':')
                .is_some_and(|(file, line)| file.contains('.') && digits(line));
        before = word;
        found
    })
}
