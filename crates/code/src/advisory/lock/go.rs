//! `go.mod` and `go.sum`.

use std::collections::HashMap;

use super::{Found, numbered, shown};
use crate::advisory::package::Ecosystem;

/// The advisories about the standard library use this name.
const STANDARD_LIBRARY: &str = "stdlib";

/// What takes the place of a module: another one, or a folder.
type Replacement<'a> = Option<(&'a str, &'a str)>;

/// Reads the required modules with their replacements, and the toolchain where it is pinned.
pub(super) fn read_mod(text: &str, found: &mut Found<'_>) {
    let mut required: Vec<(Option<u32>, &str, &str)> = Vec::new();
    let mut replaced: HashMap<(&str, Option<&str>), Replacement<'_>> = HashMap::new();
    let mut block: Option<&str> = None;
    for (line, raw) in numbered(text) {
        let content = raw.split("//").next().unwrap_or(raw).trim();
        let mut words: Vec<&str> = content.split_whitespace().collect();
        match (words.as_slice(), block) {
            ([], _) => continue,
            ([")"], _) => {
                block = None;
                continue;
            }
            ([directive, "("], None) => {
                block = Some(directive);
                continue;
            }
            _ => {}
        }
        let directive = match block {
            Some(directive) => directive,
            None => words.remove(0),
        };
        let words: Vec<&str> = words
            .into_iter()
            .map(|word| word.trim_matches('"'))
            .collect();
        match (directive, words.as_slice()) {
            ("require", [name, version]) => required.push((line, name, version)),
            ("replace", [old, rest @ ..]) => match replacement(rest) {
                Some((version, new)) => drop(replaced.insert((old, version), new)),
                None => found.problem(line, format!("{} replaces nothing", shown(content))),
            },
            ("toolchain", [version]) => add_toolchain(version, line, found),
            ("require", _) => found.problem(line, format!("{} requires nothing", shown(content))),
            _ => {}
        }
    }
    for (line, name, version) in required {
        let exact = replaced.get(&(name, Some(version)));
        match exact.or_else(|| replaced.get(&(name, None))) {
            None => found.package(Ecosystem::Go, name, version, line),
            Some(Some((name, version))) => found.package(Ecosystem::Go, name, version, line),
            Some(None) => {} // A folder of the project itself.
        }
    }
}

/// Reads `[version] => name [version]`; a name without a version is a folder.
fn replacement<'a>(words: &[&'a str]) -> Option<(Option<&'a str>, Replacement<'a>)> {
    match words {
        ["=>", name, version] => Some((None, Some((name, version)))),
        [old, "=>", name, version] => Some((Some(old), Some((name, version)))),
        ["=>", _folder] => Some((None, None)),
        [old, "=>", _folder] => Some((Some(old), None)),
        _ => None,
    }
}

/// Adds the standard library; `go1.21rc2` is written `1.21.0-rc.2` in advisories.
fn add_toolchain(version: &str, line: Option<u32>, found: &mut Found<'_>) {
    let Some(version) = version.strip_prefix("go") else {
        return;
    };
    let version = version.split('-').next().unwrap_or(version);
    let version = ["rc", "beta"]
        .iter()
        .find_map(|stage| {
            let (base, number) = version.split_once(stage)?;
            Some(format!("{base}.0-{stage}.{number}"))
        })
        .unwrap_or_else(|| version.to_owned());
    found.package(Ecosystem::Go, STANDARD_LIBRARY, &version, line);
}

/// Reads the modules whose content was used; lines about their `go.mod` alone do not count.
pub(super) fn read_sum(text: &str, found: &mut Found<'_>) {
    for (line, raw) in numbered(text) {
        let mut words = raw.split_whitespace();
        match (words.next(), words.next(), words.next()) {
            (None, ..) => {}
            (Some(_), Some(version), Some(_)) if version.ends_with("/go.mod") => {}
            (Some(name), Some(version), Some(_)) => {
                found.package(Ecosystem::Go, name, version, line);
            }
            _ => found.problem(line, format!("{} is not a checksum", shown(raw))),
        }
    }
}
