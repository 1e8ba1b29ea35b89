//! A repository's own config may not start or contact anything before the user trusts it.

use insta::assert_snapshot;

use crate::common::{TestEnv, fake};

#[test]
fn a_foreign_command_runs_only_after_trust_in_this_very_content() {
    let env = TestEnv::new();
    let log = env.root().join("world.log");
    let config = |extra: &str| {
        format!(
            "agents:\n  - name: theirs\n    command: [{:?}, --behave, ok, --log, {:?}]\n    role: reviewer\n{extra}",
            fake("fake-agent").display().to_string(),
            log.display().to_string()
        )
    };
    env.write(".tribunal/config.yml", config(""));
    let ran = env.run(["ask", "theirs", "Hello"]).assert_code(3);
    assert!(ran.stderr.contains("is not trusted"), "{ran:?}");
    assert!(ran.stderr.contains("tribunal config trust"), "{ran:?}");
    assert!(!log.exists(), "nothing was started");

    env.run(["config", "trust"]).assert_code(0);
    env.run(["ask", "theirs", "Hello"]).assert_code(0);

    // Another content needs another word.
    env.write(".tribunal/config.yml", config("    model: other\n"));
    env.run(["ask", "theirs", "Hello"]).assert_code(3);
    // What sets nothing of the kind needs none.
    env.write(".tribunal/config.yml", "disputes: {timeout_days: 3}\n");
    let ran = env
        .run(["config", "get", "disputes.timeout_days"])
        .assert_code(0);
    assert_snapshot!(ran.stdout, @"3");
}

const UNSAFE: &str = "def f(x):\n    return eval(x)\n";

/// Settings by which a change would like to let itself through.
const MILD: [&str; 9] = [
    "review: {issues: {mandatory: [], optional: [CRITICAL, HIGH, MEDIUM, LOW]}}\n",
    "review: {builtin: [tests]}\n",
    "review: {ignore: ['*.py']}\n",
    "review: {ignore: ['*.py'], may_skip: [ignored]}\n",
    "review: {max_file: 1, may_skip: [oversized]}\n",
    "review: {on_dispute: {default: discard, prompt_user: false}}\n",
    "review: {policy: {name: arena, rounds: {floor: 100}}}\n",
    "ledger: {path: elsewhere}\n",
    "agents: [{name: nod, provider: scripted, script: nod.yml, role: reviewer}]\n",
];

fn project_with_branch() -> TestEnv {
    let env = TestEnv::with_repository();
    env.git(&["checkout", "-q", "-b", "topic"]);
    env.write("app.py", UNSAFE);
    env.commit_all("unsafe");
    env
}

fn notes(report: &serde_json::Value) -> String {
    let notes = report["notes"].as_array().unwrap();
    let notes = notes.iter().map(|note| note.as_str().unwrap());
    notes.collect::<Vec<_>>().join("\n")
}

#[test]
fn a_branch_cannot_switch_its_own_gate_off() {
    let env = project_with_branch();
    env.run(["review", "--base", "main"]).assert_code(1);
    for mild in MILD {
        env.write(".tribunal/config.yml", mild);
        env.run(["review", "--base", "main"]).assert_code(1);
        env.commit_all("settings");
        let ran = env
            .run(["review", "--base", "main", "--json"])
            .assert_code(1);
        let notes = notes(&ran.json());
        assert!(
            notes.contains("this change edits `.tribunal/config.yml`"),
            "{notes}"
        );
        assert!(notes.contains("the review used the defaults"), "{notes}");
    }
    env.run(["config", "trust"]).assert_code(0);
}

#[test]
fn uncommitted_settings_do_not_let_uncommitted_work_through() {
    let env = TestEnv::with_repository();
    env.write("app.py", UNSAFE);
    for mild in MILD {
        env.write(".tribunal/config.yml", mild);
        env.run(["review"]).assert_code(1);
        env.run(["review", "app.py"]).assert_code(1);
    }
    // Whoever trusts the file means it.
    env.write(".tribunal/config.yml", MILD[0]);
    env.run(["config", "trust"]).assert_code(0);
    env.run(["review"]).assert_code(0);
}

