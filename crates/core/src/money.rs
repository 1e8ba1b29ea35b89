//! Tokens and money. An unknown cost is unknown, never zero.

use std::fmt;
use std::ops::{Add, AddAssign};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Tokens used by one or more runs, in disjoint parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Usage {
    /// Input tokens that came from no cache.
    pub input: u64,
    /// Input tokens read from a cache.
    pub cache_read: u64,
    /// Input tokens written to a cache.
    pub cache_write: u64,
    /// Tokens the model wrote, reasoning included.
    pub output: u64,
}

impl Usage {
    /// Returns all tokens together.
    #[must_use]
    pub fn total(self) -> u64 {
        [self.input, self.cache_read, self.cache_write, self.output]
            .into_iter()
            .fold(0, u64::saturating_add)
    }
}

impl Add for Usage {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            input: self.input.saturating_add(other.input),
            cache_read: self.cache_read.saturating_add(other.cache_read),
            cache_write: self.cache_write.saturating_add(other.cache_write),
            output: self.output.saturating_add(other.output),
        }
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

/// An amount of money in millionths of a US dollar.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct MicroUsd(pub u64);

impl MicroUsd {
    /// Returns the amount for `dollars`, or nothing when it is negative or not a number.
    #[must_use]
    pub fn from_dollars(dollars: f64) -> Option<Self> {
        let micros = (dollars * 1_000_000.0).round();
        // The bound keeps the conversion exact: every integer below 2^53 is a float.
        if !micros.is_finite() || !(0.0..=9_007_199_254_740_992.0).contains(&micros) {
            return None;
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the range was checked above"
        )]
        Some(Self(micros as u64))
    }
}

impl Add for MicroUsd {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl fmt::Display for MicroUsd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (dollars, micros) = (self.0 / 1_000_000, self.0 % 1_000_000);
        if micros % 10_000 == 0 {
            write!(f, "${dollars}.{:02}", micros / 10_000)
        } else {
            write!(f, "${dollars}.{:04}", micros / 100)
        }
    }
}

/// What a run cost, if anybody knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Cost {
    /// Neither the agent nor a configured price tells.
    #[default]
    Unknown,
    /// Reported by the agent, or computed from its price.
    Known(MicroUsd),
}

impl Cost {
    /// Tells whether nobody knows it.
    #[must_use]
    pub fn is_unknown(&self) -> bool {
        *self == Self::Unknown
    }
}

impl Add for Cost {
    type Output = Self;

    /// Adds two costs; what is not known stays so.
    fn add(self, other: Self) -> Self {
        match (self, other) {
            (Self::Known(one), Self::Known(other)) => Self::Known(one + other),
            (Self::Unknown, _) | (_, Self::Unknown) => Self::Unknown,
        }
    }
}

/// What agents charge for a million tokens, in millionths of a dollar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Price {
    /// Fresh input tokens, and cached ones that have no price of their own.
    pub input: MicroUsd,
    /// Input tokens read from a cache.
    pub cache_read: MicroUsd,
    /// Input tokens written to a cache.
    pub cache_write: MicroUsd,
    /// Output tokens.
    pub output: MicroUsd,
}

impl Price {
    /// Returns the cost of `usage`, rounded up to a whole millionth of a dollar.
    #[must_use]
    pub fn of(&self, usage: Usage) -> MicroUsd {
        let parts = [
            (self.input, usage.input),
            (self.cache_read, usage.cache_read),
            (self.cache_write, usage.cache_write),
            (self.output, usage.output),
        ];
        let total: u128 = parts
            .into_iter()
            .map(|(price, tokens)| u128::from(price.0) * u128::from(tokens))
            .sum();
        MicroUsd(u64::try_from(total.div_ceil(1_000_000)).unwrap_or(u64::MAX))
    }
}

/// What has been spent: known money, tokens, and how many runs hide their cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Spend {
    /// Sum of all known costs.
    pub known: MicroUsd,
    /// Number of runs whose cost nobody knows.
    pub unknown_runs: u64,
    /// Number of all runs.
    pub runs: u64,
    /// Tokens of all runs.
    pub usage: Usage,
}

impl Spend {
    /// Counts one more run.
    pub fn count(&mut self, usage: Usage, cost: Cost) {
        self.runs += 1;
        self.usage += usage;
        match cost {
            Cost::Known(amount) => self.known = self.known + amount,
            Cost::Unknown => self.unknown_runs += 1,
        }
    }

    /// Returns the amount a cap is compared with: each run of unknown cost counts as `assumed`.
    #[must_use]
    pub fn against_cap(&self, assumed: MicroUsd) -> MicroUsd {
        self.known + MicroUsd(assumed.0.saturating_mul(self.unknown_runs))
    }
}

impl Add for Spend {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            known: self.known + other.known,
            unknown_runs: self.unknown_runs.saturating_add(other.unknown_runs),
            runs: self.runs.saturating_add(other.runs),
            usage: self.usage + other.usage,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_prints_cents_unless_smaller_parts_matter() {
        for (micros, text) in [
            (0, "$0.00"),
            (1_500_000, "$1.50"),
            (7_060, "$0.0070"),
            (12_345_678, "$12.3456"),
        ] {
            assert_eq!(MicroUsd(micros).to_string(), text);
        }
    }

    #[test]
    fn a_sum_with_something_unknown_is_unknown() {
        let known = Cost::Known(MicroUsd(2));
        assert_eq!(known + known, Cost::Known(MicroUsd(4)));
        assert_eq!(known + Cost::Unknown, Cost::Unknown);
        assert_eq!(Cost::Unknown + known, Cost::Unknown);
    }

    #[test]
    fn dollars_outside_the_range_are_refused() {
        assert_eq!(MicroUsd::from_dollars(0.5), Some(MicroUsd(500_000)));
        for bad in [-0.1, f64::NAN, f64::INFINITY, 1e300] {
            assert_eq!(MicroUsd::from_dollars(bad), None);
        }
    }

    #[test]
    fn a_run_of_unknown_cost_counts_against_a_cap() {
        let mut spend = Spend::default();
        spend.count(Usage::default(), Cost::Known(MicroUsd(100)));
        spend.count(Usage::default(), Cost::Unknown);
        assert_eq!(spend.against_cap(MicroUsd(50)), MicroUsd(150));
        assert_eq!(spend.known, MicroUsd(100));
    }

    #[test]
    fn price_rounds_up_and_never_overflows() {
        let price = Price {
            input: MicroUsd(3_000_000),
            ..Price::default()
        };
        assert_eq!(
            price.of(Usage {
                input: 1,
                ..Usage::default()
            }),
            MicroUsd(3)
        );
        let huge = Usage {
            input: u64::MAX,
            ..Usage::default()
        };
        assert!(price.of(huge).0 > 0);
    }
}
