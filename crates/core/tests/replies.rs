//! Answers as models and tools write them, and what is read from them.

use tribunal_core::finding::Finding;
use tribunal_core::reply::{Author, Findings, Message, Signal, read_findings, read_messages};

fn read(text: &str) -> Findings {
    let author = Author {
        reviewer: "ann".to_owned(),
        family: "anthropic".to_owned(),
    };
    read_findings(text, &author)
}

/// Renders what was read: findings first, then problems, then whether it was an answer.
fn shown(text: &str) -> Vec<String> {
    let found = read(text);
    let mut lines: Vec<String> = found.findings.iter().map(line).collect();
    lines.extend(found.problems.iter().map(|one| format!("problem {one}")));
    if !found.answered {
        lines.push("no answer".to_owned());
    }
    lines
}

fn line(finding: &Finding) -> String {
    let severity = finding.severity.map_or("-", |one| one.as_str());
    let confidence = finding
        .confidence
        .map_or("-".to_owned(), |one| one.to_string());
    format!(
        "{severity} {confidence} {} {}",
        finding.location, finding.title
    )
}

#[track_caller]
fn check(text: &str, expected: &[&str]) {
    assert_eq!(shown(text), expected, "{text}");
}

#[test]
fn tags_are_read_from_lines_bullets_bold_and_numbers() {
    check(
        "[MUST] check the name",
        &["high - (no file) check the name"],
    );
    check(
        "[HIGH] src/db.rs:10 - query built by hand",
        &["high - src/db.rs:10 query built by hand"],
    );
    check(
        "- **[SHOULD]** `src/db.rs:10-12`: reuse it",
        &["medium - src/db.rs:10-12 reuse it"],
    );
    check(
        "2. [**LOW**] rename it (src/a.rs:3)",
        &["low - src/a.rs:3 rename it (src/a.rs:3)"],
    );
    check(
        "* [critical]: all rows are lost",
        &["critical - (no file) all rows are lost"],
    );
}

#[test]
fn several_tags_and_continuation_lines_are_read_from_one_message() {
    let text = "Here is what I found:\n\n[MUST] src/db.rs:10 - query built by hand\n  with the name in it\n- [LOW] rename it\n\nThanks.";
    check(
        text,
        &[
            "high - src/db.rs:10 query built by hand",
            "low - (no file) rename it",
        ],
    );
    assert_eq!(
        read(text).findings[0].description,
        "query built by hand with the name in it"
    );
}

#[test]
fn tags_in_fences_and_quotations_are_not_the_reviewers_words() {
    check(
        "> [MUST] quoted\n```\n[MUST] fenced\n```\n    [MUST] indented\n[LOW] mine",
        &["low - (no file) mine"],
    );
}

#[test]
fn unknown_tags_are_reported_and_links_are_not_tags() {
    check(
        "[BLOCKER] stop\n[MUST]\n\n[docs](https://example.org)\n- [x] done",
        &[
            "problem line 1: [BLOCKER] is no label",
            "problem [MUST] stands without a text",
            "no answer",
        ],
    );
}

#[test]
fn a_finding_is_as_grave_as_its_title_says_and_never_less_than_its_label() {
    for (label, title, expected) in [
        ("LOW", "[HIGH] the query is built by hand", "high"),
        ("LOW", "**[MUST]** the query is built by hand", "high"),
        ("LOW", "CRITICAL: the query is built by hand", "critical"),
        ("HIGH", "[LOW] the query is built by hand", "high"),
        ("LOW", "the query is built by hand", "low"),
        ("LOW", "HIGH load is not handled here", "low"),
        ("LOW", "the level [HIGH] is never logged", "low"),
    ] {
        let answer = serde_json::json!({"findings": [{"file": "a.py", "line": 1,
            "label": label, "severity": label.to_lowercase(), "title": title}]});
        let expected = format!("{expected} - a.py:1 {title}");
        check(&answer.to_string(), &[&expected]);
    }
}

