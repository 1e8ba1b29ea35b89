//! Finding the JSON in an answer: the whole text, a fence, or the last complete value.

use std::collections::BTreeSet;

use serde_json::Value;
use thiserror::Error;

use super::strict::Strict;

/// Text beyond this many bytes is not searched.
const MOST_BYTES: usize = 16 << 20;

/// Brackets that nobody closes are given up after so many; each costs a walk to the end.
const MOST_OPEN: usize = 16;

/// Why an answer contains no usable JSON.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ExtractError {
    /// Nothing was written.
    #[error("the answer is empty")]
    Empty,
    /// The text is too long to be searched.
    #[error("the answer has {0} bytes, which is more than is read")]
    TooLong(usize),
    /// There is text but no JSON.
    #[error("the answer contains no JSON")]
    NoJson,
    /// A value is opened and never closed. It is not completed by guessing.
    #[error("the JSON of the answer is cut off")]
    CutOff,
    /// What looks like JSON is none.
    #[error("the JSON of the answer cannot be read: {0}")]
    Malformed(String),
}

/// Returns the JSON value of an answer: all of it, else the last fenced one, else the last
/// complete object or array in the prose. Objects on lines of their own are one list.
///
/// A key with two different values has none: null stands in their place.
pub fn extract_json(text: &str) -> Result<Value, ExtractError> {
    Ok(extract(text)?.value)
}

/// Returns the JSON value of an answer together with the keys that had two values.
pub(super) fn extract(text: &str) -> Result<Strict, ExtractError> {
    let text = text.trim_start_matches('\u{feff}').trim();
    if text.is_empty() {
        return Err(ExtractError::Empty);
    }
    if text.len() > MOST_BYTES {
        return Err(ExtractError::TooLong(text.len()));
    }
    let whole = match Strict::read(text) {
        Ok(value) => return Ok(value),
        Err(error) => error,
    };
    if let Some(list) = objects_by_line(text) {
        return Ok(list);
    }
    if text.starts_with(['{', '[']) && whole.is_eof() {
        return Err(ExtractError::CutOff);
    }
    if let Some(found) = last_fenced(text) {
        return found;
    }
    match last_balanced(text) {
        Err(ExtractError::NoJson) if text.starts_with(['{', '[']) => {
            Err(ExtractError::Malformed(whole.to_string()))
        }
        found => found,
    }
}

/// Reads a text of which every line is an object: as many answers, or one answer piece by piece.
fn objects_by_line(text: &str) -> Option<Strict> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    if !lines
        .clone()
        .all(|line| line.starts_with('{') && line.ends_with('}'))
    {
        return None;
    }
    let mut list = Vec::new();
    let mut doubled = BTreeSet::new();
    for (index, line) in lines.enumerate() {
        let object = Strict::read(line).ok()?;
        let places = object.doubled.iter();
        doubled.extend(places.map(|at| format!("[{index}].{at}")));
        list.push(object.value);
    }
    (list.len() > 1).then_some(Strict {
        value: Value::Array(list),
        doubled,
    })
}

/// Returns the last fence that holds JSON, or is marked as such. An open fence is cut off.
fn last_fenced(text: &str) -> Option<Result<Strict, ExtractError>> {
    let mut found = None;
    let mut open: Option<(usize, bool)> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let Some(info) = line.trim_start().strip_prefix("```") else {
            continue;
        };
        match open.take() {
            None => {
                let info = info.trim();
                let marked = info.eq_ignore_ascii_case("json");
                if marked || info.is_empty() {
                    open = Some((at, marked));
                } else {
                    // Another language: skip to the end of the fence.
                    open = Some((usize::MAX, false));
                }
            }
            Some((begin, marked)) => {
                if let Some(inside) = text.get(begin..start) {
                    let looks = inside.trim_start().starts_with(['{', '[']);
                    let read = Strict::read(inside);
                    match read.or_else(|error| objects_by_line(inside).ok_or(error)) {
                        Ok(value) => found = Some(Ok(value)),
                        Err(error) if marked || looks => {
                            found = Some(Err(ExtractError::Malformed(error.to_string())));
                        }
                        Err(_) => {}
                    }
                }
            }
        }
    }
    match open {
        Some((_, true)) => Some(Err(ExtractError::CutOff)),
        _ => found,
    }
}

/// Returns the last complete object or array that stands in the text.
fn last_balanced(text: &str) -> Result<Strict, ExtractError> {
    let bytes = text.as_bytes();
    let mut found = Err(ExtractError::NoJson);
    let mut at = 0;
    let mut open = 0;
    while let Some(step) = bytes[at..].iter().position(|byte| b"{[".contains(byte)) {
        let start = at + step;
        match end_of(bytes, start) {
            Some(end) => {
                // Brackets are ASCII, so both ends lie between characters.
                match Strict::read(&text[start..end]) {
                    // An empty list in passing is a word of the prose, not the answer.
                    Ok(read) if is_empty_list(&read.value) && !stands_alone(text, start, end) => {
                        at = end;
                    }
                    Ok(value) => {
                        found = Ok(value);
                        at = end;
                    }
                    Err(error) => {
                        if opens_json(bytes, start) && found.is_err() {
                            found = Err(ExtractError::Malformed(error.to_string()));
                        }
                        at = end;
                    }
                }
            }
            None if opens_json(bytes, start) => return Err(ExtractError::CutOff),
            None if open < MOST_OPEN => {
                open += 1;
                at = start + 1;
            }
            None => break,
        }
    }
    found
}

