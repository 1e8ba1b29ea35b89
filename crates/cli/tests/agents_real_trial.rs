//! Claude Code, Codex and Gemini CLI as they are installed, as contestants in code against a model
//! server that has them write a file. The winner is merged into a real repository.
//!
//! Runs where only loopback exists. The programs come from `tests/agents`.

#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot set its scene has failed"
)]

mod common;

use std::path::Path;

use common::TestEnv;
use common::cast::{NONCE, card};
use serde_json::json;
use tribunal_fakes::model::FakeModel;

const CONTESTANTS: [(&str, &str); 3] = [
    ("claude", "claude-sonnet-4-5"),
    ("codex", "gpt-5.5"),
    ("gemini", "gemini-2.5-pro"),
];

const CHALLENGE: &str =
    "Greet the world in a file.\nFAKE-FILE: greeting.txt\nFAKE-CONTENT: hello world\n";

/// A repository, the three programs as contestants and a scripted judge.
fn scene(model: &FakeModel) -> TestEnv {
    let mut env = TestEnv::with_repository();
    env.set_env("SUBJECT_KEY", "key-canary-4711");
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .unwrap();
    let programs = root.join("tests/agents/node_modules/.bin");
    assert!(programs.is_dir(), "run scripts/install-agents first");
    let mut agents = String::new();
    for (name, version) in CONTESTANTS {
        agents += &format!(
            "  - name: {name}\n    provider: {name}\n    command: [{:?}]\n    model: {version}\n    base_url: {}\n    api_key_env: SUBJECT_KEY\n    role: contestant\n    limits: {{first_byte: 30s, idle: 30s, wall: 60s, after_result: 3s}}\n",
            programs.join(name).display().to_string(),
            model.base_url("write_tool", name),
        );
    }
    let cards =
        [("R1", 80), ("R2", 60), ("R3", 40)].map(|(id, score)| card(id, &json!(score), "it"));
    let reply = json!({"replies": [{"json": {"nonce": NONCE, "evaluations": cards,
        "summary": "The first is best.", "end": NONCE}}]});
    let script = env.root().join("judge.json");
    std::fs::write(&script, reply.to_string()).unwrap();
    agents += &format!(
        "  - {{name: jim, provider: scripted, script: {:?}, role: judge, family: other}}\n",
        script.display().to_string()
    );
    env.write_user_config(&format!(
        "agents:\n{agents}retry: {{attempts: 1}}\nproject: {{test_command: \"grep -q hello greeting.txt\"}}\n"
    ));
    env.write("CLAUDE.md", "The project's own rules.\n");
    env.commit_all("second");
    env
}

#[test]
fn three_programs_contend_in_code_and_the_winner_is_merged() {
    let model = FakeModel::spawn_blocking();
    let env = scene(&model);
    let before =
        env.git_output(&["status", "--porcelain"]) + &env.git_output(&["rev-parse", "HEAD"]);
    let args = [
        "trial",
        CHALLENGE,
        "--code",
        "--contestant",
        "claude,codex,gemini",
        "--judges",
        "1",
        "--json",
    ];
    let ran = env.run(args);
    env.assert_healthy();
    env.assert_no_survivor("a trial");
    let report = ran.assert_code(0).json();
    for one in report["contestants"].as_array().unwrap() {
        let work = &one["output"]["work"];
        assert_eq!(work["files"], json!(["greeting.txt"]), "{one:#}");
        assert_eq!(work["tested"]["passed"], true, "{one:#}");
    }
    for (name, _) in CONTESTANTS {
        assert!(!model.requests(name).is_empty(), "{name} was not asked");
    }
    let after =
        env.git_output(&["status", "--porcelain"]) + &env.git_output(&["rev-parse", "HEAD"]);
    assert_eq!(after, before, "the user's tree is as it was");
    let id = report["case"].as_str().unwrap();
    assert!(
        !env.ledger().join("worktrees").join(id).exists(),
        "worktrees are removed"
    );
    let branches = env.git_output(&["branch", "--list", "tribunal/*"]);
    assert_eq!(branches.lines().count(), 3, "{branches}");
    env.run(["trial", "decree", id, "merge"]).assert_code(0);
    let merged = std::fs::read_to_string(env.project().join("greeting.txt")).unwrap();
    assert_eq!(merged.trim(), "hello world");
    assert_eq!(env.git_output(&["status", "--porcelain"]), "");
    let written = format!("{report}");
    assert!(
        !written.contains("key-canary-4711"),
        "a key is in the report"
    );
}

#[test]
fn a_program_that_answers_without_a_change_is_left_out_and_the_others_go_on() {
    let model = FakeModel::spawn_blocking();
    let env = scene(&model);
    let config = env.home().join(".config/tribunal/config.yml");
    let text = std::fs::read_to_string(&config).unwrap();
    let text = text.replace("/s/write_tool@codex", "/s/ok@codex");
    env.write_user_config(&text);
    let cards = [("R1", 80), ("R2", 60)].map(|(id, score)| card(id, &json!(score), "it"));
    let reply = json!({"replies": [{"json": {"nonce": NONCE, "evaluations": cards,
        "summary": "The first is best.", "end": NONCE}}]});
    std::fs::write(env.root().join("judge.json"), reply.to_string()).unwrap();
    let args = [
        "trial",
        CHALLENGE,
        "--code",
        "--contestant",
        "claude,codex,gemini",
        "--judges",
        "1",
        "--json",
    ];
    let report = env.run(args).assert_code(0).json();
    assert_eq!(
        report["contestants"][1]["failed"], "it changed no file",
        "{report:#}"
    );
    assert_eq!(report["verdict"]["ranking"].as_array().unwrap().len(), 2);
    env.assert_healthy();
    env.assert_no_survivor("a trial");
}