#[test]
fn settings_that_nobody_can_read_stop_the_review_of_who_wrote_them() {
    let unreadable = [
        "reviw: {rounds: 1}\n",
        "limits: [\n",
        "agents: [{name: ann, provider: scripted, script: a.yml, role: reviever}]\n",
    ];
    for text in unreadable {
        // A slip of the pen must not take a reviewer away unseen.
        let env = TestEnv::with_repository();
        env.write("app.py", "x = 1\n");
        env.write(".tribunal/config.yml", text);
        let told = env.run(["review"]).assert_code(3).stderr;
        assert!(
            told.contains("`.tribunal/config.yml` cannot be read"),
            "{told}"
        );
        assert!(told.contains("tribunal config validate"), "{told}");
        // Of a branch it is the author's word, and the base decides without it.
        let env = project_with_branch();
        env.write(".tribunal/config.yml", text);
        env.commit_all("settings");
        env.run(["review", "--base", "main"]).assert_code(1);
    }
}

#[test]
fn the_advice_of_a_review_names_the_change_that_was_reviewed() {
    let env = project_with_branch();
    for words in [
        &["--commit", "HEAD"][..],
        &["--base", "main"],
        &["app.py"],
        &["--base", "main", "app.py"],
    ] {
        let ran = env.run([&["review"], words].concat()).assert_code(1);
        let command = format!("`tribunal review {}", words.join(" "));
        for told in [
            format!("review again with {command}`"),
            format!("{command} --arbitrate`"),
        ] {
            assert!(ran.stdout.contains(&told), "{told}\n{}", ran.stdout);
        }
    }
}

#[test]
fn settings_of_the_base_count_and_a_branch_cannot_take_them_away() {
    let env = TestEnv::with_repository();
    let strict = "review: {issues: {mandatory: [CRITICAL, HIGH, MEDIUM, LOW], optional: []}}\n";
    env.write(".tribunal/config.yml", strict);
    env.write(".tribunal/rules/no.yml", "id: no-forbidden\nlanguage: Python\nseverity: error\nmessage: forbidden\nrule: {pattern: forbidden($$$)}\n");
    env.commit_all("settings");
    env.git(&["checkout", "-q", "-b", "topic"]);
    env.write("app.py", "forbidden(1)\n");
    std::fs::remove_dir_all(env.project().join(".tribunal/rules")).unwrap();
    std::fs::remove_file(env.project().join(".tribunal/config.yml")).unwrap();
    env.commit_all("without rules");
    let ran = env
        .run(["review", "--base", "main", "--json"])
        .assert_code(1);
    let notes = notes(&ran.json());
    assert!(
        notes.contains("this change edits `.tribunal/rules/no.yml`"),
        "{notes}"
    );
    // A folder of one's own below does not help either.
    env.write("sub/.tribunal/config.yml", MILD[0]);
    env.commit_all("below");
    env.run(["-C", "sub", "review", "--base", "main"])
        .assert_code(1);
}

#[test]
fn a_fresh_clone_uses_what_was_committed_and_passes_only_with_the_whole_panel() {
    let env = TestEnv::with_repository();
    let log = env.root().join("world.log");
    let agent = format!(
        "agents:\n- name: theirs\n  command: [{:?}, --behave, ok, --log, {:?}]\n  role: reviewer\n",
        fake("fake-agent").display().to_string(),
        log.display().to_string()
    );
    env.write(".tribunal/config.yml", agent);
    env.commit_all("settings");
    env.git(&["checkout", "-q", "-b", "topic"]);
    env.write("app.py", "def f(x):\n    return x\n");
    env.commit_all("harmless");
    let ran = env.run(["review", "--base", "main"]).assert_code(5);
    assert!(ran.stdout.contains("theirs"), "{ran:?}");
    assert!(ran.stdout.contains("--trust-base"), "{ran:?}");
    assert!(!log.exists(), "nothing was started");
    env.run(["review", "--base", "main", "--reviewer", "builtin"])
        .assert_code(0);
    env.run(["review", "--base", "main", "--reviewer", "theirs"])
        .assert_code(3);
    for args in [
        vec!["log"],
        vec!["stats"],
        vec!["task", "list"],
        vec!["agents"],
    ] {
        env.run(args).assert_code(0);
    }
    env.run(["review", "--base", "main", "--trust-base"]);
    assert!(log.exists(), "the base was trusted");
}

#[test]
fn a_ledger_that_came_with_a_commit_is_refused() {
    let env = project_with_branch();
    let review = ["--ledger", ".tribunal/ledger", "review", "--base", "main"];
    env.run(review).assert_code(1);
    env.git(&["add", "-f", ".tribunal/ledger/ledger.db"]);
    env.git(&["commit", "-q", "-m", "a ledger"]);
    let ran = env.run(review).assert_code(3);
    assert!(ran.stderr.contains("came with a commit"), "{ran:?}");
}

