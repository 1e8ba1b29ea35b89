//! A share with its interval, in whole thousandths.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The square of 1.96, for an interval that holds nineteen times out of twenty, times [`SCALE`].
const Z_SQUARED: u128 = 38_416;

const SCALE: u128 = 10_000;

/// So many of so many, and between which shares the true one lies (Wilson, 95 %).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Share {
    /// How many.
    pub count: u32,
    /// Of how many.
    pub of: u32,
    /// The share in thousandths; nothing when there is nothing to share.
    pub permille: Option<u32>,
    /// The lower end of the interval in thousandths.
    pub low: Option<u32>,
    /// The upper end of the interval in thousandths.
    pub high: Option<u32>,
}

impl Share {
    /// Returns the share of `count` among `of`.
    #[must_use]
    pub fn new(count: u32, of: u32) -> Self {
        let count = count.min(of);
        if of == 0 {
            return Self::default();
        }
        let (low, high) = interval(count, of);
        let share = (u128::from(count) * 1000 + u128::from(of) / 2) / u128::from(of);
        Self {
            count,
            of,
            permille: Some(to_permille(share)),
            low: Some(low),
            high: Some(high),
        }
    }
}

/// Returns both ends of the interval, rounded outwards.
fn interval(count: u32, of: u32) -> (u32, u32) {
    let (k, n) = (u128::from(count), u128::from(of));
    // (2k + z² ± √(z²·(z² + 4k(n−k)/n))) / 2(n + z²), everything times the scale.
    let middle = 2 * k * SCALE + Z_SQUARED;
    let under_root = Z_SQUARED * Z_SQUARED + Z_SQUARED * SCALE * 4 * k * (n - k) / n;
    let reach = under_root.isqrt();
    let below = 2 * (n * SCALE + Z_SQUARED);
    let low = middle.saturating_sub(reach + 1) * 1000 / below;
    let high = ((middle + reach + 1) * 1000).div_ceil(below);
    let low = if count == 0 { 0 } else { to_permille(low) };
    let high = if count == of { 1000 } else { to_permille(high) };
    (low, high)
}

fn to_permille(value: u128) -> u32 {
    u32::try_from(value.min(1000)).unwrap_or(1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_have_the_intervals_of_wilson() {
        // Compared with the closed formula in floating point.
        for (count, of, permille, low, high) in [
            (8, 10, 800, 490, 944),
            (0, 10, 0, 0, 278),
            (10, 10, 1000, 722, 1000),
            (1, 2, 500, 94, 906),
            (50, 100, 500, 403, 597),
            (1, 1, 1000, 206, 1000),
            (999, 1000, 999, 994, 1000),
        ] {
            let share = Share::new(count, of);
            assert_eq!(share.permille, Some(permille), "{count} of {of}");
            assert_eq!(
                (share.low, share.high),
                (Some(low), Some(high)),
                "{count} of {of}"
            );
        }
        assert_eq!(Share::new(0, 0).permille, None);
    }

    #[test]
    fn an_interval_holds_its_share_and_shrinks_with_more_of_the_same() {
        for of in 1..200 {
            for count in 0..=of {
                let one = Share::new(count, of);
                let ten = Share::new(count * 10, of * 10);
                let width = |share: Share| share.high.unwrap() - share.low.unwrap();
                assert!(
                    one.low <= one.permille && one.permille <= one.high,
                    "{one:?}"
                );
                assert!(width(ten) <= width(one), "{one:?} {ten:?}");
            }
        }
    }
}
