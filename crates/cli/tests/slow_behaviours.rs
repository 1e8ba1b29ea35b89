//! Programs that misbehave in every way we know of, in every role: never a wrong success, never a
//! survivor, always an end within the limit.

#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot set its scene has failed"
)]

mod common;

use std::time::{Duration, Instant};

use common::{Ran, TestEnv, fake, peak_memory};

/// What `ask` must make of a behaviour.
enum Expected {
    /// This answer.
    Answer(&'static str),
    /// No answer, and one of these classes.
    Failure(&'static [&'static str]),
}

use Expected::{Answer, Failure};

const LIMITS: &str = "{first_byte: 2s, idle: 2s, wall: 6s, after_result: 1s, output: 1MiB}";

const ROLES: [&str; 5] = ["coder", "reviewer", "judge", "arbiter", "contestant"];

/// A project with one agent that starts the fake with `args`, speaking `provider`'s format.
fn scene(provider: &str, args: &[&str]) -> TestEnv {
    scene_with(provider, args, LIMITS)
}

fn scene_with(provider: &str, args: &[&str], limits: &str) -> TestEnv {
    let env = TestEnv::new();
    let program = fake("fake-agent").display().to_string();
    let words: Vec<_> = std::iter::once(program.as_str())
        .chain(args.iter().copied())
        .map(|w| format!("{w:?}"))
        .collect();
    env.write_user_config(&format!(
        "agents:\n  - name: subject\n    provider: {provider}\n    command: [{}]\n    role: [coder, reviewer, judge, arbiter, contestant]\n    limits: {limits}\nretry: {{attempts: 1}}\n",
        words.join(", "),
    ));
    env
}

fn check(name: &str, provider: &str, args: &[&str], expected: &Expected) {
    for role in ROLES {
        let env = scene(provider, args);
        let clock = Instant::now();
        let ran = env.run(["ask", "subject", "Say something", "--role", role, "--json"]);
        let elapsed = clock.elapsed();
        let what = format!("{name} as {role}: {ran:?}");
        assert!(
            elapsed < Duration::from_secs(6 + 3),
            "{what}: took {elapsed:?}"
        );
        match expected {
            Answer(text) => {
                assert_eq!(ran.code, Some(0), "{what}");
                let answer = ran.json()["answers"][0]["text"]
                    .as_str()
                    .unwrap()
                    .to_owned();
                assert_eq!(answer.trim(), *text, "{what}");
            }
            Failure(classes) => {
                assert_eq!(ran.code, Some(5), "{what}");
                let class = ran.json()["answers"][0]["error"]["class"]
                    .as_str()
                    .unwrap()
                    .to_owned();
                assert!(classes.contains(&class.as_str()), "{what}");
            }
        }
        env.assert_no_survivor(&what);
        env.assert_healthy();
    }
}

macro_rules! behaviours {
    ($($test:ident: $provider:literal, $args:expr, $expected:expr;)*) => {
        $(#[test]
        fn $test() {
            check(stringify!($test), $provider, &$args, &$expected);
        })*
    };
}

behaviours! {
    b02_silent_for_ever: "custom", ["--behave", "silent"], Failure(&["hung"]);
    b03_spaces_for_ever: "custom", ["--behave", "spaces"], Failure(&["hung"]);
    b04_reads_stdin_to_its_end: "custom", ["--behave", "read-stdin", "--reply", "heard"], Answer("heard");
    b05_result_then_never_exits: "claude", ["--behave", "no-exit", "--dialect", "claude", "--reply", "done"], Answer("done");
    b05_text_then_never_exits: "custom", ["--behave", "no-exit", "--reply", "done"], Failure(&["hung"]);
    b06_exit_0_and_empty: "custom", ["--behave", "empty"], Failure(&["empty"]);
    b06_exit_0_and_empty_from_a_known_program: "codex", ["--behave", "empty", "--dialect", "codex"], Failure(&["empty", "truncated", "garbled", "crash"]);
    b07_exit_0_with_an_error_flag: "custom", ["--behave", "error-flag"], Failure(&["crash", "garbled", "server"]);
    b07_exit_0_with_an_error_flag_from_claude: "claude", ["--behave", "error-flag", "--dialect", "claude"], Failure(&["crash", "server", "garbled", "overloaded", "rate_limited"]);
    b08_valid_result_and_exit_1: "custom", ["--behave", "ok-exit1"], Failure(&["crash"]);
    b08_valid_result_and_exit_1_from_claude: "claude", ["--behave", "ok-exit1", "--dialect", "claude"], Failure(&["crash"]);
    b09_a_gigabyte_fast: "custom", ["--behave", "flood"], Failure(&["limit"]);
    b10_a_gigabyte_on_one_line: "codex", ["--behave", "flood-line"], Failure(&["limit", "garbled"]);
    b11_a_flood_on_stderr: "custom", ["--behave", "flood-stderr"], Failure(&["limit"]);
    b12_cut_at_65536_bytes: "claude", ["--behave", "cut64k", "--dialect", "claude"], Failure(&["truncated", "garbled"]);
    b13_ignores_term: "custom", ["--behave", "ignore-term"], Failure(&["hung"]);
    b14_children_in_the_group: "custom", ["--behave", "children", "--reply", "done"], Answer("done");
    b15_orphan_in_a_session_of_its_own: "custom", ["--behave", "orphan", "--reply", "done"], Answer("done");
    b17_invalid_utf8: "custom", ["--behave", "bad-utf8"], Failure(&["garbled"]);
    b17_utf16: "custom", ["--behave", "utf16"], Failure(&["garbled"]);
    b17_nul: "custom", ["--behave", "nul"], Failure(&["garbled"]);
    b17_byte_order_mark: "custom", ["--behave", "bom", "--reply", "marked"], Answer("marked");
    crash: "custom", ["--behave", "crash"], Failure(&["crash"]);
}

