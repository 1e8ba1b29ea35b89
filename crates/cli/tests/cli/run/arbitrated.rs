//! Work of the loop is reviewed with arbitration: fixed, contested, ruled on, or left to a person.

use serde_json::{Value, json};

use super::{add, connect_only, git, markers, project};
use crate::common::{TestEnv, resolve_args};

const NONCE: &str = "{{line:Nonce: }}";
const WORK: &str = "# One task";
const RESPOND: &str = "# Review feedback on your code";
const DEFECT: &str = "def f(x):\n    return eval(x)\n";
const MENDED: &str = "def f(x):\n    return x + 1\n";

/// What a coder does about a task: `name` is its title and the beginning of its file's name.
fn works(name: &str, files: &Value) -> Value {
    json!({"when": [WORK, format!("Task: {name}")], "write": files,
        "json": {"nonce": NONCE, "summary": "did it", "done": [], "end": NONCE}})
}

/// How the coder answers the findings about a task; `more` is what else the question must hold.
fn responds(name: &str, more: &[&str], answers: &[Value], files: &Value) -> Value {
    let mut when = vec![RESPOND.to_owned(), format!("{name}.py")];
    when.extend(more.iter().map(|text| (*text).to_owned()));
    json!({"when": when, "write": files,
        "json": {"nonce": NONCE, "responses": answers, "end": NONCE}})
}

fn implemented(id: &str) -> Value {
    json!({"finding_id": id, "answer": "implemented"})
}

fn objected(id: &str, file: &str) -> Value {
    json!({"finding_id": id, "answer": "objected", "reason": "misunderstood_context",
        "justification": "Only constants come in here.",
        "evidence": [{"kind": "code", "reference": format!("{file}:1"), "text": "def f(x):"}]})
}

fn ruling(file: &str, word: &str) -> Value {
    json!({"when": file, "json": {"nonce": NONCE, "ruling": word, "reason": format!("{file} shows it."),
        "reversal": "Another caller.", "end": NONCE}})
}

/// A project whose coder and judge answer from these scripts.
fn court(coder: &[Value], judge: &[Value], more: &str) -> TestEnv {
    let env = project(&format!(
        "review: {{on_dispute: {{default: judge}}}}\nrun: {{max_iterations: 3}}\n{more}"
    ));
    let mut agents = String::new();
    for (name, role, replies) in [("cody", "coder", coder), ("jude", "judge", judge)] {
        if replies.is_empty() {
            continue;
        }
        let script = json!({ "replies": replies }).to_string();
        let script = env.write(&format!("../{name}.json"), script);
        let script = script.display();
        agents += &format!(
            "  - {{name: {name}, provider: scripted, role: {role}, family: {name}s, script: {script}}}\n"
        );
    }
    connect_only(&env, &agents);
    env
}

fn on_work(env: &TestEnv, file: &str) -> String {
    git(&env.project(), &["show", &format!("tribunal/work:{file}")])
}

fn open_disputes(env: &TestEnv) -> Vec<Value> {
    let listed = env.run(["dispute", "list", "--status", "open", "--json"]);
    let mut open = listed.json()["disputes"].as_array().unwrap().clone();
    open.reverse();
    open
}

fn resolve(env: &TestEnv, dispute: &str, decision: &str) -> String {
    let ruling = resolve_args(dispute, decision, "as I say");
    env.run(ruling).assert_code(0).stdout
}

#[test]
fn findings_are_fixed_dismissed_enforced_or_left_to_a_person_and_others_go_on() {
    let one = |name: &str, text: &str| json!({ format!("{name}.py"): text });
    let coder = [
        works("fixes", &one("fixes", DEFECT)),
        works("right", &one("right", DEFECT)),
        works("wrong", &one("wrong", DEFECT)),
        works("unclear", &one("unclear", DEFECT)),
        works("easy", &one("easy", MENDED)),
        responds("fixes", &[], &[implemented("F1")], &one("fixes", MENDED)),
        responds(
            "wrong",
            &["\"ruling\":\"ENFORCE\""],
            &[implemented("F1")],
            &one("wrong", MENDED),
        ),
        responds("right", &[], &[objected("F1", "right.py")], &json!({})),
        responds("wrong", &[], &[objected("F1", "wrong.py")], &json!({})),
        responds("unclear", &[], &[objected("F1", "unclear.py")], &json!({})),
    ];
    let judge = [
        ruling("right.py", "DISMISS"),
        ruling("wrong.py", "ENFORCE"),
        ruling("unclear.py", "ESCALATE"),
    ];
    let env = court(&coder, &judge, "");
    for title in ["fixes", "right", "wrong", "unclear", "easy"] {
        add(&env, &[title]);
    }
    env.run(["run"]).assert_code(0);
    assert_eq!(
        markers(&env),
        "[x] fixes\n[x] right\n[x] wrong\n[!] unclear\n[x] easy"
    );
    // What is on the branch is what the arbitration came to, and nothing was rejected for it.
    for (file, text) in [
        ("fixes.py", MENDED),
        ("right.py", DEFECT),
        ("wrong.py", MENDED),
    ] {
        assert_eq!(on_work(&env, file), text.trim(), "{file}");
    }
    let list = env.run(["task", "list", "--json"]).json();
    let rejected = list["tasks"].as_array().unwrap().iter();
    assert!(rejected.clone().all(|task| task["rejections"] == 0));
    // The reviews made no branches; contested work is kept on one of its own.
    let branches = git(&env.project(), &["branch", "--list", "tribunal/*"]);
    assert_eq!(branches.lines().count(), 2, "{branches}");
    let page = std::fs::read_to_string(env.project().join("dispute.md")).unwrap();
    assert_eq!(page.matches("(OPEN)").count(), 1, "{page}");
    assert!(page.contains("**Task:** unclear ("), "{page}");
    env.assert_healthy();
    // The one dispute is the finding's and the task's; a ruling for the coder settles both.
    let open = open_disputes(&env);
    let id = open[0]["id"].as_str().unwrap();
    let told = resolve(&env, id, "coder");
    assert!(told.contains("[!] → [x]"), "{told}");
    assert!(markers(&env).contains("[x] unclear"));
    assert_eq!(on_work(&env, "unclear.py"), DEFECT.trim());
    env.assert_healthy();
}

