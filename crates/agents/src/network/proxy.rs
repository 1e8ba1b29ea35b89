//! The proxy outside, which decides what a program reaches.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write as _};
use std::net::{IpAddr, SocketAddr, TcpStream, ToSocketAddrs as _};
use std::os::fd::AsRawFd as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use tribunal_core::sandbox::RefusedConnection;

use super::hosts::AskedAs;
use super::request::{ProxyRequest, read_head, read_request};
use super::{NetworkOrder, relay};

/// Name of the socket in the run directory.
pub(crate) const SOCKET_FILE: &str = "net.sock";

/// Connections of one run at the same time.
const MOST_CONNECTIONS: usize = 128;

/// Refusals of one run that are told apart.
const MOST_REFUSALS: usize = 40;

/// The longest name of a host in a record.
const LONGEST_TARGET: usize = 120;

/// Time to say what is wanted, and for connecting.
const PATIENCE: Duration = Duration::from_secs(30);

/// What the program hears when it asks too much at once.
const TOO_MANY: &str = "there are too many connections at once";

/// A proxy at work. Its threads end with the supervisor.
pub(crate) struct NetworkProxy {
    socket: PathBuf,
    state: Arc<ProxyState>,
}

/// What all connections share.
struct ProxyState {
    order: NetworkOrder,
    open: AtomicUsize,
    refused: Mutex<BTreeMap<(String, String), u32>>,
}

/// Why a program does not get what it asks for.
enum NoConnection {
    /// It must not have it.
    Refused(String),
    /// It cannot be had.
    Failed(String),
}

impl NetworkProxy {
    /// Offers a proxy in the directory of a run.
    pub(crate) fn offer(order: NetworkOrder, run_dir: &Path) -> io::Result<Self> {
        let socket = run_dir.join(SOCKET_FILE);
        match std::fs::remove_file(&socket) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
        let listener = listen_in(run_dir)?;
        let state = Arc::new(ProxyState {
            order,
            open: AtomicUsize::new(0),
            refused: Mutex::default(),
        });
        let shared = Arc::clone(&state);
        let accepting = thread::Builder::new().name("proxy".to_owned());
        accepting.spawn(move || accept(&listener, &shared))?;
        Ok(Self { socket, state })
    }

    /// Takes the socket away and returns what was refused.
    pub(crate) fn close(self) -> Vec<RefusedConnection> {
        // One that stays behind leads nowhere.
        let _ = std::fs::remove_file(&self.socket);
        let refused = self.state.refused.lock();
        let refused = refused.map_or_else(|_| BTreeMap::new(), |refused| refused.clone());
        let refused = refused.into_iter();
        refused
            .map(|((target, why), times)| RefusedConnection { target, why, times })
            .collect()
    }
}

/// Returns a socket in a directory whose path may be longer than the path of a socket can be.
fn listen_in(directory: &Path) -> io::Result<UnixListener> {
    let open = File::open(directory)?;
    let short = PathBuf::from(format!("/proc/self/fd/{}", open.as_raw_fd()));
    UnixListener::bind(short.join(SOCKET_FILE))
        .or_else(|_| UnixListener::bind(directory.join(SOCKET_FILE)))
}

