//! How judges of trials fared: whether they preferred the answer that was taken in the end, or that
//! proved the best afterwards.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Share;
use crate::consensus::{Preferences, Record};
use crate::event::{Event, EventKind, TrialEvent};
use crate::verdict::Points;

/// A trial after which a person took one contestant's answer, or said whose proved the best.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenTrial {
    /// Whose answer was taken, or proved the best.
    pub taken: String,
    /// The scores by contestant that each agent gave; one that sat as two judges comes twice.
    pub scores: Vec<(String, BTreeMap<String, Points>)>,
}

impl SeenTrial {
    /// The types of the events that tell whose answer was taken.
    pub const TOLD_BY: [&str; 2] = ["decree_issued", "hindsight_stated"];

    /// Returns the trial that these events tell of, if somebody's answer was taken. What turned out
    /// afterwards counts in place of the decree.
    #[must_use]
    pub fn told(events: &[Event]) -> Option<Self> {
        let mut taken = None;
        let (mut agents, mut given) = (BTreeMap::new(), BTreeMap::new());
        for event in events {
            let EventKind::Trial(event) = &event.kind else {
                continue;
            };
            match event {
                TrialEvent::JudgeStarted { judge, agent } => {
                    agents.insert(judge, agent);
                }
                TrialEvent::JudgeFinished { judge, scores, .. } => {
                    given.insert(judge, scores);
                }
                TrialEvent::DecreeIssued { decree, .. } => {
                    taken = decree.contestant().map(str::to_owned);
                }
                TrialEvent::HindsightStated { contestant, .. } => taken.clone_from(contestant),
                _ => {}
            }
        }
        let scores = given.into_iter().filter_map(|(judge, scores)| {
            let agent = agents.get(judge)?;
            Some((agent.to_string(), scores.clone()))
        });
        Some(Self {
            taken: taken?,
            scores: scores.collect(),
        })
    }
}

/// How often one judge preferred the answer that was taken to each of the others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChoiceRow {
    /// The agent.
    pub agent: String,
    /// In how many trials it sat.
    pub trials: u32,
    /// How often it scored the one that was taken higher, of the pairs that it told apart.
    pub with_decree: Share,
    /// How many pairs it gave the same score.
    pub even: u32,
}

impl ChoiceRow {
    /// Returns the counts that verdicts learn from.
    pub(super) fn preferences(&self) -> Preferences {
        Preferences {
            upheld: self.with_decree.count,
            dismissed: self.with_decree.of - self.with_decree.count,
            even: self.even,
        }
    }
}

/// Compares what judges preferred with what was taken.
pub(super) fn choices(trials: &[SeenTrial]) -> Vec<ChoiceRow> {
    let mut all: BTreeMap<&str, (u32, Preferences)> = BTreeMap::new();
    for trial in trials {
        let mut sat: Vec<&str> = Vec::new();
        for (agent, scores) in &trial.scores {
            let Some(taken) = scores.get(&trial.taken) else {
                continue;
            };
            let (count, preferences) = all.entry(agent).or_default();
            if !sat.contains(&agent.as_str()) {
                sat.push(agent);
                *count += 1;
            }
            for (_, other) in scores.iter().filter(|(id, _)| **id != trial.taken) {
                match taken.cmp(other) {
                    std::cmp::Ordering::Greater => preferences.upheld += 1,
                    std::cmp::Ordering::Less => preferences.dismissed += 1,
                    std::cmp::Ordering::Equal => preferences.even += 1,
                }
            }
        }
    }
    let row = |(agent, (trials, preferences)): (&str, (u32, Preferences))| ChoiceRow {
        agent: agent.to_owned(),
        trials,
        with_decree: Share::new(
            preferences.upheld,
            preferences.upheld + preferences.dismissed,
        ),
        even: preferences.even,
    };
    all.into_iter().map(row).collect()
}

/// Adds to what a record knows about a judge.
pub(super) fn add(record: &mut Record, agent: &str, more: Preferences) {
    if more == Preferences::default() {
        return;
    }
    let known = record.judges.entry(agent.to_owned()).or_default();
    known.upheld = known.upheld.saturating_add(more.upheld);
    known.dismissed = known.dismissed.saturating_add(more.dismissed);
    known.even = known.even.saturating_add(more.even);
}

#[cfg(test)]
mod tests {
    use super::super::{Observed, statistics};
    use super::*;

    fn scores(given: &[(&str, u32)]) -> BTreeMap<String, Points> {
        let points = |score: u32| serde_json::from_value(score.into()).expect("it is a number");
        let one = |&(id, score): &(&str, u32)| (id.to_owned(), points(score));
        given.iter().map(one).collect()
    }

    fn trial(taken: &str, given: &[(&str, &[(&str, u32)])]) -> SeenTrial {
        let given = given.iter();
        SeenTrial {
            taken: taken.to_owned(),
            scores: given
                .map(|&(agent, given)| (agent.to_owned(), scores(given)))
                .collect(),
        }
    }

    #[test]
    fn a_judge_is_right_where_it_preferred_what_was_taken() {
        let observed = Observed {
            trials: vec![
                trial(
                    "a",
                    &[
                        ("ann", &[("a", 90), ("b", 50), ("c", 70)]),
                        ("bob", &[("a", 40), ("b", 80), ("c", 40)]),
                    ],
                ),
                // Bob sat as two judges; Ann did not score the one that was taken.
                trial(
                    "b",
                    &[
                        ("ann", &[("a", 90)]),
                        ("bob", &[("a", 10), ("b", 20)]),
                        ("bob", &[("a", 30), ("b", 20)]),
                    ],
                ),
            ],
            ..Observed::default()
        };
        let statistics = statistics(&observed);
        let told: Vec<String> = statistics
            .choices
            .iter()
            .map(|row| {
                let share = row.with_decree;
                let (right, of) = (share.count, share.of);
                format!(
                    "{} {} trials {right}/{of} {} even",
                    row.agent, row.trials, row.even
                )
            })
            .collect();
        assert_eq!(told, ["ann 1 trials 2/2 0 even", "bob 2 trials 1/3 1 even"]);
        let record = statistics.record();
        let bob = Preferences {
            upheld: 1,
            dismissed: 2,
            even: 1,
        };
        assert_eq!(record.judges["bob"], bob);
    }
}
