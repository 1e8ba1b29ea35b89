//! `requirements.txt`, of which only pinned lines tell what is in use.

use super::{Found, numbered, shown};
use crate::advisory::package::Ecosystem;

/// Reads the pinned requirements; the others are reported, since nothing is known about them.
pub(super) fn read_requirements(text: &str, found: &mut Found<'_>) {
    let mut continued = false;
    for (line, raw) in numbered(text) {
        let content = without_comment(raw).trim();
        let is_continuation = continued;
        continued = content.ends_with('\\');
        // Continued lines hold hashes, options and markers, never the name.
        if is_continuation || content.is_empty() {
            continue;
        }
        let content = content.trim_end_matches('\\').trim_end();
        if content.starts_with('-') {
            report_option(content, line, found);
        } else {
            add(content, line, found);
        }
    }
}

/// Other files are the caller's to read; a note keeps them from being forgotten.
fn report_option(content: &str, line: Option<u32>, found: &mut Found<'_>) {
    let refers = ["-r", "--requirement", "-e", "--editable"]
        .iter()
        .any(|option| content.starts_with(option));
    if refers {
        found.problem(line, format!("{} was not followed", shown(content)));
    }
}

fn add(content: &str, line: Option<u32>, found: &mut Found<'_>) {
    // Markers follow a semicolon, options a space and two hyphens.
    let requirement = content.split(';').next().unwrap_or(content);
    let requirement = requirement.split(" --").next().unwrap_or(requirement);
    let pinned = requirement.split_once("==").map(|(name, version)| {
        let name = name.split('[').next().unwrap_or(name);
        (name.trim(), version.trim_start_matches('=').trim())
    });
    match pinned {
        Some((name, version)) if is_name(name) && !version.contains(['*', ',', ' ']) => {
            found.package(Ecosystem::PyPi, name, version, line);
        }
        _ => found.problem(
            line,
            format!("{} is not pinned to one version", shown(content)),
        ),
    }
}

fn without_comment(line: &str) -> &str {
    if line.trim_start().starts_with('#') {
        return "";
    }
    line.split(" #").next().unwrap_or(line)
}

fn is_name(text: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    !text.is_empty() && text.chars().all(is_letter)
}
