//! Order and numbers for long lists: names become numbers, and nothing is moved that need not be.

use std::collections::{BTreeMap, BTreeSet};

use super::terms::hash_of_parts;

/// At most so many names are remembered by their hash; the others are looked up.
const MOST_REMEMBERED: usize = 1 << 12;

/// Names, numbered as they come.
pub(super) struct Numbers<'a> {
    known: BTreeMap<&'a str, u32>,
    names: Vec<&'a str>,
    /// The last number of each hash. What hashes alike is looked up each time, so that no input
    /// makes this slow.
    remembered: Vec<u32>,
}

impl<'a> Numbers<'a> {
    /// Returns an empty list made ready for about so many names.
    pub(super) fn for_names(expected: usize) -> Self {
        let size = expected.clamp(1, MOST_REMEMBERED).next_power_of_two();
        Self {
            known: BTreeMap::new(),
            names: Vec::new(),
            remembered: vec![u32::MAX; size],
        }
    }

    /// Returns the number of a name, a new one if it is new.
    pub(super) fn number(&mut self, name: &'a str) -> u32 {
        let hash = hash_of_parts(0, name) as usize;
        let slots = self.remembered.len();
        let slot = &mut self.remembered[hash & (slots - 1)];
        let other = self.names.get(*slot as usize);
        if other.is_none_or(|other| *other != name) {
            let next = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
            *slot = *self.known.entry(name).or_insert(next);
            if *slot == next {
                self.names.push(name);
            }
        }
        *slot
    }

    /// Returns for each number the rank of its name.
    pub(super) fn ranks(&self) -> Vec<u32> {
        let mut ranks = vec![0; self.names.len()];
        for (rank, &number) in (0..).zip(self.known.values()) {
            ranks[number as usize] = rank;
        }
        ranks
    }

    /// Returns the names by number.
    pub(super) fn into_names(self) -> Vec<&'a str> {
        self.names
    }
}

/// Returns the hashes that come more than once.
///
/// Most are told apart without a sort: each has two bits, one for the first to come and one for
/// those that come later, and few share theirs with another. The bits of a million hashes stay in a
/// cache, where the hashes themselves would not.
pub(super) fn repeated<I>(hashes: I) -> BTreeSet<u64>
where
    I: ExactSizeIterator<Item = u64> + Clone,
{
    const PER_WORD: usize = u64::BITS as usize / 2;
    let slots = (hashes.len() * 8).next_power_of_two().max(PER_WORD);
    let mut seen = vec![0_u64; slots / PER_WORD];
    let slot = |hash: u64| {
        let at = hash as usize & (slots - 1);
        (at / PER_WORD, at % PER_WORD * 2)
    };
    for hash in hashes.clone() {
        let (word, shift) = slot(hash);
        let was_seen = seen[word] >> shift & 1;
        seen[word] |= (1 + was_seen) << shift;
    }
    let shares = |hash: &u64| {
        let (word, shift) = slot(*hash);
        seen[word] >> shift & 2 != 0
    };
    let mut suspects: Vec<u64> = hashes.filter(shares).collect();
    suspects.sort_unstable();
    let again = suspects.windows(2).filter(|pair| pair[0] == pair[1]);
    again.map(|pair| pair[0]).collect()
}

/// Sorts by a small number first, by counting, then each stretch of one number by `sort`. A stretch
/// stays in the nearest memory while it is sorted, however long the whole list is.
pub(super) fn sort_by_stretches<T: Copy>(
    mut items: Vec<T>,
    number: impl Fn(&T) -> u32,
    sort: impl Fn(&mut [T]),
) -> Vec<T> {
    if items.is_sorted_by_key(&number) {
        let stretches = items.chunk_by_mut(|a, b| number(a) == number(b));
        stretches.for_each(sort);
        return items;
    }
    let numbers = items.iter().map(|item| number(item) as usize + 1);
    let mut ends = vec![0_u32; numbers.max().unwrap_or(0)];
    for item in &items {
        ends[number(item) as usize] += 1;
    }
    let mut next = 0;
    for end in &mut ends {
        next += std::mem::replace(end, next);
    }
    let mut sorted = items.clone();
    for item in items {
        let at = &mut ends[number(&item) as usize];
        sorted[*at as usize] = item;
        *at += 1;
    }
    let mut start = 0;
    for end in ends {
        sort(&mut sorted[start..end as usize]);
        start = end as usize;
    }
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_numbered_as_they_come_and_ranked_as_they_read() {
        let mut numbers = Numbers::for_names(2);
        let given = ["b", "a", "b", "c", "a"].map(|name| numbers.number(name));
        assert_eq!(given, [0, 1, 0, 2, 1]);
        assert_eq!(numbers.ranks(), [1, 0, 2]);
        assert_eq!(numbers.into_names(), ["b", "a", "c"]);
    }

    #[test]
    fn more_names_than_are_remembered_keep_their_numbers() {
        let names: Vec<String> = (0..3 * MOST_REMEMBERED).map(|n| format!("n{n}")).collect();
        let mut numbers = Numbers::for_names(names.len());
        for _ in 0..2 {
            for (index, name) in (0..).zip(&names) {
                assert_eq!(numbers.number(name), index);
            }
        }
        assert_eq!(numbers.into_names(), names);
    }

    #[test]
    fn what_comes_again_is_found_among_many_that_look_alike() {
        assert_eq!(repeated([].into_iter()), BTreeSet::new());
        assert_eq!(repeated([7, 7, 7].into_iter()), BTreeSet::from([7]));
        // All of them fall on one place.
        let alike: Vec<u64> = (0..100).map(|n| n << 32).chain([3 << 32, 5]).collect();
        assert_eq!(repeated(alike.into_iter()), BTreeSet::from([3 << 32]));
    }

    #[test]
    fn stretches_are_sorted_as_the_whole_would_be() {
        let items = vec![(2, 'b'), (0, 'z'), (2, 'a'), (5, 'k'), (0, 'c'), (2, 'a')];
        let mut expected = items.clone();
        expected.sort_unstable();
        let sorted = sort_by_stretches(items, |item: &(u32, char)| item.0, <[_]>::sort_unstable);
        assert_eq!(sorted, expected);
        let nothing: Vec<u32> = sort_by_stretches(Vec::new(), |number| *number, <[_]>::sort);
        assert!(nothing.is_empty());
    }
}
