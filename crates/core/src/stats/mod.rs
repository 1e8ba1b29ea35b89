//! What the record says about reviewers, judges and disputes: counts, shares and how sure they are.

mod share;
mod trials;

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::consensus::{Preferences, Record, Rulings, Verdict};
use crate::dispute::{Answer, Basis, Decision, Dispute, Ruler};
use crate::finding::Category;

pub use share::Share;
pub use trials::{ChoiceRow, SeenTrial};

/// A finding as a review left it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenFinding {
    /// Its identity; the same finding in several reviews is counted once.
    pub fingerprint: String,
    /// What kind of problem it is.
    pub category: Category,
    /// In which list it ended.
    pub verdict: Verdict,
    /// Who reported it.
    pub reviewers: BTreeSet<String>,
}

/// How an arbitration went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SeenArbitration {
    /// How many rounds the coder worked.
    pub rounds: u32,
    /// Whether nothing that binds stayed open.
    pub converged: bool,
}

/// What the ledger holds, the oldest first.
#[derive(Debug, Clone, Default)]
pub struct Observed {
    /// Findings of all reviews; a later one of the same identity replaces the earlier.
    pub findings: Vec<SeenFinding>,
    /// All disputes.
    pub disputes: Vec<Dispute>,
    /// All arbitrations.
    pub arbitrations: Vec<SeenArbitration>,
    /// All trials of which it is known whose answer was taken.
    pub trials: Vec<SeenTrial>,
}

/// What the record says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Statistics {
    /// Reviewers by name and category.
    pub reviewers: Vec<ReviewerRow>,
    /// Judges of disputes by name.
    pub judges: Vec<JudgeRow>,
    /// Judges of trials by name.
    #[serde(default)]
    pub choices: Vec<ChoiceRow>,
    /// How long disputes waited for their first ruling, by who ruled.
    pub time_to_ruling: Vec<Waiting>,
    /// How arbitrations ended.
    pub convergence: Convergence,
}

/// What became of the findings of one reviewer in one category.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReviewerRow {
    /// The reviewer.
    pub agent: String,
    /// The category.
    pub category: Category,
    /// How many different findings it reported.
    pub reported: u32,
    /// How many of them the consensus accepted.
    pub accepted: Share,
    /// How many of them came into dispute.
    pub contested: Share,
    /// How many of those that were ruled on were upheld.
    pub upheld: Share,
    /// How many of those that were ruled on were dismissed.
    pub dismissed: Share,
}

/// How one judge's answers compare with what people ruled afterwards.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JudgeRow {
    /// The judge.
    pub agent: String,
    /// How often it was asked.
    pub asked: u32,
    /// How often no answer that counts came.
    pub silent: u32,
    /// How often it escalated.
    pub escalated: u32,
    /// How often it said what a person ruled later, of the disputes where both spoke.
    pub with_human: Share,
}

/// How long disputes waited.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Waiting {
    /// Who ruled: `judge`, `human` or `discard`.
    pub by: String,
    /// How many disputes.
    pub count: u32,
    /// Half of them waited no longer, in milliseconds.
    pub median_ms: u64,
    /// Nine of ten waited no longer, in milliseconds.
    pub most_ms: u64,
}

/// How arbitrations ended.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Convergence {
    /// How many came to their end with nothing open.
    pub converged: Share,
    /// Of those, how many took each number of rounds.
    pub rounds: BTreeMap<u32, u32>,
}

/// Counts what was observed.
#[must_use]
pub fn statistics(observed: &Observed) -> Statistics {
    Statistics {
        reviewers: reviewers(observed),
        judges: judges(&observed.disputes),
        choices: trials::choices(&observed.trials),
        time_to_ruling: waiting(&observed.disputes),
        convergence: convergence(&observed.arbitrations),
    }
}

impl Statistics {
    /// Returns the counts that the consensus and verdicts learn from.
    #[must_use]
    pub fn record(&self) -> Record {
        let mut record = Record::default();
        for row in self.reviewers.iter().filter(|row| row.upheld.of > 0) {
            let rulings = Rulings {
                upheld: row.upheld.count,
                dismissed: row.dismissed.count,
            };
            let categories = record.reviewers.entry(row.agent.clone()).or_default();
            categories.insert(row.category, rulings);
        }
        for row in &self.judges {
            let preferences = Preferences {
                upheld: row.with_human.count,
                dismissed: row.with_human.of - row.with_human.count,
                even: row.escalated,
            };
            trials::add(&mut record, &row.agent, preferences);
        }
        for row in &self.choices {
            trials::add(&mut record, &row.agent, row.preferences());
        }
        record
    }
}

#[derive(Default)]
struct Tally {
    reported: u32,
    accepted: u32,
    contested: u32,
    upheld: u32,
    dismissed: u32,
}

