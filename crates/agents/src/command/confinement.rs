//! What a program of ours finds inside its sandbox, put together from its settings and its run.

use std::path::{Path, PathBuf};

use tribunal_core::agent::{Access, ErrorClass};
use tribunal_core::sandbox::SandboxDemand;

use super::environment::Variables;
use super::plan::Plan;
use super::{CommandAgent, order};
use crate::sandbox::{BubblewrapCage, SandboxAbility, is_root};
use crate::spec::{Cli, Login};
use crate::{AgentError, Call};

/// Returns bubblewrap if it confines the program of `call`, or refuses the run if it must and cannot.
pub(super) fn bubblewrap_for(call: &Call) -> Result<Option<PathBuf>, AgentError> {
    if call.sandbox == SandboxDemand::Off {
        return Ok(None);
    }
    match (SandboxAbility::of_this_machine(), call.sandbox) {
        (SandboxAbility::Bubblewrap { program }, _) => Ok(Some(program.clone())),
        (SandboxAbility::Nothing { reason }, SandboxDemand::Require) => {
            let message = format!("A sandbox is required and there is none: {reason}.");
            Err(AgentError::new(ErrorClass::Setup, message))
        }
        (SandboxAbility::Nothing { .. }, _) => Ok(None),
    }
}

/// Makes the variables fit for the inside: the user's directory for temporary files is not there.
pub(super) fn adapt_variables(variables: &mut Variables, plan: &Plan) {
    if !plan.has_temporary_directory {
        variables.insert("TMPDIR".to_owned(), "/tmp".to_owned());
    }
}

/// Returns bubblewrap with all its arguments, to which those of the program are added.
pub(super) fn command(
    bubblewrap: PathBuf,
    agent: &CommandAgent,
    call: &Call,
    plan: &Plan,
    argv: &[String],
) -> Vec<String> {
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
    let cage = BubblewrapCage {
        user_home,
        search: search.unwrap_or_default(),
        argv: argv.to_vec(),
        readable: sandbox.readable.clone(),
        hidden: sandbox.hidden.clone(),
        own_readable,
        writable,
        directory: call.directory.clone(),
        network: sandbox.network,
        is_root: is_root(),
    };
    let mut command = vec![bubblewrap.to_string_lossy().into_owned()];
    command.extend(cage.arguments());
    command
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
