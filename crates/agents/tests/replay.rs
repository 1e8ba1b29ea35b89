//! The replay agent: recorded answers again, and a helpful word when there is none.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::PathBuf;

use tokio_util::sync::CancellationToken;
use tribunal_agents::replay::ReplayAgent;
use tribunal_agents::spec::Recording;
use tribunal_agents::{Agent, AgentError, Call, Limits, Profile, Progress, Reply};
use tribunal_core::agent::{Access, ErrorClass};
use tribunal_core::ids::{AgentName, RunId};
use tribunal_core::money::{Cost, Usage};

fn name(name: &str) -> AgentName {
    AgentName::new(name).unwrap()
}

fn reply(text: &str) -> Reply {
    Reply {
        text: text.to_owned(),
        structured: None,
        usage: Usage::default(),
        cost: Cost::Unknown,
        session: Some("s-1".to_owned()),
        model: None,
        version: None,
    }
}

fn recording(agent: &str, prompt: &str, answer: &str) -> Recording {
    Recording {
        agent: name(agent),
        step: "recorded".to_owned(),
        prompt: prompt.to_owned(),
        result: Ok(reply(answer)),
    }
}

fn agent(recordings: Vec<Recording>) -> ReplayAgent {
    let profile = Profile {
        name: name("ann"),
        provider: "replay".to_owned(),
        model: None,
        family: "replay".to_owned(),
    };
    ReplayAgent::new(profile, recordings)
}

async fn ask(agent: &ReplayAgent, prompt: &str) -> Result<Reply, AgentError> {
    ask_for(agent, "another step", prompt).await
}

async fn ask_for(agent: &ReplayAgent, step: &str, prompt: &str) -> Result<Reply, AgentError> {
    let call = Call {
        run: RunId::from_bits(7),
        prompt: prompt.to_owned(),
        system: None,
        schema: None,
        access: Access::ReadOnly,
        sandbox: tribunal_core::sandbox::SandboxDemand::Off,
        network: tribunal_core::sandbox::NetworkChoice::Auto,
        directory: PathBuf::new(),
        run_dir: PathBuf::new(),
        limits: Limits::default(),
        max_output_tokens: None,
        temperature_milli: None,
        max_cost: None,
    };
    agent
        .run_step(step, call, Progress::default(), CancellationToken::new())
        .await
}

#[tokio::test]
async fn the_recording_of_a_step_answers_it_although_others_have_the_same_prompt() {
    let of = |step: &str| Recording {
        step: step.to_owned(),
        ..recording("ann", "", step)
    };
    let agent = agent(vec![
        of("prove ann"),
        of("review ann"),
        of("work review ann"),
    ]);
    assert_eq!(
        ask_for(&agent, "work review ann", "").await,
        Ok(reply("work review ann"))
    );
    assert_eq!(
        ask_for(&agent, "review ann", "").await,
        Ok(reply("review ann"))
    );
    assert_eq!(
        ask_for(&agent, "review ann", "").await,
        Ok(reply("review ann"))
    );
}

#[tokio::test]
async fn answers_come_in_their_order_and_the_last_repeats() {
    let busy = AgentError::new(ErrorClass::Overloaded, "busy");
    let agent = agent(vec![
        recording("ann", "a", "first"),
        recording("bob", "a", "not mine"),
        recording("ann", "b", "other"),
        Recording {
            result: Err(busy.clone()),
            ..recording("ann", "a", "")
        },
        recording("ann", "a", "third"),
    ]);
    assert_eq!(ask(&agent, "a").await, Ok(reply("first")));
    assert_eq!(ask(&agent, "b").await, Ok(reply("other")));
    assert_eq!(ask(&agent, "a").await, Err(busy));
    assert_eq!(ask(&agent, "a").await, Ok(reply("third")));
    assert_eq!(ask(&agent, "a").await, Ok(reply("third")));
    assert_eq!(ask(&agent, "b").await, Ok(reply("other")));
}

#[tokio::test]
async fn a_miss_names_the_nearest_recording_and_the_difference() {
    let agent = agent(vec![
        recording("ann", "Rule on it\nfile: a.rs\nend", "x"),
        recording("ann", "Review it\nfile: b.rs\nend", "y"),
        recording("bob", "Review it\nfile: c.rs\nend", "z"),
    ]);
    let error = ask(&agent, "Review it\nfile: c.rs\nend").await.unwrap_err();
    assert_eq!(error.class, ErrorClass::Setup);
    assert_eq!(
        error.message,
        "No recording of agent `ann` has the prompt \"Review it\": the nearest, recording 2, \
         differs at line 2: recorded \"file: b.rs\", asked \"file: c.rs\""
    );
    let error = ask(&agent, "Rule on it\nfile: a.rs\nend\nmore")
        .await
        .unwrap_err();
    assert!(
        error
            .message
            .ends_with("recording 1, differs at line 4: recorded nothing, asked \"more\""),
        "{error}"
    );
}

#[tokio::test]
async fn no_recordings_are_told_as_such() {
    let error = ask(&agent(Vec::new()), "a").await.unwrap_err();
    assert_eq!(error.message, "There are no recordings of agent `ann`");
}

#[tokio::test]
async fn huge_prompts_are_compared_in_bounded_time() {
    let line = "x".repeat(1_000_000);
    let many = "y\n".repeat(500_000);
    let agent = agent(vec![
        recording("ann", &line, "x"),
        recording("ann", &many, "y"),
    ]);
    let started = std::time::Instant::now();
    ask(&agent, &format!("{line}!")).await.unwrap_err();
    ask(&agent, &format!("{many}!")).await.unwrap_err();
    assert!(started.elapsed().as_secs() < 5);
}
