//! How far the judges agree, where one stands alone, and who follows the order of the answers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Points;
use super::points::{PART, divide};

/// How far judges agree beyond chance: Krippendorff's α for intervals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Agreement {
    /// 1 is perfect, 0 is chance, below it judges contradict each other.
    pub alpha: Points,
    /// How many scores it is made of. Of few it says little.
    pub n: u32,
}

/// Returns the agreement of scores by contestant, each a list with one score per judge who gave
/// one; nothing where there is nothing to compare, or no difference at all.
pub(super) fn agreement(units: &[Vec<i128>]) -> Option<Agreement> {
    let pairable = units.iter().filter(|scores| scores.len() > 1);
    let (mut all, mut observed): (Vec<i128>, i128) = (Vec::new(), 0);
    for scores in pairable {
        let others = i128::try_from(scores.len()).ok()? - 1;
        // Differences are taken in thousandths of a point, so that their squares have room.
        let scores: Vec<i128> = scores.iter().map(|score| divide(*score, 1000)).collect();
        observed += divide(1000 * squared_differences(&scores), others);
        all.extend(scores);
    }
    let n = i128::try_from(all.len()).ok()?;
    let expected = squared_differences(&all);
    if n < 2 || expected == 0 {
        return None;
    }
    // α = 1 − (observed / n) / (expected / (n (n − 1)))
    let disagreement = divide(observed * (n - 1) * (PART / 1000), expected);
    Some(Agreement {
        alpha: Points::of(PART - disagreement),
        n: u32::try_from(n).unwrap_or(u32::MAX),
    })
}

/// Returns the sum of the squared differences between all ordered pairs.
fn squared_differences(values: &[i128]) -> i128 {
    let count = i128::try_from(values.len()).unwrap_or(0);
    let sum: i128 = values.iter().sum();
    let squares: i128 = values.iter().map(|value| value * value).sum();
    2 * (count * squares - sum * sum)
}

/// Returns the middle value, between two their mean.
pub(super) fn middle(values: &mut [i128]) -> i128 {
    values.sort_unstable();
    match values.len() {
        0 => 0,
        odd if odd % 2 == 1 => values[odd / 2],
        even => divide(values[even / 2 - 1] + values[even / 2], 2),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alpha(units: &[&[i128]]) -> Option<(String, u32)> {
        let units: Vec<Vec<i128>> = units
            .iter()
            .map(|unit| unit.iter().map(|value| value * PART).collect())
            .collect();
        agreement(&units).map(|found| (found.alpha.to_string(), found.n))
    }

    #[test]
    fn alpha_of_krippendorffs_own_example() {
        // Four observers, twelve units, missing values: 0.849 for intervals.
        let units: &[&[i128]] = &[
            &[1, 1, 1],
            &[2, 2, 3, 2],
            &[3, 3, 3, 3],
            &[3, 3, 3, 3],
            &[2, 2, 2, 2],
            &[1, 2, 3, 4],
            &[4, 4, 4, 4],
            &[1, 1, 2, 1],
            &[2, 2, 2, 2],
            &[5, 5, 5],
            &[1, 1],
            &[3],
        ];
        assert_eq!(alpha(units), Some(("0.849107".to_owned(), 40)));
    }

    #[test]
    fn alpha_of_judges_who_agree_contradict_or_say_nothing() {
        assert_eq!(alpha(&[&[10, 10], &[90, 90]]), Some(("1".to_owned(), 4)));
        assert_eq!(alpha(&[&[10, 90], &[90, 10]]), Some(("-0.5".to_owned(), 4)));
        assert_eq!(alpha(&[&[50, 50], &[50, 50]]), None);
        assert_eq!(alpha(&[&[50], &[60]]), None);
    }
}
