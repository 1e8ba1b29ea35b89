//! A client for the tests: it reports how an answer ended, not only what it said.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(dead_code, reason = "each test binary uses its own part of this")]

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};

/// The four dialects with a streamed and a plain path, and a request that fits.
pub(crate) const DIALECTS: [&str; 4] = ["anthropic", "responses", "chat", "gemini"];

/// How an answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// The whole body arrived.
    Complete,
    /// The connection closed before the end of the body.
    Cut,
    /// The connection closed before any byte.
    Nothing,
    /// Nothing more came for a while.
    Stalled,
}

/// An answer as it came off the wire.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
    pub(crate) end: End,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// Returns the data of all events that are whole and JSON.
    pub(crate) fn events(&self) -> Vec<Value> {
        let text = self.text().replace("\r\n", "\n");
        let whole = text
            .split_inclusive("\n\n")
            .filter(|event| event.ends_with("\n\n"));
        let data =
            whole.flat_map(|event| event.lines().filter_map(|line| line.strip_prefix("data: ")));
        data.filter_map(|data| serde_json::from_str(data).ok())
            .collect()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head
            .lines()
            .find_map(|line| line.strip_prefix(&format!("{name}: ")))
    }
}

/// Sends a POST with a JSON body.
pub(crate) fn post(url: &str, body: &Value) -> Answer {
    send(url, "POST", &body.to_string())
}

/// Sends a GET.
pub(crate) fn get(url: &str) -> Answer {
    send(url, "GET", "")
}

/// Sends any request and reads until the server closes or falls silent.
pub(crate) fn send(url: &str, method: &str, body: &str) -> Answer {
    let rest = url.strip_prefix("http://").unwrap();
    let (host, path) = rest.split_at(rest.find('/').unwrap());
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nX-Api-Key: secret\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    raw(host, format!("{head}{body}").as_bytes())
}

/// Sends bytes and reads the answer to the end.
pub(crate) fn raw(host: &str, bytes: &[u8]) -> Answer {
    let mut socket = TcpStream::connect(host).unwrap();
    socket
        .set_read_timeout(Some(Duration::from_millis(1500)))
        .unwrap();
    socket.write_all(bytes).unwrap();
    let mut received = Vec::new();
    let stalled = socket.read_to_end(&mut received).is_err_and(|error| {
        matches!(
            error.kind(),
            std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut
        )
    });
    parse(&received, stalled)
}

fn parse(received: &[u8], stalled: bool) -> Answer {
    let Some(at) = received.windows(4).position(|window| window == b"\r\n\r\n") else {
        let end = if stalled { End::Stalled } else { End::Nothing };
        return Answer {
            status: 0,
            head: String::new(),
            body: Vec::new(),
            end,
        };
    };
    let head = String::from_utf8(received[..at].to_vec()).unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    let rest = &received[at + 4..];
    let (body, whole) = if head.contains("transfer-encoding: chunked") {
        dechunk(rest)
    } else {
        let length = head
            .lines()
            .find_map(|line| line.strip_prefix("content-length: "))
            .unwrap();
        (
            rest.to_vec(),
            rest.len() == length.parse::<usize>().unwrap(),
        )
    };
    let end = match (whole, stalled) {
        (true, _) => End::Complete,
        (false, true) => End::Stalled,
        (false, false) => End::Cut,
    };
    Answer {
        status,
        head,
        body,
        end,
    }
}

fn dechunk(mut rest: &[u8]) -> (Vec<u8>, bool) {
    let mut body = Vec::new();
    while let Some(at) = rest.windows(2).position(|window| window == b"\r\n") {
        let size = usize::from_str_radix(std::str::from_utf8(&rest[..at]).unwrap(), 16).unwrap();
        if size == 0 {
            return (body, true);
        }
        body.extend_from_slice(&rest[at + 2..at + 2 + size]);
        rest = &rest[at + 2 + size + 2..];
    }
    (body, false)
}

/// Returns the path and the body of a model call.
pub(crate) fn call(dialect: &str, stream: bool, prompt: &str) -> (String, Value) {
    match dialect {
        "anthropic" => (
            "/v1/messages?beta=true".to_owned(),
            json!({"model": "m", "stream": stream, "messages": [{"role": "user", "content": prompt}]}),
        ),
        "responses" => (
            "/v1/responses".to_owned(),
            json!({"model": "m", "stream": stream, "input": [
                {"type": "message", "role": "user", "content": [{"type": "input_text", "text": prompt}]}
            ]}),
        ),
        "chat" => (
            "/v1/chat/completions".to_owned(),
            json!({"model": "m", "stream": stream, "stream_options": {"include_usage": true},
                   "messages": [{"role": "system", "content": "s"}, {"role": "user", "content": prompt}]}),
        ),
        "gemini" => (
            match stream {
                true => "/v1beta/models/m:streamGenerateContent?alt=sse".to_owned(),
                false => "/v1beta/models/m:generateContent".to_owned(),
            },
            json!({"contents": [{"role": "user", "parts": [{"text": prompt}]}]}),
        ),
        other => panic!("no dialect {other}"),
    }
}

/// Makes a model call.
pub(crate) fn ask(base: &str, dialect: &str, stream: bool, prompt: &str) -> Answer {
    let (path, body) = call(dialect, stream, prompt);
    post(&format!("{base}{path}"), &body)
}

/// Joins the answer text of a streamed answer.
pub(crate) fn streamed_text(dialect: &str, answer: &Answer) -> String {
    let events = answer.events();
    let deltas = events.iter().filter_map(|event| match dialect {
        "anthropic" => event["delta"]["text"].as_str(),
        "responses" if event["type"] == "response.output_text.delta" => event["delta"].as_str(),
        "responses" => None,
        "chat" => event["choices"][0]["delta"]["content"].as_str(),
        _ => {
            let part = &event["candidates"][0]["content"]["parts"][0];
            part["text"]
                .as_str()
                .filter(|_| part.get("thought").is_none())
        }
    });
    deltas.collect()
}

/// Returns the answer text of a plain answer.
pub(crate) fn plain_text(dialect: &str, body: &Value) -> String {
    let place = match dialect {
        "anthropic" => "/content/0/text",
        "responses" => "/output/0/content/0/text",
        "chat" => "/choices/0/message/content",
        _ => "/candidates/0/content/parts/0/text",
    };
    body.pointer(place)
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned()
}
