//! `tribunal man`.

use std::io::Write as _;
use std::path::PathBuf;

use crate::error::CliError;
use crate::exit::Exit;

/// Print the manual page, or write one page per command
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    tribunal man | man -l -\n  \
    tribunal man --output ~/.local/share/man/man1")]
pub(crate) struct Args {
    /// Write all pages into this directory
    #[arg(long, value_name = "DIR")]
    output: Option<PathBuf>,
}

/// Prints or writes the pages.
pub(crate) fn run(args: &Args) -> Result<Exit, CliError> {
    let command = crate::args::whole_command();
    let written = match &args.output {
        Some(directory) => std::fs::create_dir_all(directory)
            .and_then(|()| clap_mangen::generate_to(command, directory)),
        None => {
            let mut page = Vec::new();
            clap_mangen::Man::new(command)
                .render(&mut page)
                .and_then(|()| std::io::stdout().write_all(&page))
        }
    };
    written.map_err(|error| {
        CliError::new(Exit::Internal, "cannot write the manual page").caused_by(&error)
    })?;
    Ok(Exit::Pass)
}
