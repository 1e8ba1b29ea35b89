//! The lock files of Yarn and pnpm, whose entries are lines with one indentation.

use super::{Found, numbered, shown};
use crate::advisory::package::Ecosystem;

/// Reads `yarn.lock`: an entry has the ranges it answers as its head and a `version` below.
pub(super) fn read_yarn(text: &str, found: &mut Found<'_>) {
    let mut head: Option<(Option<u32>, &str)> = None;
    for (line, raw) in numbered(text) {
        if raw.is_empty() || raw.starts_with('#') {
            continue;
        }
        if !raw.starts_with(' ') {
            report_without_version(head.take(), found);
            head = raw.strip_suffix(':').map(|entry| (line, entry));
            if head.is_none() {
                found.problem(line, format!("{} is not an entry", shown(raw)));
            }
        } else if let Some(version) = raw.strip_prefix("  version")
            && version.starts_with([':', ' '])
            && let Some((line, entry)) = head.take()
        {
            let version = version.trim_matches([':', ' ', '"', '\'']);
            add_yarn(entry, version, line, found);
        }
    }
    report_without_version(head, found);
}

fn report_without_version(head: Option<(Option<u32>, &str)>, found: &mut Found<'_>) {
    if let Some((line, entry)) = head
        && entry != "__metadata"
    {
        found.problem(line, format!("{} has no version", shown(entry)));
    }
}

fn add_yarn(entry: &str, version: &str, line: Option<u32>, found: &mut Found<'_>) {
    let first = entry.split(',').next().unwrap_or(entry);
    let first = first.trim_matches([' ', '"', '\'']);
    if entry == "__metadata" {
        return;
    }
    let Some((name, range)) = split_at_version(first) else {
        return found.problem(line, format!("{} names no package", shown(first)));
    };
    let is_local = ["workspace:", "link:", "portal:", "file:"]
        .iter()
        .any(|protocol| range.starts_with(protocol));
    if is_local {
        return;
    }
    // `alias@npm:real@^1.0.0`
    let aliased = range.strip_prefix("npm:").and_then(split_at_version);
    let name = aliased.map_or(name, |(real, _)| real);
    found.package(Ecosystem::Npm, name, version, line);
}

/// Reads `pnpm-lock.yaml`: the keys of its `packages` are names and versions.
pub(super) fn read_pnpm(text: &str, found: &mut Found<'_>) {
    let mut in_packages = false;
    for (line, raw) in numbered(text) {
        let indent = raw.len() - raw.trim_start_matches(' ').len();
        let content = raw.trim();
        if content.is_empty() || content.starts_with('#') {
            continue;
        }
        if indent == 0 {
            in_packages = content == "packages:";
        } else if in_packages && indent == 2 {
            // `key:` opens an entry, `key: {}` is an empty one.
            let key = content.strip_suffix("{}").unwrap_or(content).trim_end();
            let key = key
                .strip_suffix(':')
                .unwrap_or(key)
                .trim_matches(['\'', '"']);
            add_pnpm(key, line, found);
        }
    }
}

fn add_pnpm(key: &str, line: Option<u32>, found: &mut Found<'_>) {
    // Peers stand in brackets, `a@1.0.0(b@2.0.0)`; before version 6 the key was `/a/1.0.0_b@2.0.0`.
    let bare = key.split('(').next().unwrap_or(key);
    let old = bare.starts_with('/');
    let bare = bare.trim_start_matches('/');
    if ["file:", "link:"]
        .iter()
        .any(|protocol| bare.contains(protocol))
    {
        return;
    }
    let pair = split_at_version(bare).or_else(|| bare.rsplit_once('/').filter(|_| old));
    let is_slashed = |name: &str| name.rsplit('/').next().is_some_and(starts_with_digit);
    let pair = match pair {
        // The `@` of `/a/1.0.0_b@2.0.0` belongs to a peer.
        Some((name, _)) if old && is_slashed(name.split('_').next().unwrap_or(name)) => {
            bare.split('_').next().and_then(|own| own.rsplit_once('/'))
        }
        other => other,
    };
    match pair {
        Some((name, version)) if starts_with_digit(version) => {
            let version = version.split('_').next().unwrap_or(version);
            found.package(Ecosystem::Npm, name, version, line);
        }
        _ => found.problem(
            line,
            format!("{} is not a version of a registry", shown(key)),
        ),
    }
}

/// Splits `name@version`; the `@` of a scope comes first and does not count.
fn split_at_version(text: &str) -> Option<(&str, &str)> {
    let at = text.char_indices().skip(1).find(|(_, c)| *c == '@')?.0;
    Some((&text[..at], &text[at + 1..]))
}

fn starts_with_digit(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit())
}
