//! Order and numbers for long lists: names become numbers, and things are moved once.

use std::collections::BTreeMap;

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

/// Puts `items` into an order: the n-th comes from where the n-th of `order` says.
pub(super) fn rearrange<T>(items: &mut [T], mut order: Vec<u32>) {
    for start in 0..order.len() {
        let mut at = start;
        loop {
            let from = std::mem::replace(&mut order[at], at as u32) as usize;
            if from == at || from == start {
                break;
            }
            items.swap(at, from);
            at = from;
        }
    }
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
    fn things_are_moved_to_where_the_order_says() {
        for order in [
            vec![0, 1, 2, 3, 4],
            vec![4, 3, 2, 1, 0],
            vec![1, 2, 3, 4, 0],
            vec![2, 0, 1, 4, 3],
        ] {
            let mut items = ["a", "b", "c", "d", "e"];
            let expected: Vec<&str> = order.iter().map(|&from| items[from as usize]).collect();
            rearrange(&mut items, order);
            assert_eq!(items.to_vec(), expected);
        }
    }
}
