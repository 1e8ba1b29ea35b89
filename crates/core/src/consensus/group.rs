//! Grouping by place: the same line, a near line of the same category, the same function.
//!
//! A group is what lies within reach of its first finding. Nothing joins because it is close to a
//! finding that is itself close to the first, so a group never creeps down a file. It holds one
//! finding of each reviewer.

use std::cmp::Reverse;
use std::collections::{BTreeMap, VecDeque};

use super::company::Company;
use super::normalize::Claim;
use super::terms::{normalized_title, terms};
use crate::finding::Category;

/// With so many groups at one place a finding is compared, the latest first.
const MOST_GROUPS: usize = 32;

/// Returns the groups as lists of indices, in order. `claims` are in canonical order.
pub(super) fn by_place(claims: &[Claim<'_>], proximity: u32) -> Vec<Vec<u32>> {
    let mut groups = Vec::new();
    let mut companies = Vec::new();
    let mut index = 0;
    for file in claims.chunk_by(|a, b| a.file == b.file) {
        let mut sweep = Sweep {
            proximity,
            claims,
            groups: &mut groups,
            companies: &mut companies,
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
struct Sweep<'a, 'g> {
    proximity: u32,
    claims: &'a [Claim<'a>],
    groups: &'g mut Vec<Vec<u32>>,
    companies: &'g mut Vec<Company<'a>>,
    /// Groups that the next line may still reach.
    open: VecDeque<Open>,
    /// The groups of each function and category.
    functions: BTreeMap<(&'a str, Category), Vec<usize>>,
    /// The groups of findings without a line.
    titles: BTreeMap<(String, Category), Vec<usize>>,
}

struct Open {
    group: usize,
    first: u32,
    last: u32,
    category: Category,
}

impl<'a> Sweep<'a, '_> {
    fn place(&mut self, index: u32, claim: &'a Claim<'a>) {
        let own = Company::of(index, claim);
        let found = match claim.lines {
            Some(lines) => self
                .at_lines(lines, claim, &own)
                .or_else(|| self.in_function(claim, &own)),
            None => self
                .in_function(claim, &own)
                .or_else(|| self.of_title(claim, &own)),
        };
        if let Some(group) = found {
            self.groups[group].push(index);
            self.companies[group].join(own);
            return;
        }
        let group = self.groups.len();
        self.groups.push(vec![index]);
        self.companies.push(own);
        if let Some(function) = claim.function() {
            let key = (function, claim.category);
            self.functions.entry(key).or_default().push(group);
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
                let key = (title, claim.category);
                self.titles.entry(key).or_default().push(group);
            }
        }
    }

    /// Returns the group on these lines, or else the nearest of the same category.
    fn at_lines(
        &mut self,
        (first, last): (u32, u32),
        claim: &Claim<'a>,
        own: &Company<'a>,
    ) -> Option<usize> {
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
                let near = first.saturating_sub(open.last);
                (open.category == claim.category && near <= self.proximity).then_some(near)
            }
        };
        let latest = self.open.iter().rev().take(MOST_GROUPS);
        let mut reached: Vec<(u32, usize)> = latest
            .filter_map(|open| Some((distance(open)?, open.group)))
            .filter(|(_, group)| self.admits(*group, own))
            .collect();
        reached.sort_unstable();
        let nearest = reached.first()?.0;
        reached.retain(|(distance, _)| *distance == nearest);
        self.most_alike(claim, reached.into_iter().map(|(_, group)| group))
    }

    fn in_function(&self, claim: &'a Claim<'a>, own: &Company<'a>) -> Option<usize> {
        let function = claim.function()?;
        let groups = self.functions.get(&(function, claim.category))?;
        self.first_admitting(groups, claim, own)
    }

    fn of_title(&self, claim: &Claim<'a>, own: &Company<'a>) -> Option<usize> {
        let title = normalized_title(&claim.finding.title);
        let groups = self.titles.get(&(title, claim.category))?;
        self.first_admitting(groups, claim, own)
    }

    fn first_admitting(
        &self,
        groups: &[usize],
        claim: &Claim<'a>,
        own: &Company<'a>,
    ) -> Option<usize> {
        let latest = groups.iter().rev().take(MOST_GROUPS).copied();
        let mut open: Vec<usize> = latest.filter(|group| self.admits(*group, own)).collect();
        open.sort_unstable();
        self.most_alike(claim, open.into_iter())
    }

    fn admits(&self, group: usize, own: &Company<'a>) -> bool {
        self.companies[group].admits(own, self.claims)
    }

    /// Returns the group whose first title shares the most words with that of a claim; the first
    /// of equals. A single one need not be read.
    fn most_alike(
        &self,
        claim: &Claim<'a>,
        mut groups: impl ExactSizeIterator<Item = usize>,
    ) -> Option<usize> {
        if groups.len() <= 1 {
            return groups.next();
        }
        let hashes = |title: &str| -> Vec<u64> {
            let found = terms(title, 1000).into_iter();
            found.map(|term| term.hash).collect()
        };
        let own = hashes(&claim.finding.title);
        let shared = |group: &usize| {
            let first = self.groups[*group][0];
            let title = &self.claims[first as usize].finding.title;
            let others = hashes(title);
            let shared = own.iter().filter(|one| others.binary_search(one).is_ok());
            (shared.count(), Reverse(*group))
        };
        groups.max_by_key(shared)
    }
}
