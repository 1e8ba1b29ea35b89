//! What our requests look like, where they go, and what ends them.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tribunal_agents::http::HttpAgent;
use tribunal_agents::spec::{AgentSpec, Api, Backend, HttpSpec};
use tribunal_agents::{Agent, AgentError, AgentEvent, Call, Limits, Progress, Reply};
use tribunal_core::agent::{Access, ErrorClass};
use tribunal_core::ids::{AgentName, RunId};
use tribunal_core::secret::Secret;
use tribunal_fakes::model::{FakeModel, OK_TEXT};

const KEY: &str = "sk-canary-4711";

fn agent(api: Api, base_url: Option<&str>, key: Option<&str>) -> Result<HttpAgent, AgentError> {
    let http = HttpSpec {
        api,
        base_url: base_url.map(str::to_owned),
        api_key: key.map(Secret::new),
    };
    let spec = AgentSpec {
        name: AgentName::new("ann").unwrap(),
        backend: Backend::Http(http.clone()),
        model: Some("fake-model".to_owned()),
        family: None,
    };
    HttpAgent::new(spec.profile(), http)
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
        limits: Limits::default(),
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

/// Serves `response` once, byte for byte, then closes the connection; returns the base URL.
async fn serve(response: Vec<u8>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        let mut buffer = vec![0; 65_536];
        let _ = socket.read(&mut buffer).await;
        let _ = socket.write_all(&response).await;
        let _ = socket.shutdown().await;
    });
    format!("http://{address}")
}

fn stream_of(body: &str) -> Vec<u8> {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    format!("{head}{body}").into_bytes()
}

#[tokio::test]
async fn requests_carry_everything_in_the_vendors_places() {
    let fake = FakeModel::start().await;
    let schema = json!({"type": "object", "properties": {}, "additionalProperties": false});
    for api in Api::ALL {
        let dir = tempfile::tempdir().unwrap();
        let agent = agent(api, Some(&fake.base_url("json", api.as_str())), Some(KEY)).unwrap();
        let mut question = call(dir.path());
        question.schema = Some(schema.clone());
        ask(&agent, question).await.unwrap();
        let requests = fake.requests(api.as_str());
        let [request] = requests.as_slice() else {
            panic!("{api:?}: {} requests", requests.len());
        };
        let (path, key_header, key, places): (_, _, _, &[(&str, Value)]) = match api {
            Api::Anthropic => (
                "/v1/messages",
                "x-api-key",
                KEY.to_owned(),
                &[
                    ("/system", json!("Be brief.")),
                    ("/messages/0/content", json!("Please look at this.")),
                    ("/max_tokens", json!(900)),
                    ("/temperature", json!(0.25)),
                    ("/output_config/format/schema", schema.clone()),
                ],
            ),
            Api::OpenaiResponses => (
                "/v1/responses",
                "authorization",
                format!("Bearer {KEY}"),
                &[
                    ("/instructions", json!("Be brief.")),
                    ("/input/0/content/0/text", json!("Please look at this.")),
                    ("/max_output_tokens", json!(900)),
                    ("/temperature", json!(0.25)),
                    ("/text/format/schema", schema.clone()),
                    ("/text/format/strict", json!(true)),
                    ("/store", json!(false)),
                ],
            ),
            Api::OpenaiChat => (
                "/v1/chat/completions",
                "authorization",
                format!("Bearer {KEY}"),
                &[
                    ("/messages/0/content", json!("Be brief.")),
                    ("/messages/1/content", json!("Please look at this.")),
                    ("/max_tokens", json!(900)),
                    ("/temperature", json!(0.25)),
                    ("/response_format/json_schema/schema", schema.clone()),
                ],
            ),
            Api::Gemini => (
                "/v1beta/models/fake-model:streamGenerateContent?alt=sse",
                "x-goog-api-key",
                KEY.to_owned(),
                &[
                    ("/systemInstruction/parts/0/text", json!("Be brief.")),
                    ("/contents/0/parts/0/text", json!("Please look at this.")),
                    ("/generationConfig/maxOutputTokens", json!(900)),
                    ("/generationConfig/temperature", json!(0.25)),
                    ("/generationConfig/responseJsonSchema", schema.clone()),
                ],
            ),
        };
        assert_eq!(request.path, path, "{api:?}");
        assert_eq!(request.headers.get(key_header), Some(&key), "{api:?}");
        for (place, value) in places {
            assert_eq!(request.body.pointer(place), Some(value), "{api:?} {place}");
        }
        let kept = std::fs::read_to_string(dir.path().join("request.json")).unwrap();
        let kept: Value = serde_json::from_str(&kept).unwrap();
        assert_eq!(kept["body"], request.body, "{api:?}");
    }
}

