//! `doctor`: what is not as the ledger says is found and named.

use insta::assert_snapshot;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _, Executor as _};

use crate::common::{TestEnv, resolve_args};
use crate::dispute::{Court, open_dispute};

fn complaints(env: &TestEnv) -> String {
    let ran = env.run(["doctor", "--ledger-only", "--json"]);
    let json = ran.json();
    let findings = json["findings"].as_array().unwrap().iter();
    let broken = findings.filter_map(|finding| {
        let invariant = finding["invariant"].as_str()?;
        assert_eq!(finding["fine"], false, "{finding}");
        Some(format!(
            "{invariant}: {}",
            finding["told"].as_str().unwrap()
        ))
    });
    let broken: Vec<String> = broken.collect();
    assert_eq!(ran.code, Some(i32::from(!broken.is_empty())), "{json:#}");
    broken.join("; ")
}

#[test]
fn a_page_of_disputes_that_is_not_what_the_ledger_says_is_found() {
    let court = Court::new();
    let page = court.env.project().join("dispute.md");
    assert_eq!(complaints(&court.env), "");
    let dispute = court.open();
    assert_eq!(complaints(&court.env), "");

    let text = court.page();
    std::fs::write(&page, text.replace("Session cookies", "Session biscuits")).unwrap();
    let remedy = "it is written anew after the next change of a dispute";
    assert_eq!(
        complaints(&court.env),
        format!(
            "I12: dispute.md does not hold what the ledger says: it was edited, is of another \
             branch or of other settings; {remedy}"
        )
    );
    std::fs::remove_file(&page).unwrap();
    assert_eq!(
        complaints(&court.env),
        format!("I12: dispute.md is missing or cannot be read; {remedy}")
    );

    let ruling = resolve_args(&dispute, "coder", "tested");
    court.env.run(ruling).assert_code(0);
    assert_eq!(complaints(&court.env), "");
}

#[test]
fn a_page_that_is_not_ours_or_still_to_be_written_is_no_fault() {
    let court = Court::new();
    let page = court.env.project().join("dispute.md");
    std::fs::write(&page, "My own notes\n").unwrap();
    court.open();
    assert_eq!(complaints(&court.env), "");
    std::fs::remove_file(&page).unwrap();

    let other = Court::new();
    let args = ["dispute", "create", &other.task, "--reason", "other"];
    let args = [&args[..], &["--position", "no", "--as", "reviewer"]].concat();
    other.env.crash_at(&args, "dispute.event.after", 1);
    assert!(!other.env.project().join("dispute.md").exists());
    assert_eq!(complaints(&other.env), "");
}

#[test]
fn a_key_that_was_kept_is_found() {
    let mut env = TestEnv::new();
    env.write_user_config(
        "agents:\n  - {name: far, provider: anthropic, model: claude-sonnet-4-5, \
         api_key_env: FAR_KEY, role: judge}\n",
    );
    // Nobody knew that it was a key when it was put into a prompt.
    env.run(["ask", "scripted", "sk-canary-4711-0815"])
        .assert_code(0);
    assert_eq!(complaints(&env), "");
    env.set_env("FAR_KEY", "sk-canary-4711-0815");
    let found = complaints(&env);
    assert!(
        found.contains("I11: the value of FAR_KEY stands in "),
        "{found}"
    );
    assert!(found.contains("prompt.md"), "{found}");
    assert!(!found.contains("canary"), "{found}");
}

#[test]
fn a_report_that_was_changed_is_found() {
    let env = TestEnv::with_repository();
    env.write("a.py", "import os\nos.system('ls ' + input())\n");
    env.run(["review", "--json"]);
    assert_eq!(complaints(&env), "");
    let blobs = std::fs::read_dir(env.ledger().join("blobs")).unwrap();
    for blob in blobs.map(|blob| blob.unwrap().path()) {
        std::fs::write(blob, "{}").unwrap();
    }
    let found = complaints(&env);
    assert!(found.starts_with("I5: the report of case "), "{found}");
    assert!(found.ends_with(" is missing or changed"), "{found}");
}

