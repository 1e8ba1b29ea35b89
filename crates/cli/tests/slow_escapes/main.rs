//! An obedient program that a stranger's text has turned against its user. It tries to read what it
//! must not see, to change what is not its own, to reach others and to outlive its run. Each attempt is
//! made without a sandbox first, where most succeed: that shows that the attempt is a real one.

#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot set its scene has failed"
)]

#[path = "../common/mod.rs"]
mod common;
mod limits;
mod network;
mod places;
mod reads;
mod unconfined;
mod writes;

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use common::{Ran, TestEnv};

/// Everything that can hold a program.
const RUNGS: [&str; 2] = ["bubblewrap", "landlock"];

/// Returns the settings with which only `rung` holds programs.
fn required(rung: &str) -> String {
    format!("mode: require, means: {rung}")
}

/// A program outside that somebody may want to kill; gone when dropped.
struct Bystander(Child);

impl Bystander {
    fn start() -> Self {
        let sleep = Command::new("sleep")
            .arg("600")
            .stdin(Stdio::null())
            .spawn();
        Self(sleep.unwrap())
    }

    fn is_alive(&mut self) -> bool {
        self.0.try_wait().unwrap().is_none()
    }
}

impl Drop for Bystander {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Writes a program of the user's.
fn write_program(env: &TestEnv, text: &str) -> PathBuf {
    let program = env.write("tools/agent.sh", text);
    std::fs::set_permissions(&program, Permissions::from_mode(0o755)).unwrap();
    program
}

/// Makes a shell script an agent that is confined as `sandbox` says.
fn arrange(env: &TestEnv, sandbox: &str, script: &str) {
    let program = write_program(env, &format!("#!/bin/bash\n{script}\n"));
    env.write_user_config(&format!(
        "agents:\n  - name: mole\n    command: [{program:?}]\n    role: reviewer\n\
         retry: {{attempts: 1}}\nsandbox: {{{sandbox}}}\n"
    ));
    std::fs::create_dir_all(env.root().join("desk")).unwrap();
}

/// Lets the agent work in a directory that it may change, and returns its answer.
fn obey(env: &TestEnv) -> String {
    let ran = let_work(env).assert_code(0);
    let answer = &ran.json()["answers"][0]["text"];
    answer.as_str().unwrap().to_owned()
}

/// Lets the agent work in a directory that it may change.
fn let_work(env: &TestEnv) -> Ran {
    let desk = env.root().join("desk");
    let desk = desk.to_str().unwrap();
    let ran = env.run(["ask", "mole", "Do it", "--dir", desk, "--write", "--json"]);
    env.assert_no_survivor("the agent");
    ran
}

/// Returns the names of the attempts after which the program says that it got through.
fn got_through(answer: &str) -> Vec<&str> {
    let lines = answer.lines();
    lines
        .filter_map(|line| line.strip_prefix("through: "))
        .collect()
}

/// Returns a script that makes all attempts and prints those that got through.
fn script_of(attempts: &[(&str, &str)], opening: &str) -> String {
    let mut script = format!("exec 2>/dev/null\n{opening}\n");
    for (name, attempt) in attempts {
        // Each in a shell of its own: one that fails or leaves must not end the others.
        script.push_str(&format!("( {attempt} ) && echo 'through: {name}'\n"));
    }
    script.push_str("echo done\n");
    script
}

#[test]
fn without_a_sandbox_a_required_one_starts_nothing_and_a_wished_one_says_so() {
    let mut env = TestEnv::new();
    let marker = env.root().join("started");
    let text = format!("#!/bin/sh\necho yes > {}\necho done\n", marker.display());
    let agent = write_program(&env, &text);
    // A search path on which there is a shell and no bubblewrap.
    let bin = env.root().join("bin");
    std::fs::create_dir_all(&bin).unwrap();
    for program in ["sh", "git"] {
        let found = which(program);
        std::os::unix::fs::symlink(found, bin.join(program)).unwrap();
    }
    env.set_env("PATH", bin.display().to_string());
    let config = |mode: &str| {
        format!(
            "agents:\n  - name: mole\n    command: [{agent:?}]\n    role: reviewer\n\
             retry: {{attempts: 1}}\nsandbox: {{mode: {mode}, means: bubblewrap}}\n"
        )
    };
    env.write_user_config(&config("require"));
    let ran = env.run(["ask", "mole", "Do it", "--json"]).assert_code(5);
    let message = ran.json()["answers"][0]["error"]["message"].to_string();
    assert!(
        message.contains(
            "A sandbox is required and there is none: `bwrap` (bubblewrap) was not found"
        ),
        "{message}"
    );
    assert!(!marker.exists(), "the program was started");

    env.write_user_config(&config("best"));
    let ran = env
        .run(["ask", "mole", "Do it", "--format", "jsonl"])
        .assert_code(0);
    let started = ran
        .stdout
        .lines()
        .find(|line| line.contains("run_started"))
        .unwrap();
    assert!(started.contains(r#""files":"nothing""#), "{started}");
    assert!(started.contains("was not found in `PATH`"), "{started}");
    assert!(marker.exists(), "the program was not started");
}

fn which(program: &str) -> PathBuf {
    let search = std::env::var_os("PATH").unwrap();
    let mut places = std::env::split_paths(&search).map(|place| place.join(program));
    places.find(|place| place.is_file()).unwrap()
}

#[test]
fn the_event_of_a_run_tells_what_held_it() {
    for (rung, network_by) in RUNGS.into_iter().zip(["bubblewrap", "seccomp"]) {
        let env = TestEnv::new();
        env.write_user_config(&format!(
            "agents:\n  - name: mole\n    command: [/bin/cat]\n    role: reviewer\n\
             sandbox: {{{}, network: none}}\n",
            required(rung)
        ));
        let ran = env
            .run(["ask", "mole", "Hello", "--format", "jsonl"])
            .assert_code(0);
        let started = ran
            .stdout
            .lines()
            .find(|line| line.contains("run_started"))
            .unwrap();
        let event: serde_json::Value = serde_json::from_str(started).unwrap();
        assert_eq!(
            event["sandbox"],
            serde_json::json!({
                "files": rung,
                "processes": rung,
                "network": "none",
                "network_by": network_by,
                "system_calls": "seccomp",
            })
        );
        env.assert_healthy();
    }
}
