//! Text helpers that never cut a character in two, and the one filter for terminals.

use std::borrow::Cow;

/// Returns at most `max` characters of `text`, ending in `…` when something was cut.
#[must_use]
pub fn truncate_chars(text: &str, max: usize) -> Cow<'_, str> {
    if text.len() <= max || text.chars().count() <= max {
        return Cow::Borrowed(text);
    }
    let kept: String = text.chars().take(max.saturating_sub(1)).collect();
    Cow::Owned(kept + "…")
}

/// Returns the first line of `text` that is not blank, trimmed and at most `max` characters long.
#[must_use]
pub fn headline(text: &str, max: usize) -> Cow<'_, str> {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty());
    truncate_chars(line.unwrap_or(""), max)
}

/// Returns `text` as it may be shown on a terminal: of all control and format characters only
/// newline and tab pass, the others are shown as `�`.
///
/// Model output and repository text reach a terminal only through this function, so that they
/// cannot move the cursor, set a title, write the clipboard or reverse the reading direction.
#[must_use]
pub fn for_terminal(text: &str) -> Cow<'_, str> {
    if text.chars().all(may_be_shown) {
        return Cow::Borrowed(text);
    }
    let normalized = text.replace("\r\n", "\n");
    Cow::Owned(
        normalized
            .chars()
            .map(|c| if may_be_shown(c) { c } else { '\u{fffd}' })
            .collect(),
    )
}

/// Returns `text` with every control and format character but newline and tab written out, so
/// that a direction override reads `\u{202e}` rather than turning the line around.
///
/// Models and people see the same: what is hidden in a text hides from neither.
#[must_use]
pub fn with_hidden_written_out(text: &str) -> Cow<'_, str> {
    let is_plain = |c: char| may_be_shown(c) || c == '\r';
    if text.chars().all(is_plain) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    let mut chars = text.chars().peekable();
    let mut before = ' ';
    while let Some(c) = chars.next() {
        // The joiner between the parts of an emoji hides nothing.
        let is_joint = c == '\u{200d}'
            && !before.is_ascii()
            && chars
                .peek()
                .is_some_and(|next| !next.is_ascii() && may_be_shown(*next));
        match is_plain(c) || is_joint {
            true => shown.push(c),
            false => shown.extend(c.escape_unicode()),
        }
        before = c;
    }
    Cow::Owned(shown)
}

/// Returns the name of a file as it is shown: on one line, with everything that is hidden in it
/// written out, so that a name cannot pass for a heading or a line of code.
#[must_use]
pub fn shown_name(name: &str) -> Cow<'_, str> {
    let is_plain = |c: char| may_be_shown(c) && !matches!(c, '\n' | '\t');
    if name.chars().all(is_plain) {
        return Cow::Borrowed(name);
    }
    let mut shown = String::with_capacity(name.len() + 16);
    for c in name.chars() {
        match c {
            '\n' => shown.push_str("\\n"),
            '\r' => shown.push_str("\\r"),
            '\t' => shown.push_str("\\t"),
            c if is_plain(c) => shown.push(c),
            c => shown.extend(c.escape_unicode()),
        }
    }
    Cow::Owned(shown)
}

fn may_be_shown(c: char) -> bool {
    matches!(c, '\n' | '\t') || !(c.is_control() || is_format(c))
}

/// Tells whether `c` is of Unicode category Cf, or a line or paragraph separator.
fn is_format(c: char) -> bool {
    matches!(
        c,
        '\u{ad}'
            | '\u{600}'..='\u{605}'
            | '\u{61c}'
            | '\u{6dd}'
            | '\u{70f}'
            | '\u{890}'..='\u{891}'
            | '\u{8e2}'
            | '\u{180e}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{2064}'
            | '\u{2066}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{110bd}'
            | '\u{110cd}'
            | '\u{13430}'..='\u{1343f}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0001}'
            | '\u{e0020}'..='\u{e007f}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn truncation_counts_characters_not_bytes() {
        assert_eq!(truncate_chars("äöü", 3), "äöü");
        assert_eq!(truncate_chars("äöüß", 3), "äö…");
        assert_eq!(truncate_chars("", 0), "");
    }

    #[test]
    fn hidden_characters_are_written_out() {
        for (given, seen) in [
            ("plain\ttext\r\n", "plain\ttext\r\n"),
            (
                "a\u{202e}b\u{e0041}c\u{200b}d",
                "a\\u{202e}b\\u{e0041}c\\u{200b}d",
            ),
            ("\u{1f468}\u{200d}\u{1f469}", "\u{1f468}\u{200d}\u{1f469}"),
            ("a\u{200d}b", "a\\u{200d}b"),
        ] {
            assert_eq!(with_hidden_written_out(given), seen, "{given:?}");
        }
    }

    #[test]
    fn a_name_is_shown_on_one_line() {
        for (given, seen) in [
            ("src/a b.rs", "src/a b.rs"),
            (" n.py", " n.py"),
            ("a\n=== b.py\r\tc", "a\\n=== b.py\\r\\tc"),
            (
                "a\u{202e}b\u{200b}\u{2028}",
                "a\\u{202e}b\\u{200b}\\u{2028}",
            ),
        ] {
            assert_eq!(shown_name(given), seen, "{given:?}");
        }
    }

    #[test]
    fn terminal_filter_stops_what_drives_a_terminal() {
        for (name, given, shown) in [
            ("plain text passes", "a\tb\nc", "a\tb\nc"),
            ("escape sequences", "\u{1b}[2Jx", "\u{fffd}[2Jx"),
            ("C1 controls", "\u{9b}31m", "\u{fffd}31m"),
            ("carriage return", "safe\rEVIL", "safe\u{fffd}EVIL"),
            ("Windows line ends are lines", "a\r\nb\u{7}", "a\nb\u{fffd}"),
            ("direction override", "\u{202e}txt", "\u{fffd}txt"),
            ("zero width", "a\u{200b}b", "a\u{fffd}b"),
            ("tags", "a\u{e0041}", "a\u{fffd}"),
        ] {
            assert_eq!(for_terminal(given), shown, "{name}");
        }
    }
}
