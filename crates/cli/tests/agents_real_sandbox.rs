//! The four agent programs as they are installed, each inside the sandbox of bubblewrap: they review
//! and they write code against a model server, and the record of the run tells what held them. They
//! reach that server and nothing else: by the proxy that they are told of, or where they believe it
//! to be on their own machine.
//!
//! Runs where only loopback exists. The programs come from `tests/agents`.

#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot set its scene has failed"
)]

mod common;

use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::{Path, PathBuf};

use common::{Ran, TestEnv};
use serde_json::{Value, json};
use tribunal_fakes::model::FakeModel;

/// A program with the model that it asks for.
#[derive(Clone, Copy, Debug)]
struct Program {
    name: &'static str,
    model: &'static str,
}

const CLAUDE: Program = Program {
    name: "claude",
    model: "claude-sonnet-4-5",
};
const CODEX: Program = Program {
    name: "codex",
    model: "gpt-5.5",
};
const GEMINI: Program = Program {
    name: "gemini",
    model: "gemini-2.5-pro",
};
const OPENCODE: Program = Program {
    name: "opencode",
    model: "m1",
};

const DEFECT: &str = r#"{"id": "1", "file": "pay.py", "line": 2, "label": "HIGH", "category": "security", "confidence": 90, "title": "SQL from user input", "description": "`user` ends the literal with a quote.", "quote": "WHERE user = '%s'", "trigger": "a quote in the name", "suggestion": "Pass a parameter."}"#;

/// Where the programs lie.
fn clone() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().unwrap()
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

/// How a program reaches its model out of the sandbox.
#[derive(Clone, Copy)]
enum WayOut {
    /// The model is on another machine, so that the program has to ask its proxy.
    Proxy,
    /// The model is on this machine.
    Loopback,
}

/// Makes `model` one of another address, which programs do not take for their own machine.
fn answer_elsewhere(model: &FakeModel) {
    let target = model.addr;
    let listener = TcpListener::bind(("127.0.0.2", target.port())).unwrap();
    std::thread::spawn(move || {
        for program in listener.incoming().map_while(Result::ok) {
            let server = TcpStream::connect(target).unwrap();
            for (mut from, mut to) in [
                (program.try_clone().unwrap(), server.try_clone().unwrap()),
                (server, program),
            ] {
                std::thread::spawn(move || {
                    let _ = std::io::copy(&mut from, &mut to);
                    let _ = to.shutdown(Shutdown::Write);
                });
            }
        }
    });
}

/// A repository and one program, which must be held.
struct Scene {
    env: TestEnv,
    model: FakeModel,
    name: &'static str,
}

impl Scene {
    fn new(program: Program, role: &str, way_out: WayOut, replies: Vec<Value>) -> Self {
        let Program {
            name,
            model: version,
        } = program;
        let model = FakeModel::spawn_blocking();
        model.script(name, replies);
        let mut env = TestEnv::with_repository();
        env.set_env("SUBJECT_KEY", "key-canary-4711");
        env.remove_env("TRIBUNAL_SANDBOX__WRITABLE");
        // Most people install such programs in their home; it is empty inside but for what is needed.
        env.set_env("XDG_CONFIG_HOME", text(&env.home().join(".config")));
        env.set_env("XDG_STATE_HOME", text(&env.home().join(".local/state")));
        env.set_env("HOME", text(&clone()));
        // What a reviewer says shall not be mixed with what rules find; a coder needs some reviewer.
        let rules = match role {
            "reviewer" => ", builtin: []",
            _ => "",
        };
        let programs = clone().join("tests/agents/node_modules/.bin");
        assert!(programs.is_dir(), "run scripts/install-agents first");
        let base_url = model.base_url("script", name);
        let base_url = match way_out {
            WayOut::Proxy => {
                answer_elsewhere(&model);
                base_url.replace("127.0.0.1", "127.0.0.2")
            }
            WayOut::Loopback => base_url,
        };
        env.write_user_config(&format!(
            "agents:\n  - name: subject\n    provider: {name}\n    command: [{:?}]\n    model: {version}\n    base_url: {base_url}\n    api_key_env: SUBJECT_KEY\n    role: {role}\n    limits: {{first_byte: 120s, idle: 120s, wall: 200s, after_result: 3s}}\nreview: {{rounds: 1{rules}}}\nretry: {{attempts: 1}}\nsandbox: {{mode: require}}\nrun: {{max_iterations: 1, plan: never}}\n",
            text(&programs.join(name)),
        ));
        env.write("pay.py", "def rate(db, user):\n    return 1\n");
        env.commit_all("second");
        Self { env, model, name }
    }

