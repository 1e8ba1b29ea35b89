//! Outputs that are cut, empty, unknown, enormous or lie about themselves.

use super::tests::{TRANSCRIPTS, read, shown, tool_of};
use super::*;

#[test]
fn no_cut_output_is_an_answer_without_findings() {
    for (name, output) in TRANSCRIPTS {
        for end in 0..output.len() {
            let found = read(&output.as_bytes()[..end]);
            let silent = found.answered && found.findings.is_empty();
            assert!(!silent, "{name} cut at {end}");
            let read_to_the_end = output.get(end..).is_none_or(|rest| rest.trim().is_empty());
            // Lines of mypy are whole each for themselves; prose may follow golangci's report.
            let undetectable = ["mypy", "golangci"].contains(&name);
            assert!(
                !found.answered || read_to_the_end || undetectable,
                "{name} cut at {end} passes for whole"
            );
        }
    }
}

#[test]
fn an_empty_list_is_an_answer_and_an_empty_output_is_none() {
    for silent in [
        "[]",
        "[]\n",
        "\u{feff}[]",
        "> lint\n\n[]\n",
        r#"{"findings": []}"#,
    ] {
        assert_eq!(shown(silent), [] as [&str; 0], "{silent:?}");
    }
    for whole in [
        r#"{"runs": [{"results": []}]}"#,
        r#"{"reason":"build-finished","success":true}"#,
        r#"{"Issues": null, "Report": {}}"#,
        r#"{"results": [], "errors": [], "paths": {"scanned": ["a.py"]}}"#,
        r#"[{"filePath": "/work/repo/a.js", "messages": []}]"#,
    ] {
        assert_eq!(shown(whole), [] as [&str; 0], "{whole:?}");
    }
    for empty in ["", " \n\n", "\u{feff}"] {
        assert_eq!(
            shown(empty),
            ["problem the output is empty", "no answer"],
            "{empty:?}"
        );
    }
}

#[test]
fn eslint_that_counts_more_than_it_lists_is_no_answer() {
    no_answer(
        r#"[{"filePath": "/work/repo/a.js", "messages": [], "errorCount": 3, "warningCount": 0}]"#,
        "problem [0]: errorCount is 3 and 0 are listed",
    );
    no_answer(
        r#"[{"filePath": "/work/repo/a.js", "messages": [], "errorCount": 0, "warningCount": 1}]"#,
        "problem [0]: warningCount is 1 and 0 are listed",
    );
}

#[track_caller]
fn no_answer(output: &str, why: &str) {
    let lines = shown(output);
    assert_eq!(
        lines.last().map(String::as_str),
        Some("no answer"),
        "{output}"
    );
    assert!(lines.iter().any(|line| line.contains(why)), "{lines:?}");
}

