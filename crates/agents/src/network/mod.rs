//! Keeps a program to the hosts of its provider.
//!
//! Such a program has no network but a loopback of its own. There a small process of ours, the
//! [`carrier`](carrier_main), takes its connections and carries them through a socket in the directory
//! of the run to a proxy in the supervisor, outside. The proxy looks at the name of the host, looks it
//! up, looks at the address, and connects to that very address. What is encrypted stays so.

mod addresses;
mod carrier;
mod hosts;
mod providers;
mod proxy;
mod relay;
mod request;
mod upstream;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

pub(crate) use addresses::AddressKind;
pub use carrier::carrier_main;
pub(crate) use hosts::AllowedHosts;
pub(crate) use providers::ProviderHosts;
pub(crate) use proxy::{NetworkProxy, SOCKET_FILE};
pub(crate) use upstream::UpstreamProxy;

/// Name of the hidden subcommand.
const SUBCOMMAND: &str = "supervise-net";

/// Where our own executable and the socket lie inside.
const INSIDE: &str = "/run/tribunal";

/// The port on the inside's loopback at which the proxy is found.
const PROXY_PORT: u16 = 3128;

/// The first port that can be offered without rights; servers before it are reached by the proxy.
const FIRST_FREE_PORT: u16 = 1024;

/// Hosts that programs ask without a proxy.
const WITHOUT_PROXY: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// What the supervisor needs to know to keep a program to its hosts.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NetworkOrder {
    /// The hosts that can be reached.
    pub(crate) hosts: AllowedHosts,
    /// The proxy by which this machine reaches the internet, if it needs one.
    pub(crate) upstream: Option<UpstreamProxy>,
    /// How long a connection may carry nothing.
    pub(crate) idle: Duration,
}

impl NetworkOrder {
    /// Returns the places that have to be there inside, and under which names.
    pub(crate) fn places(&self, executable: &Path, run_dir: &Path) -> [(PathBuf, PathBuf); 2] {
        [
            (executable.to_owned(), inside(SUBCOMMAND)),
            (run_dir.join(SOCKET_FILE), inside(SOCKET_FILE)),
        ]
    }

    /// Returns what comes before the command line of the program.
    pub(crate) fn command(&self) -> Vec<String> {
        let text = |path: PathBuf| path.to_string_lossy().into_owned();
        let mut command = vec![
            text(inside(SUBCOMMAND)),
            SUBCOMMAND.to_owned(),
            text(inside(SOCKET_FILE)),
            self.port().to_string(),
        ];
        let servers = self.servers().into_iter();
        command.extend(servers.map(|(host, port)| format!("{host}={port}")));
        command.push("--".to_owned());
        command
    }

    /// Makes `variables` those of a program that asks its proxy.
    pub(crate) fn adapt(&self, variables: &mut BTreeMap<String, String>) {
        variables.retain(|name, _| !name.to_ascii_lowercase().ends_with("_proxy"));
        let proxy = format!("http://127.0.0.1:{}", self.port());
        for name in ["HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY"] {
            variables.insert(name.to_owned(), proxy.clone());
            variables.insert(name.to_ascii_lowercase(), proxy.clone());
        }
        for name in ["NO_PROXY", "no_proxy"] {
            variables.insert(name.to_owned(), self.without_proxy().join(","));
        }
        // Without it, Node.js itself reads none of them.
        variables.insert("NODE_USE_ENV_PROXY".to_owned(), "1".to_owned());
    }

    /// Returns the servers on this machine that are found inside at their usual place.
    fn servers(&self) -> Vec<(String, u16)> {
        let mut servers = self.hosts.loopback_servers();
        servers.retain(|(_, port)| *port >= FIRST_FREE_PORT);
        servers
    }

    /// Returns the hosts that the program asks without a proxy.
    fn without_proxy(&self) -> Vec<&'static str> {
        let servers = self.hosts.loopback_servers();
        let is_offered = |host: &&str| {
            let mut of_host = servers.iter().filter(|(other, _)| other == host);
            of_host.all(|(_, port)| *port >= FIRST_FREE_PORT)
        };
        WITHOUT_PROXY.into_iter().filter(is_offered).collect()
    }

    /// Returns a port that no server of the user's has.
    fn port(&self) -> u16 {
        let taken = self.servers();
        let mut ports = PROXY_PORT..;
        let free = ports.find(|port| taken.iter().all(|(_, other)| other != port));
        free.unwrap_or(PROXY_PORT)
    }
}

fn inside(name: &str) -> PathBuf {
    Path::new(INSIDE).join(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_told_of_our_proxy_and_of_no_other() {
        let mut hosts = AllowedHosts::default();
        hosts.add_base_url("http://127.0.0.1:3128/v1");
        hosts.add_base_url("http://localhost:80/v1");
        let order = NetworkOrder {
            hosts,
            upstream: None,
            idle: Duration::ZERO,
        };
        let mut variables: BTreeMap<String, String> = [
            ("Http_Proxy", "http://me:pass@corp:1"),
            ("FTP_PROXY", "x"),
            ("A", "b"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into();
        order.adapt(&mut variables);
        let told: Vec<String> = variables
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        assert_eq!(
            told,
            [
                "A=b",
                "ALL_PROXY=http://127.0.0.1:3129",
                "HTTPS_PROXY=http://127.0.0.1:3129",
                "HTTP_PROXY=http://127.0.0.1:3129",
                "NODE_USE_ENV_PROXY=1",
                "NO_PROXY=127.0.0.1,::1",
                "all_proxy=http://127.0.0.1:3129",
                "http_proxy=http://127.0.0.1:3129",
                "https_proxy=http://127.0.0.1:3129",
                "no_proxy=127.0.0.1,::1",
            ]
        );
        assert_eq!(
            order.command().join(" "),
            "/run/tribunal/supervise-net supervise-net /run/tribunal/net.sock 3129 127.0.0.1=3128 --"
        );
    }
}
