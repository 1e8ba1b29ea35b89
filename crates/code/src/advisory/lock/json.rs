//! Lock files of JSON: `package-lock.json` and `Pipfile.lock`.

use serde_json::{Map, Value};

use super::{Found, shown};
use crate::advisory::package::Ecosystem;

/// Reads `package-lock.json`: `packages` since version 2, `dependencies` before.
pub(super) fn read_npm(text: &str, found: &mut Found<'_>) {
    let Some(root) = object(text, found) else {
        return;
    };
    let mut lines = Lines::new(text);
    match (root.get("packages"), root.get("dependencies")) {
        (Some(Value::Object(packages)), _) => {
            lines.skip_to("packages");
            for (path, entry) in packages {
                let line = lines.of_key(path);
                add_installed(path, entry, line, found);
            }
        }
        (_, Some(Value::Object(dependencies))) => {
            lines.skip_to("dependencies");
            add_tree(dependencies, &mut lines, found);
        }
        (None, None) => {}
        _ => found.problem(None, "`packages` or `dependencies` is not an object"),
    }
}

/// Reads `Pipfile.lock`.
pub(super) fn read_pipfile(text: &str, found: &mut Found<'_>) {
    let Some(root) = object(text, found) else {
        return;
    };
    let mut lines = Lines::new(text);
    for (section, entries) in &root {
        let (false, Value::Object(entries)) = (section == "_meta", entries) else {
            continue;
        };
        lines.skip_to(section);
        for (name, entry) in entries {
            let line = lines.of_key(name);
            let version = entry.get("version").and_then(Value::as_str);
            match version.and_then(|version| version.strip_prefix("==")) {
                Some(version) => found.package(Ecosystem::PyPi, name, version.trim(), line),
                None => found.problem(line, format!("{} has no pinned version", shown(name))),
            }
        }
    }
}

fn object(text: &str, found: &mut Found<'_>) -> Option<Map<String, Value>> {
    match serde_json::from_str(text) {
        Ok(Value::Object(root)) => Some(root),
        Ok(_) => {
            found.problem(None, "not a JSON object");
            None
        }
        Err(error) => {
            let line = u32::try_from(error.line()).ok().filter(|line| *line > 0);
            found.problem(line, format!("not JSON: {error}"));
            None
        }
    }
}

/// Adds what stands at a path such as `node_modules/a/node_modules/@b/c`.
fn add_installed(path: &str, entry: &Value, line: Option<u32>, found: &mut Found<'_>) {
    let is_link = entry.get("link").and_then(Value::as_bool) == Some(true);
    let Some((_, folder)) = path.rsplit_once("node_modules/") else {
        return; // The project itself, or a member of its workspace.
    };
    if is_link {
        return;
    }
    // An alias is installed under another name than its own.
    let name = entry.get("name").and_then(Value::as_str).unwrap_or(folder);
    match entry.get("version").and_then(Value::as_str) {
        Some(version) => add_npm(name, version, line, found),
        None => found.problem(line, format!("{} has no version", shown(name))),
    }
}

/// Adds nested dependencies in the order of the file. The parser bounds the depth.
fn add_tree(dependencies: &Map<String, Value>, lines: &mut Lines<'_>, found: &mut Found<'_>) {
    for (name, entry) in dependencies {
        let line = lines.of_key(name);
        match entry.get("version").and_then(Value::as_str) {
            Some(version) => add_npm(name, version, line, found),
            None => found.problem(line, format!("{} has no version", shown(name))),
        }
        if let Some(Value::Object(nested)) = entry.get("dependencies") {
            add_tree(nested, lines, found);
        }
    }
}

fn add_npm(name: &str, version: &str, line: Option<u32>, found: &mut Found<'_>) {
    if let Some((real, version)) = version
        .strip_prefix("npm:")
        .and_then(|it| it.rsplit_once('@'))
    {
        found.package(Ecosystem::Npm, real, version, line);
    } else if version.contains(':') || version.contains('/') {
        let what = format!(
            "{} comes from {}, not from a registry",
            shown(name),
            shown(version)
        );
        found.problem(line, what);
    } else {
        found.package(Ecosystem::Npm, name, version, line);
    }
}

/// Finds the lines of keys that are asked for in the order of the text.
struct Lines<'a> {
    text: &'a str,
    at: usize,
    line: u32,
    /// Keys with unusual escapes cannot be found; after some misses searching stops, so that a
    /// text made of them costs no more than another.
    misses: u32,
}

impl<'a> Lines<'a> {
    const MAX_MISSES: u32 = 8;

    fn new(text: &'a str) -> Self {
        Self {
            text,
            at: 0,
            line: 1,
            misses: 0,
        }
    }

    fn skip_to(&mut self, section: &str) {
        // Sections may be asked for in another order than they are written.
        (self.at, self.line) = (0, 1);
        self.of_key(section);
    }

    fn of_key(&mut self, key: &str) -> Option<u32> {
        if self.misses >= Self::MAX_MISSES {
            return None;
        }
        let needle = Value::from(key).to_string();
        let mut from = self.at;
        while let Some(start) = self.text[from..].find(&needle).map(|start| from + start) {
            let end = start + needle.len();
            // Entries are objects; a requirement of the same name is a text.
            let value = self.text[end..].trim_start().strip_prefix(':');
            if value.is_some_and(|value| value.trim_start().starts_with('{')) {
                let passed = self.text[self.at..end].bytes();
                let newlines = passed.filter(|byte| *byte == b'\n').count();
                self.line = self.line.saturating_add(u32::try_from(newlines).ok()?);
                self.at = end;
                return Some(self.line);
            }
            from = end;
        }
        self.misses += 1;
        None
    }
}
