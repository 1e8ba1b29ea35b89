//! Linters as witnesses: what they looked at, who they are, and when they have not answered.

use serde_json::{Value, json};

use super::{Desk, signed, told};

/// A ruff that knows one defect, looks at all Python files of a directory and counts its runs.
fn ruff(desk: &Desk, defect: &str, extra: &str) -> String {
    let runs = desk.env.root().join("runs").display().to_string();
    format!(
        r#"[ "$1" = --version ] && {{ echo 'ruff 1.0'; exit; }}
echo run >> {runs}
separator='['
for file in $(find . -name '*.py' | sort); do
  {extra}
  line=$(grep -n '{defect}' "$file" | head -1 | cut -d: -f1)
  if [ -n "$line" ]; then
    printf '%s{{"filename": "%s/%s", "code": "invalid-syntax", "noqa_row": null, "message": "Expected a parameter", "location": {{"row": %s, "column": 1}}, "end_location": {{"row": %s, "column": 2}}}}' "$separator" "$PWD" "$file" "$line" "$line"
    separator=','
  fi
done
if [ "$separator" = '[' ]; then echo '[]'; else echo ']'; exit 1; fi
"#
    )
}

fn runs(desk: &Desk) -> usize {
    let text = std::fs::read_to_string(desk.env.root().join("runs"));
    text.unwrap_or_default().lines().count()
}

#[test]
fn a_linter_that_does_not_report_a_planted_defect_has_not_answered() {
    let mut desk = Desk::with_change();
    desk.program("ruff", "echo '[]'", "");
    let told = told(&desk.review(&["--json"]));
    assert!(told.starts_with("inconclusive"), "{told}");
    let why = "ruff did not give a complete answer: it did not report a defect that was planted in \
               `src/pay.py`";
    assert!(told.contains(why), "{told}");
}

#[test]
fn a_linter_that_skips_the_changed_file_has_not_answered_about_it() {
    let mut desk = Desk::with_change();
    desk.write("src/other.py", "x = 1\n");
    let script = ruff(
        &desk,
        "planted_defect",
        r#"[ "$file" = ./src/pay.py ] && continue"#,
    );
    desk.program("ruff", &script, "");
    let told = told(&desk.review(&["--json"]));
    assert_eq!(
        told,
        "inconclusive; `src/pay.py` was not reviewed (no reviewer answered)"
    );
}

#[test]
fn a_proven_linter_covers_what_it_reads_and_is_proven_once() {
    let mut desk = Desk::with_change();
    let script = ruff(&desk, "planted_defect", "");
    desk.program("ruff", &script, "");
    let ran = desk.review(&["--json"]).assert_code(0);
    assert_eq!(ran.json()["coverage"]["reviewed"][0]["path"], "src/pay.py");
    assert_eq!(runs(&desk), 2);
    desk.review(&["--json"]).assert_code(0);
    assert_eq!(runs(&desk), 3);
    let case = ran.json()["case"].as_str().unwrap().to_owned();
    desk.env.run(["replay", &case]).assert_code(0);
    // Other settings of the project are another question.
    desk.write("pyproject.toml", "[tool.ruff]\nline-length = 80\n");
    desk.env.commit_all("third");
    desk.write("src/pay.py", "x = 2\n");
    desk.review(&["--json"]).assert_code(0);
    assert_eq!(runs(&desk), 5);
    assert!(desk.env.places_left().is_empty());
}

#[test]
fn an_empty_report_that_names_no_file_counts_only_where_the_config_says_so() {
    let empty = r#"{"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "Own Checker"}}, "results": []}]}"#;
    let listed = empty.replace(
        r#""results": []"#,
        r#""results": [], "artifacts": [{"location": {"uri": "src/pay.py"}}]"#,
    );
    for (report, more, code) in [
        (empty, "", 5),
        (empty, ", accept_empty: true", 0),
        (&listed, "", 0),
    ] {
        let mut desk = Desk::with_change();
        desk.reviewer("ann", "anthropic", &json!([{ "text": signed("") }]));
        desk.program("checker", &format!("echo '{report}'"), more);
        let ran = desk.review(&["--json"]).assert_code(code);
        let said = told(&ran).contains("does not say which files it looked at");
        assert_eq!(said, code == 5, "{more}");
        assert_eq!(ran.json()["reviewers"][1]["family"], "tool:own-checker");
    }
}

