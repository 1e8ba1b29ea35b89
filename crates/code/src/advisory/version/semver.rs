//! Semantic versions as crates.io, npm and Go use them, read more leniently than they are written.
//!
//! Advisories say `2.4` or `v1.0.0+incompatible` where the standard wants three bare numbers, and
//! some carry more digits than an integer holds, so this is not the strict parser of Cargo.

use super::Number;

/// A semantic version; build metadata has no say in the order.
///
/// The derived order is the standard's: numbers first, then a pre-release before its release.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SemanticVersion {
    /// Without trailing zeros, so that `1.0` equals `1.0.0`.
    numbers: Vec<Number>,
    stage: Stage,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    PreRelease(Vec<Identifier>),
    Release,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Identifier {
    Number(Number),
    Text(String),
}

impl SemanticVersion {
    pub(super) fn parse(text: &str) -> Option<Self> {
        let text = text.trim_start_matches(['v', 'V', '=', ' ']);
        let without_build = text.split('+').next().unwrap_or(text);
        let (core, pre_release) = match without_build.split_once('-') {
            Some((core, pre_release)) => (core, Some(pre_release)),
            None => (without_build, None),
        };
        let mut numbers = core
            .split('.')
            .map(Number::parse)
            .collect::<Option<Vec<Number>>>()?;
        while numbers.last().is_some_and(Number::is_zero) {
            numbers.pop();
        }
        let stage = match pre_release {
            None => Stage::Release,
            Some(pre_release) => Stage::PreRelease(
                pre_release
                    .split('.')
                    .map(identifier)
                    .collect::<Option<Vec<Identifier>>>()?,
            ),
        };
        Some(Self { numbers, stage })
    }
}

fn identifier(text: &str) -> Option<Identifier> {
    if text.is_empty() {
        return None;
    }
    Some(match Number::parse(text) {
        Some(number) => Identifier::Number(number),
        None => Identifier::Text(text.to_owned()),
    })
}
