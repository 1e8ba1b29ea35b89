//! The arbiter of the loop: what it answers, what stands in for it, and what it would decide.

use insta::assert_snapshot;
use serde_json::Value;

use super::{add, connect, markers, project};
use crate::common::TestEnv;

#[test]
fn an_arbiter_that_misbehaves_is_replaced_by_the_visible_fallback() {
    let whole = r#"{"nonce": "{{line:Nonce: }}", "decision": "WORD", "reason": "r", "summary": "s", "end": "{{line:Nonce: }}"}"#;
    let answer = |word: &str| whole.replace("WORD", word);
    let unusable = "COMPLETE by fallback: the arbiter gave no usable answer: ";
    let (mut replies, mut wanted) = (Vec::new(), Vec::new());
    for (name, reply, expected) in [
        (
            "plain answer",
            answer("COMPLETE"),
            "COMPLETE by model".to_owned(),
        ),
        (
            "prose around",
            format!("Well.\n```json\n{}\n```\nBye.", answer("COMPLETE")),
            "COMPLETE by model".to_owned(),
        ),
        (
            "unknown mode",
            answer("SELECT_MODE"),
            format!(
                "{unusable}\"SELECT_MODE\" is no decision; known are CONTINUE, COMPLETE, RETRY"
            ),
        ),
        (
            "not whole",
            answer("INCOMPLETE"),
            format!("{unusable}\"INCOMPLETE\" is no decision; known are CONTINUE, COMPLETE, RETRY"),
        ),
        (
            "two objects",
            format!("{} {}", answer("COMPLETE"), answer("RETRY")),
            format!("{unusable}two answers with the nonce contradict each other"),
        ),
        (
            "no nonce",
            "COMPLETE".to_owned(),
            format!("{unusable}the answer does not carry the nonce of the question"),
        ),
    ] {
        replies.push(serde_json::json!({ "when": name, "text": reply }));
        wanted.push((name, expected));
    }
    let env = project("run: {max_iterations: 3}\n");
    let script = serde_json::json!({ "replies": replies }).to_string();
    let script = env.write("../arbiter.json", script);
    let script = script.display();
    connect(
        &env,
        &format!("  - {{name: judy, provider: scripted, role: arbiter, script: {script}}}\n"),
    );
    let tasks: Vec<String> = wanted.iter().map(|(name, _)| add(&env, &[name])).collect();
    env.run(["run", "--parallel", "2"]).assert_code(0);
    for (task, (name, expected)) in tasks.iter().zip(&wanted) {
        assert_eq!(decisions(&env, task).last(), Some(expected), "{name}");
    }
    assert_eq!(markers(&env).matches("[x]").count(), wanted.len());
    env.assert_healthy();
}

#[test]
fn an_arbiter_that_does_not_answer_is_replaced_by_the_visible_fallback() {
    for (name, agent, expected) in [
        (
            "dead",
            "{name: judy, command: [sh, -c, 'exit 1'], role: arbiter}",
            "COMPLETE by fallback: the arbiter did not answer",
        ),
        (
            "slow",
            "{name: judy, command: [sleep, '60'], role: arbiter, limits: {wall: 1s}}",
            "COMPLETE by fallback: the arbiter did not answer",
        ),
        (
            "empty",
            "{name: judy, command: ['true'], role: arbiter}",
            "COMPLETE by fallback: the arbiter did not answer",
        ),
    ] {
        let env = project("");
        connect(&env, &format!("  - {agent}\n"));
        let task = add(&env, &["easy"]);
        env.run(["run"]).assert_code(0);
        let decided = decisions(&env, &task);
        let last = decided.last().unwrap();
        assert!(last.starts_with(expected), "{name}: {last}");
        assert_eq!(markers(&env), "[x] easy", "{name}");
        env.assert_no_survivor(name);
    }
}

