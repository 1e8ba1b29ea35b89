//! `tribunal completions`.

use crate::error::CliError;
use crate::exit::Exit;

/// Print the completion script for a shell
///
/// For bash: `tribunal completions bash > ~/.local/share/bash-completion/completions/tribunal`
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    tribunal completions zsh > ~/.zfunc/_tribunal\n  \
    tribunal completions fish > ~/.config/fish/completions/tribunal.fish")]
pub(crate) struct Args {
    /// The shell
    shell: clap_complete::Shell,
}

/// Prints the script.
pub(crate) fn run(args: &Args) -> Result<Exit, CliError> {
    let mut command = crate::args::whole_command();
    clap_complete::generate(args.shell, &mut command, "tribunal", &mut std::io::stdout());
    Ok(Exit::Pass)
}
