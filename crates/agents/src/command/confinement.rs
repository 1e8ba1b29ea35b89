//! What a program of ours finds inside its sandbox, put together from its settings and its run.

use std::path::{Path, PathBuf};

use tribunal_core::agent::{Access, ErrorClass};
use tribunal_core::sandbox::{NetworkChoice, NetworkReach, SandboxDemand};

use super::plan::Plan;
use super::{CommandAgent, order};
use crate::network::{AllowedHosts, NetworkOrder, ProviderHosts, UpstreamProxy};
use crate::sandbox::{BubblewrapCage, NetworkWish, SandboxAbility, SelfHolds, is_root};
use crate::spec::{Cli, Login};
use crate::{AgentError, Call};

/// What confines a program: what comes before it on the command line, and what its process lays upon
/// itself first.
#[derive(Default)]
pub(super) struct Confinement {
    /// Program and arguments that come before those of the agent.
    pub(super) command: Vec<String>,
    /// What is laid on before anything of it starts.
    pub(super) holds: SelfHolds,
    /// What keeps it to some hosts.
    pub(super) network: Option<NetworkOrder>,
}

/// Returns what the user wants of the network of a program, and the hosts that it may reach if it is kept
/// to some.
pub(super) fn network_wish(
    agent: &CommandAgent,
    choice: NetworkChoice,
) -> (NetworkWish, AllowedHosts) {
    let model = agent.profile.model.as_deref();
    let provider = ProviderHosts::of(&agent.spec, model, &agent.spec.sandbox.hosts);
    let wish = NetworkWish {
        choice,
        hosts_are_known: provider.are_known,
        obstacle: UpstreamProxy::of(&agent.own).err(),
    };
    (wish, provider.hosts)
}

/// Returns what confines the program of `call`, or refuses the run if nothing does and something must.
pub(super) fn ability_for(
    agent: &CommandAgent,
    call: &Call,
) -> Result<Option<SandboxAbility>, AgentError> {
    if call.sandbox == SandboxDemand::Off {
        return Ok(None);
    }
    let ability = SandboxAbility::of_this_machine(agent.spec.sandbox.means);
    match (&ability, call.sandbox) {
        (SandboxAbility::Bubblewrap { .. } | SandboxAbility::Landlock { .. }, _) => {
            Ok(Some(ability))
        }
        (SandboxAbility::Nothing { reason }, SandboxDemand::Require) => Err(refusal(reason)),
        (SandboxAbility::Nothing { .. }, SandboxDemand::Off | SandboxDemand::Best) => Ok(None),
    }
}

/// Makes the plan fit for the inside, where the user's directory for temporary files is not to be had.
/// bubblewrap puts an empty one in its place; otherwise the run has one of its own.
pub(super) fn adapt_plan(plan: &mut Plan, ability: Option<&SandboxAbility>, call: &Call) {
    let place = match ability {
        None | Some(SandboxAbility::Nothing { .. }) => return,
        Some(_) if plan.env.contains_key("TMPDIR") => return,
        Some(SandboxAbility::Bubblewrap { .. }) => PathBuf::from("/tmp"),
        Some(SandboxAbility::Landlock { .. }) => {
            plan.has_temporary_directory = true;
            order::file(&call.run_dir, order::TEMPORARY_DIRECTORY)
        }
    };
    plan.env([("TMPDIR", &place.to_string_lossy())]);
}

/// Returns what confines a program by means of `ability`.
pub(super) fn confinement(
    ability: Option<SandboxAbility>,
    agent: &CommandAgent,
    call: &Call,
    plan: &Plan,
    argv: &[String],
) -> Result<Confinement, AgentError> {
    let Some(ability) = ability else {
        return Ok(Confinement::default());
    };
    let (wish, hosts) = network_wish(agent, call.network);
    let (reach, _) = ability
        .limit_network(call.sandbox, &wish)
        .map_err(|reason| refusal(&reason))?;
    let mut cage = cage(agent, call, plan, argv);
    cage.network = reach;
    match ability {
        SandboxAbility::Nothing { .. } => Ok(Confinement::default()),
        SandboxAbility::Bubblewrap { program, .. } => {
            let network = (reach == NetworkReach::Provider).then(|| NetworkOrder {
                hosts,
                // What cannot be used was told as an obstacle.
                upstream: UpstreamProxy::of(&agent.own).ok().flatten(),
                idle: call.limits.idle.max(call.limits.first_byte),
            });
            if let Some(network) = &network {
                let executable = &agent.spec.supervisor;
                cage.placed
                    .extend(network.places(executable, &call.run_dir));
            }
            let mut command = vec![program.to_string_lossy().into_owned()];
            command.extend(cage.arguments());
            command.extend(network.iter().flat_map(NetworkOrder::command));
            Ok(Confinement {
                command,
                holds: SelfHolds::around_bubblewrap(&program),
                network,
            })
        }
        SandboxAbility::Landlock { version } => Ok(Confinement {
            command: Vec::new(),
            holds: SelfHolds::by_landlock(&cage, version),
            network: None,
        }),
    }
}

/// Returns why a program does not start that must be confined.
fn refusal(reason: &str) -> AgentError {
    let message = format!("A sandbox is required and there is none: {reason}.");
    AgentError::new(ErrorClass::Setup, message)
}

/// Returns what the program finds inside.
fn cage(agent: &CommandAgent, call: &Call, plan: &Plan, argv: &[String]) -> BubblewrapCage {
    let own = |name: &str| agent.own.get(name);
    let user_home = own("HOME").map(PathBuf::from);
    // A home that holds everything would hide everything.
    let user_home = user_home.filter(|home| home.parent().is_some());
    let search = own("PATH").map(|search| std::env::split_paths(search).collect());
    let sandbox = &agent.spec.sandbox;
    let mut own_readable = vec![call.run_dir.clone()];
    let mut writable = sandbox.writable.clone();
    if plan.has_temporary_directory {
        writable.push(order::file(&call.run_dir, order::TEMPORARY_DIRECTORY));
    }
    match agent.spec.login {
        Login::Isolated => writable.push(agent.spec.home.clone()),
        Login::User => writable.extend(login_places(agent.spec.cli, user_home.as_deref())),
    }
    // A linter may have been told to write its report there.
    if agent.spec.cli == Cli::Linter {
        writable.push(call.run_dir.clone());
    }
    match call.access {
        Access::ReadOnly => own_readable.push(call.directory.clone()),
        Access::Write => writable.push(call.directory.clone()),
    }
    BubblewrapCage {
        user_home,
        search: search.unwrap_or_default(),
        argv: argv.to_vec(),
        readable: sandbox.readable.clone(),
        hidden: sandbox.hidden.clone(),
        own_readable,
        writable,
        directory: call.directory.clone(),
        // Filled in by whoever knows what can be had.
        network: NetworkReach::None,
        placed: Vec::new(),
        is_root: is_root(),
    }
}

/// Returns where a program keeps the user's login with it; a token is renewed there.
fn login_places(cli: Cli, user_home: Option<&Path>) -> Vec<PathBuf> {
    let places: &[&str] = match cli {
        Cli::Claude => &[".claude", ".claude.json"],
        Cli::Codex => &[".codex"],
        Cli::Gemini => &[".gemini"],
        Cli::Opencode => &[".config/opencode", ".local/share/opencode"],
        Cli::Custom | Cli::Linter => &[],
    };
    let home = user_home.into_iter();
    let places = home.flat_map(|home| places.iter().map(|place| home.join(place)));
    places.filter(|place| place.exists()).collect()
}
