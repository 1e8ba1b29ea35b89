//! Versions and their order, which every ecosystem defines for itself.

mod maven;
mod semver;

use std::str::FromStr;

use super::package::Ecosystem;

/// Longer texts are no versions: nothing real comes near, and the cost of comparing stays small.
pub(super) const MAX_VERSION_CHARS: usize = 256;

/// A version that can be compared with others of its ecosystem.
///
/// Versions of different ecosystems have an order too, so that the order is total, but it means
/// nothing.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(Kind);

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Semantic(semver::SemanticVersion),
    Python(pep440_rs::Version),
    Maven(maven::MavenVersion),
}

impl Version {
    /// Reads a version by the rules of `ecosystem`; `None` when they have no place for it.
    #[must_use]
    pub fn parse(ecosystem: Ecosystem, text: &str) -> Option<Self> {
        let text = text.trim();
        if text.is_empty() || text.len() > MAX_VERSION_CHARS {
            return None;
        }
        let kind = match ecosystem {
            Ecosystem::CratesIo | Ecosystem::Npm | Ecosystem::Go => {
                Kind::Semantic(semver::SemanticVersion::parse(text)?)
            }
            Ecosystem::PyPi => Kind::Python(pep440_rs::Version::from_str(text).ok()?),
            Ecosystem::Maven => Kind::Maven(maven::MavenVersion::parse(text)),
        };
        Some(Self(kind))
    }
}

/// A natural number of any length.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Number {
    // Declared before the digits, so that the derived order looks at the length first.
    length: usize,
    digits: String,
}

impl Number {
    /// Reads ASCII digits; leading zeros mean nothing.
    fn parse(text: &str) -> Option<Self> {
        if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let digits = text.trim_start_matches('0').to_owned();
        let length = digits.len();
        Some(Self { length, digits })
    }

    fn is_zero(&self) -> bool {
        self.length == 0
    }
}
