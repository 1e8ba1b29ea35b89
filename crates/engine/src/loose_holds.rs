//! What the sandbox did not hold although the user wanted it, and what it refused: the words for reports.

use std::collections::{BTreeMap, BTreeSet};

use tribunal_core::event::{Event, EventKind};
use tribunal_core::ids::RunId;
use tribunal_core::sandbox::{RefusedConnection, SandboxRecord};

/// Refusals that one line names.
const NAMED: usize = 5;

/// Returns what the reader of a report should know of the sandbox, a sentence for each kind of thing.
pub(crate) fn loose_holds(events: &[Event]) -> Vec<String> {
    let mut agents: BTreeMap<&RunId, &str> = BTreeMap::new();
    let mut loose: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    let mut refused: BTreeMap<&str, Vec<&RefusedConnection>> = BTreeMap::new();
    for event in events {
        match &event.kind {
            EventKind::RunStarted {
                run,
                agent,
                sandbox,
                ..
            } => {
                agents.insert(run, agent.as_str());
                if let Some(why) = sandbox.as_ref().and_then(loosened) {
                    loose.entry(why).or_default().insert(agent.as_str());
                }
            }
            EventKind::RunFinished {
                run, refused: some, ..
            } => {
                let agent = agents.get(run).copied().unwrap_or("a program");
                refused.entry(agent).or_default().extend(some);
            }
            _ => {}
        }
    }
    let loose = loose.into_iter().map(|(why, agents)| {
        let agents: Vec<&str> = agents.into_iter().collect();
        format!("{}: {why}", agents.join(", "))
    });
    let refused = refused.into_iter();
    let refused = refused.filter_map(|(agent, refused)| refusal_note(agent, &refused));
    loose.chain(refused).collect()
}

fn loosened(record: &SandboxRecord) -> Option<String> {
    match (&record.reason, &record.network_reason) {
        (Some(reason), _) => Some(format!("no sandbox held it, because {reason}")),
        (None, Some(reason)) => Some(format!("its network was open, because {reason}")),
        (None, None) => None,
    }
}

fn refusal_note(agent: &str, refused: &[&RefusedConnection]) -> Option<String> {
    let mut targets: Vec<String> = Vec::new();
    for one in refused {
        let told = format!("{} ({})", one.target, one.why);
        if !targets.contains(&told) {
            targets.push(told);
        }
    }
    let more = match targets.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    targets.truncate(NAMED);
    let told = format!("{agent}: its network refused {}{more}", targets.join(", "));
    (!targets.is_empty()).then_some(told)
}

#[cfg(test)]
mod tests {
    use tribunal_core::agent::{Access, Role};
    use tribunal_core::event::RunResult;
    use tribunal_core::ids::{AgentName, CaseId, StepKey};
    use tribunal_core::money::{Cost, Usage};
    use tribunal_core::time::Timestamp;

    use super::*;

    fn event(kind: EventKind) -> Event {
        Event {
            case: CaseId::from_bits(1),
            seq: 1,
            at: Timestamp(0),
            kind,
        }
    }

    fn started(bits: u64, agent: &str, sandbox: Option<SandboxRecord>) -> Event {
        event(EventKind::RunStarted {
            run: RunId::from_bits(bits),
            step: StepKey::new("hear").expect("a step"),
            agent: AgentName::new(agent).expect("a name"),
            role: Role::Reviewer,
            provider: "custom".to_owned(),
            model: None,
            family: "custom".to_owned(),
            access: Access::ReadOnly,
            attempt: 1,
            prompt_hash: String::new(),
            sandbox,
        })
    }

    fn finished(bits: u64, refused: Vec<RefusedConnection>) -> Event {
        event(EventKind::RunFinished {
            run: RunId::from_bits(bits),
            result: RunResult::Abandoned,
            usage: Usage::default(),
            cost: Cost::Unknown,
            elapsed_ms: 0,
            session: None,
            answered_by: None,
            version: None,
            refused,
        })
    }

    #[test]
    fn a_report_tells_what_did_not_hold_and_what_was_refused() {
        let nothing = || {
            Some(SandboxRecord::of_nothing(Some(
                "`bwrap` is not there".into(),
            )))
        };
        let open = SandboxRecord {
            network_reason: Some("it cannot be limited".into()),
            ..SandboxRecord::of_nothing(None)
        };
        let refused = |target: &str| RefusedConnection {
            target: target.to_owned(),
            why: "the host is not allowed".to_owned(),
            times: 3,
        };
        let events = [
            started(1, "bob", nothing()),
            started(2, "ann", nothing()),
            started(3, "eve", Some(open)),
            started(4, "sam", Some(SandboxRecord::of_nothing(None))),
            finished(1, Vec::new()),
            finished(4, vec![refused("a:1"), refused("b:2"), refused("a:1")]),
        ];
        assert_eq!(
            loose_holds(&events),
            [
                "eve: its network was open, because it cannot be limited",
                "ann, bob: no sandbox held it, because `bwrap` is not there",
                "sam: its network refused a:1 (the host is not allowed), b:2 (the host is not allowed)",
            ]
        );
    }
}
