//! A picture of a terminal: text with escape sequences of colours in, SVG out.

use std::fmt::Write as _;

/// How large a character and a line are, in pixels.
const COLUMN: f64 = 8.4;
const LINE: f64 = 18.0;
/// Room around the text.
const MARGIN: f64 = 16.0;

/// How the terminal looks: background, text, and the colours of the escape sequences.
const BACKGROUND: &str = "#16181d";
const TEXT: &str = "#d7dae0";
const COLOURS: [(&str, &str); 6] = [
    ("31", "#ff7b72"),
    ("32", "#7ee787"),
    ("33", "#e3b341"),
    ("34", "#79c0ff"),
    ("35", "#d2a8ff"),
    ("36", "#76e3ea"),
];

/// Returns the command that begins so and all that it printed.
pub(super) fn part(story: &str, command: &str) -> String {
    let is_prompt = |line: &&str| plain(line).starts_with("$ tribunal ");
    let wanted = |line: &&str| plain(line).starts_with(&format!("$ tribunal {command}"));
    let lines: Vec<&str> = story.lines().collect();
    let start = lines.iter().position(wanted);
    let start = start.unwrap_or_else(|| panic!("no `{command}` in {story}"));
    let rest = &lines[start + 1..];
    let next = rest.iter().position(is_prompt);
    let mut shown = rest[..next.unwrap_or(rest.len())].to_vec();
    // What is said before the next command belongs to that one; only headings of the story are cyan.
    let is_heading = |line: &&str| line.contains("\u{1b}[36m");
    let heading = shown.iter().position(is_heading);
    shown.truncate(heading.unwrap_or(shown.len()));
    let mut text = lines[start].to_owned() + "\n";
    for line in shown {
        text += line;
        text.push('\n');
    }
    text.trim_end().to_owned() + "\n"
}

/// Returns a text without its escape sequences.
pub(super) fn plain(text: &str) -> String {
    let mut out = String::new();
    for (index, piece) in text.split("\u{1b}[").enumerate() {
        match index {
            0 => out.push_str(piece),
            _ => out.push_str(piece.split_once('m').map_or("", |(_, rest)| rest)),
        }
    }
    out
}

/// Draws a text as a terminal would show it.
pub(super) fn draw(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let columns = lines.iter().map(|line| plain(line).chars().count()).max();
    let width = columns.unwrap_or(0) as f64 * COLUMN + 2.0 * MARGIN;
    let height = lines.len() as f64 * LINE + 2.0 * MARGIN;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
         viewBox=\"0 0 {width:.0} {height:.0}\" role=\"img\" \
         aria-label=\"What tribunal review --arbitrate prints\">\n\
         <rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"{BACKGROUND}\"/>\n\
         <g font-family=\"ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace\" \
         font-size=\"14\" fill=\"{TEXT}\">\n"
    );
    let mut codes = Vec::new();
    for (number, line) in lines.iter().enumerate() {
        let y = MARGIN + (number as f64 + 0.75) * LINE;
        for run in runs(line, &mut codes) {
            let x = MARGIN + run.column as f64 * COLUMN;
            let length = run.text.chars().count() as f64 * COLUMN;
            let _ = writeln!(
                svg,
                "<text x=\"{x:.1}\" y=\"{y:.1}\" textLength=\"{length:.1}\" lengthAdjust=\"spacingAndGlyphs\"{}>{}</text>",
                run.style,
                escaped(&run.text)
            );
        }
    }
    svg + "</g>\n</svg>\n"
}

/// A piece of a line that looks the same throughout.
struct Run {
    column: usize,
    text: String,
    style: String,
}

/// Returns the pieces of a line; `codes` are those that hold at its beginning, and then at its end.
fn runs<'a>(line: &'a str, codes: &mut Vec<&'a str>) -> Vec<Run> {
    let (mut runs, mut column) = (Vec::new(), 0);
    for (index, piece) in line.split("\u{1b}[").enumerate() {
        let text = match piece.split_once('m') {
            Some((given, rest)) if index > 0 => {
                for code in given.split(';') {
                    match code {
                        "0" | "" => codes.clear(),
                        code => codes.push(code),
                    }
                }
                rest
            }
            _ => piece,
        };
        // Blanks are room, not text; renderers disagree about more than one of them.
        let mut at = column;
        for word in text.split("  ") {
            let blanks = word.chars().count() - word.trim_start().chars().count();
            if !word.trim().is_empty() {
                runs.push(Run {
                    column: at + blanks,
                    text: word.trim().to_owned(),
                    style: style(codes),
                });
            }
            at += word.chars().count() + 2;
        }
        column += text.chars().count();
    }
    runs
}

fn style(codes: &[&str]) -> String {
    let mut style = String::new();
    let colour = COLOURS.iter().rev().find(|(code, _)| codes.contains(code));
    if let Some((_, colour)) = colour {
        let _ = write!(style, " fill=\"{colour}\"");
    }
    for (code, attribute) in [
        ("1", " font-weight=\"bold\""),
        ("2", " opacity=\"0.6\""),
        ("4", " text-decoration=\"underline\""),
    ] {
        if codes.contains(&code) {
            style.push_str(attribute);
        }
    }
    style
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
