//! Linters whose silence or whose mild words must not open the gate.
//!
//! The control of the family: a linter that reports a note about the changed file, and nothing
//! else, answers and does not stop the change.

use serde_json::{Value, json};

use crate::corpus_case::{
    CorpusCase, control, corpus_case, expect_fail, expect_no_pass, expect_pass,
};
use crate::gate_scene::{EVAL_DEFECT, EVAL_MENDED, GateScene};
use crate::reported_claim::injection;

/// Returns a SARIF report of one result.
fn sarif(tool: &str, file: &str, line: u32, level: &str, text: &str) -> Value {
    json!({"version": "2.1.0", "runs": [{
        "tool": {"driver": {"name": tool}},
        "artifacts": [{"location": {"uri": file}}],
        "results": [{
            "ruleId": "X100", "level": level, "message": {"text": text},
            "locations": [{"physicalLocation": {
                "artifactLocation": {"uri": file}, "region": {"startLine": line},
            }}],
        }],
    }]})
}

/// Returns a script that prints a text and ends with a code.
fn printing(text: &str, code: u32) -> String {
    format!("cat <<'END_OF_REPORT'\n{text}\nEND_OF_REPORT\nexit {code}")
}

/// Returns a case: the linter is the only reviewer of a change without a known defect.
fn only_linter(name: &str, script: String) -> CorpusCase {
    corpus_case(name, move || {
        let review = |script: &str| {
            let mut scene = GateScene::with_shop_change();
            scene.linter("lint", script);
            scene.review(&[])
        };
        expect_no_pass(&review(&script))
    })
}

/// Returns a case: the linter sits beside a reviewer who answers and finds nothing.
fn beside_a_reviewer(name: &str, script: String) -> CorpusCase {
    corpus_case(name, move || {
        let review = |script: &str| {
            let mut scene = GateScene::with_shop_change();
            scene.reviewer_of("ann", "anthropic", &[]);
            scene.linter("lint", script);
            scene.review(&[])
        };
        expect_no_pass(&review(&script))?;
        let note = sarif("lint", "src/shop.py", 5, "note", "A long line");
        control(expect_pass(&review(&printing(&note.to_string(), 0))))
    })
}

/// Returns a case: the built-in rule reports HIGH, and this linter something milder on its line.
fn beside_a_rule(name: &str, reports: Vec<Value>) -> CorpusCase {
    corpus_case(name, move || {
        let review = |code: &str| {
            let mut scene = GateScene::with_builtin_reviewers();
            scene.write("src/run.py", code);
            for (number, report) in (1..).zip(&reports) {
                scene.linter(&format!("lint{number}"), &printing(&report.to_string(), 0));
            }
            scene.review(&[])
        };
        expect_fail(&review(EVAL_DEFECT))?;
        control(expect_pass(&review(EVAL_MENDED)))
    })
}

