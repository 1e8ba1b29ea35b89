//! `pom.xml` and `gradle.lockfile`.

use std::collections::HashMap;

use quick_xml::Reader;
use quick_xml::events::Event;

use super::{Found, numbered, shown};
use crate::advisory::package::Ecosystem;

/// Deeper elements are none of ours.
const MAX_DEPTH: usize = 64;

/// No value has more text.
const MAX_VALUE_BYTES: usize = 1024;

/// So many references to properties may be resolved for one value, which ends circles.
const MAX_REFERENCES: usize = 32;

/// Reads `gradle.lockfile`: `group:artifact:version=configurations`.
pub(super) fn read_gradle(text: &str, found: &mut Found<'_>) {
    for (line, raw) in numbered(text) {
        let content = raw.trim();
        if content.is_empty() || content.starts_with('#') || content.starts_with("empty=") {
            continue;
        }
        let coordinate = content.split('=').next().unwrap_or(content);
        match coordinate.rsplit_once(':') {
            Some((name, version)) if name.contains(':') => {
                found.package(Ecosystem::Maven, name, version, line);
            }
            _ => found.problem(line, format!("{} is not a coordinate", shown(content))),
        }
    }
}

/// Reads the direct dependencies of `pom.xml`.
///
/// Versions may refer to properties and to managed versions of the same file. What a parent or
/// an imported file decides cannot be known here and is reported.
pub(super) fn read_pom(text: &str, found: &mut Found<'_>) {
    let pom = Pom::read(text, found);
    for dependency in &pom.dependencies {
        let line = dependency.line;
        let Some((name, version)) = pom.coordinate(dependency) else {
            let what = format!("{} has no version in this file", shown(&dependency.label()));
            found.problem(line, what);
            continue;
        };
        // `[1.0]` is one version, any other bracket a range.
        let exact = version
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'));
        let version = exact.unwrap_or(&version);
        if version.contains(['[', '(', ',']) {
            found.problem(line, format!("{} has a range of versions", shown(&name)));
        } else {
            found.package(Ecosystem::Maven, &name, version, line);
        }
    }
}

/// What matters of a `pom.xml`.
#[derive(Default)]
struct Pom {
    /// By the names under which values refer to them.
    properties: HashMap<String, String>,
    dependencies: Vec<Dependency>,
    managed: Vec<Dependency>,
}

#[derive(Default, Clone)]
struct Dependency {
    line: Option<u32>,
    group: String,
    artifact: String,
    version: Option<String>,
}

impl Dependency {
    fn label(&self) -> String {
        format!("{}:{}", self.group, self.artifact)
    }
}

/// Where the reader stands.
#[derive(Default)]
struct Cursor {
    path: Vec<String>,
    /// Elements that are open beyond the depth we look into.
    beyond: usize,
    text: String,
    open: Dependency,
}

impl Pom {
    fn read(text: &str, found: &mut Found<'_>) -> Self {
        let mut pom = Self::default();
        let mut cursor = Cursor::default();
        let mut reader = Reader::from_str(text);
        let mut lines = LineCount::new(text);
        loop {
            let event = reader.read_event();
            match event {
                Ok(Event::Eof) => break,
                Ok(Event::Start(start)) => {
                    let line = lines.at(reader.buffer_position());
                    cursor.enter(start.local_name().as_ref(), line);
                }
                Ok(Event::End(_)) => pom.leave(&mut cursor),
                Ok(Event::Text(text)) => cursor.append(&text),
                Ok(Event::CData(text)) => cursor.append(&text),
                Ok(_) => {}
                Err(error) => {
                    let line = lines.at(reader.error_position());
                    found.problem(line, format!("not XML: {error}"));
                    break;
                }
            }
        }
        if cursor.beyond + cursor.path.len() > 0 {
            found.problem(None, "the file ends in the middle of an element");
        }
        pom
    }

