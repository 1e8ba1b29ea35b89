//! Accepts connections and routes requests to scenarios and to the control endpoints.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use super::call::{self, Call, Dialect, Endpoint};
use super::deliver::{self, After};
use super::http::{self, Connection, ReadError, Request};
use super::record::Recorder;
use super::reply::USAGE;
use super::scenario::{self, Action};

/// What all connections of a server share.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    pub(crate) recorder: Recorder,
    pub(crate) latency: Duration,
}

/// Serves until the task is dropped; its connections are dropped with it.
pub(crate) async fn serve(listener: TcpListener, shared: Arc<Shared>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    connections.spawn(serve_connection(stream, Arc::clone(&shared)));
                }
                // Out of descriptors, for instance: others may be freed soon.
                Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
            },
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn serve_connection(stream: TcpStream, shared: Arc<Shared>) {
    let _ = stream.set_nodelay(true);
    let mut connection = Connection::new(stream);
    loop {
        let request = match http::read_request(&mut connection).await {
            Ok(request) => request,
            Err(ReadError::Gone) => return,
            Err(ReadError::Bad(status, reason)) => {
                let body = json!({"error": {"message": reason}}).to_string();
                let _ =
                    deliver::send_body(&mut connection, status, Vec::new(), body.as_bytes()).await;
                return;
            }
        };
        match answer(&mut connection, &shared, &request).await {
            Ok(After::KeepAlive) if !request.wants_close() => {}
            _ => return,
        }
    }
}

async fn answer(
    connection: &mut Connection,
    shared: &Shared,
    request: &Request,
) -> io::Result<After> {
    match route(&request.target) {
        Route::Health => send(connection, 200, &json!({"ok": true})).await,
        Route::Requests(key) => send(connection, 200, &json!(shared.recorder.requests(key))).await,
        Route::Script(key) => match serde_json::from_slice(&request.body) {
            Ok(Value::Array(replies)) => {
                shared.recorder.set_script(key, replies);
                send(connection, 200, &json!({"ok": true})).await
            }
            _ => {
                send(
                    connection,
                    400,
                    &json!({"error": "A script is a JSON list of replies"}),
                )
                .await
            }
        },
        Route::Scenario { name, key, path } => {
            run(connection, shared, request, name, key, path).await
        }
        Route::Unknown => {
            send(
                connection,
                404,
                &json!({"error": "No such path; use /s/<scenario>@<key>/…"}),
            )
            .await
        }
    }
}

async fn run(
    connection: &mut Connection,
    shared: &Shared,
    request: &Request,
    name: &str,
    key: &str,
    path: &str,
) -> io::Result<After> {
    let n = shared.recorder.record(key, name, path, request);
    let dialect = match call::endpoint(path) {
        Endpoint::Generate(dialect) if request.method == "POST" => dialect,
        other => return probe(connection, request, other).await,
    };
    tokio::time::sleep(shared.latency).await;
    let body = serde_json::from_slice(&request.body).unwrap_or(Value::Null);
    let call = Call::new(dialect, path, body, n);
    let turn = shared.recorder.next_turn(key, name);
    let (delay, action) = planned(shared, name, key, &call, turn);
    tokio::time::sleep(delay).await;
    deliver::act(connection, &call, action).await
}

fn planned(shared: &Shared, name: &str, key: &str, call: &Call, turn: usize) -> (Duration, Action) {
    if name == "script" {
        return match shared.recorder.next_reply(key, &call.user_text()) {
            Some(entry) => scenario::scripted(&entry, call),
            None => (
                Duration::ZERO,
                scenario::unusable("is missing or has no entry for this prompt"),
            ),
        };
    }
    let action = scenario::plan(name, call, turn);
    (
        Duration::ZERO,
        action.unwrap_or_else(|| scenario::unusable("URL names an unknown scenario")),
    )
}

/// Answers the requests that clients make besides model calls.
async fn probe(
    connection: &mut Connection,
    request: &Request,
    endpoint: Endpoint,
) -> io::Result<After> {
    let body = match endpoint {
        Endpoint::CountTokens(Dialect::Gemini) => json!({"totalTokens": USAGE.prompt()}),
        Endpoint::CountTokens(_) => json!({"input_tokens": USAGE.prompt() + USAGE.cache_write}),
        Endpoint::Models(Dialect::Gemini) => {
            let methods = ["generateContent", "streamGenerateContent", "countTokens"];
            json!({"models": [{"name": "models/fake-model", "supportedGenerationMethods": methods}]})
        }
        Endpoint::Models(_) => json!({
            "object": "list",
            "data": [{
                "id": "fake-model", "object": "model", "type": "model", "owned_by": "fake", "created": 0,
            }],
            "has_more": false,
        }),
        Endpoint::Root => json!({"ok": true}),
        Endpoint::Generate(_) | Endpoint::Unknown => {
            let text = "The fake model has no such endpoint";
            let error = json!({"type": "not_found_error", "message": text});
            return send(connection, 404, &json!({"type": "error", "error": error})).await;
        }
    };
    if request.method == "HEAD" {
        let head = [("content-length".to_owned(), "0".to_owned())];
        return http::write_head(connection, 200, &head)
            .await
            .map(|()| After::KeepAlive);
    }
    send(connection, 200, &body).await
}

async fn send(connection: &mut Connection, status: u16, body: &Value) -> io::Result<After> {
    deliver::send_body(connection, status, Vec::new(), body.to_string().as_bytes()).await
}

#[derive(Debug, PartialEq, Eq)]
enum Route<'a> {
    Health,
    Requests(&'a str),
    Script(&'a str),
    Scenario {
        name: &'a str,
        key: &'a str,
        path: &'a str,
    },
    Unknown,
}

fn route(target: &str) -> Route<'_> {
    if target == "/__health" {
        return Route::Health;
    }
    if let Some(key) = target.strip_prefix("/__requests/") {
        return Route::Requests(key);
    }
    if let Some(key) = target.strip_prefix("/__script/") {
        return Route::Script(key);
    }
    let Some(rest) = target.strip_prefix("/s/") else {
        return Route::Unknown;
    };
    let (selector, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
    // Without a key the scenario's name is the key, which suits a single hand-made test.
    let (name, key) = selector.split_once('@').unwrap_or((selector, selector));
    Route::Scenario { name, key, path }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scenario_key_and_path_come_from_the_url() {
        let expected = Route::Scenario {
            name: "ok",
            key: "k-1",
            path: "/v1/messages?beta=true",
        };
        assert_eq!(route("/s/ok@k-1/v1/messages?beta=true"), expected);
    }

    #[test]
    fn paths_outside_are_unknown() {
        assert_eq!(route("/v1/messages"), Route::Unknown);
    }
}