fn accept(listener: &UnixListener, state: &Arc<ProxyState>) {
    for stream in listener.incoming() {
        let Ok(stream) = stream else {
            // Out of descriptors: others have to be closed first.
            thread::sleep(Duration::from_millis(50));
            continue;
        };
        if state.open.fetch_add(1, Ordering::SeqCst) >= MOST_CONNECTIONS {
            state.note("any host", TOO_MANY);
            answer(&stream, "503 Service Unavailable", TOO_MANY);
            state.open.fetch_sub(1, Ordering::SeqCst);
            continue;
        }
        let shared = Arc::clone(state);
        let serving = thread::Builder::new().name("connection".to_owned());
        let started = serving.spawn(move || {
            // Whoever asks badly or leaves early has only themselves to blame.
            let _ = serve(&stream, &shared);
            shared.open.fetch_sub(1, Ordering::SeqCst);
        });
        if started.is_err() {
            state.open.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

/// Serves one connection of a program.
fn serve(stream: &UnixStream, state: &ProxyState) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let Some((head, rest)) = read_head(stream)? else {
        return Ok(());
    };
    let request = match read_request(&head, rest) {
        Ok(request) => request,
        Err(why) => {
            state.note("an unreadable request", why);
            answer(stream, "400 Bad Request", why);
            return Ok(());
        }
    };
    let mut far = match state.connect(&request) {
        Ok(far) => far,
        Err(NoConnection::Refused(why)) => {
            state.note(&request.target(), &why);
            let hint = "`sandbox.hosts` in the user's own config allows more";
            let why = format!("Tribunal refused {}: {why}; {hint}", request.target());
            answer(stream, "403 Forbidden", &why);
            return Ok(());
        }
        Err(NoConnection::Failed(why)) => {
            answer(stream, "502 Bad Gateway", &why);
            return Ok(());
        }
    };
    if request.asked_as == AskedAs::Tunnel {
        let mut near = stream;
        near.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n")?;
    }
    far.set_write_timeout(Some(PATIENCE))?;
    far.write_all(&request.opening)?;
    relay::carry(stream, &far, state.order.idle)
}

fn answer(mut stream: &UnixStream, status: &str, why: &str) {
    let length = why.len() + 1;
    let text = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{why}\n"
    );
    // It may not wait for the answer.
    let _ = stream.write_all(text.as_bytes());
}

impl ProxyState {
    /// Remembers that something was refused.
    fn note(&self, target: &str, why: &str) {
        let Ok(mut refused) = self.refused.lock() else {
            return;
        };
        let target: String = target.chars().take(LONGEST_TARGET).collect();
        let mut key = (target, why.to_owned());
        if refused.len() >= MOST_REFUSALS && !refused.contains_key(&key) {
            key = ("other hosts".to_owned(), "too many to name".to_owned());
        }
        let times = refused.entry(key).or_default();
        *times = times.saturating_add(1);
    }

    /// Connects to what a program asks for, if it may have it.
    fn connect(&self, request: &ProxyRequest) -> Result<TcpStream, NoConnection> {
        let refused = |why: &str| NoConnection::Refused(why.to_owned());
        let allowed = self
            .order
            .hosts
            .find(&request.host, request.port, request.asked_as)
            .map_err(refused)?;
        if let Some(upstream) = &self.order.upstream
            && upstream.is_for(&request.host)
        {
            let target = request.target();
            return upstream
                .connect(&target, PATIENCE)
                .map_err(NoConnection::Failed);
        }
        let addresses = look_up(&request.host, request.port)?;
        for address in &addresses {
            if let Some(why) = allowed.refuse_address(address.ip()) {
                return Err(NoConnection::Refused(why));
            }
        }
        // To the very addresses that were looked at: a name may lead elsewhere the next time.
        let mut last = "it has no address".to_owned();
        for address in addresses {
            match TcpStream::connect_timeout(&address, PATIENCE) {
                Ok(stream) => return Ok(stream),
                Err(error) => last = error.to_string(),
            }
        }
        let why = format!("{} cannot be reached: {last}", request.target());
        Err(NoConnection::Failed(why))
    }
}

/// Returns the addresses of a host.
fn look_up(host: &str, port: u16) -> Result<Vec<SocketAddr>, NoConnection> {
    if let Ok(address) = host.parse::<IpAddr>() {
        return Ok(vec![SocketAddr::new(address, port)]);
    }
    let found = (host, port).to_socket_addrs();
    let found = found
        .map_err(|error| NoConnection::Failed(format!("{host} cannot be looked up: {error}")))?;
    Ok(found.collect())
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;
    use std::net::TcpListener;

    use tribunal_core::sandbox::HostPattern;

    use super::*;
    use crate::network::AllowedHosts;

    /// A proxy for a program that may reach `hosts`, in a directory of its own.
    fn offer(hosts: &[&str], base_url: &str) -> (NetworkProxy, tempfile::TempDir) {
        let mut allowed = AllowedHosts::default();
        // A provider's host that leads to this machine.
        allowed.add_provider("localhost");
        allowed.add_base_url(base_url);
        for host in hosts {
            let pattern = HostPattern::try_from((*host).to_owned()).expect("a pattern");
            allowed.add_pattern(&pattern);
        }
        let order = NetworkOrder {
            hosts: allowed,
            upstream: None,
            idle: Duration::from_secs(20),
        };
        let place = tempfile::tempdir().expect("a place");
        // Longer than the path of a socket can be.
        let run_dir = place.path().join("r".repeat(150));
        std::fs::create_dir_all(&run_dir).expect("a directory");
        let proxy = NetworkProxy::offer(order, &run_dir).expect("a proxy");
        (proxy, place)
    }

    fn ask(place: &tempfile::TempDir, text: &str) -> String {
        let directory = File::open(place.path().join("r".repeat(150))).expect("it is there");
        let path = format!("/proc/self/fd/{}/{SOCKET_FILE}", directory.as_raw_fd());
        let mut stream = UnixStream::connect(path).expect("a proxy listens");
        stream.write_all(text.as_bytes()).expect("written");
        stream
            .shutdown(std::net::Shutdown::Write)
            .expect("nothing more to say");
        let mut heard = String::new();
        stream.read_to_string(&mut heard).expect("an answer");
        heard
    }

    /// A server that repeats what it hears, once.
    fn echo() -> u16 {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("bound").port();
        thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("accepted");
            let mut heard = String::new();
            stream.read_to_string(&mut heard).expect("read");
            stream.write_all(heard.as_bytes()).expect("written");
        });
        port
    }

    #[test]
    fn a_configured_server_on_this_machine_is_reached_and_nothing_else() {
        let port = echo();
        let (proxy, place) = offer(&[], &format!("http://127.0.0.1:{port}/v1"));
        let heard = ask(
            &place,
            &format!("CONNECT 127.0.0.1:{port} HTTP/1.1\r\n\r\nhello"),
        );
        assert_eq!(heard, "HTTP/1.1 200 Connection established\r\n\r\nhello");
        for target in [
            "127.0.0.1:22",
            "127.0.0.2:80",
            "169.254.169.254:80",
            "example.org:443",
        ] {
            let heard = ask(&place, &format!("CONNECT {target} HTTP/1.1\r\n\r\n"));
            assert!(heard.starts_with("HTTP/1.1 403 "), "{target}: {heard}");
        }
        let refused = proxy.close();
        let refused: Vec<String> = refused.iter().map(ToString::to_string).collect();
        assert_eq!(
            refused,
            [
                "127.0.0.1:22 (the port is not allowed)",
                "127.0.0.2:80 (the host is not allowed)",
                "169.254.169.254:80 (the host is not allowed)",
                "example.org:443 (the host is not allowed)",
            ]
        );
    }

    #[test]
    fn a_plain_request_is_passed_on_to_a_server_that_is_asked_that_way() {
        let port = echo();
        let (_proxy, place) = offer(&[], &format!("http://127.0.0.1:{port}"));
        let heard = ask(
            &place,
            &format!("GET http://127.0.0.1:{port}/v1 HTTP/1.1\r\nHost: x\r\n\r\n"),
        );
        assert_eq!(
            heard,
            format!("GET /v1 HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n")
        );
    }

    #[test]
    fn an_allowed_name_that_leads_to_this_machine_is_refused() {
        let (proxy, place) = offer(&[], "");
        for _ in 0..2 {
            let heard = ask(&place, "CONNECT localhost:443 HTTP/1.1\r\n\r\n");
            assert!(heard.starts_with("HTTP/1.1 403 "), "{heard}");
        }
        let refused = proxy.close();
        assert_eq!(refused.len(), 1, "{refused:?}");
        assert_eq!(refused[0].times, 2);
        assert!(
            refused[0].why.ends_with("is not on the internet"),
            "{refused:?}"
        );
    }
}