#[test]
fn findings_on_lines_of_their_own_are_all_read() {
    check(
        "{\"title\": \"a b\", \"line\": 1, \"file\": \"x.rs\"}\n{\"title\": \"c d\", \"severity\": \"low\"}\n",
        &["- - x.rs:1 a b", "low - (no file) c d"],
    );
    check(
        "{\"file\": \"x.rs\", \"findings\": [{\"title\": \"a b\"}]}\n{\"file\": \"y.rs\", \"findings\": []}\n{\"file\": \"z.rs\", \"findings\": [{\"title\": \"c d\"}]}",
        &["- - x.rs a b", "- - z.rs c d"],
    );
}

#[test]
fn an_empty_list_in_passing_is_no_answer() {
    check(
        "[MUST]\n[NOTE] y\nlet a = [];",
        &[
            "problem [MUST] stands without a text",
            "problem line 2: [NOTE] is no label",
            "no answer",
        ],
    );
    check(
        "I could not read the file, it has only vec![] in it.",
        &[
            "problem there are no findings, and nothing says that there are none",
            "no answer",
        ],
    );
    check("I looked at everything and found nothing.\n\n[]\n", &[]);
}

#[test]
fn a_key_that_stands_twice_counts_for_neither_value() {
    check(
        "{\"findings\": [{\"title\": \"a b\", \"severity\": \"low\", \"severity\": \"critical\"}]}",
        &[
            "- - (no file) a b",
            "problem findings[0].severity: the key stands there twice with different values; neither is counted",
        ],
    );
    check(
        "{\"findings\": [{\"title\": \"a b\"}], \"findings\": []}",
        &[
            "problem there is no list of findings",
            "problem findings: the key stands there twice with different values; neither is counted",
            "no answer",
        ],
    );
}

#[test]
fn a_message_that_says_two_things_is_not_counted() {
    let sender = Author {
        reviewer: "bob".to_owned(),
        family: String::new(),
    };
    let counted = |text: &str| {
        let read = read_messages(text, &sender);
        (read.messages.len(), read.problems.len())
    };
    let stance = "{\"finding_id\": \"a1\", \"action\": \"agree\"}";
    let torn = "{\"finding_id\": \"a1\", \"action\": \"agree\", \"action\": \"disagree\"}";
    let moved =
        "{\"finding_id\": \"a1\", \"action\": \"agree\", \"adjustment\": 1, \"adjustment\": 30}";
    assert_eq!(counted(stance), (1, 0));
    assert_eq!(counted(torn), (0, 1));
    assert_eq!(counted(moved), (0, 1));
    assert_eq!(
        counted(&format!("{{\"responses\": [{stance}, {torn}]}}")),
        (1, 1)
    );
    let two_authors =
        format!("{{\"model\": \"eve\", \"model\": \"joe\", \"responses\": [{stance}]}}");
    assert_eq!(counted(&two_authors), (0, 1));
    assert_eq!(counted(&format!("{stance}\n{moved}\n{stance}")), (2, 1));
}

#[test]
fn a_tool_that_did_not_report_has_not_answered() {
    for log in [
        "{\"version\": \"2.1.0\", \"runs\": []}",
        "{\"version\": \"2.1.0\", \"runs\": [{\"tool\": {\"driver\": {\"name\": \"t\"}}}]}",
    ] {
        let found = read(log);
        assert!(
            !found.answered && !found.problems.is_empty(),
            "{log}: {found:?}"
        );
    }
    let ran = "{\"version\": \"2.1.0\", \"runs\": [{\"tool\": {\"driver\": {\"name\": \"t\"}}, \"results\": []}]}";
    assert!(read(ran).answered, "it ran and found nothing");
}

#[test]
fn silence_is_no_answer_and_an_approval_is_one() {
    check("", &["problem the answer is empty", "no answer"]);
    check("APPROVED", &[]);
    check("{\"findings\": []}", &[]);
    check("[]", &[]);
    check(
        "Looks fine to me overall.",
        &[
            "problem there are no findings, and nothing says that there are none",
            "no answer",
        ],
    );
    check(
        "NEEDS_CHANGES",
        &["problem line 1: changes are asked for, but none is named"],
    );
}

#[test]
fn the_debates_own_form_is_read() {
    let text = r#"Result:
```json
{"model": "codex", "role": "reviewer", "file": "src/db.rs", "findings": [
  {"severity": "high", "confidence": 85, "line": 10, "title": "query built by hand",
   "description": "d", "suggestion": "s", "category": "security"}
], "summary": "s"}
```"#;
    check(text, &["high 85 src/db.rs:10 query built by hand"]);
    assert_eq!(read(text).findings[0].suggestion, "s");
}

