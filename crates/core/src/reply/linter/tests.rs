//! Transcripts of real tools, and what is read from them.

use super::*;
use crate::finding::Finding;

pub(super) const TRANSCRIPTS: [(&str, &str); 12] = [
    ("sarif", include_str!("transcripts/sarif.json")),
    ("clippy", include_str!("transcripts/clippy.jsonl")),
    ("rustc", include_str!("transcripts/rustc.jsonl")),
    ("eslint", include_str!("transcripts/eslint.json")),
    ("ruff", include_str!("transcripts/ruff.json")),
    ("semgrep", include_str!("transcripts/semgrep.json")),
    ("golangci", include_str!("transcripts/golangci.json")),
    ("mypy", include_str!("transcripts/mypy.jsonl")),
    ("pyright", include_str!("transcripts/pyright.json")),
    ("biome", include_str!("transcripts/biome.json")),
    ("oxlint", include_str!("transcripts/oxlint.json")),
    (
        "code_quality",
        include_str!("transcripts/code_quality.json"),
    ),
];

pub(super) fn read(output: &[u8]) -> Findings {
    let author = Author {
        reviewer: "lint".to_owned(),
        family: "tool:lint".to_owned(),
    };
    read_tool_output(output, Some("/work/repo"), &author)
}

/// Returns the tool that printed `output`.
pub(super) fn tool_of(output: &[u8]) -> Result<Option<String>, Problem> {
    tool_report_of(output).map(|report| report.tool)
}

fn transcript(name: &str) -> &'static str {
    let found = TRANSCRIPTS.iter().find(|(known, _)| *known == name);
    found.expect("a transcript of that name").1
}

pub(super) fn shown(output: &str) -> Vec<String> {
    let found = read(output.as_bytes());
    let mut lines: Vec<String> = found.findings.iter().map(line).collect();
    lines.extend(found.problems.iter().map(|one| format!("problem {one}")));
    if !found.answered {
        lines.push("no answer".to_owned());
    }
    lines
}

fn line(finding: &Finding) -> String {
    let category = finding.category.map_or("-", |one| one.as_str());
    let severity = finding.severity.map_or("-", |one| one.as_str());
    let confidence = finding
        .confidence
        .map_or("-".to_owned(), |one| one.to_string());
    format!(
        "{category} {severity} {confidence} {} {}",
        finding.location, finding.title
    )
}

#[track_caller]
fn check(name: &str, tool: &str, expected: &[&str]) {
    let output = transcript(name);
    assert_eq!(shown(output), expected, "{name}");
    assert_eq!(
        tool_of(output.as_bytes()),
        Ok(Some(tool.to_owned())),
        "{name}"
    );
}

#[test]
fn sarif_of_several_runs_with_extensions_bases_and_suppressions() {
    check(
        "sarif",
        "scanner-oss",
        &[
            "security critical 90 src/a b.rs:3-4 query built from a {1} and b",
            "performance low 60 lib/listed.rs:7 slow",
            "security high 42 src/c.rs:9 leaves the directory",
            "- high 80 src/d.rs on another machine",
            "- medium 70 (no file) suppression was refused",
            "other low 60 a.py:1 `os` imported but unused",
            "problem runs[0].invocations[0]: the tool failed: could not parse bad.py",
            "no answer",
        ],
    );
}

#[test]
fn clippy_with_the_same_place_built_twice() {
    check(
        "clippy",
        "clippy",
        &[
            "other low 60 src/lib.rs:9 unneeded `return` statement",
            "bug high 85 src/lib.rs:14 equal expressions as operands to `==`",
            "bug medium 75 src/lib.rs:20 file opened with `create`, but `truncate` behavior not defined",
        ],
    );
}

#[test]
fn a_build_that_fails_by_its_code_is_an_answer() {
    check(
        "rustc",
        "rustc",
        &[
            "other low 60 src/lib.rs:4 unused variable: `unused`",
            "bug high 95 src/lib.rs:12 mismatched types",
        ],
    );
}

#[test]
fn eslint_without_what_was_suppressed() {
    check(
        "eslint",
        "eslint",
        &[
            "other medium 70 web/a.js:1 Unexpected var, use let or const instead.",
            "other low 60 web/a.js:1 'unused' is assigned a value but never used.",
            "bug high 85 web/a.js:2 Unexpected assignment within an 'if' statement.",
            "security medium 75 web/a.js:2 eval with argument of type Identifier",
            "bug high 95 web/bad.js:1 Parsing error: Unexpected token (",
            "problem [2].messages[0]: File ignored because of a matching ignore pattern.",
        ],
    );
}

