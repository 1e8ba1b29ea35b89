//! Starts supervisors from one thread that lives as long as the process.
//!
//! The system sends the parent-death signal when the *thread* that started a process ends, and
//! threads of an async runtime come and go. The same thread collects supervisors that nobody waits
//! for any more, so that they do not stay behind as zombies.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::OnceLock;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use tokio::sync::oneshot;

use super::files;
use super::order::{self, Order, Word};
use super::sweep::{adopt_orphans, sweep_orphans};

/// Name of the hidden subcommand.
const SUBCOMMAND: &str = "supervise";

/// Time between two attempts to collect abandoned supervisors.
const COLLECT: Duration = Duration::from_millis(200);

/// A supervisor at work. Dropping it makes the supervisor end its run.
pub(super) struct Supervisor {
    /// Present until dropped.
    child: Option<Child>,
    control: Option<ChildStdin>,
}

impl Supervisor {
    /// Starts `program` as the supervisor of `order`.
    pub(super) async fn start(program: PathBuf, order: &Order) -> io::Result<Self> {
        let mut line = serde_json::to_vec(order).map_err(io::Error::other)?;
        line.push(b'\n');
        let (answer, started) = oneshot::channel();
        let job = Job::Start {
            program,
            log: files::create(&order::file(&order.run_dir, order::SUPERVISOR_LOG))?,
            run_dir: order.run_dir.clone(),
            line,
            answer,
        };
        let gone = || io::Error::other("the thread that starts supervisors is gone");
        spawner()?.send(job).map_err(|_| gone())?;
        started.await.map_err(|_| gone())?
    }

    /// Says `word` to the supervisor. One that is gone no longer listens, which is no failure.
    pub(super) fn say(&mut self, word: Word) {
        if let Some(control) = &mut self.control {
            let _ = control.write_all(format!("{}\n", word.as_str()).as_bytes());
        }
    }

    /// Returns how the supervisor ended, once it has.
    pub(super) fn ended(&mut self) -> io::Result<Option<ExitStatus>> {
        self.child.as_mut().map_or(Ok(None), Child::try_wait)
    }

    /// Kills a supervisor that does not do its work.
    pub(super) fn kill(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.kill();
        }
    }
}

impl Drop for Supervisor {
    fn drop(&mut self) {
        // The supervisor takes the end of its stdin for our end, and cleans up.
        drop(self.control.take());
        if let Some(child) = self.child.take()
            && let Ok(spawner) = spawner()
        {
            let _ = spawner.send(Job::Collect(child));
        }
    }
}

enum Job {
    Start {
        program: PathBuf,
        run_dir: PathBuf,
        log: File,
        line: Vec<u8>,
        answer: oneshot::Sender<io::Result<Supervisor>>,
    },
    Collect(Child),
    Sweep(oneshot::Sender<usize>),
}

/// Kills what supervisors that died have left to us, and returns how many processes that were.
pub(super) async fn sweep_after_dead_supervisors() -> usize {
    let (answer, swept) = oneshot::channel();
    match spawner().map(|spawner| spawner.send(Job::Sweep(answer))) {
        Ok(Ok(())) => swept.await.unwrap_or(0),
        Ok(Err(_)) | Err(_) => 0,
    }
}

/// Returns the way to the one thread, which is started at first use.
fn spawner() -> io::Result<Sender<Job>> {
    static SPAWNER: OnceLock<Option<Sender<Job>>> = OnceLock::new();
    let sender = SPAWNER.get_or_init(|| {
        adopt_orphans();
        let (sender, jobs) = mpsc::channel();
        let thread = thread::Builder::new().name("spawner".to_owned());
        thread.spawn(move || work(&jobs)).ok().map(|_| sender)
    });
    sender
        .clone()
        .ok_or_else(|| io::Error::other("no thread could be started"))
}

fn work(jobs: &Receiver<Job>) {
    let mut abandoned: Vec<Child> = Vec::new();
    // Only this thread starts supervisors, so that it knows them all when it sweeps.
    let mut supervisors = BTreeSet::new();
    loop {
        let job = if abandoned.is_empty() {
            jobs.recv().map_err(|_| RecvTimeoutError::Disconnected)
        } else {
            jobs.recv_timeout(COLLECT)
        };
        match job {
            Ok(Job::Start {
                program,
                run_dir,
                log,
                line,
                answer,
            }) => {
                let started = start(&program, &run_dir, log, &line);
                let child = started.as_ref().ok().and_then(|one| one.child.as_ref());
                supervisors.extend(child.map(process_id));
                // A receiver that is gone drops the supervisor, which ends the run.
                let _ = answer.send(started);
            }
            Ok(Job::Collect(child)) => abandoned.push(child),
            Ok(Job::Sweep(answer)) => {
                let _ = answer.send(sweep_orphans(&supervisors));
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        abandoned.retain_mut(|child| {
            let is_alive = matches!(child.try_wait(), Ok(None));
            if !is_alive {
                supervisors.remove(&process_id(child));
            }
            is_alive
        });
    }
}

fn process_id(child: &Child) -> i32 {
    i32::try_from(child.id()).unwrap_or(0)
}

fn start(
    program: &std::path::Path,
    run_dir: &std::path::Path,
    log: File,
    line: &[u8],
) -> io::Result<Supervisor> {
    let mut child = Command::new(program)
        .arg(SUBCOMMAND)
        // It reads nothing from there; the argument tells people and tools whose it is.
        .arg(run_dir)
        // The supervisor needs no variable, and must not carry the marker of an outer run.
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(log)
        .spawn()?;
    let mut control = child.stdin.take();
    if let Some(control) = &mut control {
        control.write_all(line)?;
    }
    Ok(Supervisor {
        child: Some(child),
        control,
    })
}
