//! Whoever is killed, the agent and what it started do not stay behind.

#[path = "supervisor_common/mod.rs"]
#[expect(dead_code, reason = "each test file uses a part of it")]
mod common;

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use common::{Place, generous, processes, supervisor, wait_until};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::json;
use tokio_util::sync::CancellationToken;
use tribunal_agents::command::{Ended, Exit, sweep_marked};
use tribunal_agents::{Agent, Progress};
use tribunal_core::agent::ErrorClass;

/// Starts a parent that runs `script` and returns it once the script is at work.
fn parent(place: &Place, script: &str) -> std::process::Child {
    let drive = json!({
        "cli": "custom",
        "program": "/bin/sh",
        "args": ["-c", script],
        "prompt": "hello",
        "run": place.run.as_str(),
        "run_dir": place.run_dir(),
        "directory": place.path("work"),
    });
    let child = Command::new(supervisor())
        .arg("drive")
        .arg(drive.to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .expect("the parent can be started");
    wait_until("the start of the script", || {
        place.path("work/begun").exists()
    });
    child
}

fn pid(child: &std::process::Child) -> Pid {
    Pid::from_raw(i32::try_from(child.id()).expect("a process id"))
}

/// Returns the process id of the supervisor of a run.
fn supervisor_of(place: &Place) -> Pid {
    let run_dir = place.run_dir();
    let is_it = |path: &std::path::Path| {
        let line = std::fs::read(path.join("cmdline")).unwrap_or_default();
        let words: Vec<_> = line.split(|byte| *byte == 0).collect();
        words.get(1) == Some(&&b"supervise"[..])
            && words.get(2) == Some(&run_dir.to_str().expect("the path is Unicode").as_bytes())
    };
    let entries = std::fs::read_dir("/proc")
        .expect("Linux has /proc")
        .flatten();
    let entry = entries.map(|entry| entry.path()).find(|path| is_it(path));
    let path = entry.expect("the supervisor runs");
    let name = path.file_name().and_then(|name| name.to_str());
    let pid = name.and_then(|name| name.parse().ok());
    Pid::from_raw(pid.expect("the folder is named after the process"))
}

#[test]
fn the_death_of_the_parent_ends_the_run_and_is_recorded() {
    let place = Place::new();
    let script = "echo half; env -i setsid sleep 61.11 & \
                  setsid sh -c \"trap '' TERM; sleep 61.12\" & touch begun; sleep 61.13";
    let mut parent = parent(&place, script);
    kill(pid(&parent), Signal::SIGKILL).unwrap();
    let began = Instant::now();
    wait_until("the record", || Exit::read(&place.run_dir()).is_some());
    assert!(began.elapsed() < Duration::from_secs(4));
    parent.wait().unwrap();
    assert_eq!(place.exit().ended, Ended::ParentGone);
    assert_eq!(processes("sleep 61.1"), Vec::<String>::new());
    assert_eq!(sweep_marked(&place.run), 0);
}

#[test]
fn a_result_that_was_complete_when_the_parent_died_is_recovered() {
    let place = Place::new();
    let transcript = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/transcripts/codex/success.jsonl"
    );
    let script = place.script(&format!(
        "#!/bin/sh\ncat '{transcript}'\ntouch begun; sleep 61.2\n"
    ));
    let drive = json!({
        "cli": "codex", "program": script, "prompt": "hello",
        "run": place.run.as_str(), "run_dir": place.run_dir(), "directory": place.path("work"),
    });
    let mut parent = Command::new(supervisor())
        .args(["drive", &drive.to_string()])
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    wait_until("the result", || place.path("work/begun").exists());
    kill(pid(&parent), Signal::SIGKILL).unwrap();
    parent.wait().unwrap();
    wait_until("the record", || Exit::read(&place.run_dir()).is_some());
    let agent = place.agent(tribunal_agents::spec::Cli::Codex, &["/bin/true"]);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let recovered = runtime.block_on(agent.recover(&place.call(generous())));
    assert!(recovered.unwrap().unwrap().text.starts_with("## Review"));
}

#[test]
fn the_supervisor_outlives_a_polite_signal_to_clean_up() {
    let place = Place::new();
    let mut parent = parent(&place, "setsid sleep 61.31 & touch begun; sleep 61.32");
    kill(supervisor_of(&place), Signal::SIGTERM).unwrap();
    assert!(parent.wait().unwrap().success());
    assert_eq!(place.exit().ended, Ended::Cancelled);
    assert_eq!(processes("sleep 61.3"), Vec::<String>::new());
}

#[test]
fn the_death_of_the_supervisor_is_noticed_and_cleaned_up_after() {
    let place = Place::new();
    let mut parent = parent(&place, "setsid sleep 61.41 & touch begun; sleep 61.42");
    kill(supervisor_of(&place), Signal::SIGKILL).unwrap();
    assert!(parent.wait().unwrap().success());
    assert_eq!(Exit::read(&place.run_dir()), None);
    assert_eq!(processes("sleep 61.4"), Vec::<String>::new());
}

#[test]
fn leftovers_are_swept_when_parent_and_supervisor_were_killed() {
    let place = Place::new();
    let mut parent = parent(&place, "setsid sleep 61.51 & touch begun; sleep 61.52");
    let supervisor = supervisor_of(&place);
    kill(pid(&parent), Signal::SIGSTOP).unwrap();
    kill(supervisor, Signal::SIGKILL).unwrap();
    kill(pid(&parent), Signal::SIGKILL).unwrap();
    parent.wait().unwrap();
    let other = tribunal_core::ids::RunId::new("r-0123456789abcdef").unwrap();
    assert_eq!(sweep_marked(&other), 0);
    assert!(sweep_marked(&place.run) >= 1);
    assert_eq!(processes("sleep 61.5"), Vec::<String>::new());
    assert_eq!(sweep_marked(&place.run), 0);
}

#[tokio::test]
async fn many_runs_at_once_do_not_disturb_each_other() {
    let places: Vec<Place> = (0..12).map(|_| Place::new()).collect();
    let runs = places.iter().enumerate().map(|(number, place)| async move {
        let agent = place.shell(&format!(
            "setsid sleep 61.6{number} & sleep 0.3; echo {number}"
        ));
        agent
            .run(
                place.call(generous()),
                Progress::default(),
                CancellationToken::new(),
            )
            .await
    });
    let replies = futures_util::future::join_all(runs).await;
    for (number, reply) in replies.into_iter().enumerate() {
        assert_eq!(reply.unwrap().text, number.to_string());
    }
    assert_eq!(processes("sleep 61.6"), Vec::<String>::new());
}

#[tokio::test]
async fn a_missing_supervisor_is_a_fault_of_the_setup() {
    let place = Place::new();
    let agent = place.with_supervisor("/no/such/tribunal");
    let error = agent
        .run(
            place.call(generous()),
            Progress::default(),
            CancellationToken::new(),
        )
        .await
        .unwrap_err();
    assert_eq!(error.class, ErrorClass::Setup, "{}", error.message);
}