#[test]
fn an_empty_list_with_a_failing_exit_code_is_no_answer() {
    let mut desk = Desk::with_change();
    desk.reviewer("ann", "anthropic", &json!([{ "text": signed("") }]));
    desk.program("checker", "echo '[]'; exit 2", ", accept_empty: true");
    let told = told(&desk.review(&["--json"]));
    assert!(told.contains("exited with code 2"), "{told}");
}

#[test]
fn files_that_a_linter_lists_count_as_read_and_others_are_named_for_what_they_are() {
    let mut desk = Desk::with_change();
    let script = r#"echo '[{"filePath": "src/pay.py", "messages": []}]' # && npx eslint ."#;
    desk.raw_agent(&format!(
        "{{name: lint, kind: sarif, role: reviewer, command: [sh, -c, {script:?}]}}"
    ));
    let ran = desk.review(&["--json"]).assert_code(0);
    assert_eq!(ran.json()["reviewers"][0]["family"], "tool:eslint");
    desk.write("src/new.rs", "fn main() {}\n");
    let told = told(&desk.review(&["--json"]));
    assert!(!told.contains("cannot be read"), "{told}");
    assert!(told.contains("`src/new.rs` was not reviewed"), "{told}");
}

#[test]
fn two_reports_of_one_tool_are_one_voice() {
    let mut desk = Desk::with_change();
    let json = json!([{ "filename": "src/pay.py", "code": "F821", "noqa_row": 5,
        "message": "Undefined name `db`", "location": { "row": 5, "column": 1 },
        "end_location": { "row": 5, "column": 3 } }]);
    let sarif = json!({ "version": "2.1.0", "runs": [{
        "tool": { "driver": { "name": "ruff" } },
        "results": [{ "ruleId": "F821", "level": "error",
            "message": { "text": "Undefined name `db`" },
            "locations": [{ "physicalLocation": {
                "artifactLocation": { "uri": "src/pay.py" }, "region": { "startLine": 5 } } }] }],
    }]});
    desk.write("../mine.json", json.to_string());
    desk.write("../theirs.sarif", sarif.to_string());
    desk.reviewer("ann", "anthropic", &json!([{ "text": signed("") }]));
    let confidence = |args: &[&str]| {
        let ran = desk.review(&[&["--json"], args].concat());
        let report: Value = ran.json();
        for reviewer in report["reviewers"].as_array().unwrap().iter().skip(1) {
            assert_eq!(reviewer["family"], "tool:ruff");
        }
        report["findings"][0]["confidence"].clone()
    };
    let one = confidence(&["--with", "../mine.json"]);
    let two = confidence(&["--with", "../mine.json", "--with", "../theirs.sarif"]);
    assert_eq!(one, two);
}

#[test]
fn an_empty_file_of_findings_is_said_to_prove_nothing() {
    let mut desk = Desk::with_change();
    desk.reviewer("ann", "anthropic", &json!([{ "text": signed("") }]));
    desk.write("../ruff.json", "[]");
    let ran = desk
        .review(&["--json", "--with", "../ruff.json"])
        .assert_code(0);
    assert_eq!(ran.json()["reviewers"][1]["family"], "tool:ruff");
    let note = "ruff.json is an empty report that does not say which files were looked at: it \
                proves nothing";
    assert_eq!(ran.json()["notes"], json!([note]));
}

#[test]
fn a_linter_that_is_asked_is_refused_before_a_case_is_opened() {
    let mut desk = Desk::new();
    desk.program("ruff", "echo '[]'", "");
    desk.review(&[]);
    let before = desk.env.run(["log", "--json"]).stdout;
    let ran = desk.env.run(["ask", "ruff", "hello"]).assert_code(2);
    assert!(ran.stderr.contains("takes no prompt"), "{}", ran.stderr);
    assert_eq!(desk.env.run(["log", "--json"]).stdout, before);
}

