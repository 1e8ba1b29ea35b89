//! `tribunal connect`.

use std::path::PathBuf;

use tribunal_core::agent::Role;
use tribunal_core::ids::AgentName;
use tribunal_engine::config::{
    AgentSettings, Change, CommandLine, Editor, LoginChoice, Provider, Reach, Target,
};

use crate::error::CliError;
use crate::exit::Exit;
use crate::invocation::Invocation;

/// Add an agent to the configuration
///
/// AGENT is a known program (claude, codex, gemini, opencode), an API (anthropic, openai,
/// openai_chat, gemini_api), `scripted`, or any other program with its arguments in quotes.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    tribunal connect claude --role judge\n  \
    tribunal connect codex --role reviewer --domain security\n  \
    tribunal connect openai_chat --role reviewer --model qwen3-coder --base-url http://127.0.0.1:11434/v1\n  \
    tribunal connect './my-agent --fast' --name mine --role coder")]
pub(crate) struct Args {
    /// Whom to connect
    agent: String,
    /// What it may be asked to do; can be given several times
    #[arg(long, value_name = "ROLE", required = true, value_parser = super::ask::parse_role)]
    role: Vec<Role>,
    /// Its name; made of agent and role if not given
    #[arg(long)]
    name: Option<String>,
    /// The model it shall use
    #[arg(long)]
    model: Option<String>,
    /// A field of work it is meant for; can be given several times
    #[arg(long)]
    domain: Vec<String>,
    /// Where its API is
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,
    /// The environment variable that holds its key
    #[arg(long, value_name = "NAME")]
    api_key_env: Option<String>,
    /// The file of replies for `scripted`
    #[arg(long, value_name = "FILE")]
    script: Option<PathBuf>,
    /// Let a program use your own login and settings, as subscriptions need
    #[arg(long)]
    login: bool,
    /// Change your own configuration instead of the project's
    #[arg(long)]
    user: bool,
}

/// Adds the agent.
pub(crate) fn run(invocation: &Invocation, args: Args) -> Result<Exit, CliError> {
    let target = if args.user {
        Target::User
    } else {
        Target::Project
    };
    let agent = settings_of(invocation, args)?;
    let sources = invocation.sources(&[]);
    let editor = Editor::new(&sources, target)?;
    let change = editor.add_agent(&agent)?;
    let file = editor.file().display();
    match change {
        Change::Written => invocation.say(&format!(
            "{} joined as {} in {file}.",
            agent.name,
            roles(&agent)
        )),
        Change::None => invocation.say(&format!("{} is in {file} already.", agent.name)),
    }
    if let Some(program) = missing_program(invocation, &agent) {
        invocation.say(&format!(
            "The program `{program}` was not found, so {0} cannot answer: install it, or take {0} out \
             again with `tribunal disconnect {0}`.",
            agent.name
        ));
    }
    invocation.say(&format!("Check it with `tribunal doctor {}`.", agent.name));
    Ok(Exit::Pass)
}

/// Returns the program of an agent if it is not there.
fn missing_program(invocation: &Invocation, agent: &AgentSettings) -> Option<String> {
    let program = agent.command.as_ref()?.program();
    let is_file = |path: PathBuf| path.is_file();
    let is_there = match program.contains('/') {
        true => is_file(invocation.path(std::path::Path::new(program))),
        false => {
            let search = invocation.env.get("PATH").map_or("", String::as_str);
            std::env::split_paths(search).any(|folder| is_file(folder.join(program)))
        }
    };
    (!is_there).then(|| program.to_owned())
}

fn roles(agent: &AgentSettings) -> String {
    agent
        .role
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(" and ")
}

fn settings_of(invocation: &Invocation, args: Args) -> Result<AgentSettings, CliError> {
    let provider = provider_named(&args.agent);
    let command = match provider {
        Some(_) => None,
        None => Some(CommandLine::parse(&args.agent).ok_or_else(|| {
            CliError::new(Exit::Usage, format!("`{}` is no command line", args.agent))
        })?),
    };
    let stem = command
        .as_ref()
        .map_or(args.agent.as_str(), CommandLine::program);
    let stem = std::path::Path::new(stem)
        .file_stem()
        .and_then(|stem| stem.to_str())
        .unwrap_or("agent");
    let role = args.role.first().map_or("agent", |role| role.as_str());
    let name = args.name.unwrap_or_else(|| format!("{stem}-{role}"));
    let name = AgentName::new(name).map_err(|error| {
        CliError::new(Exit::Usage, error.to_string()).hint("Choose one with `--name`")
    })?;
    let mut agent = AgentSettings::new(name);
    match provider {
        // A program is named as people name it; the provider follows from it.
        Some(provider) if matches!(provider.reach(), Reach::Command(_)) => {
            agent.command = CommandLine::new(vec![provider.as_str().to_owned()]);
        }
        other => agent.provider = other,
    }
    if command.is_some() {
        agent.command = command;
    }
    agent.role = args.role;
    agent.model = args.model;
    agent.domain = args.domain;
    agent.base_url = args.base_url;
    agent.api_key_env = args.api_key_env;
    agent.script = args.script.map(|script| invocation.path(&script));
    agent.login = args.login.then_some(LoginChoice::User);
    Ok(agent)
}

/// Returns the provider of that name.
fn provider_named(name: &str) -> Option<Provider> {
    if name == "openai" {
        return Some(Provider::OpenaiResponses);
    }
    let known = Provider::ALL
        .into_iter()
        .filter(|provider| !matches!(provider, Provider::Custom | Provider::Sarif));
    known.into_iter().find(|provider| provider.as_str() == name)
}
