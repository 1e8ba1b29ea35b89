//! The JSON form of the events that belong to no family: cases, steps, runs, effects, reviews.

use serde_json::{Value, json};
use tribunal_core::agent::{Access, ErrorClass, Role};
use tribunal_core::case::{CaseKind, Outcome, Pause};
use tribunal_core::event::{EventKind, RunResult};
use tribunal_core::finding::{Category, Location};
use tribunal_core::ids::{AgentName, EffectKey, RunId, StepKey};
use tribunal_core::money::{Cost, MicroUsd, Usage};
use tribunal_core::reply::Side;
use tribunal_core::review::gate::Gate;
use tribunal_core::review::history::TrackedFinding;
use tribunal_core::review::report::Standing;
use tribunal_core::sandbox::RefusedConnection;
use tribunal_core::scale::Severity;
use tribunal_core::time::Timestamp;

/// One of each kind, with the JSON that it must have.
pub(super) fn examples() -> Vec<(EventKind, Value)> {
    let run = RunId::from_bits(0xab);
    let step = StepKey::new("ask a").expect("a step key");
    let effect = EffectKey::new("write a.md").expect("an effect key");
    let usage = Usage {
        input: 1,
        cache_read: 2,
        cache_write: 3,
        output: 4,
    };
    let usage_json = json!({"input": 1, "cache_read": 2, "cache_write": 3, "output": 4});
    let id = "r-00000000000000ab";
    vec![
        (
            EventKind::CaseOpened {
                kind: CaseKind::Ask,
                title: "ann: hi".into(),
                request: json!({"a": 1}),
            },
            json!({"type": "case_opened", "kind": "ask", "title": "ann: hi", "request": {"a": 1}}),
        ),
        (
            EventKind::CaseResumed {
                holder: "host:1".into(),
                generation: 2,
            },
            json!({"type": "case_resumed", "holder": "host:1", "generation": 2}),
        ),
        (
            EventKind::CaseParked {
                why: Pause::Provider {
                    provider: "claude".into(),
                    class: ErrorClass::RateLimited,
                },
                until: Some(Timestamp(5)),
            },
            json!({"type": "case_parked", "until": 5,
                "why": {"reason": "provider", "provider": "claude", "class": "rate_limited"}}),
        ),
        (
            EventKind::CaseParked {
                why: Pause::Budget {
                    cap: "day".into(),
                    detail: "$1.00 of $1.00 spent".into(),
                },
                until: None,
            },
            json!({"type": "case_parked", "until": null,
                "why": {"reason": "budget", "cap": "day", "detail": "$1.00 of $1.00 spent"}}),
        ),
        (
            EventKind::CaseClosed {
                outcome: Outcome::Completed,
            },
            json!({"type": "case_closed", "outcome": "completed"}),
        ),
        (
            EventKind::CaseClosed {
                outcome: Outcome::Inconclusive {
                    class: Some(ErrorClass::Empty),
                    cause: "no text".into(),
                },
            },
            json!({"type": "case_closed", "outcome": "inconclusive", "class": "empty", "cause": "no text"}),
        ),
        (
            EventKind::StepStarted { step: step.clone() },
            json!({"type": "step_started", "step": "ask a"}),
        ),
        (
            EventKind::StepFinished {
                step: step.clone(),
                output: json!({"run": id}),
            },
            json!({"type": "step_finished", "step": "ask a", "output": {"run": id}}),
        ),
        (
            EventKind::RunStarted {
                run: run.clone(),
                step,
                agent: AgentName::new("ann").expect("a name"),
                role: Role::Reviewer,
                provider: "claude".into(),
                model: None,
                family: "anthropic".into(),
                access: Access::ReadOnly,
                attempt: 1,
                prompt_hash: "00".into(),
                sandbox: None,
            },
            json!({"type": "run_started", "run": id, "step": "ask a", "agent": "ann", "role": "reviewer",
                "provider": "claude", "model": null, "family": "anthropic", "access": "read_only",
                "attempt": 1, "prompt_hash": "00"}),
        ),
        (
            EventKind::RunProgressed {
                run: run.clone(),
                activity: "writing".into(),
                chars: 7,
                usage,
                cost: Cost::Unknown,
            },
            json!({"type": "run_progressed", "run": id, "activity": "writing", "chars": 7, "usage": usage_json}),
        ),
        (
            EventKind::RunProgressed {
                run: run.clone(),
                activity: "writing".into(),
                chars: 7,
                usage,
                cost: Cost::Known(MicroUsd(120)),
            },
            json!({"type": "run_progressed", "run": id, "activity": "writing", "chars": 7, "usage": usage_json,
                "cost": {"known": 120}}),
        ),
        (
            EventKind::RunFinished {
                run: run.clone(),
                result: RunResult::Answered {
                    reply_hash: "11".into(),
                    reply_chars: 9,
                },
                usage,
                cost: Cost::Known(MicroUsd(7_060)),
                elapsed_ms: 12,
                session: Some("s".into()),
                answered_by: Some("m".into()),
                version: Some("1.0".into()),
                refused: vec![RefusedConnection {
                    target: "example.org:443".into(),
                    why: "the host is not allowed".into(),
                    times: 2,
                }],
            },
            json!({"type": "run_finished", "run": id, "result": "answered", "reply_hash": "11", "reply_chars": 9,
                "usage": usage_json, "cost": {"known": 7060}, "elapsed_ms": 12, "session": "s",
                "answered_by": "m", "version": "1.0",
                "refused": [{"target": "example.org:443", "why": "the host is not allowed", "times": 2}]}),
        ),
        (
            EventKind::RunFinished {
                run: run.clone(),
                result: RunResult::Failed {
                    class: ErrorClass::Hung,
                    message: "silence".into(),
                },
                usage: Usage::default(),
                cost: Cost::Unknown,
                elapsed_ms: 0,
                session: None,
                answered_by: None,
                version: None,
                refused: Vec::new(),
            },
            json!({"type": "run_finished", "run": id, "result": "failed", "class": "hung", "message": "silence",
                "usage": {"input": 0, "cache_read": 0, "cache_write": 0, "output": 0}, "cost": "unknown",
                "elapsed_ms": 0, "session": null, "answered_by": null, "version": null}),
        ),
        (
            EventKind::RepositoryDisturbed {
                run: run.clone(),
                who: "ann".into(),
                places: vec![".git/config".into()],
                more: 0,
                spoils: true,
            },
            json!({"type": "repository_disturbed", "run": id, "who": "ann",
                "places": [".git/config"], "more": 0, "spoils": true}),
        ),
        (
            EventKind::RunRetried {
                run,
                class: ErrorClass::Network,
                wait_ms: 1000,
            },
            json!({"type": "run_retried", "run": id, "class": "network", "wait_ms": 1000}),
        ),
        (
            EventKind::ProviderParked {
                provider: "codex".into(),
                model: Some("gpt-5.5".into()),
                class: ErrorClass::Credit,
                until: None,
            },
            json!({"type": "provider_parked", "provider": "codex", "model": "gpt-5.5", "class": "credit", "until": null}),
        ),
        (
            EventKind::ProviderFreed {
                provider: "codex".into(),
                model: None,
            },
            json!({"type": "provider_freed", "provider": "codex", "model": null}),
        ),
        (
            EventKind::EffectIntended {
                effect: effect.clone(),
                what: "write /a.md".into(),
            },
            json!({"type": "effect_intended", "effect": "write a.md", "what": "write /a.md"}),
        ),
        (
            EventKind::EffectDone {
                effect,
                evidence: "22".into(),
            },
            json!({"type": "effect_done", "effect": "write a.md", "evidence": "22"}),
        ),
        (
            EventKind::ReviewOpened {
                change: "main..topic".into(),
                head: Some("0a1b".into()),
                files: 2,
                left_out: 1,
                reviewers: vec!["ann".into()],
            },
            json!({"type": "review_opened", "change": "main..topic", "head": "0a1b", "files": 2, "left_out": 1, "reviewers": ["ann"]}),
        ),
        (
            EventKind::ReviewerHeard {
                reviewer: "ann".into(),
                part: 1,
                parts: 2,
                findings: 3,
                problems: vec!["findings[0].confidence: 101 is too much".into()],
            },
            json!({"type": "reviewer_heard", "reviewer": "ann", "part": 1, "parts": 2, "findings": 3, "problems": ["findings[0].confidence: 101 is too much"]}),
        ),
        (
            EventKind::ReviewerMissed {
                reviewer: "bob".into(),
                why: "no answer".into(),
            },
            json!({"type": "reviewer_missed", "reviewer": "bob", "why": "no answer"}),
        ),
        (
            EventKind::RoundOpened {
                round: 2,
                findings: 3,
                reviewers: vec!["ann".into()],
            },
            json!({"type": "round_opened", "round": 2, "findings": 3, "reviewers": ["ann"]}),
        ),
        (
            EventKind::DebaterHeard {
                round: 2,
                reviewer: "ann".into(),
                asked: 3,
                said: [("agree".to_owned(), 2)].into(),
                problems: vec!["responses[2].action: it is no action".into()],
            },
            json!({"type": "debater_heard", "round": 2, "reviewer": "ann", "asked": 3, "said": {"agree": 2}, "problems": ["responses[2].action: it is no action"]}),
        ),
        (
            EventKind::DebaterMissed {
                round: 3,
                reviewer: "bob".into(),
                why: "no answer".into(),
            },
            json!({"type": "debater_missed", "round": 3, "reviewer": "bob", "why": "no answer"}),
        ),
        (
            EventKind::EvidenceWeighed {
                judge: "jim".into(),
                finding: "wrong".into(),
                side: Side::For,
                severity: Some(Severity::Low),
            },
            json!({"type": "evidence_weighed", "judge": "jim", "finding": "wrong", "side": "for", "severity": "low"}),
        ),
        (
            EventKind::ReviewSettled {
                accepted: 1,
                disputed: 0,
                rejected: 2,
                gate: Gate::Fail { open: 1 },
                report: "33".into(),
            },
            json!({"type": "review_settled", "accepted": 1, "disputed": 0, "rejected": 2, "gate": "fail", "open": 1, "report": "33"}),
        ),
        (
            EventKind::FindingsTracked {
                findings: vec![TrackedFinding {
                    fingerprint: "ab".into(),
                    location: Location::default(),
                    category: Category::Bug,
                    severity: Severity::High,
                    label: None,
                    title: "wrong".into(),
                    code: "x=1".into(),
                    standing: Standing::Open,
                    claimed: Vec::new(),
                    branches: std::collections::BTreeMap::new(),
                }],
            },
            json!({"type": "findings_tracked", "findings": [{
                "fingerprint": "ab", "category": "bug", "severity": "high", "title": "wrong",
                "location": {"file": "", "line": null, "end_line": null, "function": null},
                "code": "x=1", "standing": "open",
            }]}),
        ),
        (
            EventKind::FilesCollected {
                runs: 3,
                bytes: 4096,
                why: "the case is old".into(),
            },
            json!({"type": "files_collected", "runs": 3, "bytes": 4096, "why": "the case is old"}),
        ),
        (
            EventKind::Noted {
                text: "by the way".into(),
            },
            json!({"type": "noted", "text": "by the way"}),
        ),
    ]
}
