//! Order and numbers for long lists: names become numbers, and things are moved once.

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
        let hash = hash_of_parts("", name) as usize;
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

/// So many things are looked at before they are moved.
const LOOK_AHEAD: u32 = 16;

/// Puts `items` into an order: the n-th comes from where the n-th of `order` says.
///
/// `look` reads something from all over an item. Memory is then asked for several items at once and
/// not for one after the other as they are moved.
pub(super) fn rearrange<T>(items: &mut [T], mut order: Vec<u32>, look: impl Fn(&T) -> usize) {
    let mut seen = 0;
    for start in 0..order.len() {
        let (mut at, mut ahead, mut looked_at) = (start, start, 0);
        loop {
            while looked_at < LOOK_AHEAD && order[ahead] as usize != start {
                ahead = order[ahead] as usize;
                seen ^= look(&items[ahead]);
                looked_at += 1;
            }
            // One of them is moved at a time, and the next ones are looked at together.
            for _ in 0..looked_at {
                let from = order[at] as usize;
                order[at] = at as u32;
                items.swap(at, from);
                at = from;
            }
            if std::mem::take(&mut looked_at) < LOOK_AHEAD {
                order[at] = at as u32;
                break;
            }
        }
    }
    std::hint::black_box(seen);
}

/// Returns the numbers that come more than once.
pub(super) fn repeated(mut numbers: Vec<u64>) -> BTreeSet<u64> {
    numbers.sort_unstable();
    let again = numbers.windows(2).filter(|pair| pair[0] == pair[1]);
    again.map(|pair| pair[0]).collect()
}

/// Sorts by a small number first, by counting, then each stretch of one number by `sort`. A stretch
/// stays in the nearest memory while it is sorted, however long the whole list is.
pub(super) fn sort_by_stretches<T: Copy>(
    items: Vec<T>,
    number: impl Fn(&T) -> u32,
    sort: impl Fn(&mut [T]),
) -> Vec<T> {
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
    fn stretches_are_sorted_as_the_whole_would_be() {
        let items = vec![(2, 'b'), (0, 'z'), (2, 'a'), (5, 'k'), (0, 'c'), (2, 'a')];
        let mut expected = items.clone();
        expected.sort_unstable();
        let sorted = sort_by_stretches(items, |item: &(u32, char)| item.0, <[_]>::sort_unstable);
        assert_eq!(sorted, expected);
        let nothing: Vec<u32> = sort_by_stretches(Vec::new(), |number| *number, <[_]>::sort);
        assert!(nothing.is_empty());
    }

    #[test]
    fn things_are_moved_to_where_the_order_says() {
        for order in [
            vec![0, 1, 2, 3, 4],
            vec![4, 3, 2, 1, 0],
            vec![1, 2, 3, 4, 0],
            vec![2, 0, 1, 4, 3],
        ] {
            let mut items = ["a", "b", "c", "d", "e"];
            let expected: Vec<&str> = order.iter().map(|&from| items[from as usize]).collect();
            rearrange(&mut items, order, |item| item.len());
            assert_eq!(items.to_vec(), expected);
        }
    }

    #[test]
    fn cycles_of_every_length_are_moved_whole() {
        for length in 1..=100_u32 {
            let mut items: Vec<u32> = (0..length + 3).collect();
            let mut order: Vec<u32> = (1..length).chain([0]).collect();
            order.extend([length + 1, length, length + 2]);
            let expected = order.clone();
            rearrange(&mut items, order, |item| *item as usize);
            assert_eq!(items, expected);
        }
    }
}
