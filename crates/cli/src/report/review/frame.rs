//! The code around a finding, as lines with numbers and a mark.

use tribunal_core::review::report::FrameLine;
use tribunal_core::text::truncate_chars;

use super::shown::shown;

/// The longest line of code that is printed.
const CODE: usize = 300;

/// A line of code that is ready to be printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CodeLine {
    /// Its number, aligned to the right.
    pub(super) number: String,
    /// Its text, without tabs and line breaks, the common indent removed.
    pub(super) text: String,
    /// Whether the finding is about it.
    pub(super) marked: bool,
}

/// Returns the lines of a frame, without blank ones before and after.
pub(super) fn lines(frame: &[FrameLine]) -> Vec<CodeLine> {
    let matters = |line: &FrameLine| line.marked || !line.text.trim().is_empty();
    let first = frame.iter().position(matters).unwrap_or(0);
    let after = frame.iter().rposition(matters).map_or(0, |last| last + 1);
    let frame = frame.get(first..after).unwrap_or_default();
    let digits = frame.iter().map(|line| line.number.to_string().len());
    let digits = digits.max().unwrap_or(0);
    let texts: Vec<String> = frame.iter().map(|line| code(&line.text)).collect();
    let indents = texts.iter().filter(|text| !text.is_empty());
    let indents = indents.map(|text| text.len() - text.trim_start_matches(' ').len());
    let common = indents.min().unwrap_or(0);
    let with_texts = frame.iter().zip(&texts);
    with_texts
        .map(|(line, text)| CodeLine {
            number: format!("{:>digits$}", line.number),
            text: text.chars().skip(common).collect(),
            marked: line.marked,
        })
        .collect()
}

/// Returns frame lines as plain text, the marked ones with `>` before the number.
pub(crate) fn plain(frame: &[FrameLine]) -> String {
    let mut text = String::new();
    for line in lines(frame) {
        let mark = if line.marked { '>' } else { ' ' };
        let whole = format!("{mark} {} | {}", line.number, line.text);
        text.push_str(whole.trim_end());
        text.push('\n');
    }
    text
}

fn code(text: &str) -> String {
    let shown = shown(text);
    let one = shown.replace('\n', "\\n").replace('\t', "    ");
    truncate_chars(one.trim_end(), CODE).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_aligned_and_loses_its_common_indent() {
        let line = |number, text: &str, marked| FrameLine {
            number,
            text: text.to_owned(),
            marked,
        };
        let frame = [
            line(9, "\tif a {", false),
            line(10, "\t\tb(\u{202e});", true),
            line(11, "", false),
            line(12, "\t}", false),
            line(13, "  ", false),
        ];
        assert_eq!(
            plain(&frame),
            "   9 | if a {\n> 10 |     b(\\u{202e});\n  11 |\n  12 | }\n"
        );
    }
}
