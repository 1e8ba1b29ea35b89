//! What other tools found, and the project's own rules.

use serde_json::json;

use super::{DEFECT, Desk, signed, told};

#[test]
fn findings_of_another_tool_join_the_panel() {
    let mut desk = Desk::with_change();
    let result = |line: u32, text: &str| {
        json!({
            "ruleId": "S608", "level": "error", "message": { "text": text },
            "locations": [{ "physicalLocation": {
                "artifactLocation": { "uri": "src/pay.py" }, "region": { "startLine": line },
            }}],
        })
    };
    let sarif = json!({ "version": "2.1.0", "runs": [{
        "tool": { "driver": { "name": "bandit" } },
        "results": [result(5, "SQL built from text"), result(1, "about a line that nobody touched")],
    }]});
    desk.write("../bandit.sarif", sarif.to_string());
    desk.reviewer("ann", "anthropic", &json!([{ "text": signed(DEFECT) }]));
    let ran = desk
        .review(&["--json", "--with", "../bandit.sarif"])
        .assert_code(1);
    let report = ran.json();
    let reviewers: Vec<_> = report["reviewers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["name"])
        .collect();
    assert_eq!(reviewers, ["ann", "bandit.sarif"]);
    let said: Vec<_> = report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|one| one["voices"].as_array().unwrap())
        .map(|voice| voice["location"]["line"].as_u64().unwrap())
        .collect();
    assert_eq!(said, [5, 5]);
}

#[test]
fn a_path_may_be_spelled_in_other_ways_and_what_is_left_out_is_counted() {
    let mut desk = Desk::with_change();
    desk.reviewer("ann", "anthropic", &json!([{ "text": signed("") }]));
    let found = |path: &str| json!({ "file": path, "line": 5, "label": "HIGH", "title": "SQL built from text" });
    for (path, code) in [
        ("./src/pay.py", 5),
        ("src\\pay.py", 5),
        ("SRC/Pay.py", 5),
        ("other/pay.py", 0),
    ] {
        desk.write(
            "../tool.json",
            json!({ "findings": [found(path)] }).to_string(),
        );
        let ran = desk
            .review(&["--json", "--with", "../tool.json"])
            .assert_code(code);
        let note = "tool.json has one finding about code that is not under review";
        let notes = ran.json()["notes"].clone();
        let expected = if code == 0 { json!([note]) } else { json!([]) };
        assert_eq!(notes, expected, "{path}");
    }
}

#[test]
fn a_file_that_cannot_be_read_is_no_approval() {
    let mut desk = Desk::with_change();
    desk.reviewer("ann", "anthropic", &json!([{ "text": signed("") }]));
    for (contents, code) in [("", 5), ("{\"runs\": [", 5), ("all fine", 5)] {
        desk.write("../tool.json", contents);
        let ran = desk
            .review(&["--json", "--with", "../tool.json"])
            .assert_code(code);
        assert!(
            told(&ran).contains("tool.json did not give a complete answer"),
            "{contents}"
        );
    }
    let ran = desk.review(&["--with", "../missing.json"]);
    assert!(ran.stderr.contains("missing.json"), "{}", ran.stderr);
}

#[test]
fn rules_of_the_project_work_as_they_are() {
    let desk = Desk::new();
    let rule = "id: no-print\nlanguage: python\nmessage: Print nothing here\nseverity: error\nrule:\n  pattern: print($$$A)\n";
    desk.write(".tribunal/rules/no-print.yml", rule);
    desk.write("src/new.py", "print('hello')\n");
    let ran = desk
        .review(&["--json", "--reviewer", "builtin:correctness"])
        .assert_code(1);
    assert_eq!(told(&ran), "fail; accepted Print nothing here");
    desk.write(".tribunal/rules/broken.yml", "id: [\n");
    let ran = desk
        .review(&["--json", "--reviewer", "builtin"])
        .assert_code(2);
    assert!(ran.stderr.contains("broken.yml"), "{}", ran.stderr);
}
