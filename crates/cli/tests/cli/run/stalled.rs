//! The stall rule: what came to nothing twice in a row is not paid for a third time.

use serde_json::{Value, json};

use super::limits::project_of;
use super::plans::{NONCE, events, of_type, scripted};
use super::recovery::calls;
use super::{add, connect_only, git, markers, project};
use crate::common::TestEnv;

fn answer(decision: &str) -> Value {
    json!([{"json": {"nonce": NONCE, "decision": decision, "reason": "do it another way",
        "summary": "s", "end": NONCE}}])
}

/// A coder that writes a file once, and afterwards finds it as it wants it.
fn works_once() -> Value {
    json!([{"text": "All done.", "write": {"a.py": "def a():\n    return 1\n"}}])
}

fn idles() -> Value {
    json!([{"text": "It is done already."}])
}

fn show(env: &TestEnv, task: &str) -> String {
    env.run(["task", "show", task]).assert_code(0).stdout
}

fn modes(env: &TestEnv, task: &str) -> Vec<String> {
    let done = of_type(&events(env, task), "execution_done");
    let word = |event: &Value| {
        let execution = &event["execution"];
        let text = |key: &str| execution[key].as_str().unwrap().to_owned();
        format!("{} {}", text("mode"), text("result"))
    };
    done.iter().map(word).collect()
}

#[test]
fn a_coder_that_crashes_is_started_twice_and_the_task_is_left_for_later() {
    // With and without a repetition of the call itself.
    for retry in ["{attempts: 1}", "{attempts: 3, base: 10ms}"] {
        let mut env = project("");
        env.set_env("UNUSED", "1");
        env.write_user_config(&format!(
            "agents:\n  - {{name: dev, command: [sh, -c, 'cat >/dev/null; exit 1'], role: coder}}\n\
             retry: {retry}\n"
        ));
        let task = add(&env, &["one"]);
        add(&env, &["two"]);
        let ran = env.run(["run"]).assert_code(5);
        assert_eq!(markers(&env), "[-] one\n[-] two", "{}", ran.stderr);
        assert_eq!(calls(&env, "dev"), 4, "two for each task");
        assert!(
            ran.stderr.contains("dev failed twice in a row"),
            "{}",
            ran.stderr
        );
        // The next run tries again, as often.
        env.run(["run", "--task", &task]).assert_code(5);
        assert_eq!(calls(&env, "dev"), 6);
        let shown = show(&env, &task);
        assert!(shown.contains("dev failed twice in a row"), "{shown}");
        assert!(shown.contains("tribunal run --task"), "{shown}");
        env.assert_healthy();
    }
}

#[test]
fn another_coder_takes_over_from_one_that_is_broken() {
    let env = project("");
    let broken = "  - {name: bad, command: [sh, -c, 'cat >/dev/null; exit 1'], role: coder}\n";
    connect_only(
        &env,
        &(broken.to_owned() + &scripted(&env, "good", "coder", &works_once())),
    );
    add(&env, &["one"]);
    env.run(["run"]).assert_code(0);
    assert_eq!(markers(&env), "[x] one");
    assert_eq!((calls(&env, "bad"), calls(&env, "good")), (2, 1));
    env.assert_healthy();
}

#[test]
fn a_planner_that_fails_twice_is_done_without() {
    let env = project("");
    let broken = "  - {name: planner, command: [sh, -c, 'cat >/dev/null; exit 1'], role: coder}\n";
    connect_only(
        &env,
        &(broken.to_owned() + &scripted(&env, "dev", "coder", &works_once())),
    );
    add(&env, &["one"]);
    env.run(["run"]).assert_code(0);
    assert_eq!(markers(&env), "[x] one");
    assert_eq!((calls(&env, "planner"), calls(&env, "dev")), (2, 1));
    env.assert_healthy();
}

