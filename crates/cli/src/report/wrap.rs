//! Breaking prose into lines of a terminal.

use unicode_width::UnicodeWidthStr as _;

/// Appends `text`, which is shown already, in lines of at most `width` columns: the first one
/// after `first`, the others after `rest`. Words are kept whole, so that paths can be copied.
pub(crate) fn fill(out: &mut String, text: &str, width: usize, first: &str, rest: &str) {
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

/// Returns `text` with its long lines broken; what follows a break stands a little to the right of the
/// beginning of its line. All other blanks stay as they are.
pub(crate) fn wrapped(text: &str, width: usize) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        let words = line.trim_start();
        let indent = &line[..line.len() - words.len()];
        let mut used = plain_width(indent);
        out.push_str(indent);
        let mut is_first = true;
        for word in words.split_inclusive(' ') {
            let columns = plain_width(word.trim_end());
            if !is_first && columns > 0 && used + columns > width {
                out.truncate(out.trim_end().len());
                out.push_str(&format!("\n{indent}  "));
                used = plain_width(indent) + 2;
            }
            out.push_str(word);
            used += plain_width(word);
            is_first = false;
        }
        out.truncate(out.trim_end_matches(' ').len());
        out.push('\n');
    }
    out
}

fn push(out: &mut String, indent: &str, line: &str) {
    let whole = format!("{indent}{line}");
    out.push_str(whole.trim_end());
    out.push('\n');
}

/// Returns how many columns a line on standard output may have. Lines longer than that are hard to
/// read, and shorter ones hold no code.
pub(crate) fn stdout_width() -> usize {
    columns_of(std::io::stdout())
}

/// Returns the same of standard error.
pub(crate) fn stderr_width() -> usize {
    columns_of(std::io::stderr())
}

fn columns_of(stream: impl std::os::fd::AsFd) -> usize {
    let columns = terminal_size::terminal_size_of(stream);
    let width = columns.map_or(100, |(width, _)| usize::from(width.0));
    width.clamp(40, 120)
}

/// Returns text in which no runner of workflows sees a command. They look for `::name::` at the
/// start of a line of output and for `##[name]` anywhere in it.
pub(crate) fn defused(text: &str) -> String {
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
pub(crate) fn plain_width(text: &str) -> usize {
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
    fn long_lines_are_broken_behind_their_indent_and_short_ones_stay() {
        let text = "a  b\n  one  two three\n\n";
        assert_eq!(wrapped(text, 10), "a  b\n  one  two\n    three\n\n");
    }

    #[test]
    fn commands_of_a_runner_are_defused() {
        assert_eq!(
            defused("a ::b\n  ::stop-commands::x\n\u{1b}[1m::y\n##[error]no\n"),
            "a ::b\n  \\::stop-commands::x\n\u{1b}[1m\\::y\n##\\[error]no\n"
        );
    }
}
