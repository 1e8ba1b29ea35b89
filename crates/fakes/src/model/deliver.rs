//! Puts an action on the wire, faults included.

use std::io;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::call::{Call, Dialect, Framing};
use super::failure::Failure;
use super::http::{self, Connection};
use super::reply::{Frame, FrameKind, Reply};
use super::scenario::{Action, Delivery, RetryAfter};
use super::{anthropic, chat, gemini, responses};

const SLOW_STEP: Duration = Duration::from_millis(300);
/// A forgotten client does not hold a connection longer than this.
const LONGEST_HANG: Duration = Duration::from_secs(3600);

/// Whether the connection may carry another request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum After {
    KeepAlive,
    Close,
}

/// Carries out an action on a connection.
pub(crate) async fn act(
    connection: &mut Connection,
    call: &Call,
    action: Action,
) -> io::Result<After> {
    match action {
        Action::Reset => {
            connection.get_ref().set_zero_linger()?;
            Ok(After::Close)
        }
        Action::Close => Ok(After::Close),
        Action::Hang => hang(connection).await,
        Action::Raw {
            status,
            headers,
            body,
        } => send_body(connection, status, headers, &body).await,
        Action::Fail(failure, retry) => fail(connection, call, failure, retry).await,
        Action::Answer(reply, delivery) if call.framing == Framing::Single => {
            single(connection, call, &reply, delivery).await
        }
        Action::Answer(reply, delivery) => stream(connection, call, &reply, delivery).await,
    }
}

/// Sends a complete body.
pub(crate) async fn send_body(
    connection: &mut Connection,
    status: u16,
    mut headers: Vec<(String, String)>,
    body: &[u8],
) -> io::Result<After> {
    if !headers.iter().any(|(name, _)| name == "content-type") {
        headers.push(field("content-type", "application/json"));
    }
    headers.push(field("content-length", &body.len().to_string()));
    http::write_head(connection, status, &headers).await?;
    connection.get_mut().write_all(body).await?;
    Ok(After::KeepAlive)
}

async fn fail(
    connection: &mut Connection,
    call: &Call,
    failure: Failure,
    retry: Option<RetryAfter>,
) -> io::Result<After> {
    let body = failure
        .body(call.dialect, retry.map(RetryAfter::seconds))
        .to_string();
    let mut headers = vec![field("request-id", &format!("req_fake_{}", call.n))];
    headers.extend(retry.map(|retry| field("retry-after", &retry.header())));
    send_body(
        connection,
        failure.status(call.dialect),
        headers,
        body.as_bytes(),
    )
    .await
}

/// Sends an answer as one JSON body; faults fall on the bytes of it.
async fn single(
    connection: &mut Connection,
    call: &Call,
    reply: &Reply,
    delivery: Delivery,
) -> io::Result<After> {
    let whole = match call.dialect {
        Dialect::Anthropic => anthropic::body(call, reply),
        Dialect::Responses => responses::body(call, reply),
        Dialect::Chat => chat::body(call, reply),
        Dialect::Gemini => gemini::body(call, reply),
    };
    let whole = whole.to_string().into_bytes();
    let half = &whole[..whole.len() / 2];
    match delivery {
        Delivery::Whole | Delivery::NoDone => send_body(connection, 200, Vec::new(), &whole).await,
        Delivery::Empty => send_body(connection, 200, Vec::new(), b"").await,
        Delivery::Garbage | Delivery::BrokenEvent => {
            send_body(connection, 200, Vec::new(), garbage()).await
        }
        Delivery::CleanEof => send_body(connection, 200, Vec::new(), half).await,
        Delivery::ErrorEvent => fail(connection, call, Failure::Server, None).await,
        Delivery::Cut | Delivery::Stall => {
            begin_sized(connection, whole.len()).await?;
            connection.get_mut().write_all(half).await?;
            if delivery == Delivery::Stall {
                hang(connection).await
            } else {
                Ok(After::Close)
            }
        }
        Delivery::Slow | Delivery::Bytewise => {
            begin_sized(connection, whole.len()).await?;
            let size = if delivery == Delivery::Slow {
                whole.len().div_ceil(4)
            } else {
                1
            };
            for piece in whole.chunks(size) {
                connection.get_mut().write_all(piece).await?;
                if delivery == Delivery::Slow {
                    tokio::time::sleep(SLOW_STEP).await;
                }
            }
            Ok(After::KeepAlive)
        }
    }
}

/// Sends an answer as a stream of events; faults fall on the events of it.
async fn stream(
    connection: &mut Connection,
    call: &Call,
    reply: &Reply,
    delivery: Delivery,
) -> io::Result<After> {
    let kind = if call.framing == Framing::Events {
        "text/event-stream"
    } else {
        "application/json"
    };
    let headers = [
        field("content-type", kind),
        field("cache-control", "no-cache"),
        field("request-id", &format!("req_fake_{}", call.n)),
        field("transfer-encoding", "chunked"),
    ];
    http::write_head(connection, 200, &headers).await?;
    let pieces = rendered(call, &faulty(call, reply, delivery), delivery);
    for piece in &pieces {
        if delivery == Delivery::Bytewise {
            for byte in piece {
                http::write_chunk(connection, &[*byte]).await?;
            }
        } else {
            http::write_chunk(connection, piece).await?;
        }
        if delivery == Delivery::Slow {
            tokio::time::sleep(SLOW_STEP).await;
        }
    }
    match delivery {
        Delivery::Cut => Ok(After::Close),
        Delivery::Stall => hang(connection).await,
        _ => http::write_last_chunk(connection)
            .await
            .map(|()| After::KeepAlive),
    }
}