#[test]
fn a_coder_that_changes_nothing_twice_leads_to_a_question_to_a_person() {
    for arbiter in ["COMPLETE", "RETRY", "CONTINUE"] {
        let env = project("project: {test_command: 'true'}\n");
        let agents = scripted(&env, "dev", "coder", &idles())
            + &scripted(&env, "art", "arbiter", &answer(arbiter));
        connect_only(&env, &agents);
        let task = add(&env, &["one"]);
        let ran = env.run(["run"]).assert_code(0);
        assert_eq!(markers(&env), "[!] one", "{arbiter}: {}", ran.stderr);
        assert_eq!(calls(&env, "dev"), 2, "{arbiter}");
        let shown = show(&env, &task);
        assert!(shown.contains("tribunal dispute show"), "{shown}");
        // The tests were run on the state as it is, before anybody is asked to look.
        assert!(modes(&env, &task).contains(&"tester tested".to_owned()));
        // Whoever sees that it is done says so.
        let disputes = env.run(["dispute", "list", "--json"]).json();
        let dispute = disputes["disputes"][0]["id"].as_str().unwrap();
        let resolve = crate::common::resolve_args(dispute, "coder", "it is there already");
        env.run(resolve).assert_code(0);
        assert_eq!(markers(&env), "[x] one");
        env.assert_healthy();
    }
}

