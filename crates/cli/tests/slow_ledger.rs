//! Sixteen processes on one ledger: nothing lost, nobody is told that the database is locked.

#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot set its scene has failed"
)]

mod common;

use std::process::Stdio;

use common::TestEnv;

#[test]
fn sixteen_processes_ask_at_once() {
    const PROCESSES: usize = 16;
    const PROMPTS: usize = 25;
    let env = TestEnv::new();
    let prompts: String = (1..=PROMPTS).map(|n| format!("Question {n}\n")).collect();
    env.write("prompts.txt", prompts);
    let children: Vec<_> = (0..PROCESSES)
        .map(|_| {
            let args = [
                "ask",
                "scripted",
                "--batch",
                "prompts.txt",
                "--parallel",
                "4",
                "--json",
            ];
            env.command(args)
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    let mut cases = std::collections::BTreeSet::new();
    for child in children {
        let output = child.wait_with_output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{stderr}");
        assert!(!stderr.contains("locked"), "{stderr}");
        let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(json["answers"].as_array().unwrap().len(), PROMPTS);
        cases.insert(json["case"].as_str().unwrap().to_owned());
    }
    assert_eq!(cases.len(), PROCESSES);
    let log = env.run(["log", "--json", "-n", "100"]).json();
    let listed = log["cases"].as_array().unwrap();
    assert_eq!(listed.len(), PROCESSES);
    for case in listed {
        assert_eq!(case["state"]["outcome"], "completed");
        assert_eq!(case["spend"]["runs"], PROMPTS);
    }
    env.assert_healthy();
}
