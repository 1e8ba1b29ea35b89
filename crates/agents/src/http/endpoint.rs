//! Where requests go: the rules for base URLs and addresses, and the clients that keep them.

use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, OnceLock};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::{Client, ClientBuilder, Url};
use thiserror::Error;
use tribunal_core::agent::ErrorClass;
use tribunal_core::text::truncate_chars;

use super::dialect::{self, Server};
use crate::AgentError;
use crate::network::AddressKind;
use crate::spec::Api;

/// Where the requests of one agent go.
#[derive(Debug, Clone)]
pub(super) struct Endpoint {
    /// The whole URL, fit to be shown.
    pub(super) url: Url,
    /// Host and port, for messages.
    pub(super) host: String,
    pub(super) server: Server,
}

/// An address that no model API has.
#[derive(Debug, Error)]
#[error(
    "`{host}` leads to {address}, an address where no model API is; requests there are refused"
)]
pub(super) struct ForbiddenAddress {
    host: String,
    address: IpAddr,
}

impl Endpoint {
    /// Returns where `model` answers in dialect `api`, below `base` or else the vendor's host.
    pub(super) fn new(api: Api, base: Option<&str>, model: &str) -> Result<Self, AgentError> {
        let base = base.map(str::trim).filter(|base| !base.is_empty());
        let server = match base {
            Some(_) => Server::Compatible,
            None => Server::Vendor,
        };
        let mut url = parse(base.unwrap_or(dialect::default_base(api)))?;
        let last = url.path().trim_end_matches('/').rsplit('/').next();
        let has_version = last.is_some_and(is_version);
        {
            let mut segments = url
                .path_segments_mut()
                .map_err(|()| refused("it has no path"))?;
            segments.pop_if_empty();
            if !has_version {
                segments.push(dialect::path_version(api));
            }
            segments.extend(dialect::path(api, model));
        }
        url.set_query(dialect::query(api));
        let host = named_host(&url)?;
        Ok(Self { url, host, server })
    }

    /// Returns where a service lies that speaks no model's dialect.
    pub(super) fn plain(base: &str) -> Result<Self, AgentError> {
        let url = parse(base.trim())?;
        let host = named_host(&url)?;
        let server = Server::Compatible;
        Ok(Self { url, host, server })
    }

    /// Returns a place below this one; each segment is escaped.
    pub(super) fn below(&self, path: &[&str]) -> Result<Self, AgentError> {
        let mut below = self.clone();
        below
            .url
            .path_segments_mut()
            .map_err(|()| refused("it has no path"))?
            .pop_if_empty()
            .extend(path);
        Ok(below)
    }

    /// Returns the client for this endpoint. It is made on first use and shared by the process.
    pub(super) fn client(&self) -> Result<&'static Client, AgentError> {
        static PROXIED: OnceLock<Result<Client, String>> = OnceLock::new();
        static DIRECT: OnceLock<Result<Client, String>> = OnceLock::new();
        static PLAIN: OnceLock<Result<Client, String>> = OnceLock::new();
        let client = match (self.is_loopback(), self.url.scheme()) {
            // A proxy has another loopback than we have. Reading certificates takes longer than
            // many a call, and here nobody will ever ask for them.
            (true, "http") => {
                PLAIN.get_or_init(|| build(|| builder().no_proxy().tls_certs_only([])))
            }
            (true, _) => DIRECT.get_or_init(|| build(|| builder().no_proxy())),
            (false, _) => PROXIED.get_or_init(|| build(builder)),
        };
        client.as_ref().map_err(|why| {
            let message = format!("The HTTP client cannot be set up: {why}");
            AgentError::new(ErrorClass::Setup, message)
        })
    }

    fn is_loopback(&self) -> bool {
        match (self.url.host_str(), literal_address(&self.url)) {
            (_, Some(address)) => address.is_loopback(),
            (Some(host), None) => host == "localhost" || host.ends_with(".localhost"),
            (None, None) => false,
        }
    }
}

fn named_host(url: &Url) -> Result<String, AgentError> {
    match (url.host_str(), url.port()) {
        (Some(host), Some(port)) => Ok(format!("{host}:{port}")),
        (Some(host), None) => Ok(host.to_owned()),
        (None, _) => Err(refused("it names no host")),
    }
}

