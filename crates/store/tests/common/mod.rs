//! What the tests of the ledger share: short ways to say what happened.
#![allow(dead_code, reason = "each test binary uses another part of it")]

use serde_json::json;
use tribunal_core::agent::{Access, ErrorClass, Role};
use tribunal_core::case::{CaseKind, Outcome, Pause};
use tribunal_core::event::{EventKind, RunResult};
use tribunal_core::ids::{AgentName, CaseId, EffectKey, RunId, StepKey};
use tribunal_core::money::{Cost, MicroUsd, Usage};
use tribunal_core::time::Timestamp;

pub(crate) fn case(bits: u64) -> CaseId {
    CaseId::from_bits(bits)
}

pub(crate) fn run(bits: u64) -> RunId {
    RunId::from_bits(bits)
}

pub(crate) fn step(text: &str) -> StepKey {
    StepKey::new(text).unwrap()
}

pub(crate) fn effect(text: &str) -> EffectKey {
    EffectKey::new(text).unwrap()
}

pub(crate) fn opened(title: &str) -> EventKind {
    EventKind::CaseOpened {
        kind: CaseKind::Ask,
        title: title.to_owned(),
        request: json!({ "prompts": [title] }),
    }
}

pub(crate) fn resumed(generation: u64) -> EventKind {
    EventKind::CaseResumed {
        holder: "test".to_owned(),
        generation,
    }
}

pub(crate) fn parked(until: Option<i64>) -> EventKind {
    EventKind::CaseParked {
        why: Pause::Interrupted,
        until: until.map(Timestamp),
    }
}

pub(crate) fn closed() -> EventKind {
    EventKind::CaseClosed {
        outcome: Outcome::Completed,
    }
}

pub(crate) fn noted(text: &str) -> EventKind {
    EventKind::Noted {
        text: text.to_owned(),
    }
}

pub(crate) fn step_started(key: &str) -> EventKind {
    EventKind::StepStarted { step: step(key) }
}

pub(crate) fn step_finished(key: &str, output: serde_json::Value) -> EventKind {
    EventKind::StepFinished {
        step: step(key),
        output,
    }
}

pub(crate) fn run_started(id: u64, key: &str) -> EventKind {
    EventKind::RunStarted {
        run: run(id),
        step: step(key),
        agent: AgentName::new("ann").unwrap(),
        role: Role::Reviewer,
        provider: "acme".to_owned(),
        model: Some("m-1".to_owned()),
        family: "m".to_owned(),
        access: Access::ReadOnly,
        attempt: 1,
        prompt_hash: "hash".to_owned(),
        sandbox: None,
    }
}

pub(crate) fn usage(input: u64, output: u64) -> Usage {
    Usage {
        input,
        output,
        ..Usage::default()
    }
}

pub(crate) fn run_progressed(id: u64, tokens: Usage) -> EventKind {
    EventKind::RunProgressed {
        run: run(id),
        activity: "writing".to_owned(),
        chars: 10,
        usage: tokens,
        cost: Cost::Unknown,
    }
}

pub(crate) fn run_finished(
    id: u64,
    result: RunResult,
    tokens: Usage,
    cost: Option<u64>,
) -> EventKind {
    EventKind::RunFinished {
        run: run(id),
        result,
        usage: tokens,
        cost: cost.map_or(Cost::Unknown, |micros| Cost::Known(MicroUsd(micros))),
        elapsed_ms: 1200,
        session: None,
        answered_by: Some("m-1".to_owned()),
        version: None,
        refused: Vec::new(),
    }
}

pub(crate) fn answered() -> RunResult {
    RunResult::Answered {
        reply_hash: "abc".to_owned(),
        reply_chars: 3,
    }
}

pub(crate) fn intended(key: &str) -> EventKind {
    EventKind::EffectIntended {
        effect: effect(key),
        what: "write a file".to_owned(),
    }
}

pub(crate) fn done(key: &str) -> EventKind {
    EventKind::EffectDone {
        effect: effect(key),
        evidence: "it is there".to_owned(),
    }
}

pub(crate) fn provider_parked(
    provider: &str,
    model: Option<&str>,
    until: Option<i64>,
) -> EventKind {
    EventKind::ProviderParked {
        provider: provider.to_owned(),
        model: model.map(str::to_owned),
        class: ErrorClass::RateLimited,
        until: until.map(Timestamp),
    }
}

pub(crate) fn provider_freed(provider: &str, model: Option<&str>) -> EventKind {
    EventKind::ProviderFreed {
        provider: provider.to_owned(),
        model: model.map(str::to_owned),
    }
}
