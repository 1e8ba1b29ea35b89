//! The scales on which findings are measured: severity, confidence, and how far a stance may move it.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::word::shown_as_word;

/// How bad a finding is if it is true. The order is that of the words: `Low < Critical`.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Worth knowing.
    Low,
    /// Worth fixing.
    Medium,
    /// Must be fixed.
    High,
    /// Must be fixed before anything else happens.
    Critical,
}

impl Severity {
    /// All levels, from the mildest up.
    pub const ALL: [Self; 4] = [Self::Low, Self::Medium, Self::High, Self::Critical];

    /// Returns the word used in config, reports and the ledger.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Critical => "critical",
        }
    }

    /// Returns the next milder level; the mildest stays.
    #[must_use]
    pub fn lowered(self) -> Self {
        match self {
            Self::Critical => Self::High,
            Self::High => Self::Medium,
            Self::Medium | Self::Low => Self::Low,
        }
    }

    /// Returns how many levels lie between two severities: 0 for equal, 1 for neighbours.
    #[must_use]
    pub fn distance(self, other: Self) -> u8 {
        self.rank().abs_diff(other.rank())
    }

    /// Returns the median of `levels`; between two levels the upper half counts, so the higher
    /// of two neighbours wins. Nothing has no median.
    #[must_use]
    pub fn median(levels: &mut [Self]) -> Option<Self> {
        levels.sort_unstable();
        let upper = levels.get(levels.len() / 2)?;
        if levels.len() % 2 == 1 {
            return Some(*upper);
        }
        let lower = levels[levels.len() / 2 - 1];
        let middle = (lower.rank() + upper.rank()).div_ceil(2);
        Some(Self::ALL[usize::from(middle)])
    }

    fn rank(self) -> u8 {
        match self {
            Self::Low => 0,
            Self::Medium => 1,
            Self::High => 2,
            Self::Critical => 3,
        }
    }
}

shown_as_word!(Severity);

/// A word that names no value of its scale.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{given:?} is no {scale}; known are {known}")]
pub struct UnknownWord {
    /// What the word was meant to be, such as `severity`.
    pub scale: &'static str,
    /// The word as given, shortened to a bounded length.
    pub given: String,
    /// The words that would have been understood.
    pub known: &'static str,
}

impl UnknownWord {
    /// Returns the error for `given`, keeping a bounded part of it.
    #[must_use]
    pub fn new(scale: &'static str, given: &str, known: &'static str) -> Self {
        let given = crate::text::truncate_chars(given, 60).into_owned();
        Self {
            scale,
            given,
            known,
        }
    }
}

impl FromStr for Severity {
    type Err = UnknownWord;

    fn from_str(text: &str) -> Result<Self, UnknownWord> {
        let word = text.trim();
        Self::ALL
            .into_iter()
            .find(|level| word.eq_ignore_ascii_case(level.as_str()))
            .ok_or_else(|| UnknownWord::new("severity", text, "critical, high, medium, low"))
    }
}

/// A number outside of its scale. It is refused, never moved to the nearest bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("{given} is no {scale}: it must lie between {least} and {most}")]
pub struct OutOfRange {
    /// What the number was meant to be.
    pub scale: &'static str,
    /// The number as given.
    pub given: i64,
    /// The least number allowed.
    pub least: i64,
    /// The greatest number allowed.
    pub most: i64,
}

/// How sure somebody is, from 0 to 100.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Default,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(try_from = "i64", into = "i64")]
#[schemars(with = "u8", extend("minimum" = 0, "maximum" = 100))]
pub struct Confidence(u8);

impl Confidence {
    /// No trust at all.
    pub const NONE: Self = Self(0);
    /// Certainty.
    pub const FULL: Self = Self(100);