#[test]
fn retry_goes_to_whoever_worked_last_and_never_to_the_tests() {
    let env = project("project: {test_command: 'true'}\n");
    let agents = scripted(&env, "dev", "coder", &works_once())
        + &scripted(&env, "art", "arbiter", &answer("RETRY"));
    connect_only(&env, &agents);
    let task = add(&env, &["one"]);
    env.run(["run"]).assert_code(0);
    assert_eq!(markers(&env), "[x] one");
    // The tests ran once, because nothing was changed since.
    assert_eq!(
        modes(&env, &task),
        ["developer worked", "tester tested", "developer unchanged"]
    );
    let asked = env.run(["export", &task]).json();
    let prompts = asked["runs"].as_array().unwrap().iter();
    let mut hinted = prompts.filter(|run| run["agent"] == "dev");
    let last = hinted.next_back().unwrap()["prompt"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(last.contains("do it another way"), "{last}");
    env.assert_healthy();
}

#[test]
fn every_execution_counts_against_the_limit_tests_included() {
    let env = project_of(
        "echo x >> \"$DIR/calls\"; echo x >> never.py",
        "project: {test_command: [sh, -c, 'exit 1']}\n",
    );
    let task = add(&env, &["one"]);
    env.run(["run", "--max-iterations", "4"]).assert_code(1);
    assert_eq!(markers(&env), "[F] one");
    assert_eq!(modes(&env, &task).len(), 4);
    // What was done is kept, and the way back is told.
    let branch = format!("tribunal/task/{task}");
    let kept = git(&env.project(), &["log", "-1", "--format=%s", &branch]);
    assert_eq!(kept, "one");
    let shown = show(&env, &task);
    assert!(shown.contains(&branch), "{shown}");
    assert!(shown.contains("tribunal task reopen"), "{shown}");
    assert!(
        shown.contains("the tests still fail after 4 executions"),
        "{shown}"
    );
    // Reopened, it starts from what is approved by then.
    env.run(["task", "reopen", &task]).assert_code(0);
    env.run(["run", "--max-iterations", "2"]).assert_code(1);
    let bases = of_type(&events(&env, &task), "work_based");
    assert_eq!(bases.len(), 2);
    env.assert_healthy();
}

#[test]
fn work_to_which_nothing_is_added_goes_to_the_review() {
    let plan = json!([{"json": {"nonce": NONCE, "end": NONCE,
        "steps": [{"id": "1", "title": "all of it"}]}}]);
    let env = project("");
    let agents =
        scripted(&env, "dev", "coder", &works_once()) + &scripted(&env, "planner", "coder", &plan);
    connect_only(&env, &agents);
    add(&env, &["prose under a plan"]);
    env.run(["run"]).assert_code(0);
    assert_eq!(markers(&env), "[x] prose under a plan");
    assert!(calls(&env, "dev") <= 3);

    let env = project("");
    let agents = scripted(&env, "dev", "coder", &works_once())
        + &scripted(&env, "art", "arbiter", &answer("CONTINUE"));
    connect_only(&env, &agents);
    add(&env, &["one more look"]);
    env.run(["run"]).assert_code(0);
    assert_eq!(markers(&env), "[x] one more look");
    assert_eq!(calls(&env, "dev"), 2);
    env.assert_healthy();
}

#[test]
fn work_that_fails_the_tests_is_never_sent_to_a_paid_review() {
    for arbiter in ["COMPLETE", "SELECT_MODE"] {
        let env = project(
            "run: {max_iterations: 8}\narbiter: {builtin_rules: false}\n\
             project: {test_command: [sh, -c, 'exit 1']}\n",
        );
        let decision = json!([{"json": {"nonce": NONCE, "decision": arbiter, "mode": "reviewer",
            "reason": "r", "summary": "s", "end": NONCE}}]);
        let approves = json!([{"json": {"nonce": NONCE, "findings": [], "end": NONCE}}]);
        let agents = scripted(&env, "dev", "coder", &works_once())
            + &scripted(&env, "rex", "reviewer", &approves)
            + &scripted(&env, "art", "arbiter", &decision);
        connect_only(&env, &agents);
        let task = add(&env, &["one"]);
        let ran = env.run(["run"]).assert_code(1);
        assert_eq!(markers(&env), "[F] one", "{}", ran.stderr);
        assert_eq!(calls(&env, "rex"), 0);
        assert!(calls(&env, "dev") <= 3, "{}", ran.stderr);
        let shown = show(&env, &task).to_lowercase();
        assert!(shown.contains("the tests"), "{shown}");
        env.assert_healthy();
    }
}

#[test]
fn the_history_names_the_files_of_each_execution() {
    let env = project_of(
        "n=$(ls | grep -c '^step'); echo \"x = $n\" > \"step$n.py\"",
        "run: {max_iterations: 3}\n",
    );
    let agents = scripted(&env, "art", "arbiter", &answer("CONTINUE"));
    super::connect(&env, &agents);
    let task = add(&env, &["one"]);
    env.run(["run"]).assert_code(0);
    let done = of_type(&events(&env, &task), "execution_done");
    let files: Vec<String> = done
        .iter()
        .filter(|event| event["execution"]["result"] == "worked")
        .map(|event| event["execution"]["files"].to_string())
        .collect();
    assert_eq!(
        files,
        [r#"["step0.py"]"#, r#"["step1.py"]"#, r#"["step2.py"]"#]
    );
    env.assert_healthy();
}

#[test]
fn contradicting_parallel_work_is_done_again_and_is_no_rejection() {
    let env = project_of(
        "sleep 0.3; echo \"x = '$title'\" > same.py",
        "run: {coordinate_at: [1]}\n",
    );
    for title in ["one", "two", "three"] {
        add(&env, &[title]);
    }
    let ran = env
        .run(["run", "--parallel", "3", "--json"])
        .assert_code(0)
        .json();
    assert_eq!(markers(&env), "[x] one\n[x] two\n[x] three");
    for task in ran["tasks"].as_array().unwrap() {
        assert_eq!(task["rejections"], 0, "{task}");
        let story = events(&env, task["task"].as_str().unwrap());
        assert!(of_type(&story, "guidance_given").is_empty());
    }
    env.assert_healthy();
}

#[test]
fn the_end_of_a_run_says_what_is_left_why_and_what_to_type() {
    let env = project("");
    env.write_user_config(
        "agents:\n  - {name: dev, command: [sh, -c, 'cat >/dev/null; exit 1'], role: coder}\n\
         retry: {attempts: 1}\n",
    );
    let task = add(&env, &["one"]);
    let ran = env.run(["run"]).assert_code(5);
    assert!(
        ran.stderr.contains("1 task was left for later"),
        "{}",
        ran.stderr
    );
    assert!(
        !ran.stderr.contains("nothing is left to do"),
        "{}",
        ran.stderr
    );
    assert!(
        ran.stderr.contains(&format!("tribunal run --task {task}")),
        "{}",
        ran.stderr
    );
    let dry = env.run(["run", "--once", "--dry-run"]).assert_code(0);
    assert_eq!(dry.stdout.matches("c-").count(), 1, "{}", dry.stdout);
}
