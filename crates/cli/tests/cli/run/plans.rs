//! Plans and guidance: what is made anew leaves the old in the record, and each side hears its own.

use serde_json::{Value, json};

use super::{add, connect, markers, project};
use crate::common::TestEnv;

pub(super) const NONCE: &str = "{{line:Nonce: }}";

pub(super) fn events(env: &TestEnv, case: &str) -> Vec<Value> {
    let shown = env.run(["show", case, "--format", "jsonl"]).assert_code(0);
    let events = shown.stdout.lines();
    events
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

pub(super) fn of_type(events: &[Value], word: &str) -> Vec<Value> {
    let found = events.iter().filter(|event| event["type"] == word);
    found.cloned().collect()
}

pub(super) fn scripted(env: &TestEnv, name: &str, role: &str, replies: &Value) -> String {
    let script = json!({ "replies": replies }).to_string();
    let script = env.write(&format!("../{name}.json"), script);
    let script = script.display();
    format!(
        "  - {{name: {name}, provider: scripted, role: {role}, family: {name}s, script: {script}}}\n"
    )
}

#[test]
fn a_new_plan_leaves_the_old_one_in_the_record() {
    let env = project(
        "run: {max_rejections: 3}\n\
         arbiter:\n  rules:\n    - {on: select_agent, when: rejected, then: planner}\n",
    );
    let plan = |title: &str| {
        json!({"nonce": NONCE, "end": NONCE,
            "steps": [{"id": "1", "title": title, "acceptance": ["it runs"]}]})
    };
    let replies = json!([
        {"when": "must be dealt with", "json": plan("another way")},
        {"json": plan("the first way")},
    ]);
    let planner = scripted(&env, "planner", "coder", &replies);
    connect(&env, &planner);
    let task = add(&env, &["never passes"]);
    env.run(["run"]).assert_code(0);
    let made = of_type(&events(&env, &task), "plan_made");
    let told: Vec<String> = made
        .iter()
        .map(|event| {
            let plan = &event["plan"];
            let title = plan["steps"][0]["title"].as_str().unwrap();
            format!("{} {title}", plan["version"])
        })
        .collect();
    assert_eq!(told[..2], ["1 the first way", "2 another way"]);
    // The coder works by the plan in force.
    let prompt = std::fs::read_to_string(env.root().join("prompts/never_passes")).unwrap();
    assert!(prompt.contains("another way"), "{prompt}");
    assert!(!prompt.contains("the first way"), "{prompt}");
    env.assert_healthy();
}

#[test]
fn guidance_for_the_reviewers_stands_in_their_next_question() {
    let env = project("run: {max_rejections: 2, coordinate_at: [1]}\n");
    let defect = json!({"id": "1", "file": "never_passes.py", "line": 2, "label": "HIGH",
        "category": "security", "confidence": 95, "title": "eval of input",
        "description": "it runs what it is given", "quote": "    return eval(x)",
        "trigger": "any call", "suggestion": "parse it"});
    let found =
        json!([{"cost_usd": 0.25, "json": {"nonce": NONCE, "findings": [defect], "end": NONCE}}]);
    let advice = json!([
        {"when": "# Guidance for both sides", "json": {"nonce": NONCE,
            "coder": "Begin with a parser.", "reviewer": "Look at the parser first.", "end": NONCE},
            "cost_usd": 0.1},
        {"json": {"nonce": NONCE, "decision": "COMPLETE", "reason": "r", "summary": "s", "end": NONCE}},
    ]);
    let rex = scripted(&env, "rex", "reviewer", &found);
    let art = scripted(&env, "art", "arbiter", &advice);
    connect(&env, &(rex + &art));
    let task = add(&env, &["never passes"]);
    let ran = env.run(["run", "--json"]).assert_code(0).json();
    assert_eq!(markers(&env), "[!] never passes");
    let reviews = of_type(&events(&env, &task), "task_reviewed");
    let asked = |review: &Value| {
        let exported = env
            .run(["export", review["review"].as_str().unwrap()])
            .json();
        let runs = exported["runs"].as_array().unwrap().iter();
        let mut prompts = runs
            .filter(|run| run["agent"] == "rex")
            .map(|run| run["prompt"].as_str().unwrap().to_owned());
        prompts.next().unwrap()
    };
    assert_eq!(reviews.len(), 2);
    assert!(!asked(&reviews[0]).contains("BEGIN NOTE"));
    let second = asked(&reviews[1]);
    assert!(
        second.contains("Look at the parser first.\nEND NOTE"),
        "{second}"
    );
    assert!(!second.contains("Begin with a parser."), "{second}");
    // The board counts what the arbiter and both reviews have cost.
    let board = env.run(["task", "list", "--json"]).json();
    let known = board["tasks"][0]["spend"]["known"].as_u64().unwrap();
    assert!(known >= 600_000, "{board}");
    // So does the run, and says how often the work was rejected; the arbiter's share is told apart.
    assert_eq!(ran["spend"]["known"], known);
    assert_eq!(ran["tasks"][0]["spend"]["known"], known);
    assert_eq!(ran["tasks"][0]["rejections"], 2);
    let stats = env.run(["arbiter", "stats", "--json"]).json();
    assert_eq!(stats["spend"]["known"], 100_000, "{stats}");
    let coder = std::fs::read_to_string(env.root().join("prompts/never_passes")).unwrap();
    assert!(coder.contains("Begin with a parser."), "{coder}");
    env.assert_healthy();
}