/// A ruff that reports `eval(` and broken code, unless the line or the file says otherwise.
fn ruff_that_heeds_noqa(desk: &Desk) -> String {
    let runs = desk.env.root().join("runs").display().to_string();
    format!(
        r#"[ "$1" = --version ] && {{ echo 'ruff 1.0'; exit; }}
echo run >> {runs}
separator='['
for file in $(find . -name '*.py' | sort); do
  grep -q '# ruff: noqa' "$file" && lines=$(grep -n planted_defect "$file" | cut -d: -f1) ||
    lines=$(grep -n 'eval(\|planted_defect' "$file" | grep -v '# noqa' | cut -d: -f1)
  for line in $lines; do
    printf '%s{{"filename": "%s/%s", "code": "F821", "noqa_row": null, "message": "Undefined name", "location": {{"row": %s, "column": 1}}, "end_location": {{"row": %s, "column": 2}}}}' "$separator" "$PWD" "$file" "$line" "$line"
    separator=','
  done
done
if [ "$separator" = '[' ]; then echo '[]'; else echo ']'; exit 1; fi
"#
    )
}

#[test]
fn a_marker_that_the_change_adds_silences_no_linter() {
    for (text, code) in [
        ("x = eval('1')  # noqa\n", 1),
        ("x = eval('1')  # noqa: F821\n", 1),
        ("# ruff: noqa\nx = eval('1')\n", 1),
        // A marker that hides nothing stops nobody.
        ("x = 1  # noqa\n", 0),
    ] {
        let mut desk = Desk::with_change();
        desk.write("src/pay.py", text);
        let script = ruff_that_heeds_noqa(&desk);
        desk.program("ruff", &script, "");
        let ran = desk.review(&["--json"]).assert_code(code);
        let report = ran.json();
        let note = report["notes"].to_string();
        assert!(
            note.contains("this change adds markers that silence ruff"),
            "{text}: {note}"
        );
        assert_eq!(report["findings"].as_array().unwrap().len(), code as usize);
        let case = report["case"].as_str().unwrap();
        desk.env.run(["replay", case]).assert_code(0);
        assert!(desk.env.places_left().is_empty());
    }
}

#[test]
fn a_marker_of_the_base_silences_a_linter_and_costs_no_second_run() {
    let mut desk = Desk::with_change();
    desk.write("src/pay.py", "x = eval('1')  # noqa\n");
    desk.env.commit_all("a marker");
    desk.write("src/pay.py", "x = eval('1')  # noqa\ny = 2\n");
    let script = ruff_that_heeds_noqa(&desk);
    desk.program("ruff", &script, "");
    desk.review(&["--json"]).assert_code(0);
    // One run, and one with a planted defect.
    assert_eq!(runs(&desk), 2);
    // Code that the change edits loses its marker.
    desk.write("src/pay.py", "x = eval('2')  # noqa\n");
    desk.review(&["--json"]).assert_code(1);
}

#[test]
fn a_linter_that_fails_without_the_markers_of_the_change_has_not_answered() {
    let mut desk = Desk::with_change();
    desk.write("src/pay.py", "x = eval('1')  # noqa\n");
    let script = ruff_that_heeds_noqa(&desk);
    let fails =
        "case $PWD in *checkout) ;; *) grep -q planted_defect src/pay.py || exit 3;; esac\n";
    let (first, rest) = script.split_once('\n').unwrap();
    desk.program("ruff", &format!("{first}\n{fails}{rest}"), "");
    let told = told(&desk.review(&["--json"]));
    assert!(told.starts_with("inconclusive"), "{told}");
    assert!(told.contains("what they hide is not known"), "{told}");
}

#[test]
fn a_marker_that_the_change_adds_is_a_finding_beside_a_report_made_elsewhere() {
    let mut desk = Desk::with_change();
    desk.write("src/pay.py", "x = eval('1')  # noqa\n");
    desk.reviewer("ann", "anthropic", &json!([{ "text": signed("") }]));
    desk.env.write("ruff.json", "[]");
    let report = desk
        .review(&["--with", "ruff.json", "--json"])
        .assert_code(1)
        .json();
    let finding = &report["findings"][0];
    assert_eq!(finding["rule"], "new-suppression");
    assert_eq!(
        finding["title"],
        "this change adds `noqa`, which silences ruff here"
    );
}
