//! Settings of the sandbox around programs.

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tribunal_core::agent::Role;
use tribunal_core::sandbox::{HostPattern, NetworkChoice, SandboxChoice, SandboxDemand};

/// How programs of agents, linters and the test command are confined.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SandboxSettings {
    /// How much a program is confined: `best` takes what this machine has and records when that is
    /// nothing, `require` starts no program without a sandbox, `off` confines nothing. Only your own
    /// config, a variable or a flag can say so; what a project says does not count.
    pub mode: SandboxDemand,
    /// Another mode for some of those who run programs.
    pub roles: BTreeMap<ConfinedRole, SandboxDemand>,
    /// What programs reach over the network: `provider` is the hosts of the agent's provider and those
    /// of `hosts`, `open` is everything, `none` is nothing, and `auto` is `provider` for programs whose
    /// hosts are known, if bubblewrap works, and `open` for others.
    pub network: NetworkChoice,
    /// Another network for some of those who run programs.
    pub networks: BTreeMap<ConfinedRole, NetworkChoice>,
    /// Further hosts that programs reach with `provider`, such as a registry of packages: `host`,
    /// `host:port` or `*.domain`.
    pub hosts: Vec<HostPattern>,
    /// What holds programs: `auto` takes bubblewrap, else Landlock with seccomp; `bubblewrap` and `landlock`
    /// name one of them.
    pub means: SandboxChoice,
    /// Further places that programs may read.
    pub readable: Vec<PathBuf>,
    /// Further places that programs may change, such as a cache.
    pub writable: Vec<PathBuf>,
}

/// Whose programs can have a mode of their own.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum ConfinedRole {
    /// Agents that write code.
    Coder,
    /// Agents that review.
    Reviewer,
    /// Agents that judge.
    Judge,
    /// The agent that decides procedure.
    Arbiter,
    /// Agents that answer the challenge of a trial.
    Contestant,
    /// Linters and other tools, whatever they are asked for.
    Linter,
    /// The project's test command.
    Tests,
}

impl From<Role> for ConfinedRole {
    fn from(role: Role) -> Self {
        match role {
            Role::Coder => Self::Coder,
            Role::Reviewer => Self::Reviewer,
            Role::Judge => Self::Judge,
            Role::Arbiter => Self::Arbiter,
            Role::Contestant => Self::Contestant,
        }
    }
}

impl Default for SandboxSettings {
    fn default() -> Self {
        Self {
            mode: SandboxDemand::Best,
            roles: BTreeMap::new(),
            network: NetworkChoice::default(),
            networks: BTreeMap::new(),
            hosts: Vec::new(),
            means: SandboxChoice::default(),
            readable: Vec::new(),
            writable: Vec::new(),
        }
    }
}

impl SandboxSettings {
    /// Returns the most that is wanted for any program.
    #[must_use]
    pub fn strictest(&self) -> SandboxDemand {
        let roles = self.roles.values().copied();
        roles.fold(self.mode, SandboxDemand::max)
    }

    /// Returns how much programs of `role` are confined.
    #[must_use]
    pub(crate) fn demand(&self, role: ConfinedRole) -> SandboxDemand {
        self.roles.get(&role).copied().unwrap_or(self.mode)
    }

    /// Returns what programs of `role` shall reach over the network.
    #[must_use]
    pub(crate) fn network(&self, role: ConfinedRole) -> NetworkChoice {
        self.networks.get(&role).copied().unwrap_or(self.network)
    }
}
