//! Processes that outlive their welcome: waiting for ever, children, orphans, ignored signals.

use std::io::{self, Write};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use nix::sys::resource::{Resource, setrlimit};
use nix::sys::signal::{SigSet, Signal};

/// "For ever" has an end, so that a failed test does not leave processes behind for good.
const FOR_EVER: Duration = Duration::from_secs(3600);

const SLEEPER: &str = "__sleep";
const DETACHER: &str = "__orphan";

/// Tells whether the behaviour is one of those the agent uses for its own helpers.
pub(crate) fn is_helper(behave: &str) -> bool {
    behave == SLEEPER || behave == DETACHER
}

/// Runs as a helper process.
pub(crate) fn run_helper(behave: &str) -> io::Result<u8> {
    if behave == DETACHER {
        nix::unistd::setsid()?;
        let holder = helper(SLEEPER)?.stdin(Stdio::null()).spawn()?;
        report("orphan", &holder)?;
        return Ok(0);
    }
    wait_for_ever()
}

/// Waits until somebody ends the process.
pub(crate) fn wait_for_ever() -> ! {
    std::thread::sleep(FOR_EVER);
    std::process::exit(99)
}

/// Blocks the signals by which a process is asked to end.
pub(crate) fn ignore_signals() -> io::Result<()> {
    let mut polite = SigSet::empty();
    for signal in [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP] {
        polite.add(signal);
    }
    polite.thread_block()?;
    writeln!(io::stderr(), "fake-agent: ignoring SIGTERM")
}

/// Waits for SIGTERM and takes it for a reason to succeed, as some CLIs do.
pub(crate) fn wait_for_term() -> io::Result<u8> {
    let mut term = SigSet::empty();
    term.add(Signal::SIGTERM);
    term.thread_block()?;
    writeln!(io::stderr(), "fake-agent: waiting for SIGTERM")?;
    term.wait()?;
    Ok(0)
}

/// Starts two children in the agent's own process group, without a hold on its pipes.
pub(crate) fn leave_children() -> io::Result<()> {
    for _ in 0..2 {
        let mut child = helper(SLEEPER)?;
        child
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        report("child", &child.spawn()?)?;
    }
    Ok(())
}

/// Starts a process in a session of its own that keeps the agent's stdout and stderr open.
///
/// A helper makes the session, starts the process and is gone before this returns, so that the
/// process has no living ancestor in the agent's session.
pub(crate) fn leave_orphan() -> io::Result<()> {
    let status = helper(DETACHER)?.stdin(Stdio::null()).status()?;
    if status.success() {
        Ok(())
    } else {
        Err(io::Error::other("the orphan could not be started"))
    }
}

/// Dies by SIGABRT, without leaving a core file.
pub(crate) fn crash() -> ! {
    // A core file would only be litter; dying matters more than the limit.
    let _ = setrlimit(Resource::RLIMIT_CORE, 0, 0);
    std::process::abort()
}

fn helper(behave: &str) -> io::Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["--behave", behave]);
    Ok(command)
}

fn report(what: &str, child: &Child) -> io::Result<()> {
    writeln!(io::stderr(), "fake-agent: {what} {}", child.id())
}
