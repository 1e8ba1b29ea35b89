//! Who the arbiter can choose, and the arbiter that `arbiter.provider` describes.

use serde_json::{Value, json};

use super::{add, project};
use crate::common::TestEnv;

/// A project with these lines of config after its trusted beginning, and one task.
fn scene(config: &str) -> (TestEnv, String) {
    let env = project("");
    let script =
        json!({ "replies": [{"text": "Done.", "write": {"a.py": "def a():\n    return 1\n"}}] });
    let script = env.write("../any.json", script.to_string());
    let script = script.display().to_string();
    env.write_user_config(&config.replace("SCRIPT", &script));
    let task = add(&env, &["one"]);
    (env, task)
}

fn candidates(env: &TestEnv, task: &str) -> Vec<(String, String, String)> {
    let told = env
        .run(["arbiter", "explain", task, "--json"])
        .assert_code(0)
        .json();
    let agents = told["input"]["agents"].as_array().unwrap().clone();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let one = |agent: &Value| {
        (
            text(&agent["name"]),
            text(&agent["does"]),
            text(&agent["when_to_use"]),
        )
    };
    agents.iter().map(one).collect()
}

#[test]
fn the_four_agents_of_the_paper_are_chosen_by_name_and_by_what_they_say_of_themselves() {
    let (env, task) = scene(
        "agents:\n  \
         - {name: planner, provider: scripted, script: SCRIPT, role: coder, whenToUse: For plans.}\n  \
         - {name: developer, provider: scripted, script: SCRIPT, role: coder, displayName: The developer}\n  \
         - {name: tester, provider: scripted, script: SCRIPT, role: coder, when_to_use: For tests., displayName: Not read}\n  \
         - {name: reviewer, provider: scripted, script: SCRIPT, role: [coder, reviewer], display_name: The reviewer}\n\
         project: {test_command: 'true'}\n",
    );
    let expected = [
        ("planner", "plan", "For plans."),
        ("developer", "develop", "The developer"),
        ("tester", "develop", "For tests."),
        ("reviewer", "review", "The reviewer"),
    ];
    let expected =
        expected.map(|(name, does, when)| (name.to_owned(), does.to_owned(), when.to_owned()));
    assert_eq!(candidates(&env, &task), expected);
}

#[test]
fn an_arbiter_that_is_described_by_its_provider_is_listed_and_examined() {
    let (env, _) = scene(
        "agents: [{name: cody, provider: scripted, script: SCRIPT, role: coder}]\n\
         arbiter: {provider: anthropic, model: fast-1, baseUrl: 'http://127.0.0.1:9', api_key_env: NO_SUCH_KEY, price: {input: 1, output: 5}}\n",
    );
    let listed = env.run(["agents", "--json"]).assert_code(0).json();
    assert_eq!(listed["agents"][1]["name"], "arbiter");
    assert_eq!(listed["agents"][1]["roles"], json!(["arbiter"]));
    let ran = env.run(["doctor"]).assert_code(1);
    let missing = "agent arbiter: the agent `arbiter` needs its key in the variable `NO_SUCH_KEY`";
    assert!(ran.stdout.contains(missing), "{}", ran.stdout);
}

#[test]
fn a_program_of_the_arbiter_that_is_not_installed_is_told_by_doctor_and_at_the_end_of_a_run() {
    let (mut env, _) = scene(
        "agents: [{name: cody, provider: scripted, script: SCRIPT, role: coder}]\n\
         retry: {attempts: 1, base: 10ms}\narbiter: {provider: codex}\n",
    );
    // Programs that a developer has installed are not there.
    env.set_env("PATH", "/usr/bin:/bin");
    let ran = env.run(["doctor"]).assert_code(1);
    let missing = "agent arbiter: The program `codex` was not found";
    assert!(ran.stdout.contains(missing), "{}", ran.stdout);
    let ran = env.run(["run", "--json"]).assert_code(0).json();
    let warning = ran["warnings"][0].as_str().unwrap();
    assert!(
        warning.starts_with(
            "the arbiter `arbiter` decided nothing: fixed rules made the one decision that it was \
             asked for, because the arbiter did not answer: The program `codex` was not found"
        ),
        "{warning}"
    );
    assert_eq!(ran["decisions"], json!({"rule": 1, "fallback": 1}));
}

#[test]
fn a_finished_plan_needs_no_arbiter_to_go_to_the_review() {
    let (env, _) =
        scene("agents: [{name: cody, provider: scripted, script: SCRIPT, role: coder}]\n");
    let step = json!({"id": "1", "title": "all of it", "done": true});
    let input = json!({
        "question": "evaluate_progress", "task": "one",
        "plan": {"version": 1, "steps": [step]}, "history": [],
        "last_execution": {"iteration": 1, "mode": "developer", "result": "worked", "files": ["a.py"], "summary": "s"},
    });
    let file = env.write("../input.json", input.to_string());
    let file = file.to_str().unwrap();
    let ran = env.run(["arbiter", "explain", "--input", file, "--json"]);
    let told = ran.assert_code(0).json();
    assert_eq!(told["decided"]["decision"], "COMPLETE");
    assert_eq!(told["decided"]["source"], "rule");
}
