//! What users type and read around trials.

use serde_json::json;

use crate::common::TestEnv;
use crate::common::cast::{CHALLENGE, Cast, liquidations};

#[test]
fn what_cannot_be_done_is_said_with_the_way_out() {
    let mut cast = Cast::new(TestEnv::new());
    cast.agent("ann", "anthropic", "reviewer", &[json!({"text": "x"})]);
    let mut told = String::new();
    for args in [
        &[CHALLENGE][..],
        &[CHALLENGE, "--contestant", "ann"],
        &[CHALLENGE, "--contestant", "ann,ann"],
        &[CHALLENGE, "--contestant", "ann,eve"],
        &[
            CHALLENGE,
            "--contestant",
            "ann,ann=wizard",
            "--judge",
            "ann",
        ],
        &[CHALLENGE, "--contestants", "9", "--judge", "ann"],
        &[
            CHALLENGE,
            "--contestant",
            "ann,ann",
            "--judge",
            "ann",
            "--judges",
            "6",
        ],
        &[" ", "--contestant", "ann", "--judge", "ann"],
        &[],
        &["show", "c-12345678"],
        &["resume"],
        &["list"],
    ] {
        let ran = cast.trial(args);
        let code = ran.code.unwrap();
        let said = cast.env.tidy(&ran.stderr);
        let first = said.lines().next().unwrap_or("");
        told.push_str(&format!("{} ({code})\n  {first}\n", args.join(" ")));
    }
    insta::assert_snapshot!(told, @r#"
    How should we handle mid-epoch liquidations? (2)
      Error: There is nobody to answer: no agent has the role contestant; name agents with `--contestant`, or add one with `tribunal connect AGENT --role contestant`
    How should we handle mid-epoch liquidations? --contestant ann (2)
      Error: A trial needs at least two contestants; name another with `--contestant`, also the same agent as an archetype, such as `--contestant NAME=pragmatist,NAME=guardian`
    How should we handle mid-epoch liquidations? --contestant ann,ann (2)
      Error: There is nobody to judge: no agent has the role judge; name one with `--judge`, or add one with `tribunal connect AGENT --role judge`
    How should we handle mid-epoch liquidations? --contestant ann,eve (4)
      Error: No agent is called `eve`
    How should we handle mid-epoch liquidations? --contestant ann,ann=wizard --judge ann (2)
      Error: There is no archetype `wizard`; there are pragmatist, guardian, optimizer, purist, explorer, advocate
    How should we handle mid-epoch liquidations? --contestants 9 --judge ann (2)
      Error: Between 2 and 6 contestants can be designed, not 9
    How should we handle mid-epoch liquidations? --contestant ann,ann --judge ann --judges 6 (2)
      Error: There are between 1 and 5 judges, not 6
      --contestant ann --judge ann (2)
      Error: The challenge is empty
     (2)
      error: the following required arguments were not provided:
    show c-12345678 (4)
      Error: No case has the id `c-12345678`
    resume (4)
      Error: There is no unfinished trial
    list (0)
      There is no trial yet; hold one with `tribunal trial "…"`.
    "#);
}

#[test]
fn a_decree_needs_a_verdict_and_a_trial() {
    let mut cast = liquidations(TestEnv::new());
    cast.agent("jim", "openai", "judge", &[json!({"text": "no"})]);
    cast.trial(&[CHALLENGE]).assert_code(5);
    let ran = cast.trial(&["decree", &cast.newest_id(), "close"]);
    assert!(
        ran.stderr.contains("has no verdict yet: it is judging"),
        "{}",
        ran.stderr
    );
    cast.env.run(["ask", "ann", "Safety First?"]).assert_code(0);
    let asked = cast.env.run(["log", "--json"]).json()["cases"][0]["case"].clone();
    let ran = cast
        .trial(&["show", asked.as_str().unwrap()])
        .assert_code(4);
    assert!(
        ran.stderr.contains("is no trial but a `ask`"),
        "{}",
        ran.stderr
    );
}

#[test]
fn the_way_to_adopt_a_text_is_a_command_that_works() {
    let cast = liquidations(TestEnv::new());
    cast.trial(&[CHALLENGE]).assert_code(0);
    let ran = cast
        .trial(&["decree", &cast.newest_id(), "merge"])
        .assert_code(2);
    let said = ran.stderr;
    assert!(
        said.contains("Error: `Safety First` handed in no code"),
        "{said}"
    );
    let (_, rest) = said.split_once("`tribunal ").unwrap();
    let (command, _) = rest.split_once('`').unwrap();
    cast.env.run(command.split_whitespace()).assert_code(0);
    let id = cast.newest_id();
    let report = cast.env.run(["trial", "show", &id, "--json"]).json();
    assert_eq!(report["decree"]["contestant"], "safety-first");
}

#[test]
fn what_judges_saw_only_in_part_is_a_doubt() {
    let mut cast = liquidations(TestEnv::new());
    cast.set("trial: {answer_chars: 1000}\n");
    let answers = [
        json!({"when": "Safety First", "text": format!("Queue them. {}", "word ".repeat(300))}),
        json!({"when": "Gas Optimizer", "text": "Batch them."}),
        json!({"when": "Protocol Purist", "text": "Invariants first."}),
    ];
    cast.agent("ann", "anthropic", "contestant", &answers);
    let report = cast.trial(&[CHALLENGE, "--json"]).assert_code(0).json();
    let doubts = report["verdict"]["doubts"].as_array().unwrap();
    let expected = json!({"doubt": "shortened", "contestants": ["safety-first"], "shown": [66]});
    assert!(doubts.contains(&expected), "{doubts:?}");
    let shown = cast.trial(&["show", &cast.newest_id()]).stdout;
    assert!(
        shown.contains("judges saw only 66 % of what Safety First handed in"),
        "{shown}"
    );
}

#[test]
fn the_page_holds_the_scores_as_a_heat_map_and_every_reason() {
    let cast = liquidations(TestEnv::new());
    cast.trial(&[CHALLENGE]).assert_code(0);
    let id = cast.newest_id();
    let page = cast
        .trial(&["export", &id, "--format", "html"])
        .assert_code(0)
        .stdout;
    for part in [
        "<td class=\"h8\">82</td>",
        "<td class=\"h6\">64</td>",
        "Content-Security-Policy",
        "Safety First says how, and when not.",
        "Krippendorff",
        "As the Innovation Judge sees it.",
    ] {
        assert!(page.contains(part), "{part} is missing");
    }
    assert!(!page.contains("<script"), "no script");
    let text = cast.trial(&["export", &id]).assert_code(0).stdout;
    for part in [
        "| Pragmatist Judge | 82 | 74 | 61 |",
        "## Judge: Safety Judge",
        "- Strength: Queue is concrete",
    ] {
        assert!(text.contains(part), "{part} is missing in {text}");
    }
    let issue = cast.trial(&["decree", &id, "issue"]).assert_code(0).stdout;
    assert!(
        issue.starts_with("# How should we handle mid-epoch liquidations?\n"),
        "{issue}"
    );
}

#[test]
fn foreign_text_drives_neither_terminal_nor_page() {
    let mut cast = Cast::new(TestEnv::new());
    let nasty = "\u{1b}[2J<script>alert(1)</script> | **bold** [x](javascript:1)";
    cast.agent("ann", "anthropic", "contestant", &[json!({"text": nasty})]);
    cast.agent(
        "bob",
        "mistral",
        "contestant",
        &[json!({"error": {"class": "crash", "message": nasty}})],
    );
    let reply = json!({"json": {"nonce": crate::common::cast::NONCE, "evaluations": [
        {"id": "R1", "score": 7, "strengths": [nasty], "weaknesses": [nasty], "reasoning": nasty}],
        "summary": nasty, "end": crate::common::cast::NONCE}});
    cast.agent("jim", "openai", "judge", &[reply]);
    let ran = cast
        .trial(&[CHALLENGE, "--contestant", "ann,bob", "-v"])
        .assert_code(0);
    for shown in [&ran.stdout, &ran.stderr] {
        assert!(!shown.contains('\u{1b}'), "{shown}");
    }
    let id = cast.newest_id();
    let page = cast.trial(&["export", &id, "--format", "html"]).stdout;
    assert!(!page.contains("<script>") && !page.contains('\u{1b}'));
    let text = cast.trial(&["export", &id]).stdout;
    assert!(!text.contains('\u{1b}'));
    // What was handed in stands in a fence; everything else is escaped.
    let outside = text.split("```").step_by(2).collect::<String>();
    assert!(
        !outside.contains("<script>") && !outside.contains("[x](javascript:1)"),
        "{outside}"
    );
}

#[test]
fn trials_are_listed_with_where_they_stand() {
    let cast = liquidations(TestEnv::new());
    cast.trial(&[CHALLENGE]).assert_code(0);
    let ran = cast.trial(&["list"]).assert_code(0);
    insta::assert_snapshot!(cast.env.tidy(&ran.stdout), @"
    TRIAL         STATE   WINNER        WHEN  COST   CHALLENGE                                    
    [CASE]  decree  Safety First  now   $0.00  How should we handle mid-epoch liquidations?
    ");
    let schema = cast.trial(&["--schema"]).assert_code(0).json();
    assert!(schema["properties"]["contestants"].is_object());
}
