//! Breaking prose into lines of a terminal.

use unicode_width::UnicodeWidthStr as _;

/// Appends `text`, which is shown already, in lines of at most `width` columns: the first one
/// after `first`, the others after `rest`. Words are kept whole, so that paths can be copied.
pub(super) fn fill(out: &mut String, text: &str, width: usize, first: &str, rest: &str) {
    let mut indent = (first, plain_width(first));
    let rest = (rest, plain_width(rest));
    for paragraph in text.lines() {
        let (mut line, mut used) = (String::new(), indent.1);
        for word in paragraph.split_whitespace() {
            let columns = plain_width(word);
            if !line.is_empty() && used + 1 + columns > width {
                push(out, indent.0, &line);
                indent = rest;
                line.clear();
                used = indent.1;
            }
            if !line.is_empty() {
                line.push(' ');
                used += 1;
            }
            line.push_str(word);
            used += columns;
        }
        push(out, indent.0, &line);
        indent = rest;
    }
}

fn push(out: &mut String, indent: &str, line: &str) {
    let whole = format!("{indent}{line}");
    out.push_str(whole.trim_end());
    out.push('\n');
}

/// Returns text in which no runner of workflows sees a command. They look for `::name::` at the
/// start of a line of output and for `##[name]` anywhere in it.
pub(super) fn defused(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        let line = line.replace("##[", "##\\[");
        let plain = anstream::adapter::strip_str(&line).to_string();
        if plain.trim_start().starts_with("::") {
            out.push_str(&line.replacen("::", "\\::", 1));
        } else {
            out.push_str(&line);
        }
        out.push('\n');
    }
    out
}

/// Returns how many columns a text with escape sequences of ours takes.
pub(super) fn plain_width(text: &str) -> usize {
    if text.contains('\u{1b}') {
        anstream::adapter::strip_str(text).to_string().width()
    } else {
        text.width()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_kept_whole_and_wide_ones_count_twice() {
        let mut out = String::new();
        fill(&mut out, "one two three\n\n漢字 漢字", 9, "- ", "  ");
        assert_eq!(out, "- one two\n  three\n\n  漢字\n  漢字\n");
    }

    #[test]
    fn commands_of_a_runner_are_defused() {
        assert_eq!(
            defused("a ::b\n  ::stop-commands::x\n\u{1b}[1m::y\n##[error]no\n"),
            "a ::b\n  \\::stop-commands::x\n\u{1b}[1m\\::y\n##\\[error]no\n"
        );
    }
}
