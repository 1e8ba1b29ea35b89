//! `tribunal`: the one place that prints, asks a human and chooses an exit code.

mod args;
mod ask;
mod commands;
mod error;
mod exit;
mod invocation;
#[cfg(test)]
mod pages;
#[cfg(test)]
mod reference;
mod report;
mod stopping;
mod typed_words;

use std::io::Write as _;
use std::pin::Pin;
use std::process::ExitCode;

use crate::args::{Args, Command};
use crate::error::CliError;
use crate::exit::Exit;
use crate::invocation::Invocation;

fn main() -> ExitCode {
    // Keys may stand in our environment, and programs that we start shall not find them there.
    tribunal_agents::command::keep_to_itself();
    if let Some(code) = commands::supervise::if_asked() {
        return code;
    }
    let args = Args::read();
    args.global.color.write_global();
    log_if_asked();
    match run(args) {
        Ok(exit) => exit.into(),
        Err(error) => {
            // When standard error is closed there is nobody left to tell.
            let _ = anstream::stderr().write_all(error.render().as_bytes());
            error.exit.into()
        }
    }
}

/// Writes what the program does inside to standard error, as `TRIBUNAL_LOG` demands.
fn log_if_asked() {
    if let Ok(filter) = std::env::var("TRIBUNAL_LOG") {
        tracing_subscriber::fmt()
            .with_env_filter(tracing_subscriber::EnvFilter::new(filter))
            .with_writer(std::io::stderr)
            .init();
    }
}

/// Carries out the command. Those that need no ledger and no agents start no runtime either.
fn run(args: Args) -> Result<Exit, CliError> {
    let invocation = Invocation::new(args.global)?;
    match args.command {
        Command::Completions(args) => commands::completions::run(&args),
        Command::Man(args) => commands::man::run(&args),
        Command::Config(args) => commands::config::run(&invocation, args),
        Command::Consensus(args) => commands::consensus::run(&invocation, &args),
        Command::Debate(args) => block_on(
            &invocation,
            Box::pin(commands::debate::run(&invocation, args)),
        ),
        Command::Trial(args) => block_on(
            &invocation,
            Box::pin(commands::trial::run(&invocation, args)),
        ),
        Command::Verdict(args) => commands::verdict::run(&invocation, &args),
        Command::Demo(args) => block_on(
            &invocation,
            Box::pin(commands::demo::run(&invocation, args)),
        ),
        Command::Init(args) => commands::init::run(&invocation, &args),
        Command::Connect(args) => commands::connect::run(&invocation, args),
        Command::Disconnect(args) => commands::disconnect::run(&invocation, &args),
        Command::Agents(args) => block_on(
            &invocation,
            Box::pin(commands::agents::run(&invocation, args)),
        ),
        Command::Ask(args) => {
            block_on(&invocation, Box::pin(commands::ask::run(&invocation, args)))
        }
        Command::Doctor(args) => block_on(
            &invocation,
            Box::pin(commands::doctor::run(&invocation, args)),
        ),
        Command::Dismiss(args) => block_on(
            &invocation,
            Box::pin(commands::dismiss::run(&invocation, args)),
        ),
        Command::AcceptRisk(args) => block_on(
            &invocation,
            Box::pin(commands::accept_risk::run(&invocation, args)),
        ),
        Command::Dispute(args) => block_on(
            &invocation,
            Box::pin(commands::dispute::run(&invocation, args)),
        ),
        Command::Disputes(args) => block_on(
            &invocation,
            Box::pin(commands::disputes::run(&invocation, args)),
        ),
        Command::Precedent(args) => block_on(
            &invocation,
            Box::pin(commands::precedent::run(&invocation, args)),
        ),
        Command::Stats(args) => block_on(
            &invocation,
            Box::pin(commands::stats::run(&invocation, args)),
        ),
        Command::Log(args) => {
            block_on(&invocation, Box::pin(commands::log::run(&invocation, args)))
        }
        Command::Explain(args) => block_on(
            &invocation,
            Box::pin(commands::explain::run(&invocation, args)),
        ),
        Command::Show(args) => block_on(
            &invocation,
            Box::pin(commands::show::run(&invocation, args)),
        ),
        Command::Watch(args) => block_on(
            &invocation,
            Box::pin(commands::watch::run(&invocation, args)),
        ),
        Command::Task(args) => block_on(
            &invocation,
            Box::pin(commands::task::run(&invocation, args)),
        ),
        Command::Run(args) => {
            block_on(&invocation, Box::pin(commands::run::run(&invocation, args)))
        }
        Command::Arbiter(args) => block_on(
            &invocation,
            Box::pin(commands::arbiter::run(&invocation, args)),
        ),
        Command::Section(args) => block_on(
            &invocation,
            Box::pin(commands::section::run(&invocation, args)),
        ),
        Command::Review(args) => block_on(
            &invocation,
            Box::pin(commands::review::run(&invocation, args)),
        ),
        Command::Rules(args) => commands::rules::run(&invocation, args),
        Command::Resume(args) => block_on(
            &invocation,
            Box::pin(commands::resume::run(&invocation, args)),
        ),
        Command::Replay(args) => block_on(
            &invocation,
            Box::pin(commands::replay::run(&invocation, args)),
        ),
        Command::Export(args) => block_on(
            &invocation,
            Box::pin(commands::export::run(&invocation, args)),
        ),
        Command::Gc(args) => block_on(&invocation, Box::pin(commands::gc::run(&invocation, args))),
        Command::Backup(args) => block_on(
            &invocation,
            Box::pin(commands::backup::run(&invocation, args)),
        ),
        Command::Restore(args) => block_on(
            &invocation,
            Box::pin(commands::restore::run(&invocation, args)),
        ),
    }
}

/// Does `work`. It comes in a box: some commands would take half a megabyte of the stack, which every
/// one of them would have to touch.
fn block_on(
    invocation: &Invocation,
    work: Pin<Box<dyn Future<Output = Result<Exit, CliError>> + '_>>,
) -> Result<Exit, CliError> {
    // One thread is enough for waiting, and it starts at once; what computes gets its own.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        // Two hundred answers that come at once wait for the disk as fast on fewer threads.
        .max_blocking_threads(64)
        .build()
        .map_err(|error| CliError::new(Exit::Internal, "cannot start").caused_by(&error))?;
    let result = runtime.block_on(async {
        let result = work.await;
        invocation.close_stores().await;
        result
    });
    // The process ends here, and nobody needs what is left of the runtime.
    std::mem::forget(runtime);
    result
}