#[test]
fn the_same_question_is_put_to_the_model_once() {
    let env = project("");
    let script = r#"{"replies": [{"json": {"nonce": "{{line:Nonce: }}", "decision": "COMPLETE",
        "reason": "r", "summary": "s", "end": "{{line:Nonce: }}"}}]}"#;
    let script = env.write("../arbiter.json", script);
    let script = script.display();
    connect(
        &env,
        &format!("  - {{name: judy, provider: scripted, role: arbiter, script: {script}}}\n"),
    );
    let first = add(&env, &["same"]);
    env.run(["run"]).assert_code(0);
    // The same work on the same task is the same question.
    let second = add(&env, &["same"]);
    env.run(["run", "--set", "run.branch=other"]).assert_code(0);
    assert_eq!(decisions(&env, &first).last().unwrap(), "COMPLETE by model");
    assert_eq!(
        decisions(&env, &second).last().unwrap(),
        "COMPLETE by cache"
    );
    let stats = env.run(["arbiter", "stats"]).assert_code(0);
    assert_snapshot!(stats.stdout + &stats.stderr, @"
     SOURCE    DECISIONS 
     rule      2         
     cache     1         
     model     1         
     fallback  0         
    The cache answered 50 % of what went past the rules.
    The model has cost $0.00 for 1 question, guidance included.
    ");
    env.assert_healthy();
}

