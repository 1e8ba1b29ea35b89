//! Guidance after repeated rejections: at which of them, and never twice the same.

use serde_json::{Value, json};

use super::plans::{NONCE, events, of_type, scripted};
use super::{add, connect, markers, project};
use crate::common::{TestEnv, resolve_args};

fn guidance(env: &TestEnv, task: &str) -> Vec<Value> {
    of_type(&events(env, task), "guidance_given")
}

fn after(given: &[Value]) -> Vec<u64> {
    let counts = given.iter().map(|one| one["rejections"].as_u64().unwrap());
    counts.collect()
}

#[test]
fn guidance_comes_after_2_5_and_9_rejections_and_anew_after_a_ruling() {
    let env = project("run: {arbitrate: false}\n");
    let task = add(&env, &["never passes"]);
    env.run(["run"]).assert_code(0);
    assert_eq!(markers(&env), "[!] never passes");
    assert_eq!(after(&guidance(&env, &task)), [2, 5, 9]);
    let disputes = env.run(["dispute", "list", "--json"]).json();
    let dispute = &disputes["disputes"][0];
    let dispute = dispute["id"].as_str().unwrap();
    env.run(resolve_args(dispute, "reviewer", "use a parser"))
        .assert_code(0);
    // Fifteen more end in the next dispute, with guidance at the same places.
    env.run(["run"]).assert_code(0);
    assert_eq!(markers(&env), "[!] never passes");
    let given = guidance(&env, &task);
    assert_eq!(after(&given), [2, 5, 9, 17, 20, 24]);
    let mut texts: Vec<&str> = given
        .iter()
        .map(|one| one["coder"].as_str().unwrap())
        .collect();
    texts.sort_unstable();
    texts.dedup();
    assert_eq!(texts.len(), given.len(), "{given:?}");
    let list = env.run(["task", "list", "--json"]).json();
    assert_eq!(list["tasks"][0]["rejections"], 30);
    env.assert_healthy();
}

#[test]
fn a_rejection_tells_what_every_member_of_the_panel_says() {
    let env = project(
        "run: {arbitrate: false, max_iterations: 4, max_rejections: 2, coordinate_at: []}\n",
    );
    let says = json!([{"json": {"nonce": NONCE, "findings": [{"id": "F1", "label": "MUST",
        "file": "never_passes.py", "line": 2, "title": "Input is run as code by eval",
        "description": "Whoever sends the text runs code. Parse it with int().",
        "category": "security", "confidence": 90}], "end": NONCE}}]);
    connect(&env, &scripted(&env, "rev", "reviewer", &says));
    let task = add(&env, &["never passes"]);
    env.run(["run"]).assert_code(0);
    let own = "Parse it with int().";
    let prompt = std::fs::read_to_string(env.root().join("prompts/never_passes")).unwrap();
    assert!(prompt.contains(own), "{prompt}");
    let shown = env.run(["task", "show", &task]).assert_code(0).stdout;
    assert!(shown.contains(own), "{shown}");
    let disputes = env.run(["dispute", "list", "--json"]).json();
    let dispute = disputes["disputes"][0]["id"].as_str().unwrap();
    let shown = env.run(["dispute", "show", dispute]).assert_code(0).stdout;
    assert!(shown.contains(own), "{shown}");
    // The position is that of the panel, and says so.
    let author = "Reviewer Position (rev, built-in rules)";
    assert!(shown.contains(author), "{shown}");
}

#[test]
fn an_arbiter_that_repeats_itself_is_asked_again_and_then_not_needed() {
    let env = project("run: {arbitrate: false, max_rejections: 3, coordinate_at: [1, 2]}\n");
    let advice = json!([
        {"when": "# Guidance for both sides", "json": {"nonce": NONCE,
            "coder": "Begin with a  PARSER.", "reviewer": "Look there.", "end": NONCE}},
        {"json": {"nonce": NONCE, "decision": "COMPLETE", "reason": "r", "summary": "s", "end": NONCE}},
    ]);
    connect(&env, &scripted(&env, "art", "arbiter", &advice));
    let task = add(&env, &["never passes"]);
    env.run(["run"]).assert_code(0);
    let given = guidance(&env, &task);
    assert_eq!(given.len(), 2);
    assert_eq!(given[0]["source"], "model");
    assert_eq!(given[1]["source"], "fallback");
    let because = &given[1]["because"];
    assert_eq!(
        because,
        "the guidance is the same as one that was given before"
    );
    assert_ne!(given[0]["coder"], given[1]["coder"]);
    // It was asked once about the first rejection, and twice about the second.
    let asked = of_type(&events(&env, &task), "run_started");
    let steps = asked.iter().map(|run| run["step"].as_str().unwrap());
    let steps: Vec<&str> = steps.filter(|step| step.contains("guide after")).collect();
    assert_eq!(
        steps,
        [
            "ask the arbiter guide after 1 #1",
            "ask the arbiter guide after 2 #1",
            "ask the arbiter guide after 2 #2"
        ]
    );
    let again = env.run(["export", &task]).json();
    let runs = again["runs"].as_array().unwrap().iter();
    let mut prompts = runs.filter(|run| run["step"] == "ask the arbiter guide after 2 #2");
    let prompt = prompts.next().unwrap()["prompt"].as_str().unwrap();
    assert!(
        prompt.contains("the same as one that was given before"),
        "{prompt}"
    );
    env.assert_healthy();
}
