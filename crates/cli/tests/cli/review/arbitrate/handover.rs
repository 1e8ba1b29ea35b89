//! The gate speaks of what the user has: work that is only offered does not make a PASS.

use serde_json::{Value, json};

use super::super::{NONCE, signed};
use super::court::{Court, MENDED, answer, says, told};
use crate::common::{Ran, TestEnv, resolve_args};

fn mended() -> Court {
    let mut court = Court::with_ann();
    court.coder(&says("implemented", ""), &json!({"src/pay.py": MENDED}));
    court
}

#[test]
fn work_that_is_only_offered_on_a_branch_leaves_the_change_at_fail() {
    let court = mended();
    let ran = court.arbitrate(&[]).assert_code(1);
    let text = court.tidy(&ran.stdout);
    let end: Vec<&str> = text.lines().rev().take(4).collect();
    let end: Vec<&str> = end.into_iter().rev().collect();
    insta::assert_snapshot!(end.join("\n"), @"

    What next
      - PASS with `tribunal/[c]`; take the work over:
          git restore -s tribunal/[c] -- src/pay.py
    ");
}

#[test]
fn the_named_command_takes_the_work_over_and_the_next_review_passes() {
    let patch = |court: &Court| {
        let file = court.env.root().join("it's a fix.patch");
        format!("patch={}", file.display())
    };
    let with_patch = mended();
    let offer = patch(&with_patch);
    let of_commit = mended();
    of_commit.env.commit_all("third");
    for (name, court, args) in [
        ("uncommitted", mended(), vec![]),
        ("patch", with_patch, vec!["--offer", &offer]),
        ("committed", of_commit, vec!["--commit", "HEAD"]),
    ] {
        let mut all = vec!["--json"];
        all.extend(args);
        let ran = court.arbitrate(&all).assert_code(1);
        let report = ran.json();
        assert_eq!(report["gate_with_offer"], "pass", "{name}");
        shell(&court.env, report["offer_command"].as_str().unwrap());
        let now = std::fs::read_to_string(court.env.project().join("src/pay.py")).unwrap();
        assert_eq!(now, MENDED, "{name}");
    }
}

#[test]
fn the_named_command_works_for_files_that_git_does_not_track() {
    let court = mended();
    court.git(&["rm", "-q", "--cached", "src/pay.py"]);
    court.git(&["commit", "-q", "-m", "forget it"]);
    let ran = court.arbitrate(&["--json", "src/pay.py"]).assert_code(1);
    let report = ran.json();
    shell(&court.env, report["offer_command"].as_str().unwrap());
    let now = std::fs::read_to_string(court.env.project().join("src/pay.py")).unwrap();
    assert_eq!(now, MENDED);
}

#[test]
fn every_format_names_the_branch_and_the_command() {
    for format in ["text", "markdown", "html", "junit", "sarif", "github"] {
        let court = mended();
        let ran = court.arbitrate(&["--format", format]).assert_code(1);
        let flat = ran.stdout.replace("<code>", "`").replace("</code>", "`");
        let flat: Vec<&str> = flat.split_whitespace().collect();
        let flat = flat.join(" ");
        for expected in ["PASS with `tribunal/c-", "git restore -s tribunal/c-"] {
            assert!(flat.contains(expected), "{format}: {}", ran.stdout);
        }
    }
}

#[test]
fn what_is_shown_of_a_recorded_case_says_the_same() {
    let court = mended();
    let ran = court.arbitrate(&["--json"]);
    let case = ran.json()["case"].as_str().unwrap().to_owned();
    let shown = court.env.run(["show", &case]).stdout;
    assert!(shown.contains("PASS with `tribunal/c-"), "{shown}");
    let log = court.env.run(["log", "--json"]).stdout;
    assert!(log.contains("failed"), "{log}");
}

#[test]
fn work_that_cannot_be_handed_over_is_never_a_pass() {
    let court = mended();
    std::fs::remove_dir_all(court.env.project().join(".git")).unwrap();
    court.write_config();
    let ran = court
        .env
        .run(["review", "--arbitrate", "--json", "src/pay.py"]);
    assert_eq!(
        told(&ran),
        "fail; SQL from user input: fixed; settled; offered kept"
    );
    assert_eq!(ran.json()["gate_with_offer"], Value::Null);
    let text = court
        .env
        .run(["review", "--arbitrate", "src/pay.py"])
        .assert_code(1);
    assert!(
        text.stdout.contains("--offer patch=FILE"),
        "{}",
        text.stdout
    );
}

#[test]
fn an_optional_finding_that_is_fixed_on_a_branch_fails_nothing() {
    let mut court = Court::empty();
    let mut replies = super::court::ann(&[], true);
    let last = replies.as_array_mut().unwrap().last_mut().unwrap();
    let optional = super::super::DEFECT.replace("HIGH", "LOW");
    *last = json!({ "text": signed(&optional) });
    court.agent("ann", "reviewer", &replies);
    court.coder(&says("implemented", ""), &json!({"src/pay.py": MENDED}));
    assert_eq!(
        court.told(&[]),
        "pass; SQL from user input: fixed; settled; offered branch (pass with it)"
    );
}

#[test]
fn staged_work_is_not_passed_by_changing_other_files() {
    let court = mended();
    court.write_config();
    court.git(&["add", "src/pay.py"]);
    let args = ["review", "--staged", "--arbitrate", "--apply"];
    let ran = court.env.run(args).assert_code(2);
    assert!(ran.stderr.contains("staged"), "{}", ran.stderr);
}

#[test]
fn a_branch_of_the_users_own_name_is_no_obstacle() {
    let court = mended();
    court.git(&["branch", "tribunal"]);
    let ran = court.arbitrate(&["--json"]);
    assert_eq!(
        told(&ran),
        "fail; SQL from user input: fixed; settled; offered branch (pass with it)"
    );
    assert_eq!(court.on_branch(&ran, "src/pay.py"), MENDED);
}

/// Two files with a finding each. The coder mends the first at once and objects to the second.
struct TwoHalves {
    env: TestEnv,
}

impl TwoHalves {
    fn new(judge: Option<&str>, setting: &str) -> Self {
        let env = TestEnv::with_repository();
        env.write("a.py", "a = eval(input())\n");
        env.write("b.py", "b = eval(input())\n");
        let mended = json!({"a.py": "a = 1\n"});
        let enforced = json!({"a.py": "a = 1\n", "b.py": "b = 1\n"});
        let done = says("implemented", "");
        let objected = r#"{"finding_id": "F2", "answer": "objected",
            "reason": "misunderstood_context", "justification": "Only we type there.",
            "evidence": [{"kind": "code", "reference": "b.py:1", "text": "b = eval(input())"}]}"#;
        let fixed =
            r#"{"finding_id": "F1", "can_happen": "no", "state": "fixed", "reason": "it is gone"}"#;
        let mut agents = String::new();
        for (name, role, replies) in [
            (
                "rev",
                "reviewer",
                json!([
                    {"when": "# Was it fixed?", "text": answer("checks", fixed)},
                    {"when": "The change: the coder's work", "text": signed("")},
                    {"text": signed(&format!("{},{}", high("a"), high("b")))},
                ]),
            ),
            (
                "cod",
                "coder",
                json!([
                    {"when": "\"ruling\":\"ENFORCE\"", "text": answer("responses", &done), "write": enforced},
                    {"text": answer("responses", &format!("{done},{objected}")), "write": mended},
                ]),
            ),
        ] {
            agents += &agent(&env, name, role, &replies);
        }
        if let Some(word) = judge {
            let ruling = format!(
                r#"{{"nonce": "{NONCE}", "ruling": "{word}", "reason": "b.py:1 alone does not show who types.", "reversal": "A note.", "end": "{NONCE}"}}"#
            );
            agents += &agent(&env, "jude", "judge", &json!([{ "text": ruling }]));
        }
        env.write_user_config(&format!(
            "agents:\n{agents}review:\n  builtin: []\n  rounds: 1\n{setting}retry: {{attempts: 1}}\n"
        ));
        Self { env }
    }

    fn begin(&self, args: &[&str]) -> Value {
        let mut all = vec!["review", "a.py", "b.py", "--arbitrate", "--json"];
        all.extend(args);
        // What was applied is in the files; the rest awaits a ruling.
        let code = if args.contains(&"--apply") { 5 } else { 1 };
        let ran = self.env.run(all).assert_code(code);
        ran.json()
    }

    /// Rules for the reviewer and goes on with the review.
    fn rule_and_resume(&self, report: &Value) -> Ran {
        let findings = report["arbitration"]["findings"].as_array().unwrap();
        let mut disputes = findings
            .iter()
            .filter_map(|one| one["disputes"][0]["id"].as_str());
        let dispute = disputes.next().unwrap();
        let ruling = resolve_args(dispute, "reviewer", "No eval here.");
        self.env.run(ruling).assert_code(0);
        let case = report["case"].as_str().unwrap();
        let ran = self.env.run(["resume", case, "--json"]);
        self.env.assert_healthy();
        ran
    }

    fn git(&self, args: &[&str]) -> String {
        let output = std::process::Command::new("git")
            .args(args)
            .current_dir(self.env.project())
            .output()
            .unwrap();
        assert!(output.status.success(), "git {args:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    fn file(&self, name: &str) -> String {
        std::fs::read_to_string(self.env.project().join(name)).unwrap()
    }
}

fn agent(env: &TestEnv, name: &str, role: &str, replies: &Value) -> String {
    let script = env.root().join(format!("{name}.json"));
    std::fs::write(&script, json!({ "replies": replies }).to_string()).unwrap();
    format!(
        "  - {{name: {name}, provider: scripted, script: {:?}, role: {role}, family: {name}s}}\n",
        script.display().to_string()
    )
}

fn high(file: &str) -> String {
    format!(
        r#"{{"id": "{file}", "file": "{file}.py", "line": 1, "label": "HIGH", "category": "security", "confidence": 95,
            "title": "Input is run in {file}.py", "description": "`eval` runs what somebody types, so a visitor executes code.",
            "quote": "eval(input())", "trigger": "any expression", "suggestion": "Parse it with int()."}}"#
    )
}

