//! What an agent is given, and what it is not: prompt, environment, files, keys.

#[path = "supervisor_common/mod.rs"]
#[expect(dead_code, reason = "each test file uses a part of it")]
mod common;

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use common::{KEY, Place, generous, supervisor};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use tribunal_agents::command::Ended;
use tribunal_agents::spec::Cli;
use tribunal_agents::{Agent, AgentError, Call, Progress, Reply};
use tribunal_core::agent::{Access, ErrorClass};

async fn run(agent: &impl Agent, call: Call) -> Result<Reply, AgentError> {
    agent
        .run(call, Progress::default(), CancellationToken::new())
        .await
}

#[tokio::test]
async fn long_prompts_arrive_whole_and_end() {
    let place = Place::new();
    let agent = place.shell("wc -c");
    let call = Call {
        prompt: "x".repeat(300_000),
        system: Some("be brief".to_owned()),
        ..place.call(generous())
    };
    assert_eq!(run(&agent, call).await.unwrap().text, "300010");
}

#[tokio::test]
async fn programs_that_cannot_start_are_a_fault_of_the_setup() {
    let place = Place::new();
    let odd = place.script("#!/no/such/interpreter\n");
    for (program, ended) in [
        ("/no/such/agent", None),
        ("no-such-agent-4711", None),
        ("/etc/passwd", None),
        (odd.as_str(), Some("No such file or directory (os error 2)")),
    ] {
        let agent = place.agent(Cli::Custom, &[program]);
        let error = run(&agent, place.call(generous())).await.unwrap_err();
        assert_eq!(
            error.class,
            ErrorClass::Setup,
            "{program}: {}",
            error.message
        );
        if let Some(reason) = ended {
            let reason = reason.to_owned();
            assert_eq!(place.exit().ended, Ended::SpawnFailed { reason });
        }
    }
}

#[tokio::test]
async fn results_are_recovered_from_the_files_of_the_run() {
    let place = Place::new();
    let agent = place.shell("echo fine");
    let call = place.call(generous());
    assert_eq!(agent.recover(&call).await, None);
    let reply = run(&agent, call.clone()).await;
    assert_eq!(agent.recover(&call).await, Some(reply));
    let other = Call {
        run: tribunal_core::ids::RunId::new("r-0123").unwrap(),
        ..call
    };
    assert_eq!(agent.recover(&other).await, None);
}

/// Lets a parent with a canary in its environment, and no umask, run a script.
fn drive(place: &Place, script: &str, more: Value) -> Value {
    let mut drive = json!({
        "cli": "custom",
        "program": "/bin/sh",
        "args": ["-c", script],
        "env": {"FROM_CONFIG": "yes"},
        "prompt": "hello",
        "key": KEY,
        "run": place.run.as_str(),
        "run_dir": place.run_dir(),
        "directory": place.path("work"),
    });
    for (name, value) in more.as_object().expect("more is an object") {
        drive[name] = value.clone();
    }
    let output = Command::new("/bin/sh")
        .args(["-c", "umask 000; exec \"$0\" drive \"$1\""])
        .arg(supervisor())
        .arg(drive.to_string())
        .env("CANARY_TOKEN", "canary-0815")
        .env("ANTHROPIC_API_KEY", "canary-0815")
        .env("TRIBUNAL_RUN", "r-9999")
        .output()
        .expect("a shell can be started");
    let stdout = String::from_utf8(output.stdout).expect("it prints text");
    let last = stdout.lines().last().expect("it prints the outcome");
    serde_json::from_str(last).expect("the outcome is JSON")
}

#[test]
fn the_environment_is_the_list_and_nothing_else() {
    let place = Place::new();
    let outcome = drive(&place, "env -0 | tr '\\0\\n' '\\n '", json!({}));
    let text = outcome["reply"]["text"].as_str().unwrap();
    let mut names: Vec<&str> = text
        .lines()
        .filter_map(|line| line.split('=').next())
        .collect();
    names.sort_unstable();
    let expected = [
        "FROM_CONFIG",
        "HOME",
        "LANG",
        "PATH",
        "PWD",
        "TERM",
        "TRIBUNAL_API_KEY",
        "TRIBUNAL_RUN",
    ];
    let optional = [
        "LOGNAME",
        "USER",
        "TZ",
        "TMPDIR",
        "SSL_CERT_FILE",
        "SSL_CERT_DIR",
        "NO_PROXY",
        "no_proxy",
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "http_proxy",
        "https_proxy",
        // The shell's own.
        "OLDPWD",
        "SHLVL",
        "_",
    ];
    names.retain(|name| !optional.contains(name) && !name.starts_with("LC_"));
    assert_eq!(names, expected, "{text}");
    assert!(!text.contains("canary-0815"));
    assert!(text.contains(&format!("TRIBUNAL_RUN={}\n", place.run)));
    assert!(text.contains("TERM=dumb\n"));
}

