//! The code around findings, each file once.

use std::collections::BTreeMap;

use tribunal_core::finding::Location;

use super::material::{heading, rows};
use crate::change::Change;

/// Lines shown before and after a finding.
const AROUND: u32 = 25;

/// Longest piece shown for one finding, in lines; a finding about a whole file is shown its head.
const LONGEST: u32 = 200;

/// Places in the code, to be shown together.
pub(crate) struct Excerpts<'a> {
    change: &'a Change,
    /// First and last line by file.
    places: BTreeMap<String, Vec<(u32, u32)>>,
}

impl<'a> Excerpts<'a> {
    pub(crate) fn new(change: &'a Change) -> Self {
        Self {
            change,
            places: BTreeMap::new(),
        }
    }

    /// Adds the surroundings of a place; one that does not exist adds nothing.
    pub(crate) fn add(&mut self, location: &Location) {
        let (first, last) = location.lines().unwrap_or((1, 1));
        let from = first.saturating_sub(AROUND).max(1);
        let to = last
            .saturating_add(AROUND)
            .min(from.saturating_add(LONGEST));
        let lines = self.places.entry(location.file.clone()).or_default();
        lines.push((from, to));
    }

    /// Returns the code, numbered and marked as in round 1.
    pub(crate) fn render(&self) -> String {
        let mut text = String::new();
        for (path, places) in &self.places {
            let Some(file) = self.change.file(path) else {
                continue;
            };
            text.push_str(&heading(file));
            let mut gap = false;
            let mut next = 1;
            for row in rows(file) {
                // A removed line belongs to the one before which it stood.
                let number = row.number().unwrap_or(next);
                next = row.number().map_or(next, |number| number + 1);
                let shown = |(from, to): &(u32, u32)| (*from..=*to).contains(&number);
                if places.iter().any(shown) {
                    if std::mem::take(&mut gap) {
                        text.push_str("      …\n");
                    }
                    row.write(&mut text);
                } else {
                    gap = true;
                }
            }
            if gap {
                text.push_str("      …\n");
            }
        }
        text
    }
}
