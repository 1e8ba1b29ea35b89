//! One program run to its end, within limits of time and output.
//!
//! All of it happens in the caller's thread: a call of git takes some milliseconds, and three threads
//! to feed, hear and watch it would cost a good part of that.

use std::io::{self, BufReader, Read, Write as _};
use std::os::fd::AsFd as _;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

/// How much of what a program complains about is kept.
const MAX_COMPLAINT: usize = 8 << 10;

/// How much is written at a time: what a pipe that is ready takes without blocking.
const AT_ONCE: usize = 4 << 10;

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
    read: impl FnOnce(&mut BufReader<Output<'_>>) -> io::Result<T>,
) -> Result<Ended<T>, Failure> {
    let end = Instant::now() + limit;
    command
        .stdin(if input.is_empty() {
            Stdio::null()
        } else {
            Stdio::piped()
        })
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().map_err(Failure::Start)?;
    let output = Output {
        stdin: child.stdin.take(),
        input,
        stdout: child.stdout.take(),
        stderr: child.stderr.take(),
        complaint: Vec::new(),
        end,
    };
    let mut reader = BufReader::with_capacity(64 << 10, output);
    let read = read(&mut reader);
    let mut output = reader.into_inner();
    // A program whose reader has enough is told so by a closed pipe.
    output.stdout = None;
    let heard = read.and_then(|read| {
        output.hear_out()?;
        Ok((read, wait(&mut child, end)?))
    });
    match heard {
        Ok((read, status)) => Ok(Ended {
            status,
            stderr: output.complaint,
            read,
        }),
        Err(error) => {
            // Both fail only if the program has ended already.
            let _ = child.kill();
            let _ = child.wait();
            match Instant::now() >= end {
                true => Err(Failure::TooSlow),
                false => Err(Failure::Read(error)),
            }
        }
    }
}

/// Returns how a program ended that has closed its output, or is about to.
fn wait(child: &mut Child, end: Instant) -> io::Result<ExitStatus> {
    loop {
        match child.try_wait()? {
            Some(status) => return Ok(status),
            None if Instant::now() >= end => return Err(io::ErrorKind::TimedOut.into()),
            None => thread::sleep(Duration::from_micros(100)),
        }
    }
}

/// What a program prints. Whoever reads it also writes the input and listens to the complaints, so
/// that the program never waits for us.
pub(crate) struct Output<'a> {
    stdin: Option<ChildStdin>,
    input: &'a [u8],
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
    complaint: Vec<u8>,
    end: Instant,
}

impl Read for Output<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.attend()? {
                let stdout = self.stdout.as_mut();
                return stdout.map_or(Ok(0), |stdout| stdout.read(buffer));
            }
        }
    }
}

impl Output<'_> {
    /// Listens to the complaints until there are no more.
    fn hear_out(&mut self) -> io::Result<()> {
        while self.stderr.is_some() {
            self.attend()?;
        }
        Ok(())
    }

    /// Waits until something can be done, and does it. Tells whether there is output.
    fn attend(&mut self) -> io::Result<bool> {
        let [mut wants, mut prints, mut complains] = [false; 3];
        let left = self.end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        let flags = [
            (
                self.stdin.as_ref().map(|pipe| pipe.as_fd()),
                PollFlags::POLLOUT,
                &mut wants,
            ),
            (
                self.stdout.as_ref().map(|pipe| pipe.as_fd()),
                PollFlags::POLLIN,
                &mut prints,
            ),
            (
                self.stderr.as_ref().map(|pipe| pipe.as_fd()),
                PollFlags::POLLIN,
                &mut complains,
            ),
        ];
        let mut asked = Vec::with_capacity(3);
        let mut answers = Vec::with_capacity(3);
        for (pipe, flag, answer) in flags {
            if let Some(pipe) = pipe {
                asked.push(PollFd::new(pipe, flag));
                answers.push(answer);
            }
        }
        // Rounded up, so that the last wait does not end a moment before the end.
        let millis = left.as_millis().saturating_add(1);
        let timeout = PollTimeout::try_from(millis).unwrap_or(PollTimeout::MAX);
        match poll(&mut asked, timeout) {
            Ok(_) | Err(Errno::EINTR) => {}
            Err(error) => return Err(error.into()),
        }
        for (pipe, answer) in asked.iter().zip(answers) {
            *answer = pipe.any().unwrap_or(true);
        }
        if wants {
            self.feed();
        }
        if complains {
            self.hear()?;
        }
        Ok(prints)
    }

    fn feed(&mut self) {
        let some = self.input.get(..AT_ONCE).unwrap_or(self.input);
        let written = self.stdin.as_mut().map(|stdin| stdin.write(some));
        match written {
            Some(Ok(count)) => self.input = self.input.get(count..).unwrap_or_default(),
            Some(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
            // A program that ends early does not want the rest; its status says why.
            Some(Err(_)) | None => self.input = &[],
        }
        if self.input.is_empty() {
            self.stdin = None;
        }
    }

    fn hear(&mut self) -> io::Result<()> {
        let mut some = [0; 4 << 10];
        let heard = self
            .stderr
            .as_mut()
            .map_or(Ok(0), |stderr| stderr.read(&mut some));
        match heard {
            Ok(0) => self.stderr = None,
            Ok(count) => {
                // The rest is read away: the program must not block on a full pipe.
                let room = MAX_COMPLAINT.saturating_sub(self.complaint.len());
                let kept = some.get(..count.min(room)).unwrap_or_default();
                self.complaint.extend_from_slice(kept);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }
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

    #[test]
    fn long_complaints_are_heard_to_the_end_and_their_start_is_kept() {
        let mut command = Command::new("sh");
        command.args(["-c", "yes why 2>&1 | head -c 1000000 >&2; echo out; exit 3"]);
        let limit = Duration::from_secs(60);
        let ended = run(command, b"", limit, |stdout| {
            let mut text = String::new();
            stdout.read_to_string(&mut text)?;
            Ok(text)
        });
        let Ok(ended) = ended else {
            panic!("it ends by itself");
        };
        assert_eq!(ended.status.code(), Some(3));
        assert_eq!(ended.read, "out\n");
        assert_eq!(ended.stderr.len(), MAX_COMPLAINT);
    }

    #[test]
    fn a_program_that_ends_without_reading_its_input_is_no_failure() {
        let limit = Duration::from_secs(60);
        let ended = run(
            Command::new("true"),
            &vec![b'x'; 1 << 20],
            limit,
            |stdout| stdout.read_to_end(&mut Vec::new()),
        );
        assert!(ended.is_ok_and(|ended| ended.status.success()));
    }

    #[test]
    fn a_program_that_is_silent_and_goes_on_is_killed_at_the_limit() {
        let mut command = Command::new("sh");
        command.args(["-c", "exec >&- 2>&-; sleep 600"]);
        let ended = run(command, b"", Duration::from_millis(50), |stdout| {
            stdout.read_to_end(&mut Vec::new())
        });
        assert!(matches!(ended, Err(Failure::TooSlow)));
    }
}