    /// Checks that every run of the program in a case was held, and that the program asked its model.
    fn assert_held(&self, case: &str, ran: &Ran) {
        let what = format!("{}: {ran:?}", self.name);
        assert!(!self.model.requests(self.name).is_empty(), "{what}");
        let story = self.env.run(["show", case, "--format", "jsonl"]).stdout;
        let events = story
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap());
        let starts: Vec<Value> = events
            .filter(|event| event["type"] == "run_started" && event["agent"] == "subject")
            .collect();
        assert!(!starts.is_empty(), "{what}\n{story}");
        for start in starts {
            assert_eq!(start["sandbox"]["files"], "bubblewrap", "{what}");
            assert_eq!(start["sandbox"]["processes"], "bubblewrap", "{what}");
            assert_eq!(start["sandbox"]["network"], "provider", "{what}");
            assert_eq!(start["sandbox"]["network_by"], "bubblewrap", "{what}");
        }
        self.env.assert_healthy();
        self.env.assert_no_survivor(self.name);
    }
}

fn reviews(program: Program) {
    let answer =
        format!(r#"{{"nonce": "{{{{Nonce}}}}", "findings": [{DEFECT}], "end": "{{{{Nonce}}}}"}}"#);
    let replies = vec![json!({ "text": answer })];
    let scene = Scene::new(program, "reviewer", WayOut::Proxy, replies);
    scene.env.write(
        "pay.py",
        "def rate(db, user):\n    return db.execute(\"SELECT rate FROM t WHERE user = '%s'\" % user)\n",
    );
    let ran = scene.env.run(["review", "--json"]).assert_code(1);
    let report = ran.json();
    assert_eq!(
        report["findings"][0]["title"], "SQL from user input",
        "{report:#}"
    );
    scene.assert_held(report["case"].as_str().unwrap(), &ran);
}

fn works(program: Program) {
    let done =
        r#"{"nonce": "{{Nonce}}", "summary": "It is greeted.", "done": ["1"], "end": "{{Nonce}}"}"#;
    let scene = Scene::new(
        program,
        "coder",
        WayOut::Loopback,
        vec![
            json!({ "shell": "printf 'GREETING = \"hello\"\\n' > greeting.py" }),
            json!({ "text": done }),
        ],
    );
    let added = scene
        .env
        .run(["task", "add", "Greet the world", "--json"])
        .assert_code(0);
    let task = added.json()["task"]["id"].as_str().unwrap().to_owned();
    let ran = scene.env.run(["run", "--json"]).assert_code(0);
    let branches = scene.env.git_output(&["branch", "--list", "tribunal/*"]);
    let branch = branches.trim().trim_start_matches("* ");
    let written = scene
        .env
        .git_output(&["show", &format!("{branch}:greeting.py")]);
    assert_eq!(written, "GREETING = \"hello\"\n", "{ran:?}");
    scene.assert_held(&task, &ran);
}

macro_rules! programs {
    ($($program:ident: $module:ident,)*) => {
        $(mod $module {
            use super::*;

            #[test]
            fn reviews_inside_bubblewrap() {
                reviews($program);
            }

            #[test]
            fn writes_code_inside_bubblewrap() {
                works($program);
            }
        })*
    };
}

programs! {
    CLAUDE: claude,
    CODEX: codex,
    GEMINI: gemini,
    OPENCODE: opencode,
}
