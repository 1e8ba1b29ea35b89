//! The small typed values that settings are made of: durations, sizes, money, command lines.

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use tribunal_core::money::MicroUsd;

/// A length of time, written as `30s`, `5m`, `1h30m`, `500ms` or a whole number of seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Span(pub Duration);

/// What a duration must look like, as part of a sentence.
const SPAN_RULE: &str = "a duration such as `30s`, `5m` or `1h30m`, or a whole number of seconds";

/// No configured duration is longer: a thousand years would overflow deadlines.
const LONGEST_SPAN: Duration = Duration::from_secs(366 * 24 * 3_600);

impl Span {
    /// Returns the span of `seconds`.
    #[must_use]
    pub const fn from_secs(seconds: u64) -> Self {
        Self(Duration::from_secs(seconds))
    }

    /// Reads the written form; nothing when it breaks the rule or is longer than a year.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut rest = text.trim();
        if rest.is_empty() {
            return None;
        }
        if let Ok(seconds) = rest.parse() {
            return Self::within_a_year(Duration::from_secs(seconds));
        }
        let mut total = Duration::ZERO;
        let mut previous_unit = Duration::MAX;
        while !rest.is_empty() {
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            let (number, after) = rest.split_at_checked(digits)?;
            let letters = after.bytes().take_while(u8::is_ascii_alphabetic).count();
            let (unit, after) = after.split_at_checked(letters)?;
            let unit = match unit {
                "ms" => Duration::from_millis(1),
                "s" => Duration::from_secs(1),
                "m" => Duration::from_secs(60),
                "h" => Duration::from_secs(3_600),
                "d" => Duration::from_secs(24 * 3_600),
                _ => return None,
            };
            // `5s1h` and `1m1m` are more likely slips than wishes.
            if unit >= previous_unit {
                return None;
            }
            previous_unit = unit;
            total = total.checked_add(unit.checked_mul(number.parse().ok()?)?)?;
            rest = after.trim_start();
        }
        Self::within_a_year(total)
    }

    fn within_a_year(duration: Duration) -> Option<Self> {
        (duration <= LONGEST_SPAN).then_some(Self(duration))
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (mut seconds, millis) = (self.0.as_secs(), self.0.subsec_millis());
        if seconds == 0 && millis == 0 {
            return f.write_str("0s");
        }
        for (unit, length) in [("d", 24 * 3_600), ("h", 3_600), ("m", 60), ("s", 1)] {
            if seconds >= length {
                write!(f, "{}{unit}", seconds / length)?;
                seconds %= length;
            }
        }
        if millis > 0 {
            write!(f, "{millis}ms")?;
        }
        Ok(())
    }
}

/// A number of bytes, written as `64MiB`, `500KiB`, `2GB` or a whole number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Size(pub u64);

/// What a size must look like, as part of a sentence.
const SIZE_RULE: &str = "a size such as `64MiB` or `500KB`, or a whole number of bytes";

/// Units of a size; the first that divides it is used for printing.
const SIZE_UNITS: [(&str, u64); 7] = [
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
    ("GB", 1_000_000_000),
    ("MB", 1_000_000),
    ("KB", 1_000),
    ("B", 1),
];

impl Size {
    /// Reads the written form; nothing when it breaks the rule.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let (number, unit) = text.split_at_checked(digits)?;
        let unit = unit.trim();
        let factor = if unit.is_empty() {
            1
        } else {
            let same = |(name, _): &&(&str, u64)| name.eq_ignore_ascii_case(unit);
            SIZE_UNITS.iter().find(same)?.1
        };
        number.parse::<u64>().ok()?.checked_mul(factor).map(Self)
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fits = |(_, factor): &&(&str, u64)| self.0 >= *factor && self.0.is_multiple_of(*factor);
        match SIZE_UNITS.iter().find(fits) {
            Some((unit, factor)) => write!(f, "{}{unit}", self.0 / factor),
            None => write!(f, "{}B", self.0),
        }
    }
}

/// An amount of money in US dollars, written as a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Usd(pub MicroUsd);

/// What an amount must look like, as part of a sentence.
const USD_RULE: &str = "an amount in US dollars such as `2.50`";

impl Usd {
    /// Returns the amount of whole `cents`.
    #[must_use]
    pub const fn from_cents(cents: u64) -> Self {
        Self(MicroUsd(cents * 10_000))
    }

    /// Reads the written form; nothing when it is no amount.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let number = text.trim().trim_start_matches('$');
        MicroUsd::from_dollars(number.parse().ok()?).map(Self)
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "amounts are below 2^53 millionths, where every integer is a float"
    )]
    fn dollars(self) -> f64 {
        self.0.0 as f64 / 1_000_000.0
    }
}

impl fmt::Display for Usd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.dollars())
    }
}

/// Reads a whole number. What is none is refused with the range; the range itself is checked with
/// those of all other keys.
pub(super) fn whole_number<'de, const LEAST: u32, const MOST: u32, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<u32, D::Error> {
    struct Ranged<const LEAST: u32, const MOST: u32>;

    impl<const LEAST: u32, const MOST: u32> Visitor<'_> for Ranged<LEAST, MOST> {
        type Value = u32;

        fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(formatter, "a whole number from {LEAST} to {MOST}")
        }

        fn visit_u64<E: de::Error>(self, number: u64) -> Result<u32, E> {
            let found = Unexpected::Unsigned(number);
            u32::try_from(number).map_err(|_| E::invalid_value(found, &self))
        }

        fn visit_i64<E: de::Error>(self, number: i64) -> Result<u32, E> {
            let found = Unexpected::Signed(number);
            u32::try_from(number).map_err(|_| E::invalid_value(found, &self))
        }
    }

    deserializer.deserialize_u32(Ranged::<LEAST, MOST>)
}

