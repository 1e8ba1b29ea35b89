//! A place for runs of small programs under a real supervisor.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use tribunal_agents::command::{CommandAgent, Exit};
use tribunal_agents::spec::{AgentSpec, Backend, Cli, CommandSpec, Login};
use tribunal_agents::{Call, Limits};
use tribunal_core::agent::Access;
use tribunal_core::ids::{AgentName, RunId};
use tribunal_core::secret::Secret;

/// A key that must be found nowhere.
pub(crate) const KEY: &str = "sk-canary-4711";

/// Returns the example that stands in for our executable.
pub(crate) fn supervisor() -> PathBuf {
    let test = std::env::current_exe().expect("a test is a program");
    let path = test
        .ancestors()
        .nth(2)
        .expect("tests lie two folders deep")
        .join("examples/supervisor");
    assert!(
        path.is_file(),
        "{} is missing; build it with `cargo build -p tribunal-agents --example supervisor`",
        path.display()
    );
    path
}

/// A directory with all that a run needs.
pub(crate) struct Place {
    folder: TempDir,
    pub(crate) run: RunId,
}

impl Place {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let run = format!("r-{:08x}{number:04x}", std::process::id());
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        for name in ["run", "work"] {
            std::fs::create_dir(folder.path().join(name)).expect("a folder can be made");
        }
        Self {
            folder,
            run: RunId::new(run).expect("a valid run id"),
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn run_dir(&self) -> PathBuf {
        self.path("run")
    }

    /// Returns an agent that runs a shell script.
    pub(crate) fn shell(&self, script: &str) -> CommandAgent {
        self.agent(Cli::Custom, &["/bin/sh", "-c", script])
    }

    pub(crate) fn agent(&self, cli: Cli, argv: &[&str]) -> CommandAgent {
        self.agent_of(cli, argv, "house-model", "http://127.0.0.1:9/base")
    }

    /// Returns an agent that uses `model` at `url`.
    pub(crate) fn agent_of(&self, cli: Cli, argv: &[&str], model: &str, url: &str) -> CommandAgent {
        let argv = argv.iter().map(ToString::to_string).collect();
        self.build(
            CommandSpec {
                base_url: Some(url.to_owned()),
                ..self.spec(cli, argv)
            },
            model,
        )
    }

    /// Returns an agent with neither a key nor a server of its own.
    pub(crate) fn agent_without_key(&self, cli: Cli, program: &str) -> CommandAgent {
        let spec = CommandSpec {
            api_key: None,
            ..self.spec(cli, vec![program.to_owned()])
        };
        self.build(spec, "house-model")
    }

    /// Returns a linter that uses the toolchains of the user.
    pub(crate) fn linter(&self, argv: &[&str]) -> CommandAgent {
        let argv = argv.iter().map(ToString::to_string).collect();
        let target = self.path("target").to_string_lossy().into_owned();
        let command = CommandSpec {
            login: Login::User,
            api_key: None,
            env: BTreeMap::from([("CARGO_TARGET_DIR".to_owned(), target)]),
            ..self.spec(Cli::Linter, argv)
        };
        let spec = AgentSpec {
            name: AgentName::new("lint").expect("a valid name"),
            backend: Backend::Command(command.clone()),
            model: None,
            family: None,
        };
        CommandAgent::new(spec.profile(), command)
    }

    pub(crate) fn with_supervisor(&self, supervisor: &str) -> CommandAgent {
        let spec = CommandSpec {
            supervisor: PathBuf::from(supervisor),
            ..self.spec(Cli::Custom, vec!["/bin/true".to_owned()])
        };
        self.build(spec, "house-model")
    }

    fn spec(&self, cli: Cli, argv: Vec<String>) -> CommandSpec {
        CommandSpec {
            cli,
            argv,
            env: BTreeMap::new(),
            pass_env: Vec::new(),
            login: Login::Isolated,
            home: self.path("home"),
            base_url: None,
            api_key: Some(Secret::new(KEY)),
            supervisor: supervisor(),
            sandbox: Box::new(tribunal_agents::sandbox::SandboxSpec::default()),
        }
    }

    fn build(&self, command: CommandSpec, model: &str) -> CommandAgent {
        let spec = AgentSpec {
            name: AgentName::new("ann").expect("a valid name"),
            backend: Backend::Command(command.clone()),
            model: Some(model.to_owned()),
            family: None,
        };
        CommandAgent::new(spec.profile(), command)
    }

    /// Writes an executable script and returns its path.
    pub(crate) fn script(&self, text: &str) -> String {
        self.program("agent.sh", text)
    }

    /// Writes an executable script of that name and returns its path.
    pub(crate) fn program(&self, name: &str, text: &str) -> String {
        use std::os::unix::fs::PermissionsExt;
        let path = self.path(name);
        std::fs::write(&path, text).expect("a script can be written");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755))
            .expect("its mode can be set");
        path.to_str().expect("the path is Unicode").to_owned()
    }

    pub(crate) fn call(&self, limits: Limits) -> Call {
        Call {
            run: self.run.clone(),
            prompt: "What do you think?".to_owned(),
            system: None,
            schema: None,
            access: Access::ReadOnly,
            sandbox: tribunal_core::sandbox::SandboxDemand::Off,
            network: tribunal_core::sandbox::NetworkChoice::Auto,
            directory: self.path("work"),
            run_dir: self.run_dir(),
            limits,
            max_cost: None,
            max_output_tokens: None,
            temperature_milli: None,
        }
    }

    pub(crate) fn exit(&self) -> Exit {
        Exit::read(&self.run_dir()).expect("the supervisor tells how the run ended")
    }
}

/// Returns limits that no test reaches unless it changes them.
pub(crate) fn generous() -> Limits {
    Limits {
        first_byte: Duration::from_secs(60),
        idle: Duration::from_secs(60),
        wall: Duration::from_secs(60),
        after_result: Duration::from_secs(30),
        output_bytes: 1024 * 1024,
    }
}

/// Returns the processes whose command line holds `text`, other than this one.
pub(crate) fn processes(text: &str) -> Vec<String> {
    let entries = std::fs::read_dir("/proc")
        .expect("Linux has /proc")
        .flatten();
    entries
        .filter(|entry| entry.file_name() != *std::process::id().to_string())
        .filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok())
        .map(|line| String::from_utf8_lossy(&line).replace('\0', " "))
        .filter(|line| line.contains(text))
        .collect()
}

/// Waits until `ready`, and fails when it takes too long.
pub(crate) fn wait_until(what: &str, ready: impl Fn() -> bool) {
    let until = Instant::now() + Duration::from_secs(20);
    while !ready() {
        assert!(Instant::now() < until, "{what} did not happen");
        std::thread::sleep(Duration::from_millis(10));
    }
}
