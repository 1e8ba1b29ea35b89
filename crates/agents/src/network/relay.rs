//! Carries bytes between two connections until both are done or nothing moves any more.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::unix::net::UnixStream;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

/// Time between two looks at whether anything moves.
const LOOK: Duration = Duration::from_secs(5);

/// Carries bytes both ways. It ends when both sides have said everything, one of them is gone, or
/// neither has moved for `idle`.
pub(super) fn carry(near: &UnixStream, far: &TcpStream, idle: Duration) -> io::Result<()> {
    let look = LOOK.min(idle).max(Duration::from_millis(1));
    near.set_read_timeout(Some(look))?;
    far.set_read_timeout(Some(look))?;
    // Whoever does not read must not hold us for ever.
    let patience = Some(idle.max(look));
    near.set_write_timeout(patience)?;
    far.set_write_timeout(patience)?;
    let moved = Mutex::new(Instant::now());
    thread::scope(|scope| {
        scope.spawn(|| match pump(near, far, &moved, idle) {
            Ok(()) => drop(far.shutdown(Shutdown::Write)),
            Err(_) => hang_up(near, far),
        });
        match pump(far, near, &moved, idle) {
            Ok(()) => drop(near.shutdown(Shutdown::Write)),
            Err(_) => hang_up(near, far),
        }
    });
    Ok(())
}

fn hang_up(near: &UnixStream, far: &TcpStream) {
    // One that is gone already cannot be left.
    let _ = near.shutdown(Shutdown::Both);
    let _ = far.shutdown(Shutdown::Both);
}

/// Carries bytes one way until `from` has said everything.
fn pump(
    mut from: impl Read,
    mut to: impl Write,
    moved: &Mutex<Instant>,
    idle: Duration,
) -> io::Result<()> {
    let mut buffer = [0; 16 * 1024];
    loop {
        match from.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(count) => {
                note(moved);
                to.write_all(buffer.get(..count).unwrap_or_default())?;
            }
            Err(error) => match error.kind() {
                io::ErrorKind::Interrupted => {}
                io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
                    if since(moved) >= idle {
                        return Err(error);
                    }
                }
                _ => return Err(error),
            },
        }
    }
}

fn note(moved: &Mutex<Instant>) {
    if let Ok(mut moved) = moved.lock() {
        *moved = Instant::now();
    }
}

fn since(moved: &Mutex<Instant>) -> Duration {
    moved.lock().map_or(Duration::MAX, |moved| moved.elapsed())
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn bytes_go_both_ways_and_silence_ends_it() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let far = TcpStream::connect(listener.local_addr().expect("bound")).expect("connected");
        let (mut server, _) = listener.accept().expect("accepted");
        let (near, mut program) = UnixStream::pair().expect("a pair");
        let carrying = thread::spawn(move || carry(&near, &far, Duration::from_millis(300)));
        let mut heard = [0; 4];
        program.write_all(b"ping").expect("written");
        server.read_exact(&mut heard).expect("read");
        assert_eq!(&heard, b"ping");
        server.write_all(b"pong").expect("written");
        program.read_exact(&mut heard).expect("read");
        assert_eq!(&heard, b"pong");
        // Nobody says anything any more, and nobody leaves.
        carrying.join().expect("no panic").expect("carried");
        assert!(matches!(program.read(&mut heard), Ok(0)));
    }
}
