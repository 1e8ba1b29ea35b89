//! Settings of linters: neither a change nor a coder can loosen those that judge it.

use serde_json::json;

use super::{Desk, NONCE, signed};

/// A ruff that reports `eval(` and broken code as F821, unless a `ruff.toml`, the part `tool.ruff`
/// of a `pyproject.toml` or a marker says otherwise.
fn ruff_with_settings() -> &'static str {
    r#"[ "$1" = --version ] && { echo 'ruff 1.0'; exit; }
ignored=$(grep -h F821 ruff.toml src/ruff.toml own.toml 2>/dev/null
  sed -n '/tool\.ruff/,$p' pyproject.toml 2>/dev/null | grep F821)
separator='['
for file in $(find . -name '*.py' | sort); do
  for line in $(grep -n 'eval(\|planted_defect' "$file" | grep -v '# noqa' | cut -d: -f1); do
    if [ -n "$ignored" ] && sed -n "${line}p" "$file" | grep -q 'eval('; then continue; fi
    printf '%s{"filename": "%s/%s", "code": "F821", "noqa_row": null, "message": "Undefined name", "location": {"row": %s, "column": 1}, "end_location": {"row": %s, "column": 2}}' "$separator" "$PWD" "$file" "$line" "$line"
    separator=','
  done
done
if [ "$separator" = '[' ]; then echo '[]'; else echo ']'; exit 1; fi
"#
}

const IGNORES: &str = "ignore = [\"F821\"]\n";

#[test]
fn settings_that_the_change_edits_silence_no_linter() {
    let pyproject = format!("[project]\nname = \"pay\"\n\n[tool.ruff]\n{IGNORES}");
    for (file, settings, text, code) in [
        ("ruff.toml", IGNORES, "x = eval('1')\n", 1),
        ("src/ruff.toml", IGNORES, "x = eval('1')\n", 1),
        ("pyproject.toml", &*pyproject, "x = eval('1')\n", 1),
        // Settings that hide nothing stop nobody.
        ("ruff.toml", IGNORES, "x = 1\n", 0),
    ] {
        let mut desk = Desk::new();
        desk.write("src/pay.py", text);
        desk.write(file, settings);
        desk.reviewer("ann", "anthropic", &json!([{ "text": signed("") }]));
        desk.program("ruff", ruff_with_settings(), "");
        let report = desk.review(&["--json"]).assert_code(code).json();
        let notes = report["notes"].to_string();
        let note = format!("this change edits settings of linters (`{file}`)");
        assert!(notes.contains(&note), "{notes}");
        assert_eq!(report["findings"].as_array().unwrap().len(), code as usize);
        let case = report["case"].as_str().unwrap();
        desk.env.run(["replay", case]).assert_code(0);
        assert!(desk.env.places_left().is_empty());
    }
}

#[test]
fn a_file_that_the_command_line_names_holds_settings_too() {
    let mut desk = Desk::new();
    desk.write("src/pay.py", "x = eval('1')\n");
    desk.write("own.toml", IGNORES);
    desk.reviewer("ann", "anthropic", &json!([{ "text": signed("") }]));
    desk.program("ruff", ruff_with_settings(), "");
    desk.review(&["--json"]).assert_code(0);
    let program = desk.env.root().join("bin/ruff").display().to_string();
    let mut named = Desk::new();
    named.write("src/pay.py", "x = eval('1')\n");
    named.write("own.toml", IGNORES);
    named.reviewer("ann", "anthropic", &json!([{ "text": signed("") }]));
    named.raw_agent(&format!(
        "{{name: ruff, kind: sarif, command: [{program:?}, check, --config, own.toml], role: reviewer}}"
    ));
    named.review(&["--json"]).assert_code(1);
}

