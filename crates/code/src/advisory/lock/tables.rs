//! Lock files of generated TOML: `Cargo.lock`, `poetry.lock` and `uv.lock`.
//!
//! Their tools write one key per line, and all that matters are the strings of each `[[package]]`.
//! They are read line by line, so that a conflict left by a merge costs one entry and not the file.

use super::{Found, numbered, shown};
use crate::advisory::package::Ecosystem;

/// One `[[package]]`.
#[derive(Default)]
struct Table<'a> {
    line: Option<u32>,
    name: Option<&'a str>,
    version: Option<&'a str>,
    /// The right-hand side as it stands: a string or an inline table.
    source: Option<&'a str>,
}

/// Reads `Cargo.lock`; packages without a source are members of the workspace.
pub(super) fn read_cargo(text: &str, found: &mut Found<'_>) {
    each_package(text, found, |table, found| {
        if table.source.is_some() {
            add(Ecosystem::CratesIo, &table, found);
        }
    });
}

/// Reads `poetry.lock`.
pub(super) fn read_poetry(text: &str, found: &mut Found<'_>) {
    each_package(text, found, |table, found| {
        add(Ecosystem::PyPi, &table, found);
    });
}

/// Reads `uv.lock`; sources that are folders are members of the workspace.
pub(super) fn read_uv(text: &str, found: &mut Found<'_>) {
    each_package(text, found, |table, found| {
        let source = table.source.unwrap_or_default();
        let is_local = ["virtual", "editable", "directory", "path"]
            .iter()
            .any(|word| source.trim_start_matches(['{', ' ']).starts_with(word));
        if !is_local {
            add(Ecosystem::PyPi, &table, found);
        }
    });
}

fn add(ecosystem: Ecosystem, table: &Table<'_>, found: &mut Found<'_>) {
    match (table.name, table.version) {
        (Some(name), Some(version)) => found.package(ecosystem, name, version, table.line),
        (Some(name), None) => found.problem(table.line, format!("{} has no version", shown(name))),
        (None, _) => found.problem(table.line, "a package has no name"),
    }
}

fn each_package<'a>(
    text: &'a str,
    found: &mut Found<'_>,
    mut package: impl FnMut(Table<'a>, &mut Found<'_>),
) {
    let mut open: Option<Table<'a>> = None;
    for (line, raw) in numbered(text) {
        if ["<<<<<<<", "=======", ">>>>>>>"]
            .iter()
            .any(|mark| raw.starts_with(mark))
        {
            found.problem(line, "a conflict left by a merge");
            continue;
        }
        // Keys and headers start their line; what is indented belongs to a list.
        if raw.starts_with('[') {
            if let Some(table) = open.take() {
                package(table, found);
            }
            if raw.trim_end() == "[[package]]" {
                open = Some(Table {
                    line,
                    ..Table::default()
                });
            }
        } else if let Some(table) = &mut open
            && let Some((key, value)) = raw.split_once('=')
        {
            match key.trim_end() {
                "name" => {
                    table.name = quoted(value);
                    table.line = line;
                }
                "version" => table.version = quoted(value),
                "source" => table.source = Some(value.trim()),
                _ => {}
            }
        }
    }
    if let Some(table) = open {
        package(table, found);
    }
}

/// Returns the text between the quotes; names and versions need no escapes.
fn quoted(value: &str) -> Option<&str> {
    let value = value.trim_start();
    let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let inner = &value[1..];
    Some(&inner[..inner.find(quote)?])
}
