//! How far an average would move if other judges like these were asked.

use super::points::{divide, root};
use super::weights::Weights;

/// Student's t for 95 % on both sides, in thousandths, by degrees of freedom up to thirty.
const STUDENT: [i128; 30] = [
    12_706, 4_303, 3_182, 2_776, 2_571, 2_447, 2_365, 2_306, 2_262, 2_228, 2_201, 2_179, 2_160,
    2_145, 2_131, 2_120, 2_110, 2_101, 2_093, 2_086, 2_080, 2_074, 2_069, 2_064, 2_060, 2_056,
    2_052, 2_048, 2_045, 2_042,
];

/// The same for more.
const NORMAL: i128 = 1_960;

/// Fewer voices than this say nothing about how far others would be from them.
pub(super) const FEWEST_VOICES: usize = 4;

/// Returns the standard error of the weighted mean in the unit of `values`; nothing when too few
/// voices decide it.
pub(super) fn error(values: &[i128], weights: &Weights) -> Option<i128> {
    let (_, voices) = weights.heard();
    if voices < FEWEST_VOICES {
        return None;
    }
    let freedom = weights.voices() - 1000;
    if freedom <= 0 {
        return None;
    }
    let variance = weights.variance(values);
    Some(root(divide(variance * 1000, freedom)))
}

/// Returns the bounds between which the mean lies with 95 % certainty.
pub(super) fn interval(mean: i128, error: Option<i128>, weights: &Weights) -> Option<(i128, i128)> {
    let freedom = usize::try_from((weights.voices() - 1000) / 1000).unwrap_or(0);
    let student = match freedom {
        0 => STUDENT[0],
        some => STUDENT.get(some - 1).copied().unwrap_or(NORMAL),
    };
    let reach = divide(error? * student, 1000);
    Some((mean - reach, mean + reach))
}

/// Returns by how much each judge puts `first` above `second`.
pub(super) fn differences(rows: &[Vec<i128>], first: usize, second: usize) -> Vec<i128> {
    rows.iter().map(|row| row[first] - row[second]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_of_a_mean_is_the_textbooks() {
        // 2, 4, 4, 4, 5, 5, 7, 9: mean 5, sample deviation 2.138, error 0.756, ± 1.788.
        let values = [2, 4, 4, 4, 5, 5, 7, 9].map(|value| value * 1_000_000);
        let weights = Weights {
            each: vec![7; 8],
            by_record: false,
            voice: (0..8).collect(),
        };
        let error = error(&values, &weights);
        assert_eq!(error, Some(755_928));
        assert_eq!(
            interval(5_000_000, error, &weights),
            Some((3_212_230, 6_787_770))
        );
    }

    #[test]
    fn one_judge_alone_has_no_error() {
        let weights = Weights {
            each: vec![5, 0],
            by_record: true,
            voice: vec![0, 1],
        };
        assert_eq!(error(&[1, 9], &weights), None);
    }

    #[test]
    fn the_error_of_families_is_that_of_their_means() {
        let of = |voice: Vec<usize>| Weights {
            each: vec![1; voice.len()],
            by_record: false,
            voice,
        };
        let four = of(vec![0, 1, 2, 3]);
        let doubled = of(vec![0, 0, 1, 1, 2, 2, 3, 3]);
        let millions = |values: &[i128]| -> Vec<i128> {
            values.iter().map(|value| value * 1_000_000).collect()
        };
        let means = millions(&[4, 10, 4, 10]);
        for values in [[4, 4, 10, 10, 4, 4, 10, 10], [3, 5, 9, 11, 3, 5, 9, 11]] {
            let found = error(&millions(&values), &doubled);
            assert!(found.is_some());
            assert_eq!(found, error(&means, &four));
        }
    }

    #[test]
    fn fewer_than_four_voices_have_no_error() {
        let of = |voice: Vec<usize>| Weights {
            each: vec![1; voice.len()],
            by_record: false,
            voice,
        };
        for voices in [vec![0], vec![0, 1], vec![0, 1, 2], vec![0, 1, 2, 0, 1]] {
            let values: Vec<i128> = (0..voices.len()).map(|value| value as i128).collect();
            assert_eq!(error(&values, &of(voices)), None);
        }
    }
}
