//! The behaviours of the fake agent that are quick to show.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};
use tribunal_fakes::agent::read_log;
use tribunal_fakes::checksum;

fn agent(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fake-agent"));
    command
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn start(command: &mut Command, prompt: &str) -> Child {
    let mut child = command.spawn().unwrap();
    // An agent that does not read its prompt may be gone already.
    let _ = child.stdin.take().unwrap().write_all(prompt.as_bytes());
    child
}

fn run(args: &[&str], prompt: &str) -> Output {
    start(&mut agent(args), prompt).wait_with_output().unwrap()
}

fn said(args: &[&str], prompt: &str) -> String {
    let output = run(args, prompt);
    assert!(
        output.status.success(),
        "{args:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

fn events(args: &[&str], prompt: &str) -> Vec<Value> {
    said(args, prompt)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Ends a process that would not end by itself.
fn end(child: &mut Child) {
    let _ = kill(Pid::from_raw(child.id() as i32), Signal::SIGKILL);
    child.wait().unwrap();
}

fn reported_pids(stderr: &str, what: &str) -> Vec<Pid> {
    let prefix = format!("fake-agent: {what} ");
    stderr
        .lines()
        .filter_map(|line| line.strip_prefix(&prefix)?.parse().ok())
        .map(Pid::from_raw)
        .collect()
}

#[test]
fn reply_is_dictated_by_flag_prompt_or_first_line() {
    assert_eq!(said(&[], "first\nsecond"), "first\n");
    assert_eq!(said(&["--reply", "told"], "first"), "told\n");
    assert_eq!(
        said(&["--reply", "told"], "x\nFAKE-REPLY: by\\nprompt"),
        "by\nprompt\n"
    );
    assert_eq!(
        said(&["--reply=told", "--verbose", "-p", "--model", "m"], "x"),
        "told\n"
    );
}

#[test]
fn rules_choose_by_what_the_prompt_contains() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("rules.json");
    let rules =
        json!([{"when": "round two", "reply": "agree"}, {"when": "bad", "behave": "exit 7"}]);
    std::fs::write(&file, rules.to_string()).unwrap();
    let args = ["--rules", file.to_str().unwrap(), "--reply", "usual"];
    assert_eq!(said(&args, "now round two begins"), "agree\n");
    assert_eq!(said(&args, "anything"), "usual\n");
    assert_eq!(run(&args, "a bad one").status.code(), Some(7));
}

#[test]
fn claude_dialect_has_init_message_and_result() {
    let lines = events(&["--dialect", "claude", "--reply", "fine"], "x");
    let kinds: Vec<&str> = lines
        .iter()
        .map(|line| line["type"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["system", "assistant", "result"]);
    let result = &lines[2];
    assert_eq!(
        (&result["result"], &result["is_error"]),
        (&json!("fine"), &json!(false))
    );
    assert_eq!(result["usage"]["input_tokens"], 1200);
    assert!(result["total_cost_usd"].as_f64().unwrap() > 0.0);
    let schema = r#"{"type":"object","properties":{"n":{"type":"integer"}}}"#;
    let args = [
        "--dialect",
        "claude",
        "--output-format",
        "json",
        "--json-schema",
        schema,
    ];
    assert_eq!(events(&args, "x")[0]["structured_output"], json!({"n": 1}));
}

#[test]
fn other_dialects_end_as_their_clis_do() {
    let codex = events(&["--dialect", "codex", "--reply", "fine"], "x");
    assert_eq!(codex[2]["item"]["text"], "fine");
    assert_eq!(codex[3]["usage"]["cached_input_tokens"], 300);
    let gemini = events(&["--dialect", "gemini", "--reply", "fine"], "x");
    let text: String = gemini
        .iter()
        .filter(|line| line["role"] == "assistant")
        .map(|line| line["content"].as_str().unwrap())
        .collect();
    assert_eq!(text, "fine");
    assert_eq!(gemini.last().unwrap()["status"], "success");
    let opencode = events(&["--dialect", "opencode", "--reply", "fine"], "x");
    assert_eq!(opencode[1]["part"]["text"], "fine");
    assert_eq!(opencode[2]["part"]["tokens"]["input"], 1200);
}

#[test]
fn errors_are_flagged_with_exit_0() {
    let flagged = |dialect: &str, place: &str| {
        let lines = events(
            &[
                "--behave",
                "error-flag",
                "--status",
                "429",
                "--dialect",
                dialect,
            ],
            "x",
        );
        lines.last().unwrap().pointer(place).cloned().unwrap()
    };
    assert_eq!(flagged("plain", "/is_error"), json!(true));
    assert_eq!(flagged("claude", "/api_error_status"), json!(429));
    assert_eq!(flagged("codex", "/type"), json!("turn.failed"));
    assert_eq!(flagged("gemini", "/status"), json!("error"));
    assert_eq!(flagged("opencode", "/error/data/statusCode"), json!(429));
}

#[test]
fn name_of_the_program_chooses_the_dialect_and_the_version() {
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("codex");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_fake-agent"), &link).unwrap();
    let output = Command::new(link).arg("--version").output().unwrap();
    assert_eq!(output.stdout, b"codex-cli 0.166.0\n");
}

#[test]
fn exits_and_outputs_are_as_named() {
    assert_eq!(said(&["--behave", "empty"], "x"), "");
    assert_eq!(said(&["--behave", "blank"], "x"), "\n");
    assert_eq!(run(&["--behave", "exit", "3"], "x").status.code(), Some(3));
    assert_eq!(run(&["--behave", "exit:4"], "x").status.code(), Some(4));
    assert_eq!(run(&["--behave", "crash"], "x").status.signal(), Some(6));
    let failed = run(&["--behave", "ok-exit1"], "x");
    assert_eq!(
        (failed.status.code(), failed.stdout.as_slice()),
        (Some(1), b"x\n".as_slice())
    );
    assert_eq!(run(&["--behave", "no-such"], "x").status.code(), Some(2));
    assert_eq!(
        run(
            &["--behave", "no-read", "--reply", "r"],
            &"x".repeat(1 << 20)
        )
        .stdout,
        b"r\n"
    );
}

#[test]
fn floods_have_the_wanted_size() {
    assert_eq!(
        said(&["--behave", "flood", "--bytes", "3000000"], "x").len(),
        3_000_000
    );
    let line = said(&["--behave", "flood-line", "--bytes", "300000"], "x");
    assert_eq!((line.len(), line.contains('\n')), (300_000, false));
    assert_eq!(
        run(&["--behave", "flood-stderr", "--bytes", "300000"], "x")
            .stderr
            .len(),
        300_000
    );
    for dialect in ["plain", "claude", "codex"] {
        let cut = run(&["--behave", "cut64k", "--dialect", dialect], "é");
        assert_eq!((cut.status.code(), cut.stdout.len()), (Some(0), 65_536));
    }
}

#[test]
fn big_prompts_are_reported() {
    let prompt = "é".repeat(500_000);
    let report: Value = serde_json::from_str(&said(&["--behave", "big-prompt"], &prompt)).unwrap();
    let sum = format!("{:016x}", checksum(prompt.as_bytes()));
    assert_eq!(report, json!({"prompt_bytes": 1_000_000, "checksum": sum}));
    let read = run(&["--behave", "read-stdin"], "hello");
    assert_eq!(read.stderr, b"fake-agent: read 5 bytes\n");
}

#[test]
fn encodings_are_broken_as_named() {
    let bytes = |behave: &str| run(&["--behave", behave, "--dialect", "codex"], "hi").stdout;
    assert!(String::from_utf8(bytes("bad-utf8")).is_err());
    assert!(bytes("nul").contains(&0));
    assert!(bytes("bom").starts_with(b"\xef\xbb\xbf{"));
    assert!(bytes("utf16").starts_with(b"\xff\xfe{\0"));
}

#[test]
fn surroundings_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = agent(&["--behave", "env"]);
    let output = start(command.env_clear().env("B", "2").env("A", "1"), "x")
        .wait_with_output()
        .unwrap();
    assert_eq!(output.stdout, b"{\"A\":\"1\",\"B\":\"2\"}\n");
    let here = |args: &[&str]| {
        start(agent(args).current_dir(folder.path()), "x")
            .wait_with_output()
            .unwrap()
            .stdout
    };
    let cwd = String::from_utf8(here(&["--behave", "cwd"])).unwrap();
    assert_eq!(Path::new(cwd.trim()), folder.path().canonicalize().unwrap());
    here(&["--behave", "write", "sub/note.txt", "--reply", "content"]);
    assert_eq!(
        std::fs::read_to_string(folder.path().join("sub/note.txt")).unwrap(),
        "content"
    );
}

#[test]
fn world_log_has_one_line_per_run() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("world.log");
    let args = [
        "--behave",
        "fail-first",
        "2",
        "--log",
        log.to_str().unwrap(),
    ];
    let codes: Vec<_> = (0..3)
        .map(|_| run(&args, "step 1\nmore").status.code())
        .collect();
    assert_eq!(codes, [Some(1), Some(1), Some(0)]);
    let entries = read_log(&log).unwrap();
    assert_eq!(entries.len(), 3);
    assert_eq!(entries[0].first_line, "step 1");
    assert_eq!(
        entries[0].prompt_hash,
        format!("{:016x}", checksum(b"step 1\nmore"))
    );
}

#[test]
fn endless_behaviours_do_not_end() {
    for (behave, output) in [("silent", ""), ("no-exit", "x\n"), ("spaces", "  ")] {
        let mut child = start(&mut agent(&["--behave", behave]), "x");
        let mut seen = vec![0; output.len()];
        child
            .stdout
            .as_mut()
            .unwrap()
            .read_exact(&mut seen)
            .unwrap();
        assert_eq!(seen, output.as_bytes());
        std::thread::sleep(Duration::from_millis(100));
        assert!(child.try_wait().unwrap().is_none(), "{behave}");
        end(&mut child);
    }
}

#[test]
fn term_is_ignored_or_taken_for_success() {
    let started = |behave: &str| {
        let mut child = start(&mut agent(&["--behave", behave]), "x");
        let mut ready = [0; 20];
        child
            .stderr
            .as_mut()
            .unwrap()
            .read_exact(&mut ready)
            .unwrap();
        kill(Pid::from_raw(child.id() as i32), Signal::SIGTERM).unwrap();
        child
    };
    let mut polite = started("term-exit0");
    assert!(polite.wait().unwrap().success());
    let mut stubborn = started("ignore-term");
    std::thread::sleep(Duration::from_millis(200));
    assert!(stubborn.try_wait().unwrap().is_none());
    end(&mut stubborn);
}

#[test]
fn children_stay_in_the_group() {
    let output = run(&["--behave", "children"], "x");
    assert_eq!(output.stdout, b"x\n");
    let children = reported_pids(&String::from_utf8(output.stderr).unwrap(), "child");
    assert_eq!(children.len(), 2);
    for child in children {
        assert_eq!(
            nix::unistd::getpgid(Some(child)).unwrap(),
            nix::unistd::getpgid(None).unwrap()
        );
        kill(child, Signal::SIGKILL).unwrap();
    }
}

#[test]
fn orphan_holds_stdout_from_another_session() {
    let mut child = start(&mut agent(&["--behave", "orphan"]), "x");
    let mut report = String::new();
    let mut stderr = std::io::BufReader::new(child.stderr.take().unwrap());
    std::io::BufRead::read_line(&mut stderr, &mut report).unwrap();
    assert!(child.wait().unwrap().success());
    let orphan = reported_pids(&report, "orphan")[0];
    assert_ne!(
        nix::unistd::getsid(Some(orphan)).unwrap(),
        nix::unistd::getsid(None).unwrap()
    );
    let mut stdout = child.stdout.take().unwrap();
    let reader = std::thread::spawn(move || {
        let mut all = String::new();
        stdout.read_to_string(&mut all).unwrap();
        (all, Instant::now())
    });
    std::thread::sleep(Duration::from_millis(200));
    assert!(!reader.is_finished());
    kill(orphan, Signal::SIGKILL).unwrap();
    assert_eq!(reader.join().unwrap().0, "x\n");
}

#[test]
fn slow_answers_come_in_pieces() {
    let begin = Instant::now();
    let args = [
        "--behave",
        "slow",
        "--delay-ms",
        "40",
        "--reply",
        "one two three",
    ];
    assert_eq!(said(&args, "x"), "one two three\n");
    assert!(begin.elapsed() >= Duration::from_millis(120));
}
