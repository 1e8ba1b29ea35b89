//! Recorded outputs of the four agents, and what they mean.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use tribunal_agents::command::{Ended, Exit, read_output};
use tribunal_agents::spec::Cli;
use tribunal_agents::{AgentError, Reply};
use tribunal_core::agent::ErrorClass::{self, *};
use tribunal_core::money::{Cost, MicroUsd, Usage};

const TEXT: &str = "## Review\n\n[MUST] `src/lib.rs:10` – the “query” is built by hand.";

const SESSION: &str = "5d0f7c3e-0000-4000-8000-000000000001";

/// What all answers of the recordings used, unless they took several turns.
const USED: Usage = Usage {
    input: 1200,
    cache_read: 300,
    cache_write: 0,
    output: 85,
};

fn recording(cli: Cli, name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/transcripts")
        .join(cli.as_str())
        .join(format!("{name}.jsonl"));
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {"verdict": {"type": "string"}, "score": {"type": "integer"}},
        "required": ["verdict", "score"],
        "additionalProperties": false,
    })
}

fn exited(code: i32) -> Exit {
    Exit::of("r-1234", Ended::Exited, Some(code))
}

fn read(cli: Cli, mut stdout: &[u8], exit: &Exit) -> Result<Reply, AgentError> {
    read_output(cli, &mut stdout, "", exit, None)
}

fn read_with_schema(cli: Cli, name: &str) -> Result<Reply, AgentError> {
    let bytes = recording(cli, name);
    read_output(cli, &mut &bytes[..], "", &exited(0), Some(&schema()))
}

#[test]
fn answers_are_read_with_usage_cost_and_session() {
    let claude = Reply {
        text: TEXT.to_owned(),
        structured: None,
        usage: Usage {
            cache_write: 100,
            ..USED
        },
        cost: Cost::Known(MicroUsd(5340)),
        session: Some(SESSION.to_owned()),
        model: Some("claude-sonnet-4-5".to_owned()),
        version: Some("2.1.325".to_owned()),
    };
    let codex = Reply {
        usage: USED,
        cost: Cost::Unknown,
        model: None,
        version: None,
        ..claude.clone()
    };
    let gemini = Reply {
        model: Some("gemini-2.5-pro".to_owned()),
        ..codex.clone()
    };
    let opencode = Reply {
        session: Some("ses_0001".to_owned()),
        ..codex.clone()
    };
    let twice = Reply {
        usage: USED + USED,
        ..opencode.clone()
    };
    let priced = Reply {
        cost: Cost::Known(MicroUsd(1370)),
        ..opencode.clone()
    };
    for (cli, name, reply) in [
        (Cli::Claude, "success", &claude),
        (Cli::Claude, "tool_loop", &claude),
        (Cli::Claude, "unknown_events", &claude),
        (Cli::Codex, "success", &codex),
        (Cli::Codex, "tool_loop", &codex),
        (Cli::Codex, "unknown_events", &codex),
        (Cli::Codex, "reconnected", &codex),
        (Cli::Gemini, "success", &gemini),
        (Cli::Gemini, "tool_loop", &gemini),
        (Cli::Gemini, "unknown_events", &gemini),
        (Cli::Opencode, "success", &priced),
        (Cli::Opencode, "tool_loop", &twice),
        (Cli::Opencode, "unknown_events", &opencode),
    ] {
        let read = read(cli, &recording(cli, name), &exited(0));
        assert_eq!(read.as_ref(), Ok(reply), "{cli:?} {name}");
    }
}

