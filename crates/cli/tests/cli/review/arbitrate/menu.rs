//! The menu at a real terminal: every choice, with and without a judge, and Ctrl-C.

use serde_json::json;

use super::court::{Court, MENDED, answer, says, told};
use crate::common::terminal::Terminal;

/// Returns a court whose coder objects, and carries out what is enforced.
fn objecting(has_judge: bool) -> Court {
    let mut court = Court::with_ann();
    let done = answer("responses", &says("implemented", ""));
    let objection = says(
        "objected",
        r#", "reason": "factual_error", "justification": "The caller escapes it.""#,
    );
    let replies = json!([
        {"when": "\"ruling\":\"", "text": done, "write": {"src/pay.py": MENDED}},
        {"text": answer("responses", &objection)},
    ]);
    court.agent("cody", "coder", &replies);
    if has_judge {
        court.judge("ENFORCE");
    }
    court.write_config();
    court
}

/// Starts the review at a terminal and waits for the menu.
fn at_menu(court: &Court) -> Terminal {
    let terminal = Terminal::start(&court.env, &["review", "--arbitrate"]);
    terminal.wait_for("How to resolve?");
    terminal
}

/// Returns the end of the newest review.
fn ended(court: &Court) -> String {
    let cases = court.env.run(["log", "--json"]).json();
    let cases = cases["cases"].as_array().unwrap();
    let review = cases.iter().find(|case| case["kind"] == "review").unwrap();
    let shown = court
        .env
        .run(["show", review["case"].as_str().unwrap(), "--json"]);
    let report = &shown.json()["review"];
    let finding = &report["arbitration"]["findings"][0];
    let ruling = &finding["disputes"][0];
    format!(
        "{}; {}; {} by {}",
        report["gate"].as_str().unwrap(),
        finding["state"].as_str().unwrap(),
        ruling["decision"]["decision"].as_str().unwrap_or("open"),
        ruling["by"].as_str().unwrap_or("nobody")
    )
}

#[test]
fn without_a_judge_there_are_two_ways_and_a_yellow_tip() {
    let court = objecting(false);
    let terminal = at_menu(&court);
    let screen = terminal.screen();
    for line in [
        "The reviewer says:",
        "HIGH  src/pay.py:5",
        "rate = db.execute(",
        "Note: the objection brings no evidence",
        "The coder says:",
        "The caller escapes it.",
        "Ground: factual error in the review",
        "1. I'll decide",
        "2. Discard opinion",
    ] {
        assert!(screen.contains(line), "no {line}: {screen}");
    }
    assert!(!screen.contains("AI judge"), "{screen}");
    let tip = "Tip: You can assign a judge with: tribunal connect <agent> --role judge";
    assert!(screen.contains(tip), "{screen}");
    let coloured = terminal.coloured_screen();
    assert!(coloured.contains(&format!("\u{1b}[33m{tip}")), "{coloured}");
}

#[test]
fn discarding_at_the_menu_dismisses_by_a_person() {
    let court = objecting(false);
    let terminal = at_menu(&court);
    terminal.keys(&["Down", "Enter"]);
    assert_eq!(terminal.exit_code(), 0);
    assert_eq!(
        ended(&court),
        "pass; dismissed; dismiss by human, discarded without a hearing"
    );
}

#[test]
fn a_person_enforces_dismisses_or_amends_with_notes() {
    for (moves, expected) in [
        (&[][..], "fail; fixed; enforce by human"),
        (&["Down"], "pass; dismissed; dismiss by human"),
        (&["Down", "Down"], "fail; fixed; amend by human"),
    ] {
        let court = objecting(false);
        let terminal = at_menu(&court);
        terminal.keys(&["Enter"]);
        terminal.wait_for("Your ruling?");
        terminal.keys(moves);
        terminal.keys(&["Enter"]);
        if moves.len() == 2 {
            terminal.wait_for("What is the coder to do?");
            terminal.keys(&["Use a parameter", "Enter"]);
        }
        terminal.wait_for("Why?");
        // An empty answer is asked for again.
        terminal.keys(&["Enter"]);
        terminal.wait_for("Please write something");
        terminal.keys(&["I looked at it", "Enter"]);
        let code = i32::from(expected.starts_with("fail"));
        assert_eq!(terminal.exit_code(), code, "{}", terminal.screen());
        assert_eq!(ended(&court), expected);
    }
}