fn shell(env: &TestEnv, command: &str) {
    let output = std::process::Command::new("sh")
        .args(["-c", command])
        .current_dir(env.project())
        .output()
        .unwrap();
    assert!(output.status.success(), "{command}: {output:?}");
}

fn branch_of(ran: &Ran) -> String {
    let report = ran.json();
    let branch = report["arbitration"]["offer"]["branch"].as_str();
    branch.unwrap_or_else(|| panic!("{report:#}")).to_owned()
}

#[test]
fn a_resumed_case_moves_its_own_branch_forward() {
    let human = "  on_dispute: {default: human}\n";
    for (judge, setting) in [(None, ""), (None, human), (Some("ESCALATE"), "")] {
        let halves = TwoHalves::new(judge, setting);
        let report = halves.begin(&[]);
        let ran = halves.rule_and_resume(&report);
        assert_eq!(ran.code, Some(1), "{} {}", ran.stdout, ran.stderr);
        assert_eq!(ran.json()["gate_with_offer"], "pass");
        let branch = branch_of(&ran);
        assert_eq!(
            branch,
            format!("tribunal/{}", report["case"].as_str().unwrap())
        );
        for file in ["a", "b"] {
            let on_branch = halves.git(&["show", &format!("{branch}:{file}.py")]);
            assert_eq!(on_branch, format!("{file} = 1\n"), "{judge:?} {setting}");
        }
        let command = ran.json()["offer_command"].clone();
        shell(&halves.env, command.as_str().unwrap());
        assert_eq!(halves.file("b.py"), "b = 1\n");
    }
}

