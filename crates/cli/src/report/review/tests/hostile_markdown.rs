//! Every payload in Markdown: what it forges stays text.

use super::hostile::{each, poisoned};
use super::*;

#[test]
fn markdown_has_the_headings_and_fences_that_we_wrote() {
    let harmless = poisoned("");
    let expected = [
        skeleton(&printed(&harmless, ReviewFormat::Markdown)),
        skeleton(&detailed(&harmless, ReviewFormat::Markdown)),
    ];
    each(ReviewFormat::Markdown, |name, text| {
        let kept = skeleton(text);
        assert!(expected.contains(&kept), "{name}: {kept:#?}");
    });
}

#[test]
fn markdown_calls_nobody_and_links_nothing() {
    each(ReviewFormat::Markdown, |name, text| {
        let outside = without_code(text).to_lowercase();
        for bad in [
            "<script", "<img", "<svg", "<iframe", "<!--", "<form", "@octo", "@org", "#1 ", "](",
            "://", "www.", "$a$",
        ] {
            assert!(!outside.contains(bad), "{name}: {bad}");
        }
        for row in outside.lines().filter(|line| line.starts_with("| ")) {
            let bars = row.matches('|').count();
            assert!(bars == 6 || bars == 8, "{name}: {row}");
        }
    });
}

/// Returns the lines that shape a text: headings, rules, tasks and what folds.
fn skeleton(text: &str) -> Vec<String> {
    let outside = blocks_removed(text);
    let lines = outside.lines().map(str::trim_start);
    let shapes = lines.filter(|line| {
        let heading = line.starts_with("# ") || line.starts_with("##");
        let of_one = |c: &str| line.len() >= 3 && line.replace(c, "").is_empty();
        let rule = ["=", "-", "~", "_", "*"].into_iter().any(of_one);
        heading || rule || line.starts_with("- [") || line.starts_with("<")
    });
    let words = |line: &str| match line.split_once('>') {
        Some((tag, _)) if line.starts_with('<') => tag.to_owned(),
        _ => line.split(' ').take(2).collect::<Vec<_>>().join(" "),
    };
    shapes.map(words).collect()
}

/// Returns Markdown without blocks and spans of code and without escaped characters: where
/// something is interpreted.
fn without_code(text: &str) -> String {
    let text = blocks_removed(text);
    let mut kept = String::new();
    for line in text.lines() {
        let line = line.replace("\\\\", "");
        let line = ["`", "|", "]", "["]
            .into_iter()
            .fold(line, |line, c| line.replace(&format!("\\{c}"), ""));
        let outside: Vec<&str> = line.split('`').step_by(2).collect();
        kept.push_str(&outside.join(" "));
        kept.push('\n');
    }
    kept
}

fn blocks_removed(text: &str) -> String {
    let mut kept = String::new();
    let mut fence: Option<String> = None;
    for line in text.lines() {
        match &fence {
            Some(open) if line == open => fence = None,
            Some(_) => {}
            None if line.starts_with("```") => {
                fence = Some(line.trim_end_matches("text").to_owned());
            }
            None => kept.push_str(&format!("{line}\n")),
        }
    }
    assert_eq!(fence, None, "a fence stays open");
    kept
}
