//! What a round changed, in words for the lead.

use std::collections::BTreeMap;

use crate::consensus::{Group, Kind, Settlement, Step, Verdict};
use crate::text::headline;

/// How many changes are named one by one.
const MOST_NAMED: usize = 5;

/// Where every finding stands after a round.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Standings {
    members: BTreeMap<(String, String), Standing>,
    leads: Vec<(String, String)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Standing {
    name: String,
    confidence: u8,
    disputed: bool,
    supported: bool,
    conflict_settled: bool,
}

impl Standings {
    /// Returns where the findings of a settled review stand.
    pub(super) fn of(settlement: &Settlement) -> Self {
        let mut standings = Self::default();
        for group in &settlement.groups {
            let standing = standing(settlement, group);
            for &member in &group.members {
                let finding = &settlement.findings[member as usize];
                let key = (finding.reviewer.clone(), finding.id.clone());
                if member == group.lead() {
                    standings.leads.push(key.clone());
                }
                standings.members.insert(key, standing.clone());
            }
        }
        standings
    }

    /// Returns what has changed since `earlier`: confidences, agreements, conflicts.
    pub(super) fn since(&self, earlier: &Self) -> String {
        let (mut rose, mut fell, mut stayed, mut new) = (0, 0, 0, 0);
        let (mut agreements, mut resolved) = (0, 0);
        let mut moves: Vec<(u8, String)> = Vec::new();
        for key in &self.leads {
            let now = &self.members[key];
            let Some(then) = earlier.members.get(key) else {
                new += 1;
                continue;
            };
            match now.confidence.cmp(&then.confidence) {
                std::cmp::Ordering::Greater => rose += 1,
                std::cmp::Ordering::Less => fell += 1,
                std::cmp::Ordering::Equal => stayed += 1,
            }
            agreements += u32::from(now.supported && !then.supported);
            resolved += u32::from(
                then.disputed && !now.disputed || now.conflict_settled && !then.conflict_settled,
            );
            let by = now.confidence.abs_diff(then.confidence);
            if by > 0 {
                let text = format!("{} {} → {}", now.name, then.confidence, now.confidence);
                moves.push((by, text));
            }
        }
        let mut text = format!(
            "confidence rose for {rose}, fell for {fell}, stayed for {stayed}; \
             new agreements: {agreements}; resolved conflicts: {resolved}; new observations: {new}"
        );
        moves.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        for (_, change) in moves.iter().take(MOST_NAMED) {
            text.push_str("; ");
            text.push_str(change);
        }
        if moves.len() > MOST_NAMED {
            text.push_str(&format!("; and {} more", moves.len() - MOST_NAMED));
        }
        text
    }
}

fn standing(settlement: &Settlement, group: &Group) -> Standing {
    let lead = &settlement.findings[group.lead() as usize];
    let examined_well = group
        .trace
        .lines()
        .iter()
        .any(|line| line.step == Step::CrossExamination && line.amount > 0);
    Standing {
        name: headline(&lead.spoken_name(), 80).into_owned(),
        confidence: group.confidence.get(),
        disputed: group.verdict == Verdict::Disputed,
        supported: group.kind == Kind::Agreed || examined_well,
        conflict_settled: matches!(group.kind, Kind::Conflicted(_))
            && group.verdict == Verdict::Accepted,
    }
}
