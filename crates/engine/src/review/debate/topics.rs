//! Who is asked about which findings, under which neutral names, in questions of what size.

use std::collections::BTreeSet;

use tribunal_core::consensus::{Group, Settlement};
use tribunal_core::finding::Finding;
use tribunal_core::prompt::{ShownExamination, ShownFinding, ShownReport, json_lines};
use tribunal_core::review::{Examination, Stance};

use super::super::excerpt::Excerpts;
use crate::change::Change;

/// One finding that is put to one reviewer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Topic {
    /// The group that it stands for.
    pub(super) group: usize,
    /// The member that is shown, by index.
    pub(super) shown: u32,
}

/// A question: some topics, in the order in which they are named `F1`, `F2` and so on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Sheet {
    pub(super) topics: Vec<Topic>,
    pub(super) labels: Vec<String>,
    pub(super) findings: String,
    pub(super) material: String,
}

/// What questions are made from.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    pub(super) change: &'a Change,
    pub(super) settlement: &'a Settlement,
    /// What was counted in round 2 so far.
    pub(super) examinations: &'a [(usize, Examination)],
}

impl<'a> Source<'a> {
    fn finding(self, index: u32) -> &'a Finding {
        &self.settlement.findings[index as usize]
    }

    fn group(self, topic: Topic) -> &'a Group {
        &self.settlement.groups[topic.group]
    }

    /// Returns the findings of others that `reviewer` is asked to examine, one for each group.
    pub(super) fn to_examine(self, groups: &[usize], reviewer: &str) -> Vec<Topic> {
        let topic = |&group: &usize| {
            let members = self.settlement.groups[group].members.iter().copied();
            let mut of_others = members.filter(|one| self.finding(*one).reviewer != reviewer);
            Some(Topic {
                group,
                shown: of_others.next()?,
            })
        };
        groups.iter().filter_map(topic).collect()
    }

    /// Returns the findings of `reviewer` that somebody does not fully agree with.
    pub(super) fn to_defend(self, groups: &[usize], reviewer: &str) -> Vec<Topic> {
        let topic = |&group: &usize| {
            let members = self.settlement.groups[group].members.iter().copied();
            let mut own = members.filter(|one| self.finding(*one).reviewer == reviewer);
            let shown = own.next()?;
            let challenged = self
                .about(group)
                .any(|one| one.stance != Stance::Agree && one.reviewer != reviewer);
            challenged.then_some(Topic { group, shown })
        };
        groups.iter().filter_map(topic).collect()
    }

    fn about(self, group: usize) -> impl Iterator<Item = &'a Examination> {
        let of_group = self.examinations.iter().filter(move |(of, _)| *of == group);
        of_group.map(|(_, examination)| examination)
    }

    /// Cuts `topics` into questions of at most about `limit` characters.
    pub(super) fn sheets(self, topics: &[Topic], reviewer: &str, limit: usize) -> Vec<Sheet> {
        let mut sheets = Vec::new();
        let mut taken: Vec<Topic> = Vec::new();
        let mut size = 0;
        for &topic in topics {
            let alone = self.sheet(&[topic], reviewer);
            let length = alone.findings.len() + alone.material.len();
            if size + length > limit && !taken.is_empty() {
                sheets.push(self.sheet(&taken, reviewer));
                taken.clear();
                size = 0;
            }
            size += length;
            taken.push(topic);
        }
        if !taken.is_empty() {
            sheets.push(self.sheet(&taken, reviewer));
        }
        sheets
    }

    /// Returns one question.
    pub(super) fn sheet(self, topics: &[Topic], reviewer: &str) -> Sheet {
        let labels: Vec<String> = (1..=topics.len())
            .map(|number| format!("F{number}"))
            .collect();
        let mut excerpts = Excerpts::new(self.change);
        let shown = topics.iter().zip(&labels).map(|(topic, label)| {
            let mut shown = ShownFinding::new(label.clone(), self.finding(topic.shown));
            let others = self
                .group(*topic)
                .members
                .iter()
                .filter(|&&one| one != topic.shown && self.finding(one).reviewer != reviewer);
            let is_own = self.finding(topic.shown).reviewer == reviewer;
            if is_own {
                let said = self
                    .about(topic.group)
                    .filter(|one| one.reviewer != reviewer);
                shown.examinations = said.map(ShownExamination::of).collect();
            }
            shown.also_reported = others
                .map(|&one| ShownReport::of(self.finding(one)))
                .collect();
            shown
        });
        let findings = json_lines(shown);
        for topic in topics {
            excerpts.add(&self.finding(topic.shown).location);
        }
        Sheet {
            topics: topics.to_vec(),
            labels,
            findings,
            material: excerpts.render(),
        }
    }
}

/// Puts `topics` into an order that says nothing about who reported them or how they stand.
pub(super) fn shuffle(topics: &mut [Topic], seed: &str, reviewer: &str) {
    topics.sort_by_cached_key(|topic| {
        let text = format!("{seed}\n{reviewer}\n{}", topic.group);
        *blake3::hash(text.as_bytes()).as_bytes()
    });
}

/// Returns how many families there are.
pub(super) fn families<'a>(names: impl Iterator<Item = &'a str>) -> usize {
    names.collect::<BTreeSet<_>>().len()
}
