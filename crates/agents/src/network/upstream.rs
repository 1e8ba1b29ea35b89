//! The proxy by which this machine itself reaches the internet.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::net::{IpAddr, TcpStream, ToSocketAddrs as _};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::Url;
use serde::{Deserialize, Serialize};

use super::addresses::AddressKind;
use super::hosts::host_and_port;
use super::request::read_head;

/// A proxy between this machine and the internet.
///
/// It has no `Debug`: it may hold a password.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct UpstreamProxy {
    host: String,
    port: u16,
    /// The value of the header by which we are let in.
    admission: Option<String>,
    /// Hosts that are reached without it, and those below them.
    spared: Vec<String>,
}

impl UpstreamProxy {
    /// Returns the proxy that `variables` name, nothing if they name none, or why it is of no use.
    pub(crate) fn of(variables: &BTreeMap<String, String>) -> Result<Option<Self>, String> {
        let names = ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];
        let mut set = names.iter().filter_map(|name| variables.get(*name));
        let Some(text) = set.find(|value| !value.trim().is_empty()) else {
            return Ok(None);
        };
        let wrong =
            || "the proxy of this machine cannot be used: only `http://` proxies can".to_owned();
        let text = match text.contains("://") {
            true => text.trim().to_owned(),
            false => format!("http://{}", text.trim()),
        };
        let url = Url::parse(&text).map_err(|_| wrong())?;
        let place = (url.scheme() == "http")
            .then(|| host_and_port(&url))
            .flatten();
        let (host, port) = place.ok_or_else(wrong)?;
        let admission = (!url.username().is_empty()).then(|| {
            let login = format!("{}:{}", url.username(), url.password().unwrap_or_default());
            format!("Basic {}", STANDARD.encode(decoded(&login)))
        });
        let mut spared = ["NO_PROXY", "no_proxy"].iter();
        let spared = spared.find_map(|name| variables.get(*name));
        let spared = spared.map(|text| text.split(',').map(spared_host).collect());
        Ok(Some(Self {
            host,
            port,
            admission,
            spared: spared.unwrap_or_default(),
        }))
    }

    /// Tells whether `host` lies behind the proxy.
    pub(super) fn is_for(&self, host: &str) -> bool {
        let address = host.parse::<IpAddr>().map(AddressKind::of);
        let is_own = host == "localhost" || address.is_ok_and(|kind| kind != AddressKind::Public);
        let is_spared = self.spared.iter().any(|spared| {
            let below = host.strip_suffix(spared.as_str());
            !spared.is_empty() && below.is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
        });
        !is_own && !is_spared
    }

    /// Returns a connection to `target`, which the proxy looks up.
    pub(super) fn connect(&self, target: &str, patience: Duration) -> Result<TcpStream, String> {
        let failed = |error: std::io::Error| format!("the proxy of this machine failed: {error}");
        let mut places = (self.host.as_str(), self.port)
            .to_socket_addrs()
            .map_err(failed)?;
        let place = places
            .next()
            .ok_or("the proxy of this machine has no address")?;
        let mut stream = TcpStream::connect_timeout(&place, patience).map_err(failed)?;
        stream.set_read_timeout(Some(patience)).map_err(failed)?;
        let admission = match &self.admission {
            Some(admission) => format!("Proxy-Authorization: {admission}\r\n"),
            None => String::new(),
        };
        let asked = format!("CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n{admission}\r\n");
        stream.write_all(asked.as_bytes()).map_err(failed)?;
        match read_head(&stream).map_err(failed)? {
            // A server that speaks before it is spoken to has no TLS.
            Some((head, rest)) if rest.is_empty() && is_ok(&head) => Ok(stream),
            Some(_) | None => Err("the proxy of this machine did not connect".to_owned()),
        }
    }
}

/// Returns a host as programs are told that they need no proxy for it.
fn spared_host(text: &str) -> String {
    let text = text.trim().trim_start_matches('*').trim_start_matches('.');
    text.to_ascii_lowercase()
}

/// Tells whether a proxy has done what it was asked.
pub(super) fn is_ok(head: &[u8]) -> bool {
    head.starts_with(b"HTTP/1.1 200 ") || head.starts_with(b"HTTP/1.0 200 ")
}

/// Returns the bytes of a text in which `%` stands before some of them as numbers.
fn decoded(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let escaped = tail.get(..2).and_then(|two| std::str::from_utf8(two).ok());
        let escaped = escaped.and_then(|two| u8::from_str_radix(two, 16).ok());
        match (first, escaped) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                rest = tail.get(2..).unwrap_or_default();
            }
            _ => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machines_own_proxy_is_read_from_its_variables() {
        let of = |name: &str, value: &str| {
            UpstreamProxy::of(&BTreeMap::from([(name.to_owned(), value.to_owned())]))
        };
        let read = of("https_proxy", "http://me:p%40ss@corp:8080").expect("of use");
        let read = read.expect("there is one");
        assert_eq!((read.host.as_str(), read.port), ("corp", 8080));
        assert_eq!(read.admission.as_deref(), Some("Basic bWU6cEBzcw=="));
        let bare = of("ALL_PROXY", "corp:3128").expect("of use").expect("one");
        assert_eq!((bare.host.as_str(), bare.port), ("corp", 3128));
        for (host, is_behind) in [
            ("api.example.com", true),
            ("8.8.8.8", true),
            ("localhost", false),
            ("10.0.0.1", false),
            ("models.corp", false),
            ("corp", false),
            ("notcorp", true),
        ] {
            let set = [("HTTPS_PROXY", "http://corp:1"), ("NO_PROXY", "x, .Corp")];
            let set = set.map(|(name, value)| (name.to_owned(), value.to_owned()));
            let read = UpstreamProxy::of(&set.into())
                .expect("of use")
                .expect("one");
            assert_eq!(read.is_for(host), is_behind, "{host}");
        }
        assert!(of("HTTPS_PROXY", "").expect("none").is_none());
        assert!(of("HTTPS_PROXY", "socks5://corp:1080").is_err());
    }
}