#[test]
fn a_branch_that_the_user_moved_is_left_alone() {
    let halves = TwoHalves::new(None, "");
    let report = halves.begin(&[]);
    let branch = report["arbitration"]["offer"]["branch"].as_str().unwrap();
    halves.git(&["branch", "-f", branch, "HEAD"]);
    let ran = halves.rule_and_resume(&report).assert_code(1);
    assert_eq!(
        halves.git(&["rev-parse", branch]),
        halves.git(&["rev-parse", "HEAD"])
    );
    let other = branch_of(&ran);
    assert_eq!(other, format!("{branch}-2"));
    assert_eq!(halves.git(&["show", &format!("{other}:b.py")]), "b = 1\n");
    let why = ran.json()["arbitration"]["offer"]["why"].clone();
    let expected = format!("the branch `{branch}` exists and points at something else");
    assert_eq!(why, json!(expected));
}

#[test]
fn a_branch_that_is_checked_out_is_left_alone() {
    let halves = TwoHalves::new(None, "");
    let report = halves.begin(&[]);
    let branch = report["arbitration"]["offer"]["branch"].as_str().unwrap();
    let place = halves.env.root().join("elsewhere").display().to_string();
    halves.git(&["worktree", "add", "-q", &place, branch]);
    let ran = halves.rule_and_resume(&report).assert_code(1);
    assert_eq!(branch_of(&ran), format!("{branch}-2"));
}

