//! The command line: what can be typed.

use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use tribunal_engine::config::Usd;

use crate::commands;

/// One arbitration system for software written by several AI agents.
#[derive(Debug, Parser)]
#[command(
    name = "tribunal",
    version,
    propagate_version = true,
    after_help = "Exit codes: 0 pass, 1 fail, 2 usage, 3 config, 4 not found, 5 inconclusive, \
                  6 busy, 7 budget or quota stop, 70 internal, 130 interrupted."
)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

impl Args {
    /// Reads the command line, or ends the program with what is wrong with it.
    ///
    /// Only the command that was typed is put together: all of them have several hundred options,
    /// which would take longer than the rest of the start.
    pub(crate) fn read() -> Self {
        match Self::try_parse() {
            Ok(args) => args,
            Err(error) if error.kind() == ErrorKind::DisplayVersion => error.exit(),
            // Help and errors tell of the other commands too.
            Err(_) => {
                let mut whole = whole_command();
                let matches = whole.get_matches_mut();
                Self::from_arg_matches(&matches)
                    .unwrap_or_else(|error| error.format(&mut whole).exit())
            }
        }
    }
}

/// Returns the command line with all of its commands put together.
pub(crate) fn whole_command() -> clap::Command {
    let mut command = Args::command();
    command.build();
    command
}

/// Options that every command takes.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Global {
    /// Work as if started in this directory
    #[arg(short = 'C', long, value_name = "DIR", global = true)]
    pub(crate) directory: Option<PathBuf>,
    /// Set a configuration value for this invocation, such as `retry.attempts=1`
    #[arg(long = "set", value_name = "KEY=VALUE", global = true)]
    pub(crate) overrides: Vec<String>,
    /// Keep the ledger in this directory
    #[arg(
        long,
        value_name = "DIR",
        env = "TRIBUNAL_LEDGER",
        hide_env_values = true,
        global = true
    )]
    pub(crate) ledger: Option<PathBuf>,
    /// Say nothing but the result
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    /// Colour the output: auto, always, never
    #[arg(long, value_name = "WHEN", default_value = "auto", global = true)]
    pub(crate) color: Color,
}

/// When to colour the output.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub(crate) enum Color {
    Auto,
    Always,
    Never,
}

impl Color {
    /// Makes this choice the one of the whole process.
    pub(crate) fn write_global(self) {
        match self {
            Self::Auto => anstream::ColorChoice::Auto,
            Self::Always => anstream::ColorChoice::Always,
            Self::Never => anstream::ColorChoice::Never,
        }
        .write_global();
    }
}

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum Command {
    Demo(commands::demo::Args),
    Init(commands::init::Args),
    Review(commands::review::Args),
    Rules(commands::rules::Args),
    Task(commands::task::Args),
    Section(commands::section::Args),
    Run(commands::run::Args),
    Arbiter(commands::arbiter::Args),
    Connect(commands::connect::Args),
    Disconnect(commands::disconnect::Args),
    Agents(commands::agents::Args),
    Ask(commands::ask::Args),
    Consensus(commands::consensus::Args),
    Debate(commands::debate::Args),
    Trial(commands::trial::Args),
    Verdict(commands::verdict::Args),
    Dismiss(commands::dismiss::Args),
    AcceptRisk(commands::accept_risk::Args),
    Dispute(commands::dispute::Args),
    Disputes(commands::disputes::Args),
    Precedent(commands::precedent::Args),
    Stats(commands::stats::Args),
    Log(commands::log::Args),
    Show(commands::show::Args),
    Explain(commands::explain::Args),
    Watch(commands::watch::Args),
    Resume(commands::resume::Args),
    Replay(commands::replay::Args),
    Export(commands::export::Args),
    Gc(commands::gc::Args),
    Backup(commands::backup::Args),
    Restore(commands::restore::Args),
    Config(commands::config::Args),
    Doctor(commands::doctor::Args),
    Completions(commands::completions::Args),
    Man(commands::man::Args),
}

/// Reads an amount of money.
pub(crate) fn parse_cost(text: &str) -> Result<Usd, String> {
    Usd::parse(text).ok_or_else(|| "write an amount in US dollars such as `0.50`".to_owned())
}