#[test]
fn failures_have_their_class() {
    let cases: &[(Cli, &str, i32, ErrorClass)] = &[
        (Cli::Claude, "s401", 1, Auth),
        (Cli::Claude, "s429", 1, RateLimited),
        (Cli::Claude, "s529", 1, Overloaded),
        (Cli::Claude, "credit", 1, Credit),
        (Cli::Claude, "usage_limit", 1, RateLimited),
        (Cli::Claude, "too_long", 1, ContextTooLong),
        (Cli::Claude, "refusal", 1, Refused),
        (Cli::Claude, "cut_stream", 1, Network),
        (Cli::Claude, "max_tokens", 1, Truncated),
        (Cli::Claude, "empty", 0, Empty),
        (Cli::Claude, "denied", 0, PermissionDenied),
        (Cli::Claude, "max_turns", 1, Limit),
        (Cli::Claude, "no_flag", 0, Garbled),
        // Whatever the exit code says, the flag counts.
        (Cli::Claude, "s401", 0, Auth),
        // And whatever the result says, a bad exit is no success.
        (Cli::Claude, "success", 1, Crash),
        (Cli::Codex, "s400", 1, BadRequest),
        (Cli::Codex, "s401", 1, Auth),
        (Cli::Codex, "s429", 1, RateLimited),
        (Cli::Codex, "s500", 1, Overloaded),
        (Cli::Codex, "s529", 1, Overloaded),
        (Cli::Codex, "credit", 1, Credit),
        (Cli::Codex, "usage_limit", 1, RateLimited),
        (Cli::Codex, "too_long", 1, ContextTooLong),
        (Cli::Codex, "cut_stream", 1, Network),
        (Cli::Codex, "incomplete", 1, Truncated),
        (Cli::Codex, "filtered", 1, Refused),
        (Cli::Codex, "no_key", 1, Auth),
        (Cli::Codex, "empty", 0, Empty),
        (Cli::Codex, "silent", 0, Empty),
        (Cli::Codex, "cut", 0, Truncated),
        (Cli::Gemini, "s400_key", 144, Auth),
        (Cli::Gemini, "s401", 145, Auth),
        (Cli::Gemini, "s404", 1, BadRequest),
        (Cli::Gemini, "s413", 157, ContextTooLong),
        (Cli::Gemini, "s429", 173, RateLimited),
        (Cli::Gemini, "daily_quota", 173, Credit),
        (Cli::Gemini, "s500", 244, Server),
        (Cli::Gemini, "s529", 17, Overloaded),
        (Cli::Gemini, "cut_stream", 1, Network),
        (Cli::Gemini, "malformed", 1, Garbled),
        (Cli::Gemini, "empty", 0, Empty),
        (Cli::Gemini, "no_finish", 0, Truncated),
        (Cli::Gemini, "blank", 0, Empty),
        (Cli::Gemini, "odd_status", 0, Garbled),
        (Cli::Opencode, "s401", 1, Auth),
        (Cli::Opencode, "s429", 1, RateLimited),
        (Cli::Opencode, "credit", 1, Credit),
        (Cli::Opencode, "s529", 1, Overloaded),
        (Cli::Opencode, "too_long", 1, ContextTooLong),
        (Cli::Opencode, "broken_event", 1, Garbled),
        (Cli::Opencode, "timed_out", 1, Hung),
        (Cli::Opencode, "length", 0, Truncated),
        (Cli::Opencode, "filtered", 0, Refused),
        (Cli::Opencode, "empty", 0, Empty),
        (Cli::Opencode, "denied", 0, Truncated),
        (Cli::Opencode, "cut", 0, Truncated),
    ];
    for (cli, name, code, class) in cases {
        let error = read(*cli, &recording(*cli, name), &exited(*code)).unwrap_err();
        assert_eq!(error.class, *class, "{cli:?} {name}: {}", error.message);
        assert!(!error.message.contains('\n'), "{}", error.message);
    }
}

#[test]
fn messages_name_the_program_and_what_it_said() {
    for (cli, name, code, message) in [
        (
            Cli::Claude,
            "s401",
            1,
            "Claude Code reports status 401: Invalid API key · Fix external API key",
        ),
        (
            Cli::Claude,
            "success",
            1,
            "Claude Code gave an answer but then exited with code 1.",
        ),
        (
            Cli::Codex,
            "s400",
            1,
            "Codex reports: Invalid value for 'input'",
        ),
        (
            Cli::Gemini,
            "s400_key",
            144,
            "Gemini CLI reports status 400: API key not valid. Please pass a valid API key.",
        ),
        (
            Cli::Opencode,
            "s429",
            1,
            "opencode reports status 429: rate limited",
        ),
    ] {
        let error = read(cli, &recording(cli, name), &exited(code)).unwrap_err();
        assert_eq!(error.message, message);
    }
}

