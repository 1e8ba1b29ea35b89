//! A judge beside the debate, and what the record of one is good for.

use serde_json::json;

use super::{Debate, NONCE, ROUND_2, ROUND_3, WEIGHING, examining, pleading, text};

#[test]
fn a_judge_weighs_what_stays_contested_and_one_that_breaks_the_contract_does_not() {
    let weigh = |side: &str| {
        json!([{"when": WEIGHING, "json": {"nonce": NONCE, "side": side,
        "reason": "src/pay.py:5 pastes `user` into the statement", "end": NONCE}}])
    };
    let cast = || {
        Debate::new(
            &[],
            &[examining("disagree", -10, "It is fine.")],
            &[examining("agree", 0, "src/pay.py:5")],
        )
    };
    let debate = cast().judged_by("jim", "mistral", &weigh("FOR"));
    insta::assert_snapshot!(debate.told(&[]), @"
    fail
    accepted high 46: SQL from user input
      = 65 + -12 + 5 + -6 + 6 + 8 + -10 + -10
      2 bob disagree -10
      2 eve agree 0
      The reviewers differ about whether it is a problem.
      The judge jim finds the evidence for it better: src/pay.py:5 pastes `user` into the statement
      The evidence for it is clearly stronger. Dissent: bob: It is fine.
    note: Debate incomplete — ann did not respond
    ");
    let debate = cast().judged_by("jim", "openai", &weigh("AGAINST"));
    insta::assert_snapshot!(debate.told(&[]), @"
    inconclusive
    disputed high 46: SQL from user input
      = 65 + -12 + 5 + -6 + 6 + 8 + -10 + -10
      2 bob disagree -10
      2 eve agree 0
      The reviewers differ about whether it is a problem.
      The judge jim finds the evidence against it better: src/pay.py:5 pastes `user` into the statement
      The evidence against it is clearly stronger.
      Dissent: bob: It is fine.
      Is it a problem in this code, or is it prevented elsewhere?
    note: Debate incomplete — ann did not respond
    note: jim weighed the evidence about src/pay.py:5 although a party is of its family
    ");
    let debate = cast().judged_by("jim", "mistral", &weigh("MAYBE"));
    insta::assert_snapshot!(debate.told(&[]), @r#"
    fail
    accepted high 46: SQL from user input
      = 65 + -12 + 5 + -6 + 6 + 8 + -10 + -10
      2 bob disagree -10
      2 eve agree 0
      The reviewers differ about whether it is a problem.
      The evidence for it is clearly stronger. Dissent: bob: It is fine.
    note: Debate incomplete — ann did not respond
    note: jim gave no usable weighing of src/pay.py:5 ("MAYBE" is no side; known are FOR, AGAINST, BALANCED); the evidence was measured by code
    "#);
}

#[test]
fn a_resumed_debate_pays_nothing_twice_and_a_replay_comes_to_the_same_end() {
    let debate = Debate::new(
        &[pleading(
            "defend",
            "src/pay.py:5 pastes `user`; nothing before it escapes a quote",
        )],
        &[examining("disagree", -10, "It is fine.")],
        &[examining("agree", 5, "src/pay.py:5")],
    );
    let report = debate.report(&[]);
    let case = text(&report["case"]).to_owned();
    let env = &debate.desk.env;
    let shown = env
        .run(["show", &case, "--format", "jsonl"])
        .assert_code(0)
        .stdout;
    assert_eq!(shown.matches("run_started").count(), 6, "{shown}");
    let replayed = env.run(["replay", &case]).assert_code(0);
    assert!(
        replayed.stderr.contains("same") || replayed.stdout.contains("same"),
        "{replayed:?}"
    );
}

#[test]
fn nobody_learns_who_reported_what() {
    let debate = Debate::new(
        &[],
        &[examining("disagree", -10, "It is fine.")],
        &[examining("agree", 0, "yes")],
    );
    debate.report(&[]);
    let runs = debate.desk.env.ledger().join("runs");
    let mut seen = 0;
    for run in std::fs::read_dir(runs).unwrap().flatten() {
        let prompt = std::fs::read_to_string(run.path().join("prompt.md"))
            .or_else(|_| std::fs::read_to_string(run.path().join("prompt.txt")))
            .unwrap_or_default();
        if prompt.contains(ROUND_2) || prompt.contains(ROUND_3) {
            seen += 1;
            for name in ["ann", "bob", "eve", "anthropic", "openai", "google"] {
                let told = prompt
                    .split(|c: char| !c.is_alphanumeric())
                    .any(|word| word == name);
                assert!(!told, "{name}: {prompt}");
            }
        }
    }
    assert_eq!(seen, 3);
}

#[test]
fn a_finding_is_explained_with_all_that_was_said_and_every_number() {
    let debate = Debate::new(
        &[pleading("concede", "You are right.")],
        &[examining("disagree", -10, "It is fine.")],
        &[examining("agree", 5, "src/pay.py:5 pastes `user`\u{202e}")],
    );
    let weigh = json!([{"when": WEIGHING, "json": {"nonce": NONCE, "side": "FOR",
        "reason": "src/pay.py:5 pastes `user` into the statement", "end": NONCE}}]);
    let debate = debate.judged_by("jim", "mistral", &weigh);
    let report = debate.report(&[]);
    let id = text(&report["findings"][0]["id"]);
    let case = text(&report["case"]);
    let env = &debate.desk.env;
    let shown = env.run(["explain", &id[..6]]).assert_code(0).stdout;
    insta::assert_snapshot!(env.tidy(&shown.replace(id, "f-…")), @r#"
    f-…  SQL from user input
    accepted: high, confidence 51, conflict-resolved
    at src/pay.py:5 in case [CASE], uncommitted work on main, policy tribunal

    Code
        4 | def total(rows, user):
      > 5 |     rate = db.execute("SELECT rate FROM rates WHERE user = '%s'" % user)
        6 |     return sum(row.amount for row in rows) * rate

    Why
      Reported by anthropic.
      The reviewers differ about whether it is a problem.
      The judge jim finds the evidence for it better: src/pay.py:5 pastes `user` into the statement
      The evidence for it is clearly stronger. Dissent: bob: It is fine.

    Members
      ann (anthropic) calls it 1.1
        at src/pay.py:5; severity high, confidence 65; the code it cites stands there
        title: SQL from user input
        says: The statement is put together by hand.

    Rounds 2 and 3
      Round 2: bob (openai) disagrees (-10): It is fine.
      Round 2: eve (google) agrees (+5): src/pay.py:5 pastes `user`�
      Round 3: ann (anthropic) concedes: You are right.
        not counted: no new evidence, the first vote stays

    Judge
      jim: FOR: src/pay.py:5 pastes `user` into the statement

    Question
      ann claims "SQL from user input" at src/pay.py:5 with severity high, but bob claims that it is no
        problem. Evidence from ann: The statement is put together by hand; quotes WHERE user = '%s'.
        Evidence from bob: It is fine. Resolution criteria: an input that makes it happen confirms it,
        code that prevents it denies it.

    Confidence
        65  original
       -12  calibration
         5  grounding
        -6  few words
         6  length of the reviewer's list
         8  findings in all
       -10  conflict
         5  google
       -10  openai
        51  in all

    Validation score
      4 = confidence 2 + evidence 2

    What would reverse it
      One more family that disagrees and moves it by 7 points or more would leave it disputed. A
        concession of all its authors would leave it disputed.
    "#);
    let json = env
        .run(["explain", &format!("{case}/{id}"), "--json"])
        .assert_code(0)
        .json();
    assert_eq!(json["finding"], report["findings"][0]);
    assert_eq!(json["case"], report["case"]);
    let unknown = env.run(["explain", "f-00"]).assert_code(4).stderr;
    assert_eq!(
        unknown.replace(id, "f-…"),
        "Error: No review has a finding `f-00`\nHint: The newest review has f-…\n"
    );
}

#[test]
fn a_judge_takes_no_part_in_a_plain_review() {
    let silent = json!([{"error": {"class": "crash", "message": "nobody may ask me"}}]);
    let mut debate = Debate::new(
        &[],
        &[examining("disagree", -10, "It is fine.")],
        &[examining("agree", 0, "src/pay.py:5")],
    )
    .judged_by("jim", "mistral", &silent);
    debate.review = debate.review.replace(", judge: {weigh: true}", "");
    let report = debate.report(&[]);
    let case = text(&report["case"]);
    let told = debate.desk.env.run(["show", case]).stdout;
    assert!(!told.contains("jim"), "{told}");
    assert!(report["findings"][0].get("judgement").is_none());
}
