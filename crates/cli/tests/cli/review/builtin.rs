//! The built-in reviewers: no key, no network, no agent.

use std::collections::BTreeSet;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use insta::assert_snapshot;
use serde_json::json;

use super::Desk;
use crate::common::TestEnv;

/// Copies a directory of the repository's examples into the project.
fn example(env: &TestEnv, name: &str) {
    let from = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../examples")
        .join(name);
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let file = path.file_name().unwrap().to_str().unwrap();
        env.write(&format!("{name}/{file}"), std::fs::read(&path).unwrap());
    }
}

#[test]
fn every_planted_defect_is_found_and_the_clean_twin_passes() {
    let env = TestEnv::new();
    std::fs::remove_dir(env.project().join(".git")).unwrap();
    example(&env, "planted");
    example(&env, "clean");
    let ran = env.run(["review", "planted", "--json"]).assert_code(1);
    let report = ran.json();
    let found: BTreeSet<(String, u64)> = report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|one| one["verdict"] == "accepted")
        .map(|one| {
            let file = one["location"]["file"].as_str().unwrap().to_owned();
            (file, one["location"]["line"].as_u64().unwrap())
        })
        .collect();
    let mut planted = BTreeSet::new();
    for entry in std::fs::read_dir(env.project().join("planted")).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let file = format!("planted/{}", path.file_name().unwrap().to_str().unwrap());
        let marks = (1_u64..)
            .zip(text.lines())
            .filter(|(_, line)| line.contains("Planted:"));
        planted.extend(marks.map(|(line, _)| (file.clone(), line)));
    }
    // A mark stands on the line before the defect, or within the first lines of what is wrong.
    let is_near = |(file, line): &&(String, u64), mark: &(String, u64)| {
        *file == mark.0 && line.abs_diff(mark.1) <= 2
    };
    let missed: Vec<_> = planted
        .iter()
        .filter(|mark| !found.iter().any(|one| is_near(&one, mark)))
        .collect();
    let invented: Vec<_> = found
        .iter()
        .filter(|one| !planted.iter().any(|mark| is_near(one, mark)))
        .collect();
    assert_eq!((missed, invented), (Vec::new(), Vec::new()));
    assert_eq!(planted.len(), 21);
    env.run(["review", "clean", "--json"]).assert_code(0);
    env.assert_healthy();
}

