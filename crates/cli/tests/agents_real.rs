//! Every agent people use, against a model server that behaves and misbehaves: the four installed
//! programs and the four HTTP APIs. Our result and what the server saw are both asserted.
//!
//! Runs where only loopback exists. The programs come from `tests/agents`.

#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot set its scene has failed"
)]

mod common;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use common::{Ran, TestEnv};
use tribunal_fakes::model::FakeModel;

/// Ends every run; within three seconds after it all must be gone.
const WALL: Duration = Duration::from_secs(40);

/// An agent under test.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Subject {
    Claude,
    Codex,
    Gemini,
    Opencode,
    Anthropic,
    Responses,
    Chat,
    GeminiApi,
}

use Subject::{Anthropic, Chat, Claude, Codex, Gemini, GeminiApi, Opencode, Responses};

impl Subject {
    fn provider(self) -> &'static str {
        match self {
            Claude => "claude",
            Codex => "codex",
            Gemini => "gemini",
            Opencode => "opencode",
            Anthropic => "anthropic",
            Responses => "openai_responses",
            Chat => "openai_chat",
            GeminiApi => "gemini_api",
        }
    }

    fn model(self) -> &'static str {
        match self {
            Claude | Anthropic => "claude-sonnet-4-5",
            Codex | Responses | Chat => "gpt-5.5",
            Gemini | GeminiApi => "gemini-2.5-pro",
            Opencode => "m1",
        }
    }

    fn is_program(self) -> bool {
        matches!(self, Claude | Codex | Gemini | Opencode)
    }

    /// How a run ends when the server behaves like `scenario`, and how many requests it makes at most.
    ///
    /// Measured. We keep the programs from trying again themselves as far as they let us: Claude Code
    /// asks once more when a stream is cut or the answer is empty or none, opencode again and again when it is none,
    /// until we end it. A cut stream shows in opencode only by its second request, which may be out before we end it.
    fn ends(self, scenario: &str) -> Ends {
        let (class, requests) = match (scenario, self) {
            ("s401", _) => ("auth", 1),
            ("s429_long", _) => ("rate_limited", 1),
            ("s529", _) => ("overloaded", 1),
            ("hang" | "hang_mid", _) => ("hung", 1),
            ("cut", Claude | Opencode) => ("network", 2),
            ("cut", _) => ("network", 1),
            ("notext", Claude) => ("empty", 2),
            ("notext", _) => ("empty", 1),
            ("malformed", Claude) => ("garbled", 2),
            ("malformed", Opencode) => ("empty", 4),
            ("malformed", _) => ("garbled", 1),
            _ => panic!("nobody has measured {self:?} in {scenario}"),
        };
        Ends { class, requests }
    }

    /// Tokens of a good answer by the fake's accounting: fresh, from the cache, to the cache, out.
    fn usage(self) -> [u64; 4] {
        match self {
            Claude | Anthropic => [1200, 300, 100, 85],
            _ => [1200, 300, 0, 85],
        }
    }
}

/// The end of a run without an answer.
#[derive(Debug, PartialEq, Eq)]
struct Ends {
    class: &'static str,
    requests: usize,
}

/// Where the installed programs are.
fn programs() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .unwrap();
    let programs = root.join("tests/agents/node_modules/.bin");
    assert!(programs.is_dir(), "run scripts/install-agents first");
    programs
}

/// One question to one agent in one scenario.
struct Scene {
    env: TestEnv,
    model: FakeModel,
}

impl Scene {
    fn new(subject: Subject, scenario: &str, limits: &str, retry: &str) -> Self {
        let model = FakeModel::spawn_blocking();
        let mut env = TestEnv::new();
        env.set_env("CANARY", "canary-secret-value")
            .set_env("SUBJECT_KEY", "key-canary-4711");
        let how = if subject.is_program() {
            let program = programs().join(subject.provider());
            format!(
                "provider: {}\n    command: [{:?}]",
                subject.provider(),
                program.display().to_string()
            )
        } else {
            format!("provider: {}", subject.provider())
        };
        // Each dialect adds its own version path, as the vendors' default addresses do.
        let base = model.base_url(scenario, "k");
        env.write_user_config(&format!(
            "agents:\n  - name: subject\n    {how}\n    model: {}\n    base_url: {base}\n    api_key_env: SUBJECT_KEY\n    role: [reviewer, coder]\n    limits: {limits}\nretry: {retry}\n",
            subject.model(),
        ));
        Self { env, model }
    }

