//! What has to be prepared for a run: arguments, variables, files and the text for stdin.

use std::collections::BTreeMap;
use std::path::PathBuf;

use tribunal_core::agent::ErrorClass;

use super::{claude, codex, custom, gemini, linter, opencode, order};
use crate::sandbox::{SandboxAbility, is_root};
use crate::spec::{Cli, CommandSpec};
use crate::{AgentError, Call};

/// The longest single argument that Linux passes on, with room for the end.
const LONGEST_ARGUMENT: usize = 128 * 1024 - 4096;

/// What a plan is made from.
pub(super) struct Context<'a> {
    /// How the program is reached.
    pub(super) spec: &'a CommandSpec,
    /// The model it is told to use.
    pub(super) model: Option<&'a str>,
    /// The question.
    pub(super) call: &'a Call,
    /// Which sandbox the program can build for itself.
    pub(super) own_sandbox: OwnSandbox,
}

/// Which sandbox a program can build for itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OwnSandbox {
    /// Every kind.
    Any,
    /// One of rules that it lays upon itself, because ours forbids namespaces.
    Landlock,
    /// None, because ours does not let it.
    Impossible,
}

impl OwnSandbox {
    /// Returns which sandbox works inside of ours.
    pub(super) fn inside(ability: Option<&SandboxAbility>) -> Self {
        match ability {
            Some(SandboxAbility::Bubblewrap { .. }) if is_root() => Self::Impossible,
            Some(SandboxAbility::Landlock { .. }) => Self::Landlock,
            Some(SandboxAbility::Bubblewrap { .. } | SandboxAbility::Nothing { .. }) | None => {
                Self::Any
            }
        }
    }
}

