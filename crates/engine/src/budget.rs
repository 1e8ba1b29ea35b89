//! Caps on money, tokens and runs, computed from the run log before each call.

use tribunal_core::case::Pause;
use tribunal_core::ids::AgentName;
use tribunal_core::money::{MicroUsd, Spend};

/// The caps in force; an absent one does not bind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct Caps {
    /// Money of one case.
    pub case: Option<MicroUsd>,
    /// Money of one day, by UTC.
    pub day: Option<MicroUsd>,
    /// What a run of unknown cost counts as.
    pub assumed: MicroUsd,
    /// Tokens of one case.
    pub case_tokens: Option<u64>,
    /// Runs of one case.
    pub case_runs: Option<u64>,
}

impl Caps {
    /// Tells whether there is any cap at all.
    #[must_use]
    pub(crate) fn bind(&self) -> bool {
        let Self {
            case,
            day,
            assumed: _,
            case_tokens,
            case_runs,
        } = self;
        case.is_some() || day.is_some() || case_tokens.is_some() || case_runs.is_some()
    }
}

/// Returns why the next call must not be made, if a cap has been reached.
#[must_use]
pub(crate) fn exceeded(caps: &Caps, case: &Spend, day: &Spend) -> Option<Pause> {
    let money = |name: &str, cap: Option<MicroUsd>, spend: &Spend| {
        let detail = spent_up(cap?, caps.assumed, spend)?;
        Some((name.to_owned(), detail))
    };
    let count = |name: &str, cap: Option<u64>, used: u64| {
        let cap = cap?;
        (used >= cap).then(|| (name.to_owned(), format!("{used} of {cap} used")))
    };
    let (cap, detail) = money("case", caps.case, case)
        .or_else(|| money("day", caps.day, day))
        .or_else(|| count("case tokens", caps.case_tokens, case.usage.total()))
        .or_else(|| count("case runs", caps.case_runs, case.runs))?;
    Some(Pause::Budget { cap, detail })
}

/// Returns why `agent` must not be called again in a case, if it has spent all that it may there.
#[must_use]
pub(crate) fn exceeded_by(
    agent: &AgentName,
    cap: MicroUsd,
    assumed: MicroUsd,
    spend: &Spend,
) -> Option<Pause> {
    let detail = spent_up(cap, assumed, spend)?;
    let cap = format!("agent {agent}");
    Some(Pause::Budget { cap, detail })
}

/// Says how much of a cap was spent, if nothing of it is left.
fn spent_up(cap: MicroUsd, assumed: MicroUsd, spend: &Spend) -> Option<String> {
    let spent = spend.against_cap(assumed);
    (spent >= cap).then(|| {
        let assumed = match spend.unknown_runs {
            0 => String::new(),
            n => format!(", {n} runs of unknown cost counted as {assumed} each"),
        };
        format!("{spent} of {cap} spent{assumed}")
    })
}

#[cfg(test)]
mod tests {
    use tribunal_core::money::{Cost, Usage};

    use super::*;

    #[test]
    fn caps_bind_before_the_next_call() {
        let mut spend = Spend::default();
        spend.count(
            Usage {
                output: 900,
                ..Usage::default()
            },
            Cost::Known(MicroUsd(400_000)),
        );
        spend.count(Usage::default(), Cost::Unknown);
        let none = Spend::default();
        let caps = Caps {
            assumed: MicroUsd(100_000),
            ..Caps::default()
        };
        let told = |caps: Caps| match exceeded(&caps, &spend, &none) {
            Some(Pause::Budget { cap, detail }) => format!("{cap}: {detail}"),
            other => format!("{other:?}"),
        };
        assert_eq!(told(caps), "None");
        assert_eq!(
            told(Caps {
                case: Some(MicroUsd(510_000)),
                ..caps
            }),
            "None"
        );
        assert_eq!(
            told(Caps {
                case: Some(MicroUsd(500_000)),
                ..caps
            }),
            "case: $0.50 of $0.50 spent, 1 runs of unknown cost counted as $0.10 each"
        );
        assert_eq!(
            told(Caps {
                case_tokens: Some(900),
                ..caps
            }),
            "case tokens: 900 of 900 used"
        );
        assert_eq!(
            told(Caps {
                case_runs: Some(2),
                ..caps
            }),
            "case runs: 2 of 2 used"
        );
        assert_eq!(
            told(Caps {
                day: Some(MicroUsd(0)),
                ..caps
            }),
            "day: $0.00 of $0.00 spent"
        );
    }
    #[test]
    fn an_agent_may_spend_its_own_share_and_no_more() {
        let mut spend = Spend::default();
        spend.count(Usage::default(), Cost::Known(MicroUsd(300_000)));
        spend.count(Usage::default(), Cost::Unknown);
        let ann = AgentName::new("ann").unwrap();
        let told = |cap| match exceeded_by(&ann, MicroUsd(cap), MicroUsd(100_000), &spend) {
            Some(Pause::Budget { cap, detail }) => format!("{cap}: {detail}"),
            other => format!("{other:?}"),
        };
        assert_eq!(told(400_001), "None");
        assert_eq!(
            told(400_000),
            "agent ann: $0.40 of $0.40 spent, 1 runs of unknown cost counted as $0.10 each"
        );
    }
}
