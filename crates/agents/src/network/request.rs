//! What a program asks of the proxy: the head of its request, read with suspicion.

use std::io::{self, Read};

use reqwest::Url;

use super::hosts::{AskedAs, host_and_port};

/// The largest head of a request.
const LARGEST_HEAD: usize = 32 * 1024;

/// What ends a head.
const END: &[u8] = b"\r\n\r\n";

/// What a program asks of the proxy.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ProxyRequest {
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) asked_as: AskedAs,
    /// What the host is sent first.
    pub(super) opening: Vec<u8>,
}

impl ProxyRequest {
    /// Returns the host and port as they are told to people.
    pub(super) fn target(&self) -> String {
        match self.host.contains(':') {
            true => format!("[{}]:{}", self.host, self.port),
            false => format!("{}:{}", self.host, self.port),
        }
    }
}

/// Reads a head and what came with it, or nothing if the other side left before its end.
pub(super) fn read_head(mut from: impl Read) -> io::Result<Option<(Vec<u8>, Vec<u8>)>> {
    let mut read = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let count = match from.read(&mut buffer) {
            Ok(0) => return Ok(None),
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        read.extend(buffer.iter().take(count));
        if let Some(end) = read.windows(END.len()).position(|bytes| bytes == END) {
            let rest = read.split_off(end + END.len());
            return Ok(Some((read, rest)));
        }
        if read.len() > LARGEST_HEAD {
            return Err(io::Error::other("the head of the request is too large"));
        }
    }
}

/// Reads what a program asks; `rest` came behind the head.
pub(super) fn read_request(head: &[u8], rest: Vec<u8>) -> Result<ProxyRequest, &'static str> {
    let head = std::str::from_utf8(head).map_err(|_| "the request is no text")?;
    let mut lines = head.trim_end_matches("\r\n").split("\r\n");
    let mut words = lines.next().unwrap_or_default().split(' ');
    let (Some(method), Some(target), Some(version), None) =
        (words.next(), words.next(), words.next(), words.next())
    else {
        return Err("the request is no HTTP");
    };
    if !matches!(version, "HTTP/1.1" | "HTTP/1.0") {
        return Err("the request is no HTTP");
    }
    if method == "CONNECT" {
        let (host, port) = authority(target).ok_or("the request names no host")?;
        return Ok(ProxyRequest {
            host,
            port,
            asked_as: AskedAs::Tunnel,
            opening: rest,
        });
    }
    plain_request(method, target, lines, &rest)
}

/// Reads `host:port`. Odd ways to write an address become the usual one.
fn authority(target: &str) -> Option<(String, u16)> {
    let is_fit =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | ':' | '[' | ']');
    let (_, port) = target.rsplit_once(':')?;
    let port = port.parse::<u16>().ok()?;
    let url = Url::parse(&format!("http://{target}/")).ok()?;
    target.chars().all(is_fit).then_some(())?;
    host_and_port(&url).map(|(host, _)| (host, port))
}

/// Reads a request without encryption, and makes it one for the host itself.
fn plain_request<'a>(
    method: &str,
    target: &str,
    headers: impl Iterator<Item = &'a str>,
    rest: &[u8],
) -> Result<ProxyRequest, &'static str> {
    let url = Url::parse(target).map_err(|_| "the request names no host")?;
    if url.scheme() != "http" || !url.username().is_empty() || url.password().is_some() {
        return Err("the request names no host");
    }
    let (host, port) = host_and_port(&url).ok_or("the request names no host")?;
    let place = match url.query() {
        Some(query) => format!("{}?{query}", url.path()),
        None => url.path().to_owned(),
    };
    let named = match url.port() {
        Some(port) => format!("{}:{port}", url.host_str().unwrap_or_default()),
        None => url.host_str().unwrap_or_default().to_owned(),
    };
    // One connection serves one request: the next may be for another host.
    let mut opening =
        format!("{method} {place} HTTP/1.1\r\nHost: {named}\r\nConnection: close\r\n");
    for header in headers {
        let (name, _) = header.split_once(':').ok_or("the request is no HTTP")?;
        let name = name.to_ascii_lowercase();
        if name.is_empty() || name.contains([' ', '\t']) {
            return Err("the request is no HTTP");
        }
        let is_ours = matches!(
            name.as_str(),
            "host" | "connection" | "keep-alive" | "upgrade"
        );
        if !is_ours && !name.starts_with("proxy-") {
            opening.push_str(header);
            opening.push_str("\r\n");
        }
    }
    opening.push_str("\r\n");
    let mut opening = opening.into_bytes();
    opening.extend(rest);
    Ok(ProxyRequest {
        host,
        port,
        asked_as: AskedAs::PlainRequest,
        opening,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<ProxyRequest, &'static str> {
        let (head, rest) = read_head(text.as_bytes())
            .expect("it can be read")
            .expect("it is whole");
        read_request(&head, rest)
    }

    #[test]
    fn a_tunnel_is_asked_for_by_host_and_port() {
        for (target, host, port) in [
            ("api.example.com:443", "api.example.com", 443),
            ("API.Example.com.:443", "api.example.com", 443),
            ("[::1]:8080", "::1", 8080),
            ("10.0.0.1:80", "10.0.0.1", 80),
            // Other ways to write 127.0.0.1.
            ("2130706433:80", "127.0.0.1", 80),
            ("0x7f.1:80", "127.0.0.1", 80),
            ("017700000001:80", "127.0.0.1", 80),
        ] {
            let read = read(&format!("CONNECT {target} HTTP/1.1\r\nHost: x\r\n\r\nrest"));
            let asked_as = AskedAs::Tunnel;
            let host = host.to_owned();
            let opening = b"rest".to_vec();
            let expected = ProxyRequest {
                host,
                port,
                asked_as,
                opening,
            };
            assert_eq!(read, Ok(expected), "{target}");
        }
        for target in [
            "host",
            "host:",
            "host:x",
            "me@host:443",
            "host:443/path",
            "host:99999",
            "a b:1",
        ] {
            let read = read(&format!("CONNECT {target} HTTP/1.1\r\n\r\n"));
            assert!(read.is_err(), "{target}");
        }
    }

    #[test]
    fn a_plain_request_reaches_the_host_that_it_names_and_no_other() {
        let asked = "POST http://127.0.0.2:8080/v1/x?y=1 HTTP/1.1\r\nHost: evil.org\r\n\
                     Proxy-Authorization: secret\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\n{}";
        let read = read(asked).expect("a request");
        assert_eq!(read.target(), "127.0.0.2:8080");
        assert_eq!(
            String::from_utf8(read.opening).expect("text"),
            "POST /v1/x?y=1 HTTP/1.1\r\nHost: 127.0.0.2:8080\r\nConnection: close\r\n\
             Content-Length: 2\r\n\r\n{}"
        );
    }

    #[test]
    fn what_is_no_request_to_a_proxy_is_refused() {
        for text in [
            "GET / HTTP/1.1\r\n\r\n",
            "GET https://host/ HTTP/1.1\r\n\r\n",
            "GET ftp://host/ HTTP/1.1\r\n\r\n",
            "GET http://me:pass@host/ HTTP/1.1\r\n\r\n",
            "GET http://host/ HTTP/2\r\n\r\n",
            "GET http://host/ HTTP/1.1\r\nno header\r\n\r\n",
            "\x05\x01\x00\r\n\r\n",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
        let endless = "x".repeat(LARGEST_HEAD + 5000);
        assert!(read_head(endless.as_bytes()).is_err());
        assert!(matches!(read_head(&b"CONNECT"[..]), Ok(None)));
    }
}
