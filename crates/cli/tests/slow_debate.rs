//! Debates over many files: who is dead, garbled or gives way, and what a kill in the middle costs.

#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot set its scene has failed"
)]

mod common;

use std::collections::BTreeSet;

use common::TestEnv;
use serde_json::{Value, json};

const NONCE: &str = "{{line:Nonce: }}";
const ROUND_1: &str = "# Review of a change";
const ROUND_2: &str = "# Cross-examination of findings";
const ROUND_3: &str = "# Your findings were examined";

fn path(file: usize) -> String {
    format!("src/f{file:02}.py")
}

/// Answers when it is asked in `round` about `file`.
fn about(round: &str, file: usize, list: &str, item: &Value) -> Value {
    json!({"when": [round, path(file)], "json": {"nonce": NONCE, list: [item], "end": NONCE}})
}

fn examined(file: usize, action: &str, by: i32) -> Value {
    let reasoning = format!("{}:4 shows where `user_{file}` comes from", path(file));
    let said = json!({"finding_id": "F1", "action": action, "confidence_adjustment": by, "reasoning": reasoning, "new_observations": []});
    about(ROUND_2, file, "responses", &said)
}

fn pleaded(file: usize, action: &str) -> Value {
    let reasoning = format!("{}:6 returns `rate_{file}` times the sum", path(file));
    let said = json!({"finding_id": "F1", "action": action, "confidence_adjustment": 0, "reasoning": reasoning, "revised_severity": null, "revised_description": null});
    about(ROUND_3, file, "defenses", &said)
}

fn reported(file: usize) -> Value {
    let found = json!({
        "id": "1", "file": path(file), "line": 5, "label": "HIGH", "category": "security",
        "confidence": 65, "title": format!("SQL from user input {file}"),
        "description": "The statement is put together by hand.", "quote": "WHERE user = '%s'",
    });
    about(ROUND_1, file, "findings", &found)
}

/// A change of `files` files, one to a question, and a cast that is asked about each of them.
fn scene(files: usize, cast: &[(&str, &str, Vec<Value>)]) -> TestEnv {
    let env = TestEnv::with_repository();
    for file in 1..=files {
        let padding = "# nothing to see here\n".repeat(50);
        let code = format!(
            "import db\n\n\ndef total_{file}(rows, user_{file}):\n    \
             rate_{file} = db.execute(\"SELECT rate FROM t WHERE user = '%s'\" % user_{file})\n    \
             return sum(rows) * rate_{file}\n"
        );
        env.write(&path(file), format!("{code}{padding}"));
    }
    let mut agents = String::new();
    for (name, family, replies) in cast {
        let nothing =
            json!({"when": ROUND_1, "json": {"nonce": NONCE, "findings": [], "end": NONCE}});
        let replies = [&replies[..], &[nothing]].concat();
        let script = env.root().join(format!("{name}.json"));
        std::fs::write(&script, json!({ "replies": replies }).to_string()).unwrap();
        agents += &format!(
            "  - {{name: {name}, provider: scripted, script: {script:?}, role: reviewer, family: {family}}}\n"
        );
    }
    env.write_user_config(&format!(
        "agents:\n{agents}review: {{builtin: [], part_chars: 1800, rounds: 3}}\nretry: {{attempts: 1}}\n"
    ));
    env
}

/// Ann reports every file. In round 2 bob disagrees, agrees, or writes what nobody can read, a third
/// each, and eve is dead. In round 3 ann gives way in half of what bob disagrees with.
fn debate(files: usize) -> TestEnv {
    let (mut ann, mut bob) = (Vec::new(), Vec::new());
    for file in 1..=files {
        ann.push(reported(file));
        ann.push(pleaded(
            file,
            if file % 8 < 2 { "concede" } else { "defend" },
        ));
        bob.push(match file % 4 {
            0 | 1 => examined(file, "disagree", -10),
            2 => examined(file, "agree", 5),
            _ => json!({"when": [ROUND_2, path(file)], "text": "ROUND 2 COMPLETE. All of it is fine."}),
        });
    }
    let dead = json!({"when": ROUND_2, "error": {"class": "crashed", "message": "it fell over"}});
    scene(
        files,
        &[
            ("ann", "anthropic", ann),
            ("bob", "openai", bob),
            ("eve", "google", vec![dead]),
        ],
    )
}

