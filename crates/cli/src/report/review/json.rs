//! A review as JSON: the report as it is.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::Value;
use tribunal_core::review::report::{ReviewReport, review_schema};

use super::shown::{may_be_shown, shown};

/// Returns the report as one object over several lines.
pub(super) fn render(report: &ReviewReport) -> String {
    pretty(report)
}

/// Returns the report in one line.
pub(super) fn line(report: &ReviewReport) -> String {
    let text = serde_json::to_string(report).expect("a report has text keys and whole numbers");
    legible(&text) + "\n"
}

/// Returns the JSON schema of what [`render`] returns.
pub(crate) fn schema() -> Value {
    review_schema().to_value()
}

/// Returns a value as JSON over several lines.
pub(super) fn pretty(value: &impl Serialize) -> String {
    let text =
        serde_json::to_string_pretty(value).expect("what we print has text keys and whole numbers");
    legible(&text) + "\n"
}

/// Returns the same JSON with invisible characters as escapes. They can stand in strings only,
/// so that the value is unchanged.
fn legible(json: &str) -> String {
    if matches!(shown(json), Cow::Borrowed(_)) {
        return json.to_owned();
    }
    let mut text = String::with_capacity(json.len());
    for c in json.chars() {
        if may_be_shown(c) {
            text.push(c);
        } else {
            for unit in c.encode_utf16(&mut [0; 2]) {
                text.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invisible_characters_are_escaped_and_read_back_the_same() {
        let value = "a\u{202e}\u{7f}\u{9b}\u{e0041}ä\n";
        let json = pretty(&value);
        assert_eq!(json, "\"a\\u202e\\u007f\\u009b\\udb40\\udc41ä\\n\"\n");
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), value);
    }
}