#[test]
fn waits_and_spending_of_failures_are_kept() {
    let error = |cli, name: &str| read(cli, &recording(cli, name), &exited(1)).unwrap_err();
    let wait = |cli, name: &str| error(cli, name).retry_after;
    assert_eq!(wait(Cli::Gemini, "s429"), Some(Duration::from_secs(7)));
    assert_eq!(wait(Cli::Opencode, "s429"), Some(Duration::from_secs(7)));
    assert_eq!(
        wait(Cli::Codex, "usage_limit"),
        Some(Duration::from_secs(76 * 3600))
    );
    assert_eq!(wait(Cli::Claude, "s401"), None);
    let cut = error(Cli::Claude, "cut_stream");
    assert_eq!(
        (cut.usage.input, cut.cost),
        (1200, Cost::Known(MicroUsd(5340)))
    );
}

#[test]
fn structured_answers_must_follow_the_schema() {
    let value = json!({"verdict": "fake", "score": 1});
    for cli in [Cli::Claude, Cli::Codex] {
        let reply = read_with_schema(cli, "schema").unwrap();
        assert_eq!(reply.structured, Some(value.clone()), "{cli:?}");
        assert_eq!(reply.text, value.to_string(), "{cli:?}");
    }
    for (cli, name) in [
        (Cli::Claude, "schema_missing"),
        (Cli::Claude, "schema_broken"),
        (Cli::Codex, "schema_broken"),
        (Cli::Codex, "schema_prose"),
    ] {
        let error = read_with_schema(cli, name).unwrap_err();
        assert_eq!(error.class, Garbled, "{cli:?} {name}: {}", error.message);
        assert!(error.message.contains("does not follow the schema"));
    }
}

#[test]
fn a_cut_output_is_never_a_success() {
    for cli in Cli::KNOWN {
        for name in ["success", "tool_loop"] {
            let whole = recording(cli, name);
            for length in 0..whole.len() {
                for code in [0, 1] {
                    let result = read(cli, &whole[..length], &exited(code));
                    assert!(result.is_err(), "{cli:?} {name} cut at {length}");
                }
            }
        }
    }
}

#[test]
fn order_of_keys_and_size_of_pieces_do_not_matter() {
    for cli in Cli::KNOWN {
        let whole = recording(cli, "success");
        let expected = read(cli, &whole, &exited(0)).unwrap();
        let reversed: String = std::str::from_utf8(&whole)
            .unwrap()
            .lines()
            .map(|line| {
                let object: serde_json::Map<String, Value> = serde_json::from_str(line).unwrap();
                let backwards: serde_json::Map<_, _> = object.into_iter().rev().collect();
                format!("{}\r\n", Value::Object(backwards))
            })
            .collect();
        assert_eq!(
            read(cli, reversed.as_bytes(), &exited(0)),
            Ok(expected.clone())
        );
        let mut slow = Bytewise(&whole);
        let read = read_output(cli, &mut slow, "", &exited(0), None);
        assert_eq!(read, Ok(expected));
    }
}

struct Bytewise<'a>(&'a [u8]);

impl std::io::Read for Bytewise<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let Some((first, rest)) = self.0.split_first() else {
            return Ok(0);
        };
        buffer[0] = *first;
        self.0 = rest;
        Ok(1)
    }
}

#[test]
fn output_in_an_unknown_format_is_named_so() {
    for cli in Cli::KNOWN {
        for (output, class) in [
            ("Here is my review in plain words.\n", Garbled),
            ("{\"type\":\"answer\",\"text\":\"fine\"}\n", Garbled),
            ("{\"kind\":\"result\"}\n", Garbled),
            ("", Empty),
            (" \n\n", Empty),
        ] {
            let error = read(cli, output.as_bytes(), &exited(0)).unwrap_err();
            assert_eq!(error.class, class, "{cli:?} {output:?}: {}", error.message);
            if class == Garbled {
                assert!(
                    error.message.contains("unknown format"),
                    "{}",
                    error.message
                );
            }
        }
    }
}

