//! What stands beside an answer, and what in it is not the author's own word.
//!
//! A question shows the form of its answer, and an agent may repeat that form, the whole question,
//! or somebody else's answer. None of it is an answer. Nor is one that its author takes back in the
//! next sentence.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use serde_json::Value;

use crate::prompt::TEMPLATES;

/// What is wrong with an answer that repeats the form.
pub(super) const REPEATS_FORM: &str =
    "the answer repeats the form of the question and does not fill it in";

/// What is wrong with an answer that repeats the question.
const REPEATS_QUESTION: &str =
    "the answer repeats marks of the question, so it is not clear what in it is the answer";

/// What is wrong with an answer that goes on after its end.
const GOES_ON: &str = "text follows the end of the answer, so it is not clear what counts; write \
                       nothing after it";

/// What is wrong with an answer of nothing that has something beside it.
pub(super) const NOT_NOTHING: &str = "the answer says that there are no findings, and more text \
                                      stands beside it; report what it says as findings, or write \
                                      nothing beside the answer";

/// What is wrong with an answer that decides something and has more text beside it.
pub(super) const MORE_TEXT: &str = "more text stands beside the answer, so it is not clear what \
                                    counts; write the JSON object and nothing else";

/// A text with more letters and digits after the end of an answer is more than a farewell.
const LONGEST_FAREWELL: usize = 40;

/// A text with more letters and digits is no courtesy, whatever its words.
const LONGEST_COURTESY: usize = 200;

/// A line of a log with more letters and digits may say something.
const LONGEST_LOG_LINE: usize = 20;

/// Words that say nothing about a matter, whatever their order. A list of what is allowed has an
/// end; one of what is forbidden has none.
const COURTESIES: [&str; 64] = [
    "all",
    "and",
    "answer",
    "are",
    "as",
    "asked",
    "below",
    "certainly",
    "code",
    "complete",
    "course",
    "diff",
    "done",
    "else",
    "end",
    "entire",
    "final",
    "following",
    "follows",
    "for",
    "form",
    "format",
    "found",
    "have",
    "hello",
    "here",
    "hi",
    "i",
    "in",
    "is",
    "it",
    "json",
    "lgtm",
    "ll",
    "me",
    "my",
    "now",
    "object",
    "of",
    "ok",
    "okay",
    "on",
    "output",
    "read",
    "report",
    "reported",
    "requested",
    "response",
    "result",
    "review",
    "reviewed",
    "ruling",
    "s",
    "see",
    "sure",
    "thank",
    "thanks",
    "that",
    "the",
    "this",
    "to",
    "ve",
    "whole",
    "you",
];

/// What an answer of nothing may say that there is none of.
const DEFECT_NOUNS: [&str; 9] = [
    "bugs", "comments", "concerns", "defects", "errors", "findings", "issue", "issues", "problems",
];

/// Tells whether a text beside an answer is courtesy and nothing else, in the words of a short list.
///
/// `also` is one more word that may stand there.
pub(super) fn is_courtesy(text: &str, also: &str) -> bool {
    let letters = text.chars().filter(|c| c.is_alphanumeric()).count();
    let words = text.split(|c: char| !c.is_alphanumeric());
    let words: Vec<String> = words
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    let also = also.to_lowercase();
    let is_one_of = |index: Option<usize>, known: &[&str]| {
        let word = index.and_then(|index| words.get(index));
        word.is_some_and(|word| known.contains(&word.as_str()))
    };
    let is_fine = |(index, word): (usize, &String)| {
        let (before, after) = (index.checked_sub(1), Some(index + 1));
        match word.as_str() {
            // "No findings" is courtesy, and neither half of it is.
            "no" => is_one_of(after, &DEFECT_NOUNS),
            word if DEFECT_NOUNS.contains(&word) => is_one_of(before, &["no"]),
            "nothing" => is_one_of(before, &["found"]) || is_one_of(after, &["to", "else"]),
            "change" => is_one_of(before, &["the", "this", "whole"]),
            word => COURTESIES.contains(&word) || word == also,
        }
    };
    letters <= LONGEST_COURTESY && words.iter().enumerate().all(is_fine)
}

/// Tells whether a text may stand beside an answer that there is nothing to report: courtesy, short
/// lines of a log.
pub(super) fn goes_with_nothing(text: &str) -> bool {
    let is_log = |line: &&str| {
        let line = line.trim();
        let levels = ["[INFO] ", "[DEBUG] ", "[TRACE] "];
        let letters = line.chars().filter(|c| c.is_alphanumeric()).count();
        letters <= LONGEST_LOG_LINE && levels.iter().any(|level| line.starts_with(level))
    };
    let rest: Vec<&str> = text.lines().filter(|line| !is_log(line)).collect();
    is_courtesy(&rest.join("\n"), "")
}