#[test]
fn a_ruling_against_the_coder_sends_the_task_back_with_the_finding() {
    let coder = [
        json!({"when": [WORK, "Task: unclear", "as I say"], "write": {"unclear.py": MENDED},
            "json": {"nonce": NONCE, "summary": "mended", "done": [], "end": NONCE}}),
        works("unclear", &json!({"unclear.py": DEFECT})),
        responds("unclear", &[], &[objected("F1", "unclear.py")], &json!({})),
    ];
    // Without a judge a person has to rule.
    let env = court(&coder, &[], "");
    let task = add(&env, &["unclear"]);
    env.run(["run"]).assert_code(0);
    let open = open_disputes(&env);
    let told = resolve(&env, open[0]["id"].as_str().unwrap(), "reviewer");
    assert!(told.contains("[!] → [-]"), "{told}");
    let shown = env.run(["task", "show", &task]).stdout;
    assert!(shown.contains("Ruled about"), "{shown}");
    env.run(["run"]).assert_code(0);
    assert_eq!(markers(&env), "[x] unclear");
    assert_eq!(on_work(&env, "unclear.py"), MENDED.trim());
    env.assert_healthy();
}

#[test]
fn a_task_with_two_open_findings_moves_after_the_last_ruling() {
    let both = json!({"two.py": DEFECT, "two_b.py": DEFECT});
    let coder = [
        works("two", &both),
        responds(
            "two",
            &[],
            &[objected("F1", "two.py"), objected("F2", "two_b.py")],
            &json!({}),
        ),
    ];
    for (first, second, marker, turn) in [
        ("coder", "coder", "[x]", 0),
        ("coder", "coder", "[x]", 1),
        ("reviewer", "coder", "[-]", 0),
        ("coder", "reviewer", "[-]", 0),
    ] {
        let env = court(&coder, &[], "");
        let task = add(&env, &["two"]);
        env.run(["run"]).assert_code(0);
        assert_eq!(markers(&env), "[!] two");
        let open = open_disputes(&env);
        assert_eq!(open.len(), 2);
        // One of them is the task's, and only one.
        let of_task = env
            .run(["dispute", "list", "--task", &task, "--json"])
            .json();
        assert_eq!(of_task["disputes"].as_array().unwrap().len(), 1);
        // Whichever is ruled first, the task waits for the other one, and that is said.
        let id = |index: usize| open[index]["id"].as_str().unwrap();
        let told = resolve(&env, id(turn), first);
        let waits = format!(
            "Task {task}: [!] stays, it still waits for {}\n",
            id(1 - turn)
        );
        assert!(told.ends_with(&waits), "{told}");
        assert_eq!(markers(&env), "[!] two");
        resolve(&env, id(1 - turn), second);
        assert_eq!(markers(&env), format!("{marker} two"), "{first} {second}");
        env.assert_healthy();
    }
}

#[test]
fn what_the_coder_changed_in_a_review_is_tested_before_it_is_approved() {
    let coder = [
        json!({"when": [WORK, "Task: breaks", "The tests fail"], "write": {"breaks.py": MENDED},
            "json": {"nonce": NONCE, "summary": "mended", "done": [], "end": NONCE}}),
        works("breaks", &json!({"breaks.py": DEFECT})),
        responds(
            "breaks",
            &[],
            &[implemented("F1")],
            &json!({"breaks.py": "BROKEN = 1\n"}),
        ),
    ];
    let tests = "project: {test_command: [sh, -c, '! grep -q BROKEN *.py']}\n";
    let env = court(&coder, &[], tests);
    let task = add(&env, &["breaks"]);
    env.run(["run"]).assert_code(0);
    assert_eq!(markers(&env), "[x] breaks");
    assert_eq!(on_work(&env, "breaks.py"), MENDED.trim());
    let shown = env.run(["task", "show", &task, "--json"]).json();
    assert_eq!(shown["task"]["rejections"], 1);
    env.assert_healthy();
}

#[test]
fn arbitration_in_the_loop_can_be_turned_off() {
    let coder = [
        json!({"when": [WORK, "Task: off", "must be dealt with"], "write": {"off.py": MENDED},
            "json": {"nonce": NONCE, "summary": "mended", "done": [], "end": NONCE}}),
        works("off", &json!({"off.py": DEFECT})),
    ];
    let env = court(&coder, &[], "");
    let task = add(&env, &["off"]);
    env.run(["run", "--set", "run.arbitrate=false"])
        .assert_code(0);
    let shown = env.run(["task", "show", &task, "--json"]).json();
    assert_eq!(shown["task"]["rejections"], 1);
    assert_eq!(markers(&env), "[x] off");
}