fn reviewers(observed: &Observed) -> Vec<ReviewerRow> {
    let mut latest: BTreeMap<&str, &SeenFinding> = BTreeMap::new();
    for finding in &observed.findings {
        latest.insert(&finding.fingerprint, finding);
    }
    let mut tallies: BTreeMap<(String, Category), Tally> = BTreeMap::new();
    for finding in latest.values() {
        for reviewer in &finding.reviewers {
            let tally = tallies
                .entry((reviewer.clone(), finding.category))
                .or_default();
            tally.reported += 1;
            tally.accepted += u32::from(finding.verdict == Verdict::Accepted);
        }
    }
    // One finding may have been disputed more than once; its last dispute counts.
    let mut disputed: BTreeMap<&str, &Dispute> = BTreeMap::new();
    for dispute in &observed.disputes {
        if let Some(finding) = dispute.opening.subject.finding() {
            disputed.insert(&finding.fingerprint, dispute);
        }
    }
    for (fingerprint, dispute) in disputed {
        let Some(finding) = dispute.opening.subject.finding() else {
            continue;
        };
        for reviewer in who_reported(latest.get(fingerprint).copied(), dispute) {
            let tally = tallies.entry((reviewer, finding.category)).or_default();
            tally.contested += 1;
            let ruling = dispute.ruling();
            match ruling.map(|ruling| (&ruling.decision, ruling.terms.basis)) {
                // Whoever accepts a risk says that the finding is true.
                Some(
                    (Decision::Enforce | Decision::Amend { .. }, _)
                    | (Decision::Dismiss, Basis::RiskAccepted),
                ) => tally.upheld += 1,
                Some((Decision::Dismiss, Basis::NotADefect)) => tally.dismissed += 1,
                None => {}
            }
        }
    }
    let row = |((agent, category), tally): ((String, Category), Tally)| {
        let ruled = tally.upheld + tally.dismissed;
        let reported = tally.reported.max(tally.contested);
        ReviewerRow {
            agent,
            category,
            reported,
            accepted: Share::new(tally.accepted, reported),
            contested: Share::new(tally.contested, reported),
            upheld: Share::new(tally.upheld, ruled),
            dismissed: Share::new(tally.dismissed, ruled),
        }
    };
    tallies.into_iter().map(row).collect()
}

fn who_reported(seen: Option<&SeenFinding>, dispute: &Dispute) -> BTreeSet<String> {
    match seen {
        Some(seen) => seen.reviewers.clone(),
        None => {
            let position = dispute.opening.reviewer.iter();
            position.map(|position| position.author.clone()).collect()
        }
    }
}

fn judges(disputes: &[Dispute]) -> Vec<JudgeRow> {
    #[derive(Default)]
    struct Bench {
        asked: u32,
        silent: u32,
        escalated: u32,
        compared: u32,
        agreed: u32,
    }
    let mut benches: BTreeMap<&str, Bench> = BTreeMap::new();
    for dispute in disputes {
        let human = dispute.rulings.iter().rev();
        // A discard is no word on the merits.
        let human = human.into_iter().find(|one| one.ruler == Ruler::Human);
        for hearing in &dispute.hearings {
            let bench = benches.entry(&hearing.judge.agent).or_default();
            bench.asked += 1;
            match hearing.answer {
                None => bench.silent += 1,
                Some(Answer::Escalate) => bench.escalated += 1,
                Some(answer) => {
                    if let Some(human) = human {
                        bench.compared += 1;
                        let said = answer.decision();
                        bench.agreed += u32::from(said.as_ref() == Some(&human.decision));
                    }
                }
            }
        }
    }
    let row = |(agent, bench): (&str, Bench)| JudgeRow {
        agent: agent.to_owned(),
        asked: bench.asked,
        silent: bench.silent,
        escalated: bench.escalated,
        with_human: Share::new(bench.agreed, bench.compared),
    };
    benches.into_iter().map(row).collect()
}

fn waiting(disputes: &[Dispute]) -> Vec<Waiting> {
    let mut times: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
    for dispute in disputes {
        let Some(first) = dispute.rulings.first() else {
            continue;
        };
        let by = match first.ruler {
            Ruler::Judge { .. } | Ruler::Jury { .. } => "judge",
            Ruler::Human => "human",
            Ruler::Discard | Ruler::Config => "discard",
        };
        let waited = first.at.millis_since(dispute.opened_at);
        times.entry(by).or_default().push(waited);
    }
    let row = |(by, mut times): (&str, Vec<u64>)| {
        times.sort_unstable();
        // The smallest value that at least so many tenths do not exceed.
        let at = |tenths: usize| times[(times.len() * tenths).div_ceil(10).max(1) - 1];
        Waiting {
            by: by.to_owned(),
            count: u32::try_from(times.len()).unwrap_or(u32::MAX),
            median_ms: at(5),
            most_ms: at(9),
        }
    };
    times.into_iter().map(row).collect()
}

fn convergence(arbitrations: &[SeenArbitration]) -> Convergence {
    let mut rounds = BTreeMap::new();
    for one in arbitrations.iter().filter(|one| one.converged) {
        *rounds.entry(one.rounds).or_default() += 1;
    }
    let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    let converged = arbitrations.iter().filter(|one| one.converged).count();
    Convergence {
        converged: Share::new(count(converged), count(arbitrations.len())),
        rounds,
    }
}