    /// Returns the confidence, or why the number is none.
    pub fn new(given: i64) -> Result<Self, OutOfRange> {
        match u8::try_from(given) {
            Ok(value @ 0..=100) => Ok(Self(value)),
            _ => Err(OutOfRange {
                scale: "confidence",
                given,
                least: 0,
                most: 100,
            }),
        }
    }

    /// Returns the confidence nearest to a sum of our own; what others state goes through `new`.
    #[must_use]
    pub fn clamped(sum: i32) -> Self {
        // The range fits into a byte, so the conversion cannot fail.
        Self(u8::try_from(sum.clamp(0, 100)).unwrap_or(100))
    }

    /// Returns the number.
    #[must_use]
    pub fn get(self) -> u8 {
        self.0
    }
}

impl TryFrom<i64> for Confidence {
    type Error = OutOfRange;

    fn try_from(given: i64) -> Result<Self, OutOfRange> {
        Self::new(given)
    }
}

impl From<Confidence> for i64 {
    fn from(confidence: Confidence) -> Self {
        Self::from(confidence.0)
    }
}

impl fmt::Display for Confidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// How far a reviewer wants to move a confidence, from −30 to 30.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Default,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(try_from = "i64", into = "i64")]
#[schemars(with = "i8", extend("minimum" = -30, "maximum" = 30))]
pub struct Adjustment(i8);

impl Adjustment {
    /// No movement.
    pub const NONE: Self = Self(0);
    /// The farthest movement, in points.
    pub const MOST: i8 = 30;

    /// Returns the adjustment, or why the number is none.
    pub fn new(given: i64) -> Result<Self, OutOfRange> {
        match i8::try_from(given) {
            Ok(value @ -30..=30) => Ok(Self(value)),
            _ => Err(OutOfRange {
                scale: "confidence adjustment",
                given,
                least: -30,
                most: 30,
            }),
        }
    }

    /// Returns the number.
    #[must_use]
    pub fn get(self) -> i8 {
        self.0
    }
}

impl TryFrom<i64> for Adjustment {
    type Error = OutOfRange;

    fn try_from(given: i64) -> Result<Self, OutOfRange> {
        Self::new(given)
    }
}

impl From<Adjustment> for i64 {
    fn from(adjustment: Adjustment) -> Self {
        Self::from(adjustment.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Severity::{Critical, High, Low, Medium};

    #[test]
    fn median_takes_the_higher_of_two_neighbours() {
        for (given, median) in [
            (&[High][..], High),
            (&[Medium, High], High),
            (&[Low, Critical], High),
            (&[Critical, Medium], High),
            (&[Low, Low, Critical], Low),
            (&[Low, Medium, High, Critical], High),
        ] {
            assert_eq!(
                Severity::median(&mut given.to_vec()),
                Some(median),
                "{given:?}"
            );
        }
        assert_eq!(Severity::median(&mut []), None);
    }

    #[test]
    fn numbers_outside_of_their_scale_are_refused() {
        for bad in [-1, 101, 255, 256, i64::MAX, i64::MIN] {
            assert!(Confidence::new(bad).is_err(), "{bad}");
            assert!(serde_json::from_str::<Confidence>(&bad.to_string()).is_err());
        }
        for bad in [-31, 31, 128, -129, i64::MIN] {
            assert!(Adjustment::new(bad).is_err(), "{bad}");
        }
        assert_eq!(Confidence::new(100).map(Confidence::get), Ok(100));
        assert_eq!(Adjustment::new(-30).map(Adjustment::get), Ok(-30));
        assert_eq!(
            Confidence::new(101).unwrap_err().to_string(),
            "101 is no confidence: it must lie between 0 and 100"
        );
    }

    #[test]
    fn severity_words_match_whole_and_without_regard_to_case() {
        assert_eq!("HIGH".parse(), Ok(High));
        assert!("highest".parse::<Severity>().is_err());
        assert_eq!(Critical.lowered(), High);
        assert_eq!(Low.lowered(), Low);
        assert_eq!(Critical.distance(Low), 3);
    }
}
