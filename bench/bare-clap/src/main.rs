//! A program that does nothing but parse a command line as large as ours is at its top.

use clap::{Parser, Subcommand};

/// A yardstick.
#[derive(Parser)]
#[command(version)]
struct Args {
    /// Work as if started in this directory
    #[arg(short = 'C', long, global = true)]
    directory: Option<String>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Print the prompt
    Ask { agent: String, prompt: String },
    /// Do nothing
    Log,
}

fn main() {
    let args = Args::parse();
    if let Command::Ask { agent, prompt } = args.command {
        println!("{agent}: {prompt} {}", args.directory.unwrap_or_default());
    }
}
