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
    /// Nothing.
    Nothing,
}

impl fmt::Display for SandboxMeans {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Bubblewrap => "bubblewrap",
            Self::Nothing => "nothing",
        })
    }
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

/// What held a program during one run. It stands in the event that records its start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SandboxRecord {
    /// What kept it from other files.
    pub files: SandboxMeans,
    /// What kept it from other processes.
    pub processes: SandboxMeans,
    /// What it could reach over the network.
    pub network: NetworkReach,
    /// Why nothing held it, where that was not what the user asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl SandboxRecord {
    /// Returns the record of a program that nothing held.
    #[must_use]
    pub fn of_nothing(reason: Option<String>) -> Self {
        Self {
            files: SandboxMeans::Nothing,
            processes: SandboxMeans::Nothing,
            network: NetworkReach::Open,
            reason,
        }
    }
}
