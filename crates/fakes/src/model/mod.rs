//! A fake model API on loopback that speaks four dialects and misbehaves on request.
//!
//! The URL selects the behaviour and the key under which requests are recorded:
//! `http://127.0.0.1:PORT/s/<scenario>@<key>`, followed by the path of the API. Tests with
//! different keys share nothing, so one server serves any number of them at once.
//!
//! | Path | Dialect |
//! | --- | --- |
//! | `/v1/messages` | Anthropic Messages |
//! | `/v1/responses` | OpenAI Responses |
//! | `/v1/chat/completions` | OpenAI Chat Completions |
//! | `/v1beta/models/<m>:generateContent`, `:streamGenerateContent` | Gemini |
//!
//! Scenarios that answer:
//!
//! | Scenario | What happens |
//! | --- | --- |
//! | `ok` | a short text, [`OK_TEXT`], with [`USAGE`] |
//! | `echo` | the last user text |
//! | `json`, `badjson` | JSON that fits the requested schema, or does not |
//! | `thinking` | thoughts, then text |
//! | `notext`, `truncated`, `refusal`, `filtered` | answers that are none |
//! | `write_tool`, `shell_tool`, `shell_quick`, `echo_tool` | a tool call first, then text |
//! | `script` | what was set with [`FakeModel::script`] or `POST /__script/<key>` |
//!
//! Scenarios that fail: `s400`, `s401`, `badkey`, `s403`, `s404`, `s413`, `toolong`, `s429`,
//! `s429_long`, `s429_date`, `s429_bare`, `flaky429`, `flakyN`, `credit`, `s500`, `s502html`,
//! `s503`, `s529`.
//!
//! Scenarios that break on the way: `cut`, `cut_once`, `reset`, `close`, `hang`, `hang_mid`, `slow`,
//! `bytewise`, `empty`, `malformed`, `badevent`, `errevent`, `clean_eof`, `no_done`.
//!
//! The prompt may dictate details: `FAKE-REPLY:` the text, `FAKE-FILE:` and `FAKE-CONTENT:` what
//! `write_tool` writes, `FAKE-COMMAND:` what the shell scenarios run.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::AbortHandle;

mod anthropic;
mod call;
mod chat;
mod deliver;
mod failure;
mod gemini;
mod http;
mod record;
mod reply;
mod responses;
mod scenario;
mod server;
mod tools;

pub use record::RecordedRequest;
pub use reply::{OK_TEXT, USAGE, Usage};
use server::Shared;

/// A running fake model; dropping it closes the port and every connection.
#[derive(Debug)]
pub struct FakeModel {
    /// The address the server listens on.
    pub addr: SocketAddr,
    shared: Arc<Shared>,
    running: Running,
}

/// How to start a fake model.
#[derive(Debug, Clone, Copy, Default)]
pub struct Settings {
    /// Port to listen on; 0 takes a free one.
    pub port: u16,
    /// Pause before every answer to a model call.
    pub latency: Duration,
}

#[derive(Debug)]
enum Running {
    Task(AbortHandle),
    Thread {
        stop: Option<oneshot::Sender<()>>,
        thread: Option<JoinHandle<()>>,
    },
}

impl FakeModel {
    /// Starts a server on the current tokio runtime.
    ///
    /// # Panics
    ///
    /// Panics when no loopback port can be had, for no test can go on then.
    pub async fn start() -> Self {
        Self::start_with(Settings::default())
            .await
            .expect("a free loopback port is available")
    }

    /// Starts a server on the current tokio runtime.
    ///
    /// # Errors
    ///
    /// Fails when the port cannot be had.
    pub async fn start_with(settings: Settings) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, settings.port)).await?;
        let addr = listener.local_addr()?;
        let shared = Arc::new(Shared {
            latency: settings.latency,
            ..Shared::default()
        });
        let task = tokio::spawn(server::serve(listener, Arc::clone(&shared)));
        Ok(Self {
            addr,
            shared,
            running: Running::Task(task.abort_handle()),
        })
    }

    /// Starts a server on a thread of its own, for tests without a runtime.
    ///
    /// # Panics
    ///
    /// Panics when no loopback port can be had, for no test can go on then.
    pub fn spawn_blocking() -> Self {
        Self::spawn_blocking_with(Settings::default()).expect("a free loopback port is available")
    }

    /// Starts a server on a thread of its own, for tests without a runtime.
    ///
    /// # Errors
    ///
    /// Fails when the port or the thread cannot be had.
    pub fn spawn_blocking_with(settings: Settings) -> io::Result<Self> {
        // The socket is made here and the runtime over there, so that this works inside a runtime too.
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, settings.port))?;
        listener.set_nonblocking(true)?;
        let addr = listener.local_addr()?;
        let shared = Arc::new(Shared {
            latency: settings.latency,
            ..Shared::default()
        });
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let (stop, stopped) = oneshot::channel();
        let served = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name("fake-model".to_owned())
            .spawn(move || {
                runtime.block_on(async {
                    let Ok(listener) = TcpListener::from_std(listener) else {
                        return;
                    };
                    tokio::select! {
                        () = server::serve(listener, served) => {}
                        _ = stopped => {}
                    }
                });
            })?;
        let running = Running::Thread {
            stop: Some(stop),
            thread: Some(thread),
        };
        Ok(Self {
            addr,
            shared,
            running,
        })
    }

    /// Returns the address of the server itself.
    pub fn url(&self) -> String {
        format!("http://{}", self.addr)
    }

    /// Returns the base URL that selects a scenario and a recording key.
    pub fn base_url(&self, scenario: &str, key: &str) -> String {
        format!("{}/s/{scenario}@{key}", self.url())
    }

    /// Returns the requests recorded for a key, in order of arrival.
    pub fn requests(&self, key: &str) -> Vec<RecordedRequest> {
        self.shared.recorder.requests(key)
    }

    /// Sets the replies of scenario `script` for a key; they are used in order, the last repeats.
    ///
    /// A reply is a text, or an object with one of `text`, `json`, `shell` (a command that the client
    /// is asked to run), `scenario` or `status` (with `headers` and `body`), and optionally `delay_ms`. An object with `when` answers every
    /// prompt that contains that text and is never used up.
    pub fn script(&self, key: &str, replies: Vec<Value>) {
        self.shared.recorder.set_script(key, replies);
    }
}

impl Drop for FakeModel {
    fn drop(&mut self) {
        match &mut self.running {
            Running::Task(task) => task.abort(),
            Running::Thread { stop, thread } => {
                if let Some(stop) = stop.take() {
                    let _ = stop.send(());
                }
                if let Some(thread) = thread.take() {
                    let _ = thread.join();
                }
            }
        }
    }
}