#[test]
fn only_changed_lines_are_reported_for_a_diff() {
    let desk = Desk::new();
    desk.write("src/old.py", "eval(input())\n");
    desk.git(&["add", "."]);
    desk.git(&["commit", "-q", "-m", "second"]);
    desk.write("src/old.py", "eval(input())\nprint(1)\nexec(input())\n");
    let ran = desk
        .review(&["--json", "--reviewer", "builtin"])
        .assert_code(1);
    let lines: Vec<_> = ran.json()["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["location"]["line"].as_u64().unwrap())
        .collect();
    assert_eq!(lines, [3]);
}

#[test]
fn a_finding_is_followed_from_review_to_review() {
    let desk = Desk::new();
    let standing = |args: &[&str]| {
        let mut all = vec!["src", "--json", "--reviewer", "builtin"];
        all.extend(args);
        let report = desk.review(&all).json();
        let findings = report["findings"].as_array().unwrap().clone();
        let seen = findings
            .iter()
            .map(|one| one["standing"].as_str().unwrap().to_owned());
        let fixed = report["fixed"].as_array().unwrap().len();
        format!("{} fixed {fixed}", seen.collect::<Vec<_>>().join(" "))
    };
    desk.write("src/a.py", "eval(input())\n");
    assert_eq!(standing(&[]), "new fixed 0");
    desk.write("src/a.py", "import sys\n\n\neval(input())  \n");
    assert_eq!(standing(&[]), "open fixed 0");
    desk.write("src/a.py", "print(1)\n");
    assert_eq!(standing(&[]), " fixed 1");
    desk.write("src/a.py", "eval(input())\n");
    assert_eq!(standing(&[]), "regressed fixed 0");
}

#[test]
fn with_new_only_what_was_there_before_does_not_count() {
    let desk = Desk::new();
    desk.write("src/a.py", "def f():\n    eval(input())\n");
    desk.git(&["add", "."]);
    desk.git(&["commit", "-q", "-m", "second"]);
    // The same line is moved, so the diff shows it as changed.
    desk.write(
        "src/a.py",
        "def g():\n    pass\n\n\ndef f():\n    eval(input())\n",
    );
    desk.git(&["add", "."]);
    desk.git(&["commit", "-q", "-m", "third"]);
    let args = ["src/a.py", "--reviewer", "builtin", "--json"];
    desk.review(&args).assert_code(1);
    desk.review(&[
        "--commit",
        "HEAD",
        "--new-only",
        "--reviewer",
        "builtin",
        "--json",
    ])
    .assert_code(0);
}

#[test]
fn with_new_only_a_second_line_that_equals_an_old_one_counts() {
    let desk = Desk::new();
    desk.write("src/a.py", "def f(x):\n    return eval(x)\n");
    desk.git(&["add", "."]);
    desk.git(&["commit", "-q", "-m", "second"]);
    desk.write(
        "src/a.py",
        "def f(x):\n    if x:\n        return eval(x)\n    return eval(x)\n",
    );
    desk.review(&["--new-only", "--reviewer", "builtin"])
        .assert_code(1);
}

/// Begins a review whose only agent fails, and lets it answer from then on. Returns the case.
fn begin_paused_review(desk: &mut Desk, args: &[&str]) -> String {
    desk.write("src/a.py", "def f(x):\n    return int(x)\n");
    let agent = desk.env.root().join("agent.sh");
    std::fs::write(&agent, "exit 1\n").unwrap();
    let path = agent.display();
    desk.raw_agent(&format!(
        "{{name: ann, role: [reviewer, coder], command: [sh, \"{path}\"]}}"
    ));
    let case = desk.review(args).assert_code(5).json();
    let answer = "nonce=$(sed -n 's/^Nonce: //p' | head -1)\n\
                  printf '{\"nonce\": \"%s\", \"findings\": [], \"end\": \"%s\"}' $nonce $nonce\n";
    std::fs::write(&agent, answer).unwrap();
    case["case"].as_str().unwrap().to_owned()
}

/// What happens between a pause and `resume`.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Meanwhile {
    Nothing,
    Commit,
    OtherBase,
}

#[test]
fn a_pass_after_a_pause_does_not_speak_of_commits_that_came_since() {
    for (args, meanwhile) in [
        (["--base", "trunk"], Meanwhile::Nothing),
        (["--base", "trunk"], Meanwhile::Commit),
        (["--base", "trunk"], Meanwhile::OtherBase),
        (["--commit", "HEAD"], Meanwhile::Nothing),
        (["--commit", "HEAD"], Meanwhile::Commit),
    ] {
        let mut desk = Desk::new();
        desk.write("src/b.py", "def g(x):\n    return x\n");
        desk.git(&["add", "."]);
        desk.git(&["commit", "-q", "-m", "before"]);
        desk.git(&["branch", "trunk"]);
        desk.write("src/a.py", "def f(x):\n    return int(x)\n");
        desk.git(&["add", "."]);
        desk.git(&["commit", "-q", "-m", "the change"]);
        let case = begin_paused_review(&mut desk, &[args[0], args[1], "--json"]);
        match meanwhile {
            Meanwhile::Nothing => {}
            Meanwhile::Commit => {
                desk.write("src/a.py", "def f(x):\n    return eval(x)\n");
                desk.git(&["commit", "-q", "-a", "-m", "one more"]);
            }
            Meanwhile::OtherBase => desk.git(&["branch", "-q", "-f", "trunk", "trunk~1"]),
        }
        let is_same = meanwhile == Meanwhile::Nothing;
        let resumed = desk.env.run(["resume", &case, "--json"]);
        let report = resumed.assert_code(if is_same { 0 } else { 5 }).json();
        let gate = if is_same { "pass" } else { "inconclusive" };
        assert_eq!(report["gate"], gate, "{args:?} {meanwhile:?}");
    }
}