#[test]
fn each_broken_invariant_is_a_finding_of_its_own_and_derived_tables_can_be_mended() {
    let env = TestEnv::new();
    env.run(["ask", "scripted", "Hello"]).assert_code(0);
    let stray = env.ledger().join("runs/r-0000000000000000");
    std::fs::create_dir(&stray).unwrap();
    std::fs::write(stray.join("exit.json"), "{}").unwrap();
    damage(
        &env,
        "UPDATE runs SET output = 77; UPDATE cases SET title = 'Forged'",
    );
    let found = complaints(&env);
    assert_eq!(found.matches("derived: ").count(), 2, "{found}");
    assert_eq!(found.matches("I8: ").count(), 1, "{found}");

    let repair = ["doctor", "--ledger-only", "--repair"];
    let ran = env.run(repair).assert_code(1);
    assert_snapshot!(env.tidy(&ran.stdout), @"
    ok   ledger: the tables derived from its events were made anew
    BAD  ledger: 1 cases, 1 runs in [ROOT]/ledger
    BAD  ledger I8: directory runs/r-0000000000000000 belongs to no run
    ");
    std::fs::remove_dir_all(&stray).unwrap();
    assert_eq!(complaints(&env), "");
    let log = env.run(["log", "--json"]).json();
    assert_eq!(log["cases"][0]["title"], "scripted: Hello");
}

/// Changes the ledger behind the program's back.
fn damage(env: &TestEnv, sql: &'static str) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let options = SqliteConnectOptions::new().filename(env.ledger().join("ledger.db"));
        let mut ledger = options.connect().await.unwrap();
        ledger.execute(sql).await.unwrap();
        ledger.close().await.unwrap();
    });
}

#[test]
fn a_second_dispute_keeps_the_page_true() {
    let court = Court::new();
    court.open();
    let task = crate::dispute::add_task(&court.env, "Another");
    court.env.run(["task", "start", &task]).assert_code(0);
    court.env.run(["task", "submit", &task]).assert_code(0);
    open_dispute(&court.env, &task);
    assert_eq!(complaints(&court.env), "");
}

/// A program that tells its version and, as Claude Code does, whether somebody is logged in.
fn claude_with(env: &TestEnv, logged_in: bool) {
    let code = i32::from(!logged_in);
    let program = env.write(
        "claude",
        format!(
            "#!/bin/sh\ncase \"$1\" in\n--version) echo '2.1.325 (Claude Code)' ;;\n\
             auth) echo '{{\"loggedIn\": {logged_in}, \"authMethod\": \"oauth\"}}'; exit {code} ;;\n\
             *) touch was-asked; exit 9 ;;\nesac\n"
        ),
    );
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&program, mode).unwrap();
    env.write_user_config(&format!(
        "agents:\n  - {{name: ann, provider: claude, command: [{}], role: reviewer}}\n",
        program.display()
    ));
}

#[test]
fn an_agent_that_nobody_is_logged_in_to_is_named_with_its_remedy_and_not_asked() {
    let mut env = TestEnv::new();
    // What this machine can confine programs with is not what is told here.
    env.set_env("TRIBUNAL_SANDBOX__MODE", "off");
    claude_with(&env, false);
    let ran = env.run(["doctor"]).assert_code(1);
    assert_snapshot!(env.tidy(&ran.stdout), @"
    ok   config: [ROOT]/home/.config/tribunal/config.yml
    ok   sandbox: off; programs run with your rights
    BAD  agent ann: 2.1.325 (Claude Code); nobody is logged in
         to do: set ANTHROPIC_API_KEY; or log in with `claude auth login` and give this agent `login: user`
    ok   ledger: 0 cases, 0 runs in [ROOT]/ledger
    ");
    assert!(ran.stderr.contains("Checking ann …"), "{}", ran.stderr);
    let pinged = env.run(["doctor", "--ping"]).assert_code(1);
    assert_eq!(pinged.stdout, ran.stdout);
    assert!(pinged.stderr.contains("Asking ann …"), "{}", pinged.stderr);
    let json = env.run(["doctor", "ann", "--json"]).assert_code(1).json();
    let ann = &json["findings"][2];
    assert_eq!(ann["fine"], false);
    assert!(
        ann["remedy"]
            .as_str()
            .unwrap()
            .contains("ANTHROPIC_API_KEY")
    );

    claude_with(&env, true);
    let ran = env.run(["doctor"]).assert_code(0);
    assert!(
        ran.stdout
            .contains("ok   agent ann: 2.1.325 (Claude Code); login: oauth\n")
    );
}