#[tokio::test]
async fn a_vendor_without_key_is_not_even_asked() {
    let dir = tempfile::tempdir().unwrap();
    for api in Api::ALL {
        for key in [None, Some(" \n")] {
            let agent = agent(api, None, key).unwrap();
            let error = ask(&agent, call(dir.path())).await.unwrap_err();
            assert_eq!(error.class, ErrorClass::Auth, "{api:?}");
            assert!(error.message.contains("has no API key for"), "{error}");
        }
    }
    let agent = agent(Api::Anthropic, None, Some("sk-bad\nkey")).unwrap();
    let error = ask(&agent, call(dir.path())).await.unwrap_err();
    assert_eq!(error.class, ErrorClass::Auth);
    assert!(!dir.path().join("request.json").exists());
}

#[tokio::test]
async fn a_server_of_ones_own_may_go_without_key() {
    let fake = FakeModel::start().await;
    let dir = tempfile::tempdir().unwrap();
    let agent = agent(Api::OpenaiChat, Some(&fake.base_url("ok", "free")), None).unwrap();
    assert_eq!(ask(&agent, call(dir.path())).await.unwrap().text, OK_TEXT);
    assert_eq!(fake.requests("free")[0].headers.get("authorization"), None);
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let fake = FakeModel::start().await;
    let target = fake.base_url("ok", "stolen");
    for status in ["301 Moved", "302 Found", "307 Temporary", "308 Permanent"] {
        let dir = tempfile::tempdir().unwrap();
        let response = format!(
            "HTTP/1.1 {status}\r\nlocation: {target}/v1/messages\r\ncontent-length: 0\r\n\r\n"
        );
        let base = serve(response.into_bytes()).await;
        let agent = agent(Api::Anthropic, Some(&base), Some(KEY)).unwrap();
        let error = ask(&agent, call(dir.path())).await.unwrap_err();
        assert_eq!(error.class, ErrorClass::BadRequest);
        assert!(error.message.contains("points to 127.0.0.1"), "{error}");
    }
    assert!(fake.requests("stolen").is_empty());
}

#[tokio::test]
async fn keys_repeated_by_the_server_are_hidden() {
    let dir = tempfile::tempdir().unwrap();
    let body = json!({"error": {"message": format!("Incorrect API key provided: {KEY}")}});
    let response =
        format!("HTTP/1.1 401 Unauthorized\r\nx-echo: {KEY}\r\nconnection: close\r\n\r\n{body}");
    let base = serve(response.into_bytes()).await;
    let agent = agent(Api::OpenaiChat, Some(&base), Some(KEY)).unwrap();
    let error = ask(&agent, call(dir.path())).await.unwrap_err();
    assert_eq!(
        error.message,
        "openai_chat answered 401: Incorrect API key provided: [redacted]"
    );
    let kept = std::fs::read_to_string(dir.path().join("response.txt")).unwrap();
    assert!(!kept.contains(KEY), "{kept}");
    assert!(kept.contains("x-echo: [redacted]"), "{kept}");
}

#[tokio::test]
async fn names_that_lead_nowhere_and_closed_ports_are_network_errors() {
    let dir = tempfile::tempdir().unwrap();
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let refused = format!("http://{}", closed.local_addr().unwrap());
    drop(closed);
    let plain = serve(b"HTTP/1.1 200 OK\r\n\r\n".to_vec()).await;
    let no_tls = plain.replace("http:", "https:");
    for base in [refused.as_str(), "http://no-such-host.invalid", &no_tls] {
        let agent = agent(Api::Anthropic, Some(base), Some(KEY)).unwrap();
        let error = ask(&agent, call(dir.path())).await.unwrap_err();
        assert_eq!(error.class, ErrorClass::Network, "{base}: {error}");
        assert!(error.message.starts_with("The connection to "), "{error}");
    }
}

#[tokio::test]
async fn cancelling_drops_the_connection_at_once() {
    for scenario in ["hang", "hang_mid"] {
        let fake = FakeModel::start().await;
        let dir = tempfile::tempdir().unwrap();
        let agent = agent(
            Api::Anthropic,
            Some(&fake.base_url(scenario, "c")),
            Some(KEY),
        )
        .unwrap();
        let cancel = CancellationToken::new();
        let run = agent.run(call(dir.path()), Progress::default(), cancel.clone());
        let (outcome, at) = tokio::join!(run, async {
            tokio::time::sleep(Duration::from_millis(300)).await;
            cancel.cancel();
            Instant::now()
        });
        assert!(at.elapsed() < Duration::from_millis(500));
        assert_eq!(outcome.unwrap_err().class, ErrorClass::Cancelled);
        assert_eq!(fake.requests("c").len(), 1);
    }
}

#[tokio::test]
async fn the_wall_limit_ends_a_stream_that_never_rests() {
    let fake = FakeModel::start().await;
    let dir = tempfile::tempdir().unwrap();
    let agent = agent(Api::Gemini, Some(&fake.base_url("slow", "w")), Some(KEY)).unwrap();
    let mut question = call(dir.path());
    question.limits.wall = Duration::from_millis(700);
    let error = ask(&agent, question).await.unwrap_err();
    assert_eq!(error.class, ErrorClass::Hung);
    assert_eq!(error.message, "The run took longer than 700ms");
}

