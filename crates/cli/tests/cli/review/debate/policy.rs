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

#[test]
fn a_report_of_a_review_is_taken_apart_into_its_voices() {
    let mut debate = Debate::new(&[], &[], &[]);
    debate.review = ", rounds: 1, policy: arena".to_owned();
    let env = &debate.desk.env;
    let script = |name: &str| env.root().join(format!("{name}.json"));
    std::fs::copy(script("ann"), script("bob")).unwrap();
    let report = debate.report(&[]);
    let env = &debate.desk.env;
    env.write("report.json", report.to_string());
    let again = env.run(["consensus", "report.json", "--policy", "arena", "--json"]);
    let again = again.json();
    let members = again["findings"][0]["members"].as_array().unwrap();
    let names: Vec<&str> = members
        .iter()
        .map(|one| one["reviewer"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["ann", "bob"]);
    assert_eq!(
        again["findings"][0]["confidence"],
        report["findings"][0]["confidence"]
    );
    let panel = again["debate_statistics"]["findings_per_model"].to_string();
    assert_eq!(panel, r#"{"ann":1,"bob":1,"eve":0}"#);

    let mut fallen = report.clone();
    fallen["findings"][0]["verdict"] = "rejected".into();
    env.write("report.json", fallen.to_string());
    let again = env
        .run(["consensus", "report.json", "--json"])
        .assert_code(0);
    let told = again.json()["problems"][0].as_str().unwrap().to_owned();
    assert_eq!(
        told,
        "report.json: 1 rejected, dismissed or fixed were left out"
    );
}

#[test]
fn a_debate_of_a_change_is_a_review_in_three_rounds() {
    let debate = Debate::new(&[], &[], &[]);
    let first = debate.report(&["--rounds", "3"]);
    let ran = debate.desk.env.run(["debate", "--json"]);
    let second = ran.json();
    assert_eq!(second["gate"], first["gate"]);
    assert_eq!(second["statistics"], first["statistics"]);
    assert_eq!(
        second["findings"][0]["rounds"],
        first["findings"][0]["rounds"]
    );
}
