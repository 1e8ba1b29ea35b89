//! Coders of every kind, and where each leads.

use serde_json::json;

use super::court::{Court, MENDED, ann, answer, says, told};

#[test]
fn a_coder_who_accepts_and_fixes_leads_to_a_pass_and_a_branch() {
    let mut court = Court::with_ann();
    court.coder(&says("implemented", ""), &json!({"src/pay.py": MENDED}));
    let ran = court.arbitrate(&["--json"]);
    assert_eq!(
        told(&ran),
        "fail; SQL from user input: fixed; settled; offered branch (pass with it)"
    );
    assert_eq!(court.on_branch(&ran, "src/pay.py"), MENDED);
}

#[test]
fn what_an_arbitration_prints() {
    let mut court = Court::with_ann();
    court.coder(&says("implemented", ""), &json!({"src/pay.py": MENDED}));
    let ran = court.arbitrate(&[]).assert_code(1);
    let text = court.tidy(&ran.stdout);
    let start = text.find("Arbitration").unwrap();
    let end = text.find("Reviewers").unwrap();
    insta::assert_snapshot!(text[start..end].trim_end(), @"
    Arbitration
      f-f3bd4499 src/pay.py:5 SQL from user input
          fixed
          cody in round 1: implemented
          ann after round 1: fixed: src/pay.py:5 shows it.
      The coder cody worked for 1 round and changed 1 file.
      The work is on the branch `tribunal/[c]`; take it with `git restore -s
      tribunal/[c] -- src/pay.py`.
      It ended because no blocking finding is open any more.
    ");
    let next = text.split("\nWhat next\n").nth(1).unwrap();
    let gate = format!("{}\n{next}", text.lines().next().unwrap());
    insta::assert_snapshot!(gate, @"
    FAIL: 1 blocking finding (f-f3bd4499)
      - PASS with `tribunal/[c]`; take the work over:
          git restore -s tribunal/[c] -- src/pay.py
    ");
    insta::assert_snapshot!(court.tidy(&ran.stderr), @"
    opened a case of `review`: uncommitted work on main
    reviewing uncommitted work on main: 1 file, by ann
    ann was asked as reviewer: review ann 1/1 (scripted)
    ann answered (0.0 s, 0 tokens, $0.00)
    ann: 1 finding
    cody works on 1 finding, all blocking (round 1)
    cody was asked as coder: respond round 1 (scripted)
    cody answered (0.0 s, 0 tokens, $0.00)
    cody: 1 implemented; 1 file changed
    ann was asked as reviewer: verify ann round 1 (scripted)
    ann answered (0.0 s, 0 tokens, $0.00)
    ann on f-f3bd4499: fixed: src/pay.py:5 shows it.
    ann was asked as reviewer: work 1: review ann 1/1 (scripted)
    ann answered (0.0 s, 0 tokens, $0.00)
    ann: 0 findings
    the panel looked at the work of round 1: nothing
    done: make the branch tribunal/[c]
    the coder's work is on the branch tribunal/[c] ([COMMIT]…)
    arbitration ended after 1 round: no blocking finding is open any more
    1 accepted, 0 disputed, 0 rejected: FAIL
    failed, 1 blocking finding
    ");
}

#[test]
fn a_coder_who_says_nothing_leaves_it_open() {
    for text in [
        "I fixed it, trust me.".to_owned(),
        answer("responses", ""),
        answer("responses", &says("implemented", "")).replace("end", "and"),
    ] {
        let mut court = Court::with_ann();
        let replies = json!([{ "text": text, "write": {"src/pay.py": MENDED} }]);
        court.agent("cody", "coder", &replies);
        assert_eq!(
            court.told(&[]),
            "fail; SQL from user input: open (unanswered); left_open; offered branch (fail with it)"
        );
    }
}

#[test]
fn what_is_missing_is_asked_for_once() {
    let mut court = Court::with_ann();
    let replies = json!([
        {"when": "there is no answer to F1", "text": answer("responses", &says("implemented", ""))},
        {"text": answer("responses", ""), "write": {"src/pay.py": MENDED}},
    ]);
    court.agent("cody", "coder", &replies);
    assert_eq!(
        court.told(&[]),
        "fail; SQL from user input: fixed; settled; offered branch (pass with it)"
    );
}

#[test]
fn a_coder_who_only_claims_is_not_believed() {
    let mut court = Court::with_ann();
    court.coder(&says("implemented", ""), &json!({}));
    assert_eq!(
        court.told(&[]),
        "fail; SQL from user input: open (not_believed); left_open; offered nothing"
    );
}

#[test]
fn a_fix_that_does_not_help_is_tried_once_more() {
    let mut court = Court::empty();
    court.agent("ann", "reviewer", &ann(&[], false));
    let replies = json!([
        {"when": "not_settled_because", "text": answer("responses", &says("implemented", "")),
         "write": {"src/pay.py": "import db\n# second try\n"}},
        {"text": answer("responses", &says("implemented", "")), "write": {"src/pay.py": MENDED}},
    ]);
    court.agent("cody", "coder", &replies);
    let ran = court.arbitrate(&["--json"]);
    assert_eq!(
        told(&ran),
        "fail; SQL from user input: open (not_fixed); left_open; offered branch (fail with it)"
    );
    let report = ran.json();
    assert_eq!(report["arbitration"]["rounds"].as_array().unwrap().len(), 2);
}

#[test]
fn nobody_to_check_is_no_fix() {
    let mut court = Court::empty();
    let replies = json!([
        {"when": "Was it fixed?", "text": "Looks good to me!"},
        {"when": "The change: the coder's work", "text": super::super::signed("")},
        {"text": super::super::signed(super::super::DEFECT)},
    ]);
    court.agent("ann", "reviewer", &replies);
    court.coder(&says("implemented", ""), &json!({"src/pay.py": MENDED}));
    assert_eq!(
        court.told(&[]),
        "fail; SQL from user input: open (unverified); left_open; offered branch (fail with it)"
    );
}

#[test]
fn the_built_in_rule_checks_what_it_found() {
    for (text, expected) in [
        (MENDED, "fail; fixed"),
        // Only the name of the variable is another: the rule still matches.
        (
            "import db


def total(rows, who):
    rate = db.execute(\"SELECT rate FROM rates WHERE user = '%s'\" % who)
    return sum(row.amount for row in rows) * rate
",
            "fail; open",
        ),
    ] {
        let mut court = Court::empty();
        court.coder(&says("implemented", ""), &json!({"src/pay.py": text}));
        let ran = court.arbitrate(&["--json", "--reviewer", "builtin:security"]);
        let report = ran.json();
        let state = report["arbitration"]["findings"][0]["state"].as_str();
        let told = format!("{}; {}", report["gate"].as_str().unwrap(), state.unwrap());
        assert_eq!(told, expected, "{}", ran.stderr);
    }
}

#[test]
fn a_coder_who_dies_makes_it_inconclusive_and_can_be_asked_again() {
    let mut court = Court::with_ann();
    let error = json!([{"error": {"class": "crash", "message": "it fell over"}}]);
    court.agent("cody", "coder", &error);
    let ran = court.arbitrate(&["--json"]);
    assert_eq!(
        told(&ran),
        "inconclusive; SQL from user input: to_do; coder_missing; offered nothing"
    );
    let replies = json!({"replies": [
        {"text": answer("responses", &says("implemented", "")), "write": {"src/pay.py": MENDED}}
    ]});
    std::fs::write(court.env.root().join("cody.json"), replies.to_string()).unwrap();
    let case = ran.json()["case"].as_str().unwrap().to_owned();
    let resumed = court.env.run(["resume", &case, "--json"]);
    assert_eq!(
        told(&resumed),
        "fail; SQL from user input: fixed; settled; offered branch (pass with it)"
    );
}

#[test]
fn without_a_coder_nothing_is_asked() {
    let court = Court::with_ann();
    let ran = court.arbitrate(&[]).assert_code(3);
    insta::assert_snapshot!(ran.stderr, @"
    Error: No coder is configured
    Hint: Add one with `tribunal connect <agent> --role coder`
    Hint: Or review without `--arbitrate`
    ");
}

#[test]
fn the_coder_is_named_or_fits_or_is_the_first() {
    for (args, expected) in [
        (&["--json"][..], "sid"),
        (&["--json", "--coder", "cody"], "cody"),
    ] {
        let mut court = Court::with_ann();
        court.coder(&says("implemented", ""), &json!({"src/pay.py": MENDED}));
        let script = court.env.root().join("cody.json").display().to_string();
        court.raw_agent(&format!(
            "{{name: sid, provider: scripted, script: {script:?}, role: coder, domain: [security]}}"
        ));
        let report = court.arbitrate(args).json();
        assert_eq!(report["arbitration"]["coder"], expected);
    }
}

#[test]
fn only_an_agent_with_the_role_of_a_coder_is_taken_as_one() {
    let mut court = Court::with_ann();
    court.coder(&says("implemented", ""), &json!({"src/pay.py": MENDED}));
    court.write_config();
    for (name, expected) in [
        (
            "ann",
            "`ann` has the role reviewer and is not a coder; there are: cody",
        ),
        ("scripted", "There is no coder `scripted`; there are: cody"),
        ("bob", "There is no coder `bob`; there are: cody"),
    ] {
        let ran = court.env.run(["review", "--arbitrate", "--coder", name]);
        assert_eq!(ran.code, Some(2), "{}", ran.stderr);
        assert!(ran.stderr.contains(expected), "{}", ran.stderr);
    }
    let listed = court.env.run(["agents"]).assert_code(0).stdout;
    assert_eq!(listed.lines().count(), 3, "{listed}");
}