/// Returns why an answer may not be what its author means; nothing if all is well.
pub(super) fn doubt(text: &str, answer: &Value, after: &str, nonce: &str) -> Option<&'static str> {
    if repeats_question(text, nonce) {
        Some(REPEATS_QUESTION)
    } else if repeats_form(answer) {
        Some(REPEATS_FORM)
    } else if says_something(after) {
        Some(GOES_ON)
    } else {
        None
    }
}

/// Returns the same for an answer of tagged lines.
pub(super) fn doubt_about_lines(
    text: &str,
    lines: &str,
    after: &str,
    nonce: &str,
) -> Option<&'static str> {
    let lines = lines.lines().map(|line| Value::from(line.trim()));
    doubt(text, &lines.collect(), after, nonce)
}

/// Tells whether a value at `start` is a quotation: its line begins with `>`.
pub(super) fn is_quoted(text: &str, start: usize) -> bool {
    let line = text[..start].rsplit('\n').next().unwrap_or("");
    line.trim_start().starts_with('>')
}

/// Tells whether a text of the value is a placeholder from the form of a question.
pub(super) fn repeats_form(value: &Value) -> bool {
    match value {
        Value::String(text) => PLACEHOLDERS.contains(text.trim()),
        Value::Array(items) => items.iter().any(repeats_form),
        Value::Object(object) => object.values().any(repeats_form),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// The texts that the forms of all questions have where an answer has its own.
static PLACEHOLDERS: LazyLock<BTreeSet<&'static str>> = LazyLock::new(|| {
    let lines = TEMPLATES.iter().flat_map(|template| template.text.lines());
    let mut placeholders = BTreeSet::new();
    for line in lines {
        if line.starts_with("{\"nonce\"") {
            // Every second piece stands between quotation marks; forms have no escaped ones.
            let texts = line.split('"').skip(1).step_by(2);
            placeholders.extend(texts.filter(|text| is_placeholder(text)));
        } else if line.starts_with('[') {
            placeholders.insert(line);
        }
    }
    placeholders
});

/// Tells a placeholder from a key, and from a word that may be an answer.
fn is_placeholder(text: &str) -> bool {
    text.contains([' ', '|', '/'])
}

/// Tells whether the marks around the data of the question are repeated.
fn repeats_question(text: &str, nonce: &str) -> bool {
    text.contains(nonce)
        && text.lines().any(|line| {
            let mut words = line.split_whitespace().skip_while(|word| *word == ">");
            let is_mark = words
                .next()
                .is_some_and(|word| matches!(word, "BEGIN" | "END"));
            let is_named = words.next().is_some_and(|word| word != nonce);
            is_mark && is_named && words.next() == Some(nonce)
        })
}

/// Tells whether the text after an answer may change what it says.
fn says_something(after: &str) -> bool {
    let letters = after.chars().filter(|c| c.is_alphanumeric()).count();
    letters > LONGEST_FAREWELL || after.split_whitespace().any(is_place)
}

/// Tells whether a word is a place in a file, such as `a.rs:3`.
pub(super) fn is_place(word: &str) -> bool {
    let word = word.trim_matches(|c: char| !c.is_alphanumeric());
    let Some((file, line)) = word.rsplit_once(':') else {
        return false;
    };
    file.contains(['.', '/']) && line.starts_with(|c: char| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn courtesy_is_what_says_nothing_about_the_matter() {
        for (text, expected) in [
            ("", true),
            ("Sure.\n```json\n```\nDone.", true),
            ("Here is my answer, as requested:", true),
            ("<answer></answer>", true),
            ("I have reviewed the change and found no issues.", true),
            ("No findings.", true),
            ("LGTM", true),
            ("I found issues.", false),
            ("I read nothing.", false),
            ("Nothing to report in this change.", true),
            ("Change the code.", false),
            ("No review.", false),
            ("I did not review it.", false),
            ("x may be zero", false),
            ("The finding stands.", false),
            ("Wait, I was wrong.", false),
            ("Der Befund stimmt.", false),
            ("\u{6b64}\u{5904}\u{6709}\u{9519}\u{8bef}", false),
            (&"all ".repeat(100), false),
        ] {
            assert_eq!(is_courtesy(text, ""), expected, "{text}");
        }
        assert!(is_courtesy("My ruling: DISMISS.", "DISMISS"));
        assert!(goes_with_nothing("[INFO] started\nDone."));
        assert!(!goes_with_nothing(
            "[INFO] app.py divides by zero when x is zero"
        ));
    }
}
