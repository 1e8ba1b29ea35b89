//! Comparisons of two contestants by many judges, with the better one known.

use std::collections::BTreeMap;

use serde::Deserialize;
use tribunal_core::verdict::{Ballot, Points};

/// One comparison.
#[derive(Debug, Deserialize)]
pub struct Item {
    pub subset: String,
    pub judges: BTreeMap<String, Given>,
    pub truth: String,
}

/// What one judge gave.
#[derive(Debug, Deserialize)]
pub struct Given {
    scores: BTreeMap<String, Points>,
}

impl Given {
    pub fn ballot(&self, judge: &str) -> Ballot {
        Ballot {
            judge: judge.to_owned(),
            // Judges are called `model/strategy`; those of one model are one voice.
            family: judge.split_once('/').map(|(model, _)| model.to_owned()),
            scores: self.scores.clone(),
            swapped: None,
        }
    }
}

pub fn read(path: &str) -> Result<Vec<Item>, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let read = |line: &str| serde_json::from_str(line).map_err(|error| error.to_string());
    lines.map(read).collect()
}