#[test]
fn ruff_by_the_family_of_the_rule() {
    check(
        "ruff",
        "ruff",
        &[
            "other low 60 a.py:1 `os` imported but unused",
            "security medium 75 a.py:4 `subprocess` call with `shell=True` identified, security issue",
            "other low 60 a.py:5 Use ternary operator",
            "bug high 85 a.py:6 Undefined name `x`",
            "performance low 65 a.py:7 Use a list comprehension to create a transformed list",
            "bug high 95 a.py:8 Expected a parameter or the end of the parameter list",
        ],
    );
}

#[test]
fn semgrep_with_a_file_read_in_part() {
    check(
        "semgrep",
        "semgrep",
        &[
            "- medium 70 a.py:1 os",
            "security high 45 a.py:5-6 eval of x is dangerous",
            "problem errors[0]: Syntax error at line bad.py:1",
        ],
    );
}

#[test]
fn golangci_with_its_statistics_behind() {
    check(
        "golangci",
        "golangci-lint",
        &[
            "bug medium 75 cmd/main.go:17 Error return value of `f.Close` is not checked",
            "security high 85 cmd/main.go:21 G401: Use of weak cryptographic primitive",
            "other low 60 cmd/main.go:30-31 ST1005: error strings should not be capitalized",
            "bug high 95 cmd/bad.go:3 undefined: missing",
            "problem Report.Warnings: The linter 'exportloopref' is deprecated",
        ],
    );
}

#[test]
fn mypy_line_by_line() {
    check(
        "mypy",
        "mypy",
        &[
            "bug medium 75 a.py:4 Argument 1 to \"call\" has incompatible type \"int\"",
            "other low 60 a.py:2 Cannot find implementation or library stub for module named \"yaml\"",
            "bug high 95 bad.py:1 Expected a parameter",
        ],
    );
}

#[test]
fn pyright_counts_from_zero() {
    check(
        "pyright",
        "pyright",
        &[
            "bug medium 75 a.py:4 Argument of type \"int\" cannot be assigned",
            "other low 60 a.py:1 Import \"yaml\" could not be resolved from source",
            "bug high 95 a.py:7 Expected expression",
        ],
    );
}

#[test]
fn biome_by_the_group_of_the_rule() {
    check(
        "biome",
        "biome",
        &[
            "bug medium 75 web/a.js:1 This variable unused is unused.",
            "security high 85 web/a.js:2 Do not use eval().",
            "other medium 70 web/a.js:3 This let declares a variable that is only assigned once.",
            "bug high 95 web/a.js:4 expected a name for the function",
        ],
    );
}

#[test]
fn oxlint_by_the_rules_of_eslint() {
    check(
        "oxlint",
        "oxlint",
        &[
            "bug high 95 web/a.js:1 Expected function name",
            "bug medium 75 web/a.js:2 `debugger` statement is not allowed",
            "other low 60 web/a.js:3 Do not use `new Array(singleArgument)`.",
        ],
    );
}

#[test]
fn code_quality_does_not_name_its_tool() {
    let output = transcript("code_quality");
    assert_eq!(
        shown(output),
        [
            "- low 70 lib/index.js:42 'unused' is assigned a value but never used.",
            "bug medium 75 lib/index.js:43 'unused' is assigned a value but never used.",
            "security critical 75 lib/index.js:44 'unused' is assigned a value but never used.",
        ]
    );
    assert_eq!(tool_of(output.as_bytes()), Ok(None));
}

#[test]
fn words_of_the_tools_are_kept() {
    let first = |name: &str| read(transcript(name).as_bytes()).findings.swap_remove(0);
    let clippy = first("clippy");
    assert_eq!(clippy.suggestion, "remove `return`: `sum`");
    assert_eq!(clippy.quote, "return sum;");
    assert_eq!(
        clippy.description,
        "unneeded `return` statement (clippy::needless_return)"
    );
    assert_eq!(
        (clippy.reviewer.as_str(), clippy.family.as_str()),
        ("lint", "tool:lint")
    );
    let sarif = first("sarif");
    assert_eq!(sarif.suggestion, "bind the values: `bind(a)`");
    assert_eq!(sarif.location.function.as_deref(), Some("db::find"));
    assert_eq!(sarif.quote, "query(a, b)");
    assert_eq!(sarif.id, "", "fingerprints are no identity");
    assert_eq!(first("ruff").suggestion, "Remove unused import: `os`");
    let semgrep = read(transcript("semgrep").as_bytes())
        .findings
        .swap_remove(1);
    assert_eq!(semgrep.suggestion, "replace it with `safe(x)`");
    assert_eq!(
        semgrep.description,
        "eval of x is dangerous\n\nsecond paragraph (no-eval)"
    );
}