#[test]
fn no_process_of_a_run_sees_a_canary_or_shows_a_key() {
    let place = Place::new();
    // The agent looks at itself and at its supervisor.
    let script = "tr '\\0' ' ' < /proc/$PPID/environ; echo; \
                  tr '\\0' ' ' < /proc/$PPID/cmdline; tr '\\0' ' ' < /proc/$$/cmdline";
    let outcome = drive(&place, script, json!({}));
    let text = outcome["reply"]["text"].as_str().unwrap();
    assert!(text.contains("supervise"), "{text}");
    assert!(!text.contains("canary"), "{text}");
}

#[test]
fn files_are_private_whatever_the_umask() {
    let place = Place::new();
    drive(&place, "umask 077; echo fine", json!({}));
    for entry in std::fs::read_dir(place.run_dir()).unwrap().flatten() {
        let mode = entry.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{:?}", entry.path());
    }
    let home = place.path("home").metadata().unwrap();
    assert_eq!(home.permissions().mode() & 0o777, 0o700);
}

#[tokio::test]
async fn keys_are_in_no_argument_and_no_file() {
    for cli in Cli::KNOWN {
        for access in [Access::ReadOnly, Access::Write] {
            let place = Place::new();
            // The agent writes down its arguments and where its key is, but not the key.
            let script = place.script(
                "#!/bin/sh\nprintf '%s\\n' \"$@\" > arguments\n\
                 env | grep -c canary-4711 > found\ncat > prompt\n",
            );
            let agent = place.agent(cli, &[&script]);
            let call = Call {
                access,
                system: Some("be brief".to_owned()),
                schema: Some(json!({"type": "object"})),
                ..place.call(generous())
            };
            let error = run(&agent, call).await.unwrap_err();
            assert_eq!(error.class, ErrorClass::Empty, "{}", error.message);
            assert!(place.path("work/arguments").exists());
            let found = std::fs::read_to_string(place.path("work/found")).unwrap();
            assert_eq!(found, "1\n", "{cli:?} finds its key in one variable");
            let prompt = std::fs::read_to_string(place.path("work/prompt")).unwrap();
            assert!(prompt.ends_with("What do you think?"));
            for folder in ["run", "work", "home"] {
                assert_in_no_file(&place.path(folder), KEY);
            }
        }
    }
}

#[tokio::test]
async fn keys_do_not_appear_in_messages() {
    let place = Place::new();
    let agent = place.shell("echo \"error: bad key $TRIBUNAL_API_KEY\" >&2; exit 3");
    let error = run(&agent, place.call(generous())).await.unwrap_err();
    assert_eq!(error.class, ErrorClass::Crash);
    assert_eq!(
        error.message,
        "The program exited with code 3: error: bad key [redacted]"
    );
}

#[tokio::test]
async fn versions_are_asked_once() {
    let place = Place::new();
    let script = place.script("#!/bin/sh\necho x >> \"$HOME/asked\"; echo \"agent 1.2.3 $1\"\n");
    for _ in 0..2 {
        let agent = place.agent(Cli::Claude, &[&script]);
        let version = agent.version().await.unwrap();
        assert_eq!(version.as_deref(), Some("agent 1.2.3 --version"));
    }
    let asked = std::fs::read_to_string(place.path("home/asked")).unwrap();
    assert_eq!(asked, "x\n");
    let custom = place.agent(Cli::Custom, &[&script]);
    assert_eq!(custom.version().await, Ok(None));
    let broken = place.agent(Cli::Codex, &["/bin/false"]);
    assert_eq!(broken.version().await.unwrap_err().class, ErrorClass::Setup);
}

/// Fails when a file below `folder` holds `text`.
fn assert_in_no_file(folder: &Path, text: &str) {
    for entry in std::fs::read_dir(folder)
        .expect("the folder can be read")
        .flatten()
    {
        let path = entry.path();
        if path.is_dir() {
            assert_in_no_file(&path, text);
        } else if let Ok(content) = std::fs::read(&path) {
            let content = String::from_utf8_lossy(&content);
            assert!(!content.contains(text), "{} holds {text}", path.display());
        }
    }
}
