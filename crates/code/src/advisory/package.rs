//! Packages, the ecosystems they come from, and when two names mean the same package.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A package registry with its own names and its own order of versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Ecosystem {
    /// Rust crates.
    #[serde(rename = "crates.io")]
    CratesIo,
    /// JavaScript packages.
    #[serde(rename = "npm")]
    Npm,
    /// Python packages.
    #[serde(rename = "PyPI")]
    PyPi,
    /// Go modules.
    #[serde(rename = "Go")]
    Go,
    /// Java packages, named `group:artifact`.
    #[serde(rename = "Maven")]
    Maven,
}

impl Ecosystem {
    /// All ecosystems that we can compare versions of.
    pub const ALL: [Self; 5] = [Self::CratesIo, Self::Npm, Self::PyPi, Self::Go, Self::Maven];

    /// Returns the name that OSV records use.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::CratesIo => "crates.io",
            Self::Npm => "npm",
            Self::PyPi => "PyPI",
            Self::Go => "Go",
            Self::Maven => "Maven",
        }
    }

    /// Returns the ecosystem of an OSV record; a suffix such as `:https://…` names a mirror.
    #[must_use]
    pub fn from_osv(name: &str) -> Option<Self> {
        let base = name.split(':').next().unwrap_or(name);
        Self::ALL.into_iter().find(|known| known.as_str() == base)
    }

    /// Returns the form of a package name under which equal names are equal.
    ///
    /// crates.io and PyPI take `-` and `_` for the same letter and ignore case; the others are
    /// exact. A scope may arrive as `%40scope/name`, a Maven name as `group/artifact`.
    #[must_use]
    pub fn normalize(self, name: &str) -> String {
        let name = name.trim();
        match self {
            Self::CratesIo => name.to_lowercase().replace('_', "-"),
            Self::Npm => match name.strip_prefix("%40") {
                Some(rest) => format!("@{}", rest.replace("%2F", "/").replace("%2f", "/")),
                None => name.to_owned(),
            },
            Self::PyPi => fold_separators(name),
            Self::Go => name.to_owned(),
            Self::Maven => name.replace('/', ":").replace(' ', ""),
        }
    }
}

impl fmt::Display for Ecosystem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A package in the version that a project uses.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Package {
    /// Where it comes from.
    pub ecosystem: Ecosystem,
    /// Its name as the lock file writes it.
    pub name: String,
    /// The version in use.
    pub version: String,
    /// The lock file.
    pub file: String,
    /// The line that names it, counted from 1, where it could be told.
    pub line: Option<u32>,
}

/// Returns the ecosystem and the normalized name that a package URL stands for.
pub(super) fn from_purl(purl: &str) -> Option<(Ecosystem, String)> {
    let rest = purl.strip_prefix("pkg:")?;
    let end = rest.find(['?', '#']).unwrap_or(rest.len());
    let (kind, path) = rest[..end].split_once('/')?;
    let ecosystem = match kind.to_ascii_lowercase().as_str() {
        "cargo" => Ecosystem::CratesIo,
        "npm" => Ecosystem::Npm,
        "pypi" => Ecosystem::PyPi,
        "golang" => Ecosystem::Go,
        "maven" => Ecosystem::Maven,
        _ => return None,
    };
    // A version follows the last `@` unless that `@` opens an npm scope.
    let name = match path.rfind('@') {
        Some(at) if at > 0 => &path[..at],
        _ => path,
    };
    let name = ecosystem.normalize(name);
    (!name.is_empty()).then_some((ecosystem, name))
}

/// Lower case, with every run of `-`, `_` and `.` as one hyphen (PEP 503).
fn fold_separators(name: &str) -> String {
    let mut folded = String::with_capacity(name.len());
    for c in name.chars() {
        if matches!(c, '-' | '_' | '.') {
            if !folded.ends_with('-') {
                folded.push('-');
            }
        } else {
            folded.extend(c.to_lowercase());
        }
    }
    folded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_mean_one_package_are_equal() {
        for (ecosystem, name, normal) in [
            (Ecosystem::PyPi, "PyYAML", "pyyaml"),
            (Ecosystem::PyPi, "zope.Interface", "zope-interface"),
            (Ecosystem::PyPi, "a-_-b", "a-b"),
            (Ecosystem::CratesIo, "Serde_JSON", "serde-json"),
            (Ecosystem::Npm, "%40angular%2Fcore", "@angular/core"),
            (Ecosystem::Npm, "JSONStream", "JSONStream"),
            (Ecosystem::Maven, "org.x/lib", "org.x:lib"),
            (Ecosystem::Go, "github.com/Foo/bar", "github.com/Foo/bar"),
        ] {
            assert_eq!(ecosystem.normalize(name), normal, "{ecosystem} {name}");
        }
    }

    #[test]
    fn package_urls_name_packages() {
        for (purl, expected) in [
            (
                "pkg:cargo/smallvec",
                Some((Ecosystem::CratesIo, "smallvec")),
            ),
            (
                "pkg:npm/%40angular/core@1.0.0",
                Some((Ecosystem::Npm, "@angular/core")),
            ),
            (
                "pkg:npm/@angular/core",
                Some((Ecosystem::Npm, "@angular/core")),
            ),
            (
                "pkg:golang/golang.org/x/text",
                Some((Ecosystem::Go, "golang.org/x/text")),
            ),
            (
                "pkg:maven/org.x/lib?type=jar",
                Some((Ecosystem::Maven, "org.x:lib")),
            ),
            ("pkg:deb/debian/curl", None),
            ("pkg:pypi:pyyaml", None),
        ] {
            let expected = expected.map(|(ecosystem, name)| (ecosystem, name.to_owned()));
            assert_eq!(from_purl(purl), expected, "{purl}");
        }
    }
}