#[test]
fn a_pass_after_a_pause_does_not_speak_of_files_that_changed_since() {
    let applied = ["--json", "--arbitrate", "--apply"];
    for (args, changes) in [
        (&applied[..1], true),
        (&applied[..1], false),
        (&applied[..], true),
        (&applied[..], false),
    ] {
        let mut desk = Desk::new();
        let case = begin_paused_review(&mut desk, args);
        if changes {
            desk.write("src/a.py", "def f(x):\n    return eval(x)\n");
        }
        let code = if changes { 5 } else { 0 };
        let report = desk
            .env
            .run(["resume", &case, "--json"])
            .assert_code(code)
            .json();
        // Every format says the same as the exit code.
        let gate = if changes { "inconclusive" } else { "pass" };
        assert_eq!(report["gate"], gate, "{args:?}");
        let shown = desk.env.run(["show", &case]).stdout;
        let told = shown.contains("your files have changed since this review began");
        assert_eq!(told, changes, "{shown}");
        assert_eq!(shown.contains("\nINCONCLUSIVE: "), changes, "{shown}");
        desk.env.run(["replay", &case]).assert_code(0);
    }
}

#[test]
fn a_pass_after_a_pause_speaks_of_a_commit_whatever_the_files_are() {
    let mut desk = Desk::new();
    let case = begin_paused_review(&mut desk, &["--commit", "HEAD", "--json"]);
    desk.write("src/a.py", "eval(input())\n");
    desk.env.run(["resume", &case]).assert_code(0);
}

#[test]
fn with_new_only_whole_files_do_not_pass_the_second_time() {
    let desk = Desk::new();
    desk.write("src/a.py", "eval(input())\n");
    for _ in 0..2 {
        desk.review(&["src/a.py", "--new-only", "--reviewer", "builtin", "--json"])
            .assert_code(1);
    }
}

#[test]
fn going_on_with_a_review_that_failed_does_not_pass() {
    let desk = Desk::new();
    desk.write("src/a.py", "eval(input())\n");
    let ran = desk
        .review(&["src/a.py", "--reviewer", "builtin", "--json"])
        .assert_code(1);
    let case = ran.json()["case"].as_str().unwrap().to_owned();
    desk.env.run(["resume", &case]).assert_code(1);
    desk.env.run(["review", "--resume", &case]).assert_code(1);
}

#[test]
fn a_file_that_the_rules_could_not_check_is_no_pass_even_if_an_agent_answers() {
    let mut desk = Desk::new();
    desk.reviewer("ann", "anthropic", &json!([{ "text": super::signed("") }]));
    desk.write("src/a.py", "x = 1\n".repeat(900_000));
    let all = [
        "--json",
        "--set",
        "review.max_file=10MiB",
        "--set",
        "review.part_chars=100000000",
    ];
    let ran = desk.review(&[&all[..], &["--reviewer", "builtin", "--reviewer", "ann"]].concat());
    assert!(
        super::told(&ran).contains("it could not check src/a.py"),
        "{}",
        ran.stdout
    );
    assert_eq!(ran.code, Some(5));
}

