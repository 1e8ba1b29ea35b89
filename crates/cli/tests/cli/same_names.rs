//! One dismissal covers one finding: not that of another function with the same name and line.

use serde_json::Value;

use crate::common::{Ran, TestEnv};

const GO: &str = "package a\n\nimport \"os/exec\"\n\ntype A struct{}\ntype B struct{}\n";
const GO_A: &str =
    "\nfunc (a A) Run(s string) {\n\texec.Command(\"sh\", \"-c\", \"ls \"+s).Run()\n}\n";
const GO_B: &str =
    "\nfunc (b B) Run(s string) {\n\texec.Command(\"sh\", \"-c\", \"ls \"+s).Run()\n}\n";
const JAVA: &str = "class A {\n  void run(String s) throws Exception {\n    Runtime.getRuntime().exec(\"sh -c ls \" + s);\n  }\n";
const JAVA_MORE: &str = "  void run(String s, int n) throws Exception {\n    Runtime.getRuntime().exec(\"sh -c ls \" + s);\n  }\n";
const IF: &str = "import sys\nif sys.argv:\n    def g(q):\n        return eval(q)\n";
const ELSE: &str = "else:\n    def g(q):\n        return eval(q)\n";
const CLASS_A: &str = "class A:\n    def run(self, q):\n        return eval(q)\n";
const CLASS_B: &str = "\n\nclass B:\n    def run(self, q):\n        return eval(q)\n";

/// File, text with the finding that is dismissed, text with another one, and whether the first is
/// still in it.
fn scenes() -> Vec<(&'static str, String, String, bool)> {
    let twice = "def f(q):\n    eval(q)\n    eval(q)\n";
    vec![
        (
            "a.go",
            format!("{GO}{GO_A}"),
            format!("{GO}{GO_A}{GO_B}"),
            true,
        ),
        (
            "a.go",
            format!("{GO}{GO_A}"),
            format!("{GO}{GO_B}{GO_A}"),
            true,
        ),
        ("a.go", format!("{GO}{GO_A}"), format!("{GO}{GO_B}"), false),
        (
            "A.java",
            format!("{JAVA}}}\n"),
            format!("{JAVA}{JAVA_MORE}}}\n"),
            true,
        ),
        ("b.py", IF.to_owned(), format!("{IF}{ELSE}"), true),
        (
            "c.py",
            CLASS_A.to_owned(),
            format!("{CLASS_A}{CLASS_B}"),
            true,
        ),
        (
            "c.py",
            CLASS_A.to_owned(),
            CLASS_B.trim_start().to_owned(),
            false,
        ),
        (
            "d.py",
            "def f(q):\n    eval(q)\n".to_owned(),
            twice.to_owned(),
            true,
        ),
    ]
}

/// Returns how many findings count, and how many do not.
fn counted(report: &Value) -> (usize, usize) {
    let findings = report["findings"].as_array().unwrap();
    let counting = findings.iter().filter(|one| one["counts"] == true).count();
    (counting, findings.len() - counting)
}

fn first_id(ran: &Ran) -> String {
    let id = &ran.json()["findings"][0]["id"];
    id.as_str().unwrap().to_owned()
}

#[test]
fn a_dismissal_covers_no_other_function_of_that_name() {
    for (file, before, after, is_kept) in scenes() {
        let env = TestEnv::with_repository();
        env.write(file, &before);
        let ran = env.run(["review", "--json"]).assert_code(1);
        let id = first_id(&ran);
        env.run(["dismiss", &id, "--why", "Only constants"])
            .assert_code(0);
        env.run(["review"]).assert_code(0);
        env.write(file, &after);
        let report = env.run(["review", "--json"]).assert_code(1).json();
        assert_eq!(counted(&report), (1, usize::from(is_kept)), "{after}");
        let findings = report["findings"].as_array().unwrap().iter();
        let same = findings.filter(|one| one["id"] == id.as_str()).count();
        assert_eq!(same, usize::from(is_kept), "{after}");
    }
}

#[test]
fn a_ruling_of_the_team_covers_no_other_function_of_that_name() {
    for (file, before, after, is_kept) in scenes() {
        let env = TestEnv::with_repository();
        env.write(file, &before);
        let id = first_id(&env.run(["review", "--json"]).assert_code(1));
        env.run(["dismiss", &id, "--why", "Only constants", "--team"])
            .assert_code(0);
        env.git(&["add", "-f", ".tribunal/rulings.yml"]);
        env.git(&[
            "commit",
            "-q",
            "-m",
            "rulings",
            "--",
            ".tribunal/rulings.yml",
        ]);
        let ledger = env.root().join("colleague").display().to_string();
        let args = ["--ledger", &ledger, "review", "--json"];
        env.run(args).assert_code(0);
        env.write(file, &after);
        let ledger = env.root().join("other").display().to_string();
        let args = ["--ledger", &ledger, "review", "--json"];
        let report = env.run(args).assert_code(1).json();
        assert_eq!(counted(&report), (1, usize::from(is_kept)), "{after}");
    }
}

#[test]
fn a_function_may_change_around_what_was_dismissed() {
    let env = TestEnv::with_repository();
    env.write("c.py", CLASS_A);
    let id = first_id(&env.run(["review", "--json"]).assert_code(1));
    env.run(["dismiss", &id, "--why", "Only constants"])
        .assert_code(0);
    let more = CLASS_A.replace("(self, q)", "(self, q, more=None)");
    env.write("c.py", format!("import os\n\n\n{more}"));
    env.run(["review"]).assert_code(0);
}

#[test]
fn a_ruling_that_is_taken_back_counts_no_more_at_once() {
    let env = TestEnv::with_repository();
    env.write("c.py", CLASS_A);
    let id = first_id(&env.run(["review", "--json"]).assert_code(1));
    env.run(["dismiss", &id, "--why", "Only constants", "--team"])
        .assert_code(0);
    env.git(&["add", "-f", ".tribunal/rulings.yml"]);
    env.git(&[
        "commit",
        "-q",
        "-m",
        "rulings",
        "--",
        ".tribunal/rulings.yml",
    ]);
    env.run(["review"]).assert_code(0);
    env.run(["dismiss", "--undo", &id, "--team"]).assert_code(0);
    let report = env.run(["review", "--json"]).assert_code(1).json();
    let notes = report["notes"].to_string();
    assert!(
        notes.contains("counts again") && notes.contains(&id),
        "{notes}"
    );
}