#[test]
fn the_way_a_run_ended_counts() {
    let success = |cli| recording(cli, "success");
    for cli in Cli::KNOWN {
        let half = &success(cli)[..40];
        for (ended, with_result, without) in [
            (Ended::AfterResult, None, Hung),
            (Ended::Wall, None, Hung),
            (Ended::Idle, None, Hung),
            (Ended::ParentGone, None, Cancelled),
            (Ended::FirstByte, None, Hung),
            (Ended::OutputCap, Some(Limit), Limit),
            (Ended::Cancelled, Some(Cancelled), Cancelled),
        ] {
            let exit = Exit {
                signal: Some(15),
                ..Exit::of("r-1234", ended.clone(), None)
            };
            let class = |output: &[u8]| read(cli, output, &exit).err().map(|error| error.class);
            assert_eq!(class(&success(cli)), with_result, "{cli:?} {ended:?}");
            assert_eq!(class(half), Some(without), "{cli:?} {ended:?}");
        }
        let reason = "No such file or directory".to_owned();
        let exit = Exit::of("r-1234", Ended::SpawnFailed { reason }, Some(127));
        assert_eq!(read(cli, b"", &exit).unwrap_err().class, Setup);
        let exit = Exit {
            signal: Some(11),
            ..Exit::of("r-1234", Ended::Exited, None)
        };
        assert_eq!(read(cli, b"", &exit).unwrap_err().class, Crash);
    }
}

#[test]
fn stderr_explains_a_bad_start() {
    for (cli, code, stderr, class) in [
        (Cli::Claude, 1, "error: unknown option '--bear'", Setup),
        (
            Cli::Codex,
            2,
            "error: unexpected argument '--jsno' found",
            Setup,
        ),
        (Cli::Claude, 1, "segmentation fault", Crash),
        (Cli::Gemini, 41, "Please set an Auth method", Auth),
        (Cli::Gemini, 55, "This folder is not trusted", Setup),
        (Cli::Gemini, 53, "Reached max session turns", Limit),
        (
            Cli::Gemini,
            145,
            "trace\n{\"session_id\":\"s\",\"error\":{\"message\":\"bad credentials\",\"code\":401}}",
            Auth,
        ),
        (
            Cli::Opencode,
            0,
            "permission requested: bash; auto-rejecting",
            PermissionDenied,
        ),
    ] {
        let error = read_output(cli, &mut &b""[..], stderr, &exited(code), None).unwrap_err();
        assert_eq!(error.class, class, "{stderr}: {}", error.message);
    }
}

#[test]
fn a_line_without_end_does_not_fill_the_memory() {
    let mut flood = std::io::Read::take(std::io::repeat(b'x'), 64 * 1024 * 1024);
    let error = read_output(Cli::Claude, &mut flood, "", &exited(0), None).unwrap_err();
    assert_eq!(error.class, Garbled, "{}", error.message);
    let mut flood = std::io::Read::take(std::io::repeat(b'x'), 64 * 1024 * 1024);
    let error = read_output(Cli::Custom, &mut flood, "", &exited(0), None).unwrap_err();
    assert_eq!(error.class, Limit, "{}", error.message);
}

#[test]
fn plain_programs_answer_with_their_whole_output() {
    let read = |output: &[u8], code| {
        let read = read(Cli::Custom, output, &exited(code));
        read.map(|reply| reply.text).map_err(|error| error.class)
    };
    for (output, code, expected) in [
        (&b"fine\n"[..], 0, Ok("fine")),
        (b"\xef\xbb\xbffine", 0, Ok("fine")),
        (b"fine", 1, Err(Crash)),
        (b"", 0, Err(Empty)),
        (b" \n ", 0, Err(Empty)),
        (b"caf\xe9", 0, Err(Garbled)),
        (b"\xff\xfef\0i\0", 0, Err(Garbled)),
        (b"f\0i", 0, Err(Garbled)),
        (
            br#"{"type":"result","is_error":true,"result":"Invalid API key"}"#,
            0,
            Err(Auth),
        ),
        (
            br#"{"type":"result","is_error":true,"result":"odd"}"#,
            0,
            Err(Crash),
        ),
        (
            br#"{"type":"result","is_error":false}"#,
            0,
            Ok(r#"{"type":"result","is_error":false}"#),
        ),
    ] {
        assert_eq!(read(output, code), expected.map(str::to_owned));
    }
}
