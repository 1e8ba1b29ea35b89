//! The four real programs against the fake model: our result, and what they asked the model.
//!
//! They lie in `tests/agents/node_modules` of the repository; a test whose program is missing says
//! so and passes, except in CI, where it fails.

#[path = "supervisor_common/mod.rs"]
#[expect(dead_code, reason = "each test file uses a part of it")]
mod common;

use std::path::Path;
use std::time::Duration;

use common::{Place, generous, processes};
use serde_json::json;
use tokio_util::sync::CancellationToken;
use tribunal_agents::command::CommandAgent;
use tribunal_agents::spec::Cli;
use tribunal_agents::{Agent, AgentError, Call, Limits, LoginState, Progress, Reply};
use tribunal_core::agent::{Access, ErrorClass};
use tribunal_core::money::Usage;
use tribunal_fakes::model::{FakeModel, OK_TEXT};

/// One program and one fake model.
struct Bench {
    cli: Cli,
    program: String,
    model: FakeModel,
}

impl Bench {
    /// Returns the bench for `cli`, or nothing when its program is not installed.
    #[expect(clippy::print_stderr, reason = "a test that is skipped has to say so")]
    async fn new(cli: Cli) -> Option<Self> {
        let program = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../tests/agents/node_modules/.bin")
            .join(cli.as_str());
        if !program.exists() {
            assert!(
                std::env::var("CI").is_err(),
                "{} is not installed, and CI skips nothing",
                program.display()
            );
            eprintln!("SKIPPED: {} is not installed", program.display());
            return None;
        }
        Some(Self {
            cli,
            program: program.to_string_lossy().into_owned(),
            model: FakeModel::start().await,
        })
    }

    fn agent(&self, place: &Place, scenario: &str) -> CommandAgent {
        let model = match self.cli {
            Cli::Claude => "claude-sonnet-4-5",
            Cli::Codex => "gpt-5.5",
            Cli::Gemini => "gemini-2.5-pro",
            Cli::Opencode | Cli::Custom | Cli::Linter => "m1",
        };
        let url = self.model.base_url(scenario, place.run.as_str());
        place.agent_of(self.cli, &[&self.program], model, &url)
    }

    async fn run(&self, place: &Place, scenario: &str, call: Call) -> Result<Reply, AgentError> {
        self.agent(place, scenario)
            .run(call, Progress::default(), CancellationToken::new())
            .await
    }

    fn requests(&self, place: &Place) -> usize {
        self.model.requests(place.run.as_str()).len()
    }

    /// Checks the answer to a plain question, and that it took one request.
    async fn check_answer(&self) {
        let place = Place::new();
        let call = Call {
            system: Some("You are a strict reviewer.".to_owned()),
            ..place.call(patient())
        };
        let reply = self.run(&place, "ok", call).await;
        let reply = reply.expect("the model answers");
        assert_eq!(reply.text, OK_TEXT);
        let cache_write = if self.cli == Cli::Claude { 100 } else { 0 };
        let usage = Usage {
            input: 1200,
            cache_read: 300,
            cache_write,
            output: 85,
        };
        assert_eq!(reply.usage, usage);
        assert_eq!(self.requests(&place), 1);
        let body = json!(self.model.requests(place.run.as_str())).to_string();
        assert!(body.contains("What do you think?"));
        assert!(body.contains("You are a strict reviewer."));
    }

    /// Checks the class of failures, and that the program did not retry on its own.
    async fn check_failures(&self, cases: &[(&str, ErrorClass)]) {
        for (scenario, class) in cases {
            let place = Place::new();
            let result = self.run(&place, scenario, place.call(patient())).await;
            let error = result.expect_err(scenario);
            assert_eq!(error.class, *class, "{scenario}: {}", error.message);
            let requests = self.requests(&place);
            assert!(requests <= 1, "{scenario} took {requests} requests");
        }
    }

    /// Checks that only who may write writes.
    async fn check_access(&self) {
        for (access, files) in [(Access::ReadOnly, 0), (Access::Write, 1)] {
            let place = Place::new();
            let call = Call {
                access,
                ..place.call(patient())
            };
            let reply = self.run(&place, "write_tool", call).await;
            assert!(reply.is_ok(), "{reply:?}");
            let written = std::fs::read_dir(place.path("work")).expect("the folder is there");
            let written = written.flatten();
            let written = written.filter(|entry| entry.path().is_file()).count();
            assert_eq!(written, files, "{access:?}");
        }
    }

