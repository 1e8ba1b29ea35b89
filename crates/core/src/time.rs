//! Points in time as the ledger keeps them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A day in UTC, which knows no daylight saving.
const MILLIS_PER_DAY: i64 = 86_400_000;

/// A moment as whole milliseconds since 1970-01-01 UTC.
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
#[serde(transparent)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// Returns the moment `millis` milliseconds later; it never wraps.
    #[must_use]
    pub fn plus_millis(self, millis: u64) -> Self {
        Self(
            self.0
                .saturating_add(i64::try_from(millis).unwrap_or(i64::MAX)),
        )
    }

    /// Returns the milliseconds from `earlier` to this moment, zero when `earlier` is later.
    #[must_use]
    pub fn millis_since(self, earlier: Self) -> u64 {
        u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0)
    }

    /// Returns the whole days from `earlier` to this moment, zero when `earlier` is later.
    #[must_use]
    pub fn days_since(self, earlier: Self) -> u64 {
        self.millis_since(earlier) / MILLIS_PER_DAY.unsigned_abs()
    }

    /// Returns the moment so many whole days earlier; it never wraps.
    #[must_use]
    pub fn minus_days(self, days: u32) -> Self {
        Self(self.0.saturating_sub(i64::from(days) * MILLIS_PER_DAY))
    }

    /// Returns the moment so many whole days later; it never wraps.
    #[must_use]
    pub fn plus_days(self, days: u32) -> Self {
        Self(self.0.saturating_add(i64::from(days) * MILLIS_PER_DAY))
    }

    /// Returns the first moment of a date in UTC, written as `2026-01-15`; nothing if there is no
    /// such day.
    #[must_use]
    pub fn from_date(text: &str) -> Option<Self> {
        let digits = |part: &str, length: usize| {
            let is_number = part.len() == length && part.bytes().all(|b| b.is_ascii_digit());
            is_number.then(|| part.parse::<i64>().ok()).flatten()
        };
        let mut parts = text.split('-');
        let year = digits(parts.next()?, 4)?;
        let month = digits(parts.next()?, 2)?;
        let day = digits(parts.next()?, 2)?;
        // As in `date`, a year begins in March.
        let year_from_march = year - i64::from(month <= 2);
        let (era, year_of_era) = (
            year_from_march.div_euclid(400),
            year_from_march.rem_euclid(400),
        );
        let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
        let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
        let days = era * 146_097 + day_of_era - 719_468;
        let moment = Self(days * MILLIS_PER_DAY);
        // What is not a day of the calendar comes back as another one.
        (parts.next().is_none() && moment.date() == text).then_some(moment)
    }

    /// Returns the date in UTC: `2026-01-15`.
    #[must_use]
    pub fn date(self) -> String {
        // Counted in eras of 400 years that begin in March, so that leap days come last.
        let days = self.0.div_euclid(MILLIS_PER_DAY) + 719_468;
        let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
        let year_of_era =
            (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month_from_march = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
        let month = (month_from_march + 2) % 12 + 1;
        let year = era * 400 + year_of_era + i64::from(month <= 2);
        format!("{year:04}-{month:02}-{day:02}")
    }

    /// Returns hour and minute in UTC: `14:30`.
    #[must_use]
    pub fn time_of_day(self) -> String {
        let minutes = self.0.rem_euclid(MILLIS_PER_DAY) / 60_000;
        format!("{:02}:{:02}", minutes / 60, minutes % 60)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_written_in_utc() {
        for (millis, expected) in [
            (0, "1970-01-01 00:00"),
            (1_705_329_000_000, "2024-01-15 14:30"),
            (1_709_164_800_000, "2024-02-29 00:00"),
            (1_735_689_599_999, "2024-12-31 23:59"),
            (-1, "1969-12-31 23:59"),
            (951_782_400_000, "2000-02-29 00:00"),
            (4_107_542_400_000, "2100-03-01 00:00"),
        ] {
            let at = Timestamp(millis);
            assert_eq!(format!("{} {}", at.date(), at.time_of_day()), expected);
        }
    }

    #[test]
    fn dates_are_read_as_they_are_written() {
        for text in [
            "1970-01-01",
            "2024-02-29",
            "2026-11-16",
            "2100-03-01",
            "1969-12-31",
            "0001-01-01",
        ] {
            let at = Timestamp::from_date(text).expect("a day of the calendar");
            assert_eq!(at.date(), text);
            assert_eq!(at.time_of_day(), "00:00");
            assert_eq!(at.plus_days(1).days_since(at), 1);
        }
        for text in [
            "",
            "2026",
            "2026-1-1",
            "2026-13-01",
            "2026-00-10",
            "2026-02-29",
            "2026-04-31",
            "2026-01-00",
            "2026-01-15-1",
            "2026-01-15T00:00",
            "+026-01-15",
            "26-01-15",
            "２０２６-01-15",
        ] {
            assert_eq!(Timestamp::from_date(text), None, "{text}");
        }
        assert_eq!(Timestamp(i64::MAX).plus_days(1), Timestamp(i64::MAX));
    }

    #[test]
    fn days_are_whole() {
        let day = MILLIS_PER_DAY;
        for (now, then, days) in [(0, 0, 0), (day - 1, 0, 0), (7 * day, 0, 7), (0, day, 0)] {
            assert_eq!(Timestamp(now).days_since(Timestamp(then)), days);
        }
        assert_eq!(Timestamp(7 * day + 1).minus_days(7), Timestamp(1));
        assert_eq!(Timestamp(i64::MIN).minus_days(1), Timestamp(i64::MIN));
    }
}