fn frames(call: &Call, reply: &Reply) -> Vec<Frame> {
    match call.dialect {
        Dialect::Anthropic => anthropic::frames(call, reply),
        Dialect::Responses => responses::frames(call, reply),
        Dialect::Chat => chat::frames(call, reply),
        Dialect::Gemini => gemini::frames(call, reply),
    }
}

/// Returns the events that are really sent.
fn faulty(call: &Call, reply: &Reply, delivery: Delivery) -> Vec<Frame> {
    let mut frames = frames(call, reply);
    let deltas: Vec<usize> = (0..frames.len())
        .filter(|at| frames[*at].kind == FrameKind::Delta)
        .collect();
    let middle = deltas
        .get(deltas.len() / 2)
        .copied()
        .unwrap_or(frames.len() / 2);
    match delivery {
        Delivery::Whole | Delivery::Slow | Delivery::Bytewise => {}
        Delivery::Empty | Delivery::Garbage => frames.clear(),
        Delivery::Cut | Delivery::Stall => frames.truncate(middle),
        Delivery::NoDone => frames.retain(|frame| frame.kind != FrameKind::Done),
        Delivery::CleanEof => {
            frames.retain(|f| f.kind != FrameKind::Finish && f.kind != FrameKind::Done)
        }
        Delivery::BrokenEvent => {
            frames[middle].data = "{\"type\": \"broken, \"delta\": {".to_owned()
        }
        Delivery::ErrorEvent => {
            frames.truncate(middle);
            frames.push(error_frame(call));
        }
    }
    frames
}

fn error_frame(call: &Call) -> Frame {
    let failure = if call.dialect == Dialect::Anthropic {
        Failure::Overloaded
    } else {
        Failure::Server
    };
    let error = failure.body(call.dialect, None);
    match call.dialect {
        Dialect::Anthropic => anthropic::error_frame(&error),
        Dialect::Responses => responses::error_frame(call, &error),
        Dialect::Chat => chat::error_frame(&error),
        Dialect::Gemini => gemini::error_frame(&error),
    }
}

/// Turns events into the bytes of the stream, one write each.
fn rendered(call: &Call, frames: &[Frame], delivery: Delivery) -> Vec<Vec<u8>> {
    let mut pieces: Vec<Vec<u8>> = match delivery {
        Delivery::Garbage => return vec![garbage().to_vec()],
        Delivery::Empty => return Vec::new(),
        _ if call.framing == Framing::Events => {
            frames.iter().map(|frame| event(call, frame)).collect()
        }
        _ => frames
            .iter()
            .enumerate()
            .map(|(at, frame)| element(at, frame))
            .collect(),
    };
    match (delivery, pieces.last_mut()) {
        // The end of a cut event shows that a reader must not take half a line for a whole one.
        (Delivery::Cut, Some(last)) => last.truncate(last.len() / 2),
        (Delivery::Stall, _) => {}
        _ if call.framing == Framing::Array => pieces.push(b"]".to_vec()),
        _ => {}
    }
    pieces
}

fn element(at: usize, frame: &Frame) -> Vec<u8> {
    let opening = if at == 0 { "[" } else { ",\r\n" };
    format!("{opening}{}", frame.data).into_bytes()
}

/// Frames one event; Gemini ends its lines with CR LF.
fn event(call: &Call, frame: &Frame) -> Vec<u8> {
    let end = if call.dialect == Dialect::Gemini {
        "\r\n"
    } else {
        "\n"
    };
    let name = frame
        .event
        .as_ref()
        .map(|name| format!("event: {name}{end}"))
        .unwrap_or_default();
    format!("{name}data: {}{end}{end}", frame.data).into_bytes()
}

/// Waits until the client gives up.
async fn hang(connection: &mut Connection) -> io::Result<After> {
    let mut sink = [0; 1024];
    let until_gone = async { while connection.read(&mut sink).await.is_ok_and(|read| read > 0) {} };
    // Either way the connection ends here: the client has gone, or the wait was long enough.
    let _ = tokio::time::timeout(LONGEST_HANG, until_gone).await;
    Ok(After::Close)
}

async fn begin_sized(connection: &mut Connection, length: usize) -> io::Result<()> {
    let headers = [
        field("content-type", "application/json"),
        field("content-length", &length.to_string()),
    ];
    http::write_head(connection, 200, &headers).await
}

fn field(name: &str, value: &str) -> (String, String) {
    (name.to_owned(), value.to_owned())
}

fn garbage() -> &'static [u8] {
    b"\x00\xff<<< this is neither JSON nor an event stream }}} \x80\n"
}