#[test]
fn a_report_tells_which_files_were_looked_at() {
    let semgrep = |scanned: &str| {
        format!(r#"{{"results": [], "errors": [], "paths": {{"scanned": [{scanned}]}}}}"#)
    };
    let bandit = |metrics: &str| {
        format!(r#"{{"results": [], "errors": [], "metrics": {{"_totals": {{}}{metrics}}}}}"#)
    };
    let sarif = |run: &str| {
        format!(
            r#"{{"version": "2.1.0", "runs": [{{"tool": {{"driver": {{"name": "X"}}}}, "results": []{run}}}]}}"#
        )
    };
    let biome = |unchanged: u32| {
        format!(
            r#"{{"summary": {{"changed": 0, "unchanged": {unchanged}}}, "diagnostics": [], "command": "lint"}}"#
        )
    };
    let artifact = r#"{"reason":"compiler-artifact","target":{"kind":["lib"],"src_path":"/work/repo/a/src/lib.rs"}}
{"reason":"compiler-artifact","target":{"kind":["custom-build"],"src_path":"/work/repo/a/build.rs"}}
{"reason":"compiler-artifact","target":{"kind":["lib"],"src_path":"/registry/src/lib.rs"}}
{"reason":"build-finished","success":true}"#;
    let ignored = r#"[{"filePath": "/work/repo/a.js", "messages": []},
        {"filePath": "/work/repo/b.js", "messages": [{"ruleId": null, "severity": 1, "message": "File ignored."}]}]"#;
    for (output, files, folders, count, answered) in [
        (
            semgrep(r#""a.py", "/work/repo/b.py""#),
            "a.py b.py",
            "",
            None,
            true,
        ),
        (semgrep(""), "", "", None, false),
        (bandit(r#", "./a.py": {}"#), "a.py", "", None, true),
        (bandit(""), "", "", None, false),
        (sarif(""), "", "", None, true),
        (
            sarif(
                r#", "artifacts": [{"location": {"uri": "a.c"}}, {"location": {"uri": "cfg"}, "roles": ["toolComponent"]}]"#,
            ),
            "a.c",
            "",
            None,
            true,
        ),
        (biome(2), "", "", Some(2), true),
        (biome(0), "", "", Some(0), false),
        (artifact.to_owned(), "a/build.rs", "a/src", None, true),
        (ignored.to_owned(), "a.js", "", None, true),
        ("[]".to_owned(), "", "", None, true),
    ] {
        let report = read_tool_report(output.as_bytes(), Some("/work/repo"), &Author::default());
        let joined = |all: &std::collections::BTreeSet<String>| {
            all.iter().cloned().collect::<Vec<_>>().join(" ")
        };
        assert_eq!(joined(&report.looked.files), files, "{output}");
        assert_eq!(joined(&report.looked.folders), folders, "{output}");
        assert_eq!(report.looked.count, count, "{output}");
        assert_eq!(report.findings.answered, answered, "{output}");
        assert!(report.is_empty, "{output}");
    }
}

#[test]
fn a_file_that_a_tool_passed_over_was_not_looked_at_although_it_is_listed() {
    let semgrep = |skipped: &str, errors: &str| {
        format!(
            r#"{{"results": [], "errors": [{errors}],
                "paths": {{"scanned": ["a.py", "b.py"], "skipped": [{skipped}]}}}}"#
        )
    };
    let bandit = |lines: u32, errors: &str| {
        format!(
            r#"{{"results": [], "errors": [{errors}], "metrics": {{"_totals": {{}},
                "./a.py": {{"loc": {lines}}}, "./b.py": {{"loc": 3}}}}}}"#
        )
    };
    let too_big = r#"{"path": "a.py", "reason": "too_big"}"#;
    let partly_read = r#"{"level": "warn", "type": ["PartialParsing", []],
        "message": "Syntax error at line a.py:1", "path": "a.py"}"#;
    for (output, is_read) in [
        (semgrep("", ""), true),
        (semgrep(too_big, ""), false),
        (semgrep("", partly_read), false),
        (bandit(2, ""), true),
        (bandit(0, ""), false),
        (
            bandit(
                2,
                r#"{"filename": "./a.py", "reason": "syntax error while parsing"}"#,
            ),
            false,
        ),
    ] {
        let report = read_tool_report(output.as_bytes(), None, &Author::default());
        assert!(report.findings.answered, "{output}");
        assert_eq!(report.looked.has("a.py"), is_read, "{output}");
        assert!(report.looked.has("b.py"), "{output}");
    }
}

#[test]
fn bandit_by_severity_and_confidence() {
    let output = r#"{"errors": [], "generated_at": "2026-01-01T00:00:00Z",
        "metrics": {"./a.py": {"loc": 2}, "_totals": {"loc": 2}},
        "results": [{"code": "2 eval(x)", "filename": "./a.py", "issue_confidence": "HIGH",
            "issue_cwe": {"id": 78}, "issue_severity": "MEDIUM", "issue_text": "Use of eval",
            "line_number": 2, "line_range": [2, 3], "test_id": "B307", "test_name": "blacklist"}]}"#;
    assert_eq!(shown(output), ["security medium 85 a.py:2-3 Use of eval"]);
    assert_eq!(tool_of(output.as_bytes()), Ok(Some("bandit".to_owned())));
}