#[test]
fn unknown_formats_are_named_by_what_they_look_like() {
    no_answer("All good!\n", "is no JSON; its first line is `All good!`");
    no_answer("{}", "an object without fields");
    no_answer(r#"{"ok": true}"#, "an object with `ok`, which");
    no_answer(
        r#"[{"odd": 1}]"#,
        "a list of objects with `odd`, which is no format",
    );
    no_answer(r#"["a"]"#, "something else than objects");
    no_answer(r#"{"a": NaN}"#, "cannot be read");
    no_answer(r#"{"runs": [{"results": [1e999]}]}"#, "cannot be read");
    no_answer("[]\n{\"level\": \"info\"}\n", "an object with `level`");
    no_answer("[] and more", "text follows the JSON");
    for output in [
        "",
        "nothing",
        "{}",
        "[{",
        "{\"reason\":\"compiler-artifact\"}\n",
    ] {
        assert!(tool_of(output.as_bytes()).is_err(), "{output}");
    }
    assert_eq!(tool_of(b"[]"), Ok(None));
    assert!(read(b"\xff\xfe[\0]\0").problems[0].what.contains("UTF-16"));
}

#[test]
fn reports_that_call_themselves_incomplete_are_no_answers() {
    no_answer(r#"{"runs": []}"#, "no tool has run");
    no_answer(r#"{"runs": {}}"#, "a list was expected");
    no_answer(r#"{"runs": [{"tool": {}}]}"#, "the run has no results");
    no_answer(
        r#"{"version": "1.0.0", "runs": []}"#,
        "\"1.0.0\" is not read",
    );
    no_answer(
        r#"{"runs": [{"results": [], "invocations": [{"executionSuccessful": false}]}]}"#,
        "did not run successfully",
    );
    no_answer(
        r#"{"reason":"build-finished","success":false}"#,
        "no error in the code",
    );
    no_answer(
        r#"{"results": [], "errors": [{"level": "error", "message": "no rules"}], "paths": {}}"#,
        "no rules",
    );
    no_answer(
        r#"{"Issues": [], "Report": {"Error": "timeout exceeded"}}"#,
        "timeout exceeded",
    );
    no_answer(
        r#"{"generalDiagnostics": [], "summary": {"filesAnalyzed": 0}}"#,
        "no file was looked at",
    );
    no_answer(
        r#"{"generalDiagnostics": [], "summary": {"filesAnalyzed": 1, "errorCount": 4}}"#,
        "counts 4 errors, and 0 are listed",
    );
    no_answer(
        r#"{"diagnostics": [], "number_of_files": 0}"#,
        "no file was looked at",
    );
    no_answer(
        r#"{"diagnostics": [], "command": "lint", "summary": {"diagnosticsNotPrinted": 7}}"#,
        "7 diagnostics were not printed",
    );
    no_answer(
        r#"{"schema": "tribunal.review.v1", "gate": "inconclusive", "findings": []}"#,
        "inconclusive",
    );
}

#[test]
fn results_that_cannot_be_read_are_not_silence() {
    no_answer(
        r#"{"runs": [{"results": [{"message": {}}]}]}"#,
        "says nothing",
    );
    no_answer(
        r#"[{"filePath": "a.js", "messages": [{"severity": 2}]}]"#,
        "says nothing",
    );
    no_answer(r#"{"runs": [{"results": [7]}]}"#, "says nothing");
}

#[test]
fn results_in_other_files_and_failures_are_not_silence() {
    let run = |keys: &str| format!(r#"{{"runs": [{{"results": [], {keys}}}]}}"#);
    let failure = |place: &str| {
        run(&format!(
            r#""invocations": [{{"executionSuccessful": true, "toolExecutionNotifications":
                [{{"level": "error", "message": {{"text": "out of memory"}}{place}}}]}}]"#
        ))
    };
    no_answer(
        &run(r#""externalPropertyFileReferences": {"results": [{"location": {"uri": "x"}}]}"#),
        "results of the run stand in other files, which are not read",
    );
    no_answer(&failure(""), "the tool failed: out of memory");
    assert!(read(run(r#""externalPropertyFileReferences": {"results": []}"#).as_bytes()).answered);
    let placed =
        failure(r#", "locations": [{"physicalLocation": {"artifactLocation": {"uri": "a.py"}}}]"#);
    let report = read_tool_report(placed.as_bytes(), None, &Author::default());
    assert!(report.looked.failed.contains("a.py"));
    assert_eq!(report.findings.problems.len(), 1);
}

#[test]
fn each_place_of_a_result_is_read_and_one_of_them_counts() {
    let place = |line: u32| {
        format!(
            r#"{{"physicalLocation": {{"artifactLocation": {{"uri": "a.py"}}, "region": {{"startLine": {line}}}}}}}"#
        )
    };
    let output = format!(
        r#"{{"runs": [{{"results": [{{"message": {{"text": "t"}}, "locations": [{}, {}]}},
            {{"message": {{"text": "u"}}, "locations": [{}]}}]}}]}}"#,
        place(7),
        place(2),
        place(2)
    );
    let mut found = read(output.as_bytes()).findings;
    let lines =
        |found: &[Finding]| -> Vec<_> { found.iter().map(|one| one.location.line).collect() };
    assert_eq!(lines(&found), [Some(7), Some(2), Some(2)]);
    found.remove(0);
    first_of_each_result(&mut found);
    assert_eq!(lines(&found), [Some(2), Some(2)]);
    let value = serde_json::from_str(&output).expect("it is JSON");
    let found = in_value(&value, &Author::default()).expect("it is SARIF");
    assert_eq!(lines(&found.findings), [Some(7), Some(2)]);
}

#[test]
fn numbers_and_words_off_their_scale_are_reported_and_the_finding_kept() {
    let result = |keys: &str| {
        format!(
            r#"{{"runs": [{{"results": [{{"ruleId": "r", "message": {{"text": "t"}}, {keys}}}]}}]}}"#
        )
    };
    let region = |line: &str| {
        result(&format!(
            r#""locations": [{{"physicalLocation": {{"region": {{"startLine": {line}}}}}}}]"#
        ))
    };
    for (output, problem) in [
        (region("-1"), "-1 is no line number"),
        (region("9223372036854775808"), "is no line number"),
        (region("\"3\""), "\"3\" is no line number"),
        (result(r#""level": "fatal""#), "\"fatal\" is no level"),
        (result(r#""rank": 101"#), "from 0 to 100"),
        (
            result(r#""properties": {"security-severity": "NaN"}"#),
            "from 0 to 10",
        ),
        (
            result(r#""properties": {"security-severity": "11"}"#),
            "from 0 to 10",
        ),
    ] {
        let found = read(output.as_bytes());
        assert!(found.answered && found.findings.len() == 1, "{output}");
        assert!(
            found.problems[0].what.contains(problem),
            "{:?}",
            found.problems
        );
    }
    assert_eq!(shown(&region("0")), ["- medium 70 (no file) t"]);
    assert_eq!(
        shown(&result(r#""rank": -1.0"#)),
        ["- medium 70 (no file) t"]
    );
}

#[test]
fn our_own_reports_pass_on_what_stands() {
    let finding = |title: &str, keys: &str| {
        format!(
            r#"{{"title": "{title}", "severity": "high", "category": "bug", "confidence": 80,
              "location": {{"file": "/work/repo/a.rs", "line": 3}}, {keys}}}"#
        )
    };
    let report = format!(
        r#"{{"schema": "tribunal.review.v1", "gate": "fail", "findings": [{}, {}, {}]}}"#,
        finding("wrong sum", r#""verdict": "accepted", "standing": "new""#),
        finding("nonsense", r#""verdict": "rejected", "standing": "new""#),
        finding(
            "ruled out",
            r#""verdict": "accepted", "standing": "dismissed""#
        ),
    );
    assert_eq!(shown(&report), ["bug high 80 a.rs:3 wrong sum"]);
}

#[test]
fn a_hundred_thousand_results_are_read_and_problems_are_bounded() {
    let result =
        |number: usize| format!(r#"{{"ruleId": "r{number}", "message": {{"text": "t{number}"}}}}"#);
    let rule = |number: usize| format!(r#"{{"id": "r{number}"}}"#);
    let many = |one: &dyn Fn(usize) -> String, count: usize| {
        (0..count).map(one).collect::<Vec<_>>().join(",")
    };
    let output = format!(
        r#"{{"runs": [{{"tool": {{"driver": {{"rules": [{}]}}}}, "results": [{}]}}]}}"#,
        many(&rule, 5_000),
        many(&result, 100_000)
    );
    assert_eq!(read(output.as_bytes()).findings.len(), 100_000);
    let broken = format!(
        r#"{{"runs": [{{"results": [{}]}}]}}"#,
        many(&|_| "{}".to_owned(), 100_000)
    );
    let found = read(broken.as_bytes());
    assert!(!found.answered);
    assert_eq!(found.problems.len(), 101);
    let long = format!(
        r#"{{"runs": [{{"results": [{{"ruleId": "r", "message": {{"text": "{}"}}}}]}}]}}"#,
        "x".repeat(10_000_000)
    );
    assert!(read(long.as_bytes()).findings[0].description.len() < 10_000);
}

#[test]
fn reviewers_who_run_tools_are_read_as_well() {
    let author = Author::default();
    for (name, output) in TRANSCRIPTS {
        let value = serde_json::from_str::<Value>(output);
        if let Ok(value) = value {
            let found = findings_in_value(&value, &author);
            let apart = read_tool_output(output.as_bytes(), None, &author);
            assert_eq!(found, apart, "{name}");
        }
    }
    let by_model = r#"[{"title": "t", "description": "d", "severity": "high",
        "location": {"path": "a.rs", "line": 3}}]"#;
    let by_model = serde_json::from_str(by_model).expect("valid JSON");
    assert_eq!(findings_in_value(&by_model, &author).findings[0].title, "t");
}
