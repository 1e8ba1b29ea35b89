//! Every way in which a model server behaves or misbehaves, in all four dialects.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::json;
use tokio_util::sync::CancellationToken;
use tribunal_agents::http::HttpAgent;
use tribunal_agents::spec::{AgentSpec, Api, Backend, HttpSpec};
use tribunal_agents::{Agent, AgentError, Call, Limits, Progress, Reply};
use tribunal_core::agent::{Access, ErrorClass};
use tribunal_core::ids::{AgentName, RunId};
use tribunal_core::money::Usage;
use tribunal_core::secret::Secret;
use tribunal_fakes::model::{FakeModel, OK_TEXT, USAGE};

const KEY: &str = "sk-canary-4711";

fn limits() -> Limits {
    Limits {
        first_byte: Duration::from_millis(1_500),
        idle: Duration::from_millis(1_500),
        wall: Duration::from_secs(20),
        after_result: Duration::from_secs(1),
        output_bytes: 1024 * 1024,
    }
}

fn agent(api: Api, base_url: &str) -> HttpAgent {
    let http = HttpSpec {
        api,
        base_url: Some(base_url.to_owned()),
        api_key: Some(Secret::new(KEY)),
    };
    let spec = AgentSpec {
        name: AgentName::new("ann").unwrap(),
        backend: Backend::Http(http.clone()),
        model: Some("fake-model".to_owned()),
        family: None,
    };
    HttpAgent::new(spec.profile(), http).unwrap()
}

fn call(run_dir: &Path) -> Call {
    Call {
        run: RunId::from_bits(7),
        prompt: "Please look at this.".to_owned(),
        system: Some("Be brief.".to_owned()),
        schema: None,
        access: Access::ReadOnly,
        sandbox: tribunal_core::sandbox::SandboxDemand::Off,
        network: tribunal_core::sandbox::NetworkChoice::Auto,
        directory: run_dir.to_owned(),
        run_dir: run_dir.to_owned(),
        limits: limits(),
        max_output_tokens: Some(900),
        temperature_milli: Some(250),
        max_cost: None,
    }
}

async fn ask(agent: &HttpAgent, call: Call) -> Result<Reply, AgentError> {
    agent
        .run(call, Progress::default(), CancellationToken::new())
        .await
}

fn usage(api: Api) -> Usage {
    Usage {
        input: USAGE.fresh_input,
        cache_read: USAGE.cache_read,
        cache_write: if api == Api::Anthropic {
            USAGE.cache_write
        } else {
            0
        },
        output: USAGE.output,
    }
}

/// Runs `scenario` in all dialects at once and checks what must hold whatever comes of it.
async fn all_dialects(scenario: &str) -> Vec<(Api, Result<Reply, AgentError>)> {
    let fake = FakeModel::start().await;
    let one = async |api: Api| {
        let dir = tempfile::tempdir().unwrap();
        let key = format!("{scenario}-{}", api.as_str());
        let agent = agent(api, &fake.base_url(scenario, &key));
        let started = Instant::now();
        let outcome = ask(&agent, call(dir.path())).await;
        let took = started.elapsed();
        // A failure is told within its limit; a good answer may take as long as it flows.
        let allowed = if outcome.is_err() {
            limits().idle
        } else {
            limits().wall
        };
        let allowed = allowed + Duration::from_secs(3);
        assert!(took < allowed, "{scenario} {api:?} took {took:?}");
        assert_eq!(
            fake.requests(&key).len(),
            1,
            "{scenario} {api:?}: {outcome:?}"
        );
        assert_private_and_clean(dir.path());
        assert!(
            !format!("{outcome:?} {agent:?}").contains(KEY),
            "{scenario} {api:?}"
        );
        if let Ok(reply) = &outcome {
            let recovered = agent.recover(&call(dir.path())).await;
            assert_eq!(recovered, Some(Ok(reply.clone())), "{scenario} {api:?}");
        }
        (api, outcome)
    };
    let [a, b, c, d] = Api::ALL.map(one);
    let (a, b, c, d) = tokio::join!(a, b, c, d);
    vec![a, b, c, d]
}

fn assert_private_and_clean(run_dir: &Path) {
    use std::os::unix::fs::PermissionsExt;
    for entry in std::fs::read_dir(run_dir).unwrap() {
        let path = entry.unwrap().path();
        let mode = path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{}", path.display());
        let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
        assert!(!text.contains(KEY), "{} holds the key", path.display());
    }
    assert!(run_dir.join("request.json").exists());
}

async fn expect_error(scenario: &str, class: ErrorClass) {
    for (api, outcome) in all_dialects(scenario).await {
        match outcome {
            Err(error) => assert_eq!(error.class, class, "{scenario} {api:?}: {error}"),
            Ok(reply) => panic!("{scenario} {api:?} gave an answer: {reply:?}"),
        }
    }
}

