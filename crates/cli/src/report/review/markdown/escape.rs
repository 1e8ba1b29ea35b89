//! Foreign text in Markdown: it stays text, whatever it looks like.

use super::super::blocks::{Block, blocks, pieces};
use super::super::shown::shown;

/// Returns `text` as it may stand anywhere in a line, also in a table or a heading: no
/// formatting, no HTML, no link, and nobody is called.
pub(crate) fn inline(text: &str) -> String {
    let text = shown(text).replace(['\n', '\t'], " ");
    let mut out = String::with_capacity(text.len() + 16);
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        let after = rest.as_str();
        let word_follows = after.starts_with(|c: char| c.is_alphanumeric());
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            // An entity, since formulas begin even after a backslash.
            '$' => out.push_str("&#36;"),
            // A name or number right after these would notify people or link issues.
            '@' | '#' if word_follows => {
                out.push(c);
                out.push_str("&#8203;");
            }
            ':' if after.starts_with("//") => out.push_str("&#58;"),
            '.' if ends_with_www(&out) => out.push_str("&#46;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '!' => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out
}

/// Returns `text` as it may stand in a line that begins with an HTML tag, where Markdown has no
/// say: what stands between backticks is code.
pub(crate) fn inside_html(text: &str) -> String {
    let text = shown(text).replace(['\n', '\t'], " ");
    let piece = |(is_code, piece): (bool, &str)| match is_code {
        true => format!("<code>{}</code>", html(piece)),
        false => html(piece),
    };
    pieces(&text).into_iter().map(piece).collect()
}

fn html(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        let word_follows = rest.as_str().starts_with(|c: char| c.is_alphanumeric());
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '[' => out.push_str("&#91;"),
            ']' => out.push_str("&#93;"),
            ':' if rest.as_str().starts_with("//") => out.push_str("&#58;"),
            '.' if ends_with_www(&out) => out.push_str("&#46;"),
            '$' => out.push_str("&#36;"),
            '@' | '#' if word_follows => {
                out.push(c);
                out.push_str("&#8203;");
            }
            c => out.push(c),
        }
    }
    out
}

/// Returns a longer text: paragraphs whose lines begin no heading, list, quote or rule, and
/// blocks of code.
pub(crate) fn paragraphs(text: &str) -> String {
    let parts: Vec<String> = blocks(text)
        .iter()
        .map(|block| match block {
            Block::Prose(text) => text.lines().map(line).collect::<Vec<_>>().join("\n"),
            Block::Code(text) => format!("\n{}", fenced(text)),
        })
        .collect();
    parts.join("\n\n")
}

/// Returns a line in which what stands between backticks is code. Not for tables, which split
/// their cells before they look for code.
pub(crate) fn rich(text: &str) -> String {
    let piece = |(is_code, piece): (bool, &str)| match is_code {
        true => code(piece),
        false => inline(piece),
    };
    pieces(text).into_iter().map(piece).collect()
}

/// Returns one line of prose.
fn line(text: &str) -> String {
    let text = rich(text.trim());
    if text.starts_with(['#', '+', '-', '=', ':']) {
        return format!("\\{text}");
    }
    // A number before one of these begins a list.
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    match text.strip_suffix(rest) {
        Some(number) if !number.is_empty() && rest.starts_with(['.', ')']) => {
            format!("{number}\\{rest}")
        }
        _ => text,
    }
}

/// Returns `text` as inline code in a cell of a table.
pub(crate) fn cell_code(text: &str) -> String {
    code(text).replace('|', "\\|")
}

/// Returns `text` as inline code of one line.
pub(crate) fn code(text: &str) -> String {
    let text = shown(text).replace(['\n', '\t'], " ");
    let text = text.trim();
    if text.is_empty() {
        return String::new();
    }
    let fence = "`".repeat(longest_run(text) + 1);
    let blank = if text.starts_with('`') || text.ends_with('`') {
        " "
    } else {
        ""
    };
    format!("{fence}{blank}{text}{blank}{fence}")
}

/// Returns lines that are shown already as a block of code whose fence they cannot close.
pub(crate) fn fenced(text: &str) -> String {
    let fence = "`".repeat((longest_run(text) + 1).max(3));
    format!("{fence}text\n{}\n{fence}", text.trim_end_matches('\n'))
}

fn longest_run(text: &str) -> usize {
    let (mut longest, mut run) = (0, 0);
    for c in text.chars() {
        run = if c == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}

fn ends_with_www(out: &str) -> bool {
    let mut last = out.chars().rev();
    (0..3).all(|_| last.next().is_some_and(|c| c.eq_ignore_ascii_case(&'w')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_stays_text() {
        for (given, written) in [
            ("a | b", "a \\| b"),
            ("**bold** _it_", "\\*\\*bold\\*\\* \\_it\\_"),
            ("<b>&amp;", "&lt;b&gt;&amp;amp;"),
            (
                "@team, a@b #12 # x",
                "@&#8203;team, a@&#8203;b #&#8203;12 # x",
            ),
            ("[x](https://e.example)", "\\[x\\](https&#58;//e.example)"),
            ("www.e.example", "www&#46;e.example"),
            ("a\u{202e}b", "a\\\\u{202e}b"),
        ] {
            assert_eq!(inline(given), written);
        }
    }

    #[test]
    fn lines_begin_no_block() {
        let given = "# PASS\n- [x] done\n=====\n12. x\n3) y\n> q\n    code\n~~ ``";
        assert_eq!(
            paragraphs(given),
            "\\# PASS\n\\- \\[x\\] done\n\\=====\n12\\. x\n3\\) y\n&gt; q\ncode\n\\~\\~ \\`\\`"
        );
    }

    #[test]
    fn fences_are_longer_than_what_they_hold() {
        assert_eq!(code("a``b"), "```a``b```");
        assert_eq!(code("`a`"), "`` `a` ``");
        assert_eq!(fenced("x\n````\n"), "`````text\nx\n````\n`````");
    }
}
