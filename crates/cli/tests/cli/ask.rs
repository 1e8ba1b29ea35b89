//! `ask`, good and bad.

use insta::assert_snapshot;
use tribunal_fakes::model::FakeModel;

use crate::common::{TestEnv, fake};

#[test]
fn the_scripted_agent_answers_without_any_configuration() {
    let env = TestEnv::new();
    let ran = env
        .run(["ask", "scripted", "Is anybody there?"])
        .assert_code(0);
    assert_snapshot!(ran.stdout, @"Hello from the scripted agent. I ask no model: I answer from a file, or, as now, with this one sentence. You said: Is anybody there?");
    assert_snapshot!(ran.stderr, @r"
    opened a case of `ask`: scripted: Is anybody there?
    scripted was asked as reviewer: ask answer (scripted)
    scripted answered (0.0 s, 0 tokens, $0.00)
    completed
    ");
    env.assert_healthy();
}

#[test]
fn a_prompt_comes_from_standard_input() {
    let env = TestEnv::new();
    for args in [
        &["ask", "scripted", "-", "-q"][..],
        &["ask", "scripted", "-q"],
    ] {
        let ran = env
            .run_with_input(args, "From a pipe\nwith two lines\n")
            .assert_code(0);
        assert!(ran.stdout.ends_with("You said: From a pipe\n"), "{ran:?}");
        assert_eq!(ran.stderr, "");
    }
}

#[test]
fn a_script_decides_answers_errors_usage_and_cost() {
    let env = TestEnv::new();
    let script = env.write(
        "replies.json",
        r#"{"replies": [
            {"when": "price", "text": "42", "usage": {"input": 1200, "output": 85}, "cost_usd": 0.0071},
            {"when": "busy", "error": {"class": "overloaded", "message": "too many friends"}}
        ]}"#,
    );
    env.write_user_config(&format!(
        "agents:\n  - {{name: ann, provider: scripted, script: {:?}, role: reviewer}}\nretry: {{attempts: 1}}\n",
        script.display().to_string()
    ));
    let ran = env
        .run(["ask", "ann", "What is the price?", "--json"])
        .assert_code(0);
    let answer = &ran.json()["answers"][0];
    assert_eq!(answer["text"], "42");
    assert_eq!(answer["usage"]["input"], 1200);
    assert_eq!(answer["cost"]["known"], 7100);
    assert!(ran.stderr.contains("1,285 tokens, $0.0071"), "{ran:?}");

    let ran = env.run(["ask", "ann", "Are you busy?"]).assert_code(7);
    assert_snapshot!(env.tidy(&ran.stderr), @"
    opened a case of `ask`: ann: Are you busy?
    ann was asked as reviewer: ask answer (scripted)
    ann failed, overloaded: too many friends (0.0 s, 0 tokens, $0.00)
    scripted is parked until [DATE] [TIME]: overloaded
    parked until [DATE] [TIME]: scripted: overloaded
    Error: Parked until [DATE] [TIME] UTC, scripted: overloaded
    Hint: Go on with `tribunal resume [CASE]`
    ");
    let ran = env.run(["ask", "ann", "Something else"]).assert_code(5);
    assert_snapshot!(env.tidy(&ran.stderr), @r#"
    opened a case of `ask`: ann: Something else
    ann was asked as reviewer: ask answer (scripted)
    ann failed, setup: No reply in [ROOT]/project/replies.json fits the prompt "Something else": the nearest, reply 1, wants "price" (0.0 s, 0 tokens, cost unknown)
    inconclusive (setup)
    Error: There is no answer (setup): No reply in [ROOT]/project/replies.json fits the prompt "Something else": the nearest, reply 1, wants "price"
    Hint: Try the open prompts again with `tribunal resume [CASE]`
    "#);
    env.assert_healthy();
}

#[test]
fn a_batch_is_answered_line_by_line() {
    let env = TestEnv::new();
    env.write(
        "batch.jsonl",
        "{\"id\": \"first\", \"prompt\": \"One\"}\n\nTwo\n",
    );
    let ran = env
        .run([
            "ask",
            "scripted",
            "--batch",
            "batch.jsonl",
            "--output",
            "out",
            "-q",
        ])
        .assert_code(0);
    assert_snapshot!(env.tidy(&ran.stdout), @r"
    [ROOT]/project/out/first.md
    [ROOT]/project/out/0003.md
    ");
    let text = std::fs::read_to_string(env.project().join("out/first.md")).unwrap();
    assert!(text.ends_with("You said: One\n"), "{text}");
}

#[test]
fn what_cannot_be_asked_gets_a_sentence() {
    let env = TestEnv::new();
    env.write("empty.txt", "\n\n");
    env.write("bad.jsonl", "{\"id\": 1}\n");
    env.write(
        "twice.jsonl",
        "{\"id\":\"a\",\"prompt\":\"x\"}\n{\"id\":\"a\",\"prompt\":\"y\"}\n",
    );
    env.write("escape.jsonl", "{\"id\":\"../a\",\"prompt\":\"x\"}\n");
    let mut told = String::new();
    for args in [
        &["ask", "nobody", "Hello"][..],
        &["ask", "no body", "Hello"],
        &["ask", "scripted", ""],
        &["ask", "scripted", "--batch", "missing.txt"],
        &["ask", "scripted", "--batch", "empty.txt"],
        &["ask", "scripted", "--batch", "bad.jsonl"],
        &["ask", "scripted", "--batch", "twice.jsonl"],
        &["ask", "scripted", "--batch", "escape.jsonl"],
        &["ask", "scripted", "Hello", "--dir", "nowhere"],
        &["ask", "scripted", "Hello", "--schema", "empty.txt"],
        &["-C", "nowhere", "ask", "scripted", "Hello"],
    ] {
        let ran = env.run(args);
        assert_eq!(ran.stdout, "");
        told += &format!(
            "$ tribunal {}\n{}[{}]\n",
            args.join(" "),
            env.tidy(&ran.stderr),
            ran.code.unwrap()
        );
    }
    assert_snapshot!(told, @r#"
    $ tribunal ask nobody Hello
    Error: No agent is called `nobody`
    Hint: The agents are: scripted
    Hint: Add one with `tribunal connect <agent> --role <role>`
    [4]
    $ tribunal ask no body Hello
    Error: "no body" is not a valid agent name: it must start with a letter or digit and hold at most 64 letters, digits, `-`, `_`, `.`, `:`
    [2]
    $ tribunal ask scripted 
    Error: The prompt is empty
    [2]
    $ tribunal ask scripted --batch missing.txt
    Error: Cannot read [ROOT]/project/missing.txt
      because: No such file or directory (os error 2)
    [4]
    $ tribunal ask scripted --batch empty.txt
    Error: [ROOT]/project/empty.txt holds no prompt
    [2]
    $ tribunal ask scripted --batch bad.jsonl
    Error: [ROOT]/project/bad.jsonl:1: invalid type: integer `1`, expected a string at line 1 column 8
    Hint: A line of a batch is plain text, or `{"id": "a", "prompt": "…"}`
    [2]
    $ tribunal ask scripted --batch twice.jsonl
    Error: Two prompts have the id `a`
    [2]
    $ tribunal ask scripted --batch escape.jsonl
    Error: Prompt id `../a` cannot name a file: use at most 64 letters, digits, `-`, `_`, `.`, beginning with a letter or digit
    [2]
    $ tribunal ask scripted Hello --dir nowhere
    Error: There is no directory [ROOT]/project/nowhere
    [4]
    $ tribunal ask scripted Hello --schema empty.txt
    Error: [ROOT]/project/empty.txt is not JSON: EOF while parsing a value at line 3 column 0
    [2]
    $ tribunal -C nowhere ask scripted Hello
    Error: There is no directory [ROOT]/project/nowhere
    [4]
    "#);
    let log = env.run(["log", "--json"]).json();
    assert_eq!(
        log["cases"],
        serde_json::json!([]),
        "nothing was worth a record"
    );
}

#[test]
fn a_budget_stops_before_the_next_call() {
    let env = TestEnv::new();
    let script = env.write(
        "replies.json",
        r#"{"replies": [{"text": "done", "cost_usd": 0.3}]}"#,
    );
    env.write_user_config(&format!(
        "agents:\n  - {{name: ann, provider: scripted, script: {:?}, role: reviewer}}\n",
        script.display().to_string()
    ));
    env.write("batch.txt", "One\nTwo\nThree\nFour\n");
    let args = [
        "ask",
        "ann",
        "--batch",
        "batch.txt",
        "--max-cost",
        "0.5",
        "--json",
    ];
    let ran = env.run(args).assert_code(7);
    let json = ran.json();
    assert_eq!(json["answers"].as_array().unwrap().len(), 2, "{json:#}");
    assert_eq!(json["state"]["why"]["reason"], "budget");
    // With more money the case goes on where it stopped: two more runs, not four.
    let ran = env
        .run(["resume", "--json", "--set", "budget.per_case=2"])
        .assert_code(0);
    assert_eq!(ran.json()["answers"].as_array().unwrap().len(), 4);
    let log = env.run(["log", "--json"]).json();
    assert_eq!(log["cases"][0]["spend"]["runs"], 4);
    env.assert_healthy();
}

#[test]
fn the_budget_of_a_day_stops_a_script_that_says_what_it_costs() {
    let env = TestEnv::new();
    let script = |name: &str, replies: &str| {
        let path = env.root().join(name);
        std::fs::write(&path, replies).unwrap();
        path.display().to_string()
    };
    let paid = script(
        "paid.json",
        r#"{"replies": [{"text": "done", "cost_usd": 0.3}]}"#,
    );
    let free = script("free.json", r#"{"replies": [{"text": "done"}]}"#);
    env.write_user_config(&format!(
        "agents:\n  - {{name: ann, provider: scripted, script: {paid:?}, role: reviewer}}\n  \
         - {{name: bob, provider: scripted, script: {free:?}, role: reviewer}}\n\
         budget: {{per_day: 0.5}}\n"
    ));
    env.run(["ask", "ann", "One"]).assert_code(0);
    env.run(["ask", "ann", "Two"]).assert_code(0);
    let ran = env.run(["ask", "ann", "Three", "--json"]).assert_code(7);
    assert_eq!(ran.json()["state"]["why"]["cap"], "day", "{ran:?}");
    // Whoever costs nothing goes on.
    env.run(["ask", "bob", "Four"]).assert_code(0);
    env.assert_healthy();
}

#[test]
fn an_agent_may_spend_its_own_budget_in_one_case_and_no_more() {
    let env = TestEnv::new();
    let script = env.write(
        "replies.json",
        r#"{"replies": [{"text": "done", "cost_usd": 0.3}]}"#,
    );
    let config = |most: &str| {
        env.write_user_config(&format!(
            "agents:\n  - {{name: ann, provider: scripted, script: {:?}, role: reviewer, budget: {{max_cost: {most}}}}}\nbudget: {{unknown_call: 0.3}}\n",
            script.display().to_string()
        ));
    };
    env.write("batch.txt", "One\nTwo\nThree\nFour\n");
    let runs = || env.run(["log", "--json"]).json()["cases"][0]["spend"]["runs"].clone();
    config("0.5");
    // All at once are no way around it: those under way count.
    let batch = ["ask", "ann", "--batch", "batch.txt", "--parallel", "4"];
    let ran = env.run(batch).assert_code(7);
    for told in [
        "Parked, budget of the agent ann: $0.60 of $0.50 spent",
        "Hint: Allow more with `budget.max_cost` of that agent in the config\n",
    ] {
        assert!(ran.stderr.contains(told), "{ran:?}");
    }
    assert_eq!(runs(), 2);
    // Whoever resumes has not forgotten what was spent before.
    env.run(["resume"]).assert_code(7);
    assert_eq!(runs(), 2);
    config("2");
    env.run(["resume"]).assert_code(0);
    assert_eq!(runs(), 4);
    // Another case begins anew.
    config("0.5");
    env.run(["ask", "ann", "Hello"]).assert_code(0);
    env.assert_healthy();
}

#[test]
fn a_sign_of_life_tells_what_the_tokens_so_far_cost() {
    let mut env = TestEnv::new();
    env.set_env("SUBJECT_KEY", "key-canary-4711");
    let model = FakeModel::spawn_blocking();
    let base = model.base_url("slow", "k");
    env.write_user_config(&format!(
        "agents:\n  - {{name: ann, provider: anthropic, model: m, base_url: {base:?}, api_key_env: SUBJECT_KEY, role: judge, price: {{input: 10, output: 20}}}}\n"
    ));
    let prompt = format!("FAKE-REPLY: {}", "word ".repeat(40));
    let ran = env
        .run(["ask", "ann", &prompt, "--format", "jsonl"])
        .assert_code(0);
    let events = ran
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    let events: Vec<serde_json::Value> = events.collect();
    let told = events
        .iter()
        .find(|event| event["type"] == "run_progressed");
    let told = told.unwrap_or_else(|| panic!("no sign of life: {}", ran.stdout));
    let input = told["usage"]["input"].as_u64().unwrap();
    assert!(
        told["cost"]["known"].as_u64().unwrap() >= 10 * input,
        "{told}"
    );
    assert!(input > 0, "{told}");
}

#[test]
fn a_daily_budget_binds_across_cases_and_unknown_costs_count() {
    let env = TestEnv::new();
    env.write_user_config(&format!(
        "agents:\n  - {{name: program, command: [{:?}, --behave, ok], role: reviewer}}\nbudget: {{per_day: 0.25, unknown_call: 0.10}}\n",
        fake("fake-agent").display().to_string()
    ));
    for _ in 0..3 {
        env.run(["ask", "program", "Hello"]).assert_code(0);
    }
    let ran = env.run(["ask", "program", "Hello"]).assert_code(7);
    assert!(
        ran.stderr.contains(
            "budget of the day: $0.30 of $0.25 spent, 3 runs of unknown cost counted as $0.10 each"
        ),
        "{ran:?}"
    );
    env.assert_healthy();
}

#[test]
fn a_provider_is_asked_no_more_often_at_once_than_configured() {
    let env = TestEnv::new();
    env.write_user_config(&format!(
        "agents:\n  - {{name: program, command: [{:?}, --behave, ok], role: reviewer}}\nproviders: {{custom: {{concurrency: 2}}}}\n",
        fake("fake-agent").display().to_string()
    ));
    env.write("batch.txt", "One\nTwo\nThree\nFour\nFive\nSix\n");
    let ran = env
        .run([
            "ask",
            "program",
            "--batch",
            "batch.txt",
            "--parallel",
            "6",
            "--format",
            "jsonl",
        ])
        .assert_code(0);
    let (mut running, mut most) = (0_i32, 0);
    for line in ran.stdout.lines() {
        let event: serde_json::Value = serde_json::from_str(line).unwrap();
        match event["type"].as_str().unwrap() {
            "run_started" => running += 1,
            "run_finished" => running -= 1,
            _ => {}
        }
        most = most.max(running);
    }
    // The end of a run is stored a little after its turn was given back.
    assert!((2..=4).contains(&most), "{most} at once");
}

#[test]
fn secrets_reach_neither_ledger_nor_answer() {
    let mut env = TestEnv::new();
    env.set_env("HOUSE_API_KEY", "sk-canary-0123456789")
        .set_env("ANTHROPIC_API_KEY", "sk-ant-canary-42424242");
    env.write_user_config(&format!(
        "agents:\n  - {{name: env, command: [{:?}, --behave, env], role: reviewer}}\n",
        fake("fake-agent").display().to_string()
    ));
    let ran = env
        .run(["ask", "env", "Say sk-canary-0123456789", "--json"])
        .assert_code(0);
    assert!(!ran.stdout.contains("canary"), "{ran:?}");
    let found = std::process::Command::new("grep")
        .args(["-r", "canary"])
        .arg(env.ledger())
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&found.stdout), "");
}
