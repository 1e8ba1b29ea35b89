//! Recording, scripts, the control endpoints and the binary itself.

mod common;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};

use common::{ask, get, post, raw, send, streamed_text};
use serde_json::{Value, json};
use tribunal_fakes::model::{FakeModel, OK_TEXT};

#[test]
fn requests_are_recorded_under_their_key() {
    let model = FakeModel::spawn_blocking();
    ask(&model.base_url("ok", "one"), "anthropic", true, "first");
    ask(&model.base_url("s401", "one"), "chat", false, "second");
    ask(&model.base_url("ok", "two"), "gemini", false, "other");
    let seen = model.requests("one");
    let brief: Vec<_> = seen
        .iter()
        .map(|r| (r.n, r.scenario.as_str(), r.method.as_str(), r.path.as_str()))
        .collect();
    let expected = [
        (0, "ok", "POST", "/v1/messages?beta=true"),
        (1, "s401", "POST", "/v1/chat/completions"),
    ];
    assert_eq!(brief, expected);
    assert_eq!(seen[0].headers["x-api-key"], "secret");
    assert_eq!(seen[0].body["messages"][0]["content"], "first");
    let over_http = get(&format!("{}/__requests/one", model.url())).json();
    assert_eq!(over_http, json!(seen));
    assert_eq!(
        get(&format!("{}/__requests/none", model.url())).json(),
        json!([])
    );
}

#[test]
fn scripts_answer_in_order_and_the_last_repeats() {
    let model = FakeModel::spawn_blocking();
    let script = json!([
        "first",
        {"text": "second", "delay_ms": 5},
        {"status": 418, "headers": {"X-Odd": "yes"}, "body": {"a": 1}},
        {"scenario": "s529"},
        {"json": {"last": true}},
        {"when": "special", "text": "by rule"}
    ]);
    assert_eq!(
        post(&format!("{}/__script/k", model.url()), &script).status,
        200
    );
    let base = model.base_url("script", "k");
    let next = |prompt: &str| ask(&base, "responses", true, prompt);
    assert_eq!(streamed_text("responses", &next("x")), "first");
    assert_eq!(
        streamed_text("responses", &next("something special")),
        "by rule"
    );
    assert_eq!(streamed_text("responses", &next("x")), "second");
    let odd = next("x");
    assert_eq!(
        (odd.status, odd.header("x-odd"), odd.text().as_str()),
        (418, Some("yes"), "{\"a\":1}")
    );
    assert_eq!(next("x").status, 529);
    for _ in 0..3 {
        assert_eq!(streamed_text("responses", &next("x")), "{\"last\":true}");
    }
    assert_eq!(
        ask(&model.base_url("script", "unset"), "chat", true, "x").status,
        501
    );
}

#[test]
fn probes_of_clients_are_answered() {
    let model = FakeModel::spawn_blocking();
    let base = model.base_url("s500", "k");
    assert_eq!(get(&format!("{}/__health", model.url())).status, 200);
    assert_eq!(
        get(&format!("{base}/v1/models")).json()["data"][0]["id"],
        "fake-model"
    );
    assert_eq!(
        get(&format!("{base}/v1beta/models")).json()["models"][0]["name"],
        "models/fake-model"
    );
    assert_eq!(
        post(&format!("{base}/v1/messages/count_tokens"), &json!({})).json()["input_tokens"],
        1600
    );
    assert_eq!(send(&format!("{base}/"), "HEAD", "").status, 200);
    assert_eq!(get(&format!("{base}/api/hello")).status, 404);
    assert_eq!(get(&format!("{}/elsewhere", model.url())).status, 404);
}

#[test]
fn chunked_bodies_and_broken_requests_are_read() {
    let model = FakeModel::spawn_blocking();
    let host = model.addr.to_string();
    let (first, second) = ("{\"input\": ", "\"hi\"}");
    let request = format!(
        "POST /s/echo@k/v1/responses HTTP/1.1\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n\
         {:x}\r\n{first}\r\n{:x};ext=1\r\n{second}\r\n0\r\nTrailer: x\r\n\r\n",
        first.len(),
        second.len()
    );
    let answer = raw(&host, request.as_bytes());
    assert_eq!(answer.json()["output"][0]["content"][0]["text"], "hi");
    assert_eq!(raw(&host, b"nonsense\r\n\r\n").status, 400);
    assert_eq!(
        raw(
            &host,
            b"POST / HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n"
        )
        .status,
        413
    );
}

#[test]
fn one_connection_carries_several_calls() {
    let model = FakeModel::spawn_blocking();
    let mut socket = TcpStream::connect(model.addr).unwrap();
    for n in 0..3 {
        let body =
            json!({"messages": [{"role": "user", "content": format!("call {n}")}]}).to_string();
        let head = format!(
            "POST /s/echo@k/v1/chat/completions HTTP/1.1\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        socket
            .write_all(format!("{head}{body}").as_bytes())
            .unwrap();
        let mut reader = BufReader::new(&socket);
        let mut length = 0;
        let mut line = String::new();
        while line != "\r\n" {
            line.clear();
            reader.read_line(&mut line).unwrap();
            if let Some(value) = line.strip_prefix("content-length: ") {
                length = value.trim().parse().unwrap();
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        let answer: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(
            answer["choices"][0]["message"]["content"],
            format!("call {n}")
        );
    }
    assert_eq!(model.requests("k").len(), 3);
}

#[tokio::test]
async fn server_lives_on_a_runtime_and_ends_with_its_handle() {
    let model = FakeModel::start().await;
    let base = model.base_url("ok", "k");
    let answer = tokio::task::spawn_blocking(move || ask(&base, "chat", true, "x"))
        .await
        .unwrap();
    assert_eq!(streamed_text("chat", &answer), OK_TEXT);
    let addr = model.addr;
    drop(model);
    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    assert!(tokio::net::TcpStream::connect(addr).await.is_err());
}

#[tokio::test]
async fn server_on_a_thread_may_be_started_inside_a_runtime() {
    let model = FakeModel::spawn_blocking();
    assert_eq!(get(&format!("{}/__health", model.url())).status, 200);
}

#[test]
fn binary_prints_its_url_and_ends_with_stdin() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_fake-model"))
        .args(["--latency-ms", "30"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap())
        .read_line(&mut line)
        .unwrap();
    let url = serde_json::from_str::<Value>(&line).unwrap()["url"]
        .as_str()
        .unwrap()
        .to_owned();
    let start = std::time::Instant::now();
    let answer = ask(&format!("{url}/s/ok@k"), "gemini", true, "x");
    assert_eq!(streamed_text("gemini", &answer), OK_TEXT);
    assert!(start.elapsed().as_millis() >= 30);
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
}

#[test]
fn binaries_are_found_beside_the_test() {
    assert!(tribunal_fakes::binary("fake-agent").unwrap().is_file());
    assert!(
        tribunal_fakes::binary("no-such-fake")
            .unwrap_err()
            .to_string()
            .contains("cargo build")
    );
}
