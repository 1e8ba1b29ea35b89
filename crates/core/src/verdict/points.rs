//! Points from 0 to 100 as exact decimals, and the roots and logarithms that are made of them.
//!
//! A point has a million parts. Everything is computed in whole numbers, so that the same scores
//! give the same verdict on every machine.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Parts of one point.
pub(super) const PART: i128 = 1_000_000;

/// A score, a difference of scores, or a share of a hundred, to a millionth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Points(i64);

impl Points {
    /// Nothing.
    pub const ZERO: Self = Self(0);
    /// The best score.
    pub const FULL: Self = Self(100 * 1_000_000);

    /// Returns whole points.
    #[must_use]
    pub const fn whole(points: i32) -> Self {
        Self(points as i64 * 1_000_000)
    }

    /// Returns what lies in the middle of two.
    #[must_use]
    pub fn mean(one: Self, other: Self) -> Self {
        Self::of(divide(one.millionths() + other.millionths(), 2))
    }

    /// Returns the number of millionths, bounded.
    pub(super) fn of(millionths: i128) -> Self {
        let bounded = millionths.clamp(i128::from(i64::MIN), i128::from(i64::MAX));
        Self(i64::try_from(bounded).unwrap_or_default())
    }

    pub(super) fn millionths(self) -> i128 {
        i128::from(self.0)
    }

    /// Tells whether it is a score: from 0 to 100.
    #[must_use]
    pub(crate) fn is_score(self) -> bool {
        (Self::ZERO..=Self::FULL).contains(&self)
    }

    /// Returns the nearest number of thousandths; nothing is below zero.
    #[must_use]
    pub fn thousandths(self) -> u32 {
        u32::try_from(divide(self.millionths(), PART / 1000)).unwrap_or(0)
    }

    /// Returns the nearest whole number.
    #[must_use]
    pub fn rounded(self) -> i64 {
        i64::try_from(divide(self.millionths(), PART)).unwrap_or_default()
    }

    /// Returns the nearest tenth, as in `72.5`.
    #[must_use]
    pub fn tenths(self) -> String {
        self.to_places(1)
    }

    /// Returns the nearest hundredth, as in `0.67`.
    #[must_use]
    pub fn hundredths(self) -> String {
        self.to_places(2)
    }

    fn to_places(self, places: usize) -> String {
        let unit = 10_i128.pow(u32::try_from(places).unwrap_or(0));
        let rounded = divide(self.millionths() * unit, PART);
        let sign = if rounded < 0 { "-" } else { "" };
        let (rounded, unit) = (rounded.unsigned_abs(), unit.unsigned_abs());
        format!("{sign}{}.{:0places$}", rounded / unit, rounded % unit)
    }
}

impl std::ops::Sub for Points {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl fmt::Display for Points {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let (whole, part) = (
            self.0.unsigned_abs() / 1_000_000,
            self.0.unsigned_abs() % 1_000_000,
        );
        if part == 0 {
            return write!(f, "{sign}{whole}");
        }
        let part = format!("{part:06}");
        write!(f, "{sign}{whole}.{}", part.trim_end_matches('0'))
    }
}

impl FromStr for Points {
    type Err = &'static str;

    /// Reads a decimal. What is finer than a millionth is rounded to it.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const NO_NUMBER: &str = "it is no decimal number";
        let (sign, digits) = match text.strip_prefix('-') {
            Some(rest) => (-1, rest),
            None => (1, text),
        };
        let (whole, part) = digits.split_once('.').unwrap_or((digits, "0"));
        let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        if !is_digits(whole) || !is_digits(part) || whole.len() > 12 {
            return Err(NO_NUMBER);
        }
        let seven: String = part.chars().chain("0000000".chars()).take(7).collect();
        let whole: i128 = whole.parse().map_err(|_| NO_NUMBER)?;
        let seven: i128 = seven.parse().map_err(|_| NO_NUMBER)?;
        Ok(Self::of(sign * (whole * PART + divide(seven, 10))))
    }
}