    fn ask(&self, more: &[&str]) -> (Ran, Duration) {
        let clock = Instant::now();
        let args = [
            "ask",
            "subject",
            "Review this change in one word.",
            "--json",
        ];
        let ran = self.env.run(args.iter().chain(more));
        (ran, clock.elapsed())
    }

    fn requests(&self) -> usize {
        self.model.requests("k").len()
    }

    /// Panics if more requests were made than we allow.
    fn assert_requests(&self, most: usize, what: &str) {
        let made = self.requests();
        assert!(made <= most, "{what}: {made} requests, {most} allowed");
    }

    /// Nothing of a run may be left, no secret may have gone astray.
    fn assert_clean(&self, what: &str) {
        self.env.assert_no_survivor(what);
        self.env.assert_healthy();
        assert_no_secret(&self.env.ledger(), what);
        for request in self.model.requests("k") {
            let text = format!("{request:?}");
            assert!(
                !text.contains("canary-secret-value"),
                "{what}: the canary reached the model"
            );
        }
    }
}

fn assert_no_secret(dir: &Path, what: &str) {
    for entry in std::fs::read_dir(dir).unwrap().flatten() {
        let path = entry.path();
        if entry.file_type().unwrap().is_dir() {
            assert_no_secret(&path, what);
        } else if entry.file_type().unwrap().is_file() {
            let bytes = std::fs::read(&path).unwrap_or_default();
            for secret in ["key-canary-4711", "canary-secret-value"] {
                let found = bytes
                    .windows(secret.len())
                    .any(|window| window == secret.as_bytes());
                assert!(!found, "{what}: {secret} in {}", path.display());
            }
        }
    }
}

const LIMITS: &str = "{first_byte: 25s, idle: 20s, wall: 40s, after_result: 3s}";
const NO_RETRY: &str = "{attempts: 1}";

/// A scenario must end without an answer, as it was measured, within the limits.
fn fails(subject: Subject, scenario: &str) {
    fails_within(subject, scenario, LIMITS, WALL);
}

fn fails_within(subject: Subject, scenario: &str, limits: &str, wall: Duration) {
    let scene = Scene::new(subject, scenario, limits, NO_RETRY);
    let (ran, elapsed) = scene.ask(&[]);
    let (code, class) = class_of(&ran);
    let what = format!("{subject:?} {scenario}: {ran:?}");
    let Ends {
        class: expected,
        requests,
    } = subject.ends(scenario);
    // Codex watches for silence as long as we do; whoever notices first has the word.
    let own_word = (subject, scenario, class.as_str()) == (Codex, "hang_mid", "network");
    assert!(class == expected || own_word, "{what}");
    assert!(matches!(code, 5 | 7), "{what}");
    scene.assert_requests(requests, &what);
    let most = wall + Duration::from_secs(60);
    assert!(elapsed < most, "{what}: took {elapsed:?}");
    scene.assert_clean(&what);
}

/// Returns the exit code and the class of the failure, wherever the result carries it.
fn class_of(ran: &Ran) -> (i32, String) {
    let json = ran.json();
    let found = [
        &json["answers"][0]["error"]["class"],
        &json["state"]["why"]["class"],
        &json["state"]["class"],
    ];
    let class = found
        .into_iter()
        .find_map(|value| value.as_str())
        .unwrap_or("none");
    (ran.code.unwrap_or(-1), class.to_owned())
}

fn answers(subject: Subject) {
    let scene = Scene::new(subject, "ok", LIMITS, NO_RETRY);
    let (ran, _) = scene.ask(&[]);
    let what = format!("{subject:?} ok: {ran:?}");
    assert_eq!(ran.code, Some(0), "{what}");
    let answer = &ran.json()["answers"][0];
    assert!(
        !answer["text"].as_str().unwrap().trim().is_empty(),
        "{what}"
    );
    let usage = &answer["usage"];
    let parts =
        ["input", "cache_read", "cache_write", "output"].map(|part| usage[part].as_u64().unwrap());
    assert_eq!(parts, subject.usage(), "{what}");
    assert_eq!(scene.requests(), 1, "{what}");
    scene.assert_clean(&what);
}