/// What has to be prepared for a run.
#[derive(Default)]
pub(super) struct Plan {
    /// Arguments after those of the config.
    pub(super) args: Vec<String>,
    /// Variables of this program; keys are among them.
    pub(super) env: BTreeMap<String, String>,
    /// Private files in the run directory, by name.
    pub(super) files: Vec<(&'static str, String)>,
    /// Private files in the agent's own home, by path; the same for all its runs.
    pub(super) home_files: Vec<(&'static str, String)>,
    /// What the program reads from stdin.
    pub(super) stdin: String,
    /// Whether the run has a directory for temporary files of its own.
    pub(super) has_temporary_directory: bool,
}

impl Plan {
    /// Adds arguments.
    pub(super) fn args<const N: usize>(&mut self, args: [&str; N]) {
        self.args.extend(args.map(str::to_owned));
    }

    /// Sets variables.
    pub(super) fn env<const N: usize>(&mut self, variables: [(&str, &str); N]) {
        let owned = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
        self.env.extend(owned);
    }

    /// Adds a private file to the run directory and returns its path.
    pub(super) fn file(
        &mut self,
        context: &Context<'_>,
        name: &'static str,
        content: String,
    ) -> String {
        self.files.push((name, content));
        path_text(context.call.run_dir.join(name))
    }

    /// Gives the run a directory for temporary files of its own and returns its path.
    pub(super) fn temporary_directory(&mut self, context: &Context<'_>) -> String {
        self.has_temporary_directory = true;
        path_text(order::file(
            &context.call.run_dir,
            order::TEMPORARY_DIRECTORY,
        ))
    }
}

/// Returns the plan for a run of `context`.
pub(super) fn plan(context: &Context<'_>) -> Result<Plan, AgentError> {
    refuse_credentials_in_url(context)?;
    let plan = match context.spec.cli {
        Cli::Claude => claude::plan(context),
        Cli::Codex => codex::plan(context),
        Cli::Gemini => gemini::plan(context),
        Cli::Opencode => opencode::plan(context),
        Cli::Custom => Ok(custom::plan(context)),
        Cli::Linter => linter::plan(context),
    }?;
    check_length(context.spec.cli, &plan.stdin)?;
    let texts = plan.args.iter().chain(plan.env.values());
    if texts
        .map(String::len)
        .any(|length| length > LONGEST_ARGUMENT)
    {
        let message = "The schema or a setting is too long to be passed on.";
        return Err(AgentError::new(ErrorClass::BadRequest, message));
    }
    Ok(plan)
}

/// Returns the prompt with the system text before it.
pub(super) fn system_and_prompt(call: &Call) -> String {
    match &call.system {
        Some(system) => format!("{system}\n\n{}", call.prompt),
        None => call.prompt.clone(),
    }
}

/// Returns the base URL with the version that its paths begin with, unless it has one.
pub(super) fn versioned_url(url: &str) -> String {
    let url = url.trim_end_matches('/');
    if is_version(url.rsplit('/').next().unwrap_or_default()) {
        url.to_owned()
    } else {
        format!("{url}/v1")
    }
}

/// Returns the base URL without the version, for programs that add it themselves.
pub(super) fn unversioned_url(url: &str) -> &str {
    let url = url.trim_end_matches('/');
    match url.rsplit_once('/') {
        Some((rest, last)) if is_version(last) => rest,
        _ => url,
    }
}

fn is_version(segment: &str) -> bool {
    let mut chars = segment.chars();
    chars.next() == Some('v') && chars.next().is_some_and(|c| c.is_ascii_digit())
}

/// Returns milliseconds as the programs want them.
pub(super) fn millis(time: std::time::Duration) -> String {
    // Timers of JavaScript overflow beyond 31 bits and then fire at once.
    time.as_millis().clamp(1, 2_147_483_647).to_string()
}

fn path_text(path: PathBuf) -> String {
    path.to_string_lossy().into_owned()
}

/// Base URLs may end up in arguments, which every user of the machine can read.
fn refuse_credentials_in_url(context: &Context<'_>) -> Result<(), AgentError> {
    let Some(url) = &context.spec.base_url else {
        return Ok(());
    };
    let host = url.split_once("://").map_or(url.as_str(), |(_, rest)| rest);
    let host = host.split('/').next().unwrap_or_default();
    if host.contains('@') {
        let message = "The base URL holds credentials; configure the key apart from it.";
        return Err(AgentError::new(ErrorClass::Setup, message));
    }
    Ok(())
}

/// Refuses what the program would refuse, cut or choke on. Some do so with exit code 0.
fn check_length(cli: Cli, stdin: &str) -> Result<(), AgentError> {
    let (length, most, unit) = match cli {
        Cli::Claude => (stdin.len(), 2_500_000, "bytes"),
        Cli::Codex => (stdin.chars().count(), 1_048_576, "characters"),
        Cli::Gemini => (stdin.len(), 8 * 1024 * 1024 - 1024, "bytes"),
        Cli::Opencode => (stdin.len(), 3_000_000, "bytes"),
        Cli::Custom | Cli::Linter => (stdin.len(), 64 * 1024 * 1024, "bytes"),
    };
    if length <= most {
        return Ok(());
    }
    let name = cli.as_str();
    let message = format!("The prompt has {length} {unit}, but {name} takes at most {most}.");
    Err(AgentError::new(ErrorClass::ContextTooLong, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_added_or_removed_as_needed() {
        assert_eq!(versioned_url("http://host/s/ok@k"), "http://host/s/ok@k/v1");
        assert_eq!(versioned_url("http://host/v1/"), "http://host/v1");
        assert_eq!(unversioned_url("http://host/v1beta/"), "http://host");
        assert_eq!(unversioned_url("http://host/vendor"), "http://host/vendor");
    }

    #[test]
    fn long_prompts_are_refused_with_a_sentence() {
        let error = check_length(Cli::Codex, &"x".repeat(1_048_577)).unwrap_err();
        assert_eq!(error.class, ErrorClass::ContextTooLong);
        assert_eq!(
            error.message,
            "The prompt has 1048577 characters, but codex takes at most 1048576."
        );
        assert!(check_length(Cli::Codex, &"ä".repeat(1_048_576)).is_ok());
    }
}
