//! `log`, `show`, `watch`, `resume`, `replay`, `export`.

use insta::assert_snapshot;

use crate::common::{TestEnv, fake};

fn asked(env: &TestEnv) -> String {
    let ran = env
        .run(["ask", "scripted", "Hello", "--json"])
        .assert_code(0);
    ran.json()["case"].as_str().unwrap().to_owned()
}

#[test]
fn an_empty_project_has_nothing_to_show() {
    let env = TestEnv::new();
    let ran = env.run(["log"]).assert_code(0);
    assert_snapshot!(ran.stderr, @"Nothing is recorded yet. Try `tribunal review`, or `tribunal demo` for a story.");
    let mut told = String::new();
    for command in ["show", "watch", "resume", "replay", "export"] {
        let ran = env.run([command, "c-0123456789"]).assert_code(4);
        told += &format!("{command}: {}", ran.stderr);
    }
    assert_snapshot!(told, @"
    show: Error: No case has the id `c-0123456789`
    Hint: `tribunal log` lists the cases of this project
    watch: Error: No case has the id `c-0123456789`
    Hint: `tribunal log` lists the cases of this project
    resume: Error: No case has the id `c-0123456789`
    Hint: `tribunal log` lists the cases of this project
    replay: Error: No case has the id `c-0123456789`
    Hint: `tribunal log` lists the cases of this project
    export: Error: No case has the id `c-0123456789`
    Hint: `tribunal log` lists the cases of this project
    ");
}

#[test]
fn a_case_is_listed_shown_and_told_again() {
    let env = TestEnv::new();
    let case = asked(&env);
    let log = env.run(["log"]).assert_code(0);
    assert!(
        log.stdout.contains(&case) && log.stdout.contains("completed"),
        "{}",
        log.stdout
    );
    let shown = env.run(["show", &case[..6]]).assert_code(0);
    assert!(shown.stdout.contains("You said: Hello"), "{}", shown.stdout);
    let events = env.run(["show", &case, "--format", "jsonl"]).assert_code(0);
    let types: Vec<_> = events
        .stdout
        .lines()
        .map(|line| {
            serde_json::from_str::<serde_json::Value>(line).unwrap()["type"]
                .as_str()
                .unwrap()
                .to_owned()
        })
        .collect();
    assert_eq!(
        types,
        [
            "case_opened",
            "step_started",
            "run_started",
            "run_finished",
            "step_finished",
            "case_closed"
        ]
    );
    let watched = env.run(["watch", &case]).assert_code(0);
    assert!(
        watched.stderr.contains("is at rest: completed"),
        "{watched:?}"
    );
    let resumed = env.run(["resume", &case]).assert_code(0);
    assert_snapshot!(env.tidy(&resumed.stderr), @"Case [CASE] has come to its end; there is nothing left to do. `tribunal show [CASE]` tells how it ended.");
}

#[test]
fn a_replay_needs_no_agent_and_gives_the_same_result() {
    let env = TestEnv::new();
    let log = env.root().join("world.log");
    env.write_user_config(&format!(
        "agents:\n  - {{name: program, command: [{:?}, --behave, ok, --log, {:?}], role: reviewer}}\n",
        fake("fake-agent").display().to_string(),
        log.display().to_string()
    ));
    let case = env
        .run(["ask", "program", "Hello", "--json"])
        .assert_code(0)
        .json()["case"]
        .as_str()
        .unwrap()
        .to_owned();
    env.write_user_config("");
    let ran = env
        .run(["replay", &case, "--format", "json"])
        .assert_code(0);
    assert_eq!(ran.json()["same"], true);
    assert_eq!(
        std::fs::read_to_string(&log).unwrap().lines().count(),
        1,
        "the program ran once"
    );
    let text = std::fs::read_to_string(&log).unwrap();
    assert_eq!(text.lines().count(), 1);

    // A changed record is noticed by the replay and by the doctor.
    let reply = std::fs::read_dir(env.ledger().join("runs"))
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path()
        .join("reply.json");
    let changed = std::fs::read_to_string(&reply)
        .unwrap()
        .replace("Hello", "Goodbye");
    std::fs::write(&reply, changed).unwrap();
    env.run(["doctor", "--ledger-only"]).assert_code(1);
}

#[test]
fn a_recorded_case_can_answer_as_an_agent() {
    let env = TestEnv::new();
    let case = asked(&env);
    env.write_user_config(&format!(
        "agents:\n  - {{name: scripted, provider: replay, case: {case}, role: reviewer}}\n"
    ));
    let ran = env.run(["ask", "scripted", "Hello", "-q"]).assert_code(0);
    assert!(ran.stdout.ends_with("You said: Hello\n"));
    let ran = env.run(["ask", "scripted", "Hello there"]).assert_code(5);
    assert!(
        ran.stderr.contains("nearest"),
        "a miss shows the nearest recording: {ran:?}"
    );
}

#[test]
fn an_export_holds_everything_and_cannot_be_broken_out_of() {
    let env = TestEnv::new();
    env.run(["ask", "scripted", "```\n# forged heading", "--json"])
        .assert_code(0);
    let ran = env
        .run(["export", "c-", "--format", "markdown"])
        .assert_code(0);
    assert!(
        ran.stdout.contains("````text\n```\n# forged heading\n````"),
        "{}",
        ran.stdout
    );
    env.run(["export", "c-", "-o", "case.json"]).assert_code(0);
    let text = std::fs::read_to_string(env.project().join("case.json")).unwrap();
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(json["schema"], "tribunal.case.v1");
    assert_eq!(json["runs"][0]["prompt"], "```\n# forged heading");
}

#[test]
fn two_processes_do_not_work_on_one_case() {
    let env = TestEnv::new();
    env.write_user_config(&format!(
        "agents:\n  - {{name: slow, command: [{:?}, --behave, silent], role: reviewer}}\n",
        fake("fake-agent").display().to_string()
    ));
    let mut child = env.command(["ask", "slow", "Hello", "-q"]).spawn().unwrap();
    let case = loop {
        let log = env.run(["log", "--json"]).json();
        if let Some(case) = log["cases"][0]["case"].as_str() {
            break case.to_owned();
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    };
    let ran = env.run(["resume", &case]).assert_code(6);
    assert!(
        ran.stderr.contains("is being worked on by process"),
        "{ran:?}"
    );
    // Told to stop at once, it parks the case and leaves nothing behind.
    let pid = child.id().to_string();
    std::process::Command::new("kill")
        .args(["-TERM", &pid])
        .status()
        .unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let log = env.run(["log"]).stdout;
    assert!(log.contains("parked (interrupted)"), "{log}");
    env.assert_healthy();
}

#[test]
fn resuming_leaves_the_recorded_prompt_of_a_cut_off_run_alone() {
    let mut env = TestEnv::new();
    let prompt = "Say sk-canary-0123456789";
    // A run that may change files is registered before it starts, whatever it costs.
    let output = env
        .command(["ask", "scripted", "--dir", ".", "--write", prompt])
        .env("TRIBUNAL_CRASH_AT", "call.run.started#1")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), None, "killed: {output:?}");
    // By now the word is known to be a secret, so the prompt is put differently.
    env.set_env("HOUSE_API_KEY", "sk-canary-0123456789");
    let ran = env.run(["resume", "-q"]).assert_code(0);
    assert!(
        ran.stdout.ends_with("You said: Say [redacted]\n"),
        "{ran:?}"
    );
    env.assert_healthy();
}
