//! The process inside that takes a program's connections and carries them to the proxy outside.

use std::ffi::OsString;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use nix::sys::signal::SigSet;

use super::request::read_head;
use super::upstream::is_ok;
use super::{SUBCOMMAND, relay};

/// Tells the process that it is the one that carries.
const CARRY: &str = "--carry";

/// What the carrying process says once it listens.
const READY: &str = "ready";

/// Connections at the same time; the proxy outside allows fewer.
const MOST_CONNECTIONS: usize = 256;

/// The proxy outside ends what is idle; this only has to be longer.
const IDLE: Duration = Duration::from_secs(24 * 60 * 60);

/// Exit code when the program was not started.
const NOT_STARTED: i32 = 126;

/// Where connections are taken, and what they are for.
#[derive(Clone)]
enum CarrierDoor {
    /// The program speaks to the proxy itself.
    Proxy,
    /// The program takes it for a server on this machine, which the proxy is asked for.
    Server { host: String, port: u16 },
}

/// Runs the hidden subcommand `supervise-net`: starts a process that carries connections and becomes
/// the program, or returns an exit code.
///
/// `arguments` are those after the subcommand: the socket of the proxy, the port for it, servers on this
/// machine as `host=port`, `--`, the program and its arguments.
#[must_use]
pub fn carrier_main(arguments: impl IntoIterator<Item = OsString>) -> i32 {
    let mut arguments = arguments.into_iter().peekable();
    let result = match arguments.next_if(|argument| argument == CARRY) {
        Some(_) => carry_all(arguments.filter_map(|argument| argument.into_string().ok())),
        None => become_program(arguments),
    };
    match result {
        Ok(()) => 0,
        Err(error) => {
            complain(&error);
            NOT_STARTED
        }
    }
}

#[expect(
    clippy::print_stderr,
    reason = "its stderr is that of the program, and the run tells it"
)]
fn complain(error: &io::Error) {
    eprintln!("tribunal: the network of the run cannot be set up: {error}");
}

/// Starts the carrying process, waits until it listens, and becomes the program.
fn become_program(arguments: impl Iterator<Item = OsString>) -> io::Result<()> {
    let mut arguments = arguments;
    let doors: Vec<OsString> = arguments
        .by_ref()
        .take_while(|argument| argument != "--")
        .collect();
    let program = arguments
        .next()
        .ok_or_else(|| io::Error::other("no program is named"))?;
    let mut carrier = Command::new("/proc/self/exe")
        .arg(SUBCOMMAND)
        .arg(CARRY)
        .args(doors)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut said = String::new();
    if let Some(stdout) = carrier.stdout.take() {
        BufReader::new(stdout).read_line(&mut said)?;
    }
    if said.trim() != READY {
        return Err(io::Error::other("nothing carries its connections"));
    }
    Err(Command::new(program).args(arguments).exec())
}

/// Listens at all doors and carries until the run is over.
fn carry_all(mut words: impl Iterator<Item = String>) -> io::Result<()> {
    // The program shall be able to say goodbye to its model when it is asked to end.
    SigSet::all().thread_block()?;
    let unfit = || io::Error::other("the doors are not named");
    let socket = PathBuf::from(words.next().ok_or_else(unfit)?);
    let port = words.next().and_then(|port| port.parse().ok());
    let mut doors = vec![(
        TcpListener::bind(("127.0.0.1", port.ok_or_else(unfit)?))?,
        CarrierDoor::Proxy,
    )];
    for word in words {
        let (host, port) = word.split_once('=').ok_or_else(unfit)?;
        let port: u16 = port.parse().map_err(|_| unfit())?;
        for address in own_addresses(host) {
            let (host, server) = (host.to_owned(), TcpListener::bind((*address, port)));
            match server {
                Ok(listener) => doors.push((listener, CarrierDoor::Server { host, port })),
                // A machine may have no newer addresses; two names may stand for one place.
                Err(_) if *address == "::1" => {}
                Err(error) if error.kind() == io::ErrorKind::AddrInUse => {}
                Err(error) => return Err(error),
            }
        }
    }
    let mut stdout = io::stdout();
    stdout.write_all(format!("{READY}\n").as_bytes())?;
    stdout.flush()?;
    let open = Arc::new(AtomicUsize::new(0));
    thread::scope(|scope| {
        for (listener, door) in &doors {
            let (socket, open) = (&socket, Arc::clone(&open));
            scope.spawn(move || take_connections(listener, door, socket, &open));
        }
    });
    Ok(())
}

fn own_addresses(host: &str) -> &'static [&'static str] {
    match host {
        "127.0.0.1" => &["127.0.0.1"],
        "::1" => &["::1"],
        _ => &["127.0.0.1", "::1"],
    }
}

fn take_connections(
    listener: &TcpListener,
    door: &CarrierDoor,
    socket: &Path,
    open: &Arc<AtomicUsize>,
) {
    for stream in listener.incoming() {
        let Ok(stream) = stream else {
            thread::sleep(Duration::from_millis(50));
            continue;
        };
        if open.fetch_add(1, Ordering::SeqCst) >= MOST_CONNECTIONS {
            open.fetch_sub(1, Ordering::SeqCst);
            continue;
        }
        let (door, socket, counted) = (door.clone(), socket.to_owned(), Arc::clone(open));
        let started = thread::Builder::new().spawn(move || {
            if let Ok(outside) = knock(&door, &socket) {
                let _ = relay::carry(&outside, &stream, IDLE);
            }
            counted.fetch_sub(1, Ordering::SeqCst);
        });
        if started.is_err() {
            open.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

/// Returns a connection to the proxy, or through it to the server that the program believes in.
fn knock(door: &CarrierDoor, socket: &Path) -> io::Result<UnixStream> {
    let mut outside = UnixStream::connect(socket)?;
    let CarrierDoor::Server { host, port } = door else {
        return Ok(outside);
    };
    let target = match host.contains(':') {
        true => format!("[{host}]:{port}"),
        false => format!("{host}:{port}"),
    };
    outside.write_all(format!("CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n\r\n").as_bytes())?;
    match read_head(&outside)? {
        // Nothing was said to the server yet, so it has not answered.
        Some((head, rest)) if is_ok(&head) && rest.is_empty() => Ok(outside),
        Some(_) | None => Err(io::ErrorKind::ConnectionRefused.into()),
    }
}