#[test]
fn codex_reviews_are_read() {
    check(
        r#"{"findings": [{"title": "[P1] wrong sum", "body": "b", "confidence_score": 0.857, "priority": 1,
            "code_location": {"absolute_file_path": "/repo/a.rs", "line_range": {"start": 3, "end": 5}}},
            {"title": "bad numbers", "body": "b", "confidence_score": 1.5, "priority": 7,
            "code_location": {"absolute_file_path": "/repo/a.rs", "line_range": {"start": 0, "end": 5}}}],
            "overall_correctness": "patch is incorrect", "overall_confidence_score": 0.9}"#,
        &[
            "high 86 /repo/a.rs:3-5 [P1] wrong sum",
            "- - /repo/a.rs bad numbers",
            "problem findings[1].confidence_score: a number from 0 to 1 was expected",
            "problem findings[1].priority: 7 is no priority: it must lie between 0 and 3",
            "problem findings[1].code_location.line_range.start: 0 is no line number",
        ],
    );
}

#[test]
fn sarif_results_are_read() {
    check(
        r#"{"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "lint", "rules": [
              {"id": "R1", "defaultConfiguration": {"level": "error"}}]}},
            "results": [
              {"ruleId": "R1", "message": {"text": "wrong sum"}, "locations": [{"physicalLocation":
                {"artifactLocation": {"uri": "src/a.rs"}, "region": {"startLine": 3, "endLine": 4}}}]},
              {"ruleId": "R2", "level": "note", "message": {"text": "long line"}},
              {"ruleId": "R3", "level": "fatal", "message": {"text": "odd level"}},
              {"ruleId": "R4", "kind": "pass", "message": {"text": "fine"}},
              {"message": {}}]},
            {"tool": {"driver": {"name": "dead"}}}]}"#,
        &[
            "high 80 src/a.rs:3-4 wrong sum",
            "low 60 (no file) long line",
            "- 60 (no file) odd level",
            "problem runs[0].results[2].level: \"fatal\" is no level; known are error, warning, note, none",
            "problem runs[0].results[4]: a result without message and rule says nothing",
            "problem runs[1]: the run has no results",
            "no answer",
        ],
    );
}

#[test]
fn codeagora_severities_are_shifted_by_one() {
    check(
        r#"{"schema": "codeagora.review.v1", "issues": [
            {"severity": "HARSHLY_CRITICAL", "title": "a b", "file": "x.rs", "line_range": [4, 6]},
            {"severity": "CRITICAL", "title": "c d"}, {"severity": "WARNING", "title": "e f"},
            {"severity": "SUGGESTION", "title": "g h"}, {"severity": "NIT", "title": "i j"}]}"#,
        &[
            "critical - x.rs:4-6 a b",
            "high - (no file) c d",
            "medium - (no file) e f",
            "low - (no file) g h",
            "- - (no file) i j",
            "problem issues[4].severity: \"NIT\" is no severity; known are HARSHLY_CRITICAL, CRITICAL, WARNING, SUGGESTION",
        ],
    );
}

#[test]
fn numbers_and_words_off_their_scale_are_reported_and_the_finding_kept() {
    check(
        r#"[{"title": "a", "confidence": 101}, {"title": "b", "confidence": "85"},
            {"title": "c", "confidence": 0.5}, {"title": "d", "severity": "blocker"},
            {"title": "e", "line": -1}, {"title": "f", "line": 9223372036854775808},
            {"title": "g", "category": "vibes"}, {"title": 7}, "text",
            {"id": "x", "title": "h", "confidence": 85.0}, {"id": "x", "title": "i"}]"#,
        &[
            "- - (no file) a",
            "- - (no file) b",
            "- - (no file) c",
            "- - (no file) d",
            "- - (no file) e",
            "- - (no file) f",
            "- - (no file) g",
            "- 85 (no file) h",
            "- - (no file) i",
            "problem [0].confidence: 101 is no confidence: it must lie between 0 and 100",
            "problem [1].confidence: \"85\" is no whole number",
            "problem [2].confidence: 0.5 is no whole number",
            "problem [3].severity: \"blocker\" is no severity; known are critical, high, medium, low",
            "problem [4].line: -1 is no line number",
            "problem [5].line: 9223372036854775808 is no whole number",
            "problem [6].category: \"vibes\" is no category; known are security, bug, architecture, performance, test-coverage, other",
            "problem [7].title: text was expected",
            "problem [7]: a finding without title and description says nothing",
            "problem [8]: an object was expected",
            "problem the id \"x\" is used more than once",
        ],
    );
}

