//! The JSON in the output of a tool: documents or lines, with prose between them.

use serde::de::IgnoredAny;
use serde_json::Value;

use crate::reply::strict::Strict;

/// Output beyond this many bytes is not read.
const MOST_BYTES: usize = 64 << 20;

/// Returns the output as text, or what it is instead.
pub(super) fn text_of(output: &[u8]) -> Result<&str, String> {
    if output.len() > MOST_BYTES {
        let length = output.len();
        return Err(format!(
            "the output has {length} bytes, which is more than is read"
        ));
    }
    let bytes = output.strip_prefix(b"\xef\xbb\xbf").unwrap_or(output);
    if matches!(bytes, [0xff, 0xfe, ..] | [0xfe, 0xff, ..]) {
        return Err("the output is UTF-16, not UTF-8".to_owned());
    }
    std::str::from_utf8(bytes).map_err(|_| "the output is not valid UTF-8".to_owned())
}

/// The JSON values that begin a line, in order. The first fault is the last item.
pub(super) struct Documents<'a> {
    text: &'a str,
    at: usize,
    /// Whether prose on the current line would follow a value.
    after_value: bool,
}

impl<'a> Documents<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        Self {
            text,
            at: 0,
            after_value: false,
        }
    }

    fn give_up(&mut self, what: String) -> Option<Result<Value, String>> {
        self.at = self.text.len();
        Some(Err(what))
    }

    /// Moves to the next thing that is not blank, and returns what is left from there.
    fn skip_blank(&mut self) -> &'a str {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let kept = rest.trim_start();
        let blank = rest.len() - kept.len();
        if rest.get(..blank).is_some_and(|blank| blank.contains('\n')) {
            self.after_value = false;
        }
        self.at += blank;
        kept
    }
}

impl Iterator for Documents<'_> {
    type Item = Result<Value, String>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let rest = self.skip_blank();
            if rest.is_empty() {
                return None;
            }
            if !opens_json(rest) {
                if self.after_value {
                    // Only a value that ends its line is known to be meant as one.
                    return self.give_up("text follows the JSON on the same line".to_owned());
                }
                self.at += rest.find('\n').unwrap_or(rest.len());
                continue;
            }
            let mut values = serde_json::Deserializer::from_str(rest).into_iter::<IgnoredAny>();
            let length = match values.next()? {
                Ok(_) => values.byte_offset(),
                Err(error) if error.is_eof() => {
                    return self.give_up("the JSON of the output is cut off".to_owned());
                }
                Err(error) => return self.give_up(unreadable(&error)),
            };
            let document = rest.get(..length).unwrap_or_default();
            self.at += length;
            self.after_value = true;
            return match Strict::read(document) {
                Ok(read) => match read.doubled.first() {
                    None => Some(Ok(read.value)),
                    Some(key) => self.give_up(format!("`{key}` stands there with two values")),
                },
                Err(error) => self.give_up(unreadable(&error)),
            };
        }
    }
}

fn unreadable(error: &serde_json::Error) -> String {
    format!("the JSON of the output cannot be read: {error}")
}

/// Tells whether a line begins JSON rather than prose such as `[INFO] done`.
fn opens_json(line: &str) -> bool {
    let mut signs = line.chars().filter(|sign| !sign.is_whitespace());
    matches!(
        (signs.next(), signs.next()),
        (Some('{'), None | Some('"' | '}')) | (Some('['), None | Some('{' | '"' | ']'))
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Vec<String> {
        Documents::of(text)
            .map(|one| one.map_or_else(|fault| fault, |value| value.to_string()))
            .collect()
    }

    #[test]
    fn values_are_found_at_the_start_of_lines() {
        for (text, expected) in [
            ("{\"a\":1}\n", vec!["{\"a\":1}"]),
            (
                "{\"a\":1}\n{\"b\":2}{\"c\":3}",
                vec!["{\"a\":1}", "{\"b\":2}", "{\"c\":3}"],
            ),
            (
                "> lint\n[INFO] go\n[]\n0 issues.\n{see above}\n",
                vec!["[]"],
            ),
            (
                "[] was found",
                vec!["[]", "text follows the JSON on the same line"],
            ),
            ("said {\"a\":1}", vec![]),
            (
                "[]\n{\"a\":",
                vec!["[]", "the JSON of the output is cut off"],
            ),
            ("[", vec!["the JSON of the output is cut off"]),
            (" \n", vec![]),
        ] {
            assert_eq!(shown(text), expected, "{text:?}");
        }
    }

    #[test]
    fn what_is_no_json_is_not_repaired() {
        let deep = format!("{{\"a\":{}{}}}", "[".repeat(500), "]".repeat(500));
        for text in [
            "{\"a\": NaN}",
            "{\"a\": 1e999}",
            "{\"a\": 1,}",
            "[{'a': 1}]",
            deep.as_str(),
        ] {
            let said = shown(text);
            assert!(said[0].contains("cannot be read"), "{said:?}");
        }
        assert!(shown(&"[".repeat(100_000)).is_empty());
        let two = "{\"runs\": [{\"results\": [1]}], \"runs\": []}";
        assert_eq!(shown(two), ["`runs` stands there with two values"]);
    }

    #[test]
    fn other_encodings_are_named() {
        assert_eq!(text_of(b"\xef\xbb\xbf[]"), Ok("[]"));
        assert!(text_of(b"\xff\xfe[\0").unwrap_err().contains("UTF-16"));
        assert!(text_of(b"[\xff").unwrap_err().contains("UTF-8"));
    }
}
