//! Comments that silence a rule on one line: `tribunal:ignore rule-id`.

use super::meta::Domain;

/// Tells whether the source silences `rule` on `line`, on the line itself or the one above.
///
/// Only named rules are silenced, so that a comment cannot hide what nobody has looked at. For a
/// project's own rules the comments of ast-grep are understood too.
pub(super) fn is_silenced(lines: &[&str], line: u32, rule: &str, domain: Domain) -> bool {
    let Some(index) = line
        .checked_sub(1)
        .and_then(|row| usize::try_from(row).ok())
    else {
        return false;
    };
    let above = index.checked_sub(1).and_then(|row| lines.get(row));
    let on_line = lines
        .get(index)
        .is_some_and(|text| names(text, rule, domain));
    on_line || above.is_some_and(|text| is_comment(text) && names(text, rule, domain))
}

fn names(text: &str, rule: &str, domain: Domain) -> bool {
    if let Some((before, after)) = text.split_once("tribunal:ignore")
        && opens_comment(before)
    {
        return listed(after).any(|id| id == rule);
    }
    if domain != Domain::Project {
        return false;
    }
    match text.split_once("ast-grep-ignore") {
        Some((before, after)) if opens_comment(before) => match after.trim().strip_prefix(':') {
            Some(ids) => listed(ids).any(|id| id == rule),
            None => true,
        },
        _ => false,
    }
}

fn listed(text: &str) -> impl Iterator<Item = &str> {
    text.split([',', ' ', '\t'])
        .map(|word| word.trim_start_matches(':').trim_end_matches("*/"))
        .filter(|word| !word.is_empty())
        .take(20)
}

fn opens_comment(before: &str) -> bool {
    let before = before.trim_end();
    ["//", "#", "/*", "*", "<!--"]
        .iter()
        .any(|mark| before.ends_with(mark))
}

fn is_comment(text: &str) -> bool {
    let text = text.trim_start();
    ["//", "#", "/*", "*", "{/*"]
        .iter()
        .any(|mark| text.starts_with(mark))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_silences_named_rules_on_its_line_and_the_next() {
        let lines = [
            "eval(x) # tribunal:ignore python-eval, other",
            "# tribunal:ignore: python-eval",
            "eval(x)",
            "print('tribunal:ignore python-eval')",
            "eval(x)",
            "# tribunal:ignore",
            "eval(x)",
        ];
        let silenced: Vec<u32> = (0..9)
            .filter(|line| is_silenced(&lines, *line, "python-eval", Domain::Security))
            .collect();
        assert_eq!(silenced, [1, 2, 3]);
        assert!(is_silenced(&lines, 1, "other", Domain::Security));
        assert!(!is_silenced(&lines, 1, "python", Domain::Security));
    }

    #[test]
    fn comments_of_ast_grep_count_for_project_rules_only() {
        let lines = ["// ast-grep-ignore", "a()", "b() // ast-grep-ignore: no-b"];
        assert!(is_silenced(&lines, 2, "no-a", Domain::Project));
        assert!(!is_silenced(&lines, 2, "no-a", Domain::Security));
        assert!(is_silenced(&lines, 3, "no-b", Domain::Project));
        assert!(!is_silenced(&lines, 3, "no-a", Domain::Project));
    }
}