    /// Checks that cancelling ends the shell commands of the agent too.
    async fn check_cancel(&self) {
        let place = Place::new();
        let agent = self.agent(&place, "shell_tool");
        let call = Call {
            access: Access::Write,
            ..place.call(patient())
        };
        let marker = format!("TRIBUNAL_RUN={}", place.run);
        let cancel = CancellationToken::new();
        let stop = cancel.clone();
        let at_work = marker.clone();
        tokio::spawn(async move {
            while !sleeps(&at_work) {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            stop.cancel();
        });
        let result = agent.run(call, Progress::default(), cancel).await;
        let class = result.map_err(|error| error.class).err();
        assert_eq!(class, Some(ErrorClass::Cancelled));
        assert!(!sleeps(&marker));
        assert_eq!(tribunal_agents::command::sweep_marked(&place.run), 0);
    }
}

/// Tells whether a `sleep` of the run with this marker is at work.
fn sleeps(marker: &str) -> bool {
    let entries = std::fs::read_dir("/proc")
        .expect("Linux has /proc")
        .flatten();
    entries.map(|entry| entry.path()).any(|path| {
        let read = |name| std::fs::read(path.join(name)).unwrap_or_default();
        let environ = String::from_utf8_lossy(&read("environ")).into_owned();
        read("cmdline").starts_with(b"sleep\0") && environ.contains(marker)
    })
}

/// Returns limits for programs that start slowly on a busy machine.
fn patient() -> Limits {
    let long = Duration::from_secs(90);
    Limits {
        first_byte: long,
        idle: long,
        wall: long,
        output_bytes: 16 * 1024 * 1024,
        ..generous()
    }
}

fn schema() -> serde_json::Value {
    json!({
        "type": "object",
        "properties": {"verdict": {"type": "string"}},
        "required": ["verdict"],
        "additionalProperties": false,
    })
}

async fn check_schema(bench: &Bench) {
    let place = Place::new();
    let call = Call {
        schema: Some(schema()),
        ..place.call(patient())
    };
    let reply = bench.run(&place, "json", call.clone()).await;
    let structured = reply.map(|reply| reply.structured.unwrap_or_default());
    let structured = structured.expect("the model answers");
    assert!(structured["verdict"].is_string(), "{structured}");
    let reply = bench.run(&place, "badjson", call).await;
    let class = reply.map_err(|error| error.class).err();
    assert_eq!(class, Some(ErrorClass::Garbled));
}

const FAILURES: [(&str, ErrorClass); 6] = [
    ("s401", ErrorClass::Auth),
    ("s429_long", ErrorClass::RateLimited),
    ("s529", ErrorClass::Overloaded),
    ("credit", ErrorClass::Credit),
    ("toolong", ErrorClass::ContextTooLong),
    ("close", ErrorClass::Network),
];

#[tokio::test]
async fn the_programs_tell_that_nobody_is_logged_in_and_no_model_is_asked() {
    for cli in [Cli::Claude, Cli::Codex, Cli::Gemini, Cli::Opencode] {
        let Some(bench) = Bench::new(cli).await else {
            continue;
        };
        let place = Place::new();
        let agent = place.agent_without_key(cli, &bench.program);
        let state = agent.login_state().await;
        match cli {
            // Its free models need no login.
            Cli::Opencode => assert!(matches!(state, LoginState::Unknown(_)), "{state:?}"),
            _ => assert!(matches!(state, LoginState::Missing { .. }), "{state:?}"),
        }
        let with_key = bench.agent(&place, "ok").login_state().await;
        assert!(matches!(with_key, LoginState::Found(_)), "{with_key:?}");
        assert_eq!(bench.requests(&place), 0);
    }
}

#[tokio::test]
async fn claude_works() {
    let Some(bench) = Bench::new(Cli::Claude).await else {
        return;
    };
    bench.check_answer().await;
    bench.check_failures(&FAILURES).await;
    bench.check_access().await;
    check_schema(&bench).await;
    bench.check_cancel().await;
}

#[tokio::test]
async fn codex_works() {
    let Some(bench) = Bench::new(Cli::Codex).await else {
        return;
    };
    bench.check_answer().await;
    bench.check_failures(&FAILURES).await;
    bench.check_access().await;
    check_schema(&bench).await;
    bench.check_cancel().await;
}

#[tokio::test]
async fn gemini_works() {
    let Some(bench) = Bench::new(Cli::Gemini).await else {
        return;
    };
    bench.check_answer().await;
    bench.check_failures(&FAILURES).await;
    bench.check_access().await;
    bench.check_cancel().await;
}

#[tokio::test]
async fn opencode_works() {
    let Some(bench) = Bench::new(Cli::Opencode).await else {
        return;
    };
    bench.check_answer().await;
    // Each of its starts takes seconds: these are the ones it would retry, or summarise.
    bench
        .check_failures(&[
            ("s429_long", ErrorClass::RateLimited),
            ("toolong", ErrorClass::ContextTooLong),
        ])
        .await;
    bench.check_access().await;
    bench.check_cancel().await;
}

#[tokio::test]
async fn a_silent_model_is_noticed() {
    for cli in [Cli::Claude, Cli::Codex] {
        let Some(bench) = Bench::new(cli).await else {
            continue;
        };
        let place = Place::new();
        let limits = Limits {
            idle: Duration::from_secs(3),
            ..patient()
        };
        let error = bench.run(&place, "hang", place.call(limits)).await;
        assert_eq!(error.unwrap_err().class, ErrorClass::Hung);
        let run_dir = place.run_dir();
        assert!(processes(run_dir.to_str().unwrap()).is_empty());
    }
}
