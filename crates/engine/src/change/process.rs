//! One program run to its end, within limits of time and output.

use std::io::{self, BufReader, Read, Write as _};
use std::process::{ChildStdout, Command, ExitStatus, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

/// How much of what a program complains about is kept.
const MAX_COMPLAINT: u64 = 8 << 10;

/// How a program ended, and what its reader made of its output.
pub(super) struct Ended<T> {
    pub(super) status: ExitStatus,
    pub(super) stderr: Vec<u8>,
    pub(super) read: T,
}

/// Why there is no result.
pub(super) enum Failure {
    /// It could not be started.
    Start(io::Error),
    /// It took too long and was killed.
    TooSlow,
    /// Its output could not be read, or its reader refused it; it was killed.
    Read(io::Error),
}

/// Runs `command`, gives it `input` and lets `read` have its output as it comes.
///
/// The program is killed when `limit` has passed or when `read` fails.
pub(super) fn run<T>(
    mut command: Command,
    input: &[u8],
    limit: Duration,
    read: impl FnOnce(&mut BufReader<ChildStdout>) -> io::Result<T>,
) -> Result<Ended<T>, Failure> {
    let end = Instant::now() + limit;
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().map_err(Failure::Start)?;
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let child = Mutex::new(child);
    let kill = || {
        if let Ok(mut child) = child.lock() {
            // It fails only if the program has ended already.
            let _ = child.kill();
        }
    };
    let was_slow = AtomicBool::new(false);
    let (finished, watch) = mpsc::channel::<()>();

    thread::scope(|scope| {
        scope.spawn(move || {
            // A program that ends early does not want the rest; its status says why.
            let _ = stdin.map(|mut stdin| stdin.write_all(input));
        });
        let complaint = scope.spawn(move || stderr.map(keep_start).unwrap_or_default());
        let (kill, was_slow) = (&kill, &was_slow);
        scope.spawn(move || {
            let left = end.saturating_duration_since(Instant::now());
            if watch.recv_timeout(left) == Err(RecvTimeoutError::Timeout) {
                was_slow.store(true, Ordering::SeqCst);
                kill();
            }
        });

        let output = match stdout {
            Some(stdout) => read(&mut BufReader::with_capacity(64 << 10, stdout)),
            None => Err(io::Error::other("the program has no output")),
        };
        if output.is_err() {
            kill();
        }
        let status = loop {
            let polled = child.lock().map(|mut child| child.try_wait());
            match polled {
                Ok(Ok(Some(status))) => break Ok(status),
                Ok(Ok(None)) => thread::sleep(Duration::from_micros(200)),
                Ok(Err(error)) => break Err(error),
                Err(_) => break Err(io::Error::other("a thread panicked")),
            }
        };
        drop(finished);
        let stderr = complaint.join().unwrap_or_default();
        if was_slow.load(Ordering::SeqCst) {
            return Err(Failure::TooSlow);
        }
        Ok(Ended {
            read: output.map_err(Failure::Read)?,
            status: status.map_err(Failure::Read)?,
            stderr,
        })
    })
}

/// Returns the start of a stream and reads the rest of it away.
fn keep_start(mut stream: impl Read) -> Vec<u8> {
    let mut start = Vec::new();
    let kept = stream.by_ref().take(MAX_COMPLAINT).read_to_end(&mut start);
    if kept.is_ok() {
        // The program must not block on a full pipe; what it says here is not needed.
        let _ = io::copy(&mut stream, &mut io::sink());
    }
    start
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_takes_too_long_is_killed() {
        let mut command = Command::new("sleep");
        command.arg("600");
        let start = Instant::now();
        let limit = Duration::from_millis(50);
        let ended = run(command, b"", limit, |stdout| {
            stdout.read_to_end(&mut Vec::new())
        });
        assert!(matches!(ended, Err(Failure::TooSlow)));
        assert!(start.elapsed() < Duration::from_secs(30));
    }

    #[test]
    fn a_reader_that_has_enough_ends_the_program() {
        let command = Command::new("yes");
        let limit = Duration::from_secs(60);
        let ended = run(command, b"", limit, |stdout| {
            let mut some = [0; 100];
            stdout.read_exact(&mut some)
        });
        assert!(ended.is_ok_and(|ended| !ended.status.success()));
    }

    #[test]
    fn much_input_and_much_output_do_not_wait_for_each_other() {
        let input = vec![b'x'; 4 << 20];
        let limit = Duration::from_secs(60);
        let ended = run(Command::new("cat"), &input, limit, |stdout| {
            let mut bytes = Vec::new();
            stdout.read_to_end(&mut bytes)?;
            Ok(bytes)
        });
        assert!(ended.is_ok_and(|ended| ended.read == input));
    }
}