fn is_empty_list(value: &Value) -> bool {
    value.as_array().is_some_and(Vec::is_empty)
}

/// Tells whether nothing else is written on the lines from `start` to `end`.
fn stands_alone(text: &str, start: usize, end: usize) -> bool {
    let before = text[..start].rsplit('\n').next().unwrap_or("");
    let after = text[end..].split('\n').next().unwrap_or("");
    before.trim().is_empty() && after.trim().is_empty()
}

/// Returns where the value that opens at `start` ends.
fn end_of(bytes: &[u8], start: usize) -> Option<usize> {
    let mut depth = 0_usize;
    let mut quoted = false;
    let mut escaped = false;
    for (offset, byte) in bytes[start..].iter().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'{' | b'[' if !quoted => depth += 1,
            b'}' | b']' if !quoted => {
                depth -= 1;
                if depth == 0 {
                    return Some(start + offset + 1);
                }
            }
            _ => {}
        }
    }
    None
}

/// Tells whether a bracket opens JSON rather than an aside in prose.
fn opens_json(bytes: &[u8], start: usize) -> bool {
    let mut inside = bytes[start + 1..].iter();
    let next = inside.find(|byte| !byte.is_ascii_whitespace());
    matches!(
        (bytes[start], next),
        (b'{', Some(b'"')) | (b'[', Some(b'{' | b'"')) | (b'{' | b'[', None)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn json_is_found_wherever_it_stands() {
        for (name, text) in [
            ("alone", "{\"a\": 1}"),
            ("with a byte order mark", "\u{feff}{\"a\": 1}"),
            ("in a fence", "Sure:\n```json\n{\"a\": 1}\n```\nDone."),
            ("in a bare fence", "Sure:\n```\n{\"a\": 1}\n```"),
            ("in prose", "I found this: {\"a\": 1}. Bye."),
            (
                "the last one",
                "An example is {\"x\": 0}, mine is {\"a\": 1}",
            ),
            (
                "the last fence",
                "```json\n{\"x\": 0}\n```\n```json\n{\"a\": 1}\n```",
            ),
            (
                "after an aside",
                "As said [see above {not json}] it is {\"a\": 1}",
            ),
            (
                "beside other code",
                "```rust\nlet a = [1];\n```\n{\"a\": 1}",
            ),
        ] {
            assert_eq!(extract_json(text), Ok(json!({"a": 1})), "{name}");
        }
    }

    #[test]
    fn objects_on_lines_of_their_own_are_one_list() {
        let lines = "{\"a\": 1}\n\n  {\"a\": 2}\r\n{\"a\": 3}";
        let list = json!([{"a": 1}, {"a": 2}, {"a": 3}]);
        assert_eq!(extract_json(lines), Ok(list.clone()));
        assert_eq!(
            extract_json(&format!("So:\n```json\n{lines}\n```")),
            Ok(list)
        );
        // A line that is none leaves the last one that is.
        let torn = "{\"a\": 1}\n{\"a\": 2,}\n{\"a\": 3}";
        assert_eq!(extract_json(torn), Ok(json!({"a": 3})));
    }

    #[test]
    fn a_key_with_two_values_has_none() {
        assert_eq!(extract_json("{\"a\": 1, \"a\": 2}"), Ok(json!({"a": null})));
        assert_eq!(
            extract_json("So {\"a\": 1, \"a\": 1}."),
            Ok(json!({"a": 1}))
        );
        let lines = extract("{\"a\": 1}\n{\"b\": 1, \"b\": 2}").expect("two objects");
        assert_eq!(lines.doubled, BTreeSet::from(["[1].b".to_owned()]));
    }

    #[test]
    fn what_is_cut_off_or_broken_is_not_repaired() {
        let kind = |text: &str| match extract_json(text) {
            Err(ExtractError::Empty) => "empty",
            Err(ExtractError::CutOff) => "cut off",
            Err(ExtractError::Malformed(_)) => "malformed",
            Err(ExtractError::NoJson) => "no json",
            Err(ExtractError::TooLong(_)) => "too long",
            Ok(_) => "read",
        };
        for (text, expected) in [
            ("", "empty"),
            (" \n", "empty"),
            ("nothing to see", "no json"),
            ("{\"a\": 1", "cut off"),
            ("text {\"a\": [1, 2", "cut off"),
            ("```json\n{\"a\": 1", "cut off"),
            ("An example is {\"x\": 0}, mine is {\"a\": 1", "cut off"),
            ("{\"a\": NaN}", "malformed"),
            ("{\"a\": 1e999}", "malformed"),
            ("{'a': 1}", "malformed"),
            ("{\"a\": 1,}", "malformed"),
        ] {
            assert_eq!(kind(text), expected, "{text}");
        }
    }

    #[test]
    fn deep_nesting_is_refused_in_bounded_time() {
        let deep = "[".repeat(100_000) + &"]".repeat(100_000);
        assert!(extract_json(&deep).is_err());
        assert!(extract_json(&"{".repeat(100_000)).is_err());
        assert!(extract_json(&"[ ".repeat(100_000)).is_err());
    }
}
