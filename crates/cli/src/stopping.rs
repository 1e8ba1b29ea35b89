//! What Ctrl-C and other requests to stop do.

use std::io::Write as _;
use std::time::Duration;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tribunal_engine::stopping::StopSwitch;

use crate::exit::Exit;

/// How long agents have to end once they must. Their supervisors end them also without us.
const LAST_GRACE: Duration = Duration::from_secs(5);

/// What is said after the first Ctrl-C.
const FIRST: &str = "Stopping. Running agents may finish, and no new one starts. \
    Press Ctrl-C again to stop at once; nothing that was answered is lost.\n";

/// How somebody asks the process to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asking {
    /// A person pressed Ctrl-C.
    Interrupt,
    /// A service manager or a closed terminal, which do not wait for minutes.
    Terminate,
}

/// The signals by which the process is asked to stop, from the moment on when this is made.
pub(crate) struct Signals {
    interrupt: Option<Signal>,
    terminate: Option<Signal>,
    hangup: Option<Signal>,
}

impl Signals {
    /// Begins to listen. A signal that cannot be listened to ends the process anyway.
    pub(crate) fn listen() -> Self {
        Self {
            interrupt: signal(SignalKind::interrupt()).ok(),
            terminate: signal(SignalKind::terminate()).ok(),
            hangup: signal(SignalKind::hangup()).ok(),
        }
    }

    async fn next(&mut self) -> Asking {
        tokio::select! {
            () = received(self.interrupt.as_mut()) => Asking::Interrupt,
            () = received(self.terminate.as_mut()) => Asking::Terminate,
            () = received(self.hangup.as_mut()) => Asking::Terminate,
        }
    }
}

/// Waits until somebody asks the process to stop.
pub(crate) async fn stop_signal() {
    Signals::listen().next().await;
}

/// Turns `switch` as the signals demand, and ends the process where it does not end by itself.
pub(crate) async fn watch(mut signals: Signals, switch: StopSwitch, quiet: bool) {
    if signals.next().await == Asking::Interrupt {
        if !quiet {
            let _ = anstream::stderr().write_all(FIRST.as_bytes());
        }
        switch.stop_orderly();
        signals.next().await;
    }
    switch.stop_at_once();
    tokio::select! {
        _ = signals.next() => {}
        () = tokio::time::sleep(LAST_GRACE) => {}
    }
    std::process::exit(Exit::Interrupted as i32);
}

async fn received(signal: Option<&mut Signal>) {
    match signal {
        Some(signal) => {
            signal.recv().await;
        }
        None => std::future::pending().await,
    }
}
