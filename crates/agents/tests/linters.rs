//! Linters run under the supervisor: their reports are the evidence, their exit codes are not.

#[path = "supervisor_common/mod.rs"]
#[expect(dead_code, reason = "each test file uses a part of it")]
mod common;

use std::fs;
use std::time::Duration;

use common::{Place, generous};
use tokio_util::sync::CancellationToken;
use tribunal_agents::command::CommandAgent;
use tribunal_agents::{Agent, AgentError, Call, Limits, Progress, Reply};
use tribunal_core::agent::ErrorClass;
use tribunal_core::money::{Cost, MicroUsd, Usage};
use tribunal_core::reply::{Author, read_tool_output};

const REPORT: &str = r#"[{"filePath": "a.js", "messages": []}]"#;

fn call(place: &Place, limits: Limits) -> Call {
    Call {
        prompt: String::new(),
        ..place.call(limits)
    }
}

async fn run(place: &Place, agent: &CommandAgent) -> Result<Reply, AgentError> {
    let call = call(place, generous());
    let cancel = CancellationToken::new();
    agent.run(call, Progress::default(), cancel).await
}

async fn run_script(script: &str) -> Result<Reply, AgentError> {
    let place = Place::new();
    let script = script.replace("REPORT", REPORT);
    let agent = place.linter(&["/bin/sh", "-c", &script]);
    run(&place, &agent).await
}

/// The same with one finding.
const FOUND: &str = r#"[{"filePath": "a.js", "messages": [{"ruleId": "x", "severity": 2, "message": "m", "line": 1}]}]"#;

#[tokio::test]
async fn an_empty_report_with_a_failing_exit_code_is_no_answer() {
    let sarif =
        r#"{"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "x"}}, "results": []}]}"#;
    for report in ["[]", REPORT, sarif] {
        for code in [1, 2, 101] {
            let script = format!("echo '{report}'; exit {code}");
            let error = run_script(&script).await.expect_err("a contradiction");
            assert_eq!(error.class, ErrorClass::Setup);
            let said = format!("exited with code {code} without saying why. Its report: it has no");
            assert!(error.message.contains(&said), "{}", error.message);
        }
        let reply = run_script(&format!("echo '{report}'")).await;
        assert_eq!(
            reply.map(|reply| reply.text.trim().to_owned()),
            Ok(report.to_owned())
        );
    }
}

#[tokio::test]
async fn a_report_with_findings_counts_whatever_the_exit_code() {
    for code in [0, 1, 101] {
        let script = format!("echo noise >&2; echo '{FOUND}'; exit {code}");
        let reply = run_script(&script).await.expect("a report is an answer");
        assert_eq!(reply.text.trim(), FOUND);
        assert_eq!(reply.cost, Cost::Known(MicroUsd(0)));
        assert_eq!(reply.usage, Usage::default());
    }
}

#[tokio::test]
async fn a_linter_gets_no_prompt_and_no_input() {
    let reply = run_script("cat; echo '[]'").await;
    assert_eq!(reply.map(|reply| reply.text), Ok("[]\n".to_owned()));
    let place = Place::new();
    let agent = place.linter(&["cargo", "clippy"]);
    assert!(!agent.takes_prompt());
    let asked = agent
        .run(
            place.call(generous()),
            Progress::default(),
            CancellationToken::new(),
        )
        .await;
    let error = asked.expect_err("a prompt is refused");
    assert_eq!(error.class, ErrorClass::BadRequest);
    assert_eq!(
        error.message,
        "`clippy` is a tool that reports by itself and takes no prompt; it takes part in reviews."
    );
    assert!(
        !place.run_dir().join("stdout").exists(),
        "nothing was started"
    );
}

#[tokio::test]
async fn without_a_report_the_run_has_failed() {
    for (script, class, said) in [
        ("exit 0", ErrorClass::Empty, "the output is empty"),
        (
            "echo All good",
            ErrorClass::Garbled,
            "its first line is `All good`",
        ),
        (
            "echo '{\"a\": 1}'",
            ErrorClass::Garbled,
            "no format that is known",
        ),
        (
            "printf '[{\"filePath\": \"a.js\"'",
            ErrorClass::Garbled,
            "is cut off",
        ),
        (
            "echo 'error: unknown option --frmat' >&2; exit 2",
            ErrorClass::Setup,
            "The tool exited with code 2: error: unknown option --frmat",
        ),
        (
            "exit 2",
            ErrorClass::Setup,
            "without saying why. Its report: the output is empty.",
        ),
        (
            "echo '[]'; kill -SEGV $$",
            ErrorClass::Crash,
            "died of signal 11",
        ),
    ] {
        let error = run_script(script).await.expect_err(script);
        assert_eq!(error.class, class, "{script}: {}", error.message);
        assert!(error.message.contains(said), "{}", error.message);
        assert_eq!(error.cost, Cost::Known(MicroUsd(0)), "{script}");
    }
}

#[tokio::test]
async fn silence_of_mypy_is_a_report_only_after_a_good_exit() {
    for (script, report) in [
        ("echo", Ok("[]")),
        ("exit 0", Ok("[]")),
        ("exit 1", Err(ErrorClass::Setup)),
        ("echo no such file >&2; exit 2", Err(ErrorClass::Setup)),
        ("echo Success", Err(ErrorClass::Garbled)),
        ("kill -KILL $$", Err(ErrorClass::Crash)),
    ] {
        let place = Place::new();
        let mypy = place.program("mypy", &format!("#!/bin/sh\n{script}\n"));
        let agent = place.linter(&[&mypy, "--output", "json", "."]);
        let reply = run(&place, &agent).await;
        let told = reply.map(|reply| reply.text).map_err(|error| error.class);
        assert_eq!(told, report.map(str::to_owned), "{script}");
        let agent = place.linter(&[&mypy, "."]);
        assert!(run(&place, &agent).await.is_err(), "{script}");
    }
}

