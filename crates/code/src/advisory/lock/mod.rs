//! Packages from lock files: which package in which version, and on which line it stands.

mod go;
mod java;
mod json;
mod python;
mod tables;
mod yarn;

use std::borrow::Cow;

use super::Problem;
use super::package::{Ecosystem, Package};
use super::version::MAX_VERSION_CHARS;

/// No lock file is longer; the longest known ones have a quarter of it.
const MAX_FILE_BYTES: usize = 64 << 20;

/// Names are shorter in every ecosystem.
const MAX_NAME_CHARS: usize = 512;

/// Packages after so many are counted, not listed.
const MAX_PACKAGES: usize = 200_000;

/// Problems after so many are counted, not listed.
const MAX_PROBLEMS: usize = 100;

/// The kinds of lock files that we read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LockKind {
    /// `Cargo.lock`.
    Cargo,
    /// `package-lock.json` and `npm-shrinkwrap.json`, versions 1 to 3.
    Npm,
    /// `yarn.lock`, classic or newer.
    Yarn,
    /// `pnpm-lock.yaml`.
    Pnpm,
    /// `requirements.txt` and its relatives.
    Requirements,
    /// `poetry.lock`.
    Poetry,
    /// `uv.lock`.
    Uv,
    /// `Pipfile.lock`.
    Pipfile,
    /// `go.mod`.
    GoMod,
    /// `go.sum`.
    GoSum,
    /// `pom.xml`.
    Pom,
    /// `gradle.lockfile` and `buildscript-gradle.lockfile`.
    Gradle,
}

impl LockKind {
    /// Returns the kind that the name of the file stands for.
    #[must_use]
    pub fn of(path: &str) -> Option<Self> {
        let (folder, name) = path.rsplit_once(['/', '\\']).unwrap_or(("", path));
        Some(match name {
            "Cargo.lock" => Self::Cargo,
            "package-lock.json" | "npm-shrinkwrap.json" => Self::Npm,
            "yarn.lock" => Self::Yarn,
            "pnpm-lock.yaml" => Self::Pnpm,
            "poetry.lock" => Self::Poetry,
            "uv.lock" => Self::Uv,
            "Pipfile.lock" => Self::Pipfile,
            "go.mod" => Self::GoMod,
            "go.sum" => Self::GoSum,
            "pom.xml" => Self::Pom,
            "gradle.lockfile" | "buildscript-gradle.lockfile" => Self::Gradle,
            _ => {
                let is_text = name.ends_with(".txt");
                let in_folder = folder.rsplit(['/', '\\']).next() == Some("requirements");
                let is_named = name.contains("requirements") || in_folder;
                return (is_text && is_named).then_some(Self::Requirements);
            }
        })
    }
}

/// What a lock file says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Packages {
    /// The packages, in the order in which they are written.
    pub packages: Vec<Package>,
    /// What could not be used.
    pub problems: Vec<Problem>,
}

/// Reads a lock file whose kind its name tells.
///
/// Entries that are not packages of a registry, such as members of a workspace, are no problem
/// and are passed over; entries that should be packages but cannot be used are reported.
#[must_use]
pub fn read_packages(file: &str, bytes: &[u8]) -> Packages {
    let mut found = Found::new(file);
    let Some(kind) = LockKind::of(file) else {
        found.problem(None, "not a lock file that we know");
        return found.finish();
    };
    if bytes.len() > MAX_FILE_BYTES {
        found.problem(None, "too long for a lock file; nothing was read");
        return found.finish();
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let text = String::from_utf8_lossy(bytes);
    if let Cow::Owned(_) = text {
        found.problem(None, "not valid UTF-8; some names may be wrong");
    }
    match kind {
        LockKind::Cargo => tables::read_cargo(&text, &mut found),
        LockKind::Poetry => tables::read_poetry(&text, &mut found),
        LockKind::Uv => tables::read_uv(&text, &mut found),
        LockKind::Npm => json::read_npm(&text, &mut found),
        LockKind::Pipfile => json::read_pipfile(&text, &mut found),
        LockKind::Yarn => yarn::read_yarn(&text, &mut found),
        LockKind::Pnpm => yarn::read_pnpm(&text, &mut found),
        LockKind::Requirements => python::read_requirements(&text, &mut found),
        LockKind::GoMod => go::read_mod(&text, &mut found),
        LockKind::GoSum => go::read_sum(&text, &mut found),
        LockKind::Pom => java::read_pom(&text, &mut found),
        LockKind::Gradle => java::read_gradle(&text, &mut found),
    }
    found.finish()
}

/// Collects what a reader finds, within bounds.
struct Found<'a> {
    file: &'a str,
    result: Packages,
    packages_left_out: usize,
    problems_left_out: usize,
}

impl<'a> Found<'a> {
    fn new(file: &'a str) -> Self {
        Self {
            file,
            result: Packages::default(),
            packages_left_out: 0,
            problems_left_out: 0,
        }
    }

    fn package(&mut self, ecosystem: Ecosystem, name: &str, version: &str, line: Option<u32>) {
        let is_name = (1..=MAX_NAME_CHARS).contains(&name.len());
        let is_version = (1..=MAX_VERSION_CHARS).contains(&version.len());
        if !is_name || !is_version || name.contains(char::is_control) {
            return self.problem(line, "a package without a usable name and version");
        }
        if self.result.packages.len() >= MAX_PACKAGES {
            self.packages_left_out += 1;
            return;
        }
        self.result.packages.push(Package {
            ecosystem,
            name: name.to_owned(),
            version: version.to_owned(),
            file: self.file.to_owned(),
            line,
        });
    }

    fn problem(&mut self, line: Option<u32>, what: impl Into<String>) {
        if self.result.problems.len() >= MAX_PROBLEMS {
            self.problems_left_out += 1;
            return;
        }
        self.result.problems.push(Problem {
            file: self.file.to_owned(),
            line,
            what: what.into(),
        });
    }

    fn finish(mut self) -> Packages {
        for (count, what) in [
            (self.packages_left_out, "more packages than can be listed"),
            (self.problems_left_out, "more problems"),
        ] {
            if count > 0 {
                self.result.problems.push(Problem {
                    file: self.file.to_owned(),
                    line: None,
                    what: format!("{count} {what}"),
                });
            }
        }
        self.result
    }
}

/// Returns the lines of `text` with their numbers.
fn numbered(text: &str) -> impl Iterator<Item = (Option<u32>, &str)> {
    let lines = text.lines().enumerate();
    lines.map(|(at, line)| (u32::try_from(at + 1).ok(), line))
}

/// Returns `text` as it may stand in a message: short and on one line.
fn shown(text: &str) -> String {
    let line: String = text.chars().filter(|c| !c.is_control()).take(80).collect();
    format!("`{}`", line.trim())
}
