//! The hosts that one program may reach: those of its provider and those that the user names.

use std::net::IpAddr;

use reqwest::Url;
use serde::{Deserialize, Serialize};
use tribunal_core::sandbox::HostPattern;

use super::addresses::AddressKind;

/// A host that a program may reach, at one port.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AllowedHost {
    /// The name or address, in lower case.
    host: String,
    port: u16,
    /// Whether the names below `host` are meant.
    is_wildcard: bool,
    /// Whether the user named this very host, which may then be their own.
    is_named: bool,
    /// Whether it may be asked without encryption.
    is_plain: bool,
}

/// How a program asks for a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AskedAs {
    /// It wants bytes to be carried.
    Tunnel,
    /// It sends a request without encryption.
    PlainRequest,
}

/// The hosts that a program may reach.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AllowedHosts {
    hosts: Vec<AllowedHost>,
}

/// Why an address that lies nowhere on the internet is refused.
const NOT_PUBLIC: &str = "is not on the internet";

impl AllowedHosts {
    /// Adds a host of the provider.
    pub(super) fn add_provider(&mut self, host: &str) {
        self.hosts.push(AllowedHost {
            host: host.to_owned(),
            port: 443,
            is_wildcard: false,
            is_named: false,
            is_plain: false,
        });
    }

    /// Adds a host that the user names.
    pub(super) fn add_pattern(&mut self, pattern: &HostPattern) {
        self.hosts.push(AllowedHost {
            host: pattern.host.clone(),
            port: pattern.port,
            is_wildcard: pattern.is_wildcard,
            is_named: !pattern.is_wildcard,
            is_plain: false,
        });
    }

    /// Adds the host of a model API that the user has configured. One that cannot be read adds nothing.
    pub(super) fn add_base_url(&mut self, base: &str) {
        let url = Url::parse(base.trim()).ok();
        let Some((host, port)) = url.as_ref().and_then(host_and_port) else {
            return;
        };
        self.hosts.push(AllowedHost {
            host,
            port,
            is_wildcard: false,
            is_named: true,
            is_plain: url.is_some_and(|url| url.scheme() == "http"),
        });
    }

    /// Returns the places on the inside's own loopback at which programs look for a server of the user's.
    /// They are told not to use a proxy for them.
    pub(super) fn loopback_servers(&self) -> Vec<(String, u16)> {
        let named = self.hosts.iter().filter(|allowed| allowed.is_named);
        let own = named.filter(|allowed| super::WITHOUT_PROXY.contains(&allowed.host.as_str()));
        own.map(|allowed| (allowed.host.clone(), allowed.port))
            .collect()
    }

    /// Returns what lets a program reach `host` at `port`, or why nothing does.
    pub(super) fn find(
        &self,
        host: &str,
        port: u16,
        asked_as: AskedAs,
    ) -> Result<&AllowedHost, &'static str> {
        let mut found: Vec<&AllowedHost> = self.hosts.iter().collect();
        found.retain(|allowed| allowed.is_for(host));
        if found.is_empty() {
            return Err("the host is not allowed");
        }
        found.retain(|allowed| allowed.port == port);
        if found.is_empty() {
            return Err("the port is not allowed");
        }
        found.retain(|allowed| asked_as == AskedAs::Tunnel || allowed.is_plain);
        // What the user named says more than what a provider has.
        let named = found.iter().find(|allowed| allowed.is_named);
        let found = named.or_else(|| found.first()).copied();
        found.ok_or("requests without encryption are not allowed")
    }
}

impl AllowedHost {
    fn is_for(&self, host: &str) -> bool {
        match self.is_wildcard {
            true => host
                .strip_suffix(&self.host)
                .is_some_and(|below| below.len() > 1 && below.ends_with('.')),
            false => host == self.host,
        }
    }

    /// Tells why a program must not reach `address`, to which the name of the host leads.
    pub(super) fn refuse_address(&self, address: IpAddr) -> Option<String> {
        let is_fine = match AddressKind::of(address) {
            AddressKind::Public => true,
            AddressKind::Private => self.is_named,
            AddressKind::Forbidden => false,
        };
        (!is_fine).then(|| format!("its address {address} {NOT_PUBLIC}"))
    }
}

/// Returns the host of a URL as it is compared, with the port.
pub(super) fn host_and_port(url: &Url) -> Option<(String, u16)> {
    let host = url.host_str()?.trim_start_matches('[');
    let host = host.trim_end_matches(']').trim_end_matches('.');
    Some((host.to_ascii_lowercase(), url.port_or_known_default()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts() -> AllowedHosts {
        let mut hosts = AllowedHosts::default();
        hosts.add_provider("api.example.com");
        hosts.add_base_url("http://127.0.0.1:11434/v1");
        hosts.add_base_url("http://models.corp:8080");
        for pattern in ["*.crates.io", "packages.example.com", "10.0.0.7:8443"] {
            let pattern = HostPattern::try_from(pattern.to_owned()).expect("a pattern");
            hosts.add_pattern(&pattern);
        }
        hosts
    }

    #[test]
    fn only_hosts_that_somebody_named_are_found_and_only_at_their_port() {
        use AskedAs::{PlainRequest, Tunnel};
        let hosts = hosts();
        let found = |host, port, asked_as| hosts.find(host, port, asked_as).map(|_| ());
        for (host, port) in [
            ("api.example.com", 443),
            ("127.0.0.1", 11434),
            ("a.crates.io", 443),
            ("a.b.crates.io", 443),
            ("packages.example.com", 443),
            ("10.0.0.7", 8443),
        ] {
            assert_eq!(found(host, port, Tunnel), Ok(()), "{host}:{port}");
        }
        let unknown = Err("the host is not allowed");
        for host in [
            "example.com",
            "api.example.com.evil.org",
            "evil-api.example.com",
            "crates.io",
            "evilcrates.io",
            ".crates.io",
            "127.0.0.2",
            "localhost",
        ] {
            assert_eq!(found(host, 443, Tunnel), unknown, "{host}");
        }
        let port = Err("the port is not allowed");
        assert_eq!(found("api.example.com", 22, Tunnel), port);
        assert_eq!(found("127.0.0.1", 443, Tunnel), port);
        assert_eq!(found("models.corp", 8080, PlainRequest), Ok(()));
        let plain = Err("requests without encryption are not allowed");
        assert_eq!(found("api.example.com", 443, PlainRequest), plain);
    }

    #[test]
    fn a_name_that_leads_to_the_users_own_network_is_refused_unless_the_user_named_it() {
        let hosts = hosts();
        let refused = |host, port, address: &str| {
            let found = hosts.find(host, port, AskedAs::Tunnel).expect("allowed");
            found
                .refuse_address(address.parse().expect("an address"))
                .is_some()
        };
        assert!(!refused("api.example.com", 443, "8.8.8.8"));
        assert!(refused("api.example.com", 443, "127.0.0.1"));
        assert!(refused("a.crates.io", 443, "10.0.0.1"));
        assert!(!refused("models.corp", 8080, "10.0.0.1"));
        assert!(!refused("127.0.0.1", 11434, "127.0.0.1"));
        // Nobody's model answers where clouds keep credentials.
        assert!(refused("models.corp", 8080, "169.254.169.254"));
    }
}
