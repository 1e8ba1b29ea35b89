//! The numbers of the config: they settle a review, are kept with it, and explain it.

use super::Debate;

/// Returns a debate in which nobody says anything after round 1.
fn settled_by(policy: &str) -> Debate {
    let mut debate = Debate::new(&[], &[], &[]);
    debate.review = format!(", rounds: 1, policy: {policy}");
    debate
}

/// Returns policy, verdict and confidence of the only finding.
fn told(report: &serde_json::Value) -> String {
    let finding = &report["findings"][0];
    let word = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    let (policy, verdict) = (word(&report["policy"]), word(&finding["verdict"]));
    format!("{policy}: {verdict} {}", finding["confidence"])
}

#[test]
fn the_config_changes_single_numbers_of_a_policy() {
    for (policy, expected) in [
        ("arena", "arena: accepted 50"),
        ("{name: arena}", "arena: accepted 50"),
        (
            "{name: arena, unique: {noted: -4}}",
            "arena with changed numbers: accepted 61",
        ),
        (
            "{name: ours, defaults: {confidence: 90}, unique: {least_confidence: 0}}",
            "ours: accepted 90",
        ),
    ] {
        assert_eq!(told(&settled_by(policy).report(&[])), expected, "{policy}");
    }
}

#[test]
fn a_review_keeps_the_numbers_it_was_settled_by() {
    let debate = settled_by("{name: arena, unique: {noted: -4}}");
    let report = debate.report(&[]);
    let env = &debate.desk.env;
    env.write_user_config("review: {policy: tribunal}\n");
    let case = report["case"].as_str().unwrap();
    let replay = env.run(["replay", case, "--format", "json"]);
    assert_eq!(replay.assert_code(0).json()["same"], true);
    let id = report["findings"][0]["id"].as_str().unwrap();
    let explained = env.run(["explain", id]).assert_code(0).stdout;
    assert!(
        explained.contains("policy arena with changed numbers"),
        "{explained}"
    );
}

#[test]
fn explain_says_what_would_reverse_the_decision_by_these_numbers() {
    let reversal = |policy: &str| {
        let report = settled_by(policy).report(&[]);
        report["findings"][0]["reversal"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    insta::assert_snapshot!(reversal("arena"), @"One more family that disagrees would leave it disputed. A concession of all its authors would leave it disputed.");
    insta::assert_snapshot!(reversal("{name: arena, conflict: {clear_margin: 0}}"), @"One more family that disagrees with evidence would leave it disputed. One more family that disagrees without evidence and moves it by 1 point or more would leave it disputed. A concession of all its authors would leave it disputed.");
}

#[test]
fn numbers_that_mean_nothing_are_refused_where_they_stand() {
    let debate = settled_by("{agreement: {closeness: 2147483647}}");
    let agents = debate.desk.reviewers.concat();
    let yaml =
        format!("agents:\n{agents}review:\n  policy: {{agreement: {{closeness: 2147483647}}}}\n");
    debate.desk.env.write_user_config(&yaml);
    let ran = debate.desk.env.run(["review"]).assert_code(3);
    let (_, why) = ran.stderr.split_once("config.yml:").unwrap();
    insta::assert_snapshot!(why.lines().next().unwrap(), @"6:11: in `review.policy`, the policy cannot be changed so: `agreement.closeness` is 2147483647, and must be from -100 to 100");
}

#[test]
fn a_decisive_dispute_is_put_before_a_human() {
    let mut debate = Debate::new(&[], &[], &[]);
    debate.review = ", rounds: 1, policy: arena".to_owned();
    let script = debate.desk.env.root().join("ann.json");
    let text = std::fs::read_to_string(&script).unwrap();
    std::fs::write(&script, text.replace("HIGH", "CRITICAL")).unwrap();
    let report = debate.report(&[]);
    assert_eq!(report["findings"][0]["verdict"], "disputed");
    assert_eq!(report["findings"][0]["escalate"], true);
    let case = report["case"].as_str().unwrap();
    for format in ["text", "markdown", "html", "sarif", "junit", "github"] {
        let shown = debate.desk.env.run(["show", case, "--format", format]);
        let told = shown.stdout.contains("needs a human before merging")
            || shown.stdout.contains("\"escalate\": true");
        assert!(told, "{format}: {}", shown.stdout);
    }
}
