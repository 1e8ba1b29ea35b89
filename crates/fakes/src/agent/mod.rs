//! A scripted command-line agent: it reads a prompt on stdin and behaves as it is told.
//!
//! The binary `fake-agent` can stand in for a real agent CLI: `--dialect` (or the name it was
//! started by) chooses whose output format it speaks, and flags it does not know are taken for
//! those of that CLI and ignored.
//!
//! | Behaviour | What happens |
//! | --- | --- |
//! | `ok` | answers: `--reply`, else the first line of the prompt |
//! | `blank` | answers with an empty text |
//! | `read-stdin` | reads to the end of stdin, reports the bytes on stderr, answers |
//! | `no-read` | answers without reading stdin |
//! | `silent`, `spaces` | never ends, without output or with a space every 50 ms |
//! | `no-exit` | answers, then never exits |
//! | `empty` | exits 0 without output |
//! | `error-flag` | an answer flagged as an error (`--status`, `--message`), exit 0 |
//! | `ok-exit1` | answers, exit 1 |
//! | `flood`, `flood-line`, `flood-stderr` | `--bytes` bytes of output |
//! | `cut64k` | a valid answer cut after 65,536 bytes |
//! | `ignore-term` | ignores SIGTERM, SIGINT and SIGHUP, never exits |
//! | `term-exit0` | never ends, but exits 0 on SIGTERM |
//! | `children` | leaves two children in its process group |
//! | `orphan` | leaves a process in a session of its own that holds stdout open |
//! | `big-prompt` | reports length and checksum of the prompt |
//! | `bad-utf8`, `utf16`, `bom`, `nul` | answers in a broken or unusual encoding |
//! | `crash` | dies by SIGABRT |
//! | `exit N` | exits with N, without output |
//! | `slow` | answers in pieces, `--delay-ms` apart |
//! | `env`, `cwd`, `argv` | reports its surroundings |
//! | `write FILE` | writes a file below the working directory, answers |
//! | `fail-first N` | fails N times as counted in `--log`, then answers |

use std::io::{self, Read, Write};
use std::process::ExitCode;

mod behave;
mod dialect;
mod flood;
mod options;
mod processes;
mod world_log;

use options::Options;
pub use world_log::{LogEntry, read_log};

/// Runs the agent with the arguments and environment of the process.
pub fn run() -> ExitCode {
    match try_run() {
        Ok(code) => ExitCode::from(code),
        // Whoever closed our stdout does not want to hear more.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::FAILURE,
        Err(error) => {
            let _ = writeln!(io::stderr(), "fake-agent: {error}");
            ExitCode::from(2)
        }
    }
}

fn try_run() -> io::Result<u8> {
    let mut options = Options::from_process()?;
    if processes::is_helper(&options.behave) {
        return processes::run_helper(&options.behave);
    }
    if options.asks_version() {
        let version = format!("{}\n", options.dialect.version());
        return io::stdout().write_all(version.as_bytes()).map(|()| 0);
    }
    if options.behave == "ignore-term" {
        processes::ignore_signals()?;
    }
    let prompt = if options.behave == "no-read" {
        String::new()
    } else {
        read_prompt()?
    };
    options.heed_prompt(&prompt)?;
    let earlier = match options.behave.as_str() {
        "fail-first" => world_log::count(options.log.as_deref())?,
        _ => 0,
    };
    world_log::append(&options, &prompt)?;
    behave::act(&options, &prompt, earlier)
}

fn read_prompt() -> io::Result<String> {
    let mut prompt = Vec::new();
    io::stdin().lock().read_to_end(&mut prompt)?;
    Ok(String::from_utf8_lossy(&prompt).into_owned())
}