#[test]
fn b01_not_found_and_not_executable() {
    let env = TestEnv::new();
    let plain = env.write("plain.txt", "not a program");
    let all = ROLES.join(", ");
    env.write_user_config(&format!(
        "agents:\n  - {{name: missing, command: [/nowhere/agent], role: [{all}]}}\n  - {{name: plain, command: [{:?}], role: [{all}]}}\n",
        plain.display().to_string()
    ));
    for role in ROLES {
        for agent in ["missing", "plain"] {
            let ran = env.run(["ask", agent, "Hello", "--role", role, "--json"]);
            let what = format!("{agent} as {role}: {ran:?}");
            assert_eq!(ran.code, Some(5), "{what}");
            assert_eq!(
                ran.json()["answers"][0]["error"]["class"],
                "setup",
                "{what}"
            );
            env.assert_no_survivor(&what);
        }
    }
    env.assert_healthy();
}

#[test]
fn b16_a_prompt_longer_than_an_argument_may_be() {
    let env = scene("custom", &["--behave", "big-prompt"]);
    let prompt = "0123456789abcdef".repeat(20_000);
    for role in ROLES {
        let args = ["ask", "subject", "-", "--role", role, "--json"];
        let ran = env.run_with_input(args, &prompt);
        let what = format!("as {role}: {ran:?}");
        assert_eq!(ran.code, Some(0), "{what}");
        let json = ran.json();
        let text = json["answers"][0]["text"].as_str().unwrap();
        assert!(text.contains("320000"), "{what}");
        env.assert_no_survivor(&what);
    }
    env.assert_healthy();
}

/// With the ordinary limits a gigabyte is cut at 64 MiB; neither memory nor disk follows it.
#[test]
fn a_flood_leaves_memory_and_disk_bounded() {
    for (provider, behave) in [
        ("custom", "flood"),
        ("codex", "flood-line"),
        ("custom", "flood-stderr"),
    ] {
        let env = scene_with(provider, &["--behave", behave], "{}");
        let mut child = env.command(["ask", "subject", "x", "-q"]).spawn().unwrap();
        let mut peak = 0;
        let status = loop {
            peak = peak.max(peak_memory(child.id()).unwrap_or(0));
            if let Some(status) = child.try_wait().unwrap() {
                break status;
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        assert_eq!(status.code(), Some(5), "{behave}");
        assert!(peak > 0 && peak < 150_000, "{behave}: {peak} kB of memory");
        let bytes: u64 = sizes(&env.ledger()).into_iter().sum();
        assert!(
            bytes < 80 * 1024 * 1024,
            "{behave}: {bytes} bytes are left in the ledger"
        );
    }
}

fn sizes(dir: &std::path::Path) -> Vec<u64> {
    let size = |entry: std::fs::DirEntry| {
        let data = entry.metadata().unwrap();
        if data.is_dir() {
            sizes(&entry.path())
        } else {
            vec![data.len()]
        }
    };
    std::fs::read_dir(dir)
        .unwrap()
        .flatten()
        .flat_map(size)
        .collect()
}

/// A stop signal ends the case within seconds, whatever the program does, and it can be resumed. The
/// first Ctrl-C lets the program finish, so there it takes another one.
#[test]
fn every_stop_signal_ends_a_run_that_ignores_it() {
    for signal in ["-INT", "-TERM", "-HUP"] {
        let env = scene_with("custom", &["--behave", "ignore-term"], "{}");
        let mut child = env.command(["ask", "subject", "x", "-q"]).spawn().unwrap();
        while env.run(["log", "--json"]).json()["cases"][0]["spend"]["runs"] != 1 {
            std::thread::sleep(Duration::from_millis(20));
        }
        let clock = Instant::now();
        let send = |child: &std::process::Child| {
            Ran::of(std::process::Command::new("kill").args([signal, &child.id().to_string()]));
        };
        send(&child);
        while signal == "-INT" && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(200));
            send(&child);
        }
        let status = child.wait().unwrap();
        assert_eq!(status.code(), Some(130), "{signal}");
        assert!(
            clock.elapsed() < Duration::from_secs(10),
            "{signal}: {:?}",
            clock.elapsed()
        );
        env.assert_no_survivor(signal);
        env.assert_healthy();
        let log = env.run(["log", "--json"]).json();
        assert_eq!(
            log["cases"][0]["state"]["why"]["reason"], "interrupted",
            "{log:#}"
        );
    }
}
