//! A change cannot judge itself: whatever setting it edits, a gate that did not pass does not pass.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use tribunal_core::ids::AgentName;
use tribunal_core::review::gate::Gate;
use tribunal_engine::config::{Loaded, Settings, load};
use tribunal_engine::files::LedgerDir;
use tribunal_engine::review::ReviewWish;
use tribunal_engine::{Engine, Surroundings};

use super::World;
use super::self_judging::{STRICT_BASE, VALUES, all_keys, file_with, resolved, with_base};

/// An answer of `ann`, who finds nothing.
const ANN: &str = r#"{"replies": [{"text":
    "{\"nonce\": \"{{line:Nonce: }}\", \"findings\": [], \"end\": \"{{line:Nonce: }}\"}"}]}"#;

/// Changes by their file: one that passes, one that fails, one that nobody can read.
const SAMPLES: [(&str, &[u8]); 3] = [
    ("good.py", b"def add(a, b):\n    return a + b\n"),
    ("bad.py", b"def run(text):\n    return eval(text)\n"),
    ("unread.py", b"x = 1\n\0\0\0\n"),
];

/// So many different effects of one key are reviewed; more say nothing new.
const MOST_OF_KEY: usize = 2;

/// What decides about a review: equal settings come to the same gate.
#[derive(PartialEq)]
struct InForce {
    settings: Settings,
    unasked: Vec<AgentName>,
}

impl InForce {
    fn of(loaded: Loaded) -> Self {
        Self {
            unasked: loaded.project_layer.unasked.clone(),
            settings: loaded.settings,
        }
    }
}

#[tokio::test]
async fn no_setting_of_an_untrusted_file_turns_a_gate_of_the_defaults_into_pass() {
    compare_gates(None, false).await;
}

#[tokio::test]
async fn no_setting_of_an_untrusted_file_turns_a_gate_of_the_base_into_pass() {
    compare_gates(Some(STRICT_BASE), true).await;
}

async fn compare_gates(base: Option<&str>, is_committed: bool) {
    let world = World::new();
    repository(&world.project_dir());
    let before = InForce::of(load(&with_base(&world, base, base)).unwrap());
    let mut reviews = 0;
    let found = gates(&world, &before, &SAMPLES, &mut reviews).await;
    assert_eq!(found, ["pass", "fail", "inconclusive"]);
    let mut known = vec![before];
    for key in all_keys(&world) {
        let mut of_key = 0;
        for value in VALUES {
            let theirs = file_with(&key, value);
            let after = InForce::of(resolved(&world, base, &theirs, is_committed));
            if known.contains(&after) {
                continue;
            }
            let found = gates(&world, &after, &SAMPLES[1..], &mut reviews).await;
            assert!(
                found.iter().all(|gate| gate != "pass"),
                "{theirs}: {found:?}"
            );
            known.push(after);
            of_key += 1;
            if of_key == MOST_OF_KEY {
                break;
            }
        }
    }
    assert!(known.len() > 5, "untrusted files can tighten something");
}

/// Returns the gates of these samples.
async fn gates(
    world: &World,
    in_force: &InForce,
    samples: &[(&str, &[u8])],
    reviews: &mut u32,
) -> Vec<String> {
    let mut gates = Vec::new();
    for (file, content) in samples {
        let path = world.project_dir().join(file);
        fs::write(&path, content).unwrap();
        *reviews += 1;
        gates.push(gate(world, in_force, *reviews).await);
        fs::remove_file(path).unwrap();
    }
    gates
}

async fn gate(world: &World, in_force: &InForce, number: u32) -> String {
    let dir = LedgerDir::create(world.root.join(format!("ledger-{number}"))).unwrap();
    let surroundings = Surroundings {
        env: BTreeMap::new(),
        executable: "tribunal".into(),
        project: Some(world.project_dir()),
        access: tribunal_store::LedgerAccess::Writing,
    };
    let settings = &in_force.settings;
    let engine = Engine::open(settings, dir, surroundings).await.unwrap();
    let wish = ReviewWish {
        unasked: in_force.unasked.clone(),
        ..ReviewWish::of(world.project_dir())
    };
    // What is refused or waits has not passed.
    let reviewed = engine.review(settings, wish).await;
    let report = reviewed.ok().and_then(|reviewed| reviewed.report);
    match report.map(|report| report.gate) {
        Some(Gate::Pass) => "pass",
        Some(Gate::Fail { .. }) => "fail",
        Some(Gate::Inconclusive { .. }) => "inconclusive",
        None => "none",
    }
    .to_owned()
}

/// Makes a repository with one commit; what is written into it later is the change.
fn repository(project: &Path) {
    fs::write(project.join("ann.yml"), ANN).unwrap();
    fs::write(project.join(".gitignore"), ".tribunal/\n").unwrap();
    let git = |args: &[&str]| {
        let mut command = Command::new("git");
        let command = command.current_dir(project).args(args);
        for name in ["GIT_AUTHOR", "GIT_COMMITTER"] {
            command
                .env(format!("{name}_NAME"), "A")
                .env(format!("{name}_EMAIL"), "a@example.org");
        }
        let done = command
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .output()
            .unwrap();
        assert!(done.status.success(), "{done:?}");
    };
    git(&["init", "-q", "-b", "main"]);
    git(&["add", "."]);
    git(&["commit", "-q", "-m", "first"]);
}
