//! The supervisor: a process of its own for each run, which starts the agent, enforces the limits,
//! and leaves no process behind.
//!
//! It is the program's own executable under a hidden subcommand. It stands between us and the
//! agent because only a process that lives exactly as long as the run can adopt the run's orphans
//! and can outlive us: when we are killed, it ends the agent and stores how the run went.
//!
//! It notices our death in two ways: its stdin ends, and the system sends it a signal. It dies
//! without cleaning up only by SIGKILL; then the system kills the agent itself, and
//! [`sweep_marked`](super::sweep_marked) finds the rest.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{SigSet, Signal, killpg};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{Pid, getpid, getppid, setsid};

use super::exit::{Ended, Exit};
use super::files;
use super::order::{self, Order, OrderLimits, Word};
use super::privacy;
use super::stage::{self, ExecError};
use super::sweep::{Swept, sweep_descendants};
use super::watch::Watch;
use crate::network::NetworkProxy;

/// Time between two looks at the agent.
const TICK: Duration = Duration::from_millis(20);

/// Time between a polite signal and a deadly one.
const GRACE: Duration = Duration::from_secs(2);

/// Time for killing what is left after the deadly signal. Together with [`GRACE`] it keeps the end
/// of a run within three seconds of its limit.
const SWEEP: Duration = Duration::from_millis(800);

/// Signals that would end the supervisor before it has cleaned up.
const CAUGHT: [Signal; 4] = [
    Signal::SIGTERM,
    Signal::SIGINT,
    Signal::SIGHUP,
    Signal::SIGQUIT,
];

/// Runs the hidden subcommand `supervise` and returns its exit code.
///
/// The order is read from stdin. Call it first thing in `main`, before any thread exists: signals
/// are blocked for all threads that follow, and the agent's life is tied to the calling thread.
#[must_use]
pub fn supervise_main() -> i32 {
    match supervise() {
        Ok(()) => 0,
        Err(error) => {
            complain(&error);
            1
        }
    }
}

#[expect(
    clippy::print_stderr,
    reason = "the supervisor's stderr is a log file in the run directory"
)]
fn complain(error: &io::Error) {
    eprintln!("supervisor: {error}");
}

fn supervise() -> io::Result<()> {
    let signals: SigSet = CAUGHT.into_iter().collect();
    signals.thread_block()?;
    privacy::keep_to_itself();
    // Fails only for the leader of a process group, which then has no terminal to lose either.
    let _ = setsid();
    adopt_orphans()?;

    let mut input = BufReader::new(io::stdin());
    let mut line = Vec::new();
    input
        .by_ref()
        .take(order::LONGEST_ORDER)
        .read_until(b'\n', &mut line)?;
    if line.last() != Some(&b'\n') {
        return Err(io::Error::other("the order is incomplete"));
    }
    let mut order: Order = serde_json::from_slice(&line).map_err(io::Error::other)?;
    drop(line);

    let (sender, heard) = mpsc::channel();
    listen(input, sender.clone());
    await_signals(signals, sender, order.parent);
    if getppid().as_raw() != order.parent {
        return Err(io::Error::other("the parent is gone"));
    }
    // Before the agent exists, which asks it first thing.
    let proxy = order.network.take();
    let proxy = proxy.map(|network| NetworkProxy::offer(network, &order.run_dir));
    let proxy = proxy.transpose()?;
    let mut exit = Supervision::begin(&order)?.watch(&order.limits, &heard);
    exit.refused = proxy.map_or_else(Vec::new, NetworkProxy::close);
    exit.write(&order.run_dir)
}

#[cfg(target_os = "linux")]
fn adopt_orphans() -> io::Result<()> {
    nix::sys::prctl::set_child_subreaper(true)?;
    nix::sys::prctl::set_pdeathsig(Signal::SIGTERM)?;
    Ok(())
}

/// Elsewhere only the process group is known; the end of stdin still tells of the parent's death.
#[cfg(not(target_os = "linux"))]
fn adopt_orphans() -> io::Result<()> {
    Ok(())
}

/// What reaches the supervisor from outside.
enum Heard {
    Word(Word),
    ParentGone,
}

