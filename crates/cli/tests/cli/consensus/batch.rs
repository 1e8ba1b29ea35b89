//! Many reviews at once, line by line.

use insta::assert_snapshot;

use crate::common::TestEnv;

#[test]
fn a_batch_goes_through_line_by_line() {
    let env = TestEnv::new();
    let line = r#"{"pr_id": "p1", "panel": "x", "reviewers": {"claude": [{"id": "a1", "file": "a.rs", "line": 3, "severity": "high", "confidence": 80, "title": "wrong sum in total()"}], "codex": [{"id": "c1", "file": "a.rs", "line": 3, "severity": "high", "confidence": 70, "title": "total() has a wrong sum"}]}}"#;
    let batch = format!("{line}\n{{broken\n\n{{\"id\": 7, \"reviewers\": {{\"claude\": []}}}}\n");
    env.write("batch.jsonl", &batch);
    let ran = env
        .run(["consensus", "--batch", "batch.jsonl", "--policy", "arena"])
        .assert_code(5);
    assert_snapshot!(ran.stdout, @r#"
    {"pr_id":"p1","panel":"x","findings":[{"ids":["a1","c1"],"confidence":90,"verdict":"accepted","severity":"high","title":"wrong sum in total()"}]}
    {"line":2,"error":"the line is no review: key must be a string at line 1 column 2"}
    {"pr_id":7,"findings":[]}
    "#);
    assert_snapshot!(ran.stderr, @"line 2: the line is no review: key must be a string at line 1 column 2.");
    let again = env
        .run_with_input(["consensus", "--batch", "-", "--policy", "arena"], &batch)
        .assert_code(5);
    assert_eq!(again.stdout, ran.stdout);
    env.run_with_input(["consensus", "--batch", "-"], line)
        .assert_code(0);
    env.run(["consensus", "--batch", "absent"]).assert_code(4);
}

#[test]
fn numbers_and_two_names_go_through_a_batch() {
    let env = TestEnv::new();
    env.write(
        "batch.jsonl",
        r#"{"id": 7, "pr_id": 42, "reviewers": {"ann": [{"id": 3, "file": "a.rs", "line": 1, "title": "wrong sum in total()"}]}}"#,
    );
    let ran = env
        .run(["consensus", "--batch", "batch.jsonl"])
        .assert_code(0);
    assert_snapshot!(ran.stdout, @r#"{"pr_id":42,"findings":[{"ids":[3],"confidence":58,"verdict":"accepted","severity":"medium","title":"wrong sum in total()"}]}"#);
}