/// A sampling temperature from 0 to 2, kept in thousandths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Temperature(pub u32);

/// What a temperature must look like, as part of a sentence.
const TEMPERATURE_RULE: &str = "a number from 0 to 2";

impl Temperature {
    fn from_number(number: f64) -> Option<Self> {
        if !(0.0..=2.0).contains(&number) {
            return None;
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the range was checked above"
        )]
        Some(Self((number * 1_000.0).round() as u32))
    }
}

impl fmt::Display for Temperature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", f64::from(self.0) / 1_000.0)
    }
}

/// Implements reading from text or number, and the schema, for a value with a written form.
macro_rules! written_value {
    ($type:ident, $rule:ident, text: $text:expr, whole: $whole:expr, number: $number:expr,
     serialize: $serialize:expr, schema: $schema:tt) => {
        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct ValueVisitor;
                impl Visitor<'_> for ValueVisitor {
                    type Value = $type;
                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str($rule)
                    }
                    fn visit_str<E: de::Error>(self, text: &str) -> Result<$type, E> {
                        let read: fn(&str) -> Option<$type> = $text;
                        read(text).ok_or_else(|| E::invalid_value(Unexpected::Str(text), &self))
                    }
                    fn visit_u64<E: de::Error>(self, number: u64) -> Result<$type, E> {
                        let read: fn(u64) -> Option<$type> = $whole;
                        read(number)
                            .ok_or_else(|| E::invalid_value(Unexpected::Unsigned(number), &self))
                    }
                    fn visit_f64<E: de::Error>(self, number: f64) -> Result<$type, E> {
                        let read: fn(f64) -> Option<$type> = $number;
                        read(number)
                            .ok_or_else(|| E::invalid_value(Unexpected::Float(number), &self))
                    }
                }
                deserializer.deserialize_any(ValueVisitor)
            }
        }

        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let write: fn(&Self, S) -> Result<S::Ok, S::Error> = $serialize;
                write(self, serializer)
            }
        }

        impl JsonSchema for $type {
            fn inline_schema() -> bool {
                true
            }
            fn schema_name() -> Cow<'static, str> {
                stringify!($type).into()
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!($schema)
            }
        }
    };
}

written_value!(Span, SPAN_RULE,
    text: Span::parse,
    whole: |seconds| Span::within_a_year(Duration::from_secs(seconds)),
    number: |_| None,
    serialize: |span, serializer| serializer.collect_str(span),
    schema: { "title": "duration", "type": ["string", "integer"], "minimum": 0 });

written_value!(Size, SIZE_RULE,
    text: Size::parse,
    whole: |bytes| Some(Size(bytes)),
    number: |_| None,
    serialize: |size, serializer| serializer.collect_str(size),
    schema: { "title": "size", "type": ["string", "integer"], "minimum": 0 });

/// Serializes `20` rather than `20.0`.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "checked to be whole, positive and small"
)]
fn number<S: Serializer>(number: f64, serializer: S) -> Result<S::Ok, S::Error> {
    if number.fract() == 0.0 && (0.0..9e15).contains(&number) {
        serializer.serialize_u64(number as u64)
    } else {
        serializer.serialize_f64(number)
    }
}

#[expect(clippy::cast_precision_loss, reason = "amounts that large are refused")]
fn whole_dollars(dollars: u64) -> Option<Usd> {
    MicroUsd::from_dollars(dollars as f64).map(Usd)
}

written_value!(Usd, USD_RULE,
    text: Usd::parse,
    whole: whole_dollars,
    number: |dollars| MicroUsd::from_dollars(dollars).map(Usd),
    serialize: |amount, serializer| number(amount.dollars(), serializer),
    schema: { "title": "US dollars", "type": "number", "minimum": 0 });

written_value!(Temperature, TEMPERATURE_RULE,
    text: |text| Temperature::from_number(text.trim().parse().ok()?),
    whole: |whole| Temperature::from_number(f64::from(u32::try_from(whole).ok()?)),
    number: Temperature::from_number,
    serialize: |value, serializer| number(f64::from(value.0) / 1_000.0, serializer),
    schema: { "type": "number", "minimum": 0, "maximum": 2 });

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_and_printed_the_same_way() {
        for (text, printed) in [
            ("30s", "30s"),
            ("90", "1m30s"),
            ("1h30m", "1h30m"),
            ("1h 30m", "1h30m"),
            ("500ms", "500ms"),
            ("0", "0s"),
            ("2d", "2d"),
        ] {
            let span = Span::parse(text).unwrap_or_else(|| panic!("{text}"));
            assert_eq!(span.to_string(), printed);
            assert_eq!(Span::parse(printed), Some(span));
        }
    }

    #[test]
    fn bad_durations_are_refused() {
        for bad in [
            "",
            "s",
            "5x",
            "1m1m",
            "5s1h",
            "-3s",
            "1.5h",
            "999999999d",
            "5ｍ",
            "99999999999999999999s",
        ] {
            assert_eq!(Span::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn sizes_are_read_and_printed() {
        for (text, bytes, printed) in [
            ("64MiB", 64 << 20, "64MiB"),
            ("500KB", 500_000, "500KB"),
            ("17", 17, "17B"),
            ("0", 0, "0B"),
        ] {
            assert_eq!(Size::parse(text), Some(Size(bytes)));
            assert_eq!(Size(bytes).to_string(), printed);
        }
        for bad in ["", "MiB", "1.5MiB", "-1", "99999999999GiB"] {
            assert_eq!(Size::parse(bad), None, "{bad}");
        }
    }
}
