//! Whether two versions of a file differ in what runs, or in their comments alone.

use tree_sitter::{Node, Tree};

use crate::language::{Language, Limits};
use crate::nature::Nature;

/// Tells whether nothing that runs differs between two versions of a file: comments and blanks do at most,
/// or the file is prose. A file that cannot be parsed without an error may have changed in any way.
#[must_use]
pub fn leaves_code_alone(path: &str, before: &str, after: &str) -> bool {
    if before == after {
        return true;
    }
    let Some(language) = Language::detect(path, after) else {
        return matches!(Nature::of(path, after), Nature::Prose);
    };
    let parse = |text: &str| {
        let tree = language.parse(text, Limits::default()).ok();
        tree.filter(|tree| !tree.root_node().has_error())
    };
    let (Some(old), Some(new)) = (parse(before), parse(after)) else {
        return false;
    };
    tokens(&old, before) == tokens(&new, after)
}

/// Tells whether a line, counted from 1, holds nothing but a comment or blanks.
#[must_use]
pub fn is_without_code(path: &str, text: &str, line: u32) -> bool {
    let Some(language) = Language::detect(path, text) else {
        return matches!(Nature::of(path, text), Nature::Prose);
    };
    let Ok(tree) = language.parse(text, Limits::default()) else {
        return false;
    };
    let row = line.saturating_sub(1) as usize;
    let touches = |token: &Token<'_>| (token.first_row..=token.last_row).contains(&row);
    !tokens(&tree, text).iter().any(touches)
}

/// A piece of code that is no comment.
struct Token<'a> {
    kind: u16,
    /// How deep it is nested: in some languages the indentation alone decides that.
    depth: u32,
    text: &'a str,
    first_row: usize,
    last_row: usize,
}

impl PartialEq for Token<'_> {
    fn eq(&self, other: &Self) -> bool {
        (self.kind, self.depth, self.text) == (other.kind, other.depth, other.text)
    }
}

/// Returns the tokens of a file without its comments, in order.
fn tokens<'a>(tree: &Tree, source: &'a str) -> Vec<Token<'a>> {
    let mut found = Vec::new();
    let mut cursor = tree.walk();
    let mut depth = 0_u32;
    // The walk keeps its own stack, so that a deeply nested file cannot exhaust ours.
    loop {
        let node = cursor.node();
        let is_comment = node.is_extra() && node.kind().contains("comment");
        let is_token = node.child_count() == 0 || is_literal(node);
        if is_token && !is_comment && node.start_byte() < node.end_byte() {
            found.push(Token {
                kind: node.kind_id(),
                depth,
                text: source.get(node.byte_range()).unwrap_or_default(),
                first_row: node.start_position().row,
                last_row: node.end_position().row,
            });
        }
        if !is_token && !is_comment && cursor.goto_first_child() {
            depth += 1;
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return found;
            }
            depth -= 1;
        }
    }
}

/// Tells whether blanks and what looks like a comment inside of a node are part of its value.
fn is_literal(node: Node<'_>) -> bool {
    let kind = node.kind();
    ["string", "char", "regex", "jsx_text", "heredoc"]
        .iter()
        .any(|part| kind.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_blanks_run_nothing() {
        for (path, before, after, expected) in [
            (
                "a.py",
                "x = eval(y)\n",
                "# safe\nx = eval(y)  # checked\n",
                true,
            ),
            ("a.py", "x = eval(y)\n", "x  =  eval( y )\n", true),
            ("a.py", "x = eval(y)\n", "# x = eval(y)\n", false),
            (
                "a.py",
                "if a:\n    b()\n    c()\n",
                "if a:\n    b()\nc()\n",
                false,
            ),
            ("a.py", "x = '# a'\n", "x = '# b'\n", false),
            ("a.py", "x = 1\n", "x = (\n", false),
            ("a.js", "f(`a b`);\n", "f(`a  b`); // c\n", false),
            ("a.js", "f(`a b`);\n", "/* why */ f(`a b`); // c\n", true),
            ("a.rs", "fn f() {}\n", "/// Does it.\nfn f() {}\n", true),
            ("a.go", "package a\n", "package a\n\n// Note.\n", true),
            ("a.c", "int a;\n", "#define a b\nint a;\n", false),
            ("a.java", "class A {}\n", "/** Doc. */ class A {}\n", true),
            ("README.md", "a\n", "b\n", true),
            ("a.json", "{}\n", "[]\n", false),
            ("a.rb", "a\n", "# b\na\n", false),
        ] {
            let told = leaves_code_alone(path, before, after);
            assert_eq!(told, expected, "{path}: {before:?} {after:?}");
        }
    }

    #[test]
    fn a_line_of_comment_holds_no_code() {
        let text = "# one\nx = 1  # two\n\ns = '''\n# three\n'''\n";
        let without: Vec<u32> = (1..=6)
            .filter(|line| is_without_code("a.py", text, *line))
            .collect();
        assert_eq!(without, [1, 3]);
    }
}
