//! Files that their readers will refuse, and statements that reach further than meant.

use serde::de::IgnoredAny;
use tribunal_core::finding::Label;

use super::{Found, TextFile, TextRule};
use crate::nature::{Format, Nature};
use crate::rule::meta::{Domain, Scope};

pub(super) const RULES: &[TextRule] = &[
    TextRule {
        id: "json-does-not-parse",
        domain: Domain::Correctness,
        label: Label::Medium,
        scope: Scope::Product,
        message: "This is not JSON: {}",
        reason: "Programs that read the file will stop here.",
        suggestion: "Correct the syntax.",
        find: broken_json,
        bad: &[
            ("package.json", "{\n  \"a\": 1\n  \"b\": 2\n}\n", &[3]),
            ("data/a.json", "{\"a\": [1, 2,]}\n", &[1]),
        ],
        good: &[
            ("package.json", "{\"a\": 1}\n"),
            ("tsconfig.json", "{\n  // why\n  \"a\": 1,\n}\n"),
            ("a.json", "{\n  /* why */\n  \"a\": 1,\n}\n"),
            ("templates/a.json", "{\"a\": {{ value }}}\n"),
            (".vscode/settings.json", "{\"a\": 1,}\n"),
        ],
    },
    TextRule {
        id: "toml-does-not-parse",
        domain: Domain::Correctness,
        label: Label::Medium,
        scope: Scope::Product,
        message: "This is not TOML: {}",
        reason: "Programs that read the file will stop here.",
        suggestion: "Correct the syntax.",
        find: broken_toml,
        bad: &[
            (
                "Cargo.toml",
                "[package]\nname = \"a\nversion = \"1\"\n",
                &[2],
            ),
            ("pyproject.toml", "[tool]\na = 1\na = 2\n", &[3]),
        ],
        good: &[
            ("Cargo.toml", "[package]\nname = \"a\"\n"),
            (
                "Cargo.toml",
                "[package]\nname = \"{{project-name}}\"\nx = {{y}}\n",
            ),
        ],
    },
    TextRule {
        id: "sql-write-without-where",
        domain: Domain::Correctness,
        label: Label::Low,
        scope: Scope::Product,
        message: "This writes to every row of `{}`",
        reason: "A migration without a condition changes or deletes all rows, and the old values \
                 are gone.",
        suggestion: "Add a condition, or a comment that says that every row is meant.",
        find: write_without_where,
        bad: &[
            (
                "db/migrations/1.sql",
                "CREATE TABLE a (b int);\nDELETE FROM users;\n",
                &[2],
            ),
            ("migrations/2.sql", "UPDATE users\nSET name = 'x';\n", &[1]),
            ("db/migrate/3.sql", "DELETE FROM users;\n", &[1]),
        ],
        good: &[
            ("db/migrations/1.sql", "DELETE FROM users WHERE id = 1;\n"),
            (
                "db/migrations/1.sql",
                "UPDATE users SET a = 1\n  WHERE b;\n",
            ),
            (
                "db/migrations/1.sql",
                "-- every row\nUPDATE users SET a = 1;\n",
            ),
            ("db/seed.sql", "DELETE FROM users;\n"),
        ],
    },
];

fn broken_json(file: &TextFile<'_>) -> Vec<Found> {
    let lower = file.path.to_ascii_lowercase();
    let name = lower.rsplit('/').next().unwrap_or_default();
    // Many programs read more than JSON from files that are called so.
    let is_strict = file.nature == Nature::Config(Format::Json)
        && name.ends_with(".json")
        && !name.contains("config")
        && !name.starts_with('.')
        && !lower.split('/').any(|folder| folder.starts_with('.'))
        && !name.contains("settings");
    let is_dialect = file.lines.iter().any(|line| {
        let line = line.trim_start();
        line.starts_with("//")
            || line.starts_with("/*")
            || line.starts_with('#')
            || line.starts_with("'use")
    });
    let text = file.text;
    if !is_strict
        || is_dialect
        || text.trim().is_empty()
        || ["{{", "{%", "<%", "${", "<<<<<<<"]
            .iter()
            .any(|hole| text.contains(hole))
    {
        return Vec::new();
    }
    match serde_json::from_str::<IgnoredAny>(text) {
        Err(error) if error.is_syntax() || error.is_eof() => {
            let line = error.line().max(1);
            let said = error.to_string();
            let said = said.split(" at line").next().unwrap_or_default();
            vec![broken(file, line - 1, said)]
        }
        _ => Vec::new(),
    }
}

fn broken_toml(file: &TextFile<'_>) -> Vec<Found> {
    if file.nature != Nature::Config(Format::Toml)
        || !file.path.to_ascii_lowercase().ends_with(".toml")
        || ["{{", "{%", "<%", "<<<<<<<"]
            .iter()
            .any(|hole| file.text.contains(hole))
    {
        return Vec::new();
    }
    match file.text.parse::<toml::Table>() {
        Ok(_) => Vec::new(),
        Err(error) => {
            let start = error.span().map_or(0, |span| span.start);
            let before = file.text.get(..start).unwrap_or_default();
            vec![broken(file, before.matches('\n').count(), error.message())]
        }
    }
}

/// Returns the place of a syntax error; the cause is often on the line before.
fn broken(file: &TextFile<'_>, row: usize, said: &str) -> Found {
    let row = row.min(file.lines.len().saturating_sub(1));
    let said = said.lines().next().unwrap_or_default();
    Found {
        with: row.checked_sub(1).into_iter().collect(),
        ..Found::at(row, 0).named(said)
    }
}

/// Tells whether a path is one of a migration of a database.
pub(super) fn is_migration(path: &str) -> bool {
    let path = path.to_ascii_lowercase();
    path.contains("migration") || path.split('/').any(|folder| folder == "migrate")
}

fn write_without_where(file: &TextFile<'_>) -> Vec<Found> {
    if file.nature != Nature::Config(Format::Sql) || !is_migration(file.path) {
        return Vec::new();
    }
    let mut all = Vec::new();
    let mut statement = String::new();
    let mut start = 0;
    let mut is_explained = false;
    for (row, line) in file.lines.iter().enumerate() {
        let (code, comment) = line.split_once("--").unwrap_or((line, ""));
        if statement.trim().is_empty() {
            start = row;
            is_explained |= !comment.is_empty();
        }
        statement.push_str(code);
        statement.push(' ');
        if !code.trim_end().ends_with(';') {
            continue;
        }
        let upper = statement.to_ascii_uppercase();
        let words: Vec<&str> = upper.split_whitespace().collect();
        let target = match words.as_slice() {
            ["DELETE", "FROM", table, ..] | ["UPDATE", table, "SET", ..] => Some(*table),
            _ => None,
        };
        let is_bounded = words
            .iter()
            .any(|word| matches!(*word, "WHERE" | "JOIN" | "LIMIT"));
        if let Some(table) = target.filter(|_| !is_bounded && !is_explained) {
            let table = table.trim_end_matches(';').to_ascii_lowercase();
            all.push(Found {
                end: row,
                ..Found::at(start, 0).named(&table)
            });
        }
        statement.clear();
        is_explained = false;
    }
    all
}
