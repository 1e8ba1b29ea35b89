//! Prose with code in it, as models write: fenced blocks, and names between backticks.

use super::shown::prose;

/// A part of a longer text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Block {
    /// Lines of prose, without a blank one.
    Prose(String),
    /// Lines of code that stood between fences.
    Code(String),
}

/// Returns the parts of a text. A fence that nobody closes ends with the text.
pub(super) fn blocks(text: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut lines: Vec<&str> = Vec::new();
    let mut fence: Option<&str> = None;
    let text = prose(text);
    for line in text.lines() {
        match (fence, opening(line)) {
            (None, Some(found)) => {
                close(&mut blocks, &mut lines, false);
                fence = Some(found);
            }
            (Some(open), Some(found)) if found.starts_with(open) && line.trim() == found => {
                close(&mut blocks, &mut lines, true);
                fence = None;
            }
            (None, None) if line.trim().is_empty() => close(&mut blocks, &mut lines, false),
            _ => lines.push(line),
        }
    }
    close(&mut blocks, &mut lines, fence.is_some());
    blocks
}

/// Returns the fence with which a line begins.
fn opening(line: &str) -> Option<&str> {
    let line = line.trim_start();
    ['`', '~'].into_iter().find_map(|mark| {
        let rest = line.trim_start_matches(mark);
        let fence = line.strip_suffix(rest)?;
        // Code between three backticks in one line is no block.
        (fence.len() >= 3 && !rest.contains('`')).then_some(fence)
    })
}

fn close(blocks: &mut Vec<Block>, lines: &mut Vec<&str>, code: bool) {
    let text = lines.join("\n");
    lines.clear();
    if text.trim().is_empty() {
        return;
    }
    blocks.push(if code {
        Block::Code(text)
    } else {
        Block::Prose(text)
    });
}

/// Returns the pieces of a line, each with whether it stood between backticks.
pub(super) fn pieces(line: &str) -> Vec<(bool, &str)> {
    let parts: Vec<&str> = line.split('`').collect();
    // Without its partner a backtick is a character like others.
    if parts.len().is_multiple_of(2) || parts.iter().skip(1).step_by(2).any(|code| code.is_empty())
    {
        return vec![(false, line)];
    }
    let pieces = parts.into_iter().enumerate();
    let pieces = pieces.map(|(index, piece)| (index % 2 == 1, piece));
    pieces.filter(|(_, piece)| !piece.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fences_separate_code_from_prose() {
        let text = "Do:\n```rust\nlet a = 1;\n\n  b();\n```\nand\nmore\n\nend ~~~\n~~~\nopen";
        assert_eq!(
            blocks(text),
            [
                Block::Prose("Do:".to_owned()),
                Block::Code("let a = 1;\n\n  b();".to_owned()),
                Block::Prose("and\nmore".to_owned()),
                Block::Prose("end ~~~".to_owned()),
                Block::Code("open".to_owned()),
            ]
        );
    }

    #[test]
    fn backticks_come_in_pairs() {
        assert_eq!(
            pieces("a `b` c"),
            [(false, "a "), (true, "b"), (false, " c")]
        );
        assert_eq!(pieces("a `b c"), [(false, "a `b c")]);
        assert_eq!(pieces("```x```"), [(false, "```x```")]);
    }
}
