//! What keeps a list from being taken over. It is looked for before anything is taken over.

use std::collections::BTreeMap;

use super::{Item, List};

/// Longest title of a task or a section, in characters.
pub const LONGEST_TITLE: usize = 300;

impl List {
    /// Returns why the list cannot be taken over, each with its place, such as `TASKS.md:7: …`.
    #[must_use]
    pub fn faults(&self, file: &str) -> Vec<String> {
        let mut faults = Vec::new();
        for item in &self.items {
            let sections = item.section.as_ref().map(|name| ("section", name));
            let titles = [("title", &item.title)].into_iter().chain(sections);
            for (what, text) in titles {
                let too_long = text.chars().count() > LONGEST_TITLE;
                if too_long {
                    let why = format!("the {what} is longer than {LONGEST_TITLE} characters");
                    faults.push(format!("{file}:{}: {why}", item.line + 1));
                }
                if text.chars().any(char::is_control) {
                    let why = format!("the {what} holds a control character");
                    faults.push(format!("{file}:{}: {why}", item.line + 1));
                }
            }
        }
        faults.extend(self.circle().map(|circle| told(&circle, file)));
        faults
    }

    /// Returns for each item the items that it comes after, and the texts that mean none.
    ///
    /// `after: TEXT` means the first item of that title, else the one with that id.
    #[must_use]
    pub fn orders(&self) -> Vec<Order<'_>> {
        let mut named: BTreeMap<&str, usize> = BTreeMap::new();
        for (index, item) in self.items.iter().enumerate() {
            named.entry(&item.title).or_insert(index);
        }
        for (index, item) in self.items.iter().enumerate() {
            if let Some(id) = &item.id {
                named.entry(id.as_str()).or_insert(index);
            }
        }
        let mut orders = Vec::with_capacity(self.items.len());
        for item in &self.items {
            let mut order = Order::default();
            for text in &item.after {
                match named.get(text.as_str()) {
                    Some(index) => order.after.push(*index),
                    None => order.unknown.push(text.as_str()),
                }
            }
            orders.push(order);
        }
        orders
    }

    /// Returns tasks that wait for each other, the first of them again at the end.
    fn circle(&self) -> Option<Vec<&Item>> {
        let orders = self.orders();
        // Whatever waits for nothing, or only for such, is in no circle.
        let mut waits: Vec<usize> = orders.iter().map(|order| order.after.len()).collect();
        let mut awaited: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (index, order) in orders.iter().enumerate() {
            for other in &order.after {
                awaited.entry(*other).or_default().push(index);
            }
        }
        let is_free = |(index, count): (usize, &usize)| (*count == 0).then_some(index);
        let mut free: Vec<usize> = waits.iter().enumerate().filter_map(is_free).collect();
        while let Some(index) = free.pop() {
            for other in awaited.get(&index).into_iter().flatten() {
                if let Some(count) = waits.get_mut(*other) {
                    *count -= 1;
                    free.extend((*count == 0).then_some(*other));
                }
            }
        }
        let is_stuck = |index: &usize| waits.get(*index).is_some_and(|count| *count > 0);
        let mut way: Vec<usize> = Vec::new();
        let mut next = (0..self.items.len()).find(is_stuck)?;
        loop {
            if let Some(start) = way.iter().position(|index| *index == next) {
                way.push(next);
                let circle = way.get(start..)?.iter();
                return circle.map(|index| self.items.get(*index)).collect();
            }
            way.push(next);
            next = orders.get(next)?.after.iter().copied().find(is_stuck)?;
        }
    }
}

/// What a task of a list comes after.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Order<'a> {
    /// Numbers of items.
    pub after: Vec<usize>,
    /// What is in the list under no such title or id.
    pub unknown: Vec<&'a str>,
}

fn told(circle: &[&Item], file: &str) -> String {
    let line = circle.first().map_or(0, |item| item.line + 1);
    let parts: Vec<String> = circle
        .iter()
        .map(|item| format!("`{}` (line {})", item.title, item.line + 1))
        .collect();
    format!("{file}:{line}: {}", parts.join(" comes after "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_that_cannot_be_taken_over_says_where_and_why() {
        let long = "x".repeat(301);
        for (text, expected) in [
            ("- [ ] a\n  after: b\n- [ ] b\n".to_owned(), vec![]),
            (
                format!("- [ ] a\n- [ ] {long}\n"),
                vec!["T.md:2: the title is longer than 300 characters"],
            ),
            (
                format!("# {long}\n- [ ] a\u{7}\n"),
                vec![
                    "T.md:2: the title holds a control character",
                    "T.md:2: the section is longer than 300 characters",
                ],
            ),
            (
                "- [ ] z\n  after: a\n- [ ] a\n  after: b\n- [ ] b\n  after: c\n  after: a\n"
                    .to_owned(),
                vec!["T.md:3: `a` (line 3) comes after `b` (line 5) comes after `a` (line 3)"],
            ),
            (
                "- [ ] a\n  after: a\n".to_owned(),
                vec!["T.md:1: `a` (line 1) comes after `a` (line 1)"],
            ),
            (
                "- [ ] a <!-- c-00000000aa -->\n  after: b\n- [ ] b\n  after: c-00000000aa\n"
                    .to_owned(),
                vec!["T.md:1: `a` (line 1) comes after `b` (line 3) comes after `a` (line 1)"],
            ),
        ] {
            assert_eq!(List::read(&text).faults("T.md"), expected, "{text}");
        }
    }
}
