//! Foreign text made harmless: what cannot be seen is written out.

use std::borrow::Cow;

use tribunal_core::text::{for_terminal, truncate_chars};

/// Returns `text` with every control and format character but newline and tab written out, so
/// that a direction override reads `\u{202e}` rather than turning the line around.
///
/// What may be shown is the decision of [`for_terminal`]; only its `�` becomes legible.
pub(crate) fn shown(text: &str) -> Cow<'_, str> {
    if matches!(for_terminal(text), Cow::Borrowed(_)) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.replace("\r\n", "\n").chars() {
        if may_be_shown(c) {
            shown.push(c);
        } else {
            shown.extend(c.escape_unicode());
        }
    }
    Cow::Owned(shown)
}

/// Tells whether `c` may stand in any output as it is.
pub(super) fn may_be_shown(c: char) -> bool {
    // Most need no second look.
    (' '..='~').contains(&c) || matches!(for_terminal(c.encode_utf8(&mut [0; 4])), Cow::Borrowed(_))
}

/// Returns `text` in one line of at most `max` characters.
pub(super) fn one_line(text: &str, max: usize) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    truncate_chars(&shown(&words.join(" ")), max).into_owned()
}

/// The longest title that is printed.
pub(super) const TITLE: usize = 200;
/// The longest name, path or phrase that is printed.
pub(super) const NAME: usize = 300;
/// The longest description that is printed; the JSON has all of it.
pub(super) const PROSE: usize = 4_000;

/// Returns several lines of prose: trimmed, shortened, and without blank lines in a row.
pub(super) fn prose(text: &str) -> String {
    let shown = shown(text);
    let mut lines: Vec<&str> = shown.trim().lines().map(str::trim_end).collect();
    lines.dedup_by(|next, before| next.is_empty() && before.is_empty());
    truncate_chars(&lines.join("\n"), PROSE).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invisible_characters_are_written_out() {
        for (given, seen) in [
            ("plain\ttext\n", "plain\ttext\n"),
            ("\u{1b}[2J", "\\u{1b}[2J"),
            ("a\r\nb\rc", "a\nb\\u{d}c"),
            ("\u{202e}txt", "\\u{202e}txt"),
            ("a\u{200b}b\u{feff}", "a\\u{200b}b\\u{feff}"),
            ("ä\u{2028}ö", "ä\\u{2028}ö"),
        ] {
            assert_eq!(shown(given), seen);
        }
    }

    #[test]
    fn lines_are_joined_and_shortened() {
        assert_eq!(one_line(" a\n\tb  c ", 80), "a b c");
        assert_eq!(one_line("abcdef", 4), "abc…");
        assert_eq!(prose("a  \n\n\n\nb\n"), "a\n\nb");
    }
}
