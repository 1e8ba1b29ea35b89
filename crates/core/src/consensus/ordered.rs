//! A list in an order of its own, whose items were never moved.

use std::fmt;
use std::ops::Index;

/// Items in an order that is kept beside them.
///
/// A million findings take longer to be moved than to be sorted, and whoever reads them goes from
/// group to group and jumps either way. Two lists are equal if they read the same.
#[derive(Clone)]
pub struct Ordered<T> {
    items: Vec<T>,
    /// Where the first, the second and so on lie. What is not named here is not in the list.
    order: Vec<u32>,
}

impl<T> Ordered<T> {
    /// Returns the list that reads `items` in `order`.
    pub(super) fn new(items: Vec<T>, order: Vec<u32>) -> Self {
        Self { items, order }
    }

    /// Returns how many items it has.
    #[must_use]
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// Tells whether it has no items.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// Returns the first item.
    #[must_use]
    pub fn first(&self) -> Option<&T> {
        self.iter().next()
    }

    /// Returns the items in their order.
    pub fn iter(&self) -> Iter<'_, T> {
        Iter {
            items: &self.items,
            order: self.order.iter(),
        }
    }
}

impl<T> Index<usize> for Ordered<T> {
    type Output = T;

    fn index(&self, index: usize) -> &T {
        &self.items[self.order[index] as usize]
    }
}

impl<'a, T> IntoIterator for &'a Ordered<T> {
    type Item = &'a T;
    type IntoIter = Iter<'a, T>;

    fn into_iter(self) -> Iter<'a, T> {
        self.iter()
    }
}

impl<T: PartialEq> PartialEq for Ordered<T> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other)
    }
}

impl<T: Eq> Eq for Ordered<T> {}

impl<T: fmt::Debug> fmt::Debug for Ordered<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self).finish()
    }
}

/// The items of an [`Ordered`] list, one after the other.
#[derive(Debug, Clone)]
pub struct Iter<'a, T> {
    items: &'a [T],
    order: std::slice::Iter<'a, u32>,
}

impl<'a, T> Iterator for Iter<'a, T> {
    type Item = &'a T;

    fn next(&mut self) -> Option<&'a T> {
        let &index = self.order.next()?;
        Some(&self.items[index as usize])
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.order.size_hint()
    }
}

impl<T> ExactSizeIterator for Iter<'_, T> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_reads_in_its_order_wherever_its_items_lie() {
        let list = Ordered::new(vec!["b", "gone", "c", "a"], vec![3, 0, 2]);
        assert_eq!(format!("{list:?}"), r#"["a", "b", "c"]"#);
        assert_eq!((list.len(), list.first(), list[1]), (3, Some(&"a"), "b"));
        assert_eq!(list, Ordered::new(vec!["a", "b", "c"], vec![0, 1, 2]));
        assert_ne!(list, Ordered::new(vec!["a", "b", "c"], vec![0, 2, 1]));
        assert_ne!(list, Ordered::new(vec!["a", "b"], vec![0, 1]));
        assert!(Ordered::<u8>::new(Vec::new(), Vec::new()).is_empty());
    }
}
