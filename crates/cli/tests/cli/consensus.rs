//! `consensus`: findings from anywhere, alone.

mod batch;

use insta::assert_snapshot;
use serde_json::Value;

use crate::common::TestEnv;

const CLAUDE: &str = r#"{"model": "claude", "role": "reviewer", "file": "src/db.rs", "findings": [
    {"id": "a1", "severity": "high", "confidence": 85, "line": 10, "category": "security", "title": "query built by hand",
     "description": "`name` reaches the SQL text of `find`.", "suggestion": "Use a parameter.", "trigger": "a quote in the name"},
    {"id": "a2", "severity": "low", "confidence": 30, "line": 80, "title": "name says little", "description": "`x` could be called `row`"}]}"#;

const CODEX: &str = r#"{"findings": [{"title": "query in find() is built by hand", "body": "The name is put into the query.",
    "confidence_score": 0.9, "priority": 1,
    "code_location": {"absolute_file_path": "src/db.rs", "line_range": {"start": 10, "end": 12}}}]}"#;

const SARIF: &str = r#"{"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "semgrep"}}, "results": [
    {"ruleId": "twice", "level": "warning", "message": {"text": "Header is read twice"}, "locations": [
     {"physicalLocation": {"artifactLocation": {"uri": "src/web.rs"}, "region": {"startLine": 90}}}]}]}]}"#;

/// Returns a place with findings in three forms.
fn reviews() -> TestEnv {
    let env = TestEnv::new();
    env.write("claude.json", CLAUDE);
    env.write("codex.json", CODEX);
    env.write("semgrep.sarif", SARIF);
    env
}