/// Renders the messages of a debate, one line each.
fn said(text: &str) -> Vec<String> {
    let sender = Author {
        reviewer: "lead".to_owned(),
        family: String::new(),
    };
    let read = read_messages(text, &sender);
    let mut lines: Vec<String> = read.messages.iter().map(message).collect();
    lines.extend(read.problems.iter().map(|one| format!("problem {one}")));
    lines
}

fn message(message: &Message) -> String {
    match message {
        Message::Examination(one) => format!(
            "{} {} {} {} ({} new)",
            one.reviewer,
            one.stance,
            one.finding_id,
            one.adjustment.get(),
            one.new_observations.len()
        ),
        Message::Defense(one) => format!(
            "{} {} {} {} {:?}",
            one.reviewer,
            one.plea,
            one.finding_id,
            one.adjustment.get(),
            one.revised_severity
        ),
        Message::Signal(Signal::RoundComplete(round)) => format!("round {round} complete"),
        Message::Signal(Signal::ShutdownRequest { request_id }) => format!("shutdown {request_id}"),
    }
}

#[test]
fn both_forms_of_round_two_are_read() {
    assert_eq!(
        said(
            r#"{"finding_id": "a.rs:1:t", "original_model": "codex", "action": "agree",
                "confidence_adjustment": 10, "reasoning": "r", "new_observations": [{"title": "n", "line": 2}]}"#
        ),
        ["lead agree a.rs:1:t 10 (1 new)"]
    );
    assert_eq!(
        said(
            r#"{"model": "gemini", "round": 2, "phase": "cross-examine", "responses": [
                {"finding_id": "f1", "original_model": "claude", "action": "disagree", "confidence_adjustment": -30,
                 "reasoning": "r", "new_observations": []},
                {"finding_id": "f2", "action": "partial", "confidence_adjustment": 31, "reasoning": "r"},
                {"finding_id": "f3", "action": "maybe", "reasoning": "r"},
                {"action": "agree"}]}"#
        ),
        [
            "gemini disagree f1 -30 (0 new)",
            "problem responses[1].confidence_adjustment: 31 is no confidence adjustment: it must lie between -30 and 30",
            "problem responses[2].action: \"maybe\" is no action; known are agree, partial, disagree, defend, concede, modify",
            "problem responses[3].finding_id: it does not say which finding it is about",
        ]
    );
}

#[test]
fn both_forms_of_round_three_are_read() {
    assert_eq!(
        said(
            r#"{"finding_id": "f1", "action": "modify", "confidence_adjustment": -5, "reasoning": "r",
                "revised_severity": "medium", "revised_description": "d"}"#
        ),
        ["lead modify f1 -5 Some(Medium)"]
    );
    assert_eq!(
        said(
            r#"{"model": "codex", "round": 3, "phase": "defend", "defenses": [
                {"finding_id": "f1", "action": "concede", "confidence_adjustment": 0, "reasoning": "r",
                 "revised_severity": null, "revised_description": null},
                {"finding_id": "f2", "action": "modify", "revised_severity": "huge"}]}"#
        ),
        [
            "codex concede f1 0 None",
            "problem defenses[1].revised_severity: \"huge\" is no severity; known are critical, high, medium, low",
        ]
    );
}

#[test]
fn signals_of_the_lead_are_read() {
    assert_eq!(said("ROUND 2 COMPLETE"), ["round 2 complete"]);
    assert_eq!(said("\"ROUND 3 COMPLETE\""), ["round 3 complete"]);
    assert_eq!(
        said(r#"{"type": "shutdown_request", "requestId": "r-1"}"#),
        ["shutdown r-1"]
    );
    assert_eq!(
        said("round two is nearly done"),
        ["problem the answer contains no JSON"]
    );
}