#[tokio::test]
async fn floods_end_at_their_bounds() {
    let comments = ": ping\n".repeat(20_000);
    let endless = format!("data: {}", "x".repeat(17 * 1024 * 1024));
    for (body, output_bytes, class) in [
        (comments, 100_000, ErrorClass::Limit),
        (endless, u64::MAX, ErrorClass::Garbled),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let base = serve(stream_of(&body)).await;
        let agent = agent(Api::Anthropic, Some(&base), Some(KEY)).unwrap();
        let mut question = call(dir.path());
        question.limits.output_bytes = output_bytes;
        let error = ask(&agent, question).await.unwrap_err();
        assert_eq!(error.class, class, "{error}");
    }
}

#[tokio::test]
async fn progress_tells_start_text_and_usage() {
    let fake = FakeModel::start().await;
    for api in Api::ALL {
        let dir = tempfile::tempdir().unwrap();
        let agent = agent(api, Some(&fake.base_url("ok", "p")), Some(KEY)).unwrap();
        let (sender, mut receiver) = mpsc::channel(256);
        let progress = Progress::to(sender);
        let reply = agent
            .run(call(dir.path()), progress, CancellationToken::new())
            .await
            .unwrap();
        let (mut text, mut usage, mut started) = (String::new(), None, 0);
        while let Some(event) = receiver.recv().await {
            match event {
                AgentEvent::Started { session, .. } => {
                    assert_eq!(session, reply.session);
                    started += 1;
                }
                AgentEvent::Text(piece) => text.push_str(&piece),
                AgentEvent::Usage(so_far) => usage = Some(so_far),
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(
            (started, text, usage),
            (1, reply.text, Some(reply.usage)),
            "{api:?}"
        );
    }
}

/// A stream that is cut at any byte gives the whole answer or none.
#[tokio::test]
async fn a_cut_at_any_byte_never_gives_a_part_for_the_whole() {
    let fake = FakeModel::start().await;
    for api in Api::ALL {
        let dir = tempfile::tempdir().unwrap();
        let agent = agent(api, Some(&fake.base_url("ok", "cuts")), Some(KEY)).unwrap();
        let whole = ask(&agent, call(dir.path())).await.unwrap();
        let path = dir.path().join("response.txt");
        let recorded = std::fs::read(&path).unwrap();
        let mut recovered = 0;
        // Every byte of the end, where a cut might pass for the whole; the rest in steps.
        let tail = recorded.len() - 400;
        for end in (0..tail).step_by(7).chain(tail..=recorded.len()) {
            std::fs::write(&path, &recorded[..end]).unwrap();
            if let Some(reply) = agent.recover(&call(dir.path())).await {
                assert_eq!(reply.unwrap(), whole, "{api:?} cut at {end}");
                recovered += 1;
            }
        }
        assert!((1..=4).contains(&recovered), "{api:?}: {recovered}");
    }
}

#[tokio::test]
async fn a_document_in_place_of_a_stream_is_garbled() {
    for (body, class) in [
        (r#"{"id":"x","choices":[]}"#, ErrorClass::Garbled),
        (
            r#"{"error":{"type":"overloaded_error","message":"busy"}}"#,
            ErrorClass::Overloaded,
        ),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let response = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n{body}"
        );
        let base = serve(response.into_bytes()).await;
        let agent = agent(Api::OpenaiChat, Some(&base), Some(KEY)).unwrap();
        let error = ask(&agent, call(dir.path())).await.unwrap_err();
        assert_eq!(error.class, class, "{error}");
    }
}

#[tokio::test]
async fn a_connection_left_open_after_the_end_is_not_waited_for() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        let event = json!({
            "candidates": [{"content": {"parts": [{"text": "Done."}]}, "finishReason": "STOP"}],
            "responseId": "r-1",
        });
        let body = stream_of(&format!("data: {event}\r\n\r\n"));
        let _ = socket.read(&mut vec![0; 65_536]).await;
        let _ = socket.write_all(&body).await;
        while socket.write_all(b": still here\n").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    });
    let dir = tempfile::tempdir().unwrap();
    let agent = agent(Api::Gemini, Some(&base), Some(KEY)).unwrap();
    let mut question = call(dir.path());
    question.limits.after_result = Duration::from_millis(400);
    let started = Instant::now();
    assert_eq!(ask(&agent, question).await.unwrap().text, "Done.");
    assert!(started.elapsed() < Duration::from_secs(3));
}

#[test]
fn making_an_agent_is_quick() {
    let started = Instant::now();
    for _ in 0..100 {
        agent(Api::Anthropic, None, Some(KEY)).unwrap();
    }
    assert!(started.elapsed() < Duration::from_millis(200));
}