#[test]
fn with_a_judge_there_are_three_ways() {
    for (moves, expected) in [
        (&[][..], "fail; fixed; enforce by judge jude"),
        (
            &["Down", "Down"],
            "pass; dismissed; dismiss by human, discarded without a hearing",
        ),
    ] {
        let court = objecting(true);
        let terminal = at_menu(&court);
        let screen = terminal.screen();
        for line in ["1. Use AI judge", "2. I'll decide", "3. Discard opinion"] {
            assert!(screen.contains(line), "no {line}: {screen}");
        }
        assert!(!screen.contains("Tip:"), "{screen}");
        terminal.keys(moves);
        terminal.keys(&["Enter"]);
        let code = i32::from(expected.starts_with("fail"));
        assert_eq!(terminal.exit_code(), code, "{}", terminal.screen());
        assert_eq!(ended(&court), expected);
    }
}

#[test]
fn what_a_judge_escalates_is_put_to_the_person() {
    let mut court = objecting(false);
    court.judge("ESCALATE");
    court.write_config();
    let terminal = at_menu(&court);
    terminal.keys(&["Enter"]);
    terminal.wait_for("Your ruling?");
    terminal.keys(&["Down", "Enter"]);
    terminal.wait_for("Why?");
    terminal.keys(&["I looked at it", "Enter"]);
    assert_eq!(terminal.exit_code(), 0, "{}", terminal.screen());
    assert_eq!(ended(&court), "pass; dismissed; dismiss by human");
}

#[test]
fn ctrl_c_in_the_menu_decides_nothing_and_resume_asks_again() {
    for has_judge in [false, true] {
        let court = objecting(has_judge);
        let terminal = at_menu(&court);
        terminal.keys(&["C-c"]);
        assert_eq!(terminal.exit_code(), 130);
        let open = court.env.run(["dispute", "list", "--status", "open"]);
        assert!(
            open.stdout.contains("SQL from user input"),
            "{}",
            open.stdout
        );
        court.env.assert_healthy();
        let again = Terminal::start(&court.env, &["resume"]);
        again.wait_for("How to resolve?");
        let discard: &[&str] = if has_judge {
            &["Down", "Down"]
        } else {
            &["Down"]
        };
        again.keys(discard);
        again.keys(&["Enter"]);
        assert_eq!(again.exit_code(), 0);
        let report = court.env.run(["disputes", "--recent", "10"]);
        assert_eq!(report.stdout.matches("SQL from user input").count(), 1);
    }
}

#[test]
fn without_a_terminal_nobody_is_asked() {
    let mut court = objecting(false);
    court.setting("on_dispute: {default: human}");
    assert!(told(&court.arbitrate(&["--json"])).starts_with("inconclusive"));
}

#[test]
fn a_terminal_that_goes_away_leaves_nobody_waiting_and_the_question_open() {
    let court = objecting(true);
    drop(at_menu(&court));
    let gone = std::time::Instant::now();
    while !court.env.survivors().is_empty() {
        let waited = gone.elapsed() > std::time::Duration::from_secs(60);
        assert!(!waited, "the review lives on without its terminal");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    let terminal = Terminal::start(&court.env, &["resume"]);
    terminal.wait_for("How to resolve?");
    terminal.keys(&["Enter"]);
    assert_eq!(terminal.exit_code(), 1, "{}", terminal.screen());
    assert_eq!(ended(&court), "fail; fixed; enforce by judge jude");
}