fn titles(report: &Value, verdict: &str) -> usize {
    let findings = report["findings"].as_array().unwrap().iter();
    findings.filter(|one| one["verdict"] == verdict).count()
}

#[test]
fn forty_files_with_one_dead_one_garbled_and_one_conceding_reviewer() {
    let env = debate(40);
    let report = env.run(["review", "--json"]).json();
    env.assert_healthy();
    insta::assert_json_snapshot!(report["statistics"], @r#"
    {
      "total_findings_received": 40,
      "findings_per_model": {
        "ann": 40,
        "bob": 0,
        "eve": 0
      },
      "agreements": 0,
      "conflicts_resolved": 0,
      "disputes_unresolved": 30,
      "unique_findings_accepted": 0,
      "unique_findings_rejected": 10,
      "security_advisories_checked": 0,
      "round2_cross_examination": {
        "responses_received": {
          "bob": 30
        },
        "agreements": 10,
        "disagreements": 20,
        "partial_agreements": 0,
        "new_observations_added": 0
      },
      "round3_defense": {
        "defenses_received": {
          "ann": 20
        },
        "defended": 10,
        "conceded": 10,
        "modified": 0
      },
      "confidence_changes": {
        "increased": 0,
        "decreased": 40,
        "unchanged": 0
      }
    }
    "#);
    let verdicts = ["accepted", "disputed", "rejected"].map(|verdict| titles(&report, verdict));
    assert_eq!(verdicts.iter().sum::<usize>(), 40, "{verdicts:?}");
    insta::assert_debug_snapshot!((verdicts, &report["gate"], &report["notes"]), @r#"
    (
        [
            0,
            30,
            10,
        ],
        String("inconclusive"),
        Array [
            String("Debate incomplete — bob did not respond"),
            String("Debate incomplete — eve did not respond"),
        ],
    )
    "#);
}

#[test]
fn a_debate_ends_the_same_wherever_it_is_killed() {
    let mut reference = debate(4);
    let points = reference.crash_points(&["review", "--json"]);
    let expected = settled(&reference, "the whole");
    // A ledger that is being made holds no case yet.
    let points = points.into_iter();
    for (name, hits) in points.filter(|(name, _)| !name.starts_with("store.migrate")) {
        // The beginning and round 1 are killed elsewhere: here it is what comes after.
        for hit in BTreeSet::from([hits * 5 / 8, hits * 6 / 8, hits * 7 / 8, hits]) {
            if hits < 4 {
                continue;
            }
            let env = debate(4);
            env.crash_at(&["review"], &name, hit);
            let what = format!("{name}#{hit}");
            let ran = env.run(["resume", "--json"]);
            assert!(matches!(ran.code, Some(1 | 4 | 5)), "{what}: {ran:?}");
            env.assert_healthy();
            assert_eq!(settled(&env, &what), expected, "{what}");
        }
    }
}

/// Returns what a review came to, after checking that nothing was paid twice.
fn settled(env: &TestEnv, what: &str) -> Value {
    let cases = env.run(["log", "--json"]).json()["cases"].clone();
    assert_eq!(cases.as_array().unwrap().len(), 1, "{what}: {cases}");
    let case = cases[0]["case"].as_str().unwrap();
    let shown = env.run(["show", case, "--json"]).json();
    let steps = common::assert_nothing_repeated(shown["events"].as_array().unwrap(), what);
    assert!(steps >= 9, "{what}: {steps} steps");
    let mut review = shown["review"].clone();
    let findings: Vec<Value> = review["findings"]
        .as_array_mut()
        .unwrap()
        .iter_mut()
        .map(|one| json!([one["title"], one["verdict"], one["trace"], one["rounds"]]))
        .collect();
    json!([
        findings,
        review["statistics"],
        review["notes"],
        review["gate"]
    ])
}