#[test]
fn a_review_reads_well() {
    let desk = Desk::with_change();
    let ran = desk.review(&["--reviewer", "builtin"]).assert_code(1);
    assert_snapshot!(desk.env.tidy(&ran.stdout), @r#"
    FAIL: 1 blocking finding (f-bb5a640b)
    Review of uncommitted work on main
    1 accepted, 0 disputed, 0 rejected; 1 file reviewed
    Case [CASE], policy tribunal

    Blocking (1)
    HIGH      src/pay.py:5  SQL is put together from text instead of parameters
              f-bb5a640b by builtin:security (python-sql-text). Fix: Pass values as parameters
              (`execute("… WHERE id = %s", (id,))`); choose table and column names from a fixed list.

    What next
      - `tribunal explain f-bb5a640b` shows the code, who says so and why it counts
      - fix it and review again with `tribunal review`
      - `tribunal dismiss f-bb5a640b --why TEXT` if the finding is wrong
      - `tribunal review --arbitrate` lets a coder answer, if one is connected
    "#);
    assert_snapshot!(desk.env.tidy(&ran.stderr), @"
    opened a case of `review`: uncommitted work on main
    reviewing uncommitted work on main: 1 file, by builtin:security, builtin:correctness, builtin:tests
    1 accepted, 0 disputed, 0 rejected: FAIL
    failed, 1 blocking finding
    ");
}

#[test]
fn bad_requests_get_a_sentence() {
    let desk = Desk::new();
    for (args, code, words) in [
        (&["nowhere"][..], 4, "nowhere"),
        (&["--base", "mainn"], 4, "Did you mean `main`?"),
        (&["--reviewer", "zed"], 4, "No reviewer is called `zed`"),
        (
            &["--reviewer", "builtin:style"],
            4,
            "No reviewer is called `builtin:style`",
        ),
        (&["--staged", "--commit", "HEAD"], 2, "cannot be used with"),
        (&["--save", "sarif"], 2, "write it as `sarif=out.sarif`"),
        (&["--fail-on", "awful"], 2, "awful"),
        (&["--rounds", "4"], 2, "`contested`, 1, 2 or 3"),
        (&["--patch", "missing.diff"], 4, "missing.diff"),
    ] {
        let ran = desk.review(args).assert_code(code);
        assert!(ran.stderr.contains(words), "{args:?}: {}", ran.stderr);
        assert_eq!(ran.stdout, "");
    }
}

#[test]
fn a_review_in_a_hook_sees_what_the_commit_will_hold() {
    let env = TestEnv::with_repository();
    env.write("app.py", "def f(x):\n    return x\n");
    env.commit_all("begin");
    let hook = format!(
        "#!/bin/sh\nHOME='{}' TRIBUNAL_LEDGER='{}' '{}' review --staged --json > ../seen\n[ $? = 1 ]\n",
        env.home().display(),
        env.ledger().display(),
        env!("CARGO_BIN_EXE_tribunal"),
    );
    let hook = env.write(".git/hooks/pre-commit", hook);
    std::fs::set_permissions(hook, Permissions::from_mode(0o755)).unwrap();
    // Nothing is staged: what is committed lies in an index that git makes for this commit.
    for commit in [&["-a"][..], &["app.py"]] {
        env.write("app.py", "def f(x):\n    return eval(x)\n");
        let args = ["commit", "-q", "-m", "next"];
        env.git(&[&args[..], commit].concat());
        let seen = std::fs::read_to_string(env.root().join("seen")).unwrap();
        let report: serde_json::Value = serde_json::from_str(&seen).unwrap();
        let found = &report["findings"][0]["location"]["file"];
        assert_eq!(found, "app.py", "{commit:?}: {seen}");
        env.git(&["reset", "-q", "--hard", "HEAD~1"]);
    }
}

#[test]
fn two_rules_at_one_place_are_two_findings_and_neither_hides_in_the_other() {
    let env = TestEnv::with_repository();
    env.write(
        "e.test.ts",
        "import { f } from './f'
describe('f', () => {
  it.skip('works', async () => {
    expect(
      await timingSafeEqual(true, true, (d: boolean) =>
        createHash('sha256').update(d.toString()).digest('hex')
      )
    )
  })
})
",
    );
    let report = env
        .run(["review", "e.test.ts", "--json"])
        .assert_code(1)
        .json();
    let findings = report["findings"].as_array().unwrap();
    assert!(findings.len() >= 2, "{report}");
    for finding in findings {
        assert_eq!(finding["voices"].as_array().unwrap().len(), 1, "{finding}");
        assert_eq!(finding["rule"], finding["voices"][0]["rule"]);
        assert_eq!(finding["description"], finding["voices"][0]["description"]);
    }

    env.write(
        "dup.ts",
        "function eq(a: any) {\n  if (a = 5) return true; return NaN === a }\n",
    );
    let ran = env.run(["review", "dup.ts", "--json"]).assert_code(1);
    let report = ran.json();
    let ids: BTreeSet<&str> = report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|one| one["fingerprint"].as_str())
        .collect();
    assert_eq!(ids.len(), 2, "{report}");
}