#[test]
fn settings_that_were_there_before_count_and_cost_no_second_run() {
    let mut desk = Desk::new();
    desk.write("ruff.toml", IGNORES);
    desk.write("pyproject.toml", "[project]\nname = \"pay\"\n");
    desk.env.commit_all("settings");
    desk.write("src/pay.py", "x = eval('1')\n");
    // What is no setting of a linter may change in a file that can hold some.
    desk.write("pyproject.toml", "[project]\nname = \"payment\"\n");
    desk.reviewer("ann", "anthropic", &json!([{ "text": signed("") }]));
    desk.program("ruff", ruff_with_settings(), "");
    let report = desk.review(&["--json"]).assert_code(0).json();
    let notes = report["notes"].to_string();
    assert!(!notes.contains("settings of linters"), "{notes}");
}

#[test]
fn a_coder_silences_no_linter_with_settings_or_markers() {
    let mended = "x = int('1')\n";
    for (name, write, passes) in [
        ("settings", json!({ "ruff.toml": IGNORES }), false),
        (
            "a marker",
            json!({ "src/pay.py": "x = eval('1')  # noqa\n" }),
            false,
        ),
        ("code", json!({ "src/pay.py": mended }), true),
    ] {
        let mut desk = Desk::new();
        desk.write("src/pay.py", "x = eval('1')\n");
        desk.reviewer("ann", "anthropic", &json!([{ "text": signed("") }]));
        desk.program("ruff", ruff_with_settings(), "");
        let answer = format!(
            r#"{{"nonce": "{NONCE}", "responses": [{{"finding_id": "F1", "answer": "implemented"}}], "end": "{NONCE}"}}"#
        );
        let script = desk.env.root().join("cody.json");
        let replies = json!({ "replies": [{ "text": answer, "write": write }] });
        std::fs::write(&script, replies.to_string()).unwrap();
        desk.raw_agent(&format!(
            "{{name: cody, provider: scripted, script: {script:?}, role: coder}}"
        ));
        let ran = desk.review(&["--arbitrate", "--apply", "--json"]);
        let state = &ran.json()["arbitration"]["findings"][0];
        assert_eq!(ran.code == Some(0), passes, "{name}: {state}");
    }
}

#[test]
fn a_coder_cannot_take_back_settings_that_the_change_adds() {
    // Here the change makes the linter stricter, and the coder undoes that.
    let script =
        ruff_with_settings().replace("[ -n \"$ignored\" ] && sed", "[ -z \"$ignored\" ] && sed");
    let mut desk = Desk::new();
    desk.write("src/pay.py", "x = eval('1')\n");
    desk.write("ruff.toml", "select = [\"F821\"]\n");
    desk.reviewer("ann", "anthropic", &json!([{ "text": signed("") }]));
    desk.program("ruff", &script, "");
    let answer = format!(
        r#"{{"nonce": "{NONCE}", "responses": [{{"finding_id": "F1", "answer": "implemented"}}], "end": "{NONCE}"}}"#
    );
    let file = desk.env.root().join("cody.json");
    let replies =
        json!({ "replies": [{ "text": answer, "write": { "ruff.toml": "select = []\n" } }] });
    std::fs::write(&file, replies.to_string()).unwrap();
    desk.raw_agent(&format!(
        "{{name: cody, provider: scripted, script: {file:?}, role: coder}}"
    ));
    let ran = desk.review(&["--arbitrate", "--apply", "--json"]);
    assert_ne!(ran.code, Some(0), "{}", ran.json()["arbitration"]);
}

#[test]
fn settings_that_the_change_edits_are_a_finding_beside_a_report_made_elsewhere() {
    for (file, code) in [("ruff.toml", 1), (".gitignore", 0)] {
        let mut desk = Desk::new();
        desk.write("src/pay.py", "x = 1\n");
        desk.write(file, "x\n");
        desk.reviewer("ann", "anthropic", &json!([{ "text": signed("") }]));
        desk.write("../ruff.json", "[]");
        let report = desk
            .review(&["--with", "../ruff.json", "--json"])
            .assert_code(code)
            .json();
        if code == 1 {
            assert_eq!(report["findings"][0]["rule"], "new-linter-settings");
        }
    }
}