#[test]
fn reviews_in_several_forms_are_settled_for_people() {
    let env = reviews();
    env.write(
        "rounds.jsonl",
        r#"{"from": "codex", "content": {"finding_id": "a2", "original_model": "claude", "action": "disagree", "confidence_adjustment": -10, "reasoning": "x is the row of a matrix"}}
{"model": "claude", "round": 3, "defenses": [{"finding_id": "a2", "action": "concede", "reasoning": "fair"}]}
{"sender": "semgrep", "content": "{\"finding_id\": \"a1\", \"action\": \"agree\", \"confidence_adjustment\": 5, \"reasoning\": \"a rule fits\"}"}
"#,
    );
    let ran = env
        .run([
            "consensus",
            "claude.json",
            "codex.json",
            "semgrep.sarif",
            "--rounds-file",
            "rounds.jsonl",
            "--policy",
            "arena",
        ])
        .assert_code(1);
    assert_snapshot!(ran.stdout, @"
    Consensus of claude, codex and semgrep: 2 accepted, 0 disputed, 1 rejected.

    Accepted

      1. high 100  src/db.rs:10-12  query in find() is built by hand
         By codex (high 90) and claude (high 85).
         2 families agree.
         semgrep agrees (+5): a rule fits
         Confidence: 90 (highest original) + 10 (agreement) + 5 (semgrep) + 5 (cross-examination) - 10 (clamp) = 100
         `name` reaches the SQL text of `find`.
         Fix: Use a parameter.

      2. medium 55  src/web.rs:90  Header is read twice
         By semgrep (medium 70).
         One family alone reports it here. Its evidence is thin.
         Confidence: 70 (original) - 15 (single source) = 55
         Header is read twice (twice)

    Rejected

      3. low 0  src/db.rs:80  name says little
         By claude (low 30).
         One family alone reports it here. A claim that nobody else makes needs more evidence: validation score 2 = confidence 0 + evidence 2. Its author withdrew it after it was challenged.
         codex disagrees (-10): x is the row of a matrix
         claude concedes: fair
         Confidence: 30 (original) - 15 (single source) - 10 (openai) - 10 (cross-examination) - 25 (defense) + 30 (clamp) = 0
         Would be reversed by: A reviewer who reports it anew with evidence that answers the challenge.
    ");
    assert_eq!(ran.stderr, "");
}

#[test]
fn a_disputed_finding_comes_with_its_question() {
    let env = TestEnv::new();
    env.write("claude.json", CLAUDE);
    env.write("codex.json", r#"{"model": "codex", "findings": []}"#);
    let against = r#"{"from": "codex", "content": {"finding_id": "a1", "original_model": "claude", "action": "disagree",
        "confidence_adjustment": -20, "reasoning": "`name` is checked in `load()` on line 4"}}"#;
    env.write("rounds.jsonl", against.replace('\n', ""));
    let files = ["claude.json", "codex.json", "--rounds-file", "rounds.jsonl"];
    let ran = env.run(["consensus"].iter().chain(&files)).assert_code(5);
    assert_snapshot!(ran.stdout, @r#"
    Consensus of claude and codex: 0 accepted, 2 disputed, 0 rejected.

    Disputed

      1. high 40  src/db.rs:10  query built by hand
         By claude (high 85).
         claude says high: `name` reaches the SQL text of `find`.
         codex says disagree: `name` is checked in `load()` on line 4
         Confidence: 85 (original) - 22 (calibration) + 4 (names the code) - 6 (few words) + 6 (length of the reviewer's list) + 8 (findings in all) - 10 (conflict) - 20 (openai) - 5 (cross-examination) = 40
         Open: Is it a problem in this code, or is it prevented elsewhere?
         claude claims "query built by hand" at src/db.rs:10 with severity high, but codex claims that it is no problem. Evidence from claude: `name` reaches the SQL text of `find`; trigger: a quote in the name. Evidence from codex: `name` is checked in `load()` on line 4. Resolution criteria: an input that makes it happen confirms it, code that prevents it denies it.
         Decide before merging: read src/db.rs:10 and answer the open questions.

      2. low 47  src/db.rs:80  name says little
         By claude (low 30).
         claude says low: `x` could be called `row`
         Confidence: 30 (original) + 5 (calibration) + 4 (names the code) - 6 (few words) + 6 (length of the reviewer's list) + 8 (findings in all) + 0 (single source) = 47
         Open: Does a second look confirm it?
         Claimed: name says little. Weakest: nothing says what makes it happen. To confirm or deny it, find an input or a sequence of calls that leads to src/db.rs:80, or what prevents it. As it stands a senior engineer would not act on it.
         Look when convenient: read src/db.rs:80 and answer the open questions.
    "#);
}

#[test]
fn the_default_policy_explains_every_number() {
    let env = reviews();
    let files = ["consensus", "claude.json", "codex.json", "semgrep.sarif"];
    let ran = env.run(files).assert_code(1);
    assert!(
        ran.stdout
            .starts_with("Consensus of claude, codex and semgrep: ")
    );
    let report = env
        .run([&files[..], &["--json"]].concat())
        .assert_code(1)
        .json();
    assert_eq!(report["schema_version"], 1);
    assert_eq!(report["role"], "debate-arbitrator");
    for finding in report["findings"].as_array().unwrap() {
        let trace = finding["trace"].as_array().unwrap().iter();
        let sum: i64 = trace.map(|line| line["amount"].as_i64().unwrap()).sum();
        assert_eq!(finding["confidence"], sum, "{finding}");
    }
}

#[test]
fn one_finding_is_explained() {
    let env = reviews();
    let explain = |id: &str, code: i32| {
        let args = [
            "consensus",
            "claude.json",
            "codex.json",
            "--policy",
            "arena",
            "--explain",
        ];
        env.run([&args[..], &[id]].concat()).assert_code(code)
    };
    let whole = explain("a1", 1).stdout;
    assert_snapshot!(whole, @"
    query in find() is built by hand
    accepted: high, confidence 100, unanimous
    Voices: 2 of anthropic and openai
    All families of the panel agree.

    Members
      codex (openai) calls it src/db.rs:10:query in find() is built by hand
        at src/db.rs:10-12; severity high, confidence 90, category not stated
        title: query in find() is built by hand
        says: The name is put into the query.
      claude (anthropic) calls it a1
        at src/db.rs:10; severity high, confidence 85, category security
        title: query built by hand
        says: `name` reaches the SQL text of `find`.
        trigger: a quote in the name
        fix: Use a parameter.

    Confidence
        90  highest original
        10  agreement
       100  in all

    What would reverse it
      One more family that disagrees with evidence would leave it disputed. Two more families that disagree without evidence and move it by 11 points or more each would leave it disputed. A concession of all its authors would leave it disputed.
    ");
    for same in ["claude:a1", "src/db.rs:10:query built by hand", "1"] {
        assert_eq!(explain(same, 1).stdout, whole);
    }
    assert_snapshot!(explain("a2", 1).stdout, @"
    name says little
    rejected: low, confidence 15
    Voices: 1 of anthropic; validation score 2
    One family alone reports it here. A claim that nobody else makes needs more evidence: validation score 2 = confidence 0 + evidence 2.

    Members
      claude (anthropic) calls it a2
        at src/db.rs:80; severity low, confidence 30, category not stated
        title: name says little
        says: `x` could be called `row`

    Question
      Claimed: name says little. Weakest: nothing says what makes it happen. To confirm or deny it, find an input or a sequence of calls that leads to src/db.rs:80, or what prevents it. As it stands a senior engineer would not act on it.

    Confidence
        30  original
       -15  single source
        15  in all

    Validation score
      2 = confidence 0 + evidence 2

    What would reverse it
      A second family that reports the same, or an input or a situation that makes it happen. One more family that agrees would leave it disputed.
    ");
    assert_snapshot!(explain("z9", 4).stderr, @"
    Error: There is no finding `z9`
    Hint: The first ones are: a1, src/db.rs:10:query in find() is built by hand, a2
    ");
}

#[test]
fn every_form_names_its_reviewer() {
    let env = TestEnv::new();
    let finding = r#"{"file": "a.rs", "line": 3, "severity": "medium", "title": "wrong sum"}"#;
    let reported = r#"{"location": {"file": "a.rs", "line": 3}, "reviewer": "ann", "severity": "low", "title": "wrong sum"}"#;
    let mut told = String::new();
    for (file, content) in [
        ("bare.json", format!("[{finding}]")),
        (
            "lines.jsonl",
            format!("{finding}\n{}\n", finding.replace("sum", "name")),
        ),
        (
            "model.json",
            format!(r#"{{"model": "gemini", "findings": [{finding}]}}"#),
        ),
        ("ours.json", format!("[{reported}]")),
        (
            "several.json",
            format!(r#"{{"findings": {{"ann": [{finding}], "bob": []}}}}"#),
        ),
        (
            "reports.jsonl",
            format!(
                "{{\"model\": \"ann\", \"findings\": [{finding}]}}\n{{\"model\": \"bob\", \"findings\": []}}\n"
            ),
        ),
        ("tool.sarif", SARIF.to_owned()),
        (
            "fenced.md",
            format!("Here you are:\n```json\n[{finding}]\n```\n"),
        ),
        (
            "tags.md",
            "[HIGH] a.rs:3 - wrong sum\n[LOW] a.rs:90 - odd name\n".to_owned(),
        ),
        ("good.md", "LGTM\n".to_owned()),
    ] {
        env.write(file, content);
        for typed in [file.to_owned(), format!("mine={file}")] {
            let ran = env.run(["consensus", &typed, "--json", "--policy", "arena"]);
            let report = ran.json();
            let counts = &report["debate_statistics"]["findings_per_model"];
            told.push_str(&format!("{typed}: {counts}\n"));
        }
    }
    assert_snapshot!(told, @r#"
    bare.json: {"bare":1}
    mine=bare.json: {"mine":1}
    lines.jsonl: {"lines":2}
    mine=lines.jsonl: {"mine":2}
    model.json: {"gemini":1}
    mine=model.json: {"mine":1}
    ours.json: {"ann":1}
    mine=ours.json: {"ann":1}
    several.json: {"ann":1,"bob":0}
    mine=several.json: {"ann":1,"bob":0}
    reports.jsonl: {"ann":1,"bob":0}
    mine=reports.jsonl: {"ann":1,"bob":0}
    tool.sarif: {"semgrep":1}
    mine=tool.sarif: {"mine":1}
    fenced.md: {"fenced":1}
    mine=fenced.md: {"mine":1}
    tags.md: {"tags":2}
    mine=tags.md: {"mine":2}
    good.md: {"good":0}
    mine=good.md: {"mine":0}
    "#);
}

#[test]
fn standard_input_is_a_file_like_others() {
    let env = reviews();
    for (typed, name) in [("-", "claude"), ("ann=-", "ann")] {
        let ran = env
            .run_with_input(["consensus", typed, "codex.json", "--json"], CLAUDE)
            .assert_code(1);
        let counts = &ran.json()["debate_statistics"]["findings_per_model"];
        assert_eq!(counts[name], 2, "{counts}");
    }
}

#[test]
fn a_gate_can_be_built_on_the_exit_code() {
    let env = TestEnv::new();
    let report = |findings: &str| format!(r#"{{"model": "claude", "findings": [{findings}]}}"#);
    let critical = r#"{"file": "a.rs", "line": 3, "severity": "critical", "confidence": 60, "title": "anybody may run code"}"#;
    let low = r#"{"file": "a.rs", "line": 3, "severity": "low", "confidence": 90, "title": "wrong sum", "description": "`total` drops one", "trigger": "a list"}"#;
    env.write("none.json", report(""));
    env.write("low.json", report(low));
    env.write("critical.json", report(critical));
    env.write(
        "cut.json",
        r#"{"model": "claude", "findings": [{"title": "wro"#,
    );
    for (args, code) in [
        (&["none.json"][..], 0),
        (&["low.json"], 0),
        (&["critical.json"], 5),
        (&["cut.json"], 5),
        (&["low.json", "cut.json"], 5),
        (&["absent.json"], 4),
        (&["low.json", "--policy", "absent"], 4),
        (&["low.json", "--record", "absent.json"], 4),
        (&[], 2),
        (&["low.json", "--batch", "low.json"], 2),
    ] {
        let args = [&["consensus"], args].concat();
        env.run(args).assert_code(code);
    }
    let ran = env
        .run(["consensus", "none.json", "ann=none.json"])
        .assert_code(0);
    assert_snapshot!(ran.stdout, @"
    Consensus of ann and claude: 0 accepted, 0 disputed, 0 rejected.

    All models agree that the code passed review: no findings.
    ");
}

#[test]
fn what_cannot_be_read_gets_a_sentence() {
    let env = reviews();
    env.write("cut.json", r#"{"findings": [{"title": "wro"#);
    env.write("prose.md", "I looked at it and it is nice.\n");
    env.write(
        "numbers.json",
        r#"{"model": "codex", "findings": [{"title": "a b", "file": "a.rs", "line": 0, "confidence": 130, "severity": "dire"}, {}]}"#,
    );
    env.write("latin1.json", b"[\"\xe9\"]");
    env.write(
        "rounds.json",
        r#"{"model": "claude", "finding_id": "a1", "action": "maybe"}"#,
    );
    env.write("policy.json", r#"{"rounds": {"flor": 3}}"#);
    env.write("record.json", "[]");
    let mut told = String::new();
    for args in [
        &["cut.json"][..],
        &["prose.md"],
        &["numbers.json"],
        &["latin1.json", "claude.json"],
        &["."],
        &["claude.json", "--rounds-file", "rounds.json"],
        &["claude.json", "claude=codex.json"],
        &["claude.json", "--policy", "policy.json"],
        &["claude.json", "--record", "record.json"],
        &["absent.json"],
    ] {
        let ran = env.run([&["consensus"], args].concat());
        told.push_str(&format!(
            "{} ({:?})\n{}",
            args.join(" "),
            ran.code,
            ran.stderr
        ));
    }
    assert_snapshot!(env.tidy(&told), @r#"
    cut.json (Some(5))
    cut.json: the JSON of the answer is cut off.
    prose.md (Some(5))
    prose.md: there are no findings, and nothing says that there are none.
    numbers.json (Some(5))
    numbers.json: findings[0].severity: "dire" is no severity; known are critical, high, medium, low.
    numbers.json: findings[0].line: 0 is no line number.
    numbers.json: findings[0].confidence: 130 is no confidence: it must lie between 0 and 100.
    numbers.json: findings[1]: a finding without title and description says nothing.
    latin1.json claude.json (Some(5))
    latin1.json: it is not UTF-8.
    . (Some(5))
    .: Is a directory (os error 21).
    claude.json --rounds-file rounds.json (Some(1))
    rounds.json: action: "maybe" is no action; known are agree, partial, disagree, defend, concede, modify.
    claude.json claude=codex.json (Some(1))
    claude.json and codex.json are both of claude; they count as one voice.
    claude.json --policy policy.json (Some(2))
    Error: [ROOT]/project/policy.json: the policy cannot be changed so: unknown field `flor`, expected one of `ladder`, `adjustments`, `many_for`, `one_for`, `one_against`, `many_against`, `defended`, `conceded`, `reject_conceded_at`, `late`, `substance_words`, `floor`
    Hint: A policy file holds some of the keys of a policy, such as {"rounds": {"floor": 30}}
    claude.json --record record.json (Some(2))
    Error: [ROOT]/project/record.json is no record of rulings: it is no JSON object
    absent.json (Some(4))
    Error: Cannot read absent.json
      because: No such file or directory (os error 2)
    "#);
}

#[test]
fn the_schema_describes_the_result() {
    let env = reviews();
    let schema = env.run(["consensus", "--schema"]).assert_code(0).json();
    let report = env
        .run(["consensus", "claude.json", "--json"])
        .assert_code(1)
        .json();
    let described = |key: &String| schema["properties"][key] != Value::Null;
    assert!(report.as_object().unwrap().keys().all(described));
}

#[test]
fn a_policy_file_and_a_record_change_the_numbers() {
    let env = reviews();
    let confidence = |args: &[&str]| {
        let args = [&["consensus", "claude.json", "codex.json", "--json"], args].concat();
        env.run(args).json()["findings"][0]["confidence"].clone()
    };
    env.write(
        "policy.json",
        r#"{"name": "arena", "agreement": {"per_voice": 1}}"#,
    );
    assert_eq!(confidence(&["--policy", "arena"]), 100);
    assert_eq!(confidence(&["--policy", "policy.json"]), 92);
    env.write(
        "record.json",
        r#"{"reviewers": {"claude": {"security": {"upheld": 1, "dismissed": 90}}, "codex": {"bug": {"upheld": 90, "dismissed": 1}}}}"#,
    );
    let known = |args: &[&str]| {
        let args = [&["consensus", "claude.json", "--explain", "a1"], args].concat();
        env.run(args).stdout.contains("reviewer's record")
    };
    assert!(known(&["--record", "record.json"]));
    assert!(!known(&[]));
}

#[test]
fn strangers_and_forged_names_do_not_vote() {
    let env = reviews();
    let said = |line: &str| {
        env.write("rounds.jsonl", line);
        let args = [
            "consensus",
            "claude.json",
            "codex.json",
            "--json",
            "--policy",
            "arena",
        ];
        let ran = env.run([&args[..], &["--rounds-file", "rounds.jsonl"]].concat());
        let report = ran.json();
        let counted =
            &report["debate_statistics"]["round2_cross_examination"]["responses_received"];
        let problems = report["problems"].as_array().unwrap().iter();
        let problems: Vec<&str> = problems.map(|one| one.as_str().unwrap()).collect();
        format!("{counted} {}", problems.join("; "))
    };
    let words = r#""finding_id": "a1", "action": "disagree", "confidence_adjustment": -30, "reasoning": "no""#;
    let table = [
        format!("{{{words}}}"),
        format!(r#"{{"from": "mallory", "content": {{{words}}}}}"#),
        format!(r#"{{"model": "mallory", "responses": [{{{words}}}]}}"#),
        format!(
            r#"{{"from": "claude", "content": {{"model": "codex", "responses": [{{{words}}}]}}}}"#
        ),
        format!(
            r#"{{"from": "lead", "content": {{"model": "codex", "responses": [{{{words}}}]}}}}"#
        ),
        format!(r#"{{"from": "codex", "content": {{{words}}}}}"#),
    ];
    let told: Vec<String> = table.iter().map(|line| said(line)).collect();
    assert_snapshot!(told.join("\n"), @r#"
    {} rounds.jsonl: nobody says who wrote this, so it is not counted; name the reviewer in `model`, or give NAME=FILE
    {} rounds.jsonl: mallory is not on the panel, so this is not counted
    {} rounds.jsonl: mallory is not on the panel, so this is not counted
    {} claude examines its own finding "a1"
    {"codex":1} 
    {"codex":1}
    "#);
}
