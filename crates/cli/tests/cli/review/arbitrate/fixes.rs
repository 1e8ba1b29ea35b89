//! Who says that a fix is one, and which work counts as handed over.

use serde_json::{Value, json};

use super::court::{Court, MENDED, ann, says};

const EVAL: &str = "def run(cmd):\n    return eval(cmd)\n";
const FIXED: &str = "def run(cmd):\n    return int(cmd)\n";

/// A rule finds `eval` in `src/run.py`, and the coder answers with these files.
fn after_rule(write: &Value) -> (Option<i32>, Value) {
    let mut court = Court::empty();
    court.env.write("src/pay.py", MENDED);
    court.env.write("src/run.py", EVAL);
    court
        .env
        .write(".gitignore", "/local\nbuild/\n__pycache__/\n");
    court.env.git(&["add", ".gitignore"]);
    court
        .env
        .git(&["commit", "-q", "-m", "ignored", "--", ".gitignore"]);
    court.coder(&says("implemented", ""), write);
    let set = ["--json", "--apply", "--set", "review.builtin=[security]"];
    let ran = court.arbitrate(&set);
    (ran.code, ran.json())
}

fn causes(report: &Value) -> String {
    let causes = report["causes"].as_array().into_iter().flatten();
    let causes: Vec<&str> = causes.filter_map(Value::as_str).collect();
    causes.join("; ")
}

#[test]
fn code_is_not_fixed_wherever_the_coder_puts_it() {
    let import = "from other import run\n";
    let silenced = "def run(cmd):\n    return eval(cmd)  # tribunal-ignore python-eval: fine\n";
    for (what, write) in [
        (
            "below tests",
            json!({"src/run.py": null, "tests/run.py": EVAL}),
        ),
        (
            "a test",
            json!({"src/run.py": null, "src/test_run.py": EVAL}),
        ),
        (
            "imported",
            json!({"src/run.py": import, "tests/other.py": EVAL}),
        ),
        (
            "vendored",
            json!({"src/run.py": import, "vendor/other.py": EVAL}),
        ),
        (
            "generated",
            json!({"src/run.py": import, "src/other.py": format!("# @generated\n{EVAL}")}),
        ),
        ("text", json!({"src/run.py": null, "src/run.txt": EVAL})),
        (
            "text beside",
            json!({"src/run.py": import, "src/other.txt": EVAL}),
        ),
        ("no ending", json!({"src/run.py": null, "src/run": EVAL})),
        (
            "reworded text",
            json!({"src/run.py": null, "src/run.md": "def go(a):\n  return eval( a )\n"}),
        ),
        (
            "silenced elsewhere",
            json!({"src/run.py": import, "src/other.py": silenced}),
        ),
    ] {
        let (code, report) = after_rule(&write);
        assert_ne!(code, Some(0), "{what}: {report:#}");
        let state = &report["arbitration"]["findings"][0]["state"];
        assert_eq!(state, "open", "{what}: {report:#}");
    }
    for (what, write) in [
        ("mended", json!({"src/run.py": FIXED})),
        (
            "mended and moved",
            json!({"src/run.py": null, "src/other.py": FIXED}),
        ),
        ("removed", json!({"src/run.py": null})),
        (
            "with a note",
            json!({"src/run.py": FIXED, "NOTES.md": "The function no longer calls eval.\n"}),
        ),
        (
            "with a test",
            json!({"src/run.py": FIXED, "tests/test_run.py": "def test_run():\n    assert run('1') == 1\n"}),
        ),
    ] {
        let (code, report) = after_rule(&write);
        assert_eq!(code, Some(0), "{what}: {report:#}");
    }
}

