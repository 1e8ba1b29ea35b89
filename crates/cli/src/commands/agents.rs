//! `tribunal agents`.

use serde_json::json;
use tribunal_core::agent::{Access, Role};
use tribunal_core::text::for_terminal;
use tribunal_engine::config::{AgentSettings, Roster};
use tribunal_store::ParkedProvider;

use crate::error::CliError;
use crate::exit::Exit;
use crate::invocation::Invocation;
use crate::report;

/// List the agents, or free a parked provider
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    tribunal agents\n  \
    tribunal agents --free anthropic")]
pub(crate) struct Args {
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Let a parked provider be called again
    #[arg(long, value_name = "PROVIDER")]
    free: Option<String>,
}

/// Lists the agents.
pub(crate) async fn run(invocation: &Invocation, args: Args) -> Result<Exit, CliError> {
    let store = invocation.existing_store().await?;
    let parked = match &store {
        Some(store) => store.parked_providers().await?,
        None => Vec::new(),
    };
    if let Some(provider) = &args.free {
        let ours: Vec<_> = parked
            .iter()
            .filter(|parked| parked.provider == *provider)
            .collect();
        if ours.is_empty() {
            return Err(CliError::new(
                Exit::NotFound,
                format!("no provider `{provider}` is parked"),
            ));
        }
        if let Some(store) = &store {
            for parked in ours {
                store
                    .free_provider(&parked.provider, parked.model.as_deref())
                    .await?;
            }
        }
        invocation.say(&format!("{provider} may be called again."));
        return Ok(Exit::Pass);
    }
    let loaded = invocation.settings_as_written()?;
    let roster = Roster::new(&loaded.settings);
    if args.json {
        let agents: Vec<_> = roster
            .with_arbiter()
            .map(|agent| agent_json(agent, &parked))
            .collect();
        invocation.print_json(&json!({ "schema": "tribunal.agents.v1", "agents": agents }))?;
        return Ok(Exit::Pass);
    }
    let mut table = invocation.table(&[
        "NAME", "PROVIDER", "MODEL", "FAMILY", "ROLES", "DOMAIN", "STATE",
    ]);
    for agent in roster.with_arbiter() {
        let word = |text: &str| for_terminal(text).into_owned();
        table.add_row([
            agent.name.to_string(),
            provider_of(agent).to_owned(),
            word(agent.model.as_deref().unwrap_or("-")),
            word(&agent.family()),
            roles(agent),
            if agent.domain.is_empty() {
                "-".to_owned()
            } else {
                word(&agent.domain.join(", "))
            },
            park_of(agent, &parked).map_or_else(|| "ready".to_owned(), park_text),
        ]);
    }
    invocation.print(&format!("{table}\n"))?;
    if roster.with_arbiter().next().is_none() {
        invocation.say("No agent is configured yet; `tribunal init` looks for installed ones.");
    }
    Ok(Exit::Pass)
}

fn provider_of(agent: &AgentSettings) -> &'static str {
    agent.provider().map_or("-", |provider| provider.as_str())
}

fn roles(agent: &AgentSettings) -> String {
    let role = |role: &Role| match agent.access_as(*role) {
        Access::ReadOnly => role.to_string(),
        Access::Write => format!("{role} (writes)"),
    };
    agent.role.iter().map(role).collect::<Vec<_>>().join(", ")
}

fn park_of<'a>(agent: &AgentSettings, parked: &'a [ParkedProvider]) -> Option<&'a ParkedProvider> {
    parked
        .iter()
        .find(|park| park.provider == agent.account() && park.model == agent.model)
}

fn park_text(park: &ParkedProvider) -> String {
    match park.until {
        Some(until) => format!("parked until {} ({})", report::stamp(until), park.class),
        None => format!("parked ({})", park.class),
    }
}

fn agent_json(agent: &AgentSettings, parked: &[ParkedProvider]) -> serde_json::Value {
    let park = park_of(agent, parked);
    json!({
        "name": agent.name,
        "provider": provider_of(agent),
        "model": agent.model,
        "family": agent.family(),
        "roles": agent.role,
        "domain": agent.domain,
        "when_to_use": agent.when_to_use,
        "display_name": agent.display_name,
        "parked": park.map(|park| json!({ "class": park.class, "until": park.until })),
    })
}