    fn leave(&mut self, cursor: &mut Cursor) {
        if cursor.beyond > 0 {
            cursor.beyond -= 1;
            return;
        }
        let value = std::mem::take(&mut cursor.text).trim().to_owned();
        let path: Vec<&str> = cursor.path.iter().map(String::as_str).collect();
        match path.as_slice() {
            ["project", "properties", name] => {
                self.properties.insert((*name).to_owned(), value);
            }
            ["project", field @ ("version" | "groupId" | "artifactId")] => {
                self.properties.insert(format!("project.{field}"), value);
            }
            ["project", "parent", field @ ("version" | "groupId")] => {
                // The project inherits from its parent what it does not say itself.
                let own = self.properties.entry(format!("project.{field}"));
                own.or_insert_with(|| value.clone());
                self.properties
                    .insert(format!("project.parent.{field}"), value);
            }
            ["project", "dependencies", "dependency"] => {
                self.dependencies.push(std::mem::take(&mut cursor.open));
            }
            [
                "project",
                "dependencyManagement",
                "dependencies",
                "dependency",
            ] => {
                self.managed.push(std::mem::take(&mut cursor.open));
            }
            [.., "dependencies", "dependency", field] => match *field {
                "groupId" => cursor.open.group = value,
                "artifactId" => cursor.open.artifact = value,
                "version" => cursor.open.version = Some(value),
                _ => {}
            },
            _ => {}
        }
        cursor.path.pop();
    }

    /// Returns the name and version of a dependency, where this file tells them.
    fn coordinate(&self, dependency: &Dependency) -> Option<(String, String)> {
        let group = self.resolve(&dependency.group)?;
        let artifact = self.resolve(&dependency.artifact)?;
        let version = dependency.version.as_deref().or_else(|| {
            let mut managed = self.managed.iter();
            let found = managed.find(|managed| {
                managed.artifact == dependency.artifact && managed.group == dependency.group
            });
            found?.version.as_deref()
        })?;
        Some((format!("{group}:{artifact}"), self.resolve(version)?))
    }

    /// Replaces `${name}` by the property; `None` when there is none, or no end.
    fn resolve(&self, value: &str) -> Option<String> {
        let mut value = value.to_owned();
        for _ in 0..MAX_REFERENCES {
            let Some(start) = value.find("${") else {
                return (!value.is_empty()).then_some(value);
            };
            let end = start + value[start..].find('}')?;
            let name = &value[start + 2..end];
            let name = match name {
                "pom.version" | "version" => "project.version",
                "pom.groupId" | "groupId" => "project.groupId",
                other => other,
            };
            let property = self.properties.get(name)?;
            if value.len() + property.len() > MAX_VALUE_BYTES {
                return None;
            }
            value.replace_range(start..=end, property);
        }
        None
    }
}

impl Cursor {
    fn enter(&mut self, name: &str, line: Option<u32>) {
        if self.path.len() >= MAX_DEPTH {
            self.beyond += 1;
            return;
        }
        self.text.clear();
        self.path.push(name.chars().take(MAX_VALUE_BYTES).collect());
        if name == "dependency" {
            self.open = Dependency {
                line,
                ..Dependency::default()
            };
        }
    }

    fn append(&mut self, text: &str) {
        if self.text.len() + text.len() <= MAX_VALUE_BYTES {
            self.text.push_str(text);
        }
    }
}

/// Counts lines along a text.
struct LineCount<'a> {
    bytes: &'a [u8],
    at: usize,
    line: u32,
}

impl<'a> LineCount<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            bytes: text.as_bytes(),
            at: 0,
            line: 1,
        }
    }

    fn at(&mut self, position: u64) -> Option<u32> {
        let position = usize::try_from(position).ok()?.min(self.bytes.len());
        let passed = self.bytes.get(self.at..position)?;
        let newlines = passed.iter().filter(|byte| **byte == b'\n').count();
        self.line = self.line.saturating_add(u32::try_from(newlines).ok()?);
        self.at = position;
        Some(self.line)
    }
}
