//! What kept a program away from the rest of the machine while it ran.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The port of HTTPS.
const HTTPS_PORT: u16 = 443;

/// How much the user wants a program to be confined.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum SandboxDemand {
    /// The program runs as the user does.
    #[default]
    Off,
    /// The program is confined as well as this machine can; where it cannot, the record says so.
    Best,
    /// The program does not start unless it is confined.
    Require,
}

/// What holds a program.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum SandboxMeans {
    /// Namespaces of the system, made by bubblewrap.
    Bubblewrap,
    /// Rules of the kernel that the program cannot take off.
    Landlock,
    /// System calls that the kernel refuses.
    Seccomp,
    /// Nothing.
    Nothing,
}

impl fmt::Display for SandboxMeans {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Bubblewrap => "bubblewrap",
            Self::Landlock => "landlock",
            Self::Seccomp => "seccomp",
            Self::Nothing => "nothing",
        })
    }
}

/// Which means the user wants programs to be held by.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum SandboxChoice {
    /// The first that works: bubblewrap, else Landlock.
    #[default]
    Auto,
    /// bubblewrap or nothing.
    Bubblewrap,
    /// Landlock or nothing.
    Landlock,
}

/// What the user wants a program to reach over the network.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum NetworkChoice {
    /// Its provider's hosts where they are known and bubblewrap works, everything elsewhere.
    #[default]
    Auto,
    /// No address at all, not even those of this machine.
    None,
    /// Its provider's hosts and those that the user names.
    Provider,
    /// Every address that the user reaches.
    Open,
}

/// What a program could reach over the network.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum NetworkReach {
    /// No address at all, not even those of this machine.
    None,
    /// Its provider's hosts and those that the user names, by way of a proxy of ours.
    Provider,
    /// Every address that the user reaches.
    #[default]
    Open,
}

impl NetworkReach {
    /// Tells whether there are addresses that cannot be reached.
    #[must_use]
    pub fn is_limited(self) -> bool {
        match self {
            Self::None | Self::Provider => true,
            Self::Open => false,
        }
    }
}

/// A host that the user lets programs reach, as it stands in the config: `host`, `host:port` or
/// `*.domain`. Without a port it is that of HTTPS.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct HostPattern {
    /// The name or address in lower case, without the leading `*.`.
    pub host: String,
    /// The only port.
    pub port: u16,
    /// Whether the names below `host` are meant.
    pub is_wildcard: bool,
}

impl TryFrom<String> for HostPattern {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let wrong = || format!("`{text}` is no host; write `host`, `host:port` or `*.domain`");
        let (is_wildcard, rest) = match text.strip_prefix("*.") {
            Some(domain) => (true, domain),
            None => (false, text.as_str()),
        };
        let is_address = rest.parse::<std::net::Ipv6Addr>().is_ok();
        let (host, port) = match rest.rsplit_once(':') {
            Some((host, port)) if !is_address => (host, port.parse().map_err(|_| wrong())?),
            Some(_) | None => (rest, HTTPS_PORT),
        };
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let is_fit = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | ':');
        let is_name = !host.contains(':') || host.parse::<std::net::Ipv6Addr>().is_ok();
        // A pattern for a whole top-level domain is more likely a slip than a wish.
        let is_narrow = !is_wildcard || host.contains('.');
        if host.is_empty() || port == 0 || !host.chars().all(is_fit) || !is_name || !is_narrow {
            return Err(wrong());
        }
        Ok(Self {
            host: host.trim_end_matches('.').to_ascii_lowercase(),
            port,
            is_wildcard,
        })
    }
}

impl From<HostPattern> for String {
    fn from(pattern: HostPattern) -> Self {
        pattern.to_string()
    }
}

impl fmt::Display for HostPattern {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let below = if self.is_wildcard { "*." } else { "" };
        match self.host.contains(':') {
            true => write!(formatter, "[{}]", self.host)?,
            false => write!(formatter, "{below}{}", self.host)?,
        }
        match self.port {
            HTTPS_PORT => Ok(()),
            port => write!(formatter, ":{port}"),
        }
    }
}

/// What held a program during one run. It stands in the event that records its start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SandboxRecord {
    /// What kept it from other files.
    pub files: SandboxMeans,
    /// What kept it from other processes.
    pub processes: SandboxMeans,
    /// What it could reach over the network.
    pub network: NetworkReach,
    /// What kept it from the rest of the network.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network_by: Option<SandboxMeans>,
    /// Why it could reach more of the network than the user wanted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network_reason: Option<String>,
    /// What refused it system calls. Older records do not tell.
    #[serde(default = "nothing")]
    pub system_calls: SandboxMeans,
    /// Why nothing held it, where that was not what the user asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

fn nothing() -> SandboxMeans {
    SandboxMeans::Nothing
}

impl SandboxRecord {
    /// Returns the record of a program that nothing held.
    #[must_use]
    pub fn of_nothing(reason: Option<String>) -> Self {
        Self {
            files: SandboxMeans::Nothing,
            processes: SandboxMeans::Nothing,
            network: NetworkReach::Open,
            network_by: None,
            network_reason: None,
            system_calls: SandboxMeans::Nothing,
            reason,
        }
    }
}

/// An address that a program asked for and did not get.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RefusedConnection {
    /// Host and port, as the program named them.
    pub target: String,
    /// Why, as the end of a sentence.
    pub why: String,
    /// How often it asked.
    pub times: u32,
}

impl fmt::Display for RefusedConnection {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} ({})", self.target, self.why)?;
        match self.times {
            0 | 1 => Ok(()),
            times => write!(formatter, " {times} times"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_read_as_the_user_writes_them() {
        let read = |text: &str| HostPattern::try_from(text.to_owned()).map(String::from);
        for (written, kept) in [
            ("Packages.Example.com", "packages.example.com"),
            ("packages.example.com.:443", "packages.example.com"),
            ("*.crates.io", "*.crates.io"),
            ("127.0.0.1:11434", "127.0.0.1:11434"),
            ("::1", "[::1]"),
            ("[::1]:8080", "[::1]:8080"),
        ] {
            assert_eq!(read(written).as_deref(), Ok(kept), "{written}");
        }
        for wrong in [
            "",
            "*",
            "*.com",
            "https://crates.io",
            "crates.io/api",
            "crates.io:https",
            "crates.io:0",
            "a b",
            "me@host",
            "a:b:c",
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
