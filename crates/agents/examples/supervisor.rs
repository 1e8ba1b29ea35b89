//! Stands in for the `tribunal` executable in tests: the hidden subcommands, and `drive`, which
//! runs one call as a parent would.
//!
//! `supervisor drive '{"cli":"custom","program":"cat","prompt":"hi","run_dir":"…"}'` prints the
//! progress and the outcome as JSON lines.

#![expect(
    clippy::print_stdout,
    reason = "what it prints is what it is for; a real command has a reporter"
)]

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;
use serde_json::json;
use tokio_util::sync::CancellationToken;
use tribunal_agents::command::{CommandAgent, carrier_main, exec_main, supervise_main};
use tribunal_agents::spec::{AgentSpec, Backend, Cli, CommandSpec, Login};
use tribunal_agents::{Agent, Call, Limits, Progress};
use tribunal_core::agent::Access;
use tribunal_core::ids::{AgentName, RunId};
use tribunal_core::sandbox::{NetworkChoice, SandboxDemand};
use tribunal_core::secret::Secret;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Drive {
    cli: String,
    program: String,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    prompt: String,
    system: Option<String>,
    schema: Option<serde_json::Value>,
    model: Option<String>,
    base_url: Option<String>,
    key: Option<Secret>,
    run: Option<String>,
    run_dir: PathBuf,
    directory: Option<PathBuf>,
    #[serde(default)]
    write: bool,
    sandbox: Option<SandboxDemand>,
    network: Option<NetworkChoice>,
    #[serde(default)]
    user_login: bool,
    first_byte_ms: Option<u64>,
    idle_ms: Option<u64>,
    wall_ms: Option<u64>,
    cancel_ms: Option<u64>,
    #[serde(default)]
    version: bool,
}

fn main() {
    let mut arguments = std::env::args_os().skip(1);
    let subcommand = arguments.next();
    match subcommand.as_deref().and_then(std::ffi::OsStr::to_str) {
        Some("supervise") => std::process::exit(supervise_main()),
        Some("supervise-exec") => std::process::exit(exec_main(arguments)),
        Some("supervise-net") => std::process::exit(carrier_main(arguments)),
        Some("drive") => {
            let text = arguments.next().and_then(|text| text.into_string().ok());
            let drive = serde_json::from_str(&text.expect("drive takes one JSON argument"));
            drive_one(drive.expect("the argument describes a drive"));
        }
        _ => println!(
            "usage: supervisor supervise | supervise-exec … | supervise-net … | drive JSON"
        ),
    }
}

#[tokio::main]
async fn drive_one(drive: Drive) {
    let agent = agent(&drive);
    if drive.version {
        println!(
            "{}",
            json!({"version": format!("{:?}", agent.version().await)})
        );
    }
    let (sender, mut events) = tokio::sync::mpsc::channel(1024);
    let printer = tokio::spawn(async move {
        while let Some(event) = events.recv().await {
            println!("{}", json!({"event": format!("{event:?}")}));
        }
    });
    let cancel = CancellationToken::new();
    if let Some(millis) = drive.cancel_ms {
        let cancel = cancel.clone();
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(millis)).await;
            cancel.cancel();
        });
    }
    let outcome = agent.run(call(drive), Progress::to(sender), cancel).await;
    printer.await.expect("the printer does not panic");
    match outcome {
        Ok(reply) => println!("{}", json!({"reply": reply})),
        Err(error) => println!("{}", json!({"error": error})),
    }
}

fn agent(drive: &Drive) -> CommandAgent {
    let cli = Cli::KNOWN
        .into_iter()
        .chain([Cli::Linter])
        .find(|cli| cli.as_str() == drive.cli)
        .unwrap_or(Cli::Custom);
    let command = CommandSpec {
        cli,
        argv: std::iter::once(&drive.program)
            .chain(&drive.args)
            .cloned()
            .collect(),
        env: drive.env.clone(),
        pass_env: Vec::new(),
        login: if drive.user_login {
            Login::User
        } else {
            Login::Isolated
        },
        home: drive.run_dir.join("../home"),
        base_url: drive.base_url.clone(),
        api_key: drive.key.clone(),
        supervisor: std::env::current_exe().expect("we run"),
        sandbox: Box::new(tribunal_agents::sandbox::SandboxSpec::default()),
    };
    let spec = AgentSpec {
        name: AgentName::new("driven").expect("a valid name"),
        backend: Backend::Command(command.clone()),
        model: drive.model.clone(),
        family: None,
    };
    CommandAgent::new(spec.profile(), command)
}

fn call(drive: Drive) -> Call {
    std::fs::create_dir_all(&drive.run_dir).expect("the run directory can be made");
    let usual = Limits::default();
    let millis = |given: Option<u64>, usual| given.map_or(usual, Duration::from_millis);
    let run = drive
        .run
        .unwrap_or_else(|| format!("r-{:08x}", std::process::id()));
    Call {
        run: RunId::new(run).expect("a valid run id"),
        prompt: drive.prompt,
        system: drive.system,
        schema: drive.schema,
        access: if drive.write {
            Access::Write
        } else {
            Access::ReadOnly
        },
        sandbox: drive.sandbox.unwrap_or_default(),
        network: drive.network.unwrap_or_default(),
        directory: drive.directory.unwrap_or_else(|| drive.run_dir.clone()),
        run_dir: drive.run_dir,
        limits: Limits {
            first_byte: millis(drive.first_byte_ms, usual.first_byte),
            idle: millis(drive.idle_ms, usual.idle),
            wall: millis(drive.wall_ms, usual.wall),
            ..usual
        },
        max_cost: None,
        max_output_tokens: None,
        temperature_milli: None,
    }
}