/// Passes on what the parent says; the end of its input means that the parent is gone.
fn listen(input: impl BufRead + Send + 'static, sender: Sender<Heard>) {
    thread::spawn(move || {
        for line in input.lines().map_while(Result::ok) {
            if let Some(word) = Word::read(line.trim()) {
                let _ = sender.send(Heard::Word(word));
            }
        }
        let _ = sender.send(Heard::ParentGone);
    });
}

/// Takes the signals that would end the supervisor. A thread that waits for blocked signals does
/// what a handler would, in safe code; the second stage unblocks them for the agent.
fn await_signals(signals: SigSet, sender: Sender<Heard>, parent: i32) {
    thread::spawn(move || {
        while signals.wait().is_ok() {
            let heard = if outlives(parent) {
                Heard::Word(Word::Cancel)
            } else {
                Heard::ParentGone
            };
            if sender.send(heard).is_err() {
                return;
            }
        }
    });
}

/// Tells whether the parent lives. A dying process loses its threads first, and our signal comes
/// from the death of a thread, so that a look right after it would come too early.
fn outlives(parent: i32) -> bool {
    for _ in 0..10 {
        if getppid().as_raw() != parent {
            return false;
        }
        thread::sleep(TICK / 2);
    }
    true
}

/// A run under supervision.
struct Supervision<'a> {
    order: &'a Order,
    began: Instant,
    /// The agent, which leads its process group; absent when it could not be started.
    agent: Option<Pid>,
    /// How the agent ended, once it has.
    status: Option<WaitStatus>,
    stdout: Watch,
    stderr: Watch,
    /// The first and the latest sign of life.
    life: Option<(Instant, Instant)>,
    result_seen: Option<Instant>,
}

impl<'a> Supervision<'a> {
    /// Starts the agent.
    fn begin(order: &'a Order) -> io::Result<Self> {
        let path = |name| order::file(&order.run_dir, name);
        let stdout = files::create(&path(order::STDOUT_FILE))?;
        let stderr = files::create(&path(order::STDERR_FILE))?;
        let watch = |name| -> io::Result<Watch> {
            let file = OpenOptions::new().read(true).write(true).open(path(name))?;
            Ok(Watch::new(file))
        };
        files::remove(&path(order::EXEC_ERROR_FILE))?;
        let mut supervision = Self {
            order,
            began: Instant::now(),
            agent: None,
            status: None,
            stdout: watch(order::STDOUT_FILE)?,
            stderr: watch(order::STDERR_FILE)?,
            life: None,
            result_seen: None,
        };
        let stdin = File::open(path(order::PROMPT_FILE))?;
        match start(order, stdin, stdout, stderr) {
            Ok(agent) => supervision.agent = Some(agent),
            Err(error) => ExecError::new(&error).leave(&order.run_dir),
        }
        Ok(supervision)
    }

