//! What a person adds to a ruling: on what ground, until when, under which name.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::time::Timestamp;
use crate::word::shown_as_word;

/// The longest time for which a ruling can be limited, in days.
const MOST_DAYS: u32 = 36_500;

/// On what ground a finding was dismissed.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// What it claims is not a defect.
    #[default]
    NotADefect,
    /// What it claims is true, and somebody accepts the risk.
    RiskAccepted,
}

impl Basis {
    /// Returns the word used in files and in the ledger.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NotADefect => "not_a_defect",
            Self::RiskAccepted => "risk_accepted",
        }
    }

    /// Returns what happened to the finding: `dismissed` or `risk accepted`.
    #[must_use]
    pub fn phrase(self) -> &'static str {
        match self {
            Self::NotADefect => "dismissed",
            Self::RiskAccepted => "risk accepted",
        }
    }

    #[expect(
        clippy::trivially_copy_pass_by_ref,
        reason = "serde asks with a reference"
    )]
    fn is_usual(&self) -> bool {
        *self == Self::NotADefect
    }
}

shown_as_word!(Basis);

/// What a person adds to a ruling. Judges, and rulings of version 0.1.0, add nothing.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Terms {
    /// On what ground the finding was dismissed.
    #[serde(default, skip_serializing_if = "Basis::is_usual")]
    pub basis: Basis,
    /// From when on it does not hold any more; nothing when that was not limited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<Timestamp>,
    /// The name of the person; empty when it is not known.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub person: String,
}

impl Terms {
    /// Tells whether the ruling does not hold any more.
    #[must_use]
    pub fn has_expired(&self, now: Timestamp) -> bool {
        self.expires.is_some_and(|expires| expires <= now)
    }

    /// Returns the last day on which it holds, as part of a sentence: ` until 2026-12-31`.
    #[must_use]
    pub fn until(&self) -> String {
        match self.expires {
            Some(expires) => format!(" until {}", last_day(expires)),
            None => String::new(),
        }
    }

    /// Returns whose word it is, as part of a sentence: ` by Ann`.
    #[must_use]
    pub fn by(&self) -> String {
        match self.person.as_str() {
            "" => String::new(),
            name => format!(" by {name}"),
        }
    }
}

/// Returns the last day before the moment at which something ends.
#[must_use]
pub fn last_day(expires: Timestamp) -> String {
    Timestamp(expires.0.saturating_sub(1)).date()
}

/// Reads until when something holds: its last day, as a date such as `2026-12-31` or as a number of
/// days or weeks from now, such as `30d` or `4w`. Returns the moment at which that day is over, in
/// UTC.
///
/// # Errors
///
/// It is neither, the day is over, or it is too far away; the text says which.
pub fn read_expiry(text: &str, now: Timestamp) -> Result<Timestamp, String> {
    let text = text.trim();
    let last = match Timestamp::from_date(text) {
        Some(day) => day,
        None => {
            let days = in_days(text).ok_or_else(|| {
                format!("`{text}` is neither a date such as `2026-12-31` nor a time such as `30d`")
            })?;
            now.plus_days(days)
        }
    };
    let today = now.date();
    let day = last.date();
    let expires = Timestamp::from_date(&day).map(|day| day.plus_days(1));
    match expires {
        Some(expires) if expires <= now => Err(format!("{day} is in the past; today is {today}")),
        Some(expires) if expires <= now.plus_days(MOST_DAYS) => Ok(expires),
        _ => Err(format!("`{text}` is more than 100 years away")),
    }
}

/// Reads `30d` or `4w`.
fn in_days(text: &str) -> Option<u32> {
    let (number, days) = match text.strip_suffix('d') {
        Some(number) => (number, 1),
        None => (text.strip_suffix('w')?, 7),
    };
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    let number: u32 = number.parse().ok().filter(|_| is_number)?;
    Some(number.saturating_mul(days).min(MOST_DAYS + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-11-16 12:00 UTC.
    const NOW: Timestamp = Timestamp(1_794_830_400_000);

    #[test]
    fn the_last_day_counts_whole_and_is_never_in_the_past() {
        assert_eq!(NOW.date(), "2026-11-16");
        for (text, expected) in [
            ("2026-12-31", Ok("2026-12-31")),
            (" 2026-11-16 ", Ok("2026-11-16")),
            (
                "2026-11-15",
                Err("2026-11-15 is in the past; today is 2026-11-16"),
            ),
            (
                "1969-01-01",
                Err("1969-01-01 is in the past; today is 2026-11-16"),
            ),
            ("30d", Ok("2026-12-16")),
            ("1d", Ok("2026-11-17")),
            ("0d", Ok("2026-11-16")),
            ("2w", Ok("2026-11-30")),
            (
                "9999-12-31",
                Err("`9999-12-31` is more than 100 years away"),
            ),
            (
                "4294967295d",
                Err("`4294967295d` is more than 100 years away"),
            ),
            (
                "2026-02-30",
                Err("`2026-02-30` is neither a date such as `2026-12-31` nor a time such as `30d`"),
            ),
            (
                "d",
                Err("`d` is neither a date such as `2026-12-31` nor a time such as `30d`"),
            ),
            (
                "+3d",
                Err("`+3d` is neither a date such as `2026-12-31` nor a time such as `30d`"),
            ),
            (
                "-3d",
                Err("`-3d` is neither a date such as `2026-12-31` nor a time such as `30d`"),
            ),
            (
                "soon",
                Err("`soon` is neither a date such as `2026-12-31` nor a time such as `30d`"),
            ),
            (
                "",
                Err("`` is neither a date such as `2026-12-31` nor a time such as `30d`"),
            ),
        ] {
            let read = read_expiry(text, NOW);
            if let Ok(expires) = read {
                assert!(expires > NOW, "{text}");
                assert_eq!(expires.0 % 86_400_000, 0, "{text}");
            }
            let read = read.map(last_day);
            assert_eq!(read.as_deref().map_err(String::as_str), expected, "{text}");
        }
    }

    #[test]
    fn terms_hold_up_to_the_end_of_their_last_day() {
        let day = Timestamp::from_date("2026-12-31").unwrap_or_default();
        let terms = Terms {
            basis: Basis::RiskAccepted,
            expires: Some(day.plus_days(1)),
            person: "Ann".to_owned(),
        };
        assert_eq!(
            (terms.until(), terms.by()),
            (" until 2026-12-31".to_owned(), " by Ann".to_owned())
        );
        assert!(!terms.has_expired(Timestamp(day.plus_days(1).0 - 1)));
        assert!(terms.has_expired(day.plus_days(1)));
        assert!(!Terms::default().has_expired(Timestamp(i64::MAX)));
        assert_eq!(serde_json::json!(Terms::default()), serde_json::json!({}));
    }
}