macro_rules! failing {
    ($($scenario:ident => $class:ident,)*) => {$(
        #[tokio::test]
        async fn $scenario() {
            expect_error(stringify!($scenario), ErrorClass::$class).await;
        }
    )*};
}

mod failing {
    use super::*;

    failing! {
        s400 => BadRequest,
        s401 => Auth,
        badkey => Auth,
        s403 => Auth,
        s404 => BadRequest,
        s413 => ContextTooLong,
        toolong => ContextTooLong,
        s429 => RateLimited,
        s429_long => RateLimited,
        s429_date => RateLimited,
        s429_bare => RateLimited,
        flaky429 => RateLimited,
        credit => Credit,
        s500 => Server,
        s502html => Server,
        s503 => Overloaded,
        s529 => Overloaded,
        cut => Network,
        reset => Network,
        close => Network,
        hang => Hung,
        hang_mid => Hung,
        empty => Empty,
        notext => Empty,
        truncated => Truncated,
        refusal => Refused,
        filtered => Refused,
        malformed => Garbled,
        badevent => Garbled,
        clean_eof => Truncated,
    }
}

#[tokio::test]
async fn good_answers_come_whole_with_their_usage() {
    for scenario in ["ok", "slow", "bytewise", "thinking"] {
        for (api, outcome) in all_dialects(scenario).await {
            let reply = outcome.unwrap_or_else(|error| panic!("{scenario} {api:?}: {error}"));
            assert_eq!(reply.text, OK_TEXT, "{scenario} {api:?}");
            assert_eq!(reply.usage, usage(api), "{scenario} {api:?}");
            assert_eq!(
                reply.model.as_deref(),
                Some("fake-model"),
                "{scenario} {api:?}"
            );
            assert!(reply.session.is_some(), "{scenario} {api:?}");
        }
    }
}

#[tokio::test]
async fn the_prompt_arrives_as_it_is() {
    for (api, outcome) in all_dialects("echo").await {
        assert_eq!(outcome.unwrap().text, "Please look at this.", "{api:?}");
    }
}

#[tokio::test]
async fn a_missing_end_mark_is_a_cut_answer() {
    for (api, outcome) in all_dialects("no_done").await {
        match api {
            // The event with the whole response, or with the reason of the end, is the end mark.
            Api::OpenaiResponses | Api::Gemini => assert_eq!(outcome.unwrap().text, OK_TEXT),
            Api::Anthropic | Api::OpenaiChat => {
                assert_eq!(outcome.unwrap_err().class, ErrorClass::Truncated, "{api:?}");
            }
        }
    }
}

#[tokio::test]
async fn an_error_event_says_what_it_is() {
    for (api, outcome) in all_dialects("errevent").await {
        let class = match api {
            Api::Anthropic => ErrorClass::Overloaded,
            Api::OpenaiResponses | Api::OpenaiChat | Api::Gemini => ErrorClass::Server,
        };
        assert_eq!(outcome.unwrap_err().class, class, "{api:?}");
    }
}

#[tokio::test]
async fn waits_are_taken_from_the_answer() {
    for (scenario, low, high) in [
        ("s429", 1, 1),
        ("s429_long", 3_600, 3_600),
        ("s429_date", 1, 2),
    ] {
        for (api, outcome) in all_dialects(scenario).await {
            let wait = outcome.unwrap_err().retry_after.unwrap();
            let expected = Duration::from_secs(low)..=Duration::from_secs(high);
            assert!(expected.contains(&wait), "{scenario} {api:?}: {wait:?}");
        }
    }
}

#[tokio::test]
async fn what_was_used_up_in_vain_is_told() {
    for (api, outcome) in all_dialects("truncated").await {
        assert_eq!(outcome.unwrap_err().usage, usage(api), "{api:?}");
    }
}

#[tokio::test]
async fn answers_are_held_to_their_schema() {
    let fake = FakeModel::start().await;
    let schema = json!({
        "type": "object",
        "properties": {"ok": {"type": "boolean"}, "score": {"type": "integer", "minimum": 0}},
        "required": ["ok", "score"],
        "additionalProperties": false,
    });
    for api in Api::ALL {
        let dir = tempfile::tempdir().unwrap();
        let mut question = call(dir.path());
        question.schema = Some(schema.clone());
        let good = agent(
            api,
            &fake.base_url("json", &format!("json-{}", api.as_str())),
        );
        let reply = ask(&good, question.clone()).await.unwrap();
        let structured = reply.structured.unwrap();
        assert!(structured["ok"].is_boolean(), "{api:?}: {structured}");
        for scenario in ["badjson", "ok"] {
            let bad = agent(api, &fake.base_url(scenario, "unfit"));
            let error = ask(&bad, question.clone()).await.unwrap_err();
            assert_eq!(error.class, ErrorClass::Garbled, "{api:?} {scenario}");
            assert_eq!(error.usage, usage(api));
        }
    }
}
