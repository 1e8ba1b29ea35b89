//! `tribunal init`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use tribunal_agents::spec::Cli;
use tribunal_engine::config::{Project, Provider};
use tribunal_engine::files;

use crate::error::CliError;
use crate::exit::Exit;
use crate::invocation::Invocation;

/// Look for installed agents and write a commented configuration
///
/// Writes `.tribunal/config.yml` in the root of the repository, or in the current directory when
/// there is no repository.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    tribunal init\n  \
    tribunal init --force")]
pub(crate) struct Args {
    /// Replace an existing configuration
    #[arg(long)]
    force: bool,
}

/// An installed program.
struct Installed {
    cli: Cli,
    path: PathBuf,
    /// Whether its usual key is in the environment; otherwise it needs the user's login.
    has_key: bool,
}

/// Writes the configuration and says what to do next.
pub(crate) fn run(invocation: &Invocation, args: &Args) -> Result<Exit, CliError> {
    let file = Project::find(&invocation.cwd).file();
    if file.exists() && !args.force {
        return Err(
            CliError::new(Exit::Usage, format!("{} exists already", file.display()))
                .hint("Add agents with `tribunal connect`, or replace the file with `--force`"),
        );
    }
    let installed = installed(&invocation.env);
    let text = render(&installed);
    std::fs::create_dir_all(file.parent().unwrap_or(&invocation.cwd))
        .and_then(|()| files::write_shared(&file, text.as_bytes()))
        .map_err(|error| {
            CliError::new(Exit::Config, format!("cannot write {}", file.display()))
                .caused_by(&error)
        })?;
    // What we write for the user on the user's word needs no further question.
    invocation
        .sources(&[])
        .trust_store()
        .trust(&file, &files::hash_of(text.as_bytes()))?;
    invocation.settings(&[])?;
    invocation.print(&format!("Wrote {}\n", file.display()))?;
    tell(invocation, &installed)?;
    Ok(Exit::Pass)
}

fn tell(invocation: &Invocation, installed: &[Installed]) -> Result<(), CliError> {
    let mut text = String::new();
    if installed.is_empty() {
        text.push_str(
            "No agent program was found (looked for claude, codex, gemini, opencode).\n\
             The built-in agent `scripted` is there; add a model with `tribunal connect`.\n",
        );
    }
    for program in installed {
        let how = if program.has_key {
            "with its key"
        } else {
            "with your login"
        };
        let _ = writeln!(
            text,
            "Found {} at {}, used {how}",
            program.cli.as_str(),
            program.path.display()
        );
    }
    text.push_str(
        "\nNext:\n  \
           tribunal agents              who is there\n  \
           tribunal doctor              whether they work\n  \
           tribunal review              what they and the built-in reviewers say of your work\n",
    );
    if !installed.is_empty() {
        text.push_str("  tribunal review --arbitrate  the same, and the coder answers and mends\n");
    }
    invocation.print(&text)
}

/// Looks for the known programs.
fn installed(env: &BTreeMap<String, String>) -> Vec<Installed> {
    let paths = env.get("PATH").cloned().unwrap_or_default();
    let find = |cli: Cli| {
        let path = std::env::split_paths(&paths)
            .map(|dir| dir.join(cli.as_str()))
            .find(|path| path.is_file())?;
        let key = Provider::ALL
            .into_iter()
            .find(|p| p.as_str() == cli.as_str())?
            .usual_key_variable();
        let has_key = key.is_some_and(|key| env.get(key).is_some_and(|value| !value.is_empty()));
        Some(Installed { cli, path, has_key })
    };
    Cli::KNOWN.into_iter().filter_map(find).collect()
}

/// The roles of the `index`-th program: the first writes, the others review, the last judges too.
fn roles_of(index: usize, count: usize) -> &'static str {
    match (index, count) {
        (0, 1) => "[coder, reviewer]",
        (0, _) => "coder",
        (index, count) if index + 1 == count && count > 2 => "[reviewer, judge]",
        _ => "reviewer",
    }
}

fn name_of(program: &Installed, index: usize) -> String {
    let role = if index == 0 { "coder" } else { "reviewer" };
    format!("{}-{role}", program.cli.as_str())
}

fn render(installed: &[Installed]) -> String {
    let mut text = String::from(
        "# Configuration of Tribunal for this project. Every key, with its default and meaning:\n\
         #   tribunal config show        what is in force, and where it comes from\n\
         #   tribunal config schema      for editors\n\n\
         # Who takes part. Roles: coder, reviewer, judge, arbiter, contestant.\n",
    );
    if installed.is_empty() {
        text.push_str(
            "# agents:\n\
             #   - name: claude-coder\n\
             #     command: claude          # claude, codex, gemini, opencode, or any program\n\
             #     role: coder\n\
             #   - name: local-reviewer\n\
             #     provider: openai_chat    # any compatible server, here Ollama\n\
             #     base_url: http://127.0.0.1:11434/v1\n\
             #     model: qwen3-coder\n\
             #     role: reviewer\n",
        );
    } else {
        text.push_str("agents:\n");
    }
    for (index, program) in installed.iter().enumerate() {
        let _ = writeln!(text, "  - name: {}", name_of(program, index));
        let _ = writeln!(text, "    command: {}", program.cli.as_str());
        let _ = writeln!(text, "    role: {}", roles_of(index, installed.len()));
        if !program.has_key {
            text.push_str("    login: user              # your subscription; `isolated` uses a key from the environment\n");
        }
    }
    text.push_str(
        "\nreview:\n  on_dispute:\n    prompt_user: true        # ask before a dispute is resolved\n    \
         default: judge           # judge, human or discard, when nobody is asked\n\n\
         # budget:\n#   per_case: 5.00           # US dollars; work stops before the next call\n#   per_day: 20.00\n",
    );
    text
}