#[tokio::test]
async fn a_report_may_be_a_file() {
    let place = Place::new();
    let script = format!("echo scanning; echo '{FOUND}' > \"$1\"; exit 1");
    let agent = place.linter(&["/bin/sh", "-c", &script, "lint", "{output}"]);
    let reply = run(&place, &agent).await.expect("the file is the report");
    assert_eq!(reply.text.trim(), FOUND);
    let recovered = agent.recover(&call(&place, generous())).await;
    assert_eq!(recovered, Some(Ok(reply)));

    let place = Place::new();
    let agent = place.linter(&["/bin/sh", "-c", "echo '[]'", "lint", "{output}"]);
    let error = run(&place, &agent)
        .await
        .expect_err("stdout is not the report");
    assert_eq!(error.class, ErrorClass::Empty);

    let place = Place::new();
    fs::write(place.path("secret"), REPORT).expect("a file can be written");
    let script = format!("ln -s {} \"$1\"", place.path("secret").display());
    let agent = place.linter(&["/bin/sh", "-c", &script, "lint", "{output}"]);
    let error = run(&place, &agent)
        .await
        .expect_err("a link is not followed");
    assert_eq!(error.class, ErrorClass::Empty);
}

#[tokio::test]
async fn limits_hold_for_linters_too() {
    let place = Place::new();
    let agent = place.linter(&["/bin/sh", "-c", "echo '[]'; sleep 60.7"]);
    let limits = Limits {
        wall: Duration::from_millis(700),
        ..generous()
    };
    let cancel = CancellationToken::new();
    let result = agent
        .run(call(&place, limits), Progress::default(), cancel)
        .await;
    assert_eq!(result.map_err(|error| error.class), Err(ErrorClass::Hung));
    assert_eq!(common::processes("sleep 60.7"), Vec::<String>::new());
}

/// Makes a small crate in the working directory, and tells whether cargo can look at it.
#[expect(clippy::print_stderr, reason = "a test that is skipped has to say so")]
fn small_crate(place: &Place, source: &str) -> bool {
    let clippy = std::process::Command::new("cargo")
        .args(["clippy", "--version"])
        .output();
    let there = clippy.is_ok_and(|output| output.status.success());
    if !there {
        assert!(
            std::env::var_os("CI").is_none(),
            "`cargo clippy` is not installed, and CI skips nothing"
        );
        eprintln!("SKIPPED: `cargo clippy` is not installed");
    }
    let manifest =
        "[package]\nname = \"small\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n";
    fs::create_dir_all(place.path("work/src")).expect("a folder can be made");
    fs::write(place.path("work/Cargo.toml"), manifest).expect("a file can be written");
    fs::write(place.path("work/src/lib.rs"), source).expect("a file can be written");
    there
}

fn findings(place: &Place, reply: &Reply) -> Vec<String> {
    let work = place
        .path("work")
        .canonicalize()
        .expect("the folder exists");
    let root = work.to_str().expect("the path is Unicode");
    let found = read_tool_output(reply.text.as_bytes(), Some(root), &Author::default());
    assert!(found.answered, "{:?}", found.problems);
    let findings = found.findings.iter();
    findings
        .map(|one| format!("{} {}", one.location, one.title))
        .collect()
}

const CLIPPY: &[&str] = &["cargo", "clippy", "--offline", "--message-format=json"];

#[tokio::test]
async fn clippy_reviews_a_crate() {
    let place = Place::new();
    if !small_crate(
        &place,
        "/// One.\npub fn one() -> u32 {\n    return 1;\n}\n",
    ) {
        return;
    }
    let agent = place.linter(CLIPPY);
    assert_eq!(agent.profile().family, "tool:clippy");
    let version = agent.version().await.expect("clippy is there");
    assert!(version.is_some_and(|version| version.starts_with("clippy")));
    let reply = run(&place, &agent).await.expect("clippy reports");
    assert_eq!(
        findings(&place, &reply),
        ["src/lib.rs:3 unneeded `return` statement"]
    );
    let warm = run(&place, &agent).await.expect("clippy reports again");
    assert_eq!(findings(&place, &warm), findings(&place, &reply));
}

#[tokio::test]
async fn an_error_of_the_compiler_is_a_finding() {
    let place = Place::new();
    if !small_crate(&place, "/// One.\npub fn one() -> u32 {\n    \"1\"\n}\n") {
        return;
    }
    let reply = run(&place, &place.linter(CLIPPY))
        .await
        .expect("clippy reports");
    assert_eq!(findings(&place, &reply), ["src/lib.rs:3 mismatched types"]);
}

#[tokio::test]
async fn a_directory_without_a_crate_is_a_failure_with_its_reason() {
    let place = Place::new();
    let result = run(&place, &place.linter(CLIPPY)).await;
    let error = result.expect_err("there is nothing to look at");
    assert_eq!(error.class, ErrorClass::Setup);
    assert!(
        error.message.contains("could not find `Cargo.toml`"),
        "{}",
        error.message
    );
}
