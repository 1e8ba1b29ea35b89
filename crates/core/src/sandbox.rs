//! What kept a program away from the rest of the machine while it ran.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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

/// What a program may reach over the network.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum NetworkReach {
    /// No address at all, not even those of this machine.
    None,
    /// Every address that the user reaches.
    #[default]
    Open,
}

impl NetworkReach {
    /// Tells whether there are addresses that cannot be reached.
    #[must_use]
    pub fn is_limited(self) -> bool {
        match self {
            Self::None => true,
            Self::Open => false,
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
            system_calls: SandboxMeans::Nothing,
            reason,
        }
    }
}