#[test]
fn what_the_arbiter_would_decide_can_be_asked() {
    let env =
        project("arbiter:\n  rules:\n    - {on: select_agent, when: no_history, then: ann}\n");
    let task = add(&env, &["easy"]);
    let told = env.run(["arbiter", "explain", &task]).assert_code(0);
    assert_snapshot!(told.stdout, @"select_agent: SELECT_MODE ann (rule 1, nothing was done yet: ann): nothing was done yet");
    let json = env
        .run(["arbiter", "explain", &task, "--json"])
        .assert_code(0);
    let file = env.write("question.json", &json.stdout);
    let file = file.to_str().unwrap();
    let again = env
        .run(["arbiter", "explain", "--input", file])
        .assert_code(0);
    assert_eq!(again.stdout, told.stdout);
    env.write("bad.json", "{\"question\": \"who\"}");
    let bad = env
        .run(["arbiter", "explain", "--input", "bad.json"])
        .assert_code(2);
    assert_snapshot!(bad.stderr, @"
    Error: `bad.json` is no question
      because: unknown variant `who`, expected `select_agent` or `evaluate_progress`
    Hint: `tribunal arbiter explain TASK --json` prints one
    ");
}

/// Returns what the arbiter decided about a task: the word, the source and the attempt.
fn decisions(env: &TestEnv, task: &str) -> Vec<String> {
    let events = env.run(["show", task, "--format", "jsonl"]).assert_code(0);
    let events = events.stdout.lines().map(|line| {
        let event: Value = serde_json::from_str(line).unwrap();
        event
    });
    let decided = events.filter(|event| event["type"] == "arbiter_decided");
    let said = decided.map(|event| {
        let text = |key: &str| event[key].as_str().unwrap_or_default().to_owned();
        let because = match text("because") {
            because if because.is_empty() => String::new(),
            because => format!(": {because}"),
        };
        format!("{} by {}{because}", text("decision"), text("source"))
    });
    said.collect()
}

#[test]
fn without_rules_the_model_chooses_and_only_from_those_who_are_there() {
    const NONCE: &str = "{{line:Nonce: }}";
    let answer = |decision: &str, more: &Value| {
        let mut answer = serde_json::json!({"nonce": NONCE, "decision": decision, "reason": "r",
            "summary": "s", "end": NONCE});
        for (key, value) in more.as_object().unwrap() {
            answer[key] = value.clone();
        }
        answer
    };
    let choose = |mode: &str| answer("SELECT_MODE", &serde_json::json!({ "mode": mode }));
    let nothing = serde_json::json!({});
    let replies = serde_json::json!({"replies": [
        {"when": ["# Who works next", "magic"], "json": choose("magician")},
        {"when": ["# Who works next", "at once"], "json": answer("COMPLETE", &nothing)},
        {"when": "# Who works next", "json": choose("ann")},
        {"json": answer("COMPLETE", &nothing)},
    ]});
    let env = project("run: {max_iterations: 2}\narbiter: {builtin_rules: false}\n");
    let script = env.write("../arbiter.json", replies.to_string());
    let script = script.display();
    connect(
        &env,
        &format!("  - {{name: judy, provider: scripted, role: arbiter, script: {script}}}\n"),
    );
    let unknown = "SELECT_MODE by fallback: the arbiter gave no usable answer: \
                   \"magician\" is none of the agents ";
    for (title, code, marker, first) in [
        ("plain", 0, "x", "SELECT_MODE by model"),
        ("magic", 0, "x", unknown),
        // Complete without any work is no success.
        ("at once", 1, "F", "COMPLETE by model"),
    ] {
        let task = add(&env, &[title]);
        env.run(["run"]).assert_code(code);
        let decided = decisions(&env, &task);
        assert!(decided[0].starts_with(first), "{title}: {decided:?}");
        let shown = format!("[{marker}] {title}");
        assert!(markers(&env).contains(&shown), "{}", markers(&env));
    }
    env.assert_healthy();
}

#[test]
fn a_decision_is_not_reused_when_the_arbiter_is_told_other_things() {
    let env = project("");
    let script = r#"{"replies": [{"json": {"nonce": "{{line:Nonce: }}", "decision": "COMPLETE",
        "reason": "r", "summary": "s", "end": "{{line:Nonce: }}"}}]}"#;
    let script = env.write("../arbiter.json", script);
    let agent = |more: &str| {
        let script = script.display();
        format!("  - {{name: judy, provider: scripted, role: arbiter, script: {script}{more}}}\n")
    };
    connect(&env, &agent(""));
    let config = env.home().join(".config/tribunal/config.yml");
    let plain = std::fs::read_to_string(&config).unwrap();
    let mut sources = Vec::new();
    for (branch, more) in [
        ("one", ""),
        ("two", ""),
        ("three", ", instructions: be strict"),
        ("four", ", instructions: be lenient"),
    ] {
        std::fs::write(&config, plain.replace(&agent(""), &agent(more))).unwrap();
        let task = add(&env, &["same"]);
        let set = format!("run.branch={branch}");
        env.run(["run", "--set", &set]).assert_code(0);
        sources.push(decisions(&env, &task).pop().unwrap());
    }
    let model = "COMPLETE by model";
    assert_eq!(sources, [model, "COMPLETE by cache", model, model]);
}

#[test]
fn what_is_decided_or_due_already_is_told_as_that() {
    let tests = "project: {test_command: [sh, -c, 'exit 1']}\n";
    for (config, title, steps, expected) in [
        (tests, "easy", 2, "the project's tests are run on its work"),
        (
            "",
            "easy",
            3,
            "its work is submitted to the review, as decided: COMPLETE (fallback, because no rule fits and no arbiter is configured): Work was done and can be reviewed (fallback)",
        ),
        (
            "",
            "does nothing",
            3,
            "developer tries again, as decided: RETRY (rule 8, nothing was changed last: retry): nothing was changed last",
        ),
    ] {
        let env = project(config);
        let task = add(&env, &[title]);
        // Killed after this many steps: the choice, the work, the look at it.
        env.crash_at(&["run"], "case.step.finish.after", steps);
        let told = env.run(["arbiter", "explain", &task]).assert_code(0);
        assert_eq!(told.stdout, format!("nothing to decide: {expected}\n"));
        let told = env.run(["run", "--dry-run"]).assert_code(0);
        let told = env.tidy(&told.stdout);
        assert_eq!(told, format!("resume [CASE]: {title}\n  {expected}\n"));
    }
}
