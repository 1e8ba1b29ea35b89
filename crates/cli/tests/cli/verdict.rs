//! `verdict`: scores in, a winner with its doubt out.

use crate::common::TestEnv;

const SCORES: &str = r#"{"item_id": "liquidations", "judges": {
    "pragmatist": {"scores": {"queue": 82, "batch": 74, "invariant": 61}},
    "safety": {"scores": {"queue": 88, "batch": 60, "invariant": 79.5}},
    "innovation": {"scores": {"queue": 55, "batch": 88, "invariant": 70}}}}"#;

#[test]
fn a_comparison_becomes_a_verdict_with_its_doubt() {
    let env = TestEnv::new();
    env.write("scores.json", SCORES);
    let ran = env.run(["verdict", "scores.json"]).assert_code(0);
    insta::assert_snapshot!(ran.stdout, @"
    queue won with an average score of 75.0/100.

      1. queue       75.0
      2. batch       74.0
      3. invariant   70.2

    Margin: 1.0 points over batch, too few judges for an interval
    Confidence: 63 %
    Agreement: Krippendorff's α -0.29 over 9 scores
    Judges:
      innovation: prefers batch; scores 3 points lower than others on average
      pragmatist: prefers queue; scores 1 point lower than others on average
      safety: prefers queue; scores 4 points higher than others on average
    Doubts:
      - 3 voices are too few for an interval: it takes four
      - the judges hardly agree (α -0.29)
    ");
    let ran = env
        .run(["verdict", "scores.json", "--method", "median"])
        .assert_code(0);
    insta::assert_snapshot!(ran.stdout, @"
    queue won with a median of 82.0/100; the plain average is 75.0.

      1. queue       75.0  median: 82.0
      2. batch       74.0
      3. invariant   70.2  median: 70.0

    Margin: 1.0 points over batch, too few judges for an interval
    Confidence: 63 %
    Agreement: Krippendorff's α -0.29 over 9 scores
    Judges:
      innovation: prefers batch; scores 3 points lower than others on average
      pragmatist: prefers queue; scores 1 point lower than others on average
      safety: prefers queue; scores 4 points higher than others on average
    Doubts:
      - 3 voices are too few for an interval: it takes four
      - the judges hardly agree (α -0.29)
    ");
}

#[test]
fn the_same_verdict_as_json_and_by_a_schema() {
    let env = TestEnv::new();
    let ran = env.run_with_input(["verdict", "-", "--json"], SCORES);
    let json = ran.assert_code(0).json();
    assert_eq!(json["winner"], "queue");
    assert_eq!(json["scores"]["queue"], 75);
    assert_eq!(json["verdict"]["agreement"]["n"], 9);
    let schema = env.run(["verdict", "--schema"]).assert_code(0).json();
    assert!(schema["properties"]["doubts"].is_object());
}

#[test]
fn a_batch_answers_line_by_line_and_a_record_weighs_the_judges() {
    let env = TestEnv::new();
    let line = |id: u32| {
        format!(
            r#"{{"item_id": {id}, "panel": "p", "judges": {{"good": {{"scores": {{"a": 60, "b": 50}}}}, "poor": {{"scores": {{"a": 10, "b": 90}}}}}}}}"#
        )
    };
    env.write(
        "many.jsonl",
        format!("{}\n\n{}\nno json\n", line(1), line(2)),
    );
    let ran = env.run(["verdict", "--batch", "many.jsonl"]).assert_code(5);
    insta::assert_snapshot!(ran.stdout, @r#"
    {"item_id":1,"panel":"p","winner":"b","confidence":50,"scores":{"a":35,"b":70}}
    {"item_id":2,"panel":"p","winner":"b","confidence":50,"scores":{"a":35,"b":70}}
    {"line":4,"error":"the line is no comparison: expected ident at line 1 column 2"}
    "#);
    insta::assert_snapshot!(ran.stderr, @"line 4: the line is no comparison: expected ident at line 1 column 2.");
    env.write(
        "record.json",
        r#"{"judges": {"good": {"upheld": 80, "dismissed": 20}, "poor": {"upheld": 50, "dismissed": 50}}}"#,
    );
    env.write("one.jsonl", line(1));
    let ran = env.run(["verdict", "--batch", "one.jsonl", "--record", "record.json"]);
    insta::assert_snapshot!(ran.assert_code(0).stdout, @r#"{"item_id":1,"panel":"p","winner":"a","confidence":75,"scores":{"a":59.999844,"b":50.000125}}"#);
}

#[test]
fn what_gives_no_verdict_is_said_with_its_reason() {
    let env = TestEnv::new();
    env.write(
        "tie.json",
        r#"{"item_id": 1, "judges": {"x": {"scores": {"a": 5, "b": 5}}}}"#,
    );
    env.write(
        "none.json",
        r#"{"item_id": 1, "judges": {"x": {"scores": {"a": 5}}, "y": {"scores": {"b": 5}}}}"#,
    );
    env.write("record.json", r#"{"judge": {}}"#);
    env.write("broken.json", "{");
    let mut told = String::new();
    for args in [
        &["verdict", "tie.json"][..],
        &["verdict", "none.json"],
        &["verdict", "absent.json"],
        &["verdict", "broken.json"],
        &["verdict"],
        &["verdict", "tie.json", "--method", "mode"],
        &["verdict", "tie.json", "--record", "record.json"],
    ] {
        let ran = env.run(args);
        let first = env
            .tidy(&ran.stderr)
            .lines()
            .next()
            .unwrap_or("")
            .to_owned();
        told.push_str(&format!("{} {:?}: {first}\n", args.join(" "), ran.code));
    }
    insta::assert_snapshot!(told, @"
    verdict tie.json Some(5): 
    verdict none.json Some(5): Error: There is no verdict
    verdict absent.json Some(4): Error: Cannot read [ROOT]/project/absent.json
    verdict broken.json Some(2): Error: `broken.json` is no comparison
    verdict Some(2): error: the following required arguments were not provided:
    verdict tie.json --method mode Some(2): error: invalid value 'mode' for '--method <M>': there is no method `mode`; there are mean, median, trimmed, z-mean, pairwise
    verdict tie.json --record record.json Some(2): Error: [ROOT]/project/record.json is no record of rulings: unknown field `judge`, expected `reviewers` or `judges`
    ");
}

#[test]
fn the_method_is_the_configured_one_unless_another_is_named() {
    let env = TestEnv::new();
    env.write("scores.json", SCORES);
    env.write_user_config("trial: {method: z-mean}\n");
    for (args, method) in [
        (&["verdict", "scores.json", "--json"][..], "z-mean"),
        (
            &["verdict", "scores.json", "--json", "--method", "median"],
            "median",
        ),
    ] {
        let found = env.run(args).assert_code(0).json();
        assert_eq!(found["verdict"]["method"], method);
    }
}
