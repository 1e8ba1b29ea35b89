//! Breaking prose into lines of a terminal.

use unicode_width::UnicodeWidthStr as _;

/// Appends `text`, which is shown already, in lines of at most `width` columns: the first one
/// after `first`, the others after `rest`. Words are kept whole, so that paths can be copied.
pub(super) fn fill(out: &mut String, text: &str, width: usize, first: &str, rest: &str) {
    let mut indent = first;
    for paragraph in text.lines() {
        let mut line = String::new();
        for word in paragraph.split_whitespace() {
            let used = plain_width(indent) + plain_width(&line);
            if !line.is_empty() && used + 1 + plain_width(word) > width {
                push(out, indent, &line);
                indent = rest;
                line.clear();
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
        push(out, indent, &line);
        indent = rest;
    }
}

fn push(out: &mut String, indent: &str, line: &str) {
    if line.is_empty() {
        out.push_str(indent.trim_end());
    } else {
        out.push_str(indent);
        out.push_str(&defused(line));
    }
    out.push('\n');
}

/// Returns a line in which no runner of workflows sees a command. They look for `::name::` at
/// the start of a line of output and for `##[name]` anywhere in it.
pub(super) fn defused(line: &str) -> String {
    let line = line.replace("##[", "##\\[");
    if line.starts_with("::") {
        format!("\\{line}")
    } else {
        line
    }
}

/// Returns how many columns a text with escape sequences of ours takes.
pub(super) fn plain_width(text: &str) -> usize {
    anstream::adapter::strip_str(text).to_string().width()
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
        let mut out = String::new();
        fill(
            &mut out,
            "a\n::stop-commands::x\n##[error]no",
            40,
            "  ",
            "  ",
        );
        assert_eq!(out, "  a\n  \\::stop-commands::x\n  ##\\[error]no\n");
    }
}