pub(crate) fn cases() -> Vec<CorpusCase> {
    let note = |tool: &str| sarif(tool, "src/run.py", 2, "note", "`eval` is slow");
    let run = |fields: Value| {
        let mut run = json!({"tool": {"driver": {"name": "lint"}}});
        for (key, value) in fields.as_object().unwrap() {
            run[key] = value.clone();
        }
        json!({"version": "2.1.0", "runs": [run]}).to_string()
    };
    let whole = sarif("lint", "src/shop.py", 5, "note", "A long line").to_string();
    let mut cases = vec![
        beside_a_reviewer("an empty list with code 2", printing("[]", 2)),
        beside_a_reviewer("an empty list with code 101", printing("[]", 101)),
        beside_a_reviewer(
            "an empty list after a crash on stderr",
            "echo 'thread panicked' >&2\necho '[]'\nexit 134".to_owned(),
        ),
        beside_a_reviewer(
            "SARIF without results and code 3",
            printing(&run(json!({"results": []})), 3),
        ),
        beside_a_reviewer("nothing with code 0", "exit 0".to_owned()),
        beside_a_reviewer("nothing with code 1", "exit 1".to_owned()),
        beside_a_reviewer(
            "only a word of success",
            "echo 'All checks passed!'".to_owned(),
        ),
        beside_a_reviewer(
            "a report that is cut off",
            printing(&whole[..whole.len() / 2], 0),
        ),
        beside_a_reviewer(
            "a list that is cut off",
            printing("[{\"filename\": \"src/shop.py\", ", 1),
        ),
        beside_a_reviewer("an empty object", printing("{}", 0)),
        beside_a_reviewer("the word null", printing("null", 0)),
        beside_a_reviewer(
            "SARIF without runs",
            printing("{\"version\": \"2.1.0\", \"runs\": []}", 0),
        ),
        beside_a_reviewer(
            "SARIF whose run has no results",
            printing(&run(json!({})), 0),
        ),
        beside_a_reviewer(
            "SARIF that says that it failed",
            printing(
                &run(json!({"results": [], "invocations": [{"executionSuccessful": false}]})),
                0,
            ),
        ),
        beside_a_reviewer(
            "pyright that looked at no file",
            printing(
                "{\"version\": \"1.1\", \"generalDiagnostics\": [], \"summary\": {\"filesAnalyzed\": 0, \"errorCount\": 0, \"warningCount\": 0, \"informationCount\": 0, \"timeInSec\": 0.1}}",
                0,
            ),
        ),
        beside_a_reviewer(
            "semgrep that scanned no file",
            printing(
                "{\"version\": \"1.90.0\", \"results\": [], \"errors\": [], \"paths\": {\"scanned\": []}}",
                0,
            ),
        ),
        beside_a_reviewer(
            "a program that is killed before its report",
            "kill -9 $$".to_owned(),
        ),
        only_linter(
            "alone: a report about other files only",
            printing(
                &sarif("lint", "src/other.py", 1, "note", "A long line").to_string(),
                0,
            ),
        ),
        only_linter(
            "alone: ESLint's list about another file",
            printing(
                "[{\"filePath\": \"/work/other.js\", \"messages\": [], \"errorCount\": 0, \"warningCount\": 0}]",
                0,
            ),
        ),
        only_linter(
            "alone: an error on the changed line",
            printing(
                &sarif("lint", "src/shop.py", 5, "error", "SQL is built from text").to_string(),
                1,
            ),
        ),
        beside_a_rule("a note on the line of a rule's finding", vec![note("ruff")]),
        beside_a_rule(
            "a warning of another kind on the line of a rule's finding",
            vec![sarif(
                "pylint",
                "src/run.py",
                2,
                "warning",
                "Missing docstring",
            )],
        ),
        beside_a_rule(
            "three notes of three tools on the line of a rule's finding",
            vec![note("ruff"), note("pylint"), note("flake8")],
        ),
        beside_a_rule(
            "one tool three times on the line of a rule's finding",
            vec![note("ruff"), note("ruff"), note("ruff")],
        ),
        beside_a_rule(
            "a note on the function around a rule's finding",
            vec![sarif(
                "ruff",
                "./src/run.py",
                1,
                "note",
                "`run` has no docstring",
            )],
        ),
    ];
    cases.push(corpus_case(
        "one tool under three names against a reviewer's HIGH",
        || {
            let review = |claims: &[crate::reported_claim::ReportedClaim]| {
                let mut scene = GateScene::with_shop_change();
                scene.reviewer_of("ann", "anthropic", claims);
                let text = "SQL injection through the name of the user, perhaps";
                let report = sarif("lint", "src/shop.py", 5, "note", text).to_string();
                for name in ["one", "two", "three"] {
                    scene.linter(name, &printing(&report, 0));
                }
                scene.review(&[])
            };
            expect_no_pass(&review(&[injection()]))?;
            control(expect_pass(&review(&[])))
        },
    ));
    cases.push(corpus_case(
        "a file of a tool that holds nothing, beside a reviewer",
        || {
            let review = |contents: &str| {
                let mut scene = GateScene::with_shop_change();
                scene.reviewer_of("ann", "anthropic", &[]);
                scene.write("../tool.json", contents);
                scene.review(&["--with", "../tool.json"])
            };
            for contents in ["", "{\"runs\": [", "all fine"] {
                expect_no_pass(&review(contents))?;
            }
            let note = sarif("lint", "src/shop.py", 5, "note", "A long line").to_string();
            control(expect_pass(&review(&note)))
        },
    ));
    cases
}
