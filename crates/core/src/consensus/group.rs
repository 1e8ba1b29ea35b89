//! Grouping by place: the same line, a near line of the same category, the same function.
//!
//! A group is what lies within reach of its first finding. Nothing joins because it is close to a
//! finding that is itself close to the first, so a group never creeps down a file.

use std::collections::{BTreeMap, VecDeque};

use super::normalize::Claim;
use super::terms::normalized_title;
use crate::finding::Category;

/// Returns the groups as lists of indices, in order. `claims` are in canonical order.
pub(super) fn by_place(claims: &[Claim<'_>], proximity: u32) -> Vec<Vec<u32>> {
    let mut groups = Vec::new();
    let mut index = 0;
    for file in claims.chunk_by(|a, b| a.file == b.file) {
        let mut sweep = Sweep {
            proximity,
            groups: &mut groups,
            open: VecDeque::new(),
            functions: BTreeMap::new(),
            titles: BTreeMap::new(),
        };
        for claim in file {
            sweep.place(index, claim);
            index += 1;
        }
    }
    groups
}

/// One walk down a file.
struct Sweep<'a> {
    proximity: u32,
    groups: &'a mut Vec<Vec<u32>>,
    /// Groups that the next line may still reach. Their first findings do not overlap, so at
    /// most one stands on each line and the walk stays linear.
    open: VecDeque<Open>,
    /// The group of each function and category.
    functions: BTreeMap<(&'a str, Category), usize>,
    /// The groups of findings without a line.
    titles: BTreeMap<(String, Category), usize>,
}

struct Open {
    group: usize,
    first: u32,
    last: u32,
    category: Category,
}

impl<'a> Sweep<'a> {
    fn place(&mut self, index: u32, claim: &'a Claim<'_>) {
        let found = match claim.lines {
            Some(lines) => self
                .at_lines(lines, claim.category)
                .or_else(|| self.in_function(claim)),
            None => self.in_function(claim).or_else(|| self.of_title(claim)),
        };
        if let Some(group) = found {
            self.groups[group].push(index);
            return;
        }
        let group = self.groups.len();
        self.groups.push(vec![index]);
        if let Some(function) = claim.function() {
            self.functions.insert((function, claim.category), group);
        }
        match claim.lines {
            Some((first, last)) => self.open.push_back(Open {
                group,
                first,
                last,
                category: claim.category,
            }),
            None => {
                let title = normalized_title(&claim.finding.title);
                self.titles.insert((title, claim.category), group);
            }
        }
    }

    /// Returns the group on these lines, or else the nearest of the same category.
    fn at_lines(&mut self, (first, last): (u32, u32), category: Category) -> Option<usize> {
        while let Some(oldest) = self.open.front() {
            if oldest.last.saturating_add(self.proximity) >= first {
                break;
            }
            self.open.pop_front();
        }
        let distance = |open: &Open| {
            if open.first <= last && first <= open.last {
                Some(0)
            } else {
                (open.category == category).then(|| first.saturating_sub(open.last))
            }
        };
        self.open
            .iter()
            .filter_map(|open| Some((distance(open)?, open.group)))
            .filter(|(distance, _)| *distance <= self.proximity)
            .min()
            .map(|(_, group)| group)
    }

    fn in_function(&self, claim: &'a Claim<'_>) -> Option<usize> {
        let function = claim.function()?;
        self.functions.get(&(function, claim.category)).copied()
    }

    fn of_title(&self, claim: &Claim<'_>) -> Option<usize> {
        let title = normalized_title(&claim.finding.title);
        self.titles.get(&(title, claim.category)).copied()
    }
}