#[test]
fn work_that_was_not_taken_makes_no_pass() {
    let import = "from other import run\n";
    let large = format!("{FIXED}{}", "#x\n".repeat(4_000_000));
    for (what, path, write) in [
        (
            "ignored by the project",
            "local",
            json!({"src/run.py": import, "local/other.py": FIXED}),
        ),
        (
            "ignored by the coder",
            "src/other.py",
            json!({"src/run.py": import, ".gitignore": "other.py\n", "src/other.py": FIXED}),
        ),
        (
            "output by the coder's word",
            "dist",
            json!({"src/run.py": import, ".gitignore": "dist/\n", "dist/other.py": FIXED}),
        ),
        (
            "settings",
            ".tribunal/other.py",
            json!({"src/run.py": import, ".tribunal/other.py": FIXED}),
        ),
        (
            "credentials",
            ".env",
            json!({"src/run.py": FIXED, ".env": "A=1\n"}),
        ),
        (
            "large",
            "src/other.py",
            json!({"src/run.py": import, "src/other.py": large}),
        ),
    ] {
        let (code, report) = after_rule(&write);
        assert_eq!(code, Some(5), "{what}: {report:#}");
        let causes = causes(&report);
        assert!(
            causes.contains("was taken") && causes.contains(path),
            "{what}: {causes}"
        );
    }
    let output = json!({"src/run.py": FIXED, "src/__pycache__/run.pyc": "x", "build/run.o": "x"});
    let (code, report) = after_rule(&output);
    assert_eq!(code, Some(0), "{report:#}");
    let notes = report["notes"].to_string();
    assert!(notes.contains("`build/`, `src/__pycache__/`"), "{notes}");
}

#[test]
fn all_who_raised_a_finding_check_its_fix() {
    for (bob, expected) in [(Some(true), 0), (Some(false), 1), (None, 1)] {
        let mut court = Court::empty();
        court.agent("ann", "reviewer", &ann(&[], true));
        let mut replies = ann(&[], bob == Some(true));
        if bob.is_none() {
            for reply in replies.as_array_mut().unwrap() {
                if reply["when"].is_array() {
                    reply["text"] = json!("I do not know.");
                }
            }
        }
        court.agent("bob", "reviewer", &replies);
        court.coder(&says("implemented", ""), &json!({"src/pay.py": MENDED}));
        let ran = court.arbitrate(&["--json", "--apply"]);
        let report = ran.json();
        assert_eq!(ran.code, Some(expected), "{bob:?}: {report:#}");
        let checks = report["arbitration"]["findings"][0]["checks"].to_string();
        assert!(
            checks.contains("\"ann\"") && checks.contains("\"bob\""),
            "{checks}"
        );
    }
}

#[test]
fn a_model_checks_the_fix_that_a_rule_is_content_with() {
    let mut court = Court::empty();
    court.env.write("src/pay.py", MENDED);
    court.env.write("src/run.py", EVAL);
    let mut replies = ann(&[], false);
    let last = replies.as_array_mut().unwrap().last_mut().unwrap();
    let finding = r#"{"id": "A", "label": "HIGH", "category": "security", "file": "src/run.py", "line": 2, "confidence": 90, "title": "eval runs text that is not a literal as code", "description": "Whoever can influence the text runs code in this process", "quote": "return eval(cmd)"}"#;
    *last = json!({ "text": super::super::signed(finding) });
    court.agent("ann", "reviewer", &replies);
    let alias = "go = eval\n\n\ndef run(cmd):\n    return go(cmd)\n";
    court.coder(&says("implemented", ""), &json!({"src/run.py": alias}));
    let set = ["--json", "--apply", "--set", "review.builtin=[security]"];
    let ran = court.arbitrate(&set);
    assert_eq!(ran.code, Some(1), "{}", ran.stdout);
}

#[test]
fn a_late_finding_without_a_file_counts() {
    let late = r#"{"id": "L", "label": "HIGH", "category": "bug", "file": "", "line": null, "confidence": 90, "title": "The migration is missing", "description": "The fix needs a new column that nothing creates"}"#;
    let mut court = Court::empty();
    court.agent("ann", "reviewer", &ann(&[late], true));
    court.coder(&says("implemented", ""), &json!({"src/pay.py": MENDED}));
    let ran = court.arbitrate(&["--json", "--apply"]);
    assert_ne!(ran.code, Some(0), "{}", ran.stdout);
}
