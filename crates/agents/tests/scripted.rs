//! The scripted agent as its users meet it: a file in, answers out.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tribunal_agents::scripted::ScriptedAgent;
use tribunal_agents::{Agent, AgentError, AgentEvent, Call, Limits, Profile, Progress, Reply};
use tribunal_core::agent::{Access, ErrorClass};
use tribunal_core::ids::{AgentName, RunId};
use tribunal_core::money::{Cost, MicroUsd, Usage};

fn profile() -> Profile {
    Profile {
        name: AgentName::new("ann").unwrap(),
        provider: "scripted".to_owned(),
        model: Some("script-1".to_owned()),
        family: "scripted".to_owned(),
    }
}

fn call(directory: &Path, prompt: &str) -> Call {
    Call {
        run: RunId::from_bits(7),
        prompt: prompt.to_owned(),
        system: None,
        schema: None,
        access: Access::ReadOnly,
        sandbox: tribunal_core::sandbox::SandboxDemand::Off,
        network: tribunal_core::sandbox::NetworkChoice::Auto,
        directory: directory.to_owned(),
        run_dir: directory.to_owned(),
        limits: Limits::default(),
        max_output_tokens: None,
        temperature_milli: None,
        max_cost: None,
    }
}

fn agent(directory: &Path, replies: &Value) -> ScriptedAgent {
    let path = directory.join("script.json");
    std::fs::write(&path, json!({ "replies": replies }).to_string()).unwrap();
    ScriptedAgent::new(profile(), path)
}

async fn ask(agent: &ScriptedAgent, call: Call) -> Result<Reply, AgentError> {
    agent
        .run(call, Progress::default(), CancellationToken::new())
        .await
}

#[tokio::test]
async fn the_first_reply_that_fits_is_given_every_time() {
    let dir = tempfile::tempdir().unwrap();
    let replies = json!([
        {"when": ["Judge", "db.rs"], "text": "both"},
        {"when": "Judge", "text": "one"},
        {"text": "You said: {{prompt}}"},
    ]);
    for _ in 0..2 {
        // A new agent stands for a new process: the answers depend on the prompt alone.
        let agent = agent(dir.path(), &replies);
        for (prompt, answer) in [
            ("Judge this\nin db.rs", "both"),
            ("Judge that", "one"),
            ("\n  hi there \nmore", "You said: hi there"),
        ] {
            let reply = ask(&agent, call(dir.path(), prompt)).await.unwrap();
            assert_eq!(reply.text, answer);
        }
    }
}

#[tokio::test]
async fn without_a_file_it_quotes_the_prompt() {
    let dir = tempfile::tempdir().unwrap();
    let agent = ScriptedAgent::new(profile(), PathBuf::new());
    let reply = ask(&agent, call(dir.path(), "hi")).await.unwrap();
    assert!(reply.text.ends_with("You said: hi"), "{}", reply.text);
    assert_eq!(reply.cost, Cost::Known(MicroUsd(0)));
}

#[tokio::test]
async fn json_carries_the_nonce_and_is_checked() {
    let dir = tempfile::tempdir().unwrap();
    let agent = agent(
        dir.path(),
        &json!([{
            "json": {"nonce": "{{line:Nonce: }}", "scores": [1, 2]},
            "usage": {"input": 3, "output": 4}, "cost_usd": 0.01,
        }]),
    );
    let mut question = call(dir.path(), "Score it\nNonce: n-1 {{prompt}}\nend");
    question.schema = Some(json!({"type": "object", "required": ["nonce"]}));
    let reply = ask(&agent, question.clone()).await.unwrap();
    let value = json!({"nonce": "n-1 {{prompt}}", "scores": [1, 2]});
    assert_eq!(reply.structured, Some(value.clone()));
    assert_eq!(reply.text, format!("{value:#}"));
    assert_eq!(reply.cost, Cost::Known(MicroUsd(10_000)));
    assert_eq!((reply.usage.input, reply.usage.output), (3, 4));

    question.schema = Some(json!({"type": "object", "required": ["verdict"]}));
    let error = ask(&agent, question).await.unwrap_err();
    assert_eq!(error.class, ErrorClass::Garbled);
    assert!(error.message.contains("\"verdict\" is a required property"));
}

