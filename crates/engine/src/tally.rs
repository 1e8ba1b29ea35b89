//! What the runs of a case have cost so far, added up while its events pass.
//!
//! The owner of a case is the only one who adds runs to it, so that nobody has to ask the ledger
//! before each call, which would add up all runs every time.

use std::collections::BTreeMap;

use tribunal_core::event::EventKind;
use tribunal_core::ids::{AgentName, RunId};
use tribunal_core::money::{Cost, Spend, Usage};
use tribunal_store::RunRecord;

/// The sums, and what runs under way have told of their tokens.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    all: Spend,
    by_agent: BTreeMap<AgentName, Spend>,
    under_way: BTreeMap<RunId, UnderWay>,
}

/// A run that has not ended.
#[derive(Debug, Clone, PartialEq, Eq)]
struct UnderWay {
    agent: AgentName,
    told: Usage,
}

impl Tally {
    /// Returns a tally that goes on from the runs that the ledger knows.
    pub(crate) fn of(runs: Vec<RunRecord>) -> Self {
        let mut tally = Self::default();
        for run in runs {
            tally.begin(run.agent.clone(), run.usage, run.cost);
            if run.result.is_none() {
                let (agent, told) = (run.agent, run.usage);
                tally.under_way.insert(run.id, UnderWay { agent, told });
            }
        }
        tally
    }

    /// Returns the sum over all runs. One that has not ended counts as one of unknown cost.
    pub(crate) fn spend(&self) -> Spend {
        self.all
    }

    /// Returns the sum over the runs of `agent`.
    pub(crate) fn spend_of(&self, agent: &AgentName) -> Spend {
        self.by_agent.get(agent).copied().unwrap_or_default()
    }

    /// Takes an event into account.
    pub(crate) fn count(&mut self, event: &EventKind) {
        match event {
            EventKind::RunStarted { run, agent, .. } => {
                self.begin(agent.clone(), Usage::default(), Cost::Unknown);
                let (agent, told) = (agent.clone(), Usage::default());
                self.under_way.insert(run.clone(), UnderWay { agent, told });
            }
            EventKind::RunProgressed { run, usage, .. } => {
                if let Some(UnderWay { agent, told }) = self.under_way.get_mut(run) {
                    let (agent, before) = (agent.clone(), std::mem::replace(told, *usage));
                    self.correct(&agent, |spend| replace(&mut spend.usage, before, *usage));
                }
            }
            EventKind::RunFinished {
                run, usage, cost, ..
            } => {
                let Some(UnderWay { agent, told }) = self.under_way.remove(run) else {
                    return;
                };
                self.correct(&agent, |spend| {
                    replace(&mut spend.usage, told, *usage);
                    if let Cost::Known(amount) = cost {
                        spend.unknown_runs = spend.unknown_runs.saturating_sub(1);
                        spend.known = spend.known + *amount;
                    }
                });
            }
            _ => {}
        }
    }

    fn begin(&mut self, agent: AgentName, usage: Usage, cost: Cost) {
        self.all.count(usage, cost);
        self.by_agent.entry(agent).or_default().count(usage, cost);
    }

    /// Changes both sums that a run of `agent` is part of.
    fn correct(&mut self, agent: &AgentName, change: impl Fn(&mut Spend)) {
        change(&mut self.all);
        if let Some(own) = self.by_agent.get_mut(agent) {
            change(own);
        }
    }
}

/// Counts `now` in place of what was counted before.
fn replace(usage: &mut Usage, before: Usage, now: Usage) {
    *usage += now;
    usage.input = usage.input.saturating_sub(before.input);
    usage.cache_read = usage.cache_read.saturating_sub(before.cache_read);
    usage.cache_write = usage.cache_write.saturating_sub(before.cache_write);
    usage.output = usage.output.saturating_sub(before.output);
}

#[cfg(test)]
mod tests {
    use tribunal_core::event::RunResult;
    use tribunal_core::money::MicroUsd;

    use super::*;

    fn usage(input: u64, output: u64) -> Usage {
        Usage {
            input,
            output,
            ..Usage::default()
        }
    }

    fn name(text: &str) -> AgentName {
        AgentName::new(text).unwrap()
    }

    /// Returns a run of an earlier owner of the case.
    fn earlier(bits: u64, result: Option<RunResult>, usage: Usage, cost: Cost) -> RunRecord {
        RunRecord {
            id: RunId::from_bits(bits),
            case: tribunal_core::ids::CaseId::from_bits(1),
            step: tribunal_core::ids::StepKey::new("s").unwrap(),
            agent: name("ann"),
            provider: "p".to_owned(),
            model: None,
            attempt: 1,
            prompt_hash: "h".to_owned(),
            started_at: tribunal_core::time::Timestamp(0),
            result,
            usage,
            cost,
            elapsed_ms: 0,
        }
    }

    #[test]
    fn runs_under_way_count_as_unknown_and_with_what_they_have_told() {
        let run = RunId::from_bits;
        let started = |bits, agent| EventKind::RunStarted {
            run: run(bits),
            step: tribunal_core::ids::StepKey::new("s").unwrap(),
            agent: name(agent),
            role: tribunal_core::agent::Role::Judge,
            provider: "p".to_owned(),
            model: None,
            family: "f".to_owned(),
            access: tribunal_core::agent::Access::ReadOnly,
            attempt: 1,
            prompt_hash: "h".to_owned(),
            sandbox: None,
        };
        let progressed = |bits, usage| EventKind::RunProgressed {
            run: run(bits),
            activity: "writing".to_owned(),
            chars: 1,
            usage,
            cost: Cost::Unknown,
        };
        let finished = |bits, usage, cost| EventKind::RunFinished {
            run: run(bits),
            result: RunResult::Abandoned,
            usage,
            cost,
            elapsed_ms: 1,
            session: None,
            answered_by: None,
            version: None,
            refused: Vec::new(),
        };
        let mut tally = Tally::of(vec![
            earlier(
                10,
                Some(RunResult::Abandoned),
                usage(9, 1),
                Cost::Known(MicroUsd(5)),
            ),
            earlier(11, None, usage(1, 0), Cost::Unknown),
        ]);
        for event in [
            started(1, "ann"),
            progressed(1, usage(3, 1)),
            progressed(1, usage(4, 2)),
            started(2, "bob"),
            finished(2, usage(6, 6), Cost::Known(MicroUsd(100))),
            started(3, "bob"),
            finished(3, usage(0, 1), Cost::Unknown),
            // The end of a run that an earlier owner began is known after all.
            finished(11, usage(2, 2), Cost::Known(MicroUsd(7))),
        ] {
            tally.count(&event);
        }
        let ann = Spend {
            known: MicroUsd(12),
            unknown_runs: 1,
            runs: 3,
            usage: usage(15, 5),
        };
        let bob = Spend {
            known: MicroUsd(100),
            unknown_runs: 1,
            runs: 2,
            usage: usage(6, 7),
        };
        let all = Spend {
            known: MicroUsd(112),
            unknown_runs: 2,
            runs: 5,
            usage: usage(21, 12),
        };
        assert_eq!(tally.spend_of(&name("ann")), ann);
        assert_eq!(tally.spend_of(&name("bob")), bob);
        assert_eq!(tally.spend_of(&name("cid")), Spend::default());
        assert_eq!(tally.spend(), all);
    }
}