#[test]
fn a_comment_that_the_change_adds_suppresses_nothing() {
    let env = TestEnv::with_repository();
    let with = |comment: &str| format!("def f(x):\n    # {comment}\n    return eval(x)\n");
    for comment in [
        "ast-grep-ignore",
        "tribunal:ignore python-eval",
        "tribunal-ignore python-eval: the input is ours",
    ] {
        env.write("app.py", with(comment));
        env.run(["review"]).assert_code(1);
    }
    // Naming the file does not help: no commit has the comment.
    let ran = env.run(["review", "app.py", "--json"]).assert_code(1);
    assert!(notes(&ran.json()).contains("this change wrote it"));
    env.commit_all("with a reason");
    let ran = env.run(["review", "app.py", "--json"]).assert_code(0);
    assert_eq!(
        ran.json()["suppressed"],
        serde_json::json!([{
            "rule": "python-eval",
            "reviewer": "builtin:security",
            "location": {"file": "app.py", "line": 3, "end_line": null, "function": "f"},
            "title": "`eval` runs text that is not a literal as code",
            "label": "HIGH",
            "reason": "the input is ours",
        }])
    );
    let told = "[HIGH] `python-eval` at app.py:3 (builtin:security), because: the input is ours";
    let text = env.run(["review", "app.py"]).assert_code(0).stdout;
    assert!(text.contains("Suppressed: 1"), "{text}");
    let in_one_line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(in_one_line.contains(told), "{text}");
    for format in ["markdown", "html", "sarif"] {
        let text = env.run(["review", "app.py", "--format", format]).stdout;
        assert!(text.contains("the input is ours"), "{format}: {text}");
    }
    env.write("app.py", with("tribunal-ignore python-eval"));
    let ran = env.run(["review", "app.py", "--json"]).assert_code(1);
    assert!(notes(&ran.json()).contains("it gives no reason"));
}

#[test]
fn a_copied_comment_suppresses_nothing_and_neither_does_one_for_edited_code() {
    let env = TestEnv::with_repository();
    let marker = "# tribunal-ignore python-eval: the input is ours";
    env.write(
        "app.py",
        format!("def f(x):\n    {marker}\n    return eval(x)\n"),
    );
    env.commit_all("with a reason");
    env.run(["review", "app.py"]).assert_code(0);
    for text in [
        format!(
            "def f(x):\n    {marker}\n    return eval(x)\n\ndef g(x):\n    {marker}\n    return eval(x)\n"
        ),
        format!("def f(x):\n    {marker}\n    return eval(x + y)\n"),
    ] {
        env.write("app.py", text);
        env.run(["review", "app.py"]).assert_code(1);
        env.run(["review"]).assert_code(1);
    }
}

#[test]
fn a_comment_of_an_earlier_commit_of_the_branch_suppresses_nothing() {
    let env = TestEnv::with_repository();
    let marker = "    # tribunal-ignore python-eval: the input is ours\n";
    env.git(&["checkout", "-q", "-b", "topic"]);
    env.write("app.py", format!("def f(x):\n{marker}    return eval(x)\n"));
    env.commit_all("the comment");
    for args in [
        ["review", "app.py"].as_slice(),
        &["review", "--base", "main"],
        &["review", "--commit", "HEAD"],
    ] {
        env.run(args).assert_code(1);
    }
    env.git(&["checkout", "-q", "main"]);
    env.git(&["merge", "-q", "--ff-only", "topic"]);
    env.run(["review", "app.py"]).assert_code(0);
}

#[test]
fn the_base_may_allow_comments_that_a_change_adds_and_the_change_may_not() {
    let env = TestEnv::with_repository();
    let code = "def f(x):\n    return eval(x)  # tribunal-ignore python-eval: the input is ours\n";
    let allows = "review: {allow_new_suppressions: true}\n";
    env.git(&["checkout", "-q", "-b", "topic"]);
    env.write("app.py", code);
    env.write(".tribunal/config.yml", allows);
    env.commit_all("both");
    env.run(["review", "--base", "main"]).assert_code(1);
    env.git(&["checkout", "-q", "main"]);
    env.write(".tribunal/config.yml", allows);
    env.commit_all("settings");
    env.git(&["checkout", "-q", "-b", "second"]);
    env.write("app.py", code);
    env.commit_all("code");
    let ran = env
        .run(["review", "--base", "main", "--json"])
        .assert_code(0);
    assert_eq!(ran.json()["suppressed"][0]["rule"], "python-eval");
    // An untrusted file may forbid it again.
    env.write(
        ".tribunal/config.yml",
        "review: {allow_new_suppressions: false}\n",
    );
    env.commit_all("stricter");
    env.run(["review", "--base", "main"]).assert_code(1);
}