    /// Waits for the end of the run, cleans up, and tells how it went.
    fn watch(mut self, limits: &OrderLimits, heard: &Receiver<Heard>) -> Exit {
        let ended = loop {
            self.reap();
            if self.agent.is_none() || self.status.is_some() {
                break Ended::Exited;
            }
            if let Some(ended) = self.over(limits) {
                break ended;
            }
            match heard.recv_timeout(TICK) {
                Ok(Heard::Word(Word::Cancel)) => break Ended::Cancelled,
                Ok(Heard::Word(Word::Result)) => {
                    self.result_seen.get_or_insert_with(Instant::now);
                }
                Ok(Heard::Word(Word::More)) => self.result_seen = None,
                Ok(Heard::ParentGone) | Err(RecvTimeoutError::Disconnected) => {
                    break Ended::ParentGone;
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        };
        self.end_agent(&ended);
        let run = &self.order.run;
        let status = &mut self.status;
        let agent = self.agent;
        let reap = || collect(agent, status);
        let until = Instant::now() + SWEEP;
        let swept = sweep_descendants(run, reap, until);
        // A process may be gone for the sweep a moment before it can be collected.
        while self.agent.is_some() && self.status.is_none() && Instant::now() < until {
            thread::sleep(Duration::from_millis(1));
            self.reap();
        }
        self.account(ended, swept)
    }

    /// Returns the limit that has been reached, if any.
    fn over(&mut self, limits: &OrderLimits) -> Option<Ended> {
        let now = Instant::now();
        // Both are asked: each has to move on in its file.
        let stirred = [self.stdout.stirred(), self.stderr.stirred()];
        if stirred.contains(&true) {
            let first = self.life.map_or(now, |(first, _)| first);
            self.life = Some((first, now));
        }
        if self.stdout.size().max(self.stderr.size()) > limits.output_bytes {
            return Some(Ended::OutputCap);
        }
        let since = |moment: Instant| now.duration_since(moment);
        if let Some(seen) = self.result_seen
            && since(seen) >= limits.after_result()
        {
            return Some(Ended::AfterResult);
        }
        if since(self.began) >= limits.wall() {
            return Some(Ended::Wall);
        }
        match self.life {
            None if since(self.began) >= limits.first_byte() => Some(Ended::FirstByte),
            Some((_, latest)) if since(latest) >= limits.idle() => Some(Ended::Idle),
            _ => None,
        }
    }

    /// Asks the agent's process group to end, and kills it when it does not.
    fn end_agent(&mut self, ended: &Ended) {
        let Some(group) = self.agent else { return };
        // A flood would go on for as long as we are polite.
        let polite = self.status.is_none() && *ended != Ended::OutputCap;
        if polite {
            let _ = killpg(group, Signal::SIGTERM);
            let until = Instant::now() + GRACE;
            while self.status.is_none() && Instant::now() < until {
                thread::sleep(TICK / 2);
                self.reap();
                if self.stdout.size().max(self.stderr.size()) > self.order.limits.output_bytes {
                    break;
                }
            }
        }
        // The group may be gone, with or without its leader.
        let _ = killpg(group, Signal::SIGKILL);
    }

    fn reap(&mut self) {
        collect(self.agent, &mut self.status);
    }

    /// Cuts the outputs to their cap and puts together how the run went.
    fn account(self, ended: Ended, swept: Swept) -> Exit {
        let most = self.order.limits.output_bytes;
        let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let ended = match ExecError::read(&self.order.run_dir) {
            Some(error) => Ended::SpawnFailed {
                reason: error.reason,
            },
            None => ended,
        };
        let (code, signal) = match self.status {
            Some(WaitStatus::Exited(_, code)) => (Some(code), None),
            Some(WaitStatus::Signaled(_, signal, _)) => (None, Some(signal as i32)),
            _ => (None, None),
        };
        Exit {
            run: self.order.run.clone(),
            ended,
            code,
            signal,
            wall_ms: millis(self.began.elapsed()),
            first_byte_ms: self.life.map(|(first, _)| millis(first - self.began)),
            stdout_bytes: self.stdout.cut(most).unwrap_or_else(|_| self.stdout.size()),
            stderr_bytes: self.stderr.cut(most).unwrap_or_else(|_| self.stderr.size()),
            survivors: swept.killed as u64,
            left: swept.left as u64,
            refused: Vec::new(),
        }
    }
}

/// Starts the second stage, which becomes the agent.
fn start(order: &Order, stdin: File, stdout: File, stderr: File) -> io::Result<Pid> {
    let child = Command::new(own_executable()?)
        .arg(stage::SUBCOMMAND)
        .arg(getpid().to_string())
        .arg(&order.run_dir)
        .args(stage::hand_over(&order.holds, &order.run_dir)?)
        .arg("--")
        .args(&order.cage)
        .args(&order.argv)
        .env_clear()
        .envs(order.env.iter().map(|(name, value)| (name, value)))
        .current_dir(&order.directory)
        .stdin(Stdio::from(stdin))
        .stdout(Stdio::from(stdout))
        .stderr(Stdio::from(stderr))
        .process_group(0)
        .spawn()?;
    let pid = i32::try_from(child.id()).map_err(io::Error::other)?;
    // The child is collected together with the orphans, not through its handle.
    Ok(Pid::from_raw(pid))
}

/// Returns this very executable, even when its file has been replaced since.
fn own_executable() -> io::Result<std::path::PathBuf> {
    let linux = Path::new("/proc/self/exe");
    if linux.exists() {
        Ok(linux.to_owned())
    } else {
        std::env::current_exe()
    }
}

/// Collects dead children, adopted ones included, and keeps the status of the agent.
fn collect(agent: Option<Pid>, status: &mut Option<WaitStatus>) {
    loop {
        match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
            Ok(WaitStatus::StillAlive) | Err(_) => return,
            Ok(dead) if dead.pid() == agent => *status = Some(dead),
            Ok(_) => {}
        }
    }
}
