//! Every command line that the two designs of disputes print works as it is printed, with our
//! name in place of theirs.

use serde_json::json;

use super::{add_task, open_dispute};
use crate::common::{Ran, TestEnv};

/// An id as documents shorten it: eight characters and dots.
fn shortened(id: &str) -> String {
    let figures = id.get(2..10).unwrap();
    format!("{figures}-...")
}

/// Runs a line as a shell would: words, quoted words, lines that go on after a backslash.
fn run(env: &TestEnv, line: &str) -> Ran {
    let mut words: Vec<String> = Vec::new();
    let mut quoted = false;
    let mut open = false;
    for c in line.replace("\\\n", " ").chars() {
        match c {
            '"' => (quoted, open) = (!quoted, true),
            c if c.is_whitespace() && !quoted => open = false,
            c => {
                if !open {
                    words.push(String::new());
                    open = true;
                }
                words.last_mut().unwrap().push(c);
            }
        }
        if c == '"' && quoted {
            words.push(String::new());
        }
    }
    assert_eq!(words.first().map(String::as_str), Some("tribunal"));
    env.run(&words[1..])
}

fn task_in(env: &TestEnv, title: &str, steps: &[&str]) -> String {
    let task = add_task(env, title);
    for step in steps {
        env.run(["task", step, &task]).assert_code(0);
    }
    task
}

#[test]
fn the_commands_of_the_designs_work_as_printed() {
    let env = TestEnv::with_repository();
    let in_review = task_in(&env, "Fix login bug", &["start", "submit"]);
    let sent_back = task_in(&env, "Add caching", &["start", "submit", "reject"]);
    let fill = |text: &str, id: &str| text.replace("ID", &shortened(id));

    let from_reviewer = "tribunal dispute create ID \\\n  --reason \"architecture_disagreement\" \\\n  \
        --position \"Session cookies are more secure\" \\\n  --model claude-opus-4";
    run(&env, &fill(from_reviewer, &in_review)).assert_code(0);
    let from_coder = "tribunal dispute create ID \\\n  --reason \"specification_interpretation\" \\\n  \
        --position \"Spec says 'stateless auth' which implies JWT\" \\\n  --model claude-sonnet-4";
    run(&env, &fill(from_coder, &sent_back)).assert_code(0);
    let listed = env.run(["dispute", "list", "--json"]).assert_code(0).json();
    let side = |index: usize, side: &str| listed["disputes"][index][side]["model"].clone();
    assert_eq!(side(0, "coder"), "claude-sonnet-4");
    assert_eq!(side(1, "reviewer"), "claude-opus-4");

    for (decision, notes) in [
        ("coder", "JWT is acceptable for our threat model"),
        ("reviewer", "Security is priority, use session cookies"),
        (
            "custom",
            "Use JWT but store in httpOnly cookie, not localStorage",
        ),
    ] {
        let task = task_in(&env, "Add OAuth", &["start", "submit"]);
        let id = open_dispute(&env, &task);
        let line = format!(
            "tribunal dispute resolve ID \\\n  --decision {decision} \\\n  --notes \"{notes}\""
        );
        run(&env, &fill(&line, &id)).assert_code(0);
    }

    let minor = "tribunal dispute log ID \\\n  --minor \\\n  --notes \"Reviewer preferred camelCase but \
        coder used snake_case. Continuing with snake_case per existing codebase convention.\"";
    run(&env, &fill(minor, &sent_back)).assert_code(0);
    let id = listed["disputes"][0]["id"].as_str().unwrap();
    for line in [
        "tribunal dispute list",
        "tribunal dispute show ID",
        "tribunal dispute list --status open",
        "tribunal dispute list --status resolved",
        "tribunal dispute list --stale",
        "tribunal disputes --recent 10",
        "tribunal config set review.on_dispute.default judge",
    ] {
        run(&env, &fill(line, id)).assert_code(0);
    }
    run(&env, "tribunal connect claude --role judge").assert_code(0);

    let nonce = "{{line:Nonce: }}";
    let mended = json!({"replies": [{
        "json": {"nonce": nonce, "responses": [{"finding_id": "F1", "answer": "implemented",
            "justification": "It reads no code any more.", "evidence": []}], "end": nonce},
        "write": {"src/a.py": "print(1)\n"},
    }]});
    let script = env.write("../cody.json", mended.to_string());
    env.write_user_config(&format!(
        "agents:\n  - {{name: cody, provider: scripted, script: {script:?}, role: coder}}\n"
    ));
    env.write("src/a.py", "eval(input())\n");
    let reviewed = run(&env, "tribunal review src/ --arbitrate").assert_code(1);
    assert!(
        reviewed.stdout.contains("PASS with `tribunal/"),
        "{reviewed:?}"
    );
    env.assert_healthy();
}
