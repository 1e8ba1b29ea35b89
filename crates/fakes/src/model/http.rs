//! A small HTTP/1.1 reader and writer over a raw socket, so that answers can be cut anywhere.

use std::io;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

const MAX_HEAD_BYTES: u64 = 256 * 1024;
const MAX_BODY_BYTES: u64 = 64 * 1024 * 1024;

/// One connection: buffered for reading, direct for writing.
pub(crate) type Connection = BufReader<TcpStream>;

/// A request as it arrived, header names in lower case.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) target: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Request {
    /// Returns the first value of a header, named in lower case.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        find(&self.headers, name)
    }

    /// Tells whether the client wants the connection closed after the answer.
    pub(crate) fn wants_close(&self) -> bool {
        self.header("connection")
            .is_some_and(|value| value.eq_ignore_ascii_case("close"))
    }
}

/// Why no request could be read.
#[derive(Debug)]
pub(crate) enum ReadError {
    /// The peer went away; nothing can be answered.
    Gone,
    /// The peer sent something that is answered with this status and text.
    Bad(u16, &'static str),
}

impl From<io::Error> for ReadError {
    fn from(_: io::Error) -> Self {
        Self::Gone
    }
}

/// Reads the next request of a connection, body included.
pub(crate) async fn read_request(connection: &mut Connection) -> Result<Request, ReadError> {
    let (method, target) = read_request_line(connection).await?;
    let headers = read_headers(connection).await?;
    if find(&headers, "expect").is_some_and(|value| value.eq_ignore_ascii_case("100-continue")) {
        connection
            .get_mut()
            .write_all(b"HTTP/1.1 100 Continue\r\n\r\n")
            .await?;
    }
    let chunked = find(&headers, "transfer-encoding")
        .is_some_and(|v| v.to_ascii_lowercase().contains("chunked"));
    let body = match find(&headers, "content-length") {
        _ if chunked => read_chunked(connection).await?,
        Some(length) => read_sized(connection, length).await?,
        None => Vec::new(),
    };
    Ok(Request {
        method,
        target,
        headers,
        body,
    })
}

/// Writes the head of an answer; `fields` are complete header pairs.
pub(crate) async fn write_head(
    connection: &mut Connection,
    status: u16,
    fields: &[(String, String)],
) -> io::Result<()> {
    let mut head = format!("HTTP/1.1 {status} {}\r\n", reason(status));
    for (name, value) in fields {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    connection.get_mut().write_all(head.as_bytes()).await
}

/// Writes one chunk of a chunked body; an empty one is skipped, for it would end the body.
pub(crate) async fn write_chunk(connection: &mut Connection, data: &[u8]) -> io::Result<()> {
    if data.is_empty() {
        return Ok(());
    }
    let mut chunk = format!("{:x}\r\n", data.len()).into_bytes();
    chunk.extend_from_slice(data);
    chunk.extend_from_slice(b"\r\n");
    connection.get_mut().write_all(&chunk).await
}

/// Writes the chunk that ends a chunked body.
pub(crate) async fn write_last_chunk(connection: &mut Connection) -> io::Result<()> {
    connection.get_mut().write_all(b"0\r\n\r\n").await
}

async fn read_request_line(connection: &mut Connection) -> Result<(String, String), ReadError> {
    // Empty lines before a request are tolerated, as RFC 9112 advises.
    for _ in 0..4 {
        let line = read_line(connection).await?;
        if line.is_empty() {
            continue;
        }
        let mut words = line.split(' ');
        return match (words.next(), words.next(), words.next()) {
            (Some(method), Some(target), Some(version)) if version.starts_with("HTTP/1.") => {
                Ok((method.to_owned(), target.to_owned()))
            }
            _ => Err(ReadError::Bad(400, "The request line is not HTTP/1.1")),
        };
    }
    Err(ReadError::Bad(400, "No request line"))
}

async fn read_headers(connection: &mut Connection) -> Result<Vec<(String, String)>, ReadError> {
    let mut headers = Vec::new();
    loop {
        let line = read_line(connection).await?;
        if line.is_empty() {
            return Ok(headers);
        }
        let Some((name, value)) = line.split_once(':') else {
            return Err(ReadError::Bad(400, "A header line has no colon"));
        };
        headers.push((name.trim().to_ascii_lowercase(), value.trim().to_owned()));
        if headers.len() > 500 {
            return Err(ReadError::Bad(431, "Too many headers"));
        }
    }
}

async fn read_line(connection: &mut Connection) -> Result<String, ReadError> {
    let mut line = Vec::new();
    connection
        .take(MAX_HEAD_BYTES)
        .read_until(b'\n', &mut line)
        .await?;
    if line.pop() != Some(b'\n') {
        return if line.len() as u64 + 1 >= MAX_HEAD_BYTES {
            Err(ReadError::Bad(431, "A header line is too long"))
        } else {
            Err(ReadError::Gone)
        };
    }
    if line.last() == Some(&b'\r') {
        line.pop();
    }
    Ok(String::from_utf8_lossy(&line).into_owned())
}

async fn read_sized(connection: &mut Connection, length: &str) -> Result<Vec<u8>, ReadError> {
    let Ok(length) = length.parse::<u64>() else {
        return Err(ReadError::Bad(400, "Content-Length is not a number"));
    };
    let mut body = Vec::new();
    read_exactly(connection, length, &mut body).await?;
    Ok(body)
}

async fn read_chunked(connection: &mut Connection) -> Result<Vec<u8>, ReadError> {
    let mut body = Vec::new();
    loop {
        let line = read_line(connection).await?;
        let digits = line.split(';').next().unwrap_or_default().trim();
        let Ok(length) = u64::from_str_radix(digits, 16) else {
            return Err(ReadError::Bad(400, "A chunk size is not a number"));
        };
        if length == 0 {
            // Trailers end with an empty line.
            while !read_line(connection).await?.is_empty() {}
            return Ok(body);
        }
        read_exactly(connection, length, &mut body).await?;
        read_line(connection).await?;
    }
}

async fn read_exactly(
    connection: &mut Connection,
    length: u64,
    body: &mut Vec<u8>,
) -> Result<(), ReadError> {
    if length.saturating_add(body.len() as u64) > MAX_BODY_BYTES {
        return Err(ReadError::Bad(
            413,
            "The body is larger than the fake accepts",
        ));
    }
    let read = connection.take(length).read_to_end(body).await?;
    if read as u64 == length {
        Ok(())
    } else {
        Err(ReadError::Gone)
    }
}

fn find<'a>(headers: &'a [(String, String)], name: &str) -> Option<&'a str> {
    headers
        .iter()
        .find(|(known, _)| known == name)
        .map(|(_, value)| value.as_str())
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        413 => "Payload Too Large",
        429 => "Too Many Requests",
        431 => "Request Header Fields Too Large",
        500 => "Internal Server Error",
        501 => "Not Implemented",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        529 => "Overloaded",
        _ => "Fake",
    }
}