#[test]
fn a_branch_that_was_deleted_is_made_again() {
    for decision in ["reviewer", "coder"] {
        let halves = TwoHalves::new(None, "");
        let report = halves.begin(&[]);
        let branch = report["arbitration"]["offer"]["branch"].as_str().unwrap();
        halves.git(&["branch", "-D", branch]);
        let ran = match decision {
            "reviewer" => halves.rule_and_resume(&report),
            _ => {
                let dispute = &report["arbitration"]["findings"][1]["disputes"][0]["id"];
                let ruling = resolve_args(dispute.as_str().unwrap(), decision, "Only we type.");
                halves.env.run(ruling).assert_code(0);
                let case = report["case"].as_str().unwrap();
                halves.env.run(["resume", case, "--json"])
            }
        };
        let ran = ran.assert_code(1);
        assert_eq!(branch_of(&ran), branch);
        assert_eq!(halves.git(&["show", &format!("{branch}:a.py")]), "a = 1\n");
    }
}

#[test]
fn the_rest_is_applied_on_top_of_what_was_applied_before() {
    let halves = TwoHalves::new(None, "");
    let report = halves.begin(&["--apply"]);
    assert_eq!(
        (halves.file("a.py"), halves.file("b.py")),
        ("a = 1\n".into(), "b = eval(input())\n".into())
    );
    let ran = halves.rule_and_resume(&report);
    assert_eq!(ran.code, Some(0), "{} {}", ran.stdout, ran.stderr);
    assert_eq!(halves.file("b.py"), "b = 1\n");
    assert_eq!(ran.json()["arbitration"]["offer"]["offered"], "applied");
}

#[test]
fn files_that_changed_after_the_first_half_are_left_alone_and_fail() {
    for file in ["a.py", "b.py"] {
        let halves = TwoHalves::new(None, "");
        let report = halves.begin(&["--apply"]);
        halves.env.write(file, "mine = eval(input())\n");
        let ran = halves.rule_and_resume(&report);
        assert_eq!(ran.code, Some(1), "{file}: {} {}", ran.stdout, ran.stderr);
        assert_eq!(halves.file(file), "mine = eval(input())\n");
        let branch = branch_of(&ran);
        assert_eq!(halves.git(&["show", &format!("{branch}:b.py")]), "b = 1\n");
    }
}

#[test]
fn a_patch_is_written_again_with_both_halves() {
    let halves = TwoHalves::new(None, "");
    let file = halves.env.root().join("fix.patch").display().to_string();
    let report = halves.begin(&["--offer", &format!("patch={file}")]);
    std::fs::remove_file(&file).unwrap();
    let ran = halves.rule_and_resume(&report).assert_code(1);
    assert_eq!(ran.json()["gate_with_offer"], "pass");
    halves.git(&["apply", &file]);
    assert_eq!(halves.file("b.py"), "b = 1\n");
}