impl Serialize for Points {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let number: serde_json::Number = self
            .to_string()
            .parse()
            .map_err(<S::Error as serde::ser::Error>::custom)?;
        number.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Points {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = serde_json::Number::deserialize(deserializer)?;
        number.to_string().parse().map_err(de::Error::custom)
    }
}

impl JsonSchema for Points {
    fn schema_name() -> Cow<'static, str> {
        "Points".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "number" })
    }
}

/// Divides and rounds to the nearest whole number, halves away from zero.
pub(super) fn divide(number: i128, by: i128) -> i128 {
    let half = by.abs() / 2;
    if number < 0 {
        (number - half) / by
    } else {
        (number + half) / by
    }
}

/// Returns the square root of a number of squared millionths, in millionths.
pub(super) fn root(squared: i128) -> i128 {
    squared.max(0).isqrt()
}

/// Returns the natural logarithm of `above / below` in millionths, right to one of them.
///
/// Both must be positive.
pub(super) fn log_ratio(above: i128, below: i128) -> i128 {
    /// The unit inside: a trillionth.
    const UNIT: i128 = 1_000_000_000_000;
    /// The logarithm of two.
    const LN_2: i128 = 693_147_180_560;
    debug_assert!(above > 0 && below > 0, "the logarithm of a positive ratio");
    let (mut above, mut below, mut halvings) = (above.max(1), below.max(1), 0_i128);
    while above >= 2 * below {
        below *= 2;
        halvings += 1;
    }
    while above < below {
        above *= 2;
        halvings -= 1;
    }
    // ln m = 2 (y + y³/3 + y⁵/5 + …) with y = (m − 1) / (m + 1), which is at most a third.
    let y = UNIT * (above - below) / (above + below);
    let square = y * y / UNIT;
    let (mut power, mut sum) = (y, 0);
    for odd in (1..40).step_by(2) {
        sum += power / odd;
        power = power * square / UNIT;
    }
    divide(2 * sum + halvings * LN_2, UNIT / PART)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_read_and_written_as_decimals() {
        for (text, expected) in [
            ("0", Ok("0")),
            ("72.50", Ok("72.5")),
            ("100.0", Ok("100")),
            ("33.3333333333", Ok("33.333333")),
            ("66.6666666666", Ok("66.666667")),
            ("-0.25", Ok("-0.25")),
            ("", Err("it is no decimal number")),
            ("1e3", Err("it is no decimal number")),
            ("+5", Err("it is no decimal number")),
            (".5", Err("it is no decimal number")),
            ("9999999999999", Err("it is no decimal number")),
        ] {
            let read = text.parse::<Points>().map(|points| points.to_string());
            assert_eq!(read.as_deref().map_err(|error| *error), expected, "{text}");
        }
        assert_eq!(Points(72_450_000).tenths(), "72.5");
        assert_eq!(Points(-40_000).tenths(), "0.0");
        assert_eq!(Points(-1_250_000).tenths(), "-1.3");
        assert_eq!(Points(849_107).hundredths(), "0.85");
        assert_eq!(Points(-20_000).hundredths(), "-0.02");
        assert_eq!(Points(-1_500_000).rounded(), -2);
    }

    #[test]
    fn logarithms_and_roots_are_right_to_a_millionth() {
        for (above, below, expected) in [
            (1, 1, 0),
            (2, 1, 693_147),
            (1, 2, -693_147),
            (10, 1, 2_302_585),
            (999, 1000, -1_001),
            (3, 1, 1_098_612),
            (1_000_000, 7, 11_869_600),
        ] {
            assert_eq!(log_ratio(above, below), expected, "ln {above}/{below}");
        }
        assert_eq!(root(2 * PART * PART), 1_414_213);
        assert_eq!(root(-4), 0);
        for (number, by, expected) in [(7, 2, 4), (-7, 2, -4), (7, -2, -4), (6, 4, 2), (5, 4, 1)] {
            assert_eq!(divide(number, by), expected, "{number}/{by}");
        }
    }
}
