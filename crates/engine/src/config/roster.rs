//! The configured agents as the engine asks for them: by name, role and domain.

use tribunal_core::agent::Role;
use tribunal_core::ids::AgentName;

use super::agent::{AgentSettings, Provider};
use super::settings::Settings;

/// Name of the agent that is there without being configured: replies from a file.
pub const SCRIPTED: &str = "scripted";

/// The enabled agents in the order of the config. No agent is ever invented to fill a role.
#[derive(Debug, Clone)]
pub struct Roster {
    agents: Vec<AgentSettings>,
    /// The implicit agent, unless the config defines one of that name.
    scripted: Option<AgentSettings>,
    /// The arbiter that is described by its provider alone.
    arbiter: Option<AgentSettings>,
}

impl Roster {
    /// Returns the roster of `settings`.
    #[must_use]
    pub fn new(settings: &Settings) -> Self {
        let defined = settings
            .agents
            .iter()
            .any(|agent| agent.name.as_str() == SCRIPTED);
        let scripted = AgentName::new(SCRIPTED)
            .ok()
            .filter(|_| !defined)
            .map(|name| AgentSettings {
                provider: Some(Provider::Scripted),
                role: Role::ALL.to_vec(),
                ..AgentSettings::new(name)
            });
        let enabled = settings.agents.iter().filter(|agent| agent.enabled);
        Self {
            agents: enabled.cloned().collect(),
            scripted,
            arbiter: implicit_arbiter(settings),
        }
    }

    /// Returns all configured agents that are enabled.
    #[must_use]
    pub fn agents(&self) -> &[AgentSettings] {
        &self.agents
    }

    /// Returns all configured agents that are enabled, and the arbiter that `arbiter.provider` describes.
    pub fn with_arbiter(&self) -> impl Iterator<Item = &AgentSettings> {
        self.agents.iter().chain(&self.arbiter)
    }

    /// Returns the agent of `name`; `scripted` is found also when nobody configured it.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&AgentSettings> {
        let mut all = self
            .agents
            .iter()
            .chain(&self.scripted)
            .chain(&self.arbiter);
        all.find(|agent| agent.name.as_str() == name)
    }

    /// Returns the arbiter that `arbiter.provider` describes.
    #[must_use]
    pub(crate) fn implicit_arbiter(&self) -> Option<&AgentSettings> {
        self.arbiter.as_ref()
    }

    /// Returns who decides procedure: the agent named in the settings, else the one that
    /// `arbiter.provider` describes, else the first in that role.
    #[must_use]
    pub fn arbiter(&self, settings: &Settings) -> Option<AgentName> {
        let named = settings.arbiter.agent.clone();
        let first = || self.with_role(Role::Arbiter).next();
        let other = || self.implicit_arbiter().or_else(first);
        named.or_else(|| other().map(|agent| agent.name.clone()))
    }

    /// Tells whether `name` is the agent that is there without being configured.
    #[must_use]
    pub fn is_implicit(&self, name: &str) -> bool {
        self.scripted
            .as_ref()
            .is_some_and(|agent| agent.name.as_str() == name)
    }

    /// Returns the agents that may act as `role`.
    pub fn with_role(&self, role: Role) -> impl Iterator<Item = &AgentSettings> {
        self.agents.iter().filter(move |agent| agent.has_role(role))
    }

    /// Returns the coder for work in `domain`: the first whose domains match, else the first coder.
    #[must_use]
    pub fn coder_for(&self, domain: Option<&str>) -> Option<&AgentSettings> {
        let matching = |agent: &&AgentSettings| domain.is_some_and(|domain| serves(agent, domain));
        let mut coders = self.with_role(Role::Coder);
        let first = self.with_role(Role::Coder).next();
        coders.find(matching).or(first)
    }

    /// Returns the agents of `role` whose domains name `domain`.
    pub fn in_domain<'r>(
        &'r self,
        role: Role,
        domain: &'r str,
    ) -> impl Iterator<Item = &'r AgentSettings> {
        self.with_role(role)
            .filter(move |agent| serves(agent, domain))
    }
}

/// Returns the arbiter that is described by its provider alone, under a name that nobody has.
fn implicit_arbiter(settings: &Settings) -> Option<AgentSettings> {
    let provider = settings.arbiter.provider?;
    let taken = |name: &&str| {
        let mut agents = settings.agents.iter();
        agents.all(|agent| agent.name.as_str() != *name)
    };
    let name = ["arbiter", "arbiter:own"].into_iter().find(taken)?;
    Some(AgentSettings {
        provider: Some(provider),
        model: settings.arbiter.model.clone(),
        base_url: settings.arbiter.base_url.clone(),
        api_key_env: settings.arbiter.api_key_env.clone(),
        price: settings.arbiter.price.clone(),
        role: vec![Role::Arbiter],
        ..AgentSettings::new(AgentName::new(name).ok()?)
    })
}

fn serves(agent: &AgentSettings, domain: &str) -> bool {
    agent
        .domain
        .iter()
        .any(|own| own.eq_ignore_ascii_case(domain))
}