/// A short Retry-After is waited out, and the second run answers.
fn waits_out_a_short_pause(subject: Subject) {
    let retry = "{attempts: 3, base: 200ms, patience: 20s}";
    let scene = Scene::new(subject, "flaky429", LIMITS, retry);
    let (ran, _) = scene.ask(&[]);
    assert_eq!(ran.code, Some(0), "{subject:?} flaky429: {ran:?}");
    scene.assert_requests(3, &format!("{subject:?} flaky429: {ran:?}"));
    scene.assert_clean("flaky429");
}

/// An hour is not waited for: the provider is parked at once and the case can be resumed.
fn parks_for_a_long_pause(subject: Subject) {
    let retry = "{attempts: 3, base: 200ms, patience: 5s}";
    let scene = Scene::new(subject, "s429_long", LIMITS, retry);
    let (ran, elapsed) = scene.ask(&[]);
    let what = format!("{subject:?} s429_long: {ran:?}");
    let (code, class) = class_of(&ran);
    let Ends {
        class: expected,
        requests,
    } = subject.ends("s429_long");
    assert_eq!((code, class.as_str()), (7, expected), "{what}");
    // Claude Code and Codex do not say how long to wait: we try as often as we may, then park.
    scene.assert_requests(3 * requests, &what);
    // Every run may take its whole limit, and starting such a program takes long on a busy machine.
    let most = 3 * WALL + Duration::from_secs(60);
    assert!(elapsed < most, "{what}: took {elapsed:?}");
    scene.assert_clean(&what);
}

/// A silent server meets the limits on the first byte or on silence.
fn ends_on_silence(subject: Subject, scenario: &str) {
    let limits = "{first_byte: 12s, idle: 6s, wall: 14s, after_result: 3s}";
    fails_within(subject, scenario, limits, Duration::from_secs(14));
}

/// A shell tool leaves a child in a session of its own behind; it is gone with the run.
fn leaves_no_tool_child(subject: Subject) {
    let limits = "{first_byte: 25s, idle: 12s, wall: 18s, after_result: 3s}";
    let scene = Scene::new(subject, "shell_tool", limits, NO_RETRY);
    let work = scene.env.project().join("work");
    std::fs::create_dir(&work).unwrap();
    let (ran, elapsed) = scene.ask(&["--dir", "work", "--write", "--role", "coder"]);
    let what = format!("{subject:?} shell_tool: {ran:?}");
    // Codex lets a command go on in the background and answers; the others wait for it in vain.
    assert_eq!(ran.code == Some(0), subject == Codex, "{what}");
    assert!(
        elapsed < Duration::from_secs(18 + 60),
        "{what}: took {elapsed:?}"
    );
    // One that asks for the tool, and with Codex one with its result.
    scene.assert_requests(if subject == Codex { 2 } else { 1 }, &what);
    assert!(
        scene.requests() >= 1,
        "{what}: the tool was never asked for"
    );
    scene.assert_clean(&what);
}

macro_rules! subjects {
    ($($subject:ident: $module:ident,)*) => {
        $(mod $module {
            use super::*;

            #[test]
            fn good_answer() {
                answers($subject);
            }

            #[test]
            fn unauthorized() {
                fails($subject, "s401");
            }

            #[test]
            fn rate_limited_shortly() {
                waits_out_a_short_pause($subject);
            }

            #[test]
            fn rate_limited_for_an_hour() {
                parks_for_a_long_pause($subject);
            }

            #[test]
            fn overloaded() {
                fails($subject, "s529");
            }

            #[test]
            fn cut_stream() {
                fails($subject, "cut");
            }

            #[test]
            fn silent_server() {
                ends_on_silence($subject, "hang");
            }

            #[test]
            fn stream_that_stalls() {
                ends_on_silence($subject, "hang_mid");
            }

            #[test]
            fn empty_answer() {
                fails($subject, "notext");
            }

            #[test]
            fn malformed_answer() {
                fails($subject, "malformed");
            }
        })*
    };
}

subjects! {
    Claude: claude,
    Codex: codex,
    Gemini: gemini,
    Opencode: opencode,
    Anthropic: anthropic,
    Responses: responses,
    Chat: chat,
    GeminiApi: gemini_api,
}

#[test]
fn claude_leaves_no_child_of_its_shell() {
    leaves_no_tool_child(Claude);
}

#[test]
fn codex_leaves_no_child_of_its_shell() {
    leaves_no_tool_child(Codex);
}

#[test]
fn gemini_leaves_no_child_of_its_shell() {
    leaves_no_tool_child(Gemini);
}

#[test]
fn opencode_leaves_no_child_of_its_shell() {
    leaves_no_tool_child(Opencode);
}