#[tokio::test]
async fn scripted_errors_come_as_they_are_written() {
    let dir = tempfile::tempdir().unwrap();
    let agent = agent(
        dir.path(),
        &json!([{
            "error": {"class": "rate_limited", "message": "Slow down", "retry_after_ms": 1500},
            "usage": {"input": 9}, "cost_usd": 1,
        }]),
    );
    let error = ask(&agent, call(dir.path(), "x")).await.unwrap_err();
    let expected = AgentError {
        class: ErrorClass::RateLimited,
        message: "Slow down".to_owned(),
        retry_after: Some(Duration::from_millis(1_500)),
        usage: Usage {
            input: 9,
            ..Usage::default()
        },
        cost: Cost::Known(MicroUsd(1_000_000)),
    };
    assert_eq!(error, expected);
}

#[tokio::test]
async fn files_are_written_only_with_permission_and_only_inside() {
    let dir = tempfile::tempdir().unwrap();
    let work = dir.path().join("work");
    std::fs::create_dir(&work).unwrap();
    std::fs::write(work.join("old.rs"), "old").unwrap();
    std::os::unix::fs::symlink(dir.path(), work.join("link")).unwrap();
    let write = json!({"src/new.rs": "// {{prompt}}\n", "old.rs": null});
    let good = agent(dir.path(), &json!([{"text": "Done.", "write": write}]));

    ask(&good, call(&work, "fix")).await.unwrap();
    assert!(!work.join("src/new.rs").exists());
    for _ in 0..2 {
        let mut question = call(&work, "fix");
        question.access = Access::Write;
        ask(&good, question).await.unwrap();
        let written = std::fs::read_to_string(work.join("src/new.rs")).unwrap();
        assert_eq!(written, "// fix\n");
        assert!(!work.join("old.rs").exists());
    }

    for path in ["../x", "/tmp/x", "a/../../x", "link/x", "link", "", "."] {
        let bad = agent(
            dir.path(),
            &json!([{"text": "Done.", "write": {path: "x"}}]),
        );
        let mut question = call(&work, "fix");
        question.access = Access::Write;
        let error = ask(&bad, question).await.unwrap_err();
        assert_eq!(error.class, ErrorClass::Setup, "{path}: {error}");
    }
    assert!(!dir.path().join("x").exists());
}

#[tokio::test]
async fn progress_is_reported_and_delays_end_early() {
    let dir = tempfile::tempdir().unwrap();
    let agent = agent(
        dir.path(),
        &json!([
            {"when": "slow", "text": "late", "delay_ms": 60000},
            {"text": "one\ntwo", "usage": {"output": 2}},
        ]),
    );
    let (sender, mut receiver) = mpsc::channel(16);
    agent
        .run(
            call(dir.path(), "hi"),
            Progress::to(sender),
            CancellationToken::new(),
        )
        .await
        .unwrap();
    let mut events = Vec::new();
    while let Some(event) = receiver.recv().await {
        events.push(event);
    }
    let usage = Usage {
        output: 2,
        ..Usage::default()
    };
    assert_eq!(
        events,
        [
            AgentEvent::Started {
                session: None,
                model: Some("script-1".to_owned()),
            },
            AgentEvent::Text("one\n".to_owned()),
            AgentEvent::Text("two".to_owned()),
            AgentEvent::Usage(usage),
        ]
    );

    let mut hasty = call(dir.path(), "slow");
    hasty.limits.first_byte = Duration::from_millis(50);
    let error = ask(&agent, hasty).await.unwrap_err();
    assert_eq!(error.class, ErrorClass::Hung);

    let cancel = CancellationToken::new();
    let slow = agent.run(
        call(dir.path(), "slow"),
        Progress::default(),
        cancel.clone(),
    );
    let (outcome, ()) = tokio::join!(slow, async {
        tokio::time::sleep(Duration::from_millis(20)).await;
        cancel.cancel();
    });
    assert_eq!(outcome.unwrap_err().class, ErrorClass::Cancelled);
}

#[tokio::test]
async fn a_missing_script_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("none.json");
    let agent = ScriptedAgent::new(profile(), path.clone());
    let error = ask(&agent, call(dir.path(), "x")).await.unwrap_err();
    assert_eq!(error.class, ErrorClass::Setup);
    assert!(error.message.contains(path.to_str().unwrap()), "{error}");
}

#[tokio::test]
async fn the_example_in_the_docs_works() {
    let docs = include_str!("../src/scripted.rs");
    let lines = docs.lines().map(|line| line.trim_start_matches("//!"));
    let example = lines
        .skip_while(|line| !line.contains("```json"))
        .skip(1)
        .take_while(|line| !line.contains("```"));
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("script.json");
    std::fs::write(&path, example.collect::<String>()).unwrap();
    let agent = ScriptedAgent::new(profile(), path);
    let reply = ask(&agent, call(dir.path(), "Good morning")).await.unwrap();
    assert_eq!(reply.text, "You said: Good morning");
}
