//! `debate`: the arbitrator among teammates, over the real pipes.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Stdio;

use insta::assert_snapshot;
use serde_json::Value;

use crate::common::TestEnv;

const OPENING: &str = r#"{"type":"message","from":"team-lead","content":{"reviewers":["ann","codex"],"rounds":3,"findings":{"ann":[{"id":"a1","file":"src/db.rs","line":10,"category":"security","severity":"high","confidence":80,"title":"query built by hand","description":"`name` reaches the SQL text","trigger":"a quote in the name"}],"codex":[]}}}"#;

/// Returns what was sent, the report by its summary.
fn told(stdout: &str) -> String {
    let mut text = String::new();
    for line in stdout.lines() {
        let message: Value = serde_json::from_str(line).unwrap();
        if message["type"] == "shutdown_response" {
            text.push_str(line);
        } else {
            let to = message["recipient"].as_str().unwrap();
            let content = message["content"].as_str().unwrap();
            let is_report = content.starts_with('{');
            let shown = &message[if is_report { "summary" } else { "content" }];
            text.push_str(&format!("{to}: {}", shown.as_str().unwrap()));
        }
        text.push('\n');
    }
    text
}

#[test]
fn a_debate_is_held_message_by_message() {
    let env = TestEnv::new();
    let mut child = env
        .command(["debate", "--stdio", "--policy", "arena"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut conversation = String::new();
    // Every message is answered before the next one is sent: nothing waits for the end.
    for (line, answers) in [
        (OPENING, 1),
        (
            r#"{"type":"shutdown_request","from":"team-lead","requestId":"r-1"}"#,
            1,
        ),
        (
            r#"{"type":"message","from":"team-lead","content":"{\"model\": \"codex\", \"round\": 2, \"phase\": \"cross-examine\", \"responses\": [{\"finding_id\": \"a1\", \"original_model\": \"ann\", \"action\": \"agree\", \"confidence_adjustment\": 5, \"reasoning\": \"yes\"}]}"}"#,
            1,
        ),
        (
            r#"{"type":"message","from":"team-lead","content":"ROUND 2 COMPLETE"}"#,
            1,
        ),
        (
            r#"{"type":"message","sender":"team-lead","content":"ROUND 3 COMPLETE"}"#,
            2,
        ),
        (
            r#"{"type":"shutdown_request","from":"team-lead","requestId":"r-2"}"#,
            1,
        ),
    ] {
        writeln!(input, "{line}").unwrap();
        for _ in 0..answers {
            conversation.push_str(&told(&output.next().unwrap().unwrap()));
        }
    }
    assert_snapshot!(conversation, @r#"
    team-lead: Round 1 complete: findings: 1 (ann 1, codex 0); agreements: 0; rounds held: 3
    {"type":"shutdown_response","request_id":"r-1","approve":false,"content":"Debate round 2 is still in progress; the consensus is not complete yet"}
    team-lead: Round 2 in progress: statements counted of codex: 1; nobody is awaited
    team-lead: Round 2 complete: confidence rose for 1, fell for 0, stayed for 0; new agreements: 1; resolved conflicts: 0; new observations: 0; src/db.rs:10:query built by hand 75 → 85
    team-lead: Round 3 complete: confidence rose for 0, fell for 0, stayed for 1; new agreements: 0; resolved conflicts: 0; new observations: 0
    team-lead: Debate consensus: 1 confirmed, 0 dismissed, 0 disputed
    {"type":"shutdown_response","request_id":"r-2","approve":true}
    "#);
    // The lead may keep the pipe open: an approved end is the end.
    assert_eq!(child.wait().unwrap().code(), Some(1));
    drop(input);
}

#[test]
fn messages_that_stop_give_a_report_of_what_there_is() {
    let env = TestEnv::new();
    let ran = env
        .run_with_input(
            ["debate", "--stdio", "--policy", "arena"],
            &format!("{OPENING}\n"),
        )
        .assert_code(5);
    assert_snapshot!(told(&ran.stdout), @"
    team-lead: Round 1 complete: findings: 1 (ann 1, codex 0); agreements: 0; rounds held: 3
    team-lead: Round 2 complete: confidence rose for 0, fell for 0, stayed for 1; new agreements: 0; resolved conflicts: 0; new observations: 0; messages stopped before its end; codex did not respond
    team-lead: Debate consensus: 1 confirmed, 0 dismissed, 0 disputed
    ");
    let last: Value = serde_json::from_str(ran.stdout.lines().last().unwrap()).unwrap();
    let report: Value = serde_json::from_str(last["content"].as_str().unwrap()).unwrap();
    assert_snapshot!(report["incomplete"], @r#"["Debate incomplete — codex did not respond","Debate incomplete — messages stopped in round 2"]"#);
    let ran = env.run(["debate", "--stdio"]).assert_code(5);
    assert!(ran.stdout.contains("it was never opened"), "{ran:?}");
}

#[test]
fn garbage_is_noticed_and_survived() {
    let env = TestEnv::new();
    let long = "x".repeat(33 << 20);
    let deep = "[".repeat(5000);
    let mut input = Vec::new();
    for line in [
        OPENING,
        "ROUND 2 COMPLETE",
        "{\"broken",
        &deep,
        &long,
        r#"{"from":"codex","content":"I agree."}"#,
        r#"{"from":"codex"}"#,
        r#"{"from":"nobody","content":"hello"}"#,
    ] {
        input.extend_from_slice(line.as_bytes());
        input.push(b'\n');
    }
    input.extend_from_slice(b"\xff\xfe\n");
    let path = env.write("input", input);
    let ran = crate::common::Ran::of(
        env.command(["debate", "--stdio", "--policy", "arena"])
            .stdin(std::fs::File::open(path).unwrap()),
    )
    .assert_code(5);
    assert_snapshot!(told(&ran.stdout).replace(&"[".repeat(50), "[…"), @r#"
    team-lead: Round 1 complete: findings: 1 (ann 1, codex 0); agreements: 0; rounds held: 3
    team-lead: a line is no message (expected value at line 1 column 1): "ROUND 2 COMPLETE"
    team-lead: a line is no message (EOF while parsing a string at line 1 column 8): "{\"broken"
    team-lead: a line is no message (recursion limit exceeded at line 1 column 128): "[…[[[[[[[[[…"
    team-lead: a line of 34603008 bytes was passed over; at most 33554432 are read
    codex: What codex sent in round 2 could not be read in full: the answer contains no JSON. Please send that again.
    team-lead: a message of codex has no content
    team-lead: nobody takes no part in this debate; its message was ignored
    team-lead: a line is not UTF-8
    team-lead: Round 2 complete: confidence rose for 0, fell for 0, stayed for 1; new agreements: 0; resolved conflicts: 0; new observations: 0; messages stopped before its end; Debate incomplete — what codex sent in round 2 could not be read
    team-lead: Debate consensus: 1 confirmed, 0 dismissed, 0 disputed
    "#);
    assert_eq!(ran.stderr, "");
}

#[test]
fn a_round_ends_when_its_time_is_over() {
    let env = TestEnv::new();
    let mut child = env
        .command(["debate", "--stdio", "--policy", "arena", "--timeout", "1s"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    writeln!(input, "{OPENING}").unwrap();
    let output = BufReader::new(child.stdout.take().unwrap()).lines();
    let sent: Vec<String> = output.take(4).map(Result::unwrap).collect();
    assert_snapshot!(told(&sent.join("\n")), @"
    team-lead: Round 1 complete: findings: 1 (ann 1, codex 0); agreements: 0; rounds held: 3
    team-lead: Round 2 complete: confidence rose for 0, fell for 0, stayed for 1; new agreements: 0; resolved conflicts: 0; new observations: 0; its time was over; codex did not respond
    team-lead: Round 3 complete: confidence rose for 0, fell for 0, stayed for 1; new agreements: 0; resolved conflicts: 0; new observations: 0; its time was over
    team-lead: Debate consensus: 1 confirmed, 0 dismissed, 0 disputed
    ");
    drop(input);
    assert_eq!(child.wait().unwrap().code(), Some(1));
}

#[test]
fn wrong_use_gets_a_sentence() {
    let env = TestEnv::new();
    let mut told = String::new();
    for (args, code) in [
        (&["debate", "--lead", "ann"][..], 2),
        (&["debate", "--stdio", "--timeout", "soon"], 2),
        (&["debate", "--stdio", "--policy", "none"], 4),
    ] {
        told.push_str(&env.run(args).assert_code(code).stderr);
    }
    assert_snapshot!(told, @"
    error: the following required arguments were not provided:
      --stdio

    Usage: tribunal debate --stdio --lead <NAME> --ledger <DIR> [PATHS]...

    For more information, try '--help'.
    error: invalid value 'soon' for '--timeout <DURATION>': give a duration such as `30s`, `5m` or `1h30m`

    For more information, try '--help'.
    Error: There is no policy `none`: neither a preset nor a file
    Hint: The presets are arena and tribunal
    ");
}
