//! Sets of line numbers, kept as ranges so that a huge change stays small.

/// A set of line numbers, counted from 1.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LineSet {
    /// First and last line of each range; in order, neither touching nor overlapping.
    ranges: Vec<(u32, u32)>,
}

impl LineSet {
    /// Returns the set of all given ranges, both ends included; line 0 is no line.
    pub(crate) fn from_ranges(ranges: impl IntoIterator<Item = (u32, u32)>) -> Self {
        let mut given: Vec<(u32, u32)> = ranges
            .into_iter()
            .map(|(first, last)| (first.max(1), last))
            .filter(|(first, last)| first <= last)
            .collect();
        given.sort_unstable();
        let mut merged: Vec<(u32, u32)> = Vec::with_capacity(given.len());
        for (first, last) in given {
            match merged.last_mut() {
                Some(open) if first <= open.1.saturating_add(1) => open.1 = open.1.max(last),
                _ => merged.push((first, last)),
            }
        }
        Self { ranges: merged }
    }

    /// Tells whether `line` is in the set.
    #[must_use]
    pub fn contains(&self, line: u32) -> bool {
        self.touches(line, line)
    }

    /// Tells whether any line from `first` to `last` is in the set.
    #[must_use]
    pub fn touches(&self, first: u32, last: u32) -> bool {
        let next = self.ranges.partition_point(|range| range.1 < first);
        self.ranges.get(next).is_some_and(|range| range.0 <= last)
    }

    /// Returns how many lines away the nearest line of the set is; 0 inside, nothing if empty.
    #[must_use]
    pub fn distance(&self, line: u32) -> Option<u32> {
        let next = self.ranges.partition_point(|range| range.1 < line);
        let after = self
            .ranges
            .get(next)
            .map(|range| range.0.saturating_sub(line));
        let before = next
            .checked_sub(1)
            .and_then(|index| self.ranges.get(index))
            .map(|range| line - range.1);
        after.into_iter().chain(before).min()
    }

    /// Returns the ranges, in order.
    #[must_use]
    pub fn ranges(&self) -> &[(u32, u32)] {
        &self.ranges
    }

    /// Tells whether the set has no line.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }
}

impl FromIterator<u32> for LineSet {
    fn from_iter<I: IntoIterator<Item = u32>>(lines: I) -> Self {
        Self::from_ranges(lines.into_iter().map(|line| (line, line)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_merged_and_asked() {
        let set = LineSet::from_ranges([(7, 9), (0, 2), (3, 3), (20, 10), (0, 0)]);
        assert_eq!(set.ranges(), [(1, 3), (7, 9)]);
        assert_eq!(set, [1, 2, 3, 7, 8, 9].into_iter().collect());
        let inside: Vec<u32> = (0..12).filter(|line| set.contains(*line)).collect();
        assert_eq!(inside, [1, 2, 3, 7, 8, 9]);
        assert!(set.touches(4, 7) && !set.touches(4, 6));
        let distances = [0, 2, 4, 5, 12, u32::MAX].map(|line| set.distance(line));
        assert_eq!(
            distances,
            [
                Some(1),
                Some(0),
                Some(1),
                Some(2),
                Some(3),
                Some(u32::MAX - 9)
            ]
        );
        assert_eq!(LineSet::default().distance(3), None);
    }
}