fn parse(base: &str) -> Result<Url, AgentError> {
    let url = Url::parse(base).map_err(|error| refused(&error.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(refused("it must begin with `http://` or `https://`"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(refused(
            "it must not hold a user name or password; set `api_key` instead",
        ));
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(refused("it must end with its path, without `?` or `#`"));
    }
    if let Some(address) = literal_address(&url).filter(is_forbidden) {
        let host = address.to_string();
        let forbidden = ForbiddenAddress { host, address };
        return Err(AgentError::new(ErrorClass::Setup, forbidden.to_string()));
    }
    Ok(url)
}

/// Returns the error for a base URL. The URL itself is not shown: it may hold a password.
fn refused(why: &str) -> AgentError {
    let why = truncate_chars(why, 200);
    AgentError::new(
        ErrorClass::Setup,
        format!("The base URL cannot be used: {why}"),
    )
}

/// Tells whether a path segment looks like `v1` or `v1beta`.
fn is_version(segment: &str) -> bool {
    let digits = segment.strip_prefix('v').unwrap_or("");
    digits.starts_with(|c: char| c.is_ascii_digit())
        && digits.chars().all(|c| c.is_ascii_alphanumeric())
}

fn literal_address(url: &Url) -> Option<IpAddr> {
    let host = url.host_str()?;
    host.trim_start_matches('[')
        .trim_end_matches(']')
        .parse()
        .ok()
}

/// Tells whether `address` is one where clouds keep credentials, or no single host at all.
fn is_forbidden(address: &IpAddr) -> bool {
    AddressKind::of(*address) == AddressKind::Forbidden
}

/// Looks names up and refuses those that lead to a forbidden address.
///
/// The check stands behind the lookup, so that a name which changes its address in between gains
/// nothing.
struct CheckedResolver;

impl Resolve for CheckedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let host = name.as_str().to_owned();
            let found: Vec<SocketAddr> =
                tokio::net::lookup_host((host.as_str(), 0)).await?.collect();
            let forbidden = found.iter().map(SocketAddr::ip).find(is_forbidden);
            match forbidden {
                Some(address) => Err(ForbiddenAddress { host, address }.into()),
                None => Ok(Box::new(found.into_iter()) as Addrs),
            }
        })
    }
}

fn builder() -> ClientBuilder {
    Client::builder()
        .user_agent(concat!("tribunal/", env!("CARGO_PKG_VERSION")))
        .dns_resolver(Arc::new(CheckedResolver))
        // A key belongs to its host and must not follow a redirect to another.
        .redirect(reqwest::redirect::Policy::none())
        // One run is one request: whoever counts and pays decides about the next.
        .retry(reqwest::retry::never())
        // A connection serves one run and ends with it, so that nothing is sent again on another
        // connection because a kept one turned out to be stale.
        .pool_max_idle_per_host(0)
}

fn build(builder: fn() -> ClientBuilder) -> Result<Client, String> {
    builder()
        .build()
        // A machine without root certificates can still talk to a server of its own by `http`.
        .or_else(|_| builder().tls_certs_only([]).build())
        .map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::failure;

    #[test]
    fn urls_are_put_together_from_base_and_dialect() {
        for (api, base, url) in [
            (
                Api::Anthropic,
                None,
                "https://api.anthropic.com/v1/messages",
            ),
            (
                Api::OpenaiResponses,
                None,
                "https://api.openai.com/v1/responses",
            ),
            (
                Api::OpenaiChat,
                Some("http://127.0.0.1:11434/v1/"),
                "http://127.0.0.1:11434/v1/chat/completions",
            ),
            (
                Api::OpenaiChat,
                Some("https://api.z.ai/api/paas/v4"),
                "https://api.z.ai/api/paas/v4/chat/completions",
            ),
            (
                Api::OpenaiChat,
                Some("http://h/s/ok@key"),
                "http://h/s/ok@key/v1/chat/completions",
            ),
            (
                Api::Gemini,
                None,
                "https://generativelanguage.googleapis.com/v1beta/models/m%2F1:streamGenerateContent?alt=sse",
            ),
        ] {
            let endpoint = Endpoint::new(api, base, "m/1").unwrap();
            assert_eq!(endpoint.url.as_str(), url);
        }
    }

    #[test]
    fn unfit_base_urls_are_refused() {
        for base in [
            "file:///etc/passwd",
            "ftp://host/",
            "host",
            "http://",
            "https://user@host/",
            "https://user:pass@host/",
            "https://host/?key=1",
            "https://host/#x",
            "http://169.254.169.254/latest",
            "http://0xa9fea9fe/",
            "http://2852039166/",
            "http://[::ffff:169.254.169.254]/",
            "http://[::169.254.169.254]/",
            "http://[2002:a9fe:a9fe::1]/",
            "http://[64:ff9b::a9fe:a9fe]/",
            "http://[fd00:ec2::254]/",
            "http://[fe80::1]/",
            "http://0.0.0.0:80/",
            "http://[::]/",
        ] {
            let error = Endpoint::new(Api::Anthropic, Some(base), "m").unwrap_err();
            assert_eq!(error.class, ErrorClass::Setup, "{base}");
            assert!(!error.message.contains("pass@"), "{}", error.message);
        }
        for base in [
            "http://127.0.0.1:1",
            "http://[::1]:1",
            "http://10.0.0.7",
            "https://host",
        ] {
            assert!(
                Endpoint::new(Api::Anthropic, Some(base), "m").is_ok(),
                "{base}"
            );
        }
    }

    /// Resolves every name to where clouds keep credentials, but through the check.
    struct Metadata;

    impl Resolve for Metadata {
        fn resolve(&self, _: Name) -> Resolving {
            CheckedResolver.resolve("169.254.169.254".parse().unwrap())
        }
    }

    #[tokio::test]
    async fn a_name_that_leads_to_a_forbidden_address_is_refused() {
        let client = Client::builder().dns_resolver(Arc::new(Metadata)).build();
        let sent = client.unwrap().get("http://models.example/").send().await;
        let error = failure::from_transport("models.example", sent.unwrap_err());
        assert_eq!(error.class, ErrorClass::Setup);
        assert!(
            error.message.contains("leads to 169.254.169.254"),
            "{error}"
        );
    }
}
