//! What the runs of a case have cost so far, added up while its events pass.
//!
//! The owner of a case is the only one who adds runs to it, so that nobody has to ask the ledger
//! before each call, which would add up all runs every time.

use std::collections::BTreeMap;

use tribunal_core::event::EventKind;
use tribunal_core::ids::RunId;
use tribunal_core::money::{Cost, Spend, Usage};

/// The sum, and what runs under way have told of their tokens.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    spend: Spend,
    under_way: BTreeMap<RunId, Usage>,
}

impl Tally {
    /// Returns a tally that goes on from `spend`.
    pub(crate) fn from(spend: Spend) -> Self {
        Self {
            spend,
            under_way: BTreeMap::new(),
        }
    }

    /// Returns the sum. A run that has not ended counts as one of unknown cost.
    pub(crate) fn spend(&self) -> Spend {
        self.spend
    }

    /// Takes an event into account.
    pub(crate) fn count(&mut self, event: &EventKind) {
        match event {
            EventKind::RunStarted { run, .. } => {
                self.spend.count(Usage::default(), Cost::Unknown);
                self.under_way.insert(run.clone(), Usage::default());
            }
            EventKind::RunProgressed { run, usage, .. } => {
                if let Some(told) = self.under_way.get_mut(run) {
                    let before = std::mem::replace(told, *usage);
                    self.replace(before, *usage);
                }
            }
            EventKind::RunFinished {
                run, usage, cost, ..
            } => {
                // Of a run that somebody else began, the ledger has counted what was told.
                let before = self.under_way.remove(run).unwrap_or_default();
                self.replace(before, *usage);
                if let Cost::Known(amount) = cost {
                    self.spend.unknown_runs = self.spend.unknown_runs.saturating_sub(1);
                    self.spend.known = self.spend.known + *amount;
                }
            }
            _ => {}
        }
    }

    fn replace(&mut self, before: Usage, now: Usage) {
        let usage = &mut self.spend.usage;
        *usage += now;
        usage.input = usage.input.saturating_sub(before.input);
        usage.cache_read = usage.cache_read.saturating_sub(before.cache_read);
        usage.cache_write = usage.cache_write.saturating_sub(before.cache_write);
        usage.output = usage.output.saturating_sub(before.output);
    }
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

    #[test]
    fn runs_under_way_count_as_unknown_and_with_what_they_have_told() {
        let run = RunId::from_bits;
        let started = |bits| EventKind::RunStarted {
            run: run(bits),
            step: tribunal_core::ids::StepKey::new("s").unwrap(),
            agent: tribunal_core::ids::AgentName::new("ann").unwrap(),
            role: tribunal_core::agent::Role::Judge,
            provider: "p".to_owned(),
            model: None,
            family: "f".to_owned(),
            access: tribunal_core::agent::Access::ReadOnly,
            attempt: 1,
            prompt_hash: "h".to_owned(),
        };
        let progressed = |bits, usage| EventKind::RunProgressed {
            run: run(bits),
            activity: "writing".to_owned(),
            chars: 1,
            usage,
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
        };
        let before = Spend {
            known: MicroUsd(5),
            unknown_runs: 1,
            runs: 2,
            usage: usage(10, 1),
        };
        let mut tally = Tally::from(before);
        for event in [
            started(1),
            progressed(1, usage(3, 1)),
            progressed(1, usage(4, 2)),
            started(2),
            finished(2, usage(6, 6), Cost::Known(MicroUsd(100))),
            started(3),
            finished(3, usage(0, 1), Cost::Unknown),
        ] {
            tally.count(&event);
        }
        let expected = Spend {
            known: MicroUsd(105),
            unknown_runs: 3,
            runs: 5,
            usage: usage(20, 10),
        };
        assert_eq!(tally.spend(), expected);
    }
}
