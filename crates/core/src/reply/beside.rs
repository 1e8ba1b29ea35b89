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

/// A text with more letters and digits after the end of an answer is more than a farewell.
const LONGEST_FAREWELL: usize = 40;

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
fn is_place(word: &str) -> bool {
    let word = word.trim_matches(|c: char| !c.is_alphanumeric());
    let Some((file, line)) = word.rsplit_once(':') else {
        return false;
    };
    file.contains(['.', '/']) && line.starts_with(|c: char| c.is_ascii_digit())
}
