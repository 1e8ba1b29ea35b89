//! How good the evidence of a finding is, measured by what it says.

use super::normalize::Claim;
use super::phrases::Phrases;
use crate::finding::Grounding;
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
}

/// Problems that everybody knows to be problems.
static KNOWN_PATTERNS: Phrases = Phrases::new(&[
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
]);

/// Advice that makes things worse.
static AGAINST_PRACTICE: Phrases = Phrases::new(&[
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
]);

/// Words that open the description of a situation.
static CONDITIONS: Phrases = Phrases::new(&[
    "after ",
    "by passing ",
    "by sending ",
    "e.g. ",
    "given ",
    "if ",
    "once ",
    "when ",
    "whenever ",
]);

/// Words of harm.
static HARM: Phrases = Phrases::new(&[
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
]);

impl Evidence {
    /// Returns what `claim` brings along.
    pub(super) fn of(claim: &Claim) -> Self {
        let finding = &claim.finding;
        let text = finding.description.as_str();
        let described = finding.trigger.split_whitespace().nth(1).is_some();
        let named = || {
            CONDITIONS.are_in(text)
                && text.contains(|c: char| c.is_ascii_digit() || "`'\"(".contains(c))
        };
        Self {
            cites_code: finding.grounding != Grounding::Refuted
                && (finding.location.line.is_some() || !finding.quote.is_empty()),
            concrete_trigger: described || named(),
            justifies_severity: claim.severity <= Severity::Medium || HARM.are_in(text),
            meets_cause: finding.suggestion.split_whitespace().nth(1).is_some(),
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
    pub(super) fn points(self) -> i32 {
        match (self.cites_code, self.concrete_trigger) {
            (true, true) => 3,
            (true, false) => 2,
            (false, _) => 1,
        }
    }

    /// Tells whether the evidence carries a critical claim of one voice.
    pub(super) fn is_concrete(self) -> bool {
        self.cites_code && self.concrete_trigger
    }
}

/// Returns the points for what everybody knows: +2 for a known pattern, −1 for bad advice.
pub(super) fn practice_points(claim: &Claim) -> i32 {
    let finding = &claim.finding;
    let known =
        KNOWN_PATTERNS.are_in(&finding.title) || KNOWN_PATTERNS.are_in(&finding.description);
    let against = AGAINST_PRACTICE.are_in(&finding.suggestion);
    2 * i32::from(known) - i32::from(against)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phrases_are_sorted() {
        for phrases in [&KNOWN_PATTERNS, &AGAINST_PRACTICE, &CONDITIONS, &HARM] {
            assert!(phrases.are_sorted());
        }
    }
}
